//! From the workload's choice to the kernel: the loop itself, submission, batches.

use std::time::Duration;

use ferrio_engine::{Completion, Engine, Op, Request, Submit};
use ferrio_job::Direction;
use ferrio_workload::{Io, Step, SyncKind};

use super::attend::Turn;
use super::{Issuer, RARE, Stamps, Unit, is_data};
use crate::failure::Failure;

impl<E: Engine> Issuer<'_, E> {
    pub(super) fn issue_until_done(&mut self) {
        while self.failure.is_none() && !self.stopped() {
            match self.next_turn() {
                Turn::Issue => {}
                Turn::Again => continue,
                Turn::Over => return,
            }
            if !self.budget.may_issue() {
                return;
            }
            // Apart, so that the step of a job without rates stays in registers.
            let goes_on = if self.paced.is_some() {
                self.take_paced_step()
            } else {
                let step = self.workload.next();
                self.act(step)
            };
            if !goes_on {
                return;
            }
        }
    }

    /// A step under a rate limit, once it is due. False when the pass is over.
    #[cold]
    #[inline(never)]
    fn take_paced_step(&mut self) -> bool {
        // Without a step the wait was cut short.
        self.paced_step().is_none_or(|step| self.act(step))
    }

    /// Does what the workload says. False when the pass is over.
    #[inline(always)]
    fn act(&mut self, step: Step) -> bool {
        match step {
            Step::Io(io) => {
                // Taken late: waiting for the time of a paced I/O reaps others.
                let unit = self.free[self.free.len() - 1];
                self.issue(unit, io);
                if self.between.is_some() {
                    self.between_ios();
                }
            }
            Step::PassEnd => {
                self.files_finished = true;
                return false;
            }
            Step::Sync { file, kind } => self.issue_sync(self.free[self.free.len() - 1], file, kind),
            Step::Open { file } => self.open_file(file),
            Step::Close { file } => self.close_file(file),
        }
        true
    }

    /// What comes before an I/O: whatever is due, requests that were held back, a free unit.
    #[inline(always)]
    pub(super) fn next_turn(&mut self) -> Turn {
        if self.now >= self.timing.attention() {
            let turn = self.attend();
            if turn != Turn::Issue {
                return turn;
            }
        }
        if !self.retry.is_empty() {
            self.submit_retry();
            return Turn::Again;
        }
        if self.free.is_empty() {
            self.reap_full();
            return Turn::Again;
        }
        Turn::Issue
    }

    /// Issues one data I/O in unit `unit`, which is the top of the free stack.
    #[inline(always)]
    pub(super) fn issue(&mut self, unit: u32, io: Io) {
        let direction = io.direction as usize;
        self.budget.issued(io.direction, io.len);
        if let Some(content) = &mut self.content
            && io.direction == Direction::Write
        {
            let now_ns = self.clock.ns(self.now);
            content.before_write(self.buffers.fill(unit, io.len as usize), io.offset, now_ns);
        }
        let op = match io.direction {
            Direction::Read => Op::Read,
            Direction::Write => Op::Write,
            Direction::Trim => Op::Trim,
        };
        let mut request = Request {
            op,
            unit,
            file: io.file,
            len: io.len,
            priority: self.priority,
            offset: io.offset,
            buffer: self.buffers.slot(unit),
        };
        self.last_was_sync = false;
        if self.watched {
            // A copy, so that the request itself need not lie in memory.
            let Some(priority) = self.see(unit, io, request) else { return };
            request.priority = priority;
        }
        self.submit(request, direction);
    }

    /// Shows a data I/O to those who see each of them: the schedule of a rate, verification, followed blocks, the I/O log, the
    /// choice of priorities.
    /// Returns its priority; nothing when one of them ended the job.
    #[cold]
    #[inline(never)]
    fn see(&mut self, unit: u32, io: Io, request: Request) -> Option<u16> {
        if let Some(paced) = &mut self.paced {
            paced.issued(unit, &io);
        }
        // Trims move no data, and may be larger than a buffer.
        if let Some(verification) = &mut self.verification
            && io.direction != Direction::Trim
        {
            let time_ns = if self.spec.measure.lat { self.clock.ns(self.now) } else { 0 };
            let time = Duration::from_nanos(time_ns);
            let block = self.buffers.fill(unit, io.len as usize);
            if let Err(failure) = verification.before(&io, unit, block, time) {
                self.fail(failure);
                return None;
            }
        }
        if let Some(blocks) = &mut self.blocks {
            blocks.issued(&request);
        }
        if self.recorder.is_some() && !self.record(&request) {
            return None;
        }
        Some(match &mut self.priorities {
            Some(priorities) => priorities.next(io.direction, io.len),
            None => request.priority,
        })
    }

    /// Hands a data request to the engine; its unit is the top of the free stack.
    #[inline(always)]
    pub(super) fn submit(&mut self, request: Request, direction: usize) {
        let Request { unit, len, offset, file, .. } = request;
        self.directions[direction].ios += 1;
        self.stamp_start();
        let start = self.now;
        match self.engine.submit(&request) {
            Submit::Done(result) => {
                if result == i64::from(len) {
                    self.record_inline(direction, &request, start);
                } else {
                    let errors = self.stats.total_errors;
                    self.finish_inline(request, direction, result, start);
                    if self.stats.total_errors > errors {
                        // Tolerated: there is nothing to check.
                        return;
                    }
                }
                if direction == Direction::Read as usize && self.checks_reads() && self.failure.is_none() {
                    self.check_read(unit, file, offset, len);
                }
            }
            Submit::Queued => self.take(unit, Unit { request, direction, start, issued: start }),
            Submit::Full => self.hold_back(unit, Unit { request, direction, start, issued: start }),
        }
    }

    /// Reads the clock before a submission, or now and then only.
    #[inline(always)]
    pub(super) fn stamp_start(&mut self) {
        match self.stamps {
            Stamps::All => self.now = self.clock.now(),
            Stamps::Rare => {
                self.until_stamp -= 1;
                if self.until_stamp == 0 {
                    self.until_stamp = RARE;
                    self.now = self.clock.now();
                }
            }
        }
    }

    /// Issues one sync; it takes a unit like any I/O.
    #[inline(never)]
    pub(super) fn issue_sync(&mut self, unit: u32, file: u32, kind: SyncKind) {
        let (op, offset, len) = match kind {
            SyncKind::Fsync => (Op::Fsync, 0, 0),
            SyncKind::Fdatasync => (Op::Fdatasync, 0, 0),
            SyncKind::FileRange { flags, offset, len } => {
                (Op::SyncFileRange(flags), offset, u32::try_from(len).unwrap_or(u32::MAX))
            }
        };
        let request =
            Request { op, unit, file, len, offset, priority: self.priority, buffer: self.buffers.slot(unit) };
        self.last_was_sync = true;
        if self.recorder.is_some() && !self.record(&request) {
            return;
        }
        self.stats.sync.ios += 1;
        self.stamp_start();
        let start = self.now;
        match self.engine.submit(&request) {
            Submit::Done(result) => {
                self.stamp_start();
                self.record_sync(&request, result, start);
            }
            Submit::Queued => {
                self.syncs_in_flight += 1;
                self.take(unit, Unit { request, direction: 0, start, issued: start });
            }
            Submit::Full => {
                self.syncs_in_flight += 1;
                self.hold_back(unit, Unit { request, direction: 0, start, issued: start });
            }
        }
    }

    /// The engine accepted unit `unit`.
    #[inline]
    pub(super) fn take(&mut self, unit: u32, state: Unit) {
        debug_assert_eq!(self.free.last(), Some(&unit));
        self.units[unit as usize] = state;
        self.free.pop();
        self.queued.push(unit);
        if self.queued.len() >= self.spec.depth.batch as usize {
            self.flush();
        }
        if self.free.is_empty() {
            self.reap_full();
        } else if self.polls() {
            self.reap(0, 1);
        }
    }

    /// Both completion limits 0: ask for completions after every submission, without waiting.
    #[inline]
    pub(super) fn polls(&self) -> bool {
        self.spec.depth.complete_max == 0
    }

    /// The engine had no room: the request waits, something must be reaped first.
    #[cold]
    pub(super) fn hold_back(&mut self, unit: u32, state: Unit) {
        self.units[unit as usize] = state;
        self.free.pop();
        self.retry.push_front(unit);
        self.flush();
        if self.depth_in_use() > 0 {
            self.reap_once();
        }
    }

    /// Submits the first waiting request again.
    #[cold]
    pub(super) fn submit_retry(&mut self) {
        let Some(unit) = self.retry.pop_front() else { return };
        self.stamp_start();
        let state = self.units[unit as usize];
        match self.engine.submit(&state.request) {
            Submit::Queued => {
                self.queued.push(unit);
                if self.queued.len() >= self.spec.depth.batch as usize || self.free.is_empty() {
                    self.flush();
                }
            }
            Submit::Full => {
                self.retry.push_front(unit);
                self.flush();
                if self.depth_in_use() > 0 {
                    self.reap_once();
                } else {
                    self.fail(
                        Failure::new(libc::EAGAIN, "submit").note(
                            "engine-failed",
                            "the engine accepts no request although none is in flight",
                        ),
                    );
                }
            }
            Submit::Done(result) => {
                self.units[unit as usize].issued = self.now;
                self.stamp_start();
                self.complete(Completion { unit, result });
            }
        }
    }

    /// Hands everything queued to the kernel. One clock reading after the call is the issue time of the whole batch.
    pub(super) fn flush(&mut self) {
        // Each of the engine's own threads has one I/O, and tells later when it took it.
        let offload = self.spec.offload;
        let depth = if offload { 1 } else { self.depth_in_use() };
        let slat = self.spec.measure.slat && !offload;
        while !self.queued.is_empty() {
            let taken = match self.engine.flush() {
                Ok(taken) => (taken as usize).min(self.queued.len()),
                Err(e) => return self.fail(Failure::from_io(&e, "io commit")),
            };
            if taken == 0 {
                // The kernel is short of resources: whoever called reaps, then the rest is tried again.
                return;
            }
            if self.stamps == Stamps::All {
                self.now = self.clock.now();
            }
            for &unit in &self.queued[..taken] {
                let unit = &mut self.units[unit as usize];
                unit.issued = self.now;
                if slat && is_data(unit.request.op) {
                    let slat = self.clock.between(unit.start, self.now);
                    self.directions[unit.direction].record_submission(slat);
                }
            }
            self.stats.submit.record(taken as u32);
            self.stats.depth.record(depth, taken as u64);
            self.queued.drain(..taken);
        }
    }
}
