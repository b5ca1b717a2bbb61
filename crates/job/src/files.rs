//! The files of a job: what they are, which of them the next I/O goes to, how many are open at once, and how they are laid out
//! before the job runs if they are missing or too short.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Skew;
use crate::choice::choices;

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
        Zipf: "zipf", "Few files get most I/Os, by fio's approximation: zipf:theta";
        ZipfExact: "zipf_exact", "Few files get most I/Os, exactly by Zipf's law (ferrio only): zipf_exact:theta";
        Pareto: "pareto", "Few files get most I/Os: pareto:h";
        Normal: "normal", "Bell curve: normal:deviation";
        = Normal: "gauss";
        RoundRobin: "roundrobin", "All files in turn";
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

choices! {
    /// `fallocate=`.
    pub enum Fallocate default Native {
        None: "none", "Reserve nothing";
        /// Failures are ignored.
        Native: "native", "fallocate(2) where supported";
        /// Failures are reported.
        Posix: "posix", "posix_fallocate(3)";
        /// FALLOC_FL_KEEP_SIZE; a failure fails the job.
        Keep: "keep", "Reserve space, keep the file size";
        /// A failure fails the job.
        Truncate: "truncate", "Set the file size, reserve nothing";
        = None: "0";
        = Posix: "1";
    }
}

choices! {
    /// `lockfile=`: a lock per file that an I/O holds while it is submitted.
    pub enum Lockfile default None {
        None: "none", "Do not lock";
        Exclusive: "exclusive", "One I/O at a time";
        ReadWrite: "readwrite", "Many reads or one write at a time";
    }
}

choices! {
    /// `filetype=`: what the files of a job must be.
    pub enum FileType default Detect {
        Detect: "none", "Any type";
        File: "file", "Regular files; allows new ones in /dev";
        Block: "block", "Block devices";
        Char: "char", "Character devices, or files that are used without looking at their size";
    }
}

/// Kinds of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file, or a path that does not exist yet.
    #[default]
    Regular,
    /// A block device.
    Block,
    /// A character device.
    Char,
    /// Engine without files: only a size.
    Pretend,
}

/// One file of one job with its I/O region, all in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSpec {
    /// Path as given or generated, directory prefix included.
    pub path: PathBuf,
    /// Regular file, device or neither.
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
    /// It does not exist, and its name would be that of a device.
    pub missing_device: bool,
    /// The place in a list of names, and further files of the list that are like it. Only in plans that are described.
    pub run: Option<Box<FileRun>>,
}

/// Where a file, or several of them, are in a list of names. The list may be that of a `filename_format`, which nobody writes down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRun {
    /// The key of the list. Equal lists have equal files at equal places, whichever job uses them.
    pub names: Arc<str>,
    /// Place of the first file in the list, from 0.
    pub first: u64,
    /// Number of files, at least 1.
    pub count: u64,
    /// All names of the list are the same one: it is one file that is used `count` times.
    pub is_one_file: bool,
    /// Path of the last file.
    pub last: PathBuf,
    /// Sizes are drawn: `size` of the entry is their mean.
    pub is_mean: bool,
}

impl FileSpec {
    /// End of the I/O region.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    /// The directory that the file is in, as the path has it.
    #[must_use]
    pub fn directory(&self) -> &Path {
        let parent = self.path.parent().unwrap_or(&self.path);
        if parent.as_os_str().is_empty() { Path::new(".") } else { parent }
    }

    /// How many files of the job it stands for.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.run.as_ref().map_or(1, |run| run.count)
    }

    /// How many different files it stands for.
    #[must_use]
    pub fn distinct(&self) -> u64 {
        if self.run.as_ref().is_some_and(|run| run.is_one_file) { 1 } else { self.count() }
    }

    /// Bytes in the I/O regions of all files that it stands for.
    #[must_use]
    pub fn total_size(&self) -> u64 {
        self.size.saturating_mul(self.count())
    }

    /// The list that it is in, unless the only name of the list is its path.
    pub(crate) fn listed(&self) -> Option<&FileRun> {
        self.run.as_deref().filter(|run| !run.is_one_file)
    }

    /// The path of the last file that it stands for.
    #[must_use]
    pub fn last_path(&self) -> &Path {
        self.run.as_ref().map_or(&self.path, |run| &run.last)
    }
}
