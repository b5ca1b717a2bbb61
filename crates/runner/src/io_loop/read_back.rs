//! The read-back phase after a pass of a job that verifies, and the check of each block that was read.

use std::path::Path;

use ferrio_engine::{Engine, Op};
use ferrio_job::{Diagnostic, Direction, Prefix, Severity};
use ferrio_results::JobState;
use ferrio_verify::{BlockMismatch, CoverageEnd, IntervalFailure, WrittenBlock};
use ferrio_workload::Step;

use super::slots::Slots;
use super::{IoLoop, NextAction};
use crate::checkers::{CheckOutcome, CheckedBlock, LostBlocks};
use crate::failure::Failure;
use crate::verification::DueBlock;
use crate::{verify_dump, verify_state};

/// Steps of a pass without I/O between two readings of the clock.
const STEPS_PER_READING: u32 = 1 << 12;

impl<E: Engine> IoLoop<'_, E> {
    /// True when what the pass wrote is to be read back now.
    pub(crate) fn reads_back(&self) -> bool {
        self.hooks.verification.as_ref().is_some_and(|verification| verification.has_written())
            && !self.context.control.stop_requested()
            && !self.meter.timing.is_over(self.meter.clock.now())
    }

    /// Says so if written blocks were not read back, because the run time is over or something other than a signal has stopped the job.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_unread(&self) {
        let Some(verification) =
            self.hooks.verification.as_ref().filter(|verification| verification.has_written())
        else {
            return;
        };
        let control = self.context.control;
        let (why, advice) = if control.stop_requested() {
            // After a signal, the user asked for the end. A state that is saved is there to verify the blocks later.
            if control.signals() > 0 || control.is_state_saved() {
                return;
            }
            ("another job, a steady state or a limit ended the job early", "")
        } else if self.meter.timing.is_over(self.meter.clock.now()) {
            ("`runtime` is over", ". Give the job more time, or less to write (`io_size`)")
        } else {
            return;
        };
        let blocks = match verification.unread_blocks() {
            Some(1) => "1 block that the job wrote was".to_owned(),
            Some(count) => format!("{count} blocks that the job wrote were"),
            None => "blocks that the job wrote were".to_owned(),
        };
        let message = format!("{why}: {blocks} not read back and checked{advice}");
        let warning = Diagnostic { severity: Severity::Warning, ..Diagnostic::note(message) };
        self.context.note(warning.code("verify-cut-short").prefix(Prefix::Job));
    }

    /// `verify_only`: records the writes of a pass and does none of its I/Os. They are counted, and take no time.
    pub(super) fn leave_out_pass(&mut self) {
        let mut steps = 0_u32;
        while self.budget.may_issue() && !self.must_end() {
            steps = steps.wrapping_add(1);
            // A pass without I/O is short, but there are endless ones.
            if steps.is_multiple_of(STEPS_PER_READING) && self.meter.timing.is_over(self.meter.clock.now()) {
                return;
            }
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
                        verification.left_out += io.len;
                    }
                    self.budget.issued(io.direction, io.len);
                }
                Step::PassEnd => {
                    self.files_finished = true;
                    return;
                }
                Step::AwaitLog if !self.await_log() => return,
                // All else is about I/Os that are left out.
                _ => {}
            }
        }
    }

    /// Reads back and checks what the pass wrote. The time counts for reads only.
    pub(crate) fn verify(&mut self) -> Result<(), Failure> {
        let Some(verification) = &mut self.hooks.verification else { return Ok(()) };
        verification.in_phase = true;
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
            verification.in_phase = false;
            verification.stopped.take()
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
        while self.failure.is_none() && !self.must_end() {
            match self.before_next() {
                NextAction::Issue => {}
                NextAction::Again => continue,
                NextAction::End => return,
            }
            let next = self.hooks.verification.as_mut().and_then(|verification| verification.next_written());
            let Some(block) = next else { return };
            self.issue_due(DueBlock::Check(block));
        }
    }

    /// Reads a written block back, which is checked when all of it is there, or trims it. No rate applies to it, because the workload has
    /// not chosen it.
    pub(super) fn issue_due(&mut self, due: DueBlock) {
        let (op, direction, block) = match due {
            DueBlock::Check(block) => (Op::Read, Direction::Read, block),
            DueBlock::Trim(block) => (Op::Trim, Direction::Trim, block),
        };
        let WrittenBlock { file, len, offset, .. } = block;
        let unit = self.slots.next_unit();
        if self.files.on_demand {
            self.open_to_read_back(file, unit);
            if self.failure.is_some() {
                return;
            }
        }
        if let Some(verification) = &mut self.hooks.verification {
            verification.before_due(unit, due);
        }
        let request = self.request(op, unit, file, offset, len);
        if let Some(rates) = &mut self.hooks.rates {
            rates.is_unscheduled(unit);
        }
        if let Err(failure) = self.hooks.record(&request) {
            return self.fail(failure);
        }
        let _lock = self.context.lock_file(file, direction == Direction::Read);
        self.submit(request, direction as usize);
    }

    /// A data I/O of unit `unit` is complete, and the unit is the first of the free ones. What was read is checked; if a thread does that,
    /// the unit is not free until it comes back.
    #[cold]
    #[inline(never)]
    pub(super) fn io_completed(&mut self, direction: usize, unit: u32, file: u32, offset: u64, len: u64) {
        debug_assert_eq!(self.slots.free.last(), Some(&unit));
        if self.hooks.zones.is_some() {
            self.leave_zone(unit, true);
        }
        if self.hooks.events.is_some() {
            self.event_io_completed(direction, unit, file, offset, len);
        }
        let Some(verification) = &mut self.hooks.verification else { return };
        let ended = verification.ended(unit);
        debug_assert!(!ended.is_checked || direction == Direction::Read as usize);
        if ended.is_extra {
            self.meter.read_back.bytes += len;
        }
        if ended.is_checked {
            self.check_read(unit, file, offset, len);
        }
    }

    /// Ends a job that only reads where the state that it loaded says that no more was written.
    pub(super) fn must_end_by_state(&mut self) -> bool {
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

    fn note_stop(&self, why: CoverageEnd) {
        self.context.note(Diagnostic::note(why.to_string()).code("verify-stopped").prefix(Prefix::None));
    }

    /// Checks what unit `unit` read, once all of it is there, or has a thread do that.
    fn check_read(&mut self, unit: u32, file: u32, offset: u64, len: u64) {
        let Some(verification) = &mut self.hooks.verification else { return };
        let len = len as usize;
        if verification.has_threads_for(unit) {
            let Some(data) = self.buffers.lend(unit, len) else { return self.fail(Failure::slot_is_lent()) };
            match verification.lend(unit, file, offset, data) {
                Ok(()) => self.slots.hand_to_checker(unit),
                Err(lost) => self.lose_blocks(&lost),
            }
            return;
        }
        let Some(block) = self.buffers.fill_unless_lent(unit, len) else {
            return self.fail(Failure::slot_is_lent());
        };
        if let Err(mismatch) = verification.check(unit, block, offset) {
            let block = block.to_vec();
            self.report_mismatch(unit, file, &block, &mismatch, false);
        }
    }

    /// `verify_async`: takes back what was checked. Waits for a block if the job has no other unit to go on with.
    pub(super) fn take_back_checked(&mut self) {
        let stuck = |slots: &Slots| slots.free.is_empty() && slots.retry.is_empty() && slots.submitted() == 0;
        while self.take_back_one(stuck(&self.slots)) {}
    }

    /// Waits until everything that is with threads has been checked.
    pub(super) fn await_checks(&mut self) {
        while self.take_back_one(true) {}
    }

    /// Takes a block back that a thread has checked. The unit is free again, and what is wrong with its block is reported. False if there is
    /// none. `wait` for one, if any is out.
    fn take_back_one(&mut self, wait: bool) -> bool {
        let Some(verification) = &mut self.hooks.verification else { return false };
        let CheckedBlock { block, outcome } = match verification.take_back(wait) {
            Ok(Some(checked)) => checked,
            Ok(None) => return false,
            Err(lost) => {
                self.lose_blocks(&lost);
                return false;
            }
        };
        self.slots.return_from_checker(block.unit);
        match outcome {
            CheckOutcome::Sound => {}
            CheckOutcome::Bad(mismatch) => {
                self.report_mismatch(block.unit, block.file, &block.data, &mismatch, true)
            }
            CheckOutcome::Nothing => self.lose_blocks(&LostBlocks { count: 1 }),
        }
        true
    }

    /// Threads have ended with blocks that they did not check.
    #[cold]
    fn lose_blocks(&mut self, &LostBlocks { count }: &LostBlocks) {
        let message =
            format!("a thread of verify_async panicked during a check: blocks read but not checked: {count}");
        self.fail(Failure::new(libc::EFAULT, "async_verify").note("verify-threads", message));
    }

    /// The block that unit `unit` read is not what was written. `by_thread`: a thread of `verify_async` found that out.
    #[cold]
    fn report_mismatch(
        &mut self,
        unit: u32,
        file: u32,
        block: &[u8],
        mismatch: &BlockMismatch,
        by_thread: bool,
    ) {
        let Some(verification) = &mut self.hooks.verification else { return };
        let directory = self.context.state_dir;
        let data = self.spec.files.get(file as usize).map_or(Path::new(""), |data| &data.path);
        let dumped = |failure: &IntervalFailure| match verification.dumps {
            true => verify_dump::save(directory, data, &verification.dumps_of(block, mismatch, failure)),
            false => Vec::new(),
        };
        let name = data.display().to_string();
        let mut lines = mismatch.diagnostics(&name, verification.flags(by_thread), dumped);
        let damage = verification.explain(unit, block, mismatch);
        lines.push(verification.damage.add(&name, damage));
        self.context.note_all(lines);
        self.fail_check(by_thread);
    }
}
