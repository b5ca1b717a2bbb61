//! The requests of one job as tasks of the runtime: from the queue to the completion.

use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;

use ferrio_engine::{Completion, EngineError, FileSet, Op, OpenFile, Request};
use tokio_uring::fs::File;

use crate::finished::Finished;
use crate::slot::Slot;

/// Files, queued requests and the tasks in flight.
pub(crate) struct Tasks {
    /// Duplicates of the job's descriptors: the runtime closes what it is given.
    /// `None` for a file without a region, which no request names.
    files: Vec<Option<Rc<File>>>,
    /// Accepted, no task yet.
    queue: Vec<Request>,
    /// Where tasks leave their completion.
    finished: Rc<Finished>,
    /// Tasks spawned whose completion was not taken yet.
    in_flight: usize,
}

impl Tasks {
    /// Room for `iodepth` requests.
    pub(crate) fn new(iodepth: usize) -> Self {
        Tasks {
            files: Vec::new(),
            queue: Vec::with_capacity(iodepth),
            finished: Rc::new(Finished::new(iodepth)),
            in_flight: 0,
        }
    }

    /// Uses these files from now on.
    pub(crate) fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.files = files.files.iter().map(duplicate).collect::<Result<_, EngineError>>()?;
        Ok(())
    }

    /// Uses this file under an index from now on.
    pub(crate) fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.files[index] = duplicate(file)?;
        Ok(())
    }

    /// Descriptor of the file with this index.
    pub(crate) fn raw_fd(&self, file: u32) -> RawFd {
        self.files[file as usize].as_ref().map_or(-1, |file| file.as_raw_fd())
    }

    /// Requests without a task.
    #[inline]
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Tasks whose completion was not taken.
    #[inline]
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Accepts a request.
    #[inline]
    pub(crate) fn queue(&mut self, request: &Request) {
        self.queue.push(*request);
    }

    /// Makes a task of every queued request; how many. Only inside the runtime.
    pub(crate) fn spawn(&mut self) -> u32 {
        let count = self.queue.len();
        for request in self.queue.drain(..) {
            let file = self.files[request.file as usize].clone();
            let finished = Rc::clone(&self.finished);
            tokio_uring::spawn(async move {
                let result = match file {
                    Some(file) => perform(&file, &request).await,
                    None => -i64::from(libc::EBADF),
                };
                finished.push(Completion { unit: request.unit, result });
            });
        }
        self.in_flight += count;
        count as u32
    }

    /// True when fewer than `min` completions are there but more can come, or none is known of when just polling.
    #[inline]
    pub(crate) fn must_run_for(&self, min: u32) -> bool {
        let pending = self.queue.len() + self.in_flight;
        self.finished.len() < pending.min(min.max(1) as usize)
    }

    /// Lets the runtime work until `min` completions are there, or all that can come. Only inside the runtime.
    pub(crate) async fn run(&self, min: u32) {
        if min > 0 {
            return self.finished.wait(self.in_flight.min(min as usize)).await;
        }
        // Awaiting an operation that completes at once is the only way to make the runtime submit new requests and collect
        // completions without waiting for any I/O. If it fails, there is nothing to collect.
        let _ = tokio_uring::no_op().await;
    }

    /// Moves at most `max` completions to `done`, oldest first.
    #[inline]
    pub(crate) fn take(&mut self, max: u32, done: &mut Vec<Completion>) {
        self.in_flight -= self.finished.take(max as usize, done);
    }

    /// Forgets what is queued and waits for all tasks. Only inside the runtime.
    pub(crate) async fn finish(&mut self) {
        self.queue.clear();
        self.finished.wait(self.in_flight).await;
    }
}

/// A file of the runtime with a descriptor of its own.
fn duplicate(file: &OpenFile) -> Result<Option<Rc<File>>, EngineError> {
    let Some(fd) = &file.fd else { return Ok(None) };
    let own = fd.try_clone().map_err(|e| {
        EngineError::new("dup", e)
            .hint("the tokio_uring engine needs two descriptors per file: raise ulimit -n or set openfiles")
    })?;
    Ok(Some(Rc::new(File::from_std(own.into()))))
}

/// One I/O: bytes moved, or a negated errno.
async fn perform(file: &File, request: &Request) -> i64 {
    // SAFETY: the buffer is valid until the completion is reaped, by the contract of Request, which is after the runtime gave it
    // back; the worker owns it longer than the engine, whose destructor waits for every task.
    let slot = unsafe { Slot::new(request) };
    let outcome = match request.op {
        Op::Read => file.read_at(slot, request.offset).await.0,
        Op::Write => file.write_at(slot, request.offset).submit().await.0,
        Op::Fsync => file.sync_all().await.map(|()| 0),
        Op::Fdatasync => file.sync_data().await.map(|()| 0),
        // The engine runs these without a task.
        Op::Trim | Op::SyncFileRange(_) => return -i64::from(libc::EINVAL),
    };
    match outcome {
        // The kernel moves at most 2 GiB at once.
        Ok(moved) => moved as i64,
        Err(e) => -i64::from(e.raw_os_error().unwrap_or(libc::EIO)),
    }
}
