//! The units of a verifying job: the block that each writes, checks or trims.

use std::ops::Range;

use ferrio_verify::{ExpectedHeader, WrittenBlock};

/// The units of one job.
#[derive(Debug)]
pub(super) struct Units(Box<[Unit]>);

#[derive(Clone, Copy, Debug)]
struct Unit {
    /// [`Purpose::None`] while nothing is in flight.
    purpose: Purpose,
    block: WrittenBlock,
    seed: Option<u64>,
    /// The purpose of the I/O that has ended last.
    ended: Purpose,
    /// A thread checks what was read (`verify_async`).
    with_thread: bool,
    /// The block may have been written again: its number is not that of the write that is to be found.
    is_outdated: bool,
    /// Bytes of its buffer that are as they were filled last, from the start.
    filled: usize,
}

impl Unit {
    fn new(purpose: Purpose, block: WrittenBlock, seed: Option<u64>, filled: usize) -> Self {
        let ended = Purpose::None;
        Unit { purpose, block, seed, ended, with_thread: false, is_outdated: false, filled }
    }
}

/// The reason for an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// There is none.
    None,
    /// It belongs to the pass, and what it reads is not checked.
    Read,
    /// It belongs to the pass, and what it reads is checked.
    Check,
    /// It writes a block of the pass.
    Write,
    /// It belongs to the pass and trims.
    Trim,
    /// It reads a block back.
    CheckBlock,
    /// It trims a written block.
    TrimBlock,
}

impl Purpose {
    /// True when what is read is checked.
    pub(super) fn is_checked(self) -> bool {
        matches!(self, Purpose::Check | Purpose::CheckBlock)
    }

    /// True for an I/O that fills its buffer.
    fn reads(self) -> bool {
        matches!(self, Purpose::Read | Purpose::Check | Purpose::CheckBlock)
    }

    /// True for an I/O that the workload has not chosen.
    pub(super) fn is_extra(self) -> bool {
        matches!(self, Purpose::CheckBlock | Purpose::TrimBlock)
    }

    /// True for an I/O that changes what is on disk.
    pub(super) fn changes(self) -> bool {
        matches!(self, Purpose::Write | Purpose::Trim | Purpose::TrimBlock)
    }
}

impl Units {
    pub(super) fn new(count: usize) -> Self {
        let block = WrittenBlock { file: 0, len: 0, offset: 0, number: 0, trimmed: false };
        Units(vec![Unit::new(Purpose::None, block, None, 0); count].into_boxed_slice())
    }

    /// Unit `unit` is about to issue an I/O. `seed` is what the header of a block that is checked must have, if that is known.
    pub(super) fn issue(&mut self, unit: u32, purpose: Purpose, block: WrittenBlock, seed: Option<u64>) {
        let unit = &mut self.0[unit as usize];
        // What reads into the buffer overwrites it.
        let filled = if purpose.reads() { 0 } else { unit.filled };
        *unit = Unit::new(purpose, block, seed, filled);
    }

    /// True if the first `len` bytes of a unit's buffer are not as they were filled last; then they are filled now.
    pub(super) fn needs_fill(&mut self, unit: u32, len: usize) -> bool {
        let unit = &mut self.0[unit as usize];
        let needs_fill = unit.filled < len;
        unit.filled = unit.filled.max(len);
        needs_fill
    }

    /// Ends the I/O of a unit. Returns the reason for it.
    pub(super) fn end(&mut self, unit: u32) -> Purpose {
        let unit = &mut self.0[unit as usize];
        unit.ended = std::mem::replace(&mut unit.purpose, Purpose::None);
        unit.ended
    }

    /// The block that a unit is about to read may have been written again since.
    pub(super) fn forget_number(&mut self, unit: u32) {
        self.0[unit as usize].is_outdated = true;
    }

    /// Records whether the data that a unit has read is with a thread that checks it.
    pub(super) fn set_with_thread(&mut self, unit: u32, with_thread: bool) {
        self.0[unit as usize].with_thread = with_thread;
    }

    /// The reason for the I/O of a unit.
    pub(super) fn purpose(&self, unit: u32) -> Purpose {
        self.0[unit as usize].purpose
    }

    /// The block that a unit reads, writes or trims, or did last.
    pub(super) fn block(&self, unit: u32) -> WrittenBlock {
        self.0[unit as usize].block
    }

    /// The required contents of the header of the block that a unit has read.
    pub(super) fn expected(&self, unit: u32) -> ExpectedHeader {
        let Unit { block, seed, ended, is_outdated, .. } = self.0[unit as usize];
        // A job that only reads does not know which write it sees.
        let number = (ended == Purpose::CheckBlock && !is_outdated).then_some(block.number);
        ExpectedHeader { seed, number }
    }

    /// True while the write with this number, or a trim of its block, is in flight.
    pub(super) fn are_busy_with(&self, number: u64) -> bool {
        self.0.iter().any(|unit| {
            matches!(unit.purpose, Purpose::Write | Purpose::TrimBlock) && unit.block.number == number
        })
    }

    /// True when an I/O to this range would meet one in flight, and one of the two changes what the other sees. `changes`: the new one
    /// does; then it also meets blocks that are with threads, because those that turn out to be damaged stay as they are. Reads of the
    /// pass are not checked, and may see anything.
    pub(super) fn conflict_with(&self, file: u32, range: &Range<u64>, changes: bool) -> bool {
        self.0.iter().any(|unit| {
            let WrittenBlock { file: other, offset, len, .. } = unit.block;
            let is_checked = unit.purpose == Purpose::CheckBlock || unit.with_thread;
            let counts = unit.purpose.changes() || (changes && is_checked);
            counts && other == file && offset < range.end && range.start < offset + len
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_filled_once_until_something_is_read_into_it() {
        let mut units = Units::new(2);
        let block = units.block(0);
        assert!(units.needs_fill(0, 4096));
        units.issue(0, Purpose::Write, block, None);
        assert!(!units.needs_fill(0, 4096));
        assert!(!units.needs_fill(0, 512));
        assert!(units.needs_fill(0, 8192), "more than it has");
        assert!(units.needs_fill(1, 512), "each unit has its own");
        for purpose in [Purpose::Read, Purpose::Check, Purpose::CheckBlock] {
            units.issue(0, Purpose::Write, block, None);
            assert!(!units.needs_fill(0, 8192));
            units.issue(0, purpose, block, None);
            assert!(units.needs_fill(0, 8192), "{purpose:?}");
        }
    }
}
