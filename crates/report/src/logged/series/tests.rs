use std::fmt::Write as _;
use std::path::Path;

use super::*;
use crate::logged::SeriesFromLogs;
use crate::model::Pairs;
use ferrio_logs::{LogName, LogReadError};

fn read(name: &str, text: &str) -> Result<LogContent, LogReadError> {
    LogContent::read(LogName::of(Path::new(name)).unwrap(), text.as_bytes())
}

fn log(name: &str, text: &str) -> LogContent {
    read(name, text).unwrap()
}

/// The series of a run with these logs and no report.
fn of(logs: &[LogContent]) -> Vec<Series> {
    SeriesFromLogs::of(logs, None).series
}

/// A row of 4 KiB for each time and latency.
fn singles(direction: u8, rows: impl IntoIterator<Item = (u64, u64)>) -> String {
    rows.into_iter().fold(String::new(), |mut text, (time, value)| {
        let _ = writeln!(text, "{time}, {value}, {direction}, 4096, 0");
        text
    })
}

fn job(name: &str, start: u64, options: &[(&str, &str)]) -> JobReport {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    JobReport {
        jobname: name.to_owned(),
        job_start: start,
        job_options: Pairs(options.collect()),
        ..JobReport::default()
    }
}

#[test]
fn single_ios_are_counted_with_their_bytes_latencies_and_depth() {
    // An I/O of 2 ms ends each ms.
    let clat = singles(0, (1..=999).map(|ms| (ms, 1_000_000))) + &singles(1, [(130, 7)]);
    let lat = singles(0, (1..=999).map(|ms| (ms, 2_000_000)));
    let found = of(&[log("x_lat.1.log", &lat), log("x_clat.1.log", &clat)]);
    let [series] = &found[..] else { panic!("{found:?}") };
    assert_eq!((series.jobname.as_str(), series.job_number), ("x", 1));
    assert_eq!((series.start_ms, &series.time_ms[..2], series.time_ms[7]), (0, &[125, 250][..], 1000));
    let read = series.read.as_ref().unwrap();
    assert_eq!((read.ios[0], read.ios[1], read.ios.iter().sum::<u64>()), (124, 125, 999));
    assert_eq!(read.bytes[1], 125 * 4096);
    // Completion latency, not total: 1 ms is in bucket 159.
    assert_eq!((&read.cells[1], read.max_ns[1]), (&vec![159, 125], 1_000_000));
    let write = series.write.as_ref().unwrap();
    assert_eq!((&write.ios[..3], &write.cells[1]), (&[0, 1, 0][..], &vec![22, 1]));
    assert!(series.trim.is_none());
    // 125 reads of 2 ms in 125 ms, and a write of 7 ns.
    assert!((series.iodepth_mean[1].unwrap() - 2.0).abs() < 1e-3, "{:?}", series.iodepth_mean);
}

#[test]
fn long_runs_have_longer_pieces_of_time() {
    let found = of(&[log("x_bw.1.log", &singles(2, (0..7200).map(|second| (second * 1000, 100))))]);
    let trim = found[0].trim.as_ref().unwrap();
    assert_eq!((found[0].interval_ms, trim.ios.len(), trim.ios.iter().sum::<u64>()), (16_000, 450, 7200));
    assert!(trim.cells.is_empty(), "a log of bandwidths has no latencies");
    assert_eq!(found[0].iodepth_mean, vec![None; 450]);
}

#[test]
fn windows_become_rows_with_rates_and_means() {
    let iops = "500, 2000, 0, 0, 0\n1000, 1000, 0, 0, 0\n1500, 3000, 0, 0, 0\n";
    let bandwidth = "500, 8000, 0, 0, 0\n1001, 4000, 0, 0, 0\n1500, 12000, 0, 0, 0\n";
    let clat = "503, 100, 900, 0, 0, 0\n1000, 200, 300, 0, 0, 0\n1900, 300, 400, 0, 0, 0\n";
    let logs = [log("x_iops.1.log", iops), log("x_bw.1.log", bandwidth), log("x_clat.1.log", clat)];
    let run = SeriesFromLogs::of(&logs, None);
    assert!(run.has_windows);
    let series = &run.series[0];
    // Rates end at 1500: what is after the last window is not known.
    assert_eq!((&series.time_ms, series.interval_ms), (&vec![500, 1000, 1500], 500));
    let read = series.read.as_ref().unwrap();
    assert_eq!(read.ios, [1000, 500, 1500]);
    assert_eq!(read.bytes.iter().sum::<u64>(), 1024 * (4000 + 2004 + 5988));
    assert_eq!((read.bytes[0], read.cells.len()), (1024 * 4000, 0));
    assert_eq!((&read.mean_ns, &read.max_ns), (&vec![Some(100), Some(199), Some(300)], &vec![900, 900, 400]));
}

#[test]
fn windows_without_io_have_no_rows() {
    let found = of(&[log(
        "x_iops.1.log",
        "500, 200, 0, 0, 0\n2000, 200, 0, 0, 0\n3501, 200, 0, 0, 0\n5000, 200, 0, 0, 0\n",
    )]);
    let read = found[0].read.as_ref().unwrap();
    assert_eq!(found[0].interval_ms, 500);
    assert_eq!(read.ios, [100, 0, 0, 100, 0, 0, 100, 0, 0, 100], "{:?}", found[0].time_ms);
}

#[test]
fn histograms_have_their_counts_in_the_row_of_their_window() {
    let row = |ms: u64, set: usize| {
        let counts: Vec<&str> = (0..1856).map(|at| if at == set { "9" } else { "0" }).collect();
        format!("{ms}, 1, 4096, {}\n", counts.join(", "))
    };
    let found = of(&[log("x_clat_hist.2.log", &(row(503, 64) + &row(1003, 65) + &row(1503, 0)))]);
    let write = found[0].write.as_ref().unwrap();
    assert_eq!((found[0].job_number, &write.ios), (2, &vec![9, 9, 9]));
    // 64 and 65 ns are in one bucket, 0 ns in the first.
    assert_eq!(write.cells, [vec![48, 9], vec![48, 9], vec![0, 9]]);
    let report = SeriesFromLogs::of(&[log("x_clat_hist.2.log", &row(503, 64))], None);
    let report = report.report(&[log("x_clat_hist.2.log", &row(503, 64))]);
    assert_eq!(report.jobs[0].write.as_ref().unwrap().clat_ns.bins, Pairs(vec![(64, 9)]));
}

#[test]
fn a_histogram_with_more_ios_than_there_can_be_is_damaged() {
    let row = |counts: [u64; 2]| format!("503, 0, 4096, {}, {}{}", counts[0], counts[1], ", 0".repeat(27));
    let most = log("x_clat_hist.1.log", &row([1 << 39, 1 << 39]));
    assert_eq!(of(&[most])[0].read.as_ref().unwrap().ios, [1 << 40]);
    for counts in [[1 << 39, (1 << 39) + 1], [1 << 63, 1 << 63]] {
        let error = read("x_clat_hist.1.log", &row(counts)).unwrap_err();
        assert!(matches!(error, LogReadError::Row { line: 1, .. }), "{error}");
    }
}

#[test]
fn a_time_that_no_clock_shows_is_damaged() {
    for late in [1 << 51, u64::MAX] {
        for (name, text) in [
            ("x_lat.1.log", singles(0, [(1, 1), (late, 1)])),
            ("x_iops.1.log", format!("500, 7, 0, 0, 0\n{late}, 7, 0, 0, 0\n")),
            ("x_clat_hist.1.log", format!("500, 0, 4096{0}\n{late}, 0, 4096{0}\n", ", 1".repeat(29))),
        ] {
            let error = read(name, &text).unwrap_err();
            assert!(matches!(error, LogReadError::Row { line: 2, .. }), "{name}: {error}");
        }
    }
}

#[test]
fn times_are_those_of_the_run() {
    let since_1970 = 1_795_442_532_951;
    let logs = [
        log("a_iops.1.log", &singles(0, [(since_1970, 1), (since_1970 + 200, 1)])),
        log("b_iops.2.log", &singles(0, [(since_1970 + 1000, 1)])),
    ];
    let spans = |series: &[Series]| -> Vec<(u64, u64)> {
        series.iter().map(|series| (series.start_ms, *series.time_ms.last().unwrap())).collect()
    };
    assert_eq!(spans(&of(&logs)), [(0, 201), (1000, 1001)]);
    let jobs = vec![job("one", since_1970 - 300, &[]), job("two", since_1970 + 700, &[])];
    let report = RunReport { jobs, ..RunReport::default() };
    let run = SeriesFromLogs::of(&logs, Some(&report));
    assert_eq!(spans(&run.series), [(300, 501), (1300, 1301)]);
    assert_eq!(run.series[1].jobname, "two");
    // Without dates, times count from the start of each job: 1000 ms later, to an eighth of a second.
    let logs = ["a_iops.1.log", "b_iops.2.log"].map(|name| log(name, &singles(0, [(60, 1)])));
    assert_eq!(spans(&SeriesFromLogs::of(&logs, Some(&report)).series), [(0, 61), (1000, 1061)]);
}

#[test]
fn numbers_are_those_of_jobs_also_where_an_entry_has_several() {
    let logs: Vec<LogContent> =
        (1..=5).map(|number| log(&format!("x_iops.{number}.log"), &singles(0, [(1, 1)]))).collect();
    let names = |jobs: Vec<JobReport>| -> Vec<String> {
        let report = RunReport { jobs, ..RunReport::default() };
        SeriesFromLogs::of(&logs, Some(&report)).series.into_iter().map(|series| series.jobname).collect()
    };
    let each = ["a", "a", "b", "c", "d"].map(|name| job(name, 0, &[("numjobs", "2")]));
    assert_eq!(names(each.to_vec()), ["a", "a", "b", "c", "d"]);
    let grouped = vec![job("a", 0, &[("numjobs", "3")]), job("b", 0, &[("numjobs", "2")])];
    assert_eq!(names(grouped), ["a", "a", "a", "b", "b"]);
    assert_eq!(names(vec![job("all", 0, &[])]), ["all"; 5]);
    assert_eq!(names(vec![job("a", 0, &[]), job("b", 0, &[])]), ["x"; 5], "it cannot be told");
}

#[test]
fn several_jobs_in_one_log_are_told_apart_only_by_single_ios() {
    let one = singles(0, [(1, 1), (300, 1)]);
    let found = of(&[log("x_iops.log", &(one.clone() + &one))]);
    assert_eq!(found[0].read.as_ref().unwrap().ios, [2, 0, 2]);
    let windows = "500, 2000, 0, 0, 0\n500, 1000, 1, 0, 0\n1000, 2000, 0, 0, 0\n";
    assert!(read("x_iops.log", windows).is_ok());
    let twice = windows.to_owned() + windows;
    assert!(matches!(read("x_iops.log", &twice), Err(LogReadError::SeveralJobs)));
}

#[test]
fn a_line_that_is_no_row_is_named() {
    for (text, line, shown) in [
        ("fio version 3 iolog\n", 1, "fio version 3 iolog"),
        ("0, 1, 0, 4096, 0\n\n0, 1, 7, 4096, 0\n", 3, "0, 1, 7, 4096, 0"),
        ("0, 1, 0, 4096, 0\n0, 1, 0, 40", 2, ""),
        ("250, 5, 9, 0, 0, 0\n2, 7, 1, 4096, 8192, 0\n", 2, "2, 7, 1, 4096, 8192, 0"),
        ("\u{1b}[31m", 1, "\\u{1b}[31m"),
    ] {
        match read("x_lat.1.log", text) {
            Err(LogReadError::Row { line: found, text }) => assert_eq!((found, text.as_str()), (line, shown)),
            // A last line without its end may be whole.
            other => assert!(shown.is_empty() && other.is_ok(), "{text}"),
        }
    }
    assert!(matches!(read("x_lat.1.log", &"1".repeat(100_000)), Err(LogReadError::Row { line: 1, .. })));
}

#[test]
fn logs_without_rows_have_no_series() {
    assert_eq!(of(&[log("x_slat.1.log", ""), log("x_bw.1.log", "\n")]), []);
}
