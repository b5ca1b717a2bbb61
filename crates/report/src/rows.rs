//! Reports as one flat CSV table, for spreadsheets, databases and data frames: a line for each direction of each entry. Names and order of
//! the columns are stable; new ones are added before those of the labels.

use jiff::Timestamp;

use crate::grouping::distinct;
use crate::model::{DirectionReport, JobReport, LatencyReport, RunReport};
use crate::unique_names::unique_names;

/// Columns of the run and of the entry.
const ENTRY_COLUMNS: [&str; 13] = [
    "time",
    "host",
    "job",
    "groupid",
    "error",
    "runtime_ms",
    "ioengine",
    "rw",
    "bs",
    "iodepth",
    "numjobs",
    "usr_cpu",
    "sys_cpu",
];

/// Options with a column, as they were written.
const OPTION_COLUMNS: [&str; 5] = ["ioengine", "rw", "bs", "iodepth", "numjobs"];

/// Columns of the direction.
const DIRECTION_COLUMNS: [&str; 14] = [
    "direction",
    "total_ios",
    "io_bytes",
    "iops",
    "bw_bytes",
    "iops_min",
    "iops_max",
    "iops_mean",
    "iops_stddev",
    "bw_min",
    "bw_max",
    "bw_mean",
    "bw_dev",
    "short_ios",
];

/// Names of the latencies; all in ns.
const LATENCIES: [&str; 4] = ["slat_ns", "clat_ns", "lat_ns", "response_ns"];

/// Columns of each latency.
const LATENCY_COLUMNS: [&str; 5] = ["N", "min", "max", "mean", "stddev"];

/// Percentiles with columns.
const PERCENTILES: [(f64, &str); 6] =
    [(50.0, "p50"), (90.0, "p90"), (95.0, "p95"), (99.0, "p99"), (99.9, "p99_9"), (99.99, "p99_99")];

/// The columns that every table has, in order. Label columns follow.
pub fn row_columns() -> impl Iterator<Item = String> {
    let of_latencies = LATENCIES.iter().flat_map(|latency| {
        let figures = LATENCY_COLUMNS.into_iter().chain(PERCENTILES.iter().map(|(_, word)| *word));
        figures.map(move |figure| format!("{latency}_{figure}"))
    });
    ENTRY_COLUMNS.iter().chain(&DIRECTION_COLUMNS).map(|&name| name.to_owned()).chain(of_latencies)
}

/// Formats these reports as one table: a line with the column names, and the rows of each report. Every label of any report is a column.
#[must_use]
pub fn rows(reports: &[&RunReport]) -> String {
    let labels = reports.iter().flat_map(|report| report.labels());
    let labels: Vec<&str> = distinct(labels.map(|(name, _)| name.as_str()));
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail, and all lines have the same number of cells.
    let _ = writer.write_record(row_columns().chain(labels.iter().map(|&label| label.to_owned())));
    for report in reports {
        let of_label = |label: &&str| {
            let value = report.labels().iter().find(|(name, _)| name == label);
            value.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let cells_of_labels: Vec<String> = labels.iter().map(of_label).collect();
        for (job, name) in
            report.jobs.iter().zip(unique_names(report.jobs.iter().map(|job| job.jobname.as_str())))
        {
            for figures in directions(job) {
                let cells = entry(report, job, &name).into_iter().chain(figures);
                let _ = writer.write_record(cells.chain(cells_of_labels.iter().cloned()));
            }
        }
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// The cells of the run and the entry.
fn entry(report: &RunReport, job: &JobReport, name: &str) -> Vec<String> {
    let time = Timestamp::from_millisecond(report.timestamp_ms).map(|time| time.to_string());
    let host = report.ferrio.as_ref().and_then(|ferrio| ferrio.host.name.clone());
    let given = |wanted: &str| {
        let written = job.job_options.0.iter().chain(&report.global_options.0);
        let mut values = written.filter(|(name, _)| name == wanted).map(|(_, value)| value.clone());
        values.next().unwrap_or_default()
    };
    let mut cells = vec![
        time.unwrap_or_default(),
        host.unwrap_or_default(),
        name.to_owned(),
        job.groupid.to_string(),
        job.error.to_string(),
        job.job_runtime.to_string(),
    ];
    cells.extend(OPTION_COLUMNS.map(given));
    cells.extend([job.usr_cpu, job.sys_cpu].map(decimal));
    cells
}

/// The cells of each direction with I/O, and of syncs. An entry without I/O has one row without figures.
fn directions(job: &JobReport) -> Vec<Vec<String>> {
    let shown = job.shown_directions().into_iter().filter(|(_, figures)| figures.did_io());
    let mut rows: Vec<Vec<String>> = shown.map(|(name, figures)| direction(name, figures)).collect();
    if let Some(syncs) = job.syncs().filter(|syncs| syncs.total_ios > 0) {
        let mut cells = vec!["sync".to_owned(), syncs.total_ios.to_string()];
        cells.resize(DIRECTION_COLUMNS.len(), String::new());
        let latencies = LATENCIES.map(|name| latency((name == "lat_ns").then_some(&syncs.lat_ns)));
        cells.extend(latencies.into_iter().flatten());
        rows.push(cells);
    }
    if rows.is_empty() {
        rows.push(vec![String::new(); row_columns().count() - ENTRY_COLUMNS.len()]);
    }
    rows
}

fn direction(name: &str, figures: &DirectionReport) -> Vec<String> {
    let mut cells = vec![
        name.to_owned(),
        figures.total_ios.to_string(),
        figures.io_bytes.to_string(),
        decimal(figures.iops),
        figures.bw_bytes.to_string(),
        figures.iops_min.to_string(),
        figures.iops_max.to_string(),
        decimal(figures.iops_mean),
        decimal(figures.iops_stddev),
        figures.bw_min.to_string(),
        figures.bw_max.to_string(),
        decimal(figures.bw_mean),
        decimal(figures.bw_dev),
        figures.short_ios.to_string(),
    ];
    let latencies =
        [Some(&figures.slat_ns), Some(&figures.clat_ns), Some(&figures.lat_ns), figures.response_ns.as_ref()];
    cells.extend(latencies.into_iter().flat_map(latency));
    cells
}

/// The cells of a latency; empty without samples.
fn latency(latency: Option<&LatencyReport>) -> Vec<String> {
    let Some(latency) = latency.filter(|latency| latency.samples > 0) else {
        return vec![String::new(); LATENCY_COLUMNS.len() + PERCENTILES.len()];
    };
    let LatencyReport { samples, min, max, mean, stddev, .. } = latency;
    let mut cells =
        vec![samples.to_string(), min.to_string(), max.to_string(), decimal(*mean), decimal(*stddev)];
    let percentile = |&(percent, _): &(f64, &str)| {
        latency.percentile(percent).map(|ns| ns.to_string()).unwrap_or_default()
    };
    cells.extend(PERCENTILES.iter().map(percentile));
    cells
}

/// Formats a number with six decimals, as in the JSON document.
fn decimal(value: f64) -> String {
    format!("{value:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FerrioReport, Pairs, SyncReport};

    fn pairs(pairs: &[(&str, &str)]) -> Pairs<String, String> {
        Pairs(pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    fn report(labels: &[(&str, &str)]) -> RunReport {
        let clat_ns = LatencyReport {
            samples: 2,
            mean: 2.5,
            percentile: Pairs(vec![(99.0, 3)]),
            ..LatencyReport::default()
        };
        let read = DirectionReport { total_ios: 2, iops: 0.5, clat_ns, ..DirectionReport::default() };
        let job = JobReport {
            jobname: "a, \"b\"\nc".to_owned(),
            job_options: pairs(&[("bs", "4k,8k")]),
            read: Some(read),
            write: Some(DirectionReport::default()),
            sync: Some(SyncReport { total_ios: 1, ..SyncReport::default() }),
            ..JobReport::default()
        };
        RunReport {
            timestamp_ms: 1_795_227_009_073,
            global_options: pairs(&[("bs", "1k"), ("rw", "read")]),
            jobs: vec![job.clone(), JobReport { read: None, sync: None, ..job }],
            ferrio: Some(FerrioReport { labels: pairs(labels), ..FerrioReport::default() }),
            ..RunReport::default()
        }
    }

    /// The rows as maps from column to value.
    fn read(text: &str) -> Vec<std::collections::HashMap<String, String>> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.deserialize().map(|row| row.unwrap()).collect()
    }

    #[test]
    fn a_direction_of_an_entry_is_a_row_that_any_reader_understands() {
        let rows = read(&rows(&[&report(&[])]));
        let of = |row: usize, names: &[&str]| {
            names.iter().map(|&name| rows[row][name].clone()).collect::<Vec<_>>()
        };
        let names = [
            "time",
            "job",
            "direction",
            "rw",
            "bs",
            "total_ios",
            "iops",
            "clat_ns_mean",
            "clat_ns_p99",
            "clat_ns_p50",
        ];
        let want = [
            "2026-11-21T02:10:09.073Z",
            "a, \"b\"\nc",
            "read",
            "read",
            "4k,8k",
            "2",
            "0.500000",
            "2.500000",
            "3",
            "",
        ];
        assert_eq!(of(0, &names), want);
        assert_eq!(of(1, &["direction", "total_ios", "iops", "lat_ns_N"]), ["sync", "1", "", ""]);
        assert_eq!(of(2, &["job", "direction", "total_ios"]), ["a, \"b\"\nc #2", "", ""]);
        assert_eq!(rows.len(), 3, "one row for an entry without I/O, none for a direction without any");
    }

    #[test]
    fn labels_are_columns_after_the_others() {
        let [first, second] =
            [&[("disk", "nvme,0"), ("run", "1")][..], &[("site", "x"), ("run", "2")]].map(report);
        let text = rows(&[&first, &second]);
        assert!(text.lines().next().unwrap().ends_with(",response_ns_p99_99,disk,run,site"), "{text}");
        let rows = read(&text);
        let of = |row: usize| ["disk", "run", "site"].map(|name| rows[row][name].clone());
        assert_eq!(
            (of(0), of(3)),
            (["nvme,0", "1", ""].map(str::to_owned), ["", "2", "x"].map(str::to_owned))
        );
    }

    #[test]
    fn no_column_comes_twice() {
        let mut names: Vec<String> = row_columns().collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
