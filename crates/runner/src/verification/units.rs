//! What each unit of a verifying job does: which block it writes, checks or trims.

use std::ops::Range;

use ferrio_verify::{Expected, Written};

/// The units of one job.
#[derive(Debug)]
pub(super) struct Units(Box<[Unit]>);

#[derive(Clone, Copy, Debug)]
struct Unit {
    /// [`Purpose::None`] while nothing is in flight.
    purpose: Purpose,
    block: Written,
    seed: Option<u64>,
    /// The purpose of the I/O that has ended last.
    ended: Purpose,
}

/// Why an I/O is done.
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
        let block = Written { file: 0, len: 0, offset: 0, number: 0, trimmed: false };
        let idle = Unit { purpose: Purpose::None, block, seed: None, ended: Purpose::None };
        Units(vec![idle; count].into_boxed_slice())
    }

    /// Unit `unit` is about to issue an I/O. `seed` is what the header of a block that is checked must have, if that is known.
    pub(super) fn issue(&mut self, unit: u32, purpose: Purpose, block: Written, seed: Option<u64>) {
        let unit = &mut self.0[unit as usize];
        *unit = Unit { purpose, block, seed, ended: Purpose::None };
    }

    /// The I/O of a unit has ended. Returns why it was done.
    pub(super) fn end(&mut self, unit: u32) -> Purpose {
        let unit = &mut self.0[unit as usize];
        unit.ended = std::mem::replace(&mut unit.purpose, Purpose::None);
        unit.ended
    }

    /// Why the I/O of a unit is done.
    pub(super) fn purpose(&self, unit: u32) -> Purpose {
        self.0[unit as usize].purpose
    }

    /// What a unit reads, writes or trims, or did last.
    pub(super) fn block(&self, unit: u32) -> Written {
        self.0[unit as usize].block
    }

    /// What the header of the block must contain that a unit has read.
    pub(super) fn expected(&self, unit: u32) -> Expected {
        let Unit { block, seed, ended, .. } = self.0[unit as usize];
        // A job that only reads does not know which write it sees.
        let number = (ended == Purpose::CheckBlock).then_some(block.number);
        Expected { seed, number }
    }

    /// True while the write with this number, or a trim of its block, is in flight.
    pub(super) fn are_busy_with(&self, number: u64) -> bool {
        self.0.iter().any(|unit| {
            matches!(unit.purpose, Purpose::Write | Purpose::TrimBlock) && unit.block.number == number
        })
    }

    /// True when an I/O to this range would meet one in flight, and one of the two changes what the other sees. `changes`: the new one
    /// does. Reads of the pass are not checked, and may see anything.
    pub(super) fn conflict_with(&self, file: u32, range: &Range<u64>, changes: bool) -> bool {
        self.0.iter().any(|unit| {
            let Written { file: other, offset, len, .. } = unit.block;
            let counts = unit.purpose.changes() || (changes && unit.purpose == Purpose::CheckBlock);
            counts && other == file && offset < range.end && range.start < offset + u64::from(len)
        })
    }
}
