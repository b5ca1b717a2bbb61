//! Renders a comparison as text, Markdown and JSON.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use ferrio_job::{counted, in_one_line, reason};

use crate::change::{Change, ChangeVerdict, FigureRow, JobRows};
use crate::comparison::{Comparison, FailedJob};

/// The comparison as a JSON document.
#[must_use]
pub fn json(comparison: &Comparison) -> String {
    let mut text = serde_json::to_string_pretty(comparison).unwrap_or_default();
    text.push('\n');
    text
}

/// The comparison for a terminal.
#[must_use]
pub fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    for (letter, side) in letters().zip(&comparison.sides) {
        line(&mut out, &format!("{letter}: {} ({})", in_one_line(&side.name), runs(side.runs)));
    }
    if !comparison.differences.is_empty() {
        line(&mut out, "\nDifferences in set-up:");
        for (what, values) in conditions(comparison) {
            line(&mut out, &format!("  {what}: {}", values.join(" -> ")));
        }
    }
    for job in &comparison.jobs {
        line(&mut out, &format!("\n{} ({})", in_one_line(&job.jobname), job.direction));
        let rows: Vec<Vec<String>> =
            std::iter::once(header(comparison)).chain(job.figures.iter().map(cells)).collect();
        out += &aligned(&rows, |column| column == 0);
    }
    endings(comparison).iter().for_each(|ending| line(&mut out, &format!("\n{ending}")));
    out
}

/// The comparison as Markdown, with a table for each job.
#[must_use]
pub fn markdown(comparison: &Comparison) -> String {
    let mut out = String::new();
    for (letter, side) in letters().zip(&comparison.sides) {
        line(&mut out, &format!("- **{letter}**: `{}` ({})", in_one_line(&side.name), runs(side.runs)));
    }
    if !comparison.differences.is_empty() {
        line(&mut out, "\nDifferences in set-up:\n");
        for (what, values) in conditions(comparison) {
            let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
            line(&mut out, &format!("- {what}: {}", values.join(" → ")));
        }
    }
    for job in &comparison.jobs {
        line(&mut out, &format!("\n**{}** ({})\n", in_one_line(&job.jobname), job.direction));
        let header = header(comparison);
        line(&mut out, &format!("| {} |", header.join(" | ")));
        line(&mut out, &format!("|---|{}", "---:|".repeat(header.len() - 1)));
        for row in &job.figures {
            line(&mut out, &format!("| {} |", cells(row).join(" | ")));
        }
    }
    endings(comparison).iter().for_each(|ending| line(&mut out, &format!("\n{ending}")));
    out
}

fn line(out: &mut String, text: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{text}");
}

fn letters() -> impl Iterator<Item = String> {
    (0..).map(|number: usize| match u8::try_from(number) {
        Ok(number) if number < 26 => char::from(b'A' + number).to_string(),
        _ => format!("#{}", number + 1),
    })
}

fn runs(count: usize) -> String {
    counted(count as u64, "run")
}

fn conditions(comparison: &Comparison) -> impl Iterator<Item = (Cow<'_, str>, Vec<String>)> {
    let shown = |value: &String| {
        if value.is_empty() { "(none)".to_owned() } else { in_one_line(value).into_owned() }
    };
    comparison
        .differences
        .iter()
        .map(move |difference| (in_one_line(&difference.what), difference.values.iter().map(shown).collect()))
}

fn header(comparison: &Comparison) -> Vec<String> {
    let sides: Vec<String> = letters().take(comparison.sides.len()).collect();
    let confidence = comparison.confidence;
    let mut cells = vec![String::new()];
    cells.extend(sides.iter().cloned());
    for side in &sides[1..] {
        cells.extend([format!("{side} against A"), format!("{confidence} % interval"), "verdict".to_owned()]);
    }
    cells
}

fn cells(row: &FigureRow) -> Vec<String> {
    let mut cells = vec![row.figure.name()];
    cells.extend(row.values.iter().map(|&value| row.unit.text(value)));
    for change in &row.changes {
        cells.extend(
            change.as_ref().map_or_else(|| ["-".to_owned(), String::new(), String::new()], change_cells),
        );
    }
    cells
}

fn change_cells(change: &Change) -> [String; 3] {
    let interval =
        change.interval.map_or_else(String::new, |[low, high]| format!("{low:+.1} to {high:+.1} %"));
    let verdict = match change.verdict {
        ChangeVerdict::Better => "better",
        ChangeVerdict::Worse => "worse",
        ChangeVerdict::Mixed => "mixed",
        ChangeVerdict::NoDifference => "noise",
        ChangeVerdict::Unknown => "?",
    };
    [format!("{:+.1} %", change.percent), interval, verdict.to_owned()]
}

/// Rows whose columns are as wide as their longest cell. Cells are right-aligned but in the columns for which `is_left` holds.
pub fn aligned(rows: &[Vec<String>], is_left: impl Fn(usize) -> bool) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let padded = |(column, cell): (usize, &String)| match (is_left(column), width(column)) {
        (true, width) => format!("  {cell:<width$}"),
        (false, width) => format!("  {cell:>width$}"),
    };
    let line = |row: &Vec<String>| row.iter().enumerate().map(padded).collect::<String>();
    rows.iter().map(|row| line(row).trim_end().to_owned() + "\n").collect()
}

/// The remarks after the tables.
fn endings(comparison: &Comparison) -> Vec<String> {
    let mut all = Vec::new();
    if !comparison.missing.is_empty() {
        all.push(format!(
            "Not compared, because they are missing from a run: {}",
            in_one_line(&comparison.missing.join(", "))
        ));
    }
    if !comparison.failed.is_empty() {
        let letters: Vec<String> = letters().take(comparison.sides.len()).collect();
        let shown = |job: &FailedJob| failed(job, &letters[job.side], comparison.sides[job.side].runs);
        let jobs: Vec<String> = comparison.failed.iter().map(shown).collect();
        all.push(format!("Failed jobs, with figures up to the failure: {}", jobs.join(", ")));
    }
    if comparison.jobs.is_empty() {
        all.push("The sides have no job in common that did I/O.".to_owned());
    }
    for (letter, side) in letters().zip(&comparison.sides) {
        let Some(verdict) = side.verdict.filter(|_| !comparison.jobs.is_empty()) else { continue };
        all.push(format!("{letter} against A: {}", sentence(verdict, side.within_runs, &comparison.jobs)));
    }
    all
}

/// `a in 2 of 5 runs of B (Input/output error)`
fn failed(job: &FailedJob, letter: &str, all: usize) -> String {
    let why = reason(&io::Error::from_raw_os_error(job.error));
    format!("{} in {} of {} of {letter} ({why})", in_one_line(&job.jobname), job.runs, runs(all))
}

fn sentence(verdict: ChangeVerdict, within_runs: bool, jobs: &[JobRows]) -> String {
    let figures: usize = jobs.iter().map(|job| job.figures.len()).sum();
    let noise = if within_runs { "the noise within a run" } else { "noise" };
    let among = format!("more than {noise}, corrected for {figures} figures");
    let sentence = match verdict {
        ChangeVerdict::Better => format!("better, by {among}"),
        ChangeVerdict::Worse => format!("worse, by {among}"),
        ChangeVerdict::Mixed => format!("some figures are better and some are worse, by {among}"),
        ChangeVerdict::NoDifference => format!("no difference found: no change is {among}"),
        ChangeVerdict::Unknown => {
            "unknown: one run says nothing about its noise. Repeat each run at least five times, in turn."
                .to_owned()
        }
    };
    match within_runs {
        true => format!(
            "{sentence}.\nHow much runs differ from one another is not known: repeat each at least five times, in turn."
        ),
        false => sentence,
    }
}
