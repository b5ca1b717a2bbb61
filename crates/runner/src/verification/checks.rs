//! Checks what was read: in the job's own thread, or in those of `verify_async`.

use ferrio_engine::LentSlot;
use ferrio_verify::{BlockMismatch, check_trimmed};

use super::Verification;
use crate::checkers::{Block, CheckedBlock, Checkers, LostBlocks};

impl Verification {
    /// True if threads check what unit `unit` read (`verify_async`).
    pub(crate) fn has_threads_for(&self, unit: u32) -> bool {
        // Zeros are compared faster than they are handed over.
        self.checkers.is_some() && !self.units.block(unit).trimmed
    }

    /// Has a thread check what unit `unit` read.
    ///
    /// # Errors
    /// There is none left that could.
    pub(crate) fn lend(
        &mut self,
        unit: u32,
        file: u32,
        offset: u64,
        data: LentSlot,
    ) -> Result<(), LostBlocks> {
        let Some(checkers) = &mut self.checkers else { return Err(LostBlocks { count: 1 }) };
        checkers.lend(Block { unit, file, offset, expected: self.units.expected(unit), data })?;
        self.units.set_with_thread(unit, true);
        Ok(())
    }

    /// The next block that a thread has checked. `wait` for one, if any is out.
    ///
    /// # Errors
    /// Blocks are out, and no thread is left that could check them.
    pub(crate) fn take_back(&mut self, wait: bool) -> Result<Option<CheckedBlock>, LostBlocks> {
        let Some(checkers) = &mut self.checkers else { return Ok(None) };
        let checked = checkers.take_back(wait)?;
        if let Some(checked) = &checked {
            self.units.set_with_thread(checked.block.unit, false);
        }
        Ok(checked)
    }

    /// True while blocks are with threads.
    pub(crate) fn awaits_threads(&self) -> bool {
        self.checkers.as_ref().is_some_and(Checkers::have_blocks)
    }

    /// Checks what unit `unit` read.
    pub(crate) fn check(&self, unit: u32, block: &mut [u8], offset: u64) -> Result<(), Box<BlockMismatch>> {
        if self.units.block(unit).trimmed {
            return check_trimmed(block, offset);
        }
        self.verifier.check(block, offset, &self.units.expected(unit))
    }
}
