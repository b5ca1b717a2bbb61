//! Latencies that jobs must keep, ramps of bytes and flow groups, driven through a worker.

use ferrio_job::Flow;

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

fn searching(target: Duration) -> JobSpec {
    let mut spec = job(ReadWrite::Read, EngineKind::IoUring, 64 << 10);
    spec.depth.iodepth = 8;
    spec.depth.low = 8;
    spec.limits.time_based = true;
    spec.limits.runtime = HOUR;
    spec.latency_target.target = target;
    spec
}

#[test]
fn the_search_for_a_depth_never_has_more_in_flight_than_the_depth_and_ends_the_job() {
    let result = work::<Holding>(&searching(HOUR));
    assert_eq!((result.error, result.latency_depth), (None, Some(8)));
    // Each reap ends one I/O and, as windows have no length, one window: of depth 1, 2, 4, 8, and 8 again after all have ended.
    assert_eq!(HELD.take(), [0, 0, 1, 1, 2, 3, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(result.stats.directions[0].ios, 8, "the last window is the one that is reported");
    assert_eq!(result.stats.directions[0].bytes, 8 * 4096);
}

#[test]
fn a_search_under_a_rate_waits_without_anything_in_flight() {
    let mut spec = searching(HOUR);
    spec.rates.iops = PerDirection([2000; 3]);
    let result = work::<Holding>(&spec);
    HELD.take();
    assert_eq!((result.error, result.latency_depth), (None, Some(8)));
}

#[test]
fn a_search_for_a_share_that_no_depth_reaches_ends_with_the_job() {
    let mut spec = searching(Duration::from_nanos(1));
    spec.latency_target.percentile = 99.0;
    spec.limits.time_based = false;
    let result = work::<Holding>(&spec);
    assert_eq!((result.error, result.latency_depth), (None, Some(1)));
    assert_eq!(HELD.take(), [0; 16]);
}

#[test]
fn a_late_io_at_depth_1_fails_a_search_that_allows_none() {
    let result = work::<Lagging>(&searching(Duration::from_micros(1)));
    assert_eq!((errno(&result), result.latency_depth), (Some(libc::ETIMEDOUT), Some(1)));
    assert_eq!(result.stats.directions[0].ios, 1);
}

#[test]
fn a_job_without_a_target_has_found_no_depth() {
    let result = work::<Holding>(&job(ReadWrite::Read, EngineKind::IoUring, 4096));
    HELD.take();
    assert_eq!(result.latency_depth, None);
}

#[test]
fn an_io_above_the_maximum_latency_of_its_direction_ends_the_job() {
    let late = |direction: Direction, engine| {
        let mut spec = job(ReadWrite::Read, engine, 64 << 10);
        spec.max_latency[direction] = Duration::from_nanos(1);
        let result = if engine == EngineKind::Psync {
            let file = NamedTempFile::new().unwrap();
            file.as_file().set_len(64 << 10).unwrap();
            work::<ferrio_engine_psync::Psync>(&on_file(spec, file.path()))
        } else {
            work::<Lagging>(&spec)
        };
        (errno(&result), result.stats.directions[0].ios)
    };
    for engine in [EngineKind::Psync, EngineKind::IoUring] {
        assert_eq!(late(Direction::Read, engine), (Some(libc::ETIMEDOUT), 1));
        assert_eq!(late(Direction::Write, engine), (None, 16));
    }
}

#[test]
fn what_is_moved_in_a_ramp_of_bytes_is_not_measured() {
    let measured = |ramp_size: u64, number_ios: u64| {
        let mut spec = job(ReadWrite::Read, EngineKind::IoUring, 64 << 10);
        spec.limits.ramp_size = ramp_size;
        spec.limits.number_ios = number_ios;
        let read = work::<Holding>(&spec).stats.directions[0].clone();
        HELD.take();
        (read.ios, read.bytes)
    };
    assert_eq!(measured(16 << 10, 0), (12, 48 << 10));
    assert_eq!(measured((16 << 10) - 1, 0), (12, 48 << 10));
    assert_eq!(measured(16 << 10, 5), (5, 20 << 10), "the number counts from the end of the ramp");
    assert_eq!(measured(1 << 30, 0), (16, 64 << 10), "a job that ends in its ramp reports it");
}

#[test]
fn who_is_alone_in_its_flow_group_is_not_held_back() {
    let mut spec = job(ReadWrite::Read, EngineKind::IoUring, 64 << 10);
    spec.flow = Some(Flow { id: 7, weight: 3, sleep: HOUR });
    assert_eq!(work::<Holding>(&spec).stats.directions[0].ios, 16);
    HELD.take();
}

#[test]
fn the_run_time_cuts_an_empty_loop() {
    let mut spec = job(ReadWrite::Read, EngineKind::Null, 64 << 10);
    spec.think.cycles = u32::MAX;
    spec.limits.runtime = Duration::from_millis(1);
    let result = work::<ferrio_engine_null::Null>(&spec);
    assert_eq!((result.error, result.stats.directions[0].ios), (None, 1));
    assert!(result.stats.job_runtime_ms < 4000, "as long as all the turns take at one a nanosecond");
}
