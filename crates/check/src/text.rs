//! The report as text: actions, times and places, then errors, risks and notes.

mod database;
mod job;

use ferrio_job::counted;

use crate::model::{
    Certainty, CheckError, CheckTotals, CheckedDevice, CheckedOrigin, CheckedPlace, EndTrigger, Phase,
    PhaseBarrier, Report, Risk, RiskSeverity, TimeSpan, Volume,
};
use crate::units::{bytes, listed, listed_in_part, time};

/// The report as text; with terminal colours if `colour`.
#[must_use]
pub fn text(report: &Report, colour: bool) -> String {
    let style = TextStyle { colour };
    let mut out = String::new();
    if !report.jobs.is_empty() {
        out.push_str(&totals(&report.totals, report.phases.len(), report.trigger.as_ref()));
        for phase in &report.phases {
            out.push_str(&format!("\n{}\n", style.paint(BOLD, &header(phase))));
            for job in phase.jobs.iter().filter_map(|&at| report.jobs.get(at)) {
                out.push_str(&job::lines(job, &report.places, &style));
            }
        }
        if !report.places.is_empty() {
            out.push_str(&format!("\n{}\n", style.paint(BOLD, "places")));
            out.push_str(&aligned(report.places.iter().map(place).collect()));
        }
    } else if report.errors.is_empty() {
        out.push_str("  runs  no job: all sections are for other hosts\n");
    }
    let problems = report.errors.iter().map(|problem| error(problem, &style));
    let risks = report.risks.iter().map(|found| risk(found, &style));
    let notes = report.notes.iter().map(|note| format!("{} {}\n", style.paint(CYAN, "note:"), clean(note)));
    for message in problems.chain(risks).chain(notes) {
        out.push('\n');
        out.push_str(&message);
    }
    out.push_str(&format!("\n{}\n", verdict(report)));
    out.trim_start_matches('\n').to_owned()
}

/// Terminal colours, or none.
pub(crate) struct TextStyle {
    colour: bool,
}

/// Codes of colours.
const BOLD: &str = "1";
const RED: &str = "1;31";
const YELLOW: &str = "1;33";
const CYAN: &str = "1;36";

impl TextStyle {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// A text of the user with control characters replaced.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|sign| if sign.is_control() { char::REPLACEMENT_CHARACTER } else { sign }).collect()
}

/// Indented lines of two cells each; all first cells have the same width.
pub(crate) fn aligned(lines: Vec<[String; 2]>) -> String {
    let width = lines.iter().map(|[first, _]| first.chars().count()).max().unwrap_or(0);
    lines.iter().map(|[first, rest]| format!("  {first:width$}  {rest}\n")).collect()
}

fn totals(totals: &CheckTotals, phases: usize, trigger: Option<&EndTrigger>) -> String {
    let mut what = counted(totals.jobs as u64, "job");
    if totals.instances > totals.jobs {
        what.push_str(&format!(" in {} instances", totals.instances));
    }
    if phases > 1 {
        what.push_str(&format!(", {phases} phases in sequence"));
    }
    let mut lines = vec![["runs".to_owned(), what], ["time".to_owned(), span(&totals.time)]];
    if totals.create_bytes > 0 {
        lines.push([
            "creates".to_owned(),
            format!("{} of files before the jobs start", bytes(totals.create_bytes)),
        ]);
    }
    if let Some(moves) = moves(&totals.volume) {
        let timed = totals.volume.certainty == Certainty::Unknown;
        lines.push(["moves".to_owned(), if timed { format!("{moves} until time is up") } else { moves }]);
    }
    lines.extend(trigger.map(|trigger| ["trigger".to_owned(), triggered(trigger)]));
    aligned(lines)
}

fn triggered(trigger: &EndTrigger) -> String {
    let file =
        trigger.file.as_ref().map(|file| format!("when {} appears", clean(&file.display().to_string())));
    let timeout = trigger.timeout_seconds.map(|seconds| format!("after {}", time(seconds)));
    let when: Vec<String> = timeout.into_iter().chain(file).collect();
    let command = trigger.command.as_ref().map(|command| format!(", then runs `{}`", clean(command)));
    format!("ends all jobs {}{}", when.join(" or "), command.unwrap_or_default())
}

fn header(phase: &Phase) -> String {
    let before = phase.number.saturating_sub(1);
    let start = match phase.waits_because {
        None => "at once".to_owned(),
        Some(PhaseBarrier::Stonewall) => format!("after phase {before} (stonewall)"),
        Some(PhaseBarrier::NextFile) => format!("after phase {before} (next job file)"),
    };
    format!("phase {}: {start}, {}", phase.number, short(&phase.time))
}

/// `2s`, `at most 2s`, `1s to 2s`, `at least 8s`, `unbounded`.
pub(crate) fn short(span: &TimeSpan) -> String {
    let least = span.least_seconds;
    match span.most_seconds {
        Some(most) if most - least < 0.0005 => time(most),
        Some(most) if least > 0.0 => format!("{} to {}", time(least), time(most)),
        Some(most) => format!("at most {}", time(most)),
        None if least > 0.0 => format!("at least {}", time(least)),
        None => "unbounded".to_owned(),
    }
}

fn span(span: &TimeSpan) -> String {
    match &span.unbounded_because {
        Some(why) => format!("{}: {}", short(span), clean(why)),
        None => short(span),
    }
}

/// `reads about 3GiB, writes about 1GiB`, `reads and writes`; nothing without volume.
pub(crate) fn moves(volume: &Volume) -> Option<String> {
    let hedge = volume.certainty.hedge();
    let all = [
        ("reads", volume.read),
        ("writes", volume.write),
        ("trims", volume.trim),
        ("reads back", volume.verify),
    ];
    let unknown: Vec<&str> = all.iter().filter(|(_, moved)| moved.is_none()).map(|(verb, _)| *verb).collect();
    let known = all.iter().filter_map(|(verb, moved)| Some((verb, moved.filter(|&moved| moved > 0)?)));
    let mut parts: Vec<String> =
        known.map(|(verb, moved)| format!("{verb} {hedge}{}", bytes(moved))).collect();
    if !unknown.is_empty() {
        parts.push(unknown.join(" and "));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn place(place: &CheckedPlace) -> [String; 2] {
    let name = job::place_name(place);
    let mut what: Vec<String> = Vec::new();
    match (&place.file_system, &place.source) {
        (Some(kind), Some(source)) if source.starts_with('/') => {
            what.push(format!("{kind} on {}", clean(source)))
        }
        (Some(kind), _) => what.push(kind.clone()),
        _ => {}
    }
    if let Some(CheckedDevice { about, holds }) = &place.device {
        // A disk without a model is virtual, and its report about rotation is meaningless.
        let turns =
            |model: &str| format!("{}{}", clean(model), if about.rotational { " (rotating)" } else { "" });
        let model = about.model.as_deref().map(turns);
        let model = model.map(|model| format!("{model}, ")).unwrap_or_default();
        let blocks = format!("{}/{} byte blocks", about.logical_block_bytes, about.physical_block_bytes);
        what.push(format!("{model}{}, {blocks}", bytes(about.size_bytes)));
        if place.mount_point.is_none() && !holds.is_empty() {
            what.push(format!("holds {}", clean(&listed(holds))));
        }
    }
    if let Some(free) = place.free_bytes {
        let needed = place.needed_bytes;
        what.push(if needed > 0 {
            format!("{} needed, {} free", bytes(needed), bytes(free))
        } else {
            format!("{} free", bytes(free))
        });
    }
    if place.read_only {
        what.push("read-only".to_owned());
    }
    [name, what.join("; ")]
}

fn error(problem: &CheckError, style: &TextStyle) -> String {
    let job = problem.job.as_ref().map(|job| format!("job {}: ", clean(job))).unwrap_or_default();
    let mut lines = format!("{} {job}{}\n", style.paint(RED, "error:"), clean(&problem.message));
    if let Some(origin) = &problem.origin {
        lines.push_str(&format!("  at {}\n", at(origin)));
    }
    if let Some(help) = &problem.help {
        lines.push_str(&format!("  = {}\n", clean(help)));
    }
    lines
}

/// The message, the affected jobs, the place of the cause, and the remedy.
fn risk(risk: &Risk, style: &TextStyle) -> String {
    const NAMED: usize = 6;
    const PLACES: usize = 4;
    let word = match risk.severity {
        RiskSeverity::Error => style.paint(RED, "error:"),
        RiskSeverity::Warning => style.paint(YELLOW, "warning:"),
        RiskSeverity::Info => style.paint(CYAN, "info:"),
    };
    let mut lines = format!("{word} {} [{}]\n", clean(&risk.message), risk.code);
    if !risk.jobs.is_empty() {
        let word = if risk.jobs.len() == 1 { "job" } else { "jobs" };
        let names = listed_in_part(risk.jobs.iter().map(|name| clean(name)), NAMED);
        lines.push_str(&format!("  in {word} {names}\n"));
    }
    for origin in risk.origins.iter().take(PLACES) {
        lines.push_str(&format!("  at {}\n", at(origin)));
    }
    if risk.origins.len() > PLACES {
        lines
            .push_str(&format!("  and at {}\n", counted((risk.origins.len() - PLACES) as u64, "more place")));
    }
    if !risk.advice.is_empty() {
        lines.push_str(&format!("  = {}\n", clean(&risk.advice)));
    }
    lines
}

fn at(spot: &CheckedOrigin) -> String {
    match (&spot.file, spot.line) {
        (Some(file), Some(line)) => format!("{}:{line}: {}", clean(file), clean(&spot.text)),
        _ => clean(&spot.text),
    }
}

fn verdict(report: &Report) -> String {
    let of = |severity| report.risks.iter().filter(|risk| risk.severity == severity).count();
    let (errors, warnings) = (report.errors.len() + of(RiskSeverity::Error), of(RiskSeverity::Warning));
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(counted(errors as u64, "error"));
    }
    if warnings > 0 {
        parts.push(counted(warnings as u64, "warning"));
    }
    if parts.is_empty() {
        parts.push("no warnings".to_owned());
    }
    format!("{}; nothing was run", parts.join(", "))
}

#[cfg(test)]
mod tests;
