//! Workers driven on the test's own thread, with engines that misbehave in ways that kernels seldom do.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use ferrio_engine::{Completion, EngineError, FileSet, Op, Request, Submit};
use ferrio_job::{Direction, EngineKind, FileKind, FileSpec, PerDirection, ReadWrite, Verify};
use ferrio_kernel::programs::ProgramGroup;
use ferrio_plan::testing::{file, job_on, plan, verify_of};
use ferrio_stats::Clock;
use ferrio_workload::SEEDS;
use tempfile::{NamedTempFile, TempDir};

use super::*;
use crate::cgroups::Cgroups;
use crate::control::JobControl;
use crate::events::EventGroups;
use crate::flow::FlowGroups;
use crate::gate::Gate;
use crate::memory_limit::MemoryLimit;
use crate::timing::SharedRamp;
use crate::worker_limits::AddressSpace;

mod database;
mod errors;
mod events;
mod files;
mod lost_trims;
mod overlap;
mod overwritten;
mod paced;
mod pauses;
mod queue;
mod recording;
mod worker_limits;

fn job(rw: ReadWrite, engine: EngineKind, size: u64) -> JobSpec {
    JobSpec { engine, ..job_on(file("nowhere", FileKind::Pretend, size), "a", rw) }
}

fn on_file(mut spec: JobSpec, path: &Path) -> JobSpec {
    spec.files[0].path = path.to_path_buf();
    spec.files[0].kind = FileKind::Regular;
    spec
}

fn crc32c() -> Verify {
    verify_of("verify=crc32c\n")
}

/// Runs the worker, alone, through an open gate. How often it said that it was ready, and its result.
fn work_stoppable<E: Engine>(spec: &JobSpec, stop: bool) -> (usize, JobResult) {
    let control = Box::leak(Box::<JobControl>::default());
    if stop {
        control.request_stop();
    }
    work_under::<E>(spec, control)
}

fn work_under<E: Engine>(spec: &JobSpec, control: &'static JobControl) -> (usize, JobResult) {
    drive(spec, control, |context| run(context, E::open))
}

/// The context of job number `job.0`, which shares nothing with other jobs but the gate and the messages.
fn bare_context<'a>(
    cgroups: &'a Cgroups,
    job: (usize, &'a JobSpec),
    control: &'static JobControl,
    gate: Arc<Gate>,
    messages: SyncSender<Message>,
) -> Context<'a> {
    Context {
        cgroups,
        memory_limit: Box::leak(Box::new(MemoryLimit::new(None))),
        address_space: AddressSpace::new(1),
        program_group: ProgramGroup::Own,
        nice: placement::nice_value(),
        flow: None,
        ramp: None,
        index: job.0,
        spec: job.1,
        control,
        gate,
        messages,
        clock: Clock::monotonic(),
        log: None,
        entropy: [0; SEEDS],
        layout: None,
        run_began: 0,
        state_dir: Path::new(""),
        progress: None,
        coverage: None,
        locks: None,
        zones: None,
        events: None,
        overlaps: None,
    }
}

/// Has `worker` do the job.
fn drive(
    spec: &JobSpec,
    control: &'static JobControl,
    worker: impl FnOnce(Context<'_>),
) -> (usize, JobResult) {
    let (sender, messages) = sync_channel(1024);
    let gate = Arc::new(Gate::default());
    gate.expect(1);
    let plan = plan([spec.clone()]);
    let cgroups = Cgroups::of(&plan);
    let groups = EventGroups::new(&plan, 0);
    groups.open_files(0, spec, &mut |_| {}).unwrap();
    let context = Context {
        flow: FlowGroups::new(&plan).member(0).cloned(),
        ramp: SharedRamp::of(&plan).remove(0),
        events: groups.of(0),
        ..bare_context(&cgroups, (0, spec), control, gate, sender)
    };
    worker(context);
    let mut ready = 0;
    for message in messages {
        match message {
            Message::Ready => ready += 1,
            Message::Ended { result, .. } => return (ready, *result),
            _ => {}
        }
    }
    panic!("the worker did not tell that it ended");
}

fn work<E: Engine>(spec: &JobSpec) -> JobResult {
    let (ready, result) = work_stoppable::<E>(spec, false);
    assert_eq!(ready, 1, "main waits for exactly one message of readiness");
    result
}

fn errno(result: &JobResult) -> Option<i32> {
    result.error.as_ref().map(|error| error.errno)
}

thread_local! {
    /// Whether the buffers were still mapped when a [`Held`] went.
    static BUFFERS_THERE: Cell<Option<bool>> = const { Cell::new(None) };
    /// What [`Holding`] held at each submission.
    static HELD: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    /// Descriptors of the file when [`Attached`] was shown it.
    static DESCRIPTORS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    /// Writes that [`Flaky`] engines saw.
    static FLAKY_WRITES: Cell<u64> = const { Cell::new(0) };
}

/// Panics at the first I/O.
struct Panicking;

impl Engine for Panicking {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Panicking)
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, _: &Request) -> Submit {
        panic!("a bug");
    }
}

#[test]
fn a_panic_is_the_jobs_error() {
    let result = work::<Panicking>(&job(ReadWrite::Read, EngineKind::Psync, 4096));
    let error = result.error.unwrap();
    assert_eq!((error.errno, error.func.as_str()), (libc::EFAULT, "panic: a bug"));
}

/// Takes two I/Os at most, hands one over per flush and none at every other flush, and moves the first quarter of each block only.
#[derive(Default)]
struct Stingy {
    queued: VecDeque<Completion>,
    kernel: VecDeque<Completion>,
    unreported: u32,
    tired: bool,
}

impl Stingy {
    fn hand_over(&mut self) -> bool {
        let first = self.queued.pop_front();
        self.unreported += u32::from(first.is_some());
        self.kernel.extend(first);
        first.is_some()
    }
}

impl Engine for Stingy {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Stingy::default())
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        if self.queued.len() + self.kernel.len() == 2 {
            return Submit::Full;
        }
        let moved = if request.len == 4096 { 1024 } else { request.len };
        self.queued.push_back(Completion { unit: request.unit, result: moved.cast_signed() });
        Submit::Queued
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        self.tired = !self.tired;
        if !self.tired {
            self.hand_over();
        }
        Ok(std::mem::take(&mut self.unreported))
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        while self.kernel.len() < min as usize && self.hand_over() {}
        let count = self.kernel.len().min(max as usize);
        done.extend(self.kernel.drain(..count));
        Ok(())
    }
}

#[test]
fn an_engine_short_of_everything_loses_and_doubles_nothing() {
    for (iodepth, batch, complete_min) in [(1, 1, 1), (4, 1, 1), (4, 4, 4), (8, 3, 0)] {
        let mut spec = job(ReadWrite::Read, EngineKind::IoUring, 64 << 10);
        spec.depth.iodepth = iodepth;
        spec.depth.batch = batch;
        spec.depth.complete_min = complete_min;
        spec.depth.complete_max = complete_min;
        spec.depth.low = iodepth;
        let result = work::<Stingy>(&spec);
        let read = &result.stats.directions[0];
        assert_eq!(result.error, None);
        assert_eq!((read.bytes, read.short, read.ios), (64 << 10, 16, 32), "iodepth={iodepth}");
        assert_eq!(read.clat.as_ref().unwrap().count(), 16, "one completion per block");
    }
}

/// Refuses everything, with nothing in flight.
struct Refusing;

impl Engine for Refusing {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Refusing)
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, _: &Request) -> Submit {
        Submit::Full
    }
}

#[test]
fn an_engine_that_takes_nothing_is_an_error_not_a_hang() {
    let mut spec = job(ReadWrite::Read, EngineKind::IoUring, 4096);
    spec.depth.iodepth = 4;
    assert_eq!(errno(&work::<Refusing>(&spec)), Some(libc::EAGAIN));
}

/// Completes with this result after `REAP_MS`.
struct Slow<const RESULT: i64, const REAP_MS: u64>(Vec<u32>);

impl<const RESULT: i64, const REAP_MS: u64> Engine for Slow<RESULT, REAP_MS> {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Slow(Vec::new()))
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        self.0.push(request.unit);
        Submit::Queued
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        Ok(self.0.len() as u32)
    }

    fn reap(&mut self, _: u32, _: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        std::thread::sleep(Duration::from_millis(REAP_MS));
        done.extend(self.0.drain(..).map(|unit| Completion { unit, result: RESULT }));
        Ok(())
    }
}

/// Two I/Os, the second due `ms` after the first.
fn paced(ms: u64) -> JobSpec {
    let mut spec = job(ReadWrite::Read, EngineKind::IoUring, 8192);
    spec.depth.iodepth = 2;
    spec.depth.low = 2;
    spec.rates.bytes = PerDirection([4096 * 1000 / ms, 0, 0]);
    spec
}

#[test]
fn an_error_ends_the_wait_for_the_next_paced_io() {
    let result = work::<Slow<{ -5 }, 0>>(&paced(4096));
    assert_eq!(errno(&result), Some(libc::EIO));
    assert_eq!(result.stats.directions[0].ios, 1, "nothing is issued after an error");
}

#[test]
fn the_part_of_a_read_back_that_is_ramp_is_not_measured() {
    let mut spec = job(ReadWrite::Write, EngineKind::Null, 8 * 4096);
    spec.depth.iodepth = 2;
    spec.depth.low = 2;
    spec.verify = Some(crc32c());
    // Writing takes at least 80 ms, reading back as long.
    spec.limits.ramp_time = Duration::from_millis(120);
    let stats = work::<Slow<4096, 20>>(&spec).stats;
    let [read, write, _] = &stats.directions;
    assert!(read.bytes > 0 && read.bytes + write.bytes < 16 * 4096);
    assert!(read.runtime_ms <= stats.job_runtime_ms + 1, "{} {}", read.runtime_ms, stats.job_runtime_ms);
}

/// Holds everything until it is reaped, and notes how much it held at each submission.
struct Holding(Vec<u32>);

impl Engine for Holding {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Holding(Vec::new()))
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        HELD.with_borrow_mut(|held| held.push(self.0.len()));
        self.0.push(request.unit);
        Submit::Queued
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        Ok(1)
    }

    fn reap(&mut self, _: u32, max: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        done.extend(self.0.drain(..max as usize).map(|unit| Completion { unit, result: 4096 }));
        Ok(())
    }
}

/// Fails to reap, and looks for the buffer of the I/O in flight when it goes.
struct Held(usize);

impl Engine for Held {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Held(0))
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        self.0 = request.buffer as usize;
        Submit::Queued
    }

    fn reap(&mut self, _: u32, _: u32, _: &mut Vec<Completion>) -> std::io::Result<()> {
        Err(std::io::Error::from_raw_os_error(libc::EBADF))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let maps = std::fs::read_to_string("/proc/thread-self/maps").unwrap_or_default();
        let address = |text: &str| usize::from_str_radix(text, 16).unwrap_or(0);
        let holds = |line: &str| {
            let range = line.split_whitespace().next().and_then(|range| range.split_once('-'));
            range.is_some_and(|(from, to)| (address(from)..address(to)).contains(&self.0))
        };
        BUFFERS_THERE.set(Some(maps.lines().any(holds)));
    }
}

#[test]
fn a_failing_reap_ends_the_job_and_the_buffers_outlive_the_engine() {
    let result = work::<Held>(&job(ReadWrite::Read, EngineKind::IoUring, 8192));
    let error = result.error.unwrap();
    assert_eq!((error.errno, error.func.as_str()), (libc::EBADF, "get_events"));
    assert_eq!(BUFFERS_THERE.get(), Some(true));
}

/// Succeeds, and counts descriptors whenever files are attached.
struct Attached;

impl Engine for Attached {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Attached)
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        let links = std::fs::read_dir("/proc/thread-self/fd").unwrap().flatten();
        let ours = links.filter_map(|link| std::fs::read_link(link.path()).ok());
        let count = ours.filter(|path| path.to_string_lossy().contains("ferrio-attached")).count();
        DESCRIPTORS.with_borrow_mut(|all| all.push(count));
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        Submit::Done(if request.op == Op::Fsync { 0 } else { request.len.cast_signed() })
    }
}

#[test]
fn a_further_pass_closes_its_files_before_it_opens_them_again() {
    let file = NamedTempFile::with_prefix("ferrio-attached").unwrap().into_temp_path();
    let mut spec = on_file(job(ReadWrite::Write, EngineKind::Psync, 8192), &file);
    spec.limits.loops = 3;
    let result = work::<Attached>(&spec);
    assert_eq!((result.error, result.stats.directions[1].bytes), (None, 3 * 8192));
    DESCRIPTORS.with_borrow(|all| assert_eq!(*all, [1, 1, 1]));
}

#[test]
fn a_trim_larger_than_the_buffers_needs_none_of_a_verifying_job() {
    let mut spec = job(ReadWrite::Trim, EngineKind::Psync, 1 << 20);
    let block = &mut spec.block[Direction::Trim];
    (block.min, block.max, block.align) = (65536, 65536, 65536);
    spec.verify = Some(crc32c());
    let result = work::<Attached>(&spec);
    assert_eq!((result.error, result.stats.directions[2].ios), (None, 16));
}

#[test]
fn a_stop_during_its_own_layout_ends_the_job_without_error_and_without_file() {
    let directory = TempDir::new().unwrap();
    for rw in [ReadWrite::Read, ReadWrite::Write] {
        let mut spec = on_file(job(rw, EngineKind::Psync, 8192), &directory.path().join("f"));
        spec.layout.create_serialize = false;
        spec.files[0].extend = true;
        let (ready, result) = work_stoppable::<Attached>(&spec, true);
        assert_eq!((ready, result.error), (1, None));
        assert!(!spec.files[0].path.exists());
    }
}

/// Ends one I/O at a time, after a millisecond, so that the others are always in flight.
#[derive(Default)]
struct Lagging {
    queued: u32,
    kernel: VecDeque<Completion>,
}

impl Engine for Lagging {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Lagging::default())
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        self.queued += 1;
        self.kernel.push_back(Completion { unit: request.unit, result: request.len.cast_signed() });
        Submit::Queued
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        Ok(std::mem::take(&mut self.queued))
    }

    fn reap(&mut self, min: u32, _: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        std::thread::sleep(Duration::from_millis(1));
        done.extend(self.kernel.drain(..min as usize));
        Ok(())
    }
}

#[test]
fn what_is_in_flight_at_the_end_of_the_ramp_is_counted_where_it_ends() {
    let mut spec = job(ReadWrite::Read, EngineKind::IoUring, 64 << 10);
    spec.depth.iodepth = 4;
    spec.depth.low = 3;
    spec.limits.ramp_time = Duration::from_millis(5);
    spec.limits.runtime = Duration::from_millis(5);
    spec.limits.time_based = true;
    let read = &work::<Lagging>(&spec).stats.directions[0];
    assert_eq!((read.ios * 4096, read.clat.as_ref().unwrap().count()), (read.bytes, read.ios));
}
