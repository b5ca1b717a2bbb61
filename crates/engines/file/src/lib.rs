//! Engines that measure operations on files. They share one type, so that the I/O loop is compiled only once for all of them. The operation
//! is chosen when the engine is opened; most operations end in a system call that costs far more than the branch.
//!
//! filecreate, filestat, filedelete, dircreate, dirstat and dirdelete perform their operation once per file, when the file would be opened
//! (`paths`); their I/Os do nothing. falloc, ftruncate (`space`) and e4defrag (`extents`) perform theirs in each I/O. page_fault measures
//! memory instead of a file (`page_fault`).

mod extents;

mod page_fault;
mod paths;
mod space;

use std::os::fd::OwnedFd;
use std::path::Path;

use ferrio_engine::{
    Buffers, Descriptors, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit, sync_ops,
};
use ferrio_job::{EngineKind, JobSpec};
use nix::errno::Errno;

use extents::DonorFile;
use page_fault::FreshMemory;
use paths::PathOperation;
use space::SpaceOperation;

/// Engines filecreate, filestat, filedelete, dircreate, dirstat, dirdelete, falloc, ftruncate, e4defrag and page_fault.
pub struct FileEngine {
    operation: Operation,
    /// Descriptors of the files; -1 for files without one.
    fds: Descriptors,
}

enum Operation {
    Path(PathOperation),
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
            _ => Operation::Path(PathOperation::of(spec)?),
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
            Operation::Path(operation) => operation.run(path),
            _ => Err(EngineError::new(format!("operate({})", path.display()), Errno::ENOTSUP)),
        }
    }

    fn submit(&mut self, request: &Request) -> Submit {
        let fd = self.fds.of(request.file);
        Submit::Done(match &self.operation {
            Operation::Path(_) if request.op.moves_data() || request.op == Op::Trim => {
                request.len.cast_signed()
            }
            // A file that was only looked up or removed has no descriptor: EBADF.
            Operation::Path(_) => sync_ops::run(fd, request),
            Operation::Space(operation) => operation.run(fd, request),
            Operation::Extents(donor) => donor.run(fd, request),
            Operation::Memory(memory) => memory.run(request),
        })
    }
}

#[cfg(test)]
mod tests;
