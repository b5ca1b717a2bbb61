//! Files that several jobs write.

use super::*;

#[test]
fn jobs_that_share_a_file_follow_one_another_after_its_contents() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x_lat.log"), "earlier\n").unwrap();
    let shared = |number| {
        let mut spec = job(dir.path(), number, 0);
        spec.logs.shared = true;
        spec.logs.set_prefix("write_iops_log", None);
        spec
    };
    let plan = plan(vec![shared(1), shared(2)]);
    let io = |job, ms| LogBatch::Ios { job, samples: vec![synchronous(ms, 0, 5)] };
    let batches =
        vec![io(0, 1), io(1, 2), io(0, 3), LogBatch::Ended { job: 1, time_ms: 9 }, io(0, 4), io(0, 5)];
    let (reported, problems, _) = written(&plan, batches);
    assert_eq!((reported, problems), (vec![], vec![]));
    assert_eq!(names(&dir), ["x_bw.log", "x_clat.log", "x_lat.log", "x_slat.log"]);
    let rows = |times: [u64; 5]| times.map(|ms| format!("{ms}, 5, 0, 4096, 0\n")).concat();
    assert_eq!(read(&dir, "x_lat.log"), format!("earlier\n{}", rows([2, 1, 3, 4, 5])));
}

#[test]
fn averaged_rates_in_a_shared_file_are_in_the_order_of_the_jobs() {
    let dir = tempfile::tempdir().unwrap();
    let shared = |number| {
        let mut spec = job(dir.path(), number, 250);
        spec.logs.shared = true;
        spec
    };
    let plan = plan(vec![shared(1), shared(2)]);
    let batches = vec![
        LogBatch::Rates { job: 1, kind: LogKind::Bandwidth, sample: rates(250, [20, 0, 0]) },
        LogBatch::Rates { job: 0, kind: LogKind::Bandwidth, sample: rates(250, [10, 0, 0]) },
        LogBatch::Ended { job: 1, time_ms: 251 },
        LogBatch::Ended { job: 0, time_ms: 252 },
    ];
    written(&plan, batches);
    assert_eq!(read(&dir, "x_bw.log"), "250, 10, 0, 0, 0\n250, 20, 0, 0, 0\n");
}

#[test]
fn a_shared_file_on_a_full_disk_is_reported_once() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", dir.path().join("x_lat.log")).unwrap();
    let shared = |number| {
        let mut spec = job(dir.path(), number, 0);
        spec.logs.shared = true;
        without_rates(&mut spec.logs);
        spec
    };
    let io = || LogBatch::Ios { job: 0, samples: vec![synchronous(1, 0, 5)] };
    let batches = vec![io(), LogBatch::Ended { job: 0, time_ms: 9 }, io()];
    let (_, problems, _) = written(&plan(vec![shared(1), shared(2)]), batches);
    let name = dir.path().join("x_lat.log");
    let problem = format!("cannot write {}: No space left on device; the log ends there", name.display());
    assert_eq!(problems, [problem]);
    assert_eq!(read(&dir, "x_clat.log"), "1, 5, 0, 4096, 0\n".repeat(2));
}
