//! Work of a verifying job between the I/Os of a pass: batches of checks (`verify_backlog`) and of trims (`trim_backlog`) of blocks that it
//! has written.

use std::ops::Range;

use ferrio_job::{Backlog, BlockTrims, Direction, JobSpec, Verify};
use ferrio_verify::WrittenBlock;

use super::Verification;
use super::units::Purpose;

/// The batches of one job.
#[derive(Debug)]
pub(super) struct BacklogState {
    checks: Backlog,
    trims: BlockTrims,
    /// Blocks left in the batch of checks.
    checks_left: u64,
    /// Blocks left in the batch of trims.
    trims_left: u64,
    /// The direction of the I/O that has ended last.
    last: Option<Direction>,
    /// An I/O may touch a block that is in flight or that a thread is checking.
    may_conflict: bool,
}

/// Work on a written block that comes before the next I/O of the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DueBlock {
    /// A block is read back.
    Check(WrittenBlock),
    /// A block is trimmed.
    Trim(WrittenBlock),
}

impl BacklogState {
    pub(super) fn new(spec: &JobSpec, verify: &Verify) -> Self {
        let writes = spec.rw.does(Direction::Write);
        let checks = if writes && verify.read_back { verify.backlog } else { Backlog::default() };
        let trims = if writes { verify.trims } else { BlockTrims::default() };
        let repeats = spec.limits.time_based || spec.may_overwrite();
        let overlaps = !spec.is_sync() || spec.verify_threads() > 0;
        BacklogState {
            checks,
            trims,
            checks_left: 0,
            trims_left: 0,
            last: None,
            may_conflict: overlaps
                && (spec.rw.is_trimwrite() || (repeats && (checks.is_active() || trims.is_active()))),
        }
    }

    /// True when there are batches.
    pub(super) fn is_active(&self) -> bool {
        self.checks.is_active() || self.trims.is_active()
    }

    /// Records an I/O that has succeeded.
    pub(super) fn ended(&mut self, purpose: Purpose) {
        self.last = match purpose {
            Purpose::None => return,
            Purpose::Read | Purpose::Check | Purpose::CheckBlock => Some(Direction::Read),
            Purpose::Write => Some(Direction::Write),
            Purpose::Trim | Purpose::TrimBlock => Some(Direction::Trim),
        };
    }

    /// Whether a batch of checks is in progress. Begins one if `blocks` written blocks make it due.
    fn checks_now(&mut self, blocks: u64) -> bool {
        if self.checks_left == 0
            && self.checks.is_active()
            && blocks > 0
            && blocks.is_multiple_of(self.checks.every)
            && self.last != Some(Direction::Read)
        {
            self.checks_left = self.checks.batch;
        }
        self.checks_left > 0 && self.checks.is_active()
    }

    /// Whether a batch of trims is in progress. Begins one if `blocks` written blocks, of which at least one is marked, make it due.
    fn trims_now(&mut self, blocks: u64) -> bool {
        if self.trims_left == 0
            && self.trims.is_active()
            && blocks.is_multiple_of(self.trims.backlog.every)
            && self.last != Some(Direction::Trim)
        {
            self.trims_left = self.trims.backlog.batch;
        }
        self.trims_left > 0
    }
}

impl Verification {
    /// True if `verify_backlog` or `trim_backlog` adds checks or trims during passes.
    pub(crate) fn has_backlog(&self) -> bool {
        self.backlog.is_active()
    }

    /// The block that is due before the next I/O of the pass, if any.
    pub(crate) fn next_due(&mut self) -> Option<DueBlock> {
        let blocks = self.written.as_ref()?.len() as u64;
        if self.backlog.checks_now(blocks)
            && let Some(block) = self.next_in_batch()
        {
            return Some(DueBlock::Check(block));
        }
        let written = self.written.as_mut()?;
        if written.marked() == 0 || !self.backlog.trims_now(written.len() as u64) {
            return None;
        }
        let units = &self.units;
        let stays = self.backlog.trims.must_be_zero;
        let block = written.take_marked(stays, |number| units.are_busy_with(number))?;
        self.backlog.trims_left -= 1;
        Some(DueBlock::Trim(block))
    }

    /// The block that a batch of checks takes now.
    fn next_in_batch(&mut self) -> Option<WrittenBlock> {
        loop {
            if self.stopped.is_some() {
                return None;
            }
            let block = self.take_first()?;
            if self.covers_block(block.number)? {
                return Some(block);
            }
        }
    }

    /// Takes the oldest written block that no unit is busy with. During a pass of a job that syncs, only a synced block.
    pub(super) fn take_first(&mut self) -> Option<WrittenBlock> {
        let units = &self.units;
        let synced = self.synced.as_ref().filter(|_| !self.in_phase).map_or(u64::MAX, |synced| synced.number);
        let written = self.written.as_mut()?;
        let block = written.take_first(synced, |number| units.are_busy_with(number))?;
        self.backlog.checks_left = self.backlog.checks_left.saturating_sub(1);
        Some(block)
    }

    /// Unit `unit` is about to read a written block back, or to trim it.
    pub(crate) fn before_due(&mut self, unit: u32, due: DueBlock) {
        match due {
            DueBlock::Check(block) => self.before_check(unit, block),
            DueBlock::Trim(block) => self.units.issue(unit, Purpose::TrimBlock, block, None),
        }
    }

    /// True if I/Os must wait for others that are in flight, or for checks by threads.
    pub(crate) fn may_conflict(&self) -> bool {
        self.backlog.may_conflict
    }

    /// True when an I/O to this range must wait for one in flight: together they would change what is checked.
    pub(crate) fn must_wait(&self, file: u32, range: &Range<u64>, changes: bool) -> bool {
        self.backlog.may_conflict && self.units.conflict_with(file, range, changes)
    }

    /// Number of marked blocks that were not trimmed in a pass that has ended. 0 if passes continue without a break, until the job ends.
    pub(crate) fn leaked_trims(&self, job_ends: bool) -> usize {
        let ended = job_ends || !self.runs_on;
        self.written.as_ref().filter(|_| ended).map_or(0, ferrio_verify::WrittenList::marked)
    }
}

#[cfg(test)]
mod tests;
