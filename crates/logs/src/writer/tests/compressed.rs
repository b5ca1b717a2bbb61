//! Compressed logs.

use super::*;

/// The rows of a compressed log.
fn inflated(dir: &TempDir, name: &str) -> String {
    let mut text = Vec::new();
    inflate_log(std::fs::File::open(dir.path().join(name)).unwrap(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn compressed_logs_hold_the_rows_that_text_logs_hold() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = job(dir.path(), 1, 0);
    (text.logs.offset, text.logs.issue_time, text.logs.window_value) = (true, true, WindowValue::Both);
    let mut stored = text.clone();
    (stored.number, stored.logs.stored, stored.logs.single_rates) = (2, Some(1024), true);
    let plan = plan(vec![text, stored]);
    let samples: Vec<IoSample> = (0..3000).map(|at| asynchronous(at / 7, 1, 700 + at, 50_000)).collect();
    let of = |job| {
        let ios = samples.chunks(1000).map(move |part| LogBatch::Ios { job, samples: part.to_vec() });
        ios.chain([LogBatch::Ended { job, time_ms: 500 }])
    };
    let (reported, problems, _) = written(&plan, of(0).chain(of(1)).collect());
    assert_eq!((reported, problems), (vec![], vec![]));
    for kind in ["bw", "clat", "iops", "lat", "slat"] {
        let text = read(&dir, &format!("x_{kind}.1.log"));
        assert_eq!(text.lines().count(), 3000);
        assert!(inflated(&dir, &format!("x_{kind}.2.log.fz")) == text, "{kind}");
    }
}

#[test]
fn compressed_logs_have_windows_of_the_rates_of_single_ios() {
    for stored in [None, Some(4096)] {
        let dir = tempfile::tempdir().unwrap();
        let mut spec = job(dir.path(), 1, 200);
        (spec.logs.single_rates, spec.logs.stored) = (true, stored);
        (spec.logs.bw_avg_msec, spec.logs.iops_avg_msec) = (100, 200);
        let samples = vec![
            synchronous(10, 0, 4_096_000),
            synchronous(110, 0, 2_048_000),
            synchronous(120, 0, 1_024_000),
        ];
        let batches = vec![LogBatch::Ios { job: 0, samples }, LogBatch::Ended { job: 0, time_ms: 150 }];
        let (_, _, result) = written(&plan(vec![spec]), batches);
        let read = |name: &str| match stored {
            None => read(&dir, &format!("{name}.1.log")),
            Some(_) => inflated(&dir, &format!("{name}.1.log.fz")),
        };
        assert_eq!(read("x_bw"), "110, 1500, 0, 0, 0\n150, 4000, 0, 0, 0\n");
        assert_eq!(read("x_iops"), "150, 1, 0, 0, 0\n");
        assert_eq!(read("x_lat"), "150, 2389333, 0, 0, 0\n");
        let bw = &result.jobs[0].stats.directions[0].bw;
        assert_eq!((bw.samples, bw.min, bw.max), (3, 1000, 4000));
    }
}

#[test]
fn jobs_that_share_a_compressed_file_append_whole_streams() {
    let dir = tempfile::tempdir().unwrap();
    let shared = |number| {
        let mut spec = job(dir.path(), number, 0);
        (spec.logs.shared, spec.logs.stored) = (true, Some(1024));
        without_rates(&mut spec.logs);
        spec
    };
    let io = |job, ms| LogBatch::Ios { job, samples: vec![synchronous(ms, 0, 5)] };
    for _ in 0..2 {
        let batches = vec![io(0, 1), io(1, 2), LogBatch::Ended { job: 1, time_ms: 9 }, io(0, 3)];
        written(&plan(vec![shared(1), shared(2)]), batches);
    }
    let rows = [2, 1, 3, 2, 1, 3].map(|ms| format!("{ms}, 5, 0, 4096, 0\n")).concat();
    assert_eq!(inflated(&dir, "x_lat.log.fz"), rows);
    assert_eq!(inflated(&dir, "x_slat.log.fz"), "");
}

#[test]
fn a_full_disk_under_a_compressed_log_is_reported_once() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", dir.path().join("x_lat.1.log.fz")).unwrap();
    let mut spec = job(dir.path(), 1, 0);
    spec.logs.stored = Some(1024);
    let batch = || LogBatch::Ios { job: 0, samples: vec![synchronous(1, 0, 5); 30] };
    let (_, problems, _) = written(&plan(vec![spec]), vec![batch(), batch()]);
    let name = dir.path().join("x_lat.1.log.fz");
    let problem = format!("cannot write {}: No space left on device; the log ends there", name.display());
    assert_eq!(problems, [problem]);
    assert_eq!(inflated(&dir, "x_clat.1.log.fz").lines().count(), 60);
}
