//! The file mapped by `mem=mmap:FILE`, `mmapshared:FILE` and `mmaphuge:FILE`. A missing file is created, and removed again at the end.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use ferrio_job::{MEMORY_FILE_NOT_HUGE, memory_file_not_opened, reason};
use ferrio_machine::{open_file, set_length};
use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, OFlag, fallocate};
use nix::sys::statfs::{HUGETLBFS_MAGIC, fstatfs};

use crate::EngineError;

/// An open file; dropping it removes the file if `open` created it.
#[derive(Debug)]
pub(super) struct BackingFile {
    file: File,
    pub(super) path: PathBuf,
    /// Page size of the mapping in bytes.
    pub(super) page: usize,
    /// True if `open` created the file and it has not been removed since.
    is_own: AtomicBool,
}

impl BackingFile {
    /// Opens a file, creating it if it is missing.
    pub(super) fn open(path: &Path) -> Result<Self, EngineError> {
        let new = OFlag::O_CREAT | OFlag::O_EXCL;
        let (file, is_own) = match open_file(path, OFlag::O_RDWR | new, 0o644) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => (open_file(path, OFlag::O_RDWR, 0), false),
            made => (made, true),
        };
        let file = file.map_err(|e| {
            let hint = memory_file_not_opened(path, &reason(&e));
            EngineError::new(format!("open({})", path.display()), e).hint(hint)
        })?;
        Ok(BackingFile {
            file,
            path: path.to_path_buf(),
            page: super::PAGE_BYTES,
            is_own: AtomicBool::new(is_own),
        })
    }

    /// Removes the file if `open` created it. Mappings of it stay valid.
    ///
    /// # Errors
    /// unlink(2)'s error, except for a file that no longer exists.
    pub(super) fn remove(&self) -> io::Result<()> {
        if !self.is_own.swap(false, Relaxed) {
            return Ok(());
        }
        match fs::remove_file(&self.path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Extends a shorter file to `length`, as nothing can be mapped beyond its end. A longer file keeps its length.
    pub(super) fn extend(&self, length: usize) -> Result<(), EngineError> {
        let failed =
            |e| EngineError::new("ftruncate", e).hint("the file of `mem` cannot be made large enough");
        let now = self.file.metadata().map_err(failed)?;
        if now.is_file() && now.len() < length as u64 {
            set_length(&self.file, length as u64).map_err(failed)?;
        }
        Ok(())
    }

    /// Reserves the space of a regular file now, so that a full file system is an error here and not a signal later.
    pub(super) fn reserve(&self, length: usize) -> Result<(), EngineError> {
        if !self.file.metadata().is_ok_and(|now| now.is_file()) {
            return Ok(());
        }
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        match fallocate(&self.file, FallocateFlags::empty(), 0, length) {
            // Not every file system can reserve space.
            Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => Ok(()),
            Err(e) => Err(EngineError::new("fallocate", e).hint("there is no room for the file of `mem`")),
        }
    }

    /// Reads the page size of the hugetlbfs that the file is on.
    pub(super) fn huge_page(&mut self) -> Result<u64, EngineError> {
        let about = fstatfs(&self.file).map_err(|e| EngineError::new("fstatfs", e))?;
        if about.filesystem_type() != HUGETLBFS_MAGIC {
            let func = format!("mmaphuge({})", self.path.display());
            return Err(EngineError::new(func, Errno::EINVAL).hint(MEMORY_FILE_NOT_HUGE));
        }
        let invalid = |_| EngineError::new("fstatfs", Errno::EINVAL);
        self.page = usize::try_from(about.block_size()).map_err(invalid)?;
        Ok(self.page as u64)
    }
}

impl Drop for BackingFile {
    fn drop(&mut self) {
        // Usually removed already; a job that failed before its I/O has reported why.
        let _ = self.remove();
    }
}
