//! A report of one or more runs as a page: one file of HTML that needs no network and no other file.
//!
//! Tables are made here. Charts are drawn by `html/page.js` from data that the page contains as JSON. The policy of the page allows this
//! script and `html/page.css` and nothing else, so that no name of a job can load or run anything.

mod charts;
mod checks;
mod conditions;
mod database;
mod events;
mod head;
mod markup;
mod summary;
#[cfg(test)]
mod tests;
mod throttling;
mod tracks;

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::LoggedRun;
use crate::model::RunReport;
use markup::escaped;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Names of jobs in the title of a page; of more jobs, their number is shown.
const MAX_NAMES: usize = 6;

/// A run of a page.
#[derive(Clone, Copy, Debug)]
pub struct PageRun<'a> {
    /// What the run is called, such as the file of its report; may be empty if it is the only one.
    pub name: &'a str,
    /// Its report.
    pub report: &'a RunReport,
    /// What its logs say, for the charts over time of a report that has no series.
    pub logged: Option<&'a LoggedRun>,
}

impl RunReport {
    /// The report as a page.
    #[must_use]
    pub fn to_html(&self) -> String {
        page(&[PageRun { name: "", report: self, logged: None }])
    }
}

/// A page with all of these runs side by side, in this order.
#[must_use]
pub fn page(runs: &[PageRun<'_>]) -> String {
    let title = escaped(&title(runs));
    let over_time: Vec<_> = (0..runs.len()).map(|number| charts::RunData::of(runs, number)).collect();
    let sections = [
        ("summary", "Summary", summary::section(runs)),
        ("checks", "Checks", checks::section(runs)),
        ("database", "Database", database::section(runs)),
        ("warnings", "Warnings and notes", head::messages(runs)),
        ("latency", "Latency", charts::latency(runs)),
        ("time", "Over time", charts::over_time(runs, &over_time)),
        ("runs", "Program and machine", head::runs(runs)),
        ("options", "Options", conditions::section(runs)),
    ];
    let sections: Vec<_> = sections.into_iter().filter(|(.., content)| !content.is_empty()).collect();
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"ferrio {}\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#summary\">Skip to the summary</a>\n\
         <header>\n<div><h1>{title}</h1>\n{}</div>\n\
         <button id=\"theme\" type=\"button\" hidden></button>\n</header>\n<nav aria-label=\"Parts of the page\"><ul>",
        policy(),
        env!("CARGO_PKG_VERSION"),
        head::subtitle(runs),
    );
    for (id, name, _) in &sections {
        let _ = write!(out, "<li><a href=\"#{id}\">{name}</a></li>");
    }
    out.push_str("</ul></nav>\n<main>\n");
    for (id, name, content) in &sections {
        let _ = writeln!(
            out,
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{name}</h2>\n{content}</section>"
        );
    }
    let _ = write!(
        out,
        "</main>\n<footer><p>Made by ferrio {}. docs/page.md explains the charts.</p></footer>\n\
         <script type=\"application/json\" id=\"data\">{}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        charts::data(runs, &over_time),
    );
    out
}

/// What the page may load: its own style and script, which their digests identify.
fn policy() -> String {
    let digest = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(SCRIPT)
    )
}

/// The names of the jobs.
fn title(runs: &[PageRun<'_>]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for job in runs.iter().flat_map(|run| &run.report.jobs) {
        if !names.contains(&job.jobname.as_str()) {
            names.push(&job.jobname);
        }
    }
    match names.len() {
        0 => "No jobs".to_owned(),
        1..=MAX_NAMES => names.join(", "),
        more => format!("{}, and {} more jobs", names[..MAX_NAMES - 1].join(", "), more - MAX_NAMES + 1),
    }
}

/// What a run is called in tables: nothing if there is only one.
fn run_label(runs: &[PageRun<'_>], number: usize) -> String {
    if runs.len() == 1 { String::new() } else { format!("run {}", number + 1) }
}

/// What names and messages of a run begin with.
fn prefix(runs: &[PageRun<'_>], number: usize) -> String {
    if runs.len() == 1 { String::new() } else { format!("{}: ", run_label(runs, number)) }
}
