//! The table of figures: each direction of each job in each run.

use std::io;

use super::markup::HtmlTable;
use super::{PageRun, run_label};
use crate::model::{JobReport, LatencyReport};
use crate::{Unit, grouped};

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

/// The columns with numbers.
const FIGURE_COLUMNS: [&str; 9] =
    ["I/Os", "IOPS", "bandwidth", "latency mean", "p50", "p99", "p99.9", "max", "errors of the job"];

/// The reports of one job, each with the number of its run.
type JobRuns<'a> = Vec<(usize, &'a JobReport)>;

/// The table of figures.
pub(super) fn section(runs: &[PageRun<'_>]) -> String {
    let has_runs = runs.len() > 1;
    let mut columns = vec![("job", false), ("direction", false)];
    columns.extend(has_runs.then_some(("run", false)));
    columns.extend(FIGURE_COLUMNS.map(|name| (name, true)));
    let mut table = HtmlTable::new("Figures of each job and direction", &columns);
    for (name, jobs) in matched(runs) {
        table.group();
        for direction in directions(&jobs) {
            for &(run, job) in &jobs {
                let Some(figures) = figures(job, direction) else { continue };
                let mut cells = vec![name.clone(), direction.to_owned()];
                cells.extend(has_runs.then(|| run_label(runs, run)));
                cells.extend(figures);
                cells.push(errors(job));
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
    let numbered = runs
        .iter()
        .enumerate()
        .flat_map(|(number, run)| run.report.numbered_jobs().map(move |(key, job)| (key, (number, job))));
    grouped(numbered).into_iter().map(|((name, _), jobs)| (name.to_owned(), jobs)).collect()
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
    let (ios, rates, shown) = if direction == "sync" {
        let syncs = job.syncs().filter(|syncs| syncs.total_ios > 0)?;
        (syncs.total_ios, None, Some(&syncs.lat_ns))
    } else if let Some(direction) = direction.strip_suffix(" response") {
        let response = job.response_of(direction)?;
        (response.samples, None, Some(response))
    } else {
        let figures = job.direction(direction).filter(|figures| figures.did_io())?;
        (figures.total_ios, Some((figures.iops, figures.bw_bytes as f64)), figures.shown_latency())
    };
    let [iops, bandwidth] = match rates {
        Some((iops, bandwidth)) => [Unit::PerSecond.text(iops), Unit::BytesPerSecond.text(bandwidth)],
        None => [NO_VALUE; 2].map(str::to_owned),
    };
    let mut cells = vec![ios.to_string(), iops, bandwidth];
    cells.extend(latency(shown));
    Some(cells)
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
