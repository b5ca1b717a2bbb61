//! The read-back phase after a pass of a job that verifies, and the check of each block that was read.

use std::path::Path;

use ferrio_engine::{Engine, Op, Request};
use ferrio_job::{Diagnostic, Direction, Prefix};
use ferrio_verify::{IntervalFailure, Mismatch, Uncovered, Written};
use ferrio_workload::Step;

use super::slots::Slots;
use super::{IoLoop, Next};
use crate::checkers::{Checked, Found};
use crate::failure::Failure;
use crate::result::JobState;
use crate::{verify_dump, verify_state};

impl<E: Engine> IoLoop<'_, E> {
    /// True when what the pass wrote is to be read back now.
    pub(crate) fn reads_back(&self) -> bool {
        self.hooks.verification.as_ref().is_some_and(|verification| verification.has_written())
            && !self.context.control.stop_requested()
            && !self.meter.timing.is_over(self.meter.clock.now())
    }

    /// `verify_only`: records the writes of a pass and does none of its I/Os. They are counted, and take no time.
    pub(super) fn leave_out_pass(&mut self) {
        while self.budget.may_issue() && !self.stopped() {
            match self.workload.next() {
                Step::Io(io) => {
                    if io.direction == Direction::Write
                        && let Some(verification) = &mut self.hooks.verification
                    {
                        if let Err(why) = verification.leave_out(&io) {
                            return self.note_stop(why);
                        }
                        self.meter.directions[Direction::Write as usize].ios += 1;
                        self.meter.count(Direction::Write as usize, io.len);
                        if !self.synchronous {
                            self.meter.stats.depth.record(1, 1);
                        }
                    } else if let Some(verification) = &mut self.hooks.verification {
                        verification.leave_out_other(io.len);
                    }
                    self.budget.issued(io.direction, io.len);
                }
                Step::PassEnd => {
                    self.files_finished = true;
                    return;
                }
                Step::AwaitLog => {
                    self.await_log();
                }
                Step::Sync { .. }
                | Step::Open { .. }
                | Step::Close { .. }
                | Step::AwaitReplayTime { .. }
                | Step::AwaitProgramTime { .. } => {}
            }
        }
    }

    /// Reads back and checks what the pass wrote. The time counts for reads only.
    pub(crate) fn verify(&mut self) -> Result<(), Failure> {
        let Some(verification) = &mut self.hooks.verification else { return Ok(()) };
        verification.begin_phase();
        self.context.control.set_state(JobState::Verifying);
        self.meter.now = self.meter.clock.now();
        self.meter.read_back.began = self.meter.now;
        let before = self.meter.moved_bytes();
        self.read_back();
        self.drain();
        self.await_checks();
        self.meter.read_back.bytes += self.meter.moved_bytes() - before;
        self.meter.read_back.ticks += self.meter.read_back_ticks(self.meter.clock.now());
        self.meter.read_back.began = u64::MAX;
        let stopped = self.hooks.verification.as_mut().and_then(|verification| {
            verification.end_phase();
            verification.take_stopped()
        });
        if let Some(why) = stopped {
            self.note_stop(why);
        }
        // The files were opened again for the phase: none of them is finished.
        self.files_finished = false;
        self.context.control.set_state(JobState::Running);
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Reads everything that was written, until there is no more or the job ends.
    fn read_back(&mut self) {
        while self.failure.is_none() && !self.stopped() {
            match self.before_next() {
                Next::Issue => {}
                Next::Again => continue,
                Next::End => return,
            }
            let next = self.hooks.verification.as_mut().and_then(|verification| verification.next_written());
            let Some(block) = next else { return };
            self.check_block(block);
        }
    }

    /// Reads a block back; it is checked when all of it is there.
    pub(super) fn check_block(&mut self, block: Written) {
        let Written { file, len, offset, .. } = block;
        let unit = self.slots.next_unit();
        if self.opens_on_demand() {
            self.open_to_read_back(file, unit);
            if self.failure.is_some() {
                return;
            }
        }
        if let Some(verification) = &mut self.hooks.verification {
            verification.before_check(unit, block);
        }
        self.submit_extra(self.request(Op::Read, unit, file, offset, len), Direction::Read);
    }

    /// Submits an I/O that the workload has not chosen: no rate applies to it.
    pub(super) fn submit_extra(&mut self, request: Request, direction: Direction) {
        if let Some(rates) = &mut self.hooks.rates {
            rates.is_unscheduled(request.unit);
        }
        if let Err(failure) = self.hooks.record(&request) {
            return self.fail(failure);
        }
        let locks = self.context.locks.as_ref();
        let _lock = locks.map(|locks| locks.lock(request.file, direction == Direction::Read));
        self.submit(request, direction as usize);
    }

    /// A data I/O of unit `unit` is complete. What was read is checked. True if a thread does that: the unit is not free then.
    #[cold]
    #[inline(never)]
    pub(super) fn io_completed(
        &mut self,
        direction: usize,
        unit: u32,
        file: u32,
        offset: u64,
        len: u32,
    ) -> bool {
        if self.hooks.zones.is_some() {
            self.leave_zone(unit, true);
        }
        let Some(verification) = &mut self.hooks.verification else { return false };
        let ended = verification.ended(unit);
        debug_assert!(!ended.is_checked || direction == Direction::Read as usize);
        if ended.is_extra {
            self.meter.read_back.bytes += u64::from(len);
        }
        if ended.is_checked {
            return self.check_read(unit, file, offset, len);
        }
        false
    }

    /// Ends a job that only reads where the state that it loaded says that no more was written.
    pub(super) fn stopped_by_state(&mut self) -> bool {
        let stop = match &mut self.hooks.verification {
            Some(verification) if self.budget.may_issue() => verification.stop_read(),
            _ => None,
        };
        if let Some(why) = stop {
            self.note_stop(why);
        }
        stop.is_some()
    }

    /// Saves the verify state between two I/Os: when the job begins, so that it has none of an earlier run, and after each sync. A job that
    /// cannot save it says so once.
    #[cold]
    #[inline(never)]
    pub(super) fn save_state(&mut self) {
        let problems = verify_state::save_at_sync(self.context);
        if problems.is_empty() {
            return;
        }
        self.context.note_all(problems);
        if let Some(verification) = &mut self.hooks.verification {
            verification.saves_at_syncs = false;
        }
    }

    fn note_stop(&self, why: Uncovered) {
        self.context.note(Diagnostic::note(why.to_string()).code("verify-stopped").prefix(Prefix::None));
    }

    /// Checks what unit `unit` read, once all of it is there, or lends it to a thread: then it is true.
    fn check_read(&mut self, unit: u32, file: u32, offset: u64, len: u32) -> bool {
        let Some(verification) = &mut self.hooks.verification else { return false };
        if verification.lend(unit, file, offset, || self.buffers.lend(unit, len as usize)) {
            self.slots.lend(unit);
            return true;
        }
        if let Err(mismatch) = verification.check(unit, self.buffers.fill(unit, len as usize), offset) {
            let block = self.buffers.lend(unit, len as usize);
            self.report_mismatch(unit, file, &block, &mismatch);
        }
        false
    }

    /// `verify_async`: takes back what was checked. Waits for a block if the job has no other unit to go on with.
    pub(super) fn take_back_checked(&mut self) {
        let stuck = |slots: &Slots| slots.free.is_empty() && slots.retry.is_empty() && slots.submitted() == 0;
        while let Some(checked) = self.hooks.take_back_checked(stuck(&self.slots)) {
            self.use_checked(checked);
        }
    }

    /// Waits until everything that is with threads has been checked.
    pub(super) fn await_checks(&mut self) {
        while let Some(checked) = self.hooks.take_back_checked(true) {
            self.use_checked(checked);
        }
    }

    /// The unit is free again. What is wrong with its block is reported.
    fn use_checked(&mut self, Checked { block, found }: Checked) {
        self.slots.take_back(block.unit);
        match found {
            Found::Sound => {}
            Found::Bad(mismatch) => self.report_mismatch(block.unit, block.file, &block.data, &mismatch),
            Found::Panic => self.fail(Failure::new(libc::EFAULT, "async_verify: panic")),
        }
    }

    /// The block that unit `unit` read is not what was written.
    #[cold]
    fn report_mismatch(&mut self, unit: u32, file: u32, block: &[u8], mismatch: &Mismatch) {
        let Some(verification) = &mut self.hooks.verification else { return };
        let directory = self.context.state_dir;
        let data = self.spec.files.get(file as usize).map_or(Path::new(""), |data| &data.path);
        let dumped = |failure: &IntervalFailure| match verification.dumps {
            true => verify_dump::save(directory, data, &verification.dumps_of(block, mismatch, failure)),
            false => Vec::new(),
        };
        let name = data.display().to_string();
        let mut lines = mismatch.diagnostics(&name, verification.flags(), dumped);
        let damage = verification.explain(unit, block, mismatch);
        lines.push(verification.damage.add(&name, damage));
        let by_thread = verification.checkers.is_some();
        self.context.note_all(lines);
        self.fail_check(by_thread);
    }
}
