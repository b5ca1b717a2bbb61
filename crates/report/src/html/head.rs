//! The head of the page: programs, machines, times, and messages about the figures.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::markup::{HtmlTable, escape, folded};
use super::{PageRun, prefix, run_label};
use crate::model::{FerrioReport, RunEnd, RunReport, TargetPlace, with_hosts};
use crate::{Unit, distinct};

/// The subtitle: one sentence about the run, or the list of runs.
pub(super) fn subtitle(runs: &[PageRun<'_>]) -> String {
    if let [run] = runs {
        let mut facts = vec![started(run.report), program(run.report)];
        if let Some(ferrio) = &run.report.ferrio {
            let host = &ferrio.host;
            facts.extend([&host.name, &host.kernel].into_iter().flatten().cloned());
        }
        if !run.name.is_empty() {
            facts.push(run.name.to_owned());
        }
        return format!("<p class=\"quiet\">{}</p>\n", line_of(facts));
    }
    let mut out = String::from("<ol class=\"runs\">\n");
    for run in runs {
        let _ = writeln!(
            out,
            "<li><strong>{}</strong> <span class=\"quiet\">{}</span></li>",
            escape(run.name),
            line_of(vec![started(run.report), program(run.report)])
        );
    }
    out + "</ol>\n"
}

/// Joins the known facts into one line.
fn line_of(mut facts: Vec<String>) -> String {
    facts.retain(|fact| !fact.is_empty());
    escape(&facts.join(" · "))
}

/// The table of programs and machines, with a column per run.
pub(super) fn runs(runs: &[PageRun<'_>]) -> String {
    let labels: Vec<String> = match runs.len() {
        1 => vec!["value".to_owned()],
        _ => (0..runs.len()).map(|number| run_label(runs, number)).collect(),
    };
    let mut columns = vec![("", false)];
    columns.extend(labels.iter().map(|label| (label.as_str(), false)));
    let mut table = HtmlTable::new("What made the figures, when and where", &columns);
    for (name, fact) in FACTS {
        let values: Vec<String> = runs
            .iter()
            .map(|run| {
                fact(run.report).into_iter().map(|line| escape(&line)).collect::<Vec<_>>().join("<br>")
            })
            .collect();
        if values.iter().any(|value| !value.is_empty()) {
            let mut cells = vec![(*name).to_owned()];
            cells.extend(values);
            table.row_of_html(&cells, false);
        }
    }
    table.end()
}

/// A fact about a run: its name, and the function that returns its lines.
type Fact = (&'static str, fn(&RunReport) -> Vec<String>);

const FACTS: &[Fact] = &[
    ("Program", |report| vec![program(report)]),
    ("Started", |report| vec![started(report)]),
    ("Took", |report| {
        of_ferrio(report, |ferrio| Some(Unit::Nanoseconds.text(ferrio.run.elapsed_ms as f64 * 1e6)))
    }),
    ("Ended", |report| of_ferrio(report, |ferrio| Some(end(ferrio)))),
    ("Jobs", |report| described(report)),
    ("Host", |report| of_ferrio(report, |ferrio| ferrio.host.name.clone())),
    ("Kernel", |report| {
        of_ferrio(report, |ferrio| joined([ferrio.host.kernel.clone(), ferrio.host.arch.clone()]))
    }),
    ("CPU", |report| {
        of_ferrio(report, |ferrio| {
            let count = ferrio.host.cpus_online.map(|count| format!("{count} online"));
            joined([ferrio.host.cpu_model.clone(), count])
        })
    }),
    ("Memory", |report| {
        of_ferrio(report, |ferrio| ferrio.host.memory_bytes.map(|bytes| Unit::Bytes.text(bytes as f64)))
    }),
    ("CPUs busy", |report| {
        of_ferrio(report, |ferrio| ferrio.run.cpus_busy.map(|percent| format!("{percent:.1} %")))
    }),
    ("Files and devices", |report| {
        report.ferrio.iter().flat_map(|ferrio| &ferrio.targets).map(target).collect()
    }),
    ("Disks during the run", |report| {
        let disk = |disk: &crate::model::DiskReport| {
            format!(
                "{}{}: busy {:.1} %, {} reads, {} writes",
                disk.hostname.iter().fold(String::new(), |_, host| format!("{host} ")),
                disk.name,
                disk.util,
                disk.read_ios,
                disk.write_ios
            )
        };
        report.disk_util.iter().map(disk).collect()
    }),
    ("Clock", |report| of_ferrio(report, |ferrio| Some(ferrio.clock.source.word().to_owned()))),
];

fn of_ferrio(report: &RunReport, fact: fn(&FerrioReport) -> Option<String>) -> Vec<String> {
    report.ferrio.as_ref().and_then(fact).into_iter().collect()
}

fn joined(facts: [Option<String>; 2]) -> Option<String> {
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    (!facts.is_empty()).then(|| facts.join(", "))
}

fn program(report: &RunReport) -> String {
    match &report.ferrio {
        Some(ferrio) if !ferrio.version.is_empty() => format!("ferrio {}", ferrio.version),
        _ => report.version.clone(),
    }
}

/// The start of the run; a document by fio only has the time of the report.
fn started(report: &RunReport) -> String {
    let at = |ms: i64| {
        Timestamp::from_millisecond(ms).ok().map(|time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
    };
    let began = report
        .ferrio
        .as_ref()
        .and_then(|ferrio| i64::try_from(ferrio.run.started_ms).ok())
        .filter(|&ms| ms > 0);
    match (began, report.timestamp_ms) {
        (Some(ms), _) => at(ms),
        (None, 0) => None,
        (None, ms) => at(ms).map(|time| format!("{time} (report)")),
    }
    .unwrap_or_else(|| "time unknown".to_owned())
}

fn end(ferrio: &FerrioReport) -> String {
    match (ferrio.run.end, ferrio.run.signal) {
        (RunEnd::Running, _) => "still running when the report was made".to_owned(),
        (RunEnd::Completed, _) => "completed".to_owned(),
        (RunEnd::Errors, _) => {
            format!("with errors: {} of {} jobs failed", ferrio.run.failed_jobs, ferrio.run.jobs)
        }
        (RunEnd::Signal, Some(signal)) => format!("by signal {signal}"),
        (RunEnd::Signal, None) => "by a signal".to_owned(),
    }
}

/// The jobs with their descriptions, without duplicates, as clones share theirs.
fn described(report: &RunReport) -> Vec<String> {
    distinct(report.jobs.iter().map(|job| match &job.desc {
        Some(description) => format!("{}: {description}", job.jobname),
        None => job.jobname.clone(),
    }))
}

fn target(place: &TargetPlace) -> String {
    let mut facts = Vec::new();
    if let (Some(file_system), Some(mount_point)) = (&place.file_system, &place.mount_point) {
        facts.push(format!("{file_system} at {mount_point}"));
    }
    if let Some(device) = &place.device {
        facts.push(format!("{} ({})", device.device, Unit::Bytes.text(device.size_bytes as f64)));
        facts.extend(device.model.clone());
        facts.extend(device.scheduler.as_ref().map(|scheduler| format!("scheduler {scheduler}")));
    }
    format!("{}; used by {}", facts.join(", "), place.jobs.join(", "))
}

/// Warnings, expanded; notes, collapsed. Empty without any.
pub(super) fn messages(runs: &[PageRun<'_>]) -> String {
    let mut out = String::new();
    let mut notes = String::new();
    for (number, run) in runs.iter().enumerate() {
        let label = prefix(runs, number);
        for warning in run.report.warnings() {
            let _ = writeln!(
                out,
                "<div class=\"warning\"><strong>{label}{}</strong> <code>{}</code><p>{}</p></div>",
                escape(&warning.message_with_hosts()),
                escape(&warning.code),
                escape(&warning.help)
            );
        }
        for note in run.report.ferrio.iter().flat_map(|ferrio| &ferrio.notes) {
            let help = note.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            let _ = writeln!(
                notes,
                "<p>{label}{}{} <code>{}</code></p>",
                escape(&with_hosts(&note.hosts, &note.message)),
                escape(&help),
                escape(&note.code)
            );
        }
    }
    if !notes.is_empty() {
        out.push_str(&folded("Notes", &notes));
    }
    out
}
