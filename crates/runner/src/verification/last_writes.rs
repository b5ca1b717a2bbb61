//! Which write to each place was the last, for jobs whose list of written blocks does not forget what was written again.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ferrio_job::JobSpec;
use ferrio_verify::WrittenBlock;

/// The number of the last write to each place, while its block waits for its check.
#[derive(Debug, Default)]
pub(super) struct LastWrites(HashMap<(u32, u64), u64>);

impl LastWrites {
    /// For a job that compares seeds. `None` if it writes to each place once, or if the list forgets older writes.
    ///
    /// With `time_based`, a job begins again when it has written everything. All blocks are then of one size, and each is written at the
    /// same places again. The list keeps the order of issue all the same: one that forgets would never be long enough for batches that
    /// are longer than the file.
    pub(super) fn new(spec: &JobSpec) -> Option<Self> {
        (spec.limits.time_based && !spec.may_overwrite()).then(Self::default)
    }

    /// A block is written.
    pub(super) fn record(&mut self, block: &WrittenBlock) {
        self.0.insert((block.file, block.offset), block.number);
    }

    /// A block leaves the list for its check. True if it was not written again since.
    pub(super) fn take(&mut self, block: &WrittenBlock) -> bool {
        match self.0.entry((block.file, block.offset)) {
            Entry::Occupied(last) if *last.get() == block.number => {
                last.remove();
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_write_to_a_place_counts_and_is_taken_once() {
        let block = |offset, number| WrittenBlock { file: 0, len: 4096, offset, number, trimmed: false };
        let mut last = LastWrites::default();
        for block in [block(0, 0), block(4096, 1), block(0, 2)] {
            last.record(&block);
        }
        assert_eq!(
            [block(0, 0), block(4096, 1), block(0, 2)].map(|block| last.take(&block)),
            [false, true, true]
        );
        assert!(last.0.is_empty());
    }
}
