//! The I/O loop of a worker: choose, submit, reap, record. Generic over the engine: see the registry for who has a copy.
//!
//! Cost model of one synchronous I/O, in order: stop and budget checks (one load, two compares), the workload's choice, a clock
//! reading, the engine's call, a clock reading, two additions, and one store into a batch of latencies. Everything that a job does
//! not use (rate limits, refilled buffers, logs, syncs) is one predictable branch on a local flag. Nothing allocates, locks or
//! prints.
//!
//! An asynchronous engine adds the bookkeeping of a slot per I/O in flight and shares the clock readings of submission and
//! completion over a batch. Free slots are a stack, last used first, as in fio: with default buffers that decides which bytes are
//! written.
//!
//! This file takes an I/O from the workload to the engine, `complete` records it; `queue` has batches and waiting requests. The state is
//! in three parts:
//!
//! - `slots`: the requests in flight.
//! - `meter`: clock readings, latencies (`recent` has those of the last I/Os) and counters; `windows` makes samples of them, and `figures`
//!   the job's result.
//! - `hooks`: what only some jobs ask for; the code is in `rate_limits`, `zones`, `replay_waits` (`read_iolog`), `after_issue` (thinktime, minimum
//!   rates), `latency_limits`, `read_back` and `backlog` (verification) and `due_work` (ramps, flow groups).
//!
//! `events` does the events of a load, `database` those of several I/Os that wait for other jobs.
//! `passes`, `files` and `final_syncs` run once per pass or file, `errors` when something fails.

mod after_issue;
mod backlog;
mod complete;
mod database;
mod due_work;
mod errors;
mod events;
mod figures;
mod files;
mod final_syncs;
mod hooks;
mod intervals;
mod latency_limits;
mod meter;
mod passes;
mod queue;
mod rate_limits;
mod read_back;
mod recent;
mod replay_waits;
mod slots;
pub(crate) mod windows;
mod zones;

use ferrio_engine::{Buffers, Engine, Op, Request, Submit};
use ferrio_job::{Direction, JobSpec};
use ferrio_workload::{Budget, BufferContents, Io, Step, SyncKind, Workload};

pub(crate) use hooks::Hooks;
use meter::Meter;
use slots::{InFlightIo, Slots};

use crate::context::Context;
use crate::failure::Failure;
use crate::open::JobFiles;

/// Drives one job's I/O.
pub(crate) struct IoLoop<'a, E> {
    context: &'a Context<'a>,
    spec: &'a JobSpec,
    pub(crate) engine: E,
    files: JobFiles,
    buffers: Buffers,
    workload: Workload,
    budget: Budget,
    /// Present when writes need their buffer prepared.
    content: Option<BufferContents>,
    slots: Slots,
    meter: Meter<'a>,
    hooks: Hooks<'a>,
    /// Every submission completes in the call.
    synchronous: bool,
    last_was_sync: bool,
    /// After its first I/O the job lets the others of its wave begin.
    lets_others_begin: bool,
    /// The pass ended because all files were done.
    files_finished: bool,
    failure: Option<Failure>,
}

/// How the loop continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextAction {
    /// Continue with the next I/O.
    Issue,
    /// Start over with the work that is due.
    Again,
    /// End: the time is up.
    End,
}

impl<E: Engine> IoLoop<'_, E> {
    /// Issues I/O until the pass is over, the time is up, the job is stopped or fails.
    fn issue_until_done(&mut self) {
        while self.failure.is_none() && !self.must_end() {
            match self.before_next() {
                NextAction::Issue => {}
                NextAction::Again => continue,
                NextAction::End => return,
            }
            if !self.budget.may_issue() {
                return;
            }
            // Two branches, so that the step of a job without rates and zones stays in registers.
            let goes_on = if self.hooks.gated {
                self.perform_gated()
            } else {
                let step = self.workload.next();
                self.perform(step)
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Work before an I/O: handles due work and held-back requests, and finds a free slot.
    #[inline(always)]
    fn before_next(&mut self) -> NextAction {
        if self.meter.now >= self.meter.timing.next_due {
            let next = self.do_due_work();
            if next != NextAction::Issue {
                return next;
            }
        }
        if !self.slots.retry.is_empty() {
            self.submit_retry();
            return NextAction::Again;
        }
        if self.slots.free.is_empty() {
            self.reap_full();
            return NextAction::Again;
        }
        NextAction::Issue
    }

    /// Does what the workload says. False when the pass is over.
    #[inline(always)]
    fn perform(&mut self, step: Step) -> bool {
        match step {
            Step::Io(io) => {
                self.issue(io);
                if self.hooks.after_issue.is_some() {
                    self.after_issue();
                }
            }
            // An event ends where it was begun, and a database waits in its own jobs.
            Step::EventEnd
            | Step::Compute { .. }
            | Step::Commit
            | Step::AwaitWriteBack
            | Step::AwaitWork
            | Step::WrittenBack { .. } => {}
            Step::PassEnd => {
                self.files_finished = true;
                return false;
            }
            Step::Sync { file, kind } => self.issue_sync(file, kind),
            Step::Open { file } => self.open_file(file),
            Step::Close { file } => self.close_file(file),
            Step::AwaitReplayTime { us } => return self.await_replay_time(us),
            Step::AwaitProgramTime { ms } => return self.await_program_time(ms),
            Step::AwaitLog => return self.await_log(),
        }
        true
    }

    /// Performs a step that checks of written blocks, events, a rate or zones may delay or change. False when the pass is over.
    #[cold]
    #[inline(never)]
    fn perform_gated(&mut self) -> bool {
        if self.does_backlog() {
            return true;
        }
        if self.hooks.zones.is_some() {
            return self.perform_in_zones();
        }
        if self.hooks.events.is_some() {
            return self.perform_event();
        }
        if self.hooks.rates.is_some() {
            return self.perform_when_due();
        }
        let step = self.workload.next();
        self.perform(step)
    }

    /// Prepares one data I/O and submits it.
    #[inline(always)]
    fn issue(&mut self, io: Io) {
        // Taken only now: waiting until an I/O is due reaps others.
        let unit = self.slots.next_unit();
        self.budget.issued(io.direction, io.len);
        if let Some(content) = &mut self.content
            && io.direction == Direction::Write
        {
            let now_ns = self.meter.clock.ns(self.meter.now);
            content.before_write(self.buffers.fill(unit, io.len as usize), io.offset, now_ns);
        }
        self.last_was_sync = false;
        if self.hooks.before_issue {
            return self.issue_watched(unit, io.direction, io.file, io.offset, io.len);
        }
        let request = self.request(op(io.direction), unit, io.file, io.offset, io.len);
        self.submit(request, io.direction as usize);
    }

    /// Submits a data I/O of a job whose features see it first. Takes scalars: a struct argument would be spilled to the stack in every
    /// job.
    #[inline(never)]
    fn issue_watched(&mut self, unit: u32, direction: Direction, file: u32, offset: u64, len: u64) {
        let io = Io { direction, file, offset, len };
        if self.hooks.waits_for_checks && direction != Direction::Read {
            self.wait_for_overlaps(unit, file, offset..offset + len, true);
            if self.failure.is_some() {
                // What is damaged stays as it is.
                return self.budget.not_issued(direction, len);
            }
        }
        let mut request = self.request(op(direction), unit, file, offset, len);
        match self.hooks.before_issue(io, &request, &mut self.buffers, &self.meter) {
            Ok(priority) => request.priority = priority,
            Err(failure) => return self.fail(failure),
        }
        let _lock = self.context.lock_file(file, direction == Direction::Read);
        self.submit(request, direction as usize);
    }

    #[inline(always)]
    fn request(&self, op: Op, unit: u32, file: u32, offset: u64, len: u64) -> Request {
        let (priority, buffer) = (self.hooks.priority, self.buffers.slot(unit));
        Request { op, unit, file, len, priority, offset, buffer }
    }

    /// Hands a data request to the engine, and records it if the call completes it.
    #[inline(always)]
    fn submit(&mut self, request: Request, direction: usize) {
        let Request { unit, len, offset, file, .. } = request;
        self.meter.directions[direction].ios += 1;
        self.meter.stamp();
        let start = self.meter.now;
        match self.engine.submit(&request) {
            Submit::Done(result) => {
                if result == len.cast_signed() {
                    self.record_inline(direction, &request, start);
                } else if !self.finish_inline(request, direction, result, start) || self.failure.is_some() {
                    // A failed I/O: there is nothing to check.
                    return;
                }
                if self.hooks.at_end {
                    self.io_completed(direction, unit, file, offset, len);
                }
            }
            Submit::Queued => self.accept(unit, InFlightIo { request, direction, start, issued: start }),
            Submit::Full => self.hold_back(unit, InFlightIo { request, direction, start, issued: start }),
        }
    }

    /// Issues one sync; it takes a slot like any I/O.
    #[inline(never)]
    fn issue_sync(&mut self, file: u32, kind: SyncKind) {
        let unit = self.slots.next_unit();
        let (op, offset, len) = match kind {
            SyncKind::Fsync => (Op::Fsync, 0, 0),
            SyncKind::Fdatasync => (Op::Fdatasync, 0, 0),
            SyncKind::FileRange { flags, offset, len } => (Op::SyncFileRange(flags), offset, len),
        };
        let request = self.request(op, unit, file, offset, len);
        self.last_was_sync = true;
        if let Err(failure) = self.hooks.record(&request) {
            return self.fail(failure);
        }
        if let Some(verification) = &mut self.hooks.verification {
            verification.before_sync(unit, file);
        }
        let _lock = self.context.lock_file(file, false);
        self.meter.stats.sync.ios += 1;
        self.meter.stamp();
        let start = self.meter.now;
        let state = InFlightIo { request, direction: 0, start, issued: start };
        match self.engine.submit(&request) {
            Submit::Done(result) => {
                self.meter.stamp();
                self.record_sync(&request, result, start);
            }
            Submit::Queued => {
                self.slots.syncs += 1;
                self.accept(unit, state);
            }
            Submit::Full => {
                self.slots.syncs += 1;
                self.hold_back(unit, state);
            }
        }
    }
}

#[inline(always)]
const fn op(direction: Direction) -> Op {
    match direction {
        Direction::Read => Op::Read,
        Direction::Write => Op::Write,
        Direction::Trim => Op::Trim,
    }
}
