//! The answer: one line per job and direction, and one for the syncs of a job.

use std::fmt::Write as _;

use ferrio_report::Unit;
use ferrio_report::model::{DirectionReport, JobReport, LatencyReport, RunReport};

/// Columns after the name.
const COLUMNS: [&str; 5] = ["IOPS", "bandwidth", "p50", "p99", "p99.9"];
/// The percentiles of the last columns.
const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];

/// A line of the table.
#[derive(Debug, PartialEq)]
struct Line {
    name: String,
    cells: [String; 5],
}

/// The table as text, with the heading lines above it; empty if nothing was measured.
#[must_use]
pub fn text(report: &RunReport, heading: &[String]) -> String {
    let lines = lines(report);
    if lines.is_empty() {
        return String::new();
    }
    let first = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line.cells[column].chars().count());
        cells.chain([COLUMNS[column].len()]).max().unwrap_or(0)
    };
    let mut out = heading.join("\n");
    out.push_str("\n\n");
    let mut row = |name: &str, cells: [&str; 5]| {
        let _ = write!(out, "{name:first$}");
        for (column, cell) in cells.into_iter().enumerate() {
            let _ = write!(out, "  {cell:>width$}", width = width(column));
        }
        out.push('\n');
    };
    row("", COLUMNS);
    lines.iter().for_each(|line| row(&line.name, line.cells.each_ref().map(String::as_str)));
    out
}

/// The table as Markdown, below the heading lines.
#[must_use]
pub fn markdown(report: &RunReport, heading: &[String]) -> String {
    let lines = lines(report);
    if lines.is_empty() {
        return String::new();
    }
    let mut out = heading.join("\n\n");
    let _ = write!(out, "\n\n| | {} |\n|---|{}\n", COLUMNS.join(" | "), "---:|".repeat(COLUMNS.len()));
    for line in lines {
        let _ = writeln!(out, "| {} | {} |", line.name, line.cells.join(" | "));
    }
    out
}

fn lines(report: &RunReport) -> Vec<Line> {
    report.jobs.iter().flat_map(of_job).collect()
}

fn of_job(job: &JobReport) -> Vec<Line> {
    let done: Vec<(&str, &DirectionReport)> =
        job.shown_directions().into_iter().filter(|(_, figures)| figures.total_ios > 0).collect();
    let is_mixed = done.len() > 1;
    let line = |(direction, figures): &(&str, &DirectionReport)| {
        let [p50, p99, p999] = percentiles(&figures.clat_ns);
        let rates = [Unit::PerSecond.text(figures.iops), Unit::BytesPerSecond.text(figures.bw_bytes as f64)];
        let [iops, bandwidth] = rates;
        let name = if is_mixed { format!("{}, {direction}s", job.jobname) } else { job.jobname.clone() };
        Line { name, cells: [iops, bandwidth, p50, p99, p999] }
    };
    let mut lines: Vec<Line> = done.iter().map(line).collect();
    if let Some(syncs) = job.syncs().filter(|syncs| syncs.total_ios > 0) {
        let [p50, p99, p999] = percentiles(&syncs.lat_ns);
        let name = format!("{}, the sync alone", job.jobname);
        lines.push(Line { name, cells: [String::new(), String::new(), p50, p99, p999] });
    }
    lines
}

/// `-` where no sample is above the percentile, as in the warning `few-ios`.
fn percentiles(latency: &LatencyReport) -> [String; 3] {
    PERCENTILES.map(|percent| {
        let above = latency.samples as f64 * (100.0 - percent) / 100.0;
        let listed = latency.listed(percent).filter(|_| above >= 1.0);
        listed.map_or_else(|| "-".to_owned(), |ns| Unit::Nanoseconds.text(ns as f64))
    })
}

#[cfg(test)]
mod tests {
    use ferrio_report::model::{Pairs, SyncReport};

    use super::*;

    fn figures(ios: u64) -> DirectionReport {
        let mut figures = DirectionReport {
            total_ios: ios,
            iops: 13_560.0,
            bw_bytes: 55_541_760,
            ..DirectionReport::default()
        };
        figures.clat_ns.samples = ios;
        figures.clat_ns.percentile = Pairs(vec![(50.0, 71_168), (99.0, 132_096), (99.9, 3_657_000)]);
        figures
    }

    fn report() -> RunReport {
        let job = |name: &str, read: Option<DirectionReport>, write: Option<DirectionReport>| JobReport {
            jobname: name.to_owned(),
            read,
            write,
            ..JobReport::default()
        };
        let mut synced = job("write-4k-fsync", None, Some(figures(500)));
        let mut syncs = SyncReport { total_ios: 500, ..SyncReport::default() };
        syncs.lat_ns = figures(500).clat_ns;
        synced.sync = Some(syncs);
        let jobs = vec![
            job("read-1m-qd1", Some(figures(90)), None),
            job("randread-4k-qd1", Some(figures(80_000)), None),
            job("mix", Some(figures(7000)), Some(figures(3000))),
            synced,
        ];
        RunReport { jobs, ..RunReport::default() }
    }

    #[test]
    fn a_job_has_a_line_for_each_direction_and_one_for_its_syncs() {
        let wanted = "\
/data
direct I/O

\x20                                 IOPS    bandwidth       p50       p99     p99.9
read-1m-qd1                     13.56k  52.97 MiB/s  71.17 us         -         -
randread-4k-qd1                 13.56k  52.97 MiB/s  71.17 us  132.1 us  3.657 ms
mix, reads                      13.56k  52.97 MiB/s  71.17 us  132.1 us  3.657 ms
mix, writes                     13.56k  52.97 MiB/s  71.17 us  132.1 us  3.657 ms
write-4k-fsync                  13.56k  52.97 MiB/s  71.17 us  132.1 us         -
write-4k-fsync, the sync alone                       71.17 us  132.1 us         -
";
        assert_eq!(text(&report(), &["/data".to_owned(), "direct I/O".to_owned()]), wanted);
    }

    #[test]
    fn nothing_measured_is_no_table() {
        assert_eq!(text(&RunReport::default(), &["/data".to_owned()]), "");
        assert_eq!(markdown(&RunReport::default(), &["/data".to_owned()]), "");
    }

    #[test]
    fn markdown_has_the_same_cells() {
        let wanted = "\
/data

| | IOPS | bandwidth | p50 | p99 | p99.9 |
|---|---:|---:|---:|---:|---:|
| read-1m-qd1 | 13.56k | 52.97 MiB/s | 71.17 us | - | - |
| randread-4k-qd1 | 13.56k | 52.97 MiB/s | 71.17 us | 132.1 us | 3.657 ms |
| mix, reads | 13.56k | 52.97 MiB/s | 71.17 us | 132.1 us | 3.657 ms |
| mix, writes | 13.56k | 52.97 MiB/s | 71.17 us | 132.1 us | 3.657 ms |
| write-4k-fsync | 13.56k | 52.97 MiB/s | 71.17 us | 132.1 us | - |
| write-4k-fsync, the sync alone |  |  | 71.17 us | 132.1 us | - |
";
        assert_eq!(markdown(&report(), &["/data".to_owned()]), wanted);
    }
}
