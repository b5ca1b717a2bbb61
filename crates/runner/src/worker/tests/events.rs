//! Events that jobs share.

use std::sync::Arc;

use ferrio_engine_null::Null;
use ferrio_job::{EventKind, EventLoad, EventPart, EventWork};
use ferrio_plan::sysbench::{self, FileIoMode, FileTest, SysbenchFileio, SysbenchRun};
use ferrio_results::EventFailure;

use super::*;

/// A job that does the events of a load of its own.
fn event_job(limit: u64, rate: Option<f64>) -> JobSpec {
    let kind = EventKind::Work(EventWork::Primes { below: 3 });
    let load = EventLoad { id: 1, limit: Some(limit), rate, seed: Some(1), kind };
    let mut spec = job(ReadWrite::Read, EngineKind::Null, 4096);
    spec.events = Some(EventPart { load: Arc::new(load), thread: 0 });
    spec
}

#[test]
fn a_job_ends_with_its_last_event_and_each_is_timed() {
    let result = work::<Null>(&event_job(300, None));
    assert!(result.error.is_none());
    let events = result.events.unwrap();
    assert_eq!(events.latency.count(), 300);
    assert!(events.latency.max() < 1_000_000_000);
}

#[test]
fn events_of_a_rate_begin_when_they_arrive() {
    let result = work::<Null>(&event_job(200, Some(10_000.0)));
    assert_eq!(result.events.unwrap().latency.count(), 200);
    let seconds = result.measured.as_secs_f64();
    // The sum of 200 exponential times of 100 us: nearly never below a third of its mean.
    assert!(seconds > 0.007, "{seconds}");
}

/// Moves 100 bytes of each request.
struct Short;

impl Engine for Short {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Short)
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, _: &Request) -> Submit {
        Submit::Done(100)
    }
}

/// Fails syncs.
struct Unsynced;

impl Engine for Unsynced {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Unsynced)
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        Submit::Done(if request.op.moves_data() { request.len.cast_signed() } else { -i64::from(libc::EIO) })
    }
}

/// Ten events of writes to two files of 64 KiB in this directory, in blocks of 4 KiB.
fn fileio(directory: &Path, fsync_freq: u64) -> JobSpec {
    let asked = SysbenchFileio {
        run: SysbenchRun { threads: 1, events: Some(10), ..SysbenchRun::default() },
        test: FileTest::SequentialRewrite,
        io_mode: FileIoMode::Sync,
        files: 2,
        total_size: 128 << 10,
        block: 4096,
        merged_requests: 0,
        rw_ratio: 1.5,
        fsync_freq,
        fsync_all: false,
        fsync_end: true,
        fdatasync: false,
        validate: false,
        flags: sysbench::OpenFlags::default(),
    };
    let mut spec = sysbench::plan(&asked).jobs.remove(0).spec;
    for file in &mut spec.files {
        file.path = directory.join(&file.path);
        std::fs::write(&file.path, vec![0; 65536]).unwrap();
    }
    spec
}

fn event_failure(result: &JobResult) -> Option<EventFailure> {
    result.error.as_ref()?.event.as_deref().cloned()
}

#[test]
fn a_request_that_moves_less_than_it_should_is_fatal_and_not_continued() {
    let directory = TempDir::new().unwrap();
    let result = work::<Short>(&fileio(directory.path(), 0));
    let want = EventFailure::Transfer { direction: Direction::Write, file: 0, offset: 0, errno: 0 };
    assert_eq!(event_failure(&result), Some(want));
    let stats = &result.stats;
    assert_eq!((stats.directions[1].ios, stats.sync.ios), (1, 0), "and there are no syncs at the end");
}

#[test]
fn a_sync_that_fails_is_fatal_among_the_events_and_after_them() {
    let directory = TempDir::new().unwrap();
    for (fsync_freq, events) in [(3, 3), (0, 10)] {
        let result = work::<Unsynced>(&fileio(directory.path(), fsync_freq));
        assert_eq!(event_failure(&result), Some(EventFailure::Sync { file: 0, errno: libc::EIO }));
        assert_eq!(result.events.unwrap().latency.count(), events);
    }
}

#[test]
fn a_stopped_job_does_not_sync_at_its_end() {
    let directory = TempDir::new().unwrap();
    let (_, result) = work_stoppable::<Unsynced>(&fileio(directory.path(), 3), true);
    assert_eq!((result.error, result.stats.sync.ios), (None, 0));
}
