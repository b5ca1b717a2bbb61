//! The tokio_uring engine, which fio does not have: the job's I/O goes through the tokio-uring runtime, as in a service built on it. The
//! difference from `ioengine=io_uring` with the same options is the cost of the runtime.
//!
//! Cost model: as in such a service, every I/O is a task, which costs an allocation, two polls and two wake-ups. Tasks that become ready
//! together share one io_uring_enter(2) and one epoll_wait(2). `flush` spawns the tasks, so slat is the time to spawn. The runtime submits
//! requests when it has no task left to poll and goes to sleep, which is in `reap`: clat includes its scheduling. Unlike a service, the
//! engine enters the runtime once per `flush` and once per `reap` (with an epoll_wait(2) that does not sleep). This costs about a
//! microsecond, which the I/Os of a batch share, so the figures of batches are closest to a service's. The ring has the runtime's defaults
//! (no cooperative task work, nothing registered), and twice the entries that `iodepth` needs.

mod completion_queue;
mod stall_detector;
mod tasks;

use ferrio_engine::ring::setup_error;
use ferrio_engine::{
    BufferMemory, Buffers, Completion, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit, sync_ops,
};
use ferrio_job::JobSpec;
use ferrio_machine::open_file_limits;
use std::mem::ManuallyDrop;
use tokio_uring::Runtime;

use crate::tasks::Tasks;

/// Limit of open files from which the engine uses one more descriptor.
const MIN_DESCRIPTORS: u64 = 64;

/// Entries of the longest ring that the kernel creates.
const MAX_ENTRIES: u32 = 32768;

/// `ioengine=tokio_uring`
pub struct TokioUring {
    runtime: ManuallyDrop<Runtime>,
    tasks: Tasks,
    /// The kernel may own buffers for longer than the engine exists.
    buffers: BufferMemory,
    /// Maximum number of I/Os queued or in flight.
    iodepth: usize,
    /// Tasks spawned while reaping and not yet counted in a result of `flush`.
    unreported: u32,
}

impl Engine for TokioUring {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        let iodepth = spec.depth.iodepth;
        let entries = iodepth.checked_next_power_of_two().unwrap_or(u32::MAX);
        // The runtime panics if the ring is full and the kernel takes nothing: leave room for the probe that detects this.
        let entries = if entries < MAX_ENTRIES { entries * 2 } else { entries };
        let runtime = Runtime::new(tokio_uring::builder().entries(entries)).map_err(setup_error)?;
        let iodepth = iodepth as usize;
        let tasks = Tasks::new(iodepth);
        // Without a timer, a kernel that refuses requests goes unnoticed. If descriptors are short, files need them more.
        if open_file_limits().is_none_or(|(soft, _)| soft >= MIN_DESCRIPTORS) {
            let _ = runtime.block_on(async { tasks.watch() });
        }
        let runtime = ManuallyDrop::new(runtime);
        Ok(TokioUring { runtime, tasks, buffers: buffers.memory(), iodepth, unreported: 0 })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.tasks.attach(files);
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.tasks.attach_one(index, file);
        Ok(())
    }

    /// Queues requests that the runtime supports. sync_file_range(2) and trims run here.
    #[inline]
    fn submit(&mut self, request: &Request) -> Submit {
        if matches!(request.op, Op::Trim | Op::SyncFileRange(_)) {
            return Submit::Done(sync_ops::run(self.tasks.raw_fd(request.file), request));
        }
        if self.tasks.queued() + self.tasks.in_flight() >= self.iodepth {
            return Submit::Full;
        }
        self.tasks.queue(request);
        Submit::Queued
    }

    #[inline]
    fn flush(&mut self) -> std::io::Result<u32> {
        let Self { runtime, tasks, .. } = self;
        let spawned = if tasks.queued() > 0 { runtime.block_on(async { tasks.spawn() }) } else { 0 };
        Ok(spawned + std::mem::take(&mut self.unreported))
    }

    #[inline]
    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        let Self { runtime, tasks, unreported, .. } = self;
        if tasks.must_run_for(min) {
            *unreported += runtime.block_on(async {
                let spawned = tasks.spawn();
                tasks.run(min).await;
                spawned
            });
        }
        if tasks.is_broken() {
            // The runtime ignored the error of the call.
            return Err(std::io::Error::from_raw_os_error(libc::EIO));
        }
        tasks.take(max, done);
        Ok(())
    }
}

impl Drop for TokioUring {
    /// Waits for all requests that the kernel still owns, as it may write into buffers that are freed next. Requests that were never
    /// flushed do not run.
    ///
    /// If the kernel takes no more requests, it is unknown what it owns: buffers and runtime are leaked, so that the kernel cannot write
    /// into memory used otherwise.
    fn drop(&mut self) {
        self.runtime.block_on(self.tasks.finish());
        if self.tasks.is_broken() {
            std::mem::forget(self.buffers.clone());
        } else {
            // SAFETY: nothing uses the runtime after this.
            unsafe { ManuallyDrop::drop(&mut self.runtime) }
        }
    }
}

#[cfg(test)]
mod tests;
