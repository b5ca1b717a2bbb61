//! Which of a job's files the next I/O goes to, and how many of them are open at once.

use super::{Direction, JobSpec, Skew};

/// `file_service_type=`: which file the next I/O goes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileService {
    /// One after the other, again and again, each kept for this many I/Os.
    RoundRobin {
        /// At least 1.
        ios: u32,
    },
    /// One file until it is finished, then the next.
    Sequential,
    /// Any file that is not finished, kept for this many I/Os.
    Random {
        /// At least 1.
        ios: u32,
    },
    /// Few files often. Files are never finished.
    Skewed(Skew),
}

impl Default for FileService {
    fn default() -> Self {
        FileService::RoundRobin { ios: 1 }
    }
}

impl FileService {
    /// True when a file at its end starts anew instead of being finished.
    #[must_use]
    pub const fn never_finishes(&self) -> bool {
        matches!(self, FileService::Skewed(_))
    }
}

impl JobSpec {
    /// True when a file is opened when it is first used and closed when it is finished. Otherwise all are open for a whole pass,
    /// which nothing but the descriptors in use tells apart.
    #[must_use]
    pub fn opens_on_demand(&self) -> bool {
        let syncs_each = self.durability.fsync_on_close && self.rw.does(Direction::Write);
        (self.openfiles as usize) < self.files.len() || (syncs_each && self.files.len() > 1)
    }
}
