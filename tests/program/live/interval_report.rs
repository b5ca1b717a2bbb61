//! `--interval-report` of whole runs: lines that add up to the report, whatever the jobs do, and errors in writing them.

use std::fs;
use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::schemas::Schema;
use crate::support::{FERRIO, Run, TestDir, json_file, number, same};

/// A job that does nothing 2000 times a second for a while.
const PACED: [&str; 6] =
    ["--name=a", "--ioengine=null", "--size=1g", "--rate_iops=2000", "--time_based", "--runtime=150ms"];

/// The lines of a text, each checked against the schema.
#[track_caller]
fn parsed(text: &str) -> Vec<Value> {
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is not whole: {text}");
    let line = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let lines: Vec<Value> = text.lines().map(line).collect();
    let schema = Schema::of("interval_report.schema.json");
    for line in &lines {
        assert_eq!(schema.mistakes(line), [""; 0], "{line:#}");
    }
    lines
}

/// The lines of one job, by its number.
fn of(lines: &[Value], job_number: u64) -> Vec<&Value> {
    lines.iter().filter(|line| line["job_number"] == job_number).collect()
}

/// A number that a line may not have.
fn sum(lines: &[&Value], path: &str) -> u64 {
    lines.iter().filter_map(|line| line.pointer(path)).map(|value| value.as_u64().unwrap()).sum()
}

/// I/Os, bytes and latencies of all directions.
const SUMS: [&str; 12] = [
    "/read/total_ios",
    "/read/io_bytes",
    "/read/short_ios",
    "/read/clat_ns/N",
    "/read/lat_ns/N",
    "/write/total_ios",
    "/write/io_bytes",
    "/write/clat_ns/N",
    "/write/lat_ns/N",
    "/trim/total_ios",
    "/sync/total_ios",
    "/sync/lat_ns/N",
];

/// The lines of one job are in order, end once, and add up to the report since the last reset of its figures.
#[track_caller]
fn assert_adds_up(lines: &[&Value], job: &Value) {
    let states: Vec<_> = lines.iter().map(|line| line["state"].as_str().unwrap()).collect();
    let (last, before) = states.split_last().unwrap();
    let is_last = |state: &str| matches!(state, "ended" | "failed");
    assert!(is_last(last) && !before.iter().any(|state| is_last(state)), "{states:?}");
    let numbers: Vec<_> = lines.iter().map(|line| line["interval"].as_u64().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
    let times: Vec<_> = lines.iter().map(|line| line["time_ms"].as_u64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let anew = lines.iter().rposition(|line| line["restarted"] == true).unwrap_or(0);
    let lines = &lines[anew..];
    let sums = SUMS.map(|path| sum(lines, path));
    let totals = SUMS.map(|path| job.pointer(path).and_then(Value::as_u64).unwrap_or_default());
    same!("lines": sums, "report": totals, "{SUMS:?} of {}", job["jobname"]);
    let covered: f64 = lines.iter().map(|line| line["length_ms"].as_f64().unwrap()).sum();
    let ran = job["job_runtime"].as_f64().unwrap();
    assert!((covered - ran).abs() < 1.5, "the lines cover {covered} ms, the report {ran} ms");
}

/// Runs jobs with an interval report; its lines and the JSON report.
fn lines_and_report(dir: &TestDir, words: &[&str], status: i32) -> (Vec<Value>, Value) {
    let file = dir.beside("lines");
    let option = format!("--interval-report=10ms:{}", file.display());
    let words = [&["--output-format=json", &option], words].concat();
    let run = dir.ferrio(&words).run().ended_with(status);
    (parsed(&fs::read_to_string(file).unwrap()), run.json())
}

#[test]
fn the_lines_of_a_job_add_up_to_its_report() {
    let dir = TestDir::new();
    let words = [&PACED[..], &["--rw=randrw", "--lat_percentiles=1", "--percentile_list=50:99.9"]].concat();
    let (lines, report) = lines_and_report(&dir, &words, 0);
    assert!(lines.len() > 1, "{lines:#?}");
    assert_adds_up(&of(&lines, 1), &report["jobs"][0]);
    let busy = lines.iter().find(|line| number(line, "/read/total_ios") > 0).unwrap();
    for latency in ["clat_ns", "lat_ns", "response_ns"] {
        let percentiles = busy["read"][latency]["percentile"].as_object().unwrap();
        assert!(percentiles.keys().eq(["50.000000", "99.900000"]), "{busy:#}");
    }
    let rate = busy["read"]["iops"].as_f64().unwrap() * busy["length_ms"].as_f64().unwrap() / 1000.0;
    assert!((rate - busy["read"]["total_ios"].as_f64().unwrap()).abs() < 0.001, "{busy:#}");
}

#[test]
fn what_is_read_back_counts_as_in_the_report() {
    let dir = TestDir::new();
    let words = ["--name=a", "--filename=f", "--rw=write", "--size=512k", "--verify=crc32c", "--fsync=16"];
    let words = [&words[..], &["--rate_iops=3000", "--loops=2"]].concat();
    let (lines, report) = lines_and_report(&dir, &words, 0);
    assert_adds_up(&of(&lines, 1), &report["jobs"][0]);
    assert_eq!(number(&report, "/jobs/0/read/io_bytes"), 1 << 20);
}

#[test]
fn a_job_behind_a_stonewall_has_lines_after_those_of_the_one_before() {
    let dir = TestDir::new();
    let second = ["--name=b", "--stonewall", "--ioengine=null", "--size=1m", "--rw=write", "--bs=64k"];
    let (lines, report) = lines_and_report(&dir, &[&PACED[..], &second].concat(), 0);
    for (job_number, name) in [(1, "a"), (2, "b")] {
        let lines = of(&lines, job_number);
        assert_adds_up(&lines, &report["jobs"][job_number as usize - 1]);
        assert!(lines.iter().all(|line| line["jobname"] == name && line["groupid"] == job_number - 1));
    }
    let end_of_first = of(&lines, 1).last().map(|line| number(line, "/interval")).unwrap();
    assert!(number(of(&lines, 2)[0], "/interval") >= end_of_first);
}

#[test]
fn jobs_reported_as_one_have_lines_of_their_own() {
    let dir = TestDir::new();
    let words = [&PACED[..], &["--numjobs=4", "--group_reporting", "--rw=randread"]].concat();
    let (lines, report) = lines_and_report(&dir, &words, 0);
    let group = &report["jobs"][0];
    let mut ios = 0;
    for job_number in 1..=4 {
        let lines = of(&lines, job_number);
        assert_eq!(lines.last().unwrap()["state"], "ended");
        ios += sum(&lines, "/read/total_ios");
    }
    assert_eq!(ios, number(group, "/read/total_ios"));
}

#[test]
fn after_a_ramp_the_lines_begin_anew() {
    let dir = TestDir::new();
    let words = [&PACED[..], &["--ramp_time=60ms", "--iodepth=4"]].concat();
    let (lines, report) = lines_and_report(&dir, &words, 0);
    assert_adds_up(&of(&lines, 1), &report["jobs"][0]);
    let anew = lines.iter().position(|line| line["restarted"] == true);
    let ramp = lines.iter().rposition(|line| line["state"] == "ramp");
    assert!(ramp < anew.or(ramp.map(|_| usize::MAX)), "{lines:#?}");
}

#[test]
fn an_asynchronous_engine_says_how_much_is_in_flight() {
    let dir = TestDir::new();
    let words =
        ["--name=a", "--ioengine=io_uring", "--filename=f", "--size=64k", "--rw=randrw", "--iodepth=4"];
    let words = [&words[..], &["--time_based", "--runtime=60ms", "--slat_percentiles=1"]].concat();
    let (lines, report) = lines_and_report(&dir, &words, 0);
    assert_adds_up(&of(&lines, 1), &report["jobs"][0]);
    for line in lines.iter().filter(|line| line["state"] == "running" && line["fresh"] == true) {
        assert!(number(line, "/in_flight") <= 4, "{line:#}");
        assert!(line["read"]["slat_ns"]["N"].is_u64(), "{line:#}");
    }
}

#[test]
fn a_job_that_fails_says_so_in_its_last_line() {
    let dir = TestDir::new();
    let words = [&PACED[..], &["--name=b", "--filename=/dev/full", "--rw=write", "--size=64k"]].concat();
    let (lines, report) = lines_and_report(&dir, &words, 1);
    assert_adds_up(&of(&lines, 1), &report["jobs"][0]);
    let failed = of(&lines, 2);
    let last = failed.last().unwrap();
    assert_eq!((&last["state"], &last["error"]), (&"failed".into(), &report["jobs"][1]["error"]));
}

#[test]
fn tolerated_errors_are_counted_where_they_happened() {
    let dir = TestDir::new();
    let words = ["--name=a", "--filename=/dev/full", "--rw=write", "--size=64k", "--ignore_error=,ENOSPC"];
    let (lines, report) = lines_and_report(&dir, &words, 0);
    let lines = of(&lines, 1);
    assert!(sum(&lines, "/total_err") > 0, "{lines:#?}");
    assert_eq!(sum(&lines, "/total_err"), number(&report, "/jobs/0/total_err"));
    assert_eq!(lines.last().unwrap()["first_error"], report["jobs"][0]["first_error"]);
}

#[test]
fn ctrl_c_leaves_whole_lines_that_add_up() {
    let dir = TestDir::new();
    let file = dir.beside("lines");
    let option = format!("--interval-report=10ms:{}", file.display());
    let endless =
        ["--name=a", "--ioengine=null", "--size=1g", "--rate_iops=2000", "--time_based", "--runtime=1h"];
    let later = ["--name=b", "--stonewall", "--ioengine=null", "--size=1m"];
    let words = [&["--output-format=json", &option], &endless[..], &later].concat();
    let mut running = dir.ferrio(&words).start();
    let text = || fs::read_to_string(&file).unwrap_or_default();
    running.until("some lines", || text().lines().count() > 2);
    parsed(&text());
    running.signal(Signal::SIGINT);
    let report = running.wait().ended_with(128).json();
    let lines = parsed(&text());
    assert_adds_up(&of(&lines, 1), &report["jobs"][0]);
    assert_eq!(of(&lines, 2).len(), 0, "the second job never began");
}

#[track_caller]
fn assert_lost(run: &Run, name: &str, reason: &str) {
    let told =
        format!("ferrio: cannot write the interval report to {name}: {reason}; the run goes on without it\n");
    assert_eq!(run.stderr.matches(&told).count(), 1, "{}", run.stderr);
}

#[test]
fn a_full_disk_costs_the_interval_report_and_not_the_run() {
    let dir = TestDir::new();
    let words = [&["--output-format=json", "--interval-report=10ms:/dev/full"], &PACED[..]].concat();
    let run = dir.ferrio(&words).run().ended_with(1);
    assert_lost(&run, "/dev/full", "No space left on device");
    assert!(number(&run.json(), "/jobs/0/read/total_ios") >= 200);
}

/// The pipe has no reader before the program starts.
#[test]
fn a_closed_pipe_costs_the_interval_report_and_not_the_run() {
    let dir = TestDir::new();
    let report = dir.beside("report").display().to_string();
    let script = "mkfifo p; exec 3<>p; exec 1>p; exec 3>&-; exec \"$0\" \"$@\"";
    let output = format!("--output={report}");
    let words =
        [&["-c", script, FERRIO, "--output-format=json", "--interval-report=10ms:-", &output], &PACED[..]];
    let run = dir.program("bash", &words.concat()).run().ended_with(1);
    assert_lost(&run, "standard output", "Broken pipe");
    assert!(number(&json_file(&PathBuf::from(report)), "/jobs/0/read/total_ios") >= 200);
}

#[test]
fn lines_go_to_standard_error_or_where_the_report_is_not() {
    let dir = TestDir::new();
    let run = dir.ferrio(&[&["--interval-report=50ms", "--output-format=json"], &PACED[..]].concat()).run();
    let run = run.succeeded();
    assert_adds_up(&of(&parsed(&run.messages()), 1), &run.json()["jobs"][0]);
    let output = format!("--output={}", dir.beside("report").display());
    let words = ["--interval-report=50ms:-", "--output-format=json", "--eta=always", &output];
    let run = dir.ferrio(&[&words, &PACED[..]].concat()).run().succeeded();
    assert_adds_up(&of(&parsed(&run.stdout), 1), &json_file(&dir.beside("report"))["jobs"][0]);
    assert_eq!(run.messages(), "");
}

#[test]
fn what_would_tear_the_report_or_make_no_sense_is_refused() {
    let dir = TestDir::new();
    let refused = |option: &str, why: &str| {
        for words in [&[option][..], &["check", option]] {
            let order: Vec<&str> = words.iter().copied().chain(PACED).collect();
            let run = dir.ferrio(&order).run().ended_with(1);
            assert!(run.stderr.contains(why) && run.stderr.contains("--interval-report="), "{}", run.stderr);
        }
        assert_eq!(dir.files(), []);
    };
    refused("--interval-report=1s:-", "writes to standard output, as does the report");
    refused("--interval-report=5ms", "too short: the minimum is 10ms");
    refused("--interval-report=often:f", "a number is expected, optionally with d, h, m, s, ms or us");
    refused("--interval-report=1s:", "a file name is expected after the colon");
    for words in [
        &["--interval-report=1s:./f", "--output=f"][..],
        &["--interval-report=1s:/dev/stdout"],
        &["--interval-report=1s:-", "--output=/dev/stdout"],
    ] {
        let run = dir.ferrio(&[words, &PACED[..]].concat()).run().ended_with(1);
        assert!(run.stderr.contains("the report and the interval report would both go to"), "{}", run.stderr);
        assert_eq!(dir.files(), [], "nothing is left of a run that is refused");
    }
    let report = dir.beside("report");
    fs::write(&report, "of yesterday").unwrap();
    let words = ["--interval-report=1s:away/f", &format!("--output={}", report.display())];
    let run = dir.ferrio(&[&words[..], &PACED[..]].concat()).run().ended_with(1);
    assert!(run.stderr.contains("cannot create the interval report away/f"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(&report).unwrap(), "of yesterday");
}
