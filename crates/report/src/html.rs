//! The report of one or more runs as an HTML page: a single file that needs neither the network nor other files.
//!
//! Tables are built here. `html/page.js` draws charts from JSON data in the page. The page's content security policy allows only this
//! script and `html/page.css`, so that no job name can load or run anything.

mod charts;
mod checks;
mod conditions;
mod database;
mod events;
mod head;
mod hosts;
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

use crate::model::RunReport;
use crate::{SeriesFromLogs, distinct};
use markup::escape;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Maximum number of job names in the title of a page; for more jobs, the title has their number.
const MAX_NAMES: usize = 6;

/// A run on a page.
#[derive(Clone, Copy, Debug)]
pub struct PageRun<'a> {
    /// Name of the run, such as the file of its report; may be empty for a single run.
    pub name: &'a str,
    /// The report of the run.
    pub report: &'a RunReport,
    /// Data from the run's logs, for the charts of a report without series.
    pub logged: Option<&'a SeriesFromLogs>,
}

impl RunReport {
    /// Formats the report as a page.
    #[must_use]
    pub fn to_html(&self) -> String {
        page(&[PageRun { name: "", report: self, logged: None }])
    }
}

/// A page with these runs side by side, in this order.
#[must_use]
pub fn page(runs: &[PageRun<'_>]) -> String {
    let title = escape(&title(runs));
    let over_time: Vec<_> = (0..runs.len()).map(|number| charts::RunChartData::of(runs, number)).collect();
    let sections = [
        ("summary", "Summary", summary::section(runs)),
        ("hosts", "Hosts", hosts::section(runs)),
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

/// The content security policy: only the page's own style and script, identified by their digests.
fn policy() -> String {
    let digest = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(SCRIPT)
    )
}

/// The title: the names of the jobs.
fn title(runs: &[PageRun<'_>]) -> String {
    let names: Vec<&str> =
        distinct(runs.iter().flat_map(|run| &run.report.jobs).map(|job| job.jobname.as_str()));
    match names.len() {
        0 => "No jobs".to_owned(),
        1..=MAX_NAMES => names.join(", "),
        more => format!("{}, and {} more jobs", names[..MAX_NAMES - 1].join(", "), more - MAX_NAMES + 1),
    }
}

/// The label of a run in tables; empty for a single run.
fn run_label(runs: &[PageRun<'_>], number: usize) -> String {
    if runs.len() == 1 { String::new() } else { format!("run {}", number + 1) }
}

/// The prefix of a run's names and messages.
fn prefix(runs: &[PageRun<'_>], number: usize) -> String {
    if runs.len() == 1 { String::new() } else { format!("{}: ", run_label(runs, number)) }
}
