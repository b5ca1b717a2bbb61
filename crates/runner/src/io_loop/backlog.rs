//! Checks and trims of written blocks between the I/Os of a pass (`verify_backlog`, `trim_backlog`).

use std::ops::Range;

use ferrio_engine::{Engine, Op};
use ferrio_job::{Diagnostic, Direction};
use ferrio_verify::Written;

use super::IoLoop;
use crate::verification::Due;

impl<E: Engine> IoLoop<'_, E> {
    /// Checks or trims a written block, if that comes before the next I/O of the workload. There is a free slot.
    pub(super) fn does_backlog(&mut self) -> bool {
        let Some(verification) = &mut self.hooks.verification else { return false };
        let Some(due) = verification.next_due() else { return false };
        let unit = self.slots.next_unit();
        let (Due::Check(block) | Due::Trim(block)) = due;
        let range = block.offset..block.offset + u64::from(block.len);
        self.wait_for_overlaps(unit, block.file, range, matches!(due, Due::Trim(_)));
        match due {
            _ if self.failure.is_some() => {}
            Due::Check(block) => self.check_block(block),
            Due::Trim(block) => self.trim_block(block),
        }
        true
    }

    fn trim_block(&mut self, block: Written) {
        let Written { file, len, offset, .. } = block;
        let unit = self.slots.next_unit();
        if self.opens_on_demand() {
            self.open_to_read_back(file, unit);
            if self.failure.is_some() {
                return;
            }
        }
        if let Some(verification) = &mut self.hooks.verification {
            verification.before_trim(unit, block);
        }
        self.submit_extra(self.request(Op::Trim, unit, file, offset, len), Direction::Trim);
    }

    /// Waits for what is in flight, and for the checks of what was read, if an I/O to this range would change what a check sees, or see
    /// what is being changed. `unit` stays the next one. The job may have failed then.
    pub(super) fn wait_for_overlaps(&mut self, unit: u32, file: u32, range: Range<u64>, changes: bool) {
        let verification = self.hooks.verification.as_ref();
        if verification.is_some_and(|verification| verification.must_wait(file, &range, changes)) {
            self.drain();
            self.await_checks();
            self.slots.use_next(unit);
        }
    }

    /// True while written blocks are being read back.
    pub(super) fn checks_in_flight(&self) -> bool {
        let checks = |verification: &crate::verification::Verification| verification.has_rounds();
        self.hooks.verification.as_deref().is_some_and(checks) && !self.slots.is_idle()
    }

    /// Says how many blocks were marked for trimming and not trimmed in a pass that is over.
    pub(super) fn note_leaked_trims(&mut self) {
        let ends = self.stopped() || self.meter.timing.is_over(self.meter.clock.now());
        let verification = self.hooks.verification.as_ref();
        let leaked = verification.map_or(0, |verification| verification.leaked_trims(ends));
        if leaked > 0 {
            let message = format!("{leaked} trim entries leaked?");
            self.context.note(Diagnostic::note(message).code("trim-entries-leaked"));
        }
    }
}
