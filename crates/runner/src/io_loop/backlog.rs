//! Checks and trims of written blocks between the I/Os of a pass (`verify_backlog`, `trim_backlog`).

use std::ops::Range;

use ferrio_engine::Engine;
use ferrio_job::Diagnostic;

use super::IoLoop;
use crate::verification::DueBlock;

impl<E: Engine> IoLoop<'_, E> {
    /// Checks or trims a written block, if that comes before the next I/O of the workload. There is a free slot.
    pub(super) fn does_backlog(&mut self) -> bool {
        let Some(verification) = &mut self.hooks.verification else { return false };
        let Some(due) = verification.next_due() else { return false };
        let unit = self.slots.next_unit();
        let (DueBlock::Check(block) | DueBlock::Trim(block)) = due;
        let range = block.offset..block.offset + block.len;
        self.wait_for_overlaps(unit, block.file, range, matches!(due, DueBlock::Trim(_)));
        if self.failure.is_none() {
            self.issue_due(due);
        }
        true
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

    /// True while blocks of a backlog may have been read back, or be on their way, that are not checked.
    pub(super) fn awaits_checks(&self) -> bool {
        let Some(verification) = &self.hooks.verification else { return false };
        verification.awaits_threads() || (verification.has_backlog() && !self.slots.is_idle())
    }

    /// Says how many blocks were marked for trimming and not trimmed in a pass that is over.
    pub(super) fn note_leaked_trims(&mut self) {
        let ends = self.must_end() || self.meter.timing.is_over(self.meter.clock.now());
        let verification = self.hooks.verification.as_ref();
        let leaked = verification.map_or(0, |verification| verification.leaked_trims(ends));
        if leaked > 0 {
            let message = format!("{leaked} trim entries leaked?");
            self.context.note(Diagnostic::note(message).code("trim-entries-leaked"));
        }
    }
}
