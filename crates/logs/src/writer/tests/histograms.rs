//! Logs of histograms.

use super::*;
use ferrio_plan::testing::default_job;

/// Histograms of I/Os of 4 KiB at these times and with these latencies, every 100 ms.
fn histograms(ios: &[(u64, u8, u64)], coarseness: u32) -> Vec<Vec<u64>> {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = default_job("a");
    spec.number = 1;
    spec.logs.set_prefix("write_hist_log", dir.path().join("x").to_str());
    (spec.logs.hist_msec, spec.logs.hist_coarseness) = (100, coarseness);
    let samples = ios.iter().map(|&(ms, direction, ns)| synchronous(ms, direction, ns)).collect();
    written(&plan(vec![spec]), vec![LogBatch::Ios { job: 0, samples }]);
    assert_eq!(names(&dir), ["x_clat_hist.1.log"]);
    let number = |text: &str| text.trim().parse().unwrap();
    read(&dir, "x_clat_hist.1.log").lines().map(|line| line.split(',').map(number).collect()).collect()
}

#[test]
fn a_histogram_counts_what_came_since_the_last_one_of_its_direction_and_the_rest_is_a_row_at_the_end() {
    let ios = [(0, 0, 1), (5, 0, 2), (50, 1, 3), (104, 0, 2), (105, 0, 200), (149, 1, 3), (206, 0, 7)];
    let rows = histograms(&ios, 0);
    let heads: Vec<&[u64]> = rows.iter().map(|row| &row[..3]).collect();
    assert_eq!(
        heads,
        [[105, 0, 4096], [206, 0, 4096], [206, 1, 4096]],
        "nothing of reads is left at the end"
    );
    let counts = |row: &[u64]| -> Vec<(usize, u64)> {
        row[3..].iter().copied().enumerate().filter(|&(_, count)| count > 0).collect()
    };
    // 200 ns lie in the bucket from 200 to 201, the 36th of those that are 2 wide.
    assert_eq!(counts(&rows[0]), [(1, 1), (2, 2), (128 + 36, 1)]);
    assert_eq!(counts(&rows[1]), [(7, 1)]);
    assert_eq!(counts(&rows[2]), [(3, 2)]);
}

#[test]
fn the_last_histogram_has_the_time_of_the_end_and_the_size_of_the_last_io() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = default_job("a");
    spec.number = 1;
    spec.logs.set_prefix("write_hist_log", dir.path().join("x").to_str());
    (spec.logs.hist_msec, spec.logs.hist_coarseness) = (100, 6);
    let samples = vec![synchronous(1, 1, 5), IoSample { len: 512, ..synchronous(2, 1, 5) }];
    let end = LogBatch::Ended { job: 0, time_ms: 9 };
    let batches =
        vec![LogBatch::Began { job: 0, epoch_ms: 1000 }, LogBatch::Ios { job: 0, samples }, end.clone()];
    written(&plan(vec![spec.clone()]), batches);
    assert_eq!(read(&dir, "x_clat_hist.1.log"), format!("1009, 1, 512, 2{}\n", ", 0".repeat(28)));
    // Without percentiles nothing is counted, and then there is nothing left either.
    spec.measure.clat_percentiles = false;
    let samples = vec![synchronous(1, 0, 5), synchronous(150, 0, 5), synchronous(160, 0, 5)];
    written(&plan(vec![spec]), vec![LogBatch::Ios { job: 0, samples }, end]);
    assert_eq!(read(&dir, "x_clat_hist.1.log"), format!("150, 0, 4096{}\n", ", 0".repeat(29)));
}

#[test]
fn a_coarse_histogram_adds_neighbouring_buckets_up() {
    for (coarseness, columns, filled) in [(0, 1856, 1855), (3, 232, 231), (6, 29, 28)] {
        let rows = histograms(&[(1, 2, u64::MAX), (101, 2, u64::MAX)], coarseness);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].len(), 3 + columns);
        assert_eq!(rows[0][3 + filled], 2);
    }
}
