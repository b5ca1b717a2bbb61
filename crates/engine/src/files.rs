//! The open files of one worker. The runner opens them; engines see descriptors and sizes.

use std::any::Any;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex};

use ferrio_machine::open_file;
use nix::fcntl::{FcntlArg, OFlag, fcntl};

/// One open file. A clone is the same one, under the same descriptor.
#[derive(Clone, Debug)]
pub struct OpenFile {
    /// Descriptor, which workers may share; `None` for an engine without files.
    pub fd: Option<Arc<OwnedFd>>,
    /// Start of the job's region, bytes.
    pub offset: u64,
    /// Length of the job's region, bytes.
    pub size: u64,
}

impl OpenFile {
    /// The raw descriptor, -1 when there is none.
    #[must_use]
    pub fn raw_fd(&self) -> RawFd {
        self.fd.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }
}

/// All files of one worker, in the order of [`ferrio_job::JobSpec::files`].
#[derive(Debug, Default)]
pub struct FileSet {
    /// The files; a request's `file` indexes here.
    pub files: Vec<OpenFile>,
    /// The same files, if other workers have them too.
    pub shared: Option<Arc<SharedFiles>>,
}

impl FileSet {
    /// Files that only this worker has open, or by an open of its own.
    #[must_use]
    pub fn new(files: Vec<OpenFile>) -> Self {
        FileSet { files, shared: None }
    }
}

/// Files that several workers share.
#[derive(Debug)]
pub struct SharedFiles {
    /// The files.
    pub files: Vec<OpenFile>,
    /// What the engines of these workers share: the first makes it.
    pub engines: Mutex<Option<Arc<dyn Any + Send + Sync>>>,
}

/// The descriptors of a worker's files, by the index in requests: all that most engines keep of a file.
#[derive(Debug, Default)]
pub struct Descriptors(Vec<RawFd>);

impl Descriptors {
    /// Takes over those of all files, as [`Engine::attach`](crate::Engine::attach) passes them.
    pub fn attach(&mut self, files: &FileSet) {
        self.0 = files.files.iter().map(OpenFile::raw_fd).collect();
    }

    /// Takes over that of one file, as [`Engine::attach_one`](crate::Engine::attach_one) passes it.
    pub fn attach_one(&mut self, index: usize, file: &OpenFile) {
        self.0[index] = file.raw_fd();
    }

    /// The descriptor of file number `file`; -1 if it has none.
    #[inline]
    #[must_use]
    pub fn of(&self, file: u32) -> RawFd {
        self.0[file as usize]
    }

    /// Those of all files, in order.
    #[must_use]
    pub fn all(&self) -> &[RawFd] {
        &self.0
    }

    /// The number of files.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl OpenFile {
    /// The same open file under a descriptor of its own; the position is shared.
    ///
    /// # Errors
    /// EMFILE mostly.
    pub fn duplicated(&self) -> io::Result<OpenFile> {
        self.with(OwnedFd::try_clone)
    }

    /// The same file opened once more with the same flags: the position is private.
    ///
    /// # Errors
    /// open(2)'s error; ENOENT where /proc is not mounted.
    pub fn reopened(&self) -> io::Result<OpenFile> {
        self.with(|fd| {
            let flags = fcntl(fd, FcntlArg::F_GETFL)?;
            // The path leads to the file itself, even if its name is gone. The table of descriptors is the thread's own.
            let path = format!("/proc/thread-self/fd/{}", fd.as_raw_fd());
            open_file(path, OFlag::from_bits_retain(flags), 0).map(OwnedFd::from)
        })
    }

    fn with(&self, copy: impl Fn(&OwnedFd) -> io::Result<OwnedFd>) -> io::Result<OpenFile> {
        let fd = self.fd.as_deref().map(copy).transpose()?;
        Ok(OpenFile { fd: fd.map(Arc::new), offset: self.offset, size: self.size })
    }
}
