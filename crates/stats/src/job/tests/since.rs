//! The difference between two snapshots against recording what came between alone.

use proptest::prelude::*;

use super::super::*;
use crate::DirectionRecorder;

/// Direction, latency, whether it is an I/O or a sync.
type Op = (usize, u64, bool);

struct Job {
    directions: [DirectionRecorder; 3],
    sync: SyncStats,
    synchronous: bool,
}

impl Job {
    fn new(synchronous: bool) -> Self {
        let recorder = || DirectionRecorder::new(true, true, true, synchronous);
        Job { directions: [recorder(), recorder(), recorder()], sync: SyncStats::default(), synchronous }
    }

    fn record(&mut self, ops: &[Op]) {
        for &(direction, ns, sync) in ops {
            if sync {
                self.sync.ios += 1;
                self.sync.record(ns);
                continue;
            }
            let recorder = &mut self.directions[direction];
            (recorder.ios, recorder.bytes) = (recorder.ios + 1, recorder.bytes + 4096);
            if self.synchronous {
                recorder.record_synchronous(ns);
            } else {
                recorder.record_submissions(&[ns / 2]);
                recorder.record_completions(&[ns], &[ns + ns / 2]);
            }
        }
    }

    fn stats(&self) -> JobStats {
        JobStats {
            directions: self.directions.clone().map(|direction| direction.finish(1)),
            sync: self.sync.clone(),
            ..JobStats::default()
        }
    }
}

/// Number, sum and sum of squares (by mean and deviation), buckets.
fn figures(latency: Option<&Latency>) -> (u64, f64, f64, Vec<(u64, u64)>) {
    let empty = Latency::new();
    let latency = latency.unwrap_or(&empty);
    (latency.count(), latency.mean(), latency.stddev(), latency.fio_bins())
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec((0_usize..3, 0_u64..1 << 40, any::<bool>()), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_difference_of_two_looks_at_a_job_is_what_it_did_between_them(
        synchronous in any::<bool>(), before in ops(), between in ops(),
    ) {
        let (mut job, mut alone) = (Job::new(synchronous), Job::new(synchronous));
        job.record(&before);
        let earlier = job.stats();
        job.record(&between);
        alone.record(&between);
        let (difference, alone) = (job.stats().since(&earlier).unwrap(), alone.stats());
        for (got, wanted) in difference.directions.iter().zip(&alone.directions) {
            prop_assert_eq!((got.ios, got.bytes), (wanted.ios, wanted.bytes));
            prop_assert_eq!(figures(got.slat.as_deref()), figures(wanted.slat.as_deref()));
            prop_assert_eq!(figures(got.clat.as_deref()), figures(wanted.clat.as_deref()));
            prop_assert_eq!(figures(got.lat()), figures(wanted.lat()));
        }
        prop_assert_eq!(difference.sync.ios, alone.sync.ios);
        prop_assert_eq!(figures(difference.sync.latency.as_deref()), figures(alone.sync.latency.as_deref()));
    }
}

#[test]
fn figures_that_began_anew_have_no_difference() {
    let mut job = Job::new(true);
    job.record(&[(0, 5, false), (1, 7, false), (0, 9, true)]);
    let earlier = job.stats();
    assert!(JobStats::default().since(&earlier).is_none());
    let mut other = Job::new(true);
    other.record(&[(1, 5, false), (1, 7, false), (0, 9, true)]);
    assert!(other.stats().since(&earlier).is_none(), "fewer reads than before");
    let mut other = Job::new(true);
    other.record(&[(0, 5000, false), (1, 7, false), (0, 9, true)]);
    assert!(other.stats().since(&earlier).is_none(), "as many I/Os, but others");
}

#[test]
fn errors_and_cpu_time_are_counted_and_the_first_error_is_kept() {
    let mut earlier =
        JobStats { total_errors: 2, first_error: 5, job_runtime_ms: 100, ..JobStats::default() };
    earlier.usage.user_us = 10;
    let mut now = JobStats { total_errors: 5, job_runtime_ms: 150, ..earlier.clone() };
    now.usage.user_us = 30;
    let new = now.since(&earlier).unwrap();
    assert_eq!((new.total_errors, new.first_error), (3, 5));
    assert_eq!((new.job_runtime_ms, new.usage.user_us), (50, 20));
}
