//! The table of figures: each direction of each job in each run.

use std::io;

use super::markup::HtmlTable;
use super::{PageRun, run_label};
use crate::Unit;
use crate::model::{JobReport, LatencyReport};

const NO_VALUE: &str = "–";

/// Possible rows of a job. Response times are measured from the moment at which an I/O was due by its rate.
const DIRECTIONS: [&str; 9] = [
    "read",
    "read response",
    "write",
    "write response",
    "trim",
    "trim response",
    "mixed",
    "mixed response",
    "sync",
];

/// The reports of one job, each with the number of its run.
type JobRuns<'a> = Vec<(usize, &'a JobReport)>;

/// The table of figures.
pub(super) fn section(runs: &[PageRun<'_>]) -> String {
    let columns = [
        ("job", false),
        ("direction", false),
        ("run", false),
        ("I/Os", true),
        ("IOPS", true),
        ("bandwidth", true),
        ("latency mean", true),
        ("p50", true),
        ("p99", true),
        ("p99.9", true),
        ("max", true),
        ("errors of the job", true),
    ];
    let has_runs = runs.len() > 1;
    let shown = |at: usize| has_runs || at != 2;
    let columns: Vec<_> =
        columns.into_iter().enumerate().filter(|&(at, _)| shown(at)).map(|(_, column)| column).collect();
    let mut table = HtmlTable::new("Figures of each job and direction", &columns);
    for (name, jobs) in matched(runs) {
        table.group();
        for direction in directions(&jobs) {
            for &(run, job) in &jobs {
                let Some(figures) = figures(job, direction) else { continue };
                let mut cells = vec![name.clone(), direction.to_owned(), run_label(runs, run)];
                cells.extend(figures);
                cells.push(errors(job));
                let cells: Vec<_> = cells
                    .into_iter()
                    .enumerate()
                    .filter(|&(at, _)| shown(at))
                    .map(|(_, cell)| cell)
                    .collect();
                table.row(&cells);
            }
        }
    }
    let note = "<p class=\"quiet\">Latency is completion latency, or total latency where the report has percentiles of that alone. \
        Latencies of syncs are those of the calls. A response begins when the I/O is due by its rate.</p>\n";
    table.end() + note
}

/// The jobs of all runs by name. If several jobs of a run have the same name, they are matched in order.
fn matched<'a>(runs: &[PageRun<'a>]) -> Vec<(String, JobRuns<'a>)> {
    let mut all: Vec<((&str, usize), JobRuns<'a>)> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let jobs = &run.report.jobs;
        for (at, job) in jobs.iter().enumerate() {
            let before = jobs[..at].iter().filter(|other| other.jobname == job.jobname).count();
            let key = (job.jobname.as_str(), before);
            match all.iter_mut().find(|(other, _)| *other == key) {
                Some((_, found)) => found.push((number, job)),
                None => all.push((key, vec![(number, job)])),
            }
        }
    }
    all.into_iter().map(|((name, _), jobs)| (name.to_owned(), jobs)).collect()
}

/// The rows that the jobs need; at least one.
fn directions(jobs: &[(usize, &JobReport)]) -> Vec<&'static str> {
    let did = |direction: &&'static str| jobs.iter().any(|(_, job)| figures(job, direction).is_some());
    let all: Vec<_> = DIRECTIONS.into_iter().filter(did).collect();
    if all.is_empty() { vec![NO_VALUE] } else { all }
}

/// The cells from the number of I/Os to the largest latency.
fn figures(job: &JobReport, direction: &str) -> Option<Vec<String>> {
    if direction == NO_VALUE {
        return Some(vec![NO_VALUE.to_owned(); 8]);
    }
    if direction == "sync" {
        let syncs = job.syncs().filter(|syncs| syncs.total_ios > 0)?;
        let mut cells = vec![syncs.total_ios.to_string(), NO_VALUE.to_owned(), NO_VALUE.to_owned()];
        cells.extend(latency(Some(&syncs.lat_ns)));
        return Some(cells);
    }
    let (direction, is_response) = match direction.strip_suffix(" response") {
        Some(direction) => (direction, true),
        None => (direction, false),
    };
    let (_, figures) = job.shown_directions().into_iter().find(|(name, _)| *name == direction)?;
    if is_response {
        let response = figures.response_ns.as_ref().filter(|response| response.samples > 0)?;
        let mut cells = vec![response.samples.to_string(), NO_VALUE.to_owned(), NO_VALUE.to_owned()];
        cells.extend(latency(Some(response)));
        return Some(cells);
    }
    figures.did_io().then(|| {
        let mut cells = vec![
            figures.total_ios.to_string(),
            Unit::PerSecond.text(figures.iops),
            Unit::BytesPerSecond.text(figures.bw_bytes as f64),
        ];
        cells.extend(latency(figures.shown_latency()));
        cells
    })
}

fn latency(latency: Option<&LatencyReport>) -> [String; 5] {
    let none = || NO_VALUE.to_owned();
    let Some(latency) = latency.filter(|latency| latency.samples > 0) else {
        return [none(), none(), none(), none(), none()];
    };
    let text = |ns: f64| Unit::Nanoseconds.text(ns);
    let percentile = |percent| latency.percentile(percent).map_or_else(none, |ns| text(ns as f64));
    [text(latency.mean), percentile(50.0), percentile(99.0), percentile(99.9), text(latency.max as f64)]
}

/// Errors that the job tolerated, and the one that ended it.
fn errors(job: &JobReport) -> String {
    let reason = |errno: i32| ferrio_job::reason(&io::Error::from_raw_os_error(errno)).to_string();
    match job.tolerated {
        Some(tolerated) if tolerated.total_err > 0 && tolerated.first_error != 0 => {
            format!("{}, the first: {}", tolerated.total_err, reason(tolerated.first_error))
        }
        Some(tolerated) if tolerated.total_err > 0 => tolerated.total_err.to_string(),
        _ if job.error != 0 => format!("failed: {}", reason(job.error)),
        _ => "0".to_owned(),
    }
}
