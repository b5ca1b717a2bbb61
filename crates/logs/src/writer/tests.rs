//! Whole log files: a plan and batches in, text out.

mod compressed;
mod histograms;
mod shared;
mod summed;

use std::path::Path;
use std::sync::{Arc, Mutex};

use ferrio_job::{JobSpec, LogKind, Logs, WindowValue};
use ferrio_plan::testing::{default_job, plan};
use ferrio_results::JobResult;
use tempfile::TempDir;

use super::*;
use crate::*;

/// A job that writes all logs into `dir`, under the name `x`.
fn job(dir: &Path, number: u32, avg_msec: u32) -> JobSpec {
    let mut spec = default_job("a");
    let prefix = dir.join("x").display().to_string();
    spec.number = number;
    ["write_bw_log", "write_lat_log", "write_iops_log"]
        .iter()
        .for_each(|option| spec.logs.set_prefix(option, Some(&prefix)));
    spec.logs.avg_msec = avg_msec;
    spec
}

/// Bandwidths and I/Os per second are not logged.
fn without_rates(logs: &mut Logs) {
    ["write_bw_log", "write_iops_log"].iter().for_each(|option| logs.set_prefix(option, None));
}

/// Writes the batches; returns the errors reported at the start and at the end, and the result.
fn written(plan: &Plan, batches: Vec<LogBatch>) -> (Vec<String>, Vec<String>, RunResult) {
    let mut reported = Vec::new();
    let logs = LogWriter::start(plan, None, None, &mut |problem| reported.push(problem.message)).unwrap();
    let sender = logs.sender();
    batches.into_iter().for_each(|batch| sender.send(batch, || false));
    drop(sender);
    let mut result =
        RunResult { jobs: plan.jobs.iter().map(|_| JobResult::default()).collect(), ..RunResult::default() };
    let problems = logs.finish(&mut result);
    (reported, messages(problems), result)
}

/// Messages of problems, whose codes are as they should be.
fn messages(problems: Vec<Diagnostic>) -> Vec<String> {
    for problem in &problems {
        let is_placement = problem.message.starts_with("log_compression_cpus");
        let code = if is_placement { "log-writer-not-placed" } else { "log-error" };
        assert_eq!(problem.code, code, "{}", problem.message);
    }
    problems.into_iter().map(|problem| problem.message).collect()
}

fn read(dir: &TempDir, name: &str) -> String {
    std::fs::read_to_string(dir.path().join(name)).unwrap()
}

fn names(dir: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(dir.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn synchronous(ms: u64, direction: u8, latency_ns: u64) -> IoSample {
    IoSample {
        time_ns: ms * 1_000_000 + 999_999,
        slat_ns: None,
        clat_ns: latency_ns,
        offset: 8192,
        len: 4096,
        priority: 0,
        direction,
    }
}

fn asynchronous(ms: u64, direction: u8, slat_ns: u64, clat_ns: u64) -> IoSample {
    IoSample { slat_ns: Some(slat_ns), ..synchronous(ms, direction, clat_ns) }
}

fn rates(time_ms: u64, per_second: [u64; 3]) -> RateSample {
    RateSample { time_ms, per_second }
}

#[test]
fn without_log_options_nothing_is_started() {
    assert!(LogWriter::start(&plan(vec![default_job("a")]), None, None, &mut |_| ()).is_none());
}

#[test]
fn every_io_is_one_row_and_the_submission_log_of_a_synchronous_engine_stays_empty() {
    let dir = tempfile::tempdir().unwrap();
    let samples = vec![synchronous(0, 0, 136_443), synchronous(18, 1, 10_000)];
    let plan = plan(vec![job(dir.path(), 1, 0)]);
    let (reported, problems, _) = written(&plan, vec![LogBatch::Ios { job: 0, samples }]);
    assert_eq!((reported, problems), (vec![], vec![]));
    assert_eq!(names(&dir), ["x_bw.1.log", "x_clat.1.log", "x_iops.1.log", "x_lat.1.log", "x_slat.1.log"]);
    assert_eq!(read(&dir, "x_lat.1.log"), "0, 136443, 0, 4096, 0\n18, 10000, 1, 4096, 0\n");
    assert_eq!(read(&dir, "x_clat.1.log"), read(&dir, "x_lat.1.log"));
    assert_eq!(read(&dir, "x_slat.1.log"), "");
    assert_eq!(read(&dir, "x_bw.1.log"), "0, 30019, 0, 4096, 0\n18, 409600, 1, 4096, 0\n");
    assert_eq!(read(&dir, "x_iops.1.log"), "0, 1, 0, 4096, 0\n18, 1, 1, 4096, 0\n");
}

#[test]
fn the_three_latencies_of_an_asynchronous_io_go_to_three_files() {
    let dir = tempfile::tempdir().unwrap();
    let samples = vec![asynchronous(3, 2, 700, 50_000)];
    let plan = plan(vec![job(dir.path(), 7, 0)]);
    written(&plan, vec![LogBatch::Ios { job: 0, samples }]);
    assert_eq!(read(&dir, "x_slat.7.log"), "3, 700, 2, 4096, 0\n");
    assert_eq!(read(&dir, "x_clat.7.log"), "3, 50000, 2, 4096, 0\n");
    assert_eq!(read(&dir, "x_lat.7.log"), "3, 50700, 2, 4096, 0\n");
}

#[test]
fn what_is_not_measured_has_no_log() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = job(dir.path(), 1, 0);
    without_rates(&mut spec.logs);
    (spec.measure.lat, spec.measure.slat) = (false, false);
    written(&plan(vec![spec]), vec![LogBatch::Ios { job: 0, samples: vec![synchronous(1, 0, 5)] }]);
    assert_eq!(names(&dir), ["x_clat.1.log"]);
    assert_eq!(read(&dir, "x_clat.1.log"), "1, 5, 0, 4096, 0\n");
}

#[test]
fn averaged_latencies_have_a_row_per_window_and_direction_and_one_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![job(dir.path(), 1, 250)]);
    let first = vec![asynchronous(10, 0, 1, 100), asynchronous(20, 1, 5, 50), asynchronous(255, 0, 4, 201)];
    let second = vec![asynchronous(260, 1, 6, 70), asynchronous(499, 0, 9, 11)];
    let batches = vec![
        LogBatch::Ios { job: 0, samples: first },
        LogBatch::Ios { job: 0, samples: second },
        LogBatch::Ended { job: 0, time_ms: 600 },
    ];
    written(&plan, batches);
    assert_eq!(read(&dir, "x_clat.1.log"), "255, 151, 0, 0, 0\n260, 60, 1, 0, 0\n600, 11, 0, 0, 0\n");
    assert_eq!(read(&dir, "x_slat.1.log"), "255, 3, 0, 0, 0\n260, 6, 1, 0, 0\n600, 9, 0, 0, 0\n");
    assert_eq!(read(&dir, "x_lat.1.log"), "255, 153, 0, 0, 0\n260, 66, 1, 0, 0\n600, 20, 0, 0, 0\n");
    assert_eq!(read(&dir, "x_bw.1.log"), "", "averaged rates come as samples, not from single I/Os");
}

#[test]
fn a_job_without_an_end_has_its_last_window_at_its_last_io() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![job(dir.path(), 1, 250)]);
    let samples = vec![synchronous(10, 0, 100), synchronous(30, 0, 200)];
    written(&plan, vec![LogBatch::Ios { job: 0, samples }]);
    assert_eq!(read(&dir, "x_lat.1.log"), "30, 150, 0, 0, 0\n");
}

#[test]
fn maxima_of_windows_replace_or_follow_the_averages() {
    for (value, clat, bw) in [
        (WindowValue::Maximum, "255, 201, 0, 0, 0\n600, 7, 1, 0, 0\n", "250, 176, 0, 0, 0\n"),
        (WindowValue::Both, "255, 151, 201, 0, 0, 0\n600, 6, 7, 1, 0, 0\n", "250, 176, 176, 0, 0, 0\n"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut spec = job(dir.path(), 1, 250);
        spec.logs.window_value = value;
        let batches = vec![
            LogBatch::Ios { job: 0, samples: vec![synchronous(10, 0, 100), synchronous(20, 1, 5)] },
            LogBatch::Ios { job: 0, samples: vec![synchronous(21, 1, 7), synchronous(255, 0, 201)] },
            LogBatch::Rates { job: 0, kind: LogKind::Bandwidth, sample: rates(250, [176, 0, 0]) },
            LogBatch::Ended { job: 0, time_ms: 600 },
        ];
        written(&plan(vec![spec]), batches);
        assert_eq!((read(&dir, "x_clat.1.log").as_str(), read(&dir, "x_bw.1.log").as_str()), (clat, bw));
    }
}

#[test]
fn averaged_rates_have_a_row_per_direction_with_progress() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![job(dir.path(), 1, 250)]);
    let batches = vec![
        LogBatch::Rates { job: 0, kind: LogKind::Bandwidth, sample: rates(250, [176, 96, 0]) },
        LogBatch::Rates { job: 0, kind: LogKind::Iops, sample: rates(250, [44, 24, 0]) },
        LogBatch::Rates { job: 0, kind: LogKind::Bandwidth, sample: rates(500, [0, 80, 0]) },
        LogBatch::Rates { job: 0, kind: LogKind::Bandwidth, sample: rates(750, [0, 0, 0]) },
    ];
    written(&plan, batches);
    assert_eq!(read(&dir, "x_bw.1.log"), "250, 176, 0, 0, 0\n250, 96, 1, 0, 0\n500, 80, 1, 0, 0\n");
    assert_eq!(read(&dir, "x_iops.1.log"), "250, 44, 0, 0, 0\n250, 24, 1, 0, 0\n");
}

#[test]
fn each_job_has_files_of_its_own_and_earlier_content_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x_lat.2.log"), "old\n".repeat(100)).unwrap();
    let plan = plan(vec![job(dir.path(), 1, 0), default_job("b"), job(dir.path(), 2, 0)]);
    let batches = vec![
        LogBatch::Ios { job: 2, samples: vec![synchronous(2, 0, 2)] },
        LogBatch::Ios { job: 0, samples: vec![synchronous(1, 0, 1)] },
        LogBatch::Ended { job: 2, time_ms: 3 },
        LogBatch::Ios { job: 0, samples: vec![synchronous(4, 0, 4)] },
    ];
    written(&plan, batches);
    assert_eq!(read(&dir, "x_lat.1.log"), "1, 1, 0, 4096, 0\n4, 4, 0, 4096, 0\n");
    assert_eq!(read(&dir, "x_lat.2.log"), "2, 2, 0, 4096, 0\n");
}

#[test]
fn rates_of_single_ios_are_the_samples_of_the_job() {
    let dir = tempfile::tempdir().unwrap();
    let mut averaged = job(dir.path(), 2, 100);
    averaged.logs.set_prefix("write_lat_log", None);
    let plan = plan(vec![job(dir.path(), 1, 0), averaged]);
    let samples = vec![synchronous(0, 0, 4_096_000), synchronous(1, 0, 2_048_000)];
    let (_, _, result) = written(&plan, vec![LogBatch::Ios { job: 0, samples }]);
    let [read, write, _] = &result.jobs[0].stats.directions;
    assert_eq!((read.bw.samples, read.bw.min, read.bw.max, read.bw.mean), (2, 1000, 2000, 1500.0));
    assert_eq!((read.iops.samples, read.iops.min, read.iops.max), (2, 1, 1));
    assert_eq!(write.bw.samples, 0);
    assert_eq!(result.jobs[1].stats.directions[0].bw.samples, 0, "averaged rates are sampled elsewhere");
}

#[test]
fn a_file_that_cannot_be_created_is_reported_at_once_and_the_others_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = job(dir.path(), 1, 0);
    spec.logs.set_prefix("write_bw_log", dir.path().join("missing/x").to_str());
    let samples = vec![synchronous(1, 0, 5)];
    let (reported, problems, result) = written(&plan(vec![spec]), vec![LogBatch::Ios { job: 0, samples }]);
    let path = dir.path().join("missing/x_bw.1.log");
    let problem =
        format!("fopen log: No such file or directory: {}; the run goes on without it", path.display());
    assert_eq!(reported, [problem]);
    assert_eq!(problems, [""; 0]);
    assert_eq!(read(&dir, "x_lat.1.log"), "1, 5, 0, 4096, 0\n");
    assert_eq!(result.jobs[0].stats.directions[0].bw.samples, 1);
}

#[test]
fn a_full_disk_ends_one_log_and_is_reported_once() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", dir.path().join("x_lat.1.log")).unwrap();
    let plan = plan(vec![job(dir.path(), 1, 0)]);
    let batch = || LogBatch::Ios { job: 0, samples: vec![synchronous(1, 0, 5)] };
    let (reported, problems, _) = written(&plan, vec![batch(), batch()]);
    let name = dir.path().join("x_lat.1.log");
    assert_eq!(reported, [""; 0]);
    let problem = format!("cannot write {}: No space left on device; the log ends there", name.display());
    assert_eq!(problems, [problem]);
    assert_eq!(read(&dir, "x_clat.1.log"), "1, 5, 0, 4096, 0\n".repeat(2));
}

#[test]
fn hundreds_of_jobs_do_not_keep_their_files_open() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan((1..=100).map(|number| job(dir.path(), number, 0)));
    let batch = |job, ms| LogBatch::Ios { job, samples: vec![synchronous(ms, 0, 5)] };
    let logs = LogWriter::start(&plan, None, None, &mut |line| panic!("{}", line.message)).unwrap();
    let open =
        std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| entry.ok()?.path().read_link().ok());
    assert_eq!(open.filter(|path| path.starts_with(dir.path())).count(), 0);
    drop(logs);
    written(&plan, vec![batch(0, 1), batch(99, 2), batch(0, 3)]);
    assert_eq!(read(&dir, "x_lat.1.log"), "1, 5, 0, 4096, 0\n3, 5, 0, 4096, 0\n");
    assert_eq!(read(&dir, "x_iops.100.log"), "2, 1, 0, 4096, 0\n");
    assert_eq!(read(&dir, "x_lat.50.log"), "");
}

#[test]
fn offsets_and_issue_times_are_columns_of_every_log_but_only_single_latencies_have_an_issue_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = job(dir.path(), 1, 0);
    (spec.logs.offset, spec.logs.issue_time) = (true, true);
    // Done at 3.999999 ms after 50 us, submitted in 700 ns.
    let samples = vec![asynchronous(3, 1, 700, 50_000)];
    written(&plan(vec![spec]), vec![LogBatch::Ios { job: 0, samples }]);
    assert_eq!(read(&dir, "x_slat.1.log"), "3, 700, 1, 4096, 8192, 0, 3949999\n");
    assert_eq!(read(&dir, "x_clat.1.log"), "3, 50000, 1, 4096, 8192, 0, 3949999\n");
    assert_eq!(read(&dir, "x_lat.1.log"), "3, 50700, 1, 4096, 8192, 0, 0\n");
    assert_eq!(read(&dir, "x_bw.1.log"), "3, 81920, 1, 4096, 8192, 0, 0\n");
    assert_eq!(read(&dir, "x_iops.1.log"), "3, 1, 1, 4096, 8192, 0, 0\n");
}

#[test]
fn equal_latencies_of_a_synchronous_io_differ_in_their_issue_times() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = job(dir.path(), 1, 0);
    spec.logs.issue_time = true;
    written(&plan(vec![spec]), vec![LogBatch::Ios { job: 0, samples: vec![synchronous(1, 0, 999_999)] }]);
    assert_eq!(read(&dir, "x_clat.1.log"), "1, 999999, 0, 4096, 0, 1000000\n");
    assert_eq!(read(&dir, "x_lat.1.log"), "1, 999999, 0, 4096, 0, 0\n");
}

#[test]
fn a_submission_latency_is_logged_at_the_time_of_its_submission() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![job(dir.path(), 1, 0)]);
    written(&plan, vec![LogBatch::Ios { job: 0, samples: vec![asynchronous(56, 1, 7811, 6_597_550)] }]);
    assert_eq!(read(&dir, "x_slat.1.log"), "50, 7811, 1, 4096, 0\n");
    assert_eq!(read(&dir, "x_clat.1.log"), "56, 6597550, 1, 4096, 0\n");
}

#[test]
fn all_times_of_a_job_count_from_its_epoch() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![job(dir.path(), 1, 100), job(dir.path(), 2, 0)]);
    let batches = vec![
        LogBatch::Began { job: 0, epoch_ms: 1_700_000_000_001 },
        LogBatch::Ios { job: 0, samples: vec![synchronous(100, 0, 5)] },
        LogBatch::Ios { job: 1, samples: vec![synchronous(100, 0, 5)] },
        LogBatch::Rates { job: 0, kind: LogKind::Iops, sample: rates(100, [1, 0, 0]) },
    ];
    written(&plan, batches);
    assert_eq!(read(&dir, "x_lat.1.log"), "1700000000101, 5, 0, 0, 0\n");
    assert_eq!(read(&dir, "x_iops.1.log"), "1700000000101, 1, 0, 0, 0\n");
    assert_eq!(read(&dir, "x_lat.2.log"), "100, 5, 0, 4096, 0\n", "the other job has no epoch");
}

#[test]
fn the_bandwidth_of_all_jobs_has_a_file_for_each_direction() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("agg").display().to_string();
    std::os::unix::fs::symlink("/dev/full", dir.path().join("agg-trim_bw.log")).unwrap();
    let logs = LogWriter::start(&plan(vec![default_job("a")]), Some(&prefix), None, &mut |line| {
        panic!("{}", line.message)
    });
    let logs = logs.unwrap();
    for (ms, read, write) in [(365, 120, 65), (749, 0, 0)] {
        logs.sender().send(LogBatch::Total { sample: rates(ms, [read, write, 0]) }, || false);
    }
    let mut result = RunResult { jobs: vec![JobResult::default()], ..RunResult::default() };
    let problems = logs.finish(&mut result);
    assert_eq!(read(&dir, "agg-read_bw.log"), "365, 120, 0, 0, 0\n749, 0, 0, 0, 0\n");
    assert_eq!(read(&dir, "agg-write_bw.log"), "365, 65, 1, 0, 0\n749, 0, 1, 0, 0\n");
    assert_eq!(
        messages(problems),
        [format!("cannot write {prefix}-trim_bw.log: No space left on device; the log ends there")]
    );
    let mut reported = Vec::new();
    let nowhere = dir.path().join("none/x").display().to_string();
    assert!(LogWriter::start(&plan(vec![]), Some(&nowhere), None, &mut |line| reported.push(line)).is_some());
    assert_eq!(reported.len(), 3);
    assert!(
        reported[0]
            .message
            .starts_with(&format!("fopen log: No such file or directory: {nowhere}-read_bw.log; "))
    );
}

#[test]
fn logs_are_written_on_cpus_that_the_jobs_name() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = job(dir.path(), 1, 0);
    spec.logs.writer_cpus = vec![1023];
    let samples = vec![synchronous(1, 0, 5)];
    let (_, problems, _) = written(&plan(vec![spec.clone()]), vec![LogBatch::Ios { job: 0, samples }]);
    assert_eq!(
        problems,
        ["log_compression_cpus has no effect, logs are written on any CPU: Invalid argument"]
    );
    assert_eq!(read(&dir, "x_lat.1.log"), "1, 5, 0, 4096, 0\n");
}

/// A way in which a job sums up what it logs.
type Summing = fn(&JobSpec, &[IoSample]) -> Vec<LogBatch>;

/// Batches of a job that sums up what it logs.
fn summed(spec: &JobSpec, samples: &[IoSample]) -> Vec<LogBatch> {
    let mut batches = Vec::new();
    let mut sums = LogSums::of(0, spec).unwrap();
    samples.iter().for_each(|sample| sums.add(sample, |batch| batches.push(batch)));
    batches.push(sums.rest());
    batches
}

/// The same of a job that adds its I/Os in batches of at most 64, which end with those that may end a row.
fn summed_in_batches(spec: &JobSpec, samples: &[IoSample]) -> Vec<LogBatch> {
    let mut batches = Vec::new();
    let mut sums = LogSums::of(0, spec).unwrap();
    let mut waiting = [const { Vec::<IoSample>::new() }; 3];
    let mut next = [NextRows { completed_ms: 0, issued_ms: 0, ends_histogram: false }; 3];
    let mut last = [None; 3];
    let add = |sums: &mut LogSums, of: &mut Vec<IoSample>| {
        // Times of submission and of completion are those of one batch, or of the calls of another one.
        for part in of.chunk_by(|a, b| a.slat_ns.is_some() == b.slat_ns.is_some()) {
            let values =
                |value: fn(&IoSample) -> Option<u64>| part.iter().filter_map(value).collect::<Vec<_>>();
            let [slat, clat, lat] =
                [values(|io| io.slat_ns), values(|io| Some(io.clat_ns)), values(|io| Some(io.lat_ns()))];
            sums.add_batch(part[0].direction.into(), &slat, &clat, &lat);
        }
        of.clear();
    };
    for io in samples {
        let direction = usize::from(io.direction);
        let issued_ns = io.slat_ns.is_some().then(|| io.time_ns.saturating_sub(io.clat_ns));
        let ends = io.time_ns / 1_000_000 >= next[direction].completed_ms
            || issued_ns.is_some_and(|ns| ns / 1_000_000 >= next[direction].issued_ms);
        waiting[direction].push(*io);
        last[direction] = Some((io.time_ns, io.len));
        if waiting[direction].len() == 64 || ends {
            add(&mut sums, &mut waiting[direction]);
        }
        if ends {
            let end = IoAtEnd { completed_ns: io.time_ns, issued_ns, len: io.len };
            let now = sums.end_rows(direction, end, |batch| batches.push(batch));
            // An I/O that has no submission latency does not say when the rows of the others end.
            let issued_ms = if issued_ns.is_some() { now.issued_ms } else { next[direction].issued_ms };
            next[direction] = NextRows { issued_ms, ..now };
            if now.ends_histogram {
                last[direction] = Some((io.time_ns, 0));
            }
        }
    }
    for (direction, last) in last.into_iter().enumerate() {
        add(&mut sums, &mut waiting[direction]);
        if let Some((time_ns, len)) = last {
            sums.end_with(direction, time_ns, len);
        }
    }
    batches.push(sums.rest());
    batches
}

#[test]
fn sums_of_the_job_make_the_files_that_its_single_ios_make() {
    for (value, coarseness, counts) in
        [(WindowValue::Average, 0, true), (WindowValue::Both, 3, true), (WindowValue::Maximum, 6, false)]
    {
        // Times that stand still, jump over windows, and go back a little.
        let samples: Vec<IoSample> = (0..5000_u64)
            .map(|at| {
                let ms = 2 + at / 7 + 600 * (at / 1700) - at % 3;
                let sample = match at % 5 {
                    0 => synchronous(ms, (at % 3) as u8, at * at % 100_003),
                    _ => asynchronous(ms, (at % 2) as u8, at % 977, at * at % 1_000_003),
                };
                IoSample { len: 512 * (at % 9), ..sample }
            })
            .collect();
        let files = |of_job: Option<Summing>| {
            let dir = tempfile::tempdir().unwrap();
            let mut spec = job(dir.path(), 1, 100);
            spec.logs.set_prefix("write_hist_log", dir.path().join("x").to_str());
            (spec.logs.hist_msec, spec.logs.hist_coarseness, spec.logs.window_value) =
                (150, coarseness, value);
            spec.measure.clat_percentiles = counts;
            let mut batches = vec![LogBatch::Began { job: 0, epoch_ms: 1_700_000_000_000 }];
            match of_job {
                Some(of_job) => batches.extend(of_job(&spec, &samples)),
                None => batches
                    .extend(samples.chunks(999).map(|part| LogBatch::Ios { job: 0, samples: part.to_vec() })),
            }
            batches.push(LogBatch::Ended { job: 0, time_ms: 2000 });
            let (reported, problems, _) = written(&plan(vec![spec]), batches);
            assert_eq!((reported, problems), (vec![], vec![]));
            names(&dir).into_iter().map(|name| (read(&dir, &name), name)).collect::<Vec<_>>()
        };
        let (of_sums, of_ios) = (files(Some(summed)), files(None));
        assert_eq!(of_sums.iter().filter(|(text, _)| text.lines().count() > 10).count(), 4, "{value:?}");
        assert_eq!(of_sums, of_ios, "{value:?}");
        assert_eq!(files(Some(summed_in_batches)), of_ios, "{value:?} in batches");
    }
}

#[test]
fn a_job_that_needs_single_ios_for_a_log_has_no_sums() {
    let dir = tempfile::tempdir().unwrap();
    let has_sums = |change: fn(&mut JobSpec)| {
        let mut spec = job(dir.path(), 1, 100);
        change(&mut spec);
        LogSums::of(0, &spec).is_some()
    };
    assert!(has_sums(|_| ()));
    assert!(!has_sums(|spec| spec.logs.avg_msec = 0));
    assert!(!has_sums(|spec| spec.logs.single_rates = true));
    assert!(has_sums(|spec| {
        spec.logs.single_rates = true;
        without_rates(&mut spec.logs);
    }));
}

#[test]
fn logs_with_an_outlet_are_sent_and_no_file_is_created() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(&dir.path().join("none"), 1, 0);
    ["write_lat_log", "write_iops_log"].iter().for_each(|option| job.logs.set_prefix(option, None));
    let name = dir.path().join("none/x_bw.1.log").display().to_string();
    let sent: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let to = Arc::clone(&sent);
    let outlet = LogOutlet(Arc::new(move |name, bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        to.lock().unwrap().push((name.to_owned(), text));
    }));
    let plan = plan(vec![job]);
    let logs = LogWriter::start(&plan, None, Some(&outlet), &mut |line| panic!("{}", line.message)).unwrap();
    assert!(logs.finish(&mut RunResult::default()).is_empty());
    assert_eq!(*sent.lock().unwrap(), [(name, String::new())]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
