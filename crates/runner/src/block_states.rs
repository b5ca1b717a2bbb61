//! Tracks which blocks of a job's file were trimmed, written or failed (`block_error_percentiles`): four bytes for each block, in pages
//! that the kernel provides when they are first touched.
//!
//! Requests are counted when they are issued, in the same branch as other features; a failure undoes that. Jobs without the option pay
//! nothing.

use ferrio_engine::{Op, Request};
use ferrio_job::{Direction, JobSpec};
use ferrio_stats::{BlockErrors, BlockState};
use ferrio_workload::memory_is_there;

use crate::failure::Failure;

/// Bits of a block's word that count its trims.
const TRIM_BITS: u32 = 29;
const MAX_TRIMS: u32 = (1 << TRIM_BITS) - 1;

/// The blocks of a job.
#[derive(Debug)]
pub(crate) struct BlockStates {
    begin: u64,
    block_bytes: u64,
    /// State above [`TRIM_BITS`] bits of trims.
    words: Vec<u32>,
}

impl BlockStates {
    /// The blocks of a job that uses the option and trims; as large as its smallest trim.
    ///
    /// # Errors
    /// Memory for the blocks is short.
    pub(crate) fn of(spec: &JobSpec) -> Result<Option<Box<Self>>, Failure> {
        let wanted = spec.measure.block_errors && spec.rw.does(Direction::Trim);
        let Some(file) = spec.files.first().filter(|_| wanted) else { return Ok(None) };
        let block_bytes = spec.block[Direction::Trim].min.max(1);
        let blocks = file.size / block_bytes;
        if !memory_is_there(blocks.saturating_mul(size_of::<u32>() as u64)) {
            return Err(Failure::new(libc::ENOMEM, "block_error_percentiles").job_note("blocks-not-followed", format!(
                "not enough memory to track {blocks} blocks: remove block_error_percentiles, or use a larger bs or a smaller size"
            )));
        }
        let words = vec![0; blocks as usize];
        Ok(Some(Box::new(BlockStates { begin: file.offset, block_bytes, words })))
    }

    /// Counts a request that is issued to the engine.
    pub(crate) fn issued(&mut self, request: &Request) {
        match request.op {
            Op::Trim => self.each(request, |trims| (BlockState::Trimmed, (trims + 1).min(MAX_TRIMS))),
            Op::Write => self.each(request, |trims| (BlockState::Written, trims)),
            _ => {}
        }
    }

    /// Undoes the count of a request that failed.
    pub(crate) fn failed(&mut self, request: &Request) {
        match request.op {
            Op::Trim => self.each(request, |trims| (BlockState::TrimFailure, trims.saturating_sub(1))),
            Op::Write => self.each(request, |trims| (BlockState::WriteFailure, trims)),
            _ => {}
        }
    }

    /// The counts of all blocks.
    pub(crate) fn errors(&self) -> BlockErrors {
        let mut errors = BlockErrors::default();
        self.words.iter().for_each(|&word| errors.record(state(word), word & MAX_TRIMS));
        errors
    }

    /// Sets a new state and trim count for all blocks that a request touches; blocks that failed before are not changed.
    fn each(&mut self, request: &Request, change: impl Fn(u32) -> (BlockState, u32)) {
        let start = request.offset.saturating_sub(self.begin);
        let end = start.saturating_add(request.len);
        let at = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX).min(self.words.len());
        let touched = at(start / self.block_bytes)..at(end.div_ceil(self.block_bytes));
        for word in &mut self.words[touched] {
            if !state(*word).is_failure() {
                let (state, trims) = change(*word & MAX_TRIMS);
                *word = (state as u32) << TRIM_BITS | trims;
            }
        }
    }
}

fn state(word: u32) -> BlockState {
    BlockState::ALL[(word >> TRIM_BITS) as usize]
}

#[cfg(test)]
mod tests {
    use ferrio_job::{FileKind, ReadWrite};
    use ferrio_plan::testing::{default_job, file};

    use super::*;

    fn request(op: Op, offset: u64, len: u64) -> Request {
        Request { op, unit: 0, file: 0, len, priority: 0, offset, buffer: std::ptr::null_mut() }
    }

    fn counts(blocks: &BlockStates) -> [u64; 5] {
        let errors = blocks.errors();
        BlockState::ALL.map(|state| errors.blocks(state))
    }

    #[test]
    fn blocks_follow_what_is_done_to_them() {
        let mut blocks = BlockStates { begin: 8192, block_bytes: 4096, words: vec![0; 8] };
        (0..3).for_each(|_| blocks.issued(&request(Op::Trim, 8192, 8192)));
        blocks.issued(&request(Op::Write, 8192 + 4096, 4096));
        assert_eq!(counts(&blocks), [6, 1, 1, 0, 0]);
        let trim = request(Op::Trim, 8192, 4096);
        blocks.issued(&trim);
        blocks.failed(&trim);
        blocks.failed(&request(Op::Write, 8192 + 4096, 512));
        assert_eq!(counts(&blocks), [6, 0, 0, 1, 1]);
        assert_eq!(blocks.errors().percentiles(&[50.0, 100.0]), [(50.0, 3), (100.0, 3)]);
        blocks.issued(&request(Op::Write, 8192, 8 * 4096));
        assert_eq!(counts(&blocks), [0, 0, 6, 1, 1], "a failure stays");
    }

    #[test]
    fn blocks_that_fit_no_memory_fail_their_job_and_not_the_program() {
        let blocks = |size| {
            let mut spec = default_job("a");
            (spec.measure.block_errors, spec.rw) = (true, ReadWrite::Trim);
            spec.files = vec![file("a", FileKind::Pretend, size)];
            BlockStates::of(&spec)
        };
        let failure = blocks(1 << 62).unwrap_err();
        assert_eq!(failure.error.errno, libc::ENOMEM);
        assert!(failure.notes[0].message.starts_with("not enough memory to track "), "{:?}", failure.notes);
        assert_eq!(blocks(1 << 20).unwrap().unwrap().words.len(), 256);
    }

    #[test]
    fn reads_and_what_lies_behind_the_last_block_do_not_count() {
        let mut blocks = BlockStates { begin: 0, block_bytes: 4096, words: vec![0; 2] };
        blocks.issued(&request(Op::Read, 0, 4096));
        blocks.failed(&request(Op::Read, 0, 4096));
        blocks.issued(&request(Op::Trim, 4096, 65_536));
        blocks.issued(&request(Op::Trim, 1 << 40, 4096));
        assert_eq!(counts(&blocks), [1, 1, 0, 0, 0]);
    }
}
