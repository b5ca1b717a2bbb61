//! The posixaio engine: does what the C library's aio_read(3), aio_write(3) and aio_fsync(3) do, without calling them.
//!
//! As in the C library, threads do the I/O, and the requests of one file run one after the other in the order of submission, so only a job
//! with several files uses more than one thread. Every kind of sync is an fsync, which covers all requests submitted before it. A trim
//! waits until nothing is in flight and runs in `submit`.

mod pool;
mod request_queues;

use std::io;
use std::time::Duration;

use ferrio_engine::{
    Buffers, Completion, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit, sync_ops,
};
use ferrio_job::JobSpec;
use ferrio_stats::ThreadUsage;
use pool::Pool;

/// Maximum number of threads of one job, as in the C library.
const MAX_THREADS: usize = 20;

/// `ioengine=posixaio`
pub struct PosixAio {
    pool: Pool,
    /// Requests submitted and not reaped.
    in_flight: u32,
    /// Requests submitted since the last flush.
    submitted: u32,
}

impl Engine for PosixAio {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        let iodepth = spec.depth.iodepth.max(1);
        let threads = spec.files.len().clamp(1, MAX_THREADS).min(iodepth as usize);
        let pool = Pool::new(spec.number, threads, iodepth).map_err(|e| {
            EngineError::new("pthread_create", e)
                .hint("posixaio needs a thread for each file that is in use, at most 20: start fewer jobs")
        })?;
        Ok(PosixAio { pool, in_flight: 0, submitted: 0 })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.pool.use_descriptors(files.files.iter().map(OpenFile::raw_fd).collect());
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.pool.use_descriptor(index, file.raw_fd());
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        if request.op == Op::Trim {
            if self.in_flight > 0 {
                return Submit::Full;
            }
            return Submit::Done(sync_ops::run(self.pool.descriptor(request.file), request));
        }
        // SAFETY: the buffer is valid until the completion is reaped, by the contract of Request, and the worker owns it longer than
        // this engine, whose pool waits for its threads when it is dropped.
        unsafe { self.pool.start(request) };
        self.in_flight += 1;
        self.submitted += 1;
        Submit::Queued
    }

    fn flush(&mut self) -> io::Result<u32> {
        Ok(std::mem::take(&mut self.submitted))
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        self.in_flight -= self.pool.take(min.min(self.in_flight), max, done);
        Ok(())
    }

    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        if self.in_flight > 0 {
            self.in_flight -= self.pool.take_within(timeout, max, done);
        }
        Ok(true)
    }

    fn usage(&mut self) -> ThreadUsage {
        self.pool.usage()
    }
}

#[cfg(test)]
mod tests;
