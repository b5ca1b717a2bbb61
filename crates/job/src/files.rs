//! The files of a job: what they are, how they are laid out and opened, which of them the next I/O goes to, and how many are open at
//! once.

use std::path::PathBuf;

use crate::choice::choices;
use crate::{Direction, JobSpec, Skew};

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

choices! {
    /// `file_service_type`, as a word.
    pub enum FileServiceType default RoundRobin {
        Random: "random", "Any file";
        Zipf: "zipf", "Few files very often: zipf:theta";
        Pareto: "pareto", "Few files very often: pareto:h";
        Normal: "normal", "A bell: normal:deviation";
        = Normal: "gauss";
        RoundRobin: "roundrobin", "One after the other, again and again";
        Sequential: "sequential", "One file to its end, then the next";
    }
}

impl Default for FileService {
    fn default() -> Self {
        FileService::RoundRobin { ios: 1 }
    }
}

impl FileService {
    /// True when a file at its end starts again instead of being finished.
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

choices! {
    /// `fallocate=`.
    pub enum Fallocate default Native {
        None: "none", "Reserve nothing";
        /// Failures are ignored.
        Native: "native", "fallocate(2) where it works";
        /// Failures are reported.
        Posix: "posix", "posix_fallocate(3)";
        /// FALLOC_FL_KEEP_SIZE; a failure fails the job.
        Keep: "keep", "Reserve, leave the file's size";
        /// A failure fails the job.
        Truncate: "truncate", "Set the file's size only";
        = None: "0";
        = Posix: "1";
    }
}

/// What kind of thing a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file, or a path that does not exist yet.
    Regular,
    /// A block device.
    Block,
    /// A character device.
    Char,
    /// Engine without files: only a size.
    Pretend,
}

/// One file of one job with its I/O region, all in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Path as given or generated, directory prefix included.
    pub path: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// Start of the I/O region.
    pub offset: u64,
    /// Length of the I/O region.
    pub size: u64,
    /// Size of the file or device once laid out: at least `offset + size` for files that are extended.
    pub real_size: u64,
    /// Size found on disk before the run, `None` for a path that does not exist.
    pub found: Option<u64>,
    /// True when layout must create or extend it.
    pub extend: bool,
}

impl FileSpec {
    /// End of the I/O region.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}
