//! The engines that measure operations on files. They are one type, so that the I/O loop exists once for all of them: which operation
//! it is, is decided when the engine is opened, and most end in a system call that costs far more than the branch.
//!
//! filecreate, filestat, filedelete, dircreate, dirstat and dirdelete do theirs once per file, when the file would be opened
//! (`names`); their I/Os do nothing. falloc and ftruncate do theirs in each I/O (`space`), and so does e4defrag (`extents`). page_fault has
//! memory for a file (`page_fault`).

mod extents;
mod names;
mod page_fault;
mod space;

use std::os::fd::OwnedFd;
use std::path::Path;

use ferrio_engine::{
    Buffers, Descriptors, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit, sync_ops,
};
use ferrio_job::{EngineKind, JobSpec};
use nix::errno::Errno;

use extents::DonorFile;
use names::NameOperation;
use page_fault::FreshMemory;
use space::SpaceOperation;

/// `ioengine=filecreate` and the others.
pub struct FileEngine {
    operation: Operation,
    /// Descriptors of the files; -1 for those that have none.
    fds: Descriptors,
}

enum Operation {
    Name(NameOperation),
    Space(SpaceOperation),
    Extents(DonorFile),
    Memory(FreshMemory),
}

impl Engine for FileEngine {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        let operation = match spec.engine {
            EngineKind::E4defrag => Operation::Extents(DonorFile::open(spec)?),
            EngineKind::Falloc => Operation::Space(SpaceOperation::allocate(spec)?),
            EngineKind::Ftruncate => Operation::Space(SpaceOperation::Truncate),
            EngineKind::PageFault => Operation::Memory(FreshMemory::new(spec)?),
            _ => Operation::Name(NameOperation::of(spec)?),
        };
        Ok(FileEngine { operation, fds: Descriptors::default() })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        if let Operation::Extents(donor) = &self.operation {
            donor.check(&files.files)?;
        }
        self.fds.attach(files);
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        if let Operation::Extents(donor) = &self.operation {
            donor.check(std::slice::from_ref(file))?;
        }
        self.fds.attach_one(index, file);
        Ok(())
    }

    fn operate(&mut self, path: &Path) -> Result<Option<OwnedFd>, EngineError> {
        match &mut self.operation {
            Operation::Name(operation) => operation.run(path),
            _ => Err(EngineError::new(format!("operate({})", path.display()), Errno::ENOTSUP)),
        }
    }

    fn submit(&mut self, request: &Request) -> Submit {
        let fd = self.fds.of(request.file);
        Submit::Done(match &self.operation {
            Operation::Name(_) if request.op.moves_data() || request.op == Op::Trim => {
                request.len.cast_signed()
            }
            // A file that is only looked up or removed has no descriptor: EBADF.
            Operation::Name(_) => sync_ops::run(fd, request),
            Operation::Space(operation) => operation.run(fd, request),
            Operation::Extents(donor) => donor.run(fd, request),
            Operation::Memory(memory) => memory.run(request),
        })
    }
}

#[cfg(test)]
mod tests;
