//! Logs of sums (`log_sum`).

use super::*;

/// A job with windows of 100 ms that shares its logs.
fn summed(dir: &TempDir, number: u32) -> JobSpec {
    let mut spec = job(dir.path(), number, 100);
    spec.logs.summed = true;
    (spec.logs.bw_avg_msec, spec.logs.iops_avg_msec) = (100, 100);
    spec
}

fn iops(job: usize, time_ms: u64, per_second: [u64; 3]) -> LogBatch {
    LogBatch::Rates { job, kind: LogKind::Iops, sample: rates(time_ms, per_second) }
}

fn began(job: usize, epoch_ms: u64) -> LogBatch {
    LogBatch::Began { job, epoch_ms }
}

fn ended(job: usize, time_ms: u64) -> LogBatch {
    LogBatch::Ended { job, time_ms }
}

fn latency(job: usize, direction: u8, time_ms: u64, average: u64, maximum: u64, count: u64) -> LogBatch {
    let summary = WindowSummary { average, maximum, count };
    LogBatch::Window { job, kind: LogKind::Latency, direction, time_ms, summary }
}

#[track_caller]
fn write(plan: &Plan, batches: Vec<LogBatch>) {
    let (reported, problems, _) = written(plan, batches);
    assert_eq!((reported, problems), (vec![], vec![]));
}

#[test]
fn rates_of_a_window_are_added_and_latencies_are_means_of_all_ios() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![summed(&dir, 1), summed(&dir, 2)]);
    let batches = vec![
        began(0, 1000),
        began(1, 1003),
        iops(0, 100, [10, 1, 0]),
        latency(0, 0, 100, 10, 20, 3),
        latency(1, 0, 104, 50, 90, 1),
        iops(1, 99, [20, 0, 0]),
        iops(1, 201, [21, 0, 0]),
        latency(1, 1, 230, 7, 7, 1),
        iops(0, 199, [11, 0, 0]),
        ended(0, 200),
        ended(1, 231),
    ];
    write(&plan, batches);
    assert_eq!(names(&dir), ["x_bw.log", "x_clat.log", "x_iops.log", "x_lat.log", "x_slat.log"]);
    assert_eq!(read(&dir, "x_iops.log"), "100, 30, 0, 0, 0\n100, 1, 1, 0, 0\n200, 32, 0, 0, 0\n");
    assert_eq!(read(&dir, "x_lat.log"), "100, 20, 0, 0, 0\n200, 7, 1, 0, 0\n");
}

#[test]
fn jobs_that_begin_later_add_to_later_windows() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![summed(&dir, 1), summed(&dir, 2)]);
    let first = (1..=4).map(|window| iops(0, window * 100, [10, 0, 0]));
    let second = [began(1, 1250), iops(1, 100, [5, 0, 0]), iops(1, 200, [6, 0, 0]), iops(1, 230, [7, 0, 0])];
    let batches = std::iter::once(began(0, 1000)).chain(first).chain([ended(0, 400)]);
    write(&plan, batches.chain(second).chain([ended(1, 230)]).collect());
    // What ends within a window is in one of its own: a job has one row in each.
    let wanted = "100, 10, 0, 0, 0\n200, 10, 0, 0, 0\n300, 10, 0, 0, 0\n400, 10, 0, 0, 0\n500, 5, 0, 0, 0\n600, 6, 0, 0, 0\n";
    let text = read(&dir, "x_iops.log");
    assert!(text.lines().take(4).eq(wanted.lines().take(4)), "{text}");
    let sum: u64 = text.lines().map(|line| line.split(", ").nth(1).unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(sum, 58, "nothing is lost:\n{text}");
    let times: Vec<u64> =
        text.lines().map(|line| line.split(", ").next().unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted() && times.windows(2).all(|pair| pair[0] < pair[1]), "{text}");
}

#[test]
fn the_largest_latency_of_a_window_is_that_of_any_job() {
    let dir = tempfile::tempdir().unwrap();
    let of = |number, value| {
        let mut spec = summed(&dir, number);
        spec.logs.window_value = value;
        spec
    };
    let batches =
        || vec![began(0, 0), began(1, 0), latency(0, 0, 100, 10, 20, 1), latency(1, 0, 100, 40, 90, 1)];
    write(&plan(vec![of(1, WindowValue::Maximum), of(2, WindowValue::Maximum)]), batches());
    assert_eq!(read(&dir, "x_lat.log"), "100, 90, 0, 0, 0\n");
    write(&plan(vec![of(1, WindowValue::Both), of(2, WindowValue::Both)]), batches());
    assert_eq!(read(&dir, "x_lat.log"), "100, 25, 90, 0, 0, 0\n");
}

#[test]
fn a_log_that_cannot_be_written_is_reported_once() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", dir.path().join("x_iops.log")).unwrap();
    let batches = vec![began(0, 0), iops(0, 100, [1, 0, 0]), ended(0, 100)];
    let (reported, problems, _) = written(&plan(vec![summed(&dir, 1), summed(&dir, 2)]), batches);
    let name = dir.path().join("x_iops.log");
    let problem = format!("cannot write {}: No space left on device; the log ends there", name.display());
    assert_eq!((reported, problems), (vec![], vec![problem]));
}
