//! The files of a job: what they are, which of them the next I/O goes to, how many are open at once, and how they are laid out
//! before the job runs if they are missing or too short.

use std::path::{Path, PathBuf};

use crate::choice::choices;
use crate::{Direction, FileRun, JobSpec, Skew};

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

impl JobSpec {
    /// True when a file is opened when it is first used, or when a replayed log says so, and closed when it is finished. Otherwise all
    /// files are open for a whole pass, from before the first I/O on: what an engine does in place of opening them must be measured.
    #[must_use]
    pub fn opens_on_demand(&self) -> bool {
        let syncs_each = self.durability.fsync_on_close && self.rw.does(Direction::Write);
        self.replay.is_some()
            || self.engine.operates_on_files()
            || (self.opening.openfiles as usize) < self.files.len()
            || (syncs_each && self.files.len() > 1)
    }
}

impl JobSpec {
    /// Paths that are where the files and block devices of the job are. New files are where their directory is, so that a hundred
    /// thousand of them in one directory are one path; engines without files have none.
    pub fn storage_paths(&self) -> impl Iterator<Item = &Path> {
        let mut last = None;
        let stored = |file: &&FileSpec| matches!(file.kind, FileKind::Regular | FileKind::Block);
        self.files.iter().filter(stored).filter_map(move |file| {
            let is_new = file.kind == FileKind::Regular && file.found.is_none();
            let path = if is_new { file.directory() } else { &file.path };
            (last.replace(path) != Some(path)).then_some(path)
        })
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
    /// It does not exist, and its name would be that of a device.
    pub missing_device: bool,
    /// Its place in a list of names, and further files of the list that are like it. Only in plans that are described.
    pub run: Option<Box<FileRun>>,
}

impl FileSpec {
    /// End of the I/O region.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

impl FileSpec {
    /// The directory that the file is in, as the path has it.
    #[must_use]
    pub fn directory(&self) -> &Path {
        let parent = self.path.parent().unwrap_or(&self.path);
        if parent.as_os_str().is_empty() { Path::new(".") } else { parent }
    }
}

/// How a job lays out its files. The runner does it; the planner and `ferrio check` predict it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Files are laid out at all; otherwise they appear when they are opened, or the engine has none.
    pub happens: bool,
    /// Files are written full of data. Otherwise there is only reserved space, or nothing.
    pub fills: bool,
    /// Files are truncated and written again. Otherwise, if the job only trims or verifies, they grow and keep what they have.
    pub replaces: bool,
    /// Reserving space sets the size of the file.
    pub reserves_size: bool,
    /// The job only reads, but files are replaced without `allow_layout_overwrite`: the user does not expect to lose their data.
    pub replaces_unasked: bool,
}

/// How a job lays out its files: readers get files full of data, plain writers reserved space only, by fio's rules.
#[must_use]
pub fn layout_of(spec: &JobSpec) -> Layout {
    // What is to be verified is never replaced.
    let (reads, writes) = (!spec.only_checks() && spec.rw.does(Direction::Read), spec.writes_data());
    Layout {
        happens: !spec.layout.create_on_open && !spec.engine.is_diskless(),
        fills: reads || (writes && (spec.layout.overwrite || spec.engine.cannot_extend())),
        replaces: reads || writes,
        replaces_unasked: reads
            && !writes
            && !spec.rw.does(Direction::Trim)
            && !spec.file_append
            && !spec.opening.readonly
            && !spec.layout.allow_layout_overwrite,
        reserves_size: !spec.fill_device
            && !matches!(spec.layout.fallocate, Fallocate::None | Fallocate::Keep),
    }
}

impl Layout {
    /// Whether this file of the job is laid out.
    #[must_use]
    pub fn concerns(&self, file: &FileSpec) -> bool {
        self.happens && file.extend && file.kind == FileKind::Regular
    }

    /// Whether this file holds data that the job has no reason to destroy, but layout would.
    #[must_use]
    pub fn endangers(&self, file: &FileSpec) -> bool {
        self.replaces_unasked && self.concerns(file) && file.found.is_some_and(|size| size > 0)
    }

    /// Size of such a file afterwards, if it had this one before.
    #[must_use]
    pub fn size_after(&self, file: &FileSpec, before: Option<u64>) -> u64 {
        match (self.fills || self.reserves_size, self.replaces) {
            (true, _) => file.end(),
            (false, true) => 0,
            (false, false) => before.unwrap_or(0),
        }
    }
}
