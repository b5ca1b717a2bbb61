//! Pauses between I/Os, and jobs that are slower than they must be.

use super::*;

/// A job of 4 I/Os that pauses for so long after each.
fn thinking(engine: EngineKind, time: Duration) -> JobSpec {
    let mut spec = job(ReadWrite::Read, engine, 4 * 4096);
    spec.think.time = time;
    spec.think.blocks = Some(1);
    spec
}

#[test]
fn each_io_is_followed_by_its_pause_and_the_pause_is_run_time() {
    let result = work::<Attached>(&thinking(EngineKind::Psync, Duration::from_millis(5)));
    let read = &result.stats.directions[0];
    assert_eq!((result.error, read.ios), (None, 4));
    assert!(read.runtime_ms >= 20, "{}", read.runtime_ms);
}

#[test]
fn the_end_of_the_run_time_ends_a_pause() {
    for spin in [Duration::ZERO, Duration::from_secs(3600)] {
        let mut spec = thinking(EngineKind::Psync, Duration::from_secs(3600));
        spec.think.spin = spin;
        spec.limits.runtime = Duration::from_millis(30);
        let result = work::<Attached>(&spec);
        assert_eq!((result.error, result.stats.directions[0].ios), (None, 1));
        assert!(result.stats.job_runtime_ms >= 30, "{}", result.stats.job_runtime_ms);
    }
}

#[test]
fn the_end_of_the_ramp_in_a_pause_begins_the_run_time() {
    let mut spec = thinking(EngineKind::Psync, Duration::from_secs(3600));
    spec.limits.ramp_time = Duration::from_millis(20);
    spec.limits.runtime = Duration::from_millis(30);
    let result = work::<Attached>(&spec);
    assert_eq!((result.error, result.stats.directions[0].ios), (None, 0), "the one I/O was ramp");
    assert!(result.stats.job_runtime_ms >= 30, "{}", result.stats.job_runtime_ms);
}

#[test]
fn a_stop_request_ends_a_pause_and_a_long_count_of_cycles() {
    let mut pausing = thinking(EngineKind::Psync, Duration::from_secs(3600));
    let mut cycling = thinking(EngineKind::Psync, Duration::ZERO);
    cycling.think.cycles = u32::MAX;
    cycling.limits.time_based = true;
    pausing.think.blocks = Some(2);
    for (spec, before) in [(pausing, 2), (cycling, 1)] {
        let control: &'static JobControl = Box::leak(Box::<JobControl>::default());
        let (_, result) = std::thread::scope(|scope| {
            scope.spawn(|| {
                while control.live.ios()[0] < before {
                    std::thread::yield_now();
                }
                control.request_stop();
            });
            work_under::<Attached>(&spec, control)
        });
        assert_eq!((result.error, result.stats.directions[0].ios), (None, before));
    }
}

#[test]
fn a_job_below_its_minimum_rate_fails_once_a_cycle_is_over() {
    let mut spec = thinking(EngineKind::Psync, Duration::from_millis(20));
    spec.limits.time_based = true;
    spec.limits.runtime = Duration::from_secs(3600);
    spec.rates.min_iops.0[0] = 1000;
    spec.rates.cycle = Duration::from_millis(50);
    let result = work::<Attached>(&spec);
    let error = result.error.unwrap();
    assert_eq!((error.errno, error.func.as_str()), (libc::EIO, "check_min_rate"));
    assert!(result.stats.job_runtime_ms >= 2050, "{}", result.stats.job_runtime_ms);
}

#[test]
fn the_end_of_the_run_time_is_a_check_of_the_minimum_rate() {
    // The pause after the second I/O, which is the first check, outlasts the run time.
    let mut spec = thinking(EngineKind::Psync, Duration::from_millis(2010));
    spec.limits.time_based = true;
    spec.limits.runtime = Duration::from_millis(2500);
    spec.rates.min_iops.0[0] = 1000;
    spec.rates.cycle = Duration::from_millis(2);
    let error = work::<Attached>(&spec).error.unwrap();
    assert_eq!((error.errno, error.func.as_str()), (libc::EIO, "check_min_rate"));
}

#[test]
fn nothing_is_in_flight_while_a_job_thinks() {
    let held = |at_issue| {
        let mut spec = thinking(EngineKind::IoUring, Duration::from_micros(1));
        spec.limits.size = 12 * 4096;
        spec.files[0].size = spec.limits.size;
        spec.files[0].real_size = spec.limits.size;
        spec.depth.iodepth = 4;
        spec.depth.low = 4;
        spec.think.blocks = Some(3);
        spec.think.at_issue = at_issue;
        let result = work::<Holding>(&spec);
        assert_eq!((result.error, result.stats.directions[0].ios), (None, 12));
        HELD.take()
    };
    assert_eq!(held(true), [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
    // Three are completed once six were issued to a queue of four; the three that the pause then waits for are enough for the next.
    assert_eq!(held(false), [0, 1, 2, 3, 3, 3, 0, 0, 1, 2, 3, 3]);
}
