//! The synchronous engines sync, psync, pvsync and pvsync2: one system call per I/O, complete when `submit` returns; and [`Vsync`], which
//! merges adjacent I/Os.
//!
//! Each of the former is its own type, a [`Transfer`] inside [`SyncEngine`], so that nothing is decided per I/O. System calls are made
//! directly: the C library's wrappers of read(2) and similar calls are cancellation points, which cost about 20 ns per call in a
//! multi-threaded program.

mod transfer;
mod vsync;

pub use transfer::{FlaggedTransfer, PositionedTransfer, SeekingTransfer, Transfer, VectoredTransfer};
pub use vsync::Vsync;

use ferrio_engine::{
    Buffers, Descriptors, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit, sync_ops,
};
use ferrio_job::JobSpec;

/// `ioengine=sync`: lseek(2) where needed, read(2), write(2).
pub type Sync = SyncEngine<SeekingTransfer>;
/// `ioengine=psync`: pread(2), pwrite(2).
pub type Psync = SyncEngine<PositionedTransfer>;
/// `ioengine=pvsync`: preadv(2), pwritev(2).
pub type Pvsync = SyncEngine<VectoredTransfer>;
/// `ioengine=pvsync2`: preadv2(2), pwritev2(2).
pub type Pvsync2 = SyncEngine<FlaggedTransfer>;

/// An engine that does I/O by one kind of system call.
pub struct SyncEngine<T> {
    fds: Descriptors,
    transfer: T,
}

impl<T: Transfer> Engine for SyncEngine<T> {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        Ok(SyncEngine { fds: Descriptors::default(), transfer: T::new(spec) })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.fds.attach(files);
        self.transfer.files_opened(self.fds.count());
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.fds.attach_one(index, file);
        self.transfer.file_opened(index);
        Ok(())
    }

    #[inline]
    fn submit(&mut self, request: &Request) -> Submit {
        let fd = self.fds.of(request.file);
        Submit::Done(match request.op {
            Op::Read => self.transfer.transfer(T::READ, fd, request),
            Op::Write => self.transfer.transfer(T::WRITE, fd, request),
            Op::Trim | Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => sync_ops::run(fd, request),
        })
    }
}

#[cfg(test)]
mod tests;
