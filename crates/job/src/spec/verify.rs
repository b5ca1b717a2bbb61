//! What jobs overwrite and check, and their verify states.

use std::path::{Path, PathBuf};

use super::JobSpec;
use crate::*;

impl JobSpec {
    /// True when the job may write to the same place twice in one pass, even in part.
    #[must_use]
    pub fn may_overwrite(&self) -> bool {
        self.overwrites() != Overwrites::Never
    }

    /// Whether the writes of one pass may overwrite blocks of the same pass. Zones come round again, and so do files that are
    /// never finished; nothing is known of a log.
    ///
    /// The passes of `time_based` repeat the blocks of the one before. That counts when a block may touch only a part of an older one, or
    /// when trims leave zeros of it.
    #[must_use]
    pub fn overwrites(&self) -> Overwrites {
        let repeats = match self.rw_postfix {
            RwPostfix::None => false,
            RwPostfix::Hole(_) => true,
            RwPostfix::Every(n) => n > 1,
        };
        let walks_on = self.rw.is_random() && self.percentage_random.0.iter().any(|&percent| percent < 100);
        if walks_on
            || repeats
            || (self.limits.time_based && (self.trims_blocks() || !self.has_one_block_size()))
            || self.replay.is_some()
            || self.zones.is_some()
            || self.zbd.as_ref().is_some_and(|zbd| zbd.resets.is_some())
            || self.file_service.never_finishes()
            || self.limits.io_size.is_some_and(|bytes| bytes > self.limits.size)
        {
            return Overwrites::Blocks;
        }
        if self.random_map {
            return Overwrites::Never;
        }
        if !self.visits_each_block_once() || (self.trims_blocks() && !self.has_one_block_size()) {
            return Overwrites::Blocks;
        }
        if self.writes_have_one_size() {
            Overwrites::Never
        } else if self.verify.as_ref().is_some_and(|verify| self.checks_intervals_alone(verify)) {
            Overwrites::Parts
        } else {
            Overwrites::Blocks
        }
    }

    /// True for a random job without a map that begins a block at each place once all the same, because its generator visits each once.
    fn visits_each_block_once(&self) -> bool {
        let writes = &self.block[Direction::Write];
        self.rw.is_random()
            && self.random_order != RandomOrder::Drawn
            && self.distribution == Distribution::Uniform
            && self.sprandom.is_none()
            && writes.align == writes.min
    }

    /// True when each verify interval can be checked whatever else became of its block: it has a header of its own, begins at a multiple of
    /// its length in the file, and contains nothing that depends on the place in the block or on the number of the write.
    fn checks_intervals_alone(&self, verify: &Verify) -> bool {
        let unknown = verify.header_seed == Some(true) || verify.write_sequence == Some(true);
        // Where there is a digest, the pattern is not compared.
        let compares = verify.pattern.is_some() && !verify.method.has_digest();
        !compares && !unknown && !self.bs_unaligned && !verify.trims.mark()
    }

    fn trims_blocks(&self) -> bool {
        self.rw.is_trimwrite() || self.verify.as_ref().is_some_and(|verify| verify.trims.mark())
    }

    /// True when all writes are of one size.
    #[must_use]
    pub fn writes_have_one_size(&self) -> bool {
        let writes = &self.block[Direction::Write];
        writes.min == writes.max
    }

    /// True when all blocks, of reads, writes and trims, are of one size.
    #[must_use]
    pub fn has_one_block_size(&self) -> bool {
        let sizes = self.block.0.iter();
        sizes.clone().map(|block| block.min).min() == sizes.map(|block| block.max).max()
    }

    /// True for a job that trims: its kind says so, or it trims some of the blocks that it has written.
    #[must_use]
    pub fn trims(&self) -> bool {
        self.rw.does(Direction::Trim)
            || (self.writes_data() && self.verify.as_ref().is_some_and(|verify| verify.trims.is_active()))
    }

    /// True for a job that checks what others have written: it reads and verifies, or only verifies.
    #[must_use]
    pub fn only_checks(&self) -> bool {
        self.verify.is_some() && self.rw.does(Direction::Read) && !self.writes_data() || self.only_verifies()
    }

    /// True for a job that writes nothing although its kind says so (`verify_only`).
    #[must_use]
    pub fn only_verifies(&self) -> bool {
        self.verify.as_ref().is_some_and(|verify| verify.only) && self.rw.does(Direction::Write)
    }

    /// True for a job that writes data: its kind says so, and it does not only verify.
    #[must_use]
    pub fn writes_data(&self) -> bool {
        self.rw.does(Direction::Write) && !self.only_verifies()
    }

    /// How many threads check what the job reads (`verify_async`); 0 for a job that has nothing to check.
    #[must_use]
    pub fn verify_threads(&self) -> u32 {
        let Some(verify) = &self.verify else { return 0 };
        let reads =
            if self.rw.does(Direction::Write) { verify.read_back } else { self.rw.does(Direction::Read) };
        let compares = verify.method != VerifyMethod::Null && self.engine.moves_data();
        if reads && compares { verify.threads } else { 0 }
    }

    /// True when the seed in the header of a block that is read back must be the one that was drawn for it.
    #[must_use]
    pub fn checks_header_seed(&self, verify: &Verify) -> bool {
        let as_written = || {
            let in_order = !verify.backlog.is_active() && !self.may_overwrite();
            self.rw.does(Direction::Write) && !verify.only && in_order
        };
        self.knows_last_writes(verify) && verify.header_seed.unwrap_or_else(as_written)
    }

    /// Choices that are made again name every write to a place, and only the last of them is still there.
    fn knows_last_writes(&self, verify: &Verify) -> bool {
        !verify.regenerates || !self.may_overwrite()
    }

    /// True when the number in the header of a block that is read back must be that of its write.
    #[must_use]
    pub fn checks_write_sequence(&self, verify: &Verify) -> bool {
        // Writes of a log to the same place may be in flight together: either may be the last.
        let ordered = (self.random_map && self.replay.is_none()) || self.is_sync() || self.depth.iodepth == 1;
        self.rw.does(Direction::Write)
            && self.has_one_block_size()
            && !self.limits.time_based
            && self.knows_last_writes(verify)
            && verify.write_sequence.unwrap_or(ordered && !verify.only)
    }

    /// True for a job that saves its verify state when it ends.
    #[must_use]
    pub fn saves_state(&self) -> bool {
        self.verify.as_ref().is_some_and(|verify| verify.saves_state) && self.rw.does(Direction::Write)
    }

    /// True for a job that checks what a saved verify state covers.
    #[must_use]
    pub fn loads_state(&self) -> bool {
        self.verify.as_ref().is_some_and(|verify| verify.loads_state)
    }

    /// The number of its verify state. Jobs are numbered from 1, and states from 0.
    #[must_use]
    pub fn state_index(&self) -> u64 {
        u64::from(self.number).saturating_sub(1)
    }

    /// The file of its verify state in this directory.
    #[must_use]
    pub fn state_file(&self, directory: &Path) -> PathBuf {
        directory.join(format!("local-{}-verify.state", self.state_name()))
    }

    /// The part of the name of that file which tells its jobs apart.
    #[must_use]
    pub fn state_name(&self) -> String {
        format!("{}-{}", self.name.replace('/', "."), self.state_index())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_job_is_a_file_of_its_own_whatever_its_name() {
        let spec = JobSpec { name: "a/b".to_owned(), number: 4, ..JobSpec::default() };
        assert_eq!(spec.state_file(Path::new("d")), Path::new("d/local-a.b-3-verify.state"));
    }
}
