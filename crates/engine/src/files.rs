//! The open files of one worker. The runner opens them; engines see descriptors and sizes.

use std::any::Any;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex};

use ferrio_machine::open_file;
use nix::fcntl::{FcntlArg, OFlag, fcntl};

/// One open file. Clones refer to the same open file and descriptor.
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
    /// The raw descriptor; -1 if there is none.
    #[must_use]
    pub fn raw_fd(&self) -> RawFd {
        self.fd.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }
}

/// All files of one worker, in the order of [`ferrio_job::JobSpec::files`].
#[derive(Debug, Default)]
pub struct FileSet {
    /// Indexed by [`Request::file`](crate::Request::file).
    pub files: Vec<OpenFile>,
    /// These files together with their engines' shared state, if other workers use them too.
    pub shared: Option<Arc<SharedFiles>>,
}

impl FileSet {
    /// A set of files that no other worker uses, or that were opened separately.
    #[must_use]
    pub fn new(files: Vec<OpenFile>) -> Self {
        FileSet { files, shared: None }
    }
}

/// Files that several workers share.
#[derive(Debug)]
pub struct SharedFiles {
    /// In the order of [`FileSet::files`].
    pub files: Vec<OpenFile>,
    /// State shared by the engines of these workers; the first one creates it.
    pub engines: Mutex<Option<Arc<dyn Any + Send + Sync>>>,
}

/// The descriptors of a worker's files, indexed by [`Request::file`](crate::Request::file). Most engines keep nothing else of a file.
#[derive(Debug, Default)]
pub struct Descriptors(Vec<RawFd>);

impl Descriptors {
    /// Stores the descriptors of all files, as passed to [`Engine::attach`](crate::Engine::attach).
    pub fn attach(&mut self, files: &FileSet) {
        self.0 = files.files.iter().map(OpenFile::raw_fd).collect();
    }

    /// Stores the descriptor of one file, as passed to [`Engine::attach_one`](crate::Engine::attach_one).
    pub fn attach_one(&mut self, index: usize, file: &OpenFile) {
        self.0[index] = file.raw_fd();
    }

    /// The descriptor of file `file`; -1 if it has none.
    #[inline]
    #[must_use]
    pub fn of(&self, file: u32) -> RawFd {
        self.0[file as usize]
    }

    /// All descriptors, in the order of the files.
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
    /// A new descriptor of this open file; the file position is shared.
    ///
    /// # Errors
    /// dup(2)'s error, usually EMFILE.
    pub fn duplicated(&self) -> io::Result<OpenFile> {
        self.with(OwnedFd::try_clone)
    }

    /// The file opened again with the same flags; the file position is separate.
    ///
    /// # Errors
    /// open(2)'s error; ENOENT where /proc is not mounted.
    pub fn reopened(&self) -> io::Result<OpenFile> {
        self.with(|fd| {
            let flags = fcntl(fd, FcntlArg::F_GETFL)?;
            // The path leads to the file even if its name was removed. The descriptor table belongs to this thread.
            let path = format!("/proc/thread-self/fd/{}", fd.as_raw_fd());
            open_file(path, OFlag::from_bits_retain(flags), 0).map(OwnedFd::from)
        })
    }

    fn with(&self, copy: impl Fn(&OwnedFd) -> io::Result<OwnedFd>) -> io::Result<OpenFile> {
        let fd = self.fd.as_deref().map(copy).transpose()?;
        Ok(OpenFile { fd: fd.map(Arc::new), offset: self.offset, size: self.size })
    }
}
