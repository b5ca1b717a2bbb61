//! `experimental_verify`: what a pass has written is found by making its choices again, instead of being remembered.

use std::collections::HashSet;

use ferrio_job::Direction;
use ferrio_verify::WrittenBlock;
use ferrio_workload::{Step, Workload};

/// The choices of one pass, made again.
#[derive(Debug, Default)]
pub(super) struct RegeneratedWrites {
    /// A copy from the start of the pass; `None` before the first one.
    workload: Option<Workload>,
    /// Number of the next write.
    number: u64,
    /// Writes that failed.
    failed: HashSet<u64>,
}

impl RegeneratedWrites {
    /// The choices of the pass that begins with `workload` and write `number`.
    pub(super) fn new(workload: &Workload, number: u64) -> Self {
        RegeneratedWrites { workload: workload.copy(), number, failed: HashSet::new() }
    }

    /// The block of a write is not to be checked.
    pub(super) fn leave_out(&mut self, number: u64) {
        self.failed.insert(number);
    }

    /// True when writes before `end` are left.
    pub(super) fn covers(&self, end: u64) -> bool {
        self.workload.is_some() && self.number < end
    }

    /// The next block, of a write before `end`.
    pub(super) fn next(&mut self, end: u64) -> Option<WrittenBlock> {
        let workload = self.workload.as_mut()?;
        while self.number < end {
            match workload.next() {
                Step::Io(io) if io.direction == Direction::Write => {
                    let number = self.number;
                    self.number += 1;
                    if !self.failed.contains(&number) {
                        return Some(super::written_by(&io, number));
                    }
                }
                Step::PassEnd => return None,
                _ => {}
            }
        }
        None
    }
}
