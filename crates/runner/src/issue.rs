//! The per-I/O path: choose, submit, reap, record. Generic over the engine, one copy per engine type.
//!
//! Cost model of one synchronous I/O, in order: stop and budget checks (one load, two compares), the workload's choice, a clock
//! read, the engine's call, a clock read, two additions and one histogram slot. Everything that a job does not use (rate limits,
//! refilled buffers, logs, syncs) is one predictable branch on a local flag. Nothing allocates, locks or prints.
//!
//! An asynchronous engine adds a unit of bookkeeping per I/O in flight and shares the clock reads of submission and completion
//! over a batch. Units are taken from a stack, last used first, as fio does: with default buffers that decides which bytes are
//! written.

mod attend;
mod between;
mod complete;
mod failing;
mod figures;
mod files;
mod offloaded;
mod paced;
mod recording;
mod submit;
mod verifying;
mod watch;

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;

use ferrio_engine::{Buffers, Completion, Engine, Op, Request};
use ferrio_job::{Diagnostic, Direction, JobSpec, SteadyFigure};
use ferrio_stats::{Clock, DirectionRecorder, JobStats, LiveCounters, Usage};
use ferrio_workload::{Budget, Content, PriorityChoice, Workload};

pub use failing::tolerated_error;

use between::Between;
use files::Files;
use paced::Paced;
use watch::LatencyWatch;

use crate::context::Context;
use crate::event::JobState;
use crate::failure::Failure;
use crate::logs::{self, IoLog};
use crate::ramp::RampSize;
use crate::recording::Recorder;
use crate::timing::{Milestone, Timing};
use crate::verification::Verification;
use crate::wear::Blocks;

/// One I/O in flight.
#[derive(Clone, Copy, Debug)]
struct Unit {
    request: Request,
    /// Index of the direction; meaningless for syncs.
    direction: usize,
    /// Ticks when it was ready to be submitted.
    start: u64,
    /// Ticks when the kernel had it.
    issued: u64,
}

/// Latencies of synchronous I/Os that are not in the histograms yet. Recording them a batch at a time costs a fraction of
/// recording each one between two clock readings.
#[derive(Debug)]
struct Recent {
    /// Ticks from start to end.
    ticks: [u64; RECENT],
    /// Direction of each.
    directions: [u8; RECENT],
    len: usize,
    /// Where a batch begins: at 0, or at the last place if each latency is to be seen at once.
    first: usize,
}

const RECENT: usize = 256;

/// Which latencies are taken, decided once per job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stamps {
    /// Two per I/O.
    All,
    /// `gtod_reduce`: one in a while, for the run time only.
    Rare,
}

/// I/Os between two looks at the clock when latencies are not measured.
const RARE: u32 = 64;

/// Drives one job's I/O.
pub(crate) struct Issuer<'a, E> {
    context: &'a Context<'a>,
    spec: &'a JobSpec,
    live: &'a LiveCounters,
    clock: Clock,
    engine: E,
    files: Files,
    buffers: Buffers,
    workload: Workload,
    budget: Budget,
    /// Present when writes need their buffer prepared.
    content: Option<Content>,
    verification: Option<Box<Verification>>,
    /// Ticks spent in read-back phases.
    verify_ticks: u64,
    /// When the read-back phase began that runs now; `u64::MAX` outside of one.
    verify_began: u64,
    /// Bytes moved by them.
    verify_bytes: u64,
    /// Present when I/Os are due at times of a schedule.
    paced: Option<Box<Paced>>,
    /// The job's own I/O priority, 0 without one.
    priority: u16,
    /// Present when I/Os have other priorities too.
    priorities: Option<Box<PriorityChoice>>,
    /// A schedule, verification, followed blocks, an I/O log or a choice of priorities see each data I/O before it is issued.
    watched: bool,
    /// Present when something happens between two I/Os.
    between: Option<Box<Between>>,
    /// Present when latencies have consequences.
    watch: Option<Box<LatencyWatch>>,
    /// Present before the end of a ramp of bytes.
    ramp: Option<RampSize>,
    log: Option<IoLog<'a>>,
    /// Present when the job's I/O is recorded.
    recorder: Option<Box<Recorder<'a>>>,
    /// Present when blocks are followed.
    blocks: Option<Box<Blocks>>,
    /// Every submission completes in the call.
    synchronous: bool,
    stamps: Stamps,
    until_stamp: u32,
    timing: Timing,
    /// Figures per direction.
    directions: [DirectionRecorder; 3],
    /// All other figures.
    stats: JobStats,
    recent: Box<Recent>,
    /// Main looks at the completion latencies while the job runs.
    publishes_latency: bool,
    /// The latest clock reading.
    now: u64,
    /// I/Os that may be in flight.
    depth: u32,
    units: Vec<Unit>,
    /// Unit numbers that are free, as a stack.
    free: Vec<u32>,
    /// Accepted by the engine, not yet handed to the kernel.
    queued: Vec<u32>,
    /// To be submitted before anything new: the rest of short transfers, requests the engine had no room for.
    retry: VecDeque<u32>,
    done: Vec<Completion>,
    failure: Option<Failure>,
    /// Syncs among the units that are not free.
    syncs_in_flight: u32,
    last_was_sync: bool,
    /// The pass ended because all files were done.
    files_finished: bool,
    /// Bytes moved before the figures started anew at the end of the ramp.
    ramp_bytes: [u64; 3],
}

impl<'a, E: Engine> Issuer<'a, E> {
    /// Prepares everything that the loop needs, so that it never allocates.
    pub(crate) fn new(
        context: &'a Context<'a>,
        engine: E,
        mut buffers: Buffers,
        workload: Workload,
        mut content: Content,
        verification: Option<Box<Verification>>,
        recorder: Option<Box<Recorder<'a>>>,
    ) -> Self {
        let spec = context.spec;
        let depth = spec.units();
        if spec.rw.does(Direction::Write) && !spec.engine.is_diskless() {
            let len = buffers.stride().min(usize::try_from(spec.max_buffer()).unwrap_or(usize::MAX));
            // A synchronous engine uses the last of `iodepth` buffers, filled after the others.
            content.skip_initial(buffers.fill(0, len), spec.depth.iodepth.saturating_sub(depth));
            (0..depth).for_each(|unit| content.fill_initial(buffers.fill(unit, len)));
        }
        let prepares = content.needs_write_prep()
            && writes_content(spec)
            && spec.rw.does(Direction::Write)
            && !spec.engine.is_diskless();
        let unused = Unit {
            request: Request {
                op: Op::Read,
                unit: 0,
                file: 0,
                len: 0,
                priority: 0,
                offset: 0,
                buffer: std::ptr::null_mut(),
            },
            direction: 0,
            start: 0,
            issued: 0,
        };
        let measured = spec.measure.clat || spec.measure.lat || spec.measure.slat;
        let log = context.log.clone().filter(|_| spec.logs.every_io());
        let logged = log.is_some() && !spec.measure.gtod_reduce;
        let room = depth as usize;
        let publishes_latency =
            spec.steadystate.as_ref().is_some_and(|state| state.figure == SteadyFigure::Latency);
        let watch = LatencyWatch::new(spec);
        let paced = Paced::new(spec, context.entropy, context.clock);
        let priorities = PriorityChoice::new(spec, context.entropy).map(Box::new);
        let watched = paced.is_some() || verification.is_some() || recorder.is_some() || priorities.is_some();
        // What waits in a batch could not be seen.
        let first = if publishes_latency || watch.is_some() { RECENT - 1 } else { 0 };
        let mut issuer = Issuer {
            context,
            spec,
            live: &context.control.live,
            clock: context.clock,
            engine,
            files: Files::new(spec),
            buffers,
            workload,
            budget: Budget::new(spec),
            content: prepares.then_some(content),
            verification,
            verify_ticks: 0,
            verify_began: u64::MAX,
            verify_bytes: 0,
            paced,
            priority: spec.priorities.own_bits(),
            priorities,
            watched,
            between: Between::new(spec, context.clock),
            watch,
            ramp: context.ramp.clone().map(RampSize::new),
            log: log.map(|sender| IoLog::new(sender, context.control, context.index)),
            recorder,
            blocks: None,
            synchronous: spec.is_sync(),
            stamps: if measured || logged { Stamps::All } else { Stamps::Rare },
            until_stamp: RARE,
            timing: Timing::start(0, &context.clock, &spec.limits, Usage::default()),
            directions: new_recorders(spec),
            stats: JobStats::default(),
            recent: Box::new(Recent { ticks: [0; RECENT], directions: [0; RECENT], len: first, first }),
            publishes_latency,
            now: 0,
            depth,
            units: vec![unused; room],
            free: (0..depth).collect(),
            queued: Vec::with_capacity(room),
            retry: VecDeque::with_capacity(room),
            done: Vec::with_capacity(room),
            failure: None,
            syncs_in_flight: 0,
            last_was_sync: false,
            files_finished: false,
            ramp_bytes: [0; 3],
        };
        if let Some(depth) = issuer.searched_depth() {
            issuer.set_depth(depth);
        }
        issuer
    }

    /// What the engine wants the user to know.
    pub(crate) fn engine_notes(&mut self) -> Vec<Diagnostic> {
        self.engine.notes()
    }

    /// Starts the job's clock.
    pub(crate) fn start(&mut self) {
        let usage = self.used();
        self.now = self.clock.now();
        self.timing = Timing::start(self.now, &self.clock, &self.spec.limits, usage)
            .told_by(self.spec.measure.start_clock);
        self.settle_attention();
        let control = self.context.control;
        control.running_since.store(self.now, Relaxed);
        if self.timing.in_ramp() {
            control.set_state(JobState::Ramp);
        } else {
            self.begin_measuring();
        }
    }

    /// From now on the job is measured.
    fn begin_measuring(&mut self) {
        let control = self.context.control;
        logs::tell_epoch(self.context.log.as_ref(), self.context.index, &self.spec.logs, control);
        if let Some(start_ms) = self.restarted_ms() {
            control.start_ms.store(start_ms, Relaxed);
        }
        control.begin_measuring(self.now);
        self.begin_window();
    }

    /// One pass: issues I/O until the pass is over, then waits for what is in flight. The time counts as run time.
    pub(crate) fn pass(&mut self) -> Result<(), Failure> {
        let began = self.clock.now();
        self.now = began;
        self.timing.loop_began(began);
        self.files_finished = false;
        self.issue_until_done();
        self.drain();
        self.timing.loop_ended(self.clock.now());
        let failure = self.failure.take();
        // fio asks once more when a job gives up, and counts a call that finds nothing.
        if failure.is_some() && !self.spec.engine.is_diskless() {
            self.stats.complete.record(0);
        }
        failure.map_or(Ok(()), Err)
    }

    /// True when the job shall walk over its files once more.
    pub(crate) fn another_pass(&mut self) -> bool {
        let out_of_time = self.timing.is_over(self.clock.now());
        !self.context.control.stop_requested()
            && !out_of_time
            && self.budget.another_pass(self.moved_bytes(), self.files_finished)
    }

    /// Bytes moved so far, ramp included.
    fn moved_bytes(&self) -> u64 {
        self.directions
            .iter()
            .zip(self.ramp_bytes)
            .map(|(direction, ramp)| direction.bytes + ramp)
            .sum::<u64>()
            - self.verify_bytes
    }

    /// Follows what becomes of these blocks.
    pub(crate) fn follow_blocks(&mut self, blocks: Option<Box<Blocks>>) {
        self.watched |= blocks.is_some();
        self.blocks = blocks;
    }

    /// Clock ticks when measuring began.
    pub(crate) fn measuring_since(&self) -> u64 {
        self.timing.measuring_since()
    }

    /// True until the ramp is over.
    pub(crate) fn in_ramp(&self) -> bool {
        self.timing.in_ramp()
    }

    /// When measuring began anew, ms since 1970.
    pub(crate) fn restarted_ms(&self) -> Option<u64> {
        self.timing.restarted_ms()
    }

    /// What the job's threads used since they began.
    fn used(&mut self) -> Usage {
        let mut usage = Usage::of_this_thread();
        usage.merge(&self.engine.usage());
        usage
    }

    /// Shows main the completion latencies so far.
    #[cold]
    fn publish_latency(&self) {
        let (sum_ns, count) = self
            .directions
            .iter()
            .map(DirectionRecorder::total_clat)
            .fold((0_u64, 0), |(sums, counts), (sum, count)| (sums.wrapping_add(sum), counts + count));
        self.live.store_latency(sum_ns, count);
    }

    /// Units that the engine or the kernel has.
    #[inline]
    fn depth_in_use(&self) -> u32 {
        self.depth - self.free.len() as u32 - self.retry.len() as u32
    }

    /// I/Os that were issued, or wait to be submitted again, and have not ended.
    fn busy_units(&self) -> impl Iterator<Item = &Unit> {
        let mut busy = vec![true; self.units.len()];
        let parked = self.watch.iter().flat_map(|watch| &watch.parked);
        self.free.iter().chain(parked).for_each(|&unit| busy[unit as usize] = false);
        self.units.iter().zip(busy).filter_map(|(unit, busy)| busy.then_some(unit))
    }

    /// I/Os per direction and syncs that were issued and have not ended.
    fn in_flight(&self) -> ([u64; 3], u64) {
        let (mut ios, mut syncs) = ([0; 3], 0);
        for unit in self.busy_units() {
            if is_data(unit.request.op) {
                ios[unit.direction] += 1;
            } else {
                syncs += 1;
            }
        }
        (ios, syncs)
    }

    /// End of the ramp or of the run time. False when the pass is over.
    #[cold]
    fn pass_milestone(&mut self) -> bool {
        let usage = self.used();
        match self.timing.reached(self.now, usage) {
            Milestone::RampEnded => {
                self.budget.end_ramp(self.data_in_flight());
                self.restart_figures();
                true
            }
            Milestone::TimeIsUp => false,
        }
    }

    /// Begins all figures anew. What is in flight moves its bytes in the part that is measured from now on, and is counted there.
    fn restart_figures(&mut self) {
        self.recent.len = self.recent.first;
        let control = self.context.control;
        let (ios, sync_ios) = self.in_flight();
        let before = control.ramp.ios();
        for (direction, stats) in self.directions.iter().enumerate() {
            self.ramp_bytes[direction] += stats.bytes;
            let done = before[direction] + stats.ios - ios[direction];
            control.ramp.store(direction, done, self.ramp_bytes[direction]);
            control.live.store(direction, ios[direction], 0);
        }
        control.live.store_latency(0, 0);
        self.directions = new_recorders(self.spec);
        for (stats, ios) in self.directions.iter_mut().zip(ios) {
            stats.ios = ios;
        }
        // Errors are counted from the start of the job.
        let JobStats { total_errors, first_error, .. } = self.stats;
        self.stats = JobStats { total_errors, first_error, ..JobStats::default() };
        self.stats.sync.ios = sync_ios;
        self.verify_ticks = 0;
        self.workload.end_ramp();
        if let Some(paced) = &mut self.paced {
            paced.restart();
        }
        let in_flight = self.data_in_flight();
        if let Some(between) = &mut self.between {
            between.restart(in_flight);
        }
        self.begin_measuring();
    }
}

/// True for what counts as an I/O of a direction, false for syncs.
#[inline]
fn is_data(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write | Op::Trim)
}

/// Recorders for the directions that the job uses.
fn new_recorders(spec: &JobSpec) -> [DirectionRecorder; 3] {
    let measure = &spec.measure;
    Direction::ALL.map(|direction| {
        match spec.rw.does(direction) || (direction == Direction::Read && spec.verify.is_some()) {
            true => {
                let recorder =
                    DirectionRecorder::new(measure.slat, measure.clat, measure.lat, spec.is_sync())
                        .with_priorities(&spec.priorities.of(direction), measure.lat_percentiles);
                let scheduled = measure.lat && spec.rw.does(direction) && spec.rates.limits(direction);
                if scheduled { recorder.with_response() } else { recorder }
            }
            false => DirectionRecorder::default(),
        }
    })
}

/// True when writes carry the content of the buffers, not blocks that can be verified.
fn writes_content(spec: &JobSpec) -> bool {
    spec.verify.as_ref().is_none_or(|verify| verify.method == ferrio_job::VerifyMethod::Null)
}
