//! The read-back phase after a pass of a job that verifies, and the check of each block that was read.

use ferrio_engine::{Engine, Op, Request};
use ferrio_job::Direction;
use ferrio_verify::Written;

use super::Issuer;
use super::attend::Turn;
use crate::event::JobState;
use crate::failure::Failure;

impl<E: Engine> Issuer<'_, E> {
    /// True when what the pass wrote is to be read back now.
    pub(crate) fn reads_back(&self) -> bool {
        self.verification.as_ref().is_some_and(|verification| verification.has_written())
            && !self.context.control.stop_requested()
            && !self.timing.is_over(self.clock.now())
    }

    /// Reads back and checks what the pass wrote. The time counts for reads only.
    pub(crate) fn verify(&mut self) -> Result<(), Failure> {
        let Some(verification) = &mut self.verification else { return Ok(()) };
        verification.begin_phase();
        self.context.control.set_state(JobState::Verifying);
        if let Some(paced) = &mut self.paced {
            paced.forget();
        }
        self.now = self.clock.now();
        self.verify_began = self.now;
        let before = self.moved_bytes();
        self.read_back();
        self.drain();
        self.verify_bytes += self.moved_bytes() - before;
        self.verify_ticks += self.verifying_ticks(self.clock.now());
        self.verify_began = u64::MAX;
        if let Some(verification) = &mut self.verification {
            verification.end_phase();
        }
        // The files were opened anew for the phase: none of them is finished any more.
        self.files_finished = false;
        self.context.control.set_state(JobState::Running);
        self.failure.take().map_or(Ok(()), Err)
    }

    pub(super) fn read_back(&mut self) {
        while self.failure.is_none() && !self.stopped() {
            match self.next_turn() {
                Turn::Issue => {}
                Turn::Again => continue,
                Turn::Over => return,
            }
            let unit = self.free[self.free.len() - 1];
            let next = self.verification.as_mut().and_then(|verification| verification.next_written(unit));
            let Some(Written { file, len, offset, .. }) = next else { return };
            if self.opens_on_demand() {
                self.open_to_read_back(file, unit);
                if self.failure.is_some() {
                    return;
                }
            }
            let request = Request {
                op: Op::Read,
                unit,
                file,
                len,
                offset,
                priority: self.priority,
                buffer: self.buffers.slot(unit),
            };
            if self.recorder.is_some() && !self.record(&request) {
                return;
            }
            self.submit(request, Direction::Read as usize);
        }
    }

    /// Checks what unit `unit` read, once all of it is there.
    #[cold]
    #[inline(never)]
    pub(super) fn check_read(&mut self, unit: u32, file: u32, offset: u64, len: u32) {
        let Some(verification) = &self.verification else { return };
        let Err(mismatch) = verification.check(unit, self.buffers.fill(unit, len as usize), offset) else {
            return;
        };
        self.context.tell(mismatch.diagnostics(&self.file_name(file), verification.flags()));
        self.fail_check();
    }

    /// True while reads are checked.
    #[inline]
    pub(super) fn checks_reads(&self) -> bool {
        self.verification.as_ref().is_some_and(|verification| verification.checks_reads())
    }
}
