//! What the ticks of the interval report tell of a running job besides its figures.

use std::fs::File;
use std::time::Duration;

use ferrio_job::{EngineKind, FileKind, JobSpec, ReadWrite};
use ferrio_plan::testing::file;
use ferrio_results::{JobResult, RunEvent};
use ferrio_runner::{RunOptions, Trigger, run};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::support::{disk, endless, plan, timed};

/// Runs a job with a tick every few ms until one of them has shown what `look` waits for. The last state of the job.
fn until(spec: JobSpec, look: &mut dyn FnMut(&JobResult) -> bool) -> JobResult {
    let dir = tempfile::tempdir().unwrap();
    let end = dir.path().join("end");
    let options = RunOptions {
        intervals: vec![Duration::from_millis(10)],
        trigger: Some(Trigger { file: Some(end.clone()), ..Trigger::default() }),
        ..RunOptions::default()
    };
    let mut ends = false;
    let mut result = run(Box::leak(Box::new(plan(vec![spec]))), &options, &mut |event| {
        if let RunEvent::Interval { which: 0, result } = event
            && !ends
            && look(&result.jobs[0])
        {
            ends = true;
            std::fs::write(&end, "").unwrap();
        }
    });
    result.jobs.remove(0)
}

#[test]
fn a_job_tells_how_long_its_figures_have_counted_and_is_fresh_when_it_answered() {
    let mut before = Duration::ZERO;
    let last = until(endless("a"), &mut |job| {
        assert!(job.measured >= before && !job.in_ramp, "{job:?}");
        let grew = !job.stale && before > Duration::ZERO && job.measured > before;
        before = job.measured;
        assert!(job.stale || job.measured.as_millis() as u64 == job.stats.job_runtime_ms, "{job:?}");
        grew
    });
    assert!(last.measured >= before && !last.stale && last.in_flight.is_none());
    assert_eq!(last.measured.as_millis() as u64, last.stats.job_runtime_ms);
}

#[test]
fn what_is_in_flight_is_told_where_it_can_be_more_than_one() {
    let mut deep = endless("deep");
    deep.depth.iodepth = 4;
    let mut in_flight = None;
    until(deep, &mut |job| {
        in_flight = job.in_flight;
        job.stats.total_ios() > 0 && !job.stale
    });
    assert!(in_flight.is_some_and(|ios| ios <= 4), "{in_flight:?}");
    until(endless("shallow"), &mut |job| {
        assert_eq!(job.in_flight, None);
        job.stats.total_ios() > 0 && !job.stale
    });
}

#[test]
fn figures_of_a_ramp_are_told_as_such_and_count_for_themselves() {
    let mut spec = timed("a", 3_600_000);
    spec.limits.ramp_time = Duration::from_millis(60);
    let (mut ramp, mut after) = (None, false);
    let last = until(spec, &mut |job| {
        if job.in_ramp {
            assert!(!after);
            ramp = Some(job.start_ms);
        } else if job.start_ms > 0 && !job.stale {
            after = true;
            assert_ne!(Some(job.start_ms), ramp);
        }
        after
    });
    assert!(!last.in_ramp && last.start_ms > 0);
}

#[test]
fn a_job_that_the_kernel_keeps_is_told_to_be_stale() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    // Both ends, so that opening blocks nobody and reading does.
    let mut ends = Some(File::options().read(true).write(true).open(&fifo).unwrap());
    let mut blocked = disk("blocked", ReadWrite::Read, &fifo);
    blocked.engine = EngineKind::Psync;
    blocked.files = vec![file(&fifo, FileKind::Char, 16384)];
    let mut before = Duration::ZERO;
    let last = until(blocked, &mut |job| {
        let grew = job.stale && before > Duration::ZERO && job.measured > before;
        before = job.measured;
        if grew {
            // The read ends with the last writer.
            ends = None;
        }
        grew
    });
    assert!(!last.stale && last.measured >= before);
}
