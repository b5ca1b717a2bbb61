//! What is done to the name of a file: create it, look it up, remove it.

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

/// An operation with what it needs.
#[derive(Debug)]
pub(crate) enum NameOperation {
    /// open(2) with `O_CREAT`.
    CreateFile,
    /// stat(2) or lstat(2).
    Stat { follows_links: bool },
    /// statx(2) of the absolute path.
    Statx(AbsolutePath),
    /// unlink(2).
    DeleteFile,
    /// mkdir(2).
    CreateDirectory,
    /// rmdir(2).
    DeleteDirectory,
}

impl NameOperation {
    /// That of the job's engine.
    ///
    /// # Errors
    /// The engine is none of these.
    pub(crate) fn of(spec: &JobSpec) -> Result<Self, EngineError> {
        Ok(match spec.engine {
            EngineKind::Filecreate => NameOperation::CreateFile,
            EngineKind::Filedelete => NameOperation::DeleteFile,
            EngineKind::Dircreate => NameOperation::CreateDirectory,
            EngineKind::Dirdelete => NameOperation::DeleteDirectory,
            EngineKind::Filestat | EngineKind::Dirstat => match spec.engine_options.stat_type {
                StatType::Stat => NameOperation::Stat { follows_links: true },
                StatType::Lstat => NameOperation::Stat { follows_links: false },
                StatType::Statx => NameOperation::Statx(AbsolutePath::default()),
            },
            other => return Err(EngineError::new(format!("open({})", other.word()), Errno::ENOTSUP)),
        })
    }

    /// Does it to one file.
    ///
    /// # Errors
    /// Those of the system call, with the path.
    pub(crate) fn run(&mut self, path: &Path) -> Result<Option<OwnedFd>, EngineError> {
        let (done, call) = match self {
            NameOperation::CreateFile => {
                let flags = OFlag::O_CREAT | OFlag::O_RDWR | OFlag::O_CLOEXEC;
                let mode = Mode::S_IRUSR | Mode::S_IWUSR;
                (nix::fcntl::open(path, flags, mode).map(Some), "open")
            }
            NameOperation::Stat { follows_links: true } => (stat::stat(path).map(|_| None), "stat"),
            NameOperation::Stat { follows_links: false } => (stat::lstat(path).map(|_| None), "lstat"),
            NameOperation::Statx(absolute) => (absolute.of(path).and_then(statx).map(|()| None), "statx"),
            NameOperation::DeleteFile => (nix::unistd::unlink(path).map(|()| None), "delete"),
            // fio passes only the file type for a mode, and makes directories that nobody can use.
            NameOperation::CreateDirectory => {
                (nix::unistd::mkdir(path, Mode::S_IRWXU).map(|()| None), "mkdir")
            }
            NameOperation::DeleteDirectory => (rmdir(path).map(|()| None), "rmdir"),
        };
        done.map_err(|e| EngineError::new(format!("{call}({})", path.display()), e))
    }
}

fn rmdir(path: &Path) -> nix::Result<()> {
    nix::unistd::unlinkat(nix::fcntl::AT_FDCWD, path, nix::unistd::UnlinkatFlags::RemoveDir)
}

/// Makes absolute paths. The files of a job are in few directories, so each is resolved once.
#[derive(Debug, Default)]
pub(crate) struct AbsolutePath {
    /// The directory of the path before, as it was given.
    given: PathBuf,
    /// The same without links.
    resolved: PathBuf,
}

impl AbsolutePath {
    fn of(&mut self, path: &Path) -> nix::Result<CString> {
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
