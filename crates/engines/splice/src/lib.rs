//! The splice engine: data moves between a file and a pipe by splice(2), and between the pipe and memory by vmsplice(2).
//!
//! A block moves in pieces of at most 64 KiB, the default capacity of a pipe. It is complete when `submit` returns, and the pipe is empty
//! then.

mod pipe;

use ferrio_engine::{
    Buffers, Descriptors, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit, sync_ops,
};
use ferrio_job::JobSpec;
use pipe::SplicePipe;

/// `ioengine=splice`
pub struct Splice {
    fds: Descriptors,
    pipe: SplicePipe,
}

impl Splice {
    /// Runs a transfer: bytes moved, or a negated errno if nothing moved.
    fn transfer(&mut self, request: &Request) -> i64 {
        let fd = self.fds.of(request.file);
        // SAFETY: by the contract of Request, the buffer is valid for `len` bytes, and nobody else uses it.
        let (moved, error) = unsafe {
            match request.op {
                Op::Read => self.pipe.read(fd, request),
                _ => self.pipe.write(fd, request),
            }
        };
        let Some(error) = error else { return moved.cast_signed() };
        // The rest of a failed piece in the pipe must not reach another request.
        match self.pipe.discard_contents() {
            Ok(()) if moved > 0 => moved.cast_signed(),
            Ok(()) => -i64::from(error as i32),
            Err(errno) => -i64::from(errno as i32),
        }
    }
}

impl Engine for Splice {
    fn open(_spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        let pipe = SplicePipe::new().map_err(|errno| {
            EngineError::new("pipe", errno)
                .hint("splice needs two file descriptors of each job: raise ulimit -n")
        })?;
        Ok(Splice { fds: Descriptors::default(), pipe })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.fds.attach(files);
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.fds.attach_one(index, file);
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        Submit::Done(match request.op {
            Op::Read | Op::Write => self.transfer(request),
            Op::Trim | Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => {
                sync_ops::run(self.fds.of(request.file), request)
            }
        })
    }
}

#[cfg(test)]
mod tests;
