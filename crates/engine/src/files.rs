//! The open files of one worker. Who opens them and how is the runner's business; engines see descriptors and sizes.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// One open file.
#[derive(Debug)]
pub struct OpenFile {
    /// Descriptor; `None` for an engine without files.
    pub fd: Option<OwnedFd>,
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

/// All files of one worker, in the order of [`ferrio_plan::JobSpec::files`].
#[derive(Debug, Default)]
pub struct FileSet {
    /// The files; a request's `file` indexes here.
    pub files: Vec<OpenFile>,
}
