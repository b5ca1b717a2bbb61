//! How the data of a job is verified.

use crate::{Direction, JobSpec, Pattern, RwPostfix, VerifyMethod};

/// `verify` and the options below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verify {
    /// How blocks are checked.
    pub method: VerifyMethod,
    /// Bytes that carry one header.
    pub interval: u32,
    /// `verify_offset`, bytes; 0 when not given.
    pub offset: u32,
    /// `verify_pattern`.
    pub pattern: Option<Pattern>,
    /// `verify_pattern_interval`: the pattern starts again at every multiple of this, bytes; 0 lets it run through the block.
    pub pattern_interval: u32,
    /// `verify_fatal`.
    pub fatal: bool,
    /// `do_verify`: read everything back after writing.
    pub read_back: bool,
    /// `verify_header_seed` when given.
    pub header_seed: Option<bool>,
    /// `verify_write_sequence` when given.
    pub write_sequence: Option<bool>,
}

impl JobSpec {
    /// True when the job may write to the same place twice in one pass. Zones come round again, and so do files that are never
    /// finished.
    #[must_use]
    pub fn may_overwrite(&self) -> bool {
        let repeats = match self.rw_postfix {
            RwPostfix::None => false,
            RwPostfix::Hole(_) => true,
            RwPostfix::Every(n) => n > 1,
        };
        let walks_on = self.rw.is_random() && self.percentage_random.0.iter().any(|&percent| percent < 100);
        !self.random_map
            || walks_on
            || repeats
            || self.zones.is_some()
            || self.file_service.never_finishes()
            || self.limits.io_size.is_some_and(|bytes| bytes > self.limits.size)
    }

    /// True when the seed in the header of a block that is read back must be the one that was drawn for it.
    #[must_use]
    pub fn checks_header_seed(&self, verify: &Verify) -> bool {
        verify.header_seed.unwrap_or_else(|| self.rw.does(Direction::Write) && !self.may_overwrite())
    }

    /// True when the number in the header of a block that is read back must be that of its write.
    #[must_use]
    pub fn checks_write_sequence(&self, verify: &Verify) -> bool {
        let sizes = self.block.0.iter();
        let one_size = sizes.clone().map(|b| b.min).min() == sizes.map(|b| b.max).max();
        let ordered = self.random_map || self.is_sync() || self.depth.iodepth == 1;
        self.rw.does(Direction::Write)
            && one_size
            && !self.limits.time_based
            && verify.write_sequence.unwrap_or(ordered)
    }
}
