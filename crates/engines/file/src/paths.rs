//! Operations on the path of a file: create, look up, remove.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ferrio_engine::EngineError;
use ferrio_job::{EngineKind, JobSpec, StatType};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::{self, Mode};

/// An operation on a path.
#[derive(Debug)]
pub(crate) enum PathOperation {
    /// open(2) with `O_CREAT`.
    CreateFile,
    /// stat(2) or lstat(2).
    Stat { follows_links: bool },
    /// statx(2) of the absolute path.
    Statx(PathResolver),
    /// unlink(2).
    DeleteFile,
    /// mkdir(2).
    CreateDirectory,
    /// rmdir(2).
    DeleteDirectory,
}

impl PathOperation {
    /// The operation of the job's engine.
    ///
    /// # Errors
    /// The engine is not one of these.
    pub(crate) fn of(spec: &JobSpec) -> Result<Self, EngineError> {
        Ok(match spec.engine {
            EngineKind::Filecreate => PathOperation::CreateFile,
            EngineKind::Filedelete => PathOperation::DeleteFile,
            EngineKind::Dircreate => PathOperation::CreateDirectory,
            EngineKind::Dirdelete => PathOperation::DeleteDirectory,
            EngineKind::Filestat | EngineKind::Dirstat => match spec.engine_options.stat_type {
                StatType::Stat => PathOperation::Stat { follows_links: true },
                StatType::Lstat => PathOperation::Stat { follows_links: false },
                StatType::Statx => PathOperation::Statx(PathResolver::default()),
            },
            other => return Err(EngineError::new(format!("open({})", other.word()), Errno::ENOTSUP)),
        })
    }

    /// Performs the operation on one file.
    ///
    /// # Errors
    /// The system call's error, with the path.
    pub(crate) fn run(&mut self, path: &Path) -> Result<Option<OwnedFd>, EngineError> {
        let (done, call) = match self {
            PathOperation::CreateFile => {
                let flags = OFlag::O_CREAT | OFlag::O_RDWR | OFlag::O_CLOEXEC;
                let mode = Mode::S_IRUSR | Mode::S_IWUSR;
                (nix::fcntl::open(path, flags, mode).map(Some), "open")
            }
            PathOperation::Stat { follows_links: true } => (stat::stat(path).map(|_| None), "stat"),
            PathOperation::Stat { follows_links: false } => (stat::lstat(path).map(|_| None), "lstat"),
            PathOperation::Statx(resolver) => {
                (resolver.absolute(path).and_then(statx).map(|()| None), "statx")
            }
            PathOperation::DeleteFile => (nix::unistd::unlink(path).map(|()| None), "delete"),
            // fio passes only the file type as the mode, and so creates directories that nobody can use.
            PathOperation::CreateDirectory => {
                (nix::unistd::mkdir(path, Mode::S_IRWXU).map(|()| None), "mkdir")
            }
            PathOperation::DeleteDirectory => (rmdir(path).map(|()| None), "rmdir"),
        };
        done.map_err(|e| EngineError::new(format!("{call}({})", path.display()), e))
    }
}

fn rmdir(path: &Path) -> nix::Result<()> {
    nix::unistd::unlinkat(nix::fcntl::AT_FDCWD, path, nix::unistd::UnlinkatFlags::RemoveDir)
}

/// Converts paths to absolute ones. The files of a job are in few directories, so each directory is resolved once.
#[derive(Debug, Default)]
pub(crate) struct PathResolver {
    /// The directory of the previous path, as it was given.
    given: PathBuf,
    /// That directory, absolute and without symbolic links.
    resolved: PathBuf,
}

impl PathResolver {
    fn absolute(&mut self, path: &Path) -> nix::Result<CString> {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        if self.given != directory || self.resolved.as_os_str().is_empty() {
            self.resolved = fs::canonicalize(directory).map_err(|e| errno(&e))?;
            self.given = directory.to_owned();
        }
        let name = path.file_name().unwrap_or_default();
        CString::new(self.resolved.join(name).into_os_string().as_bytes()).map_err(|_| Errno::EINVAL)
    }
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}

/// statx(2) of an absolute path with all fields.
fn statx(path: CString) -> nix::Result<()> {
    let mut found = std::mem::MaybeUninit::<libc::statx>::uninit();
    // SAFETY: the path ends with a NUL byte, and the kernel writes one struct statx. Both live until the call returns.
    let answer = unsafe { libc::statx(-1, path.as_ptr(), 0, libc::STATX_ALL, found.as_mut_ptr()) };
    Errno::result(answer).map(drop)
}
