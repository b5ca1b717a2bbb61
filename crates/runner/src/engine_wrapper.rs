//! An engine around an engine: it reports each call (`--debug=io`, `--debug=random`) and holds back requests that overlap an I/O in
//! flight (`serialize_overlap=1`).
//!
//! A worker that needs neither runs the engine itself, so that its loop does not pay for them.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ferrio_engine::{Buffers, Completion, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit};
use ferrio_job::{JobSpec, Sprandom, debug_class};
use ferrio_workload::{OffsetDraws, PreconditioningOrder, Region, SEEDS, thread_seeds};
use log::{Level, debug, log_enabled};

use crate::engine_forwarding::forward_to_engine;
use crate::overlap::{JobRanges, SharedRanges};

/// The classes that report single I/Os.
const TRACED: [&str; 5] = [
    debug_class::IO,
    debug_class::RANDOM,
    debug_class::SPRANDOM,
    debug_class::FIO_IO,
    debug_class::FIO_RANDOM,
];

/// True when a debug class reports single I/Os.
pub(crate) fn is_traced() -> bool {
    TRACED.iter().any(|target| log_enabled!(target: target, Level::Debug))
}

/// Reports the seeds of a job, as fio does: scripts compare them between jobs and runs.
pub(crate) fn debug_seeds(spec: &JobSpec, entropy: [u64; SEEDS]) {
    if !log_enabled!(target: debug_class::FIO_RANDOM, Level::Debug) {
        return;
    }
    debug!(target: debug_class::FIO_RANDOM, job = spec.number; "FIO_RAND_NR_OFFS={SEEDS}");
    for (at, seed) in thread_seeds(spec, entropy).into_iter().enumerate() {
        debug!(target: debug_class::FIO_RANDOM, job = spec.number; "rand_seeds[{at}]={seed}");
    }
}

/// Reports what the job with `sprandom` is going to write.
pub(crate) fn debug_pass(spec: &JobSpec) {
    let Some(pass) = spec.sprandom.as_deref() else { return };
    debug!(target: debug_class::SPRANDOM, job = spec.number;
        "{} blocks of {} bytes, {} with spare space (spr_op={}), in {} regions of {} blocks",
        pass.logical_blocks, pass.block_bytes, pass.physical_blocks, pass.over_provisioning,
        pass.invalid_shares.len(), pass.region_blocks);
    debug!(target: debug_class::SPRANDOM, job = spec.number;
        "write amplification {:.4}, spr_cs={}, memory for {} blocks to write again",
        pass.write_amplification(), pass.cache_bytes, pass.most_repetitions());
    for (region, share) in pass.invalid_shares.iter().enumerate() {
        let percent = f64::from(*share) * 100.0 / f64::from(Sprandom::WHOLE);
        debug!(target: debug_class::SPRANDOM, job = spec.number; "region {region}: {percent:.2}% are written again");
    }
}

/// The writes of the job, for those who read where they belong in the pass of `sprandom`.
fn pass_of(spec: &JobSpec, entropy: [u64; SEEDS]) -> Option<PreconditioningOrder> {
    if !log_enabled!(target: debug_class::SPRANDOM, Level::Debug) {
        return None;
    }
    let file = spec.files.first()?;
    let region = Region { offset: file.offset, size: file.size, real_size: file.real_size };
    PreconditioningOrder::of(spec, &region, &thread_seeds(spec, entropy)).ok().flatten()
}

/// Engine `E`, reporting every call.
pub(crate) struct EngineWrapper<E> {
    engine: E,
    /// The ranges in flight of a job with `serialize_overlap`. Dropped after the engine, whose destructor waits for it.
    overlaps: Option<JobRanges>,
    /// Number of the job.
    job: u32,
    /// Offsets are chosen at random.
    random: bool,
    /// Smallest block of each direction in bytes, which random offsets are counted in.
    blocks: [u64; 3],
    /// Name of the engine.
    name: &'static str,
    /// The random numbers that offsets are made of, for those who read them as fio reports them.
    draws: Option<OffsetDraws>,
    /// The writes of `sprandom`.
    pass: Option<PreconditioningOrder>,
    /// Names of the files.
    files: Vec<String>,
    /// The unit for which there was no room.
    waiting: Option<u32>,
    /// The last request of each unit.
    units: Vec<Option<Request>>,
}

impl<E: Engine> EngineWrapper<E> {
    /// Job number `job` on `engine`, which is open. `shared` has what other jobs have in flight.
    pub(crate) fn new(
        engine: E,
        spec: &JobSpec,
        shared: Option<Arc<SharedRanges>>,
        job: usize,
        entropy: [u64; SEEDS],
    ) -> Self {
        debug!(target: debug_class::IO, job = spec.number; "engine {} opened, iodepth {}", spec.engine.word(), spec.depth.iodepth);
        debug!(target: debug_class::FIO_IO, job = spec.number; "load ioengine {}", spec.engine.word());
        EngineWrapper {
            engine,
            overlaps: JobRanges::of(spec, shared, job),
            job: spec.number,
            random: spec.rw.is_random(),
            blocks: spec.block.0.each_ref().map(|sizes| sizes.min.max(1)),
            name: spec.engine.word(),
            draws: log_enabled!(target: debug_class::FIO_RANDOM, Level::Debug)
                .then(|| OffsetDraws::of(spec, entropy))
                .flatten(),
            pass: pass_of(spec, entropy),
            files: spec.files.iter().map(|file| file.path.display().to_string()).collect(),
            waiting: None,
            units: vec![None; spec.units() as usize],
        }
    }
}

// A method that is not forwarded would fall back to what the trait does for engines without it.
#[deny(clippy::missing_trait_methods)]
impl<E: Engine> Engine for EngineWrapper<E> {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        Ok(EngineWrapper::new(E::open(spec, buffers)?, spec, None, 0, [0; SEEDS]))
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        debug!(target: debug_class::IO, job = self.job; "attach: {} files", files.files.len());
        if let Some(overlaps) = &mut self.overlaps {
            files.files.iter().enumerate().try_for_each(|(index, file)| overlaps.set_file(index, file))?;
        }
        if let Some(draws) = &mut self.draws {
            draws.begin_pass();
        }
        if let Some(pass) = &mut self.pass {
            pass.begin_pass();
        }
        self.engine.attach(files)
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        let what = if file.fd.is_some() { "opened" } else { "closed" };
        let name = self.files.get(index).map_or("", String::as_str);
        debug!(target: debug_class::IO, job = self.job; "attach: {what} {name}");
        if let Some(overlaps) = &mut self.overlaps {
            overlaps.set_file(index, file)?;
        }
        self.engine.attach_one(index, file)
    }

    fn operate(&mut self, path: &Path) -> Result<Option<OwnedFd>, EngineError> {
        debug!(target: debug_class::IO, job = self.job; "{} {}", self.name, path.display());
        self.engine.operate(path)
    }

    forward_to_engine!(engine);

    fn submit(&mut self, request: &Request) -> Submit {
        debug!(target: debug_class::IO, job = self.job; "queue: {}", self.shown(request));
        if self.waiting != Some(request.unit)
            && direction(request.op).is_some()
            && let Some(draws) = &mut self.draws
        {
            debug!(target: debug_class::FIO_RANDOM, job = self.job; "off rand {}", draws.draw());
        }
        if self.waiting != Some(request.unit)
            && request.op == Op::Write
            && let Some(write) = self.pass.as_mut().and_then(PreconditioningOrder::next_write)
        {
            let what = if write.again { "again" } else { "new" };
            let saved = if write.saved { ", to be written again" } else { "" };
            debug!(target: debug_class::SPRANDOM, job = self.job;
                "region {}: block {} at {:#x}, {what}{saved}", write.region, write.block, request.offset);
        }
        for step in ["fill", "prep", "queue"] {
            self.debug_step(step, request);
        }
        let outcome = match &mut self.overlaps {
            None => self.engine.submit(request),
            Some(overlaps) => overlaps.submit(request, || self.engine.submit(request)),
        };
        match outcome {
            Submit::Done(result) => {
                self.debug_offset(request);
                self.debug_end(request, result);
            }
            Submit::Queued => {
                self.debug_offset(request);
                if let Some(unit) = self.units.get_mut(request.unit as usize) {
                    *unit = Some(*request);
                }
            }
            Submit::Full => {
                debug!(target: debug_class::IO, job = self.job; "full: unit={} waits", request.unit)
            }
        }
        self.waiting = matches!(outcome, Submit::Full).then_some(request.unit);
        outcome
    }

    fn flush(&mut self) -> io::Result<u32> {
        let taken = self.engine.flush();
        match &taken {
            Ok(0) => {}
            Ok(count) => debug!(target: debug_class::IO, job = self.job; "flush: the kernel took {count}"),
            Err(error) => debug!(target: debug_class::IO, job = self.job; "flush: {error}"),
        }
        taken
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let before = done.len();
        let reaped = self.engine.reap(min, max, done);
        debug!(target: debug_class::IO, job = self.job; "reap: got {}, wanted {min} to {max}", done.len() - before);
        self.completed(&done[before..]);
        reaped
    }

    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        let before = done.len();
        let reaped = self.engine.reap_within(timeout, max, done);
        if done.len() > before {
            debug!(target: debug_class::IO, job = self.job; "reap: got {}, wanted up to {max}", done.len() - before);
        }
        self.completed(&done[before..]);
        reaped
    }
}

impl<E> EngineWrapper<E> {
    fn completed(&mut self, done: &[Completion]) {
        for completion in done {
            if let Some(request) = self.units.get(completion.unit as usize).copied().flatten() {
                self.debug_end(&request, completion.result);
            }
        }
        if let Some(overlaps) = &mut self.overlaps {
            overlaps.release_completed(done);
        }
    }

    fn shown(&self, request: &Request) -> String {
        let Request { op, unit, file, len, offset, .. } = *request;
        let name = self.files.get(file as usize).map_or("", String::as_str);
        format!("unit={unit}, off={offset:#x}, len={len:#x}, ddir={}, file={name}", op.name())
    }

    /// A step of an I/O in the form of fio.
    fn debug_step(&self, step: &str, request: &Request) {
        let Request { op, unit, file, len, offset, .. } = *request;
        let name = self.files.get(file as usize).map_or("", String::as_str);
        let direction = match op {
            Op::Read => 0,
            Op::Write => 1,
            Op::Trim => 2,
            Op::Fsync => 3,
            Op::Fdatasync => 4,
            Op::SyncFileRange(_) => 5,
        };
        debug!(target: debug_class::FIO_IO, job = self.job; "{step}: io_u {unit:#x}: off={offset:#x},len={len:#x},ddir={direction},file={name}");
    }

    fn debug_end(&self, request: &Request, result: i64) {
        self.debug_step("complete", request);
        match u64::try_from(result) {
            Ok(moved) if moved == request.len || !request.op.moves_data() => {
                debug!(target: debug_class::IO, job = self.job; "complete: {}", self.shown(request));
            }
            Ok(moved) => {
                debug!(target: debug_class::IO, job = self.job; "complete: {}, only {moved:#x} moved", self.shown(request));
            }
            Err(_) => {
                debug!(target: debug_class::IO, job = self.job; "complete: {}, error={}", self.shown(request), -result);
            }
        }
    }

    fn debug_offset(&self, request: &Request) {
        let Some(direction) = direction(request.op).filter(|_| self.random) else { return };
        let block = request.offset / self.blocks[direction];
        debug!(target: debug_class::RANDOM, job = self.job; "offset {:#x} is block {block} of {}", request.offset, request.op.name());
    }
}

impl<E> Drop for EngineWrapper<E> {
    fn drop(&mut self) {
        debug!(target: debug_class::IO, job = self.job; "engine closed");
        debug!(target: debug_class::FIO_IO, job = self.job; "close ioengine {}", self.name);
        debug!(target: debug_class::FIO_IO, job = self.job; "free ioengine {}", self.name);
    }
}

/// Index of the direction, `None` for syncs.
fn direction(op: Op) -> Option<usize> {
    match op {
        Op::Read => Some(0),
        Op::Write => Some(1),
        Op::Trim => Some(2),
        Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => None,
    }
}
