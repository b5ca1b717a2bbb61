//! The engines that measure operations on files. They are one type, so that the I/O loop exists once for all of them: which operation
//! it is, is decided when the engine is opened, and each ends in a system call that costs a thousand times the branch.
//!
//! filecreate, filestat, filedelete, dircreate, dirstat and dirdelete do theirs once per file, when the file would be opened
//! ([`names`]); their I/Os do nothing.

mod names;

use std::os::fd::{OwnedFd, RawFd};
use std::path::Path;

use ferrio_engine::{Buffers, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit, sync_ops};
use ferrio_job::JobSpec;

use names::NameOperation;

/// `ioengine=filecreate` and the others.
pub struct FileEngine {
    operation: NameOperation,
    /// Descriptors of the files; -1 for those that have none.
    fds: Vec<RawFd>,
}

impl Engine for FileEngine {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        Ok(FileEngine { operation: NameOperation::of(spec)?, fds: Vec::new() })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.fds = files.files.iter().map(OpenFile::raw_fd).collect();
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.fds[index] = file.raw_fd();
        Ok(())
    }

    fn operate(&mut self, path: &Path) -> Result<Option<OwnedFd>, EngineError> {
        self.operation.run(path)
    }

    fn submit(&mut self, request: &Request) -> Submit {
        if request.op.moves_data() || request.op == Op::Trim {
            return Submit::Done(i64::from(request.len));
        }
        // A file that is only looked up or removed has no descriptor: EBADF.
        Submit::Done(sync_ops::run(self.fds[request.file as usize], request))
    }
}

#[cfg(test)]
mod tests;
