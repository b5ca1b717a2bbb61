//! The file that `mem=mmap:FILE`, `mmapshared:FILE` and `mmaphuge:FILE` map: made if it is missing, and removed again in that case.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ferrio_machine::{open_file, set_length};
use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, OFlag, fallocate};
use nix::sys::statfs::{HUGETLBFS_MAGIC, fstatfs};

use crate::EngineError;

/// An open file; one that was made here is removed with it.
#[derive(Debug)]
pub(super) struct BackingFile {
    file: File,
    /// The path of a file that did not exist before.
    made: Option<PathBuf>,
}

impl BackingFile {
    /// Opens a file, or makes it.
    pub(super) fn open(path: &Path) -> Result<Self, EngineError> {
        let new = OFlag::O_CREAT | OFlag::O_EXCL;
        let (file, made) = match open_file(path, OFlag::O_RDWR | new, 0o644) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => (open_file(path, OFlag::O_RDWR, 0), None),
            made => (made, Some(path.to_path_buf())),
        };
        let file = file.map_err(|e| {
            EngineError::new(format!("open({})", path.display()), e)
                .hint(format!("the file of `mem` cannot be opened: {}; name another one", path.display()))
        })?;
        Ok(BackingFile { file, made })
    }

    /// The file.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Makes a shorter file this long: beyond its end there is nothing to map. A longer one keeps its length.
    pub(super) fn extend(&self, length: usize) -> Result<(), EngineError> {
        let failed =
            |e| EngineError::new("ftruncate", e).hint("the file of `mem` cannot be made large enough");
        let now = self.file.metadata().map_err(failed)?;
        if now.is_file() && now.len() < length as u64 {
            set_length(&self.file, length as u64).map_err(failed)?;
        }
        Ok(())
    }

    /// Gives a regular file its space now, so that a full file system is an error here and not a signal later.
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

    /// The page size of the hugetlbfs that the file is on.
    pub(super) fn huge_page(&self, path: &Path) -> Result<u64, EngineError> {
        let about = fstatfs(&self.file).map_err(|e| EngineError::new("fstatfs", e))?;
        if about.filesystem_type() != HUGETLBFS_MAGIC {
            let hint = "mem=mmaphuge:FILE needs a file on a mounted hugetlbfs (mount -t hugetlbfs none /huge); \
                        without FILE it needs none";
            return Err(EngineError::new(format!("mmaphuge({})", path.display()), Errno::EINVAL).hint(hint));
        }
        u64::try_from(about.block_size()).map_err(|_| EngineError::new("fstatfs", Errno::EINVAL))
    }
}

impl Drop for BackingFile {
    fn drop(&mut self) {
        if let Some(path) = &self.made {
            // It may be gone already; an error cannot be reported here.
            let _ = fs::remove_file(path);
        }
    }
}
