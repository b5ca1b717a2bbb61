//! Runs the requests of one job as tasks of the runtime.

use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd as _, RawFd};
use std::rc::Rc;

use ferrio_engine::{Completion, FileSet, Op, OpenFile, Request};
use tokio_uring::buf::{IoBuf, IoBufMut};
use tokio_uring::fs::File;

use crate::completion_queue::CompletionQueue;
use crate::stall_detector;

/// Files, queued requests and the tasks in flight.
pub(crate) struct Tasks {
    /// `None` for a file without a region, which no request uses.
    files: Vec<Option<Rc<File>>>,
    borrowed: BorrowedFiles,
    /// Accepted requests without a task.
    queue: Vec<Request>,
    /// Completions of ended tasks.
    finished: Rc<CompletionQueue>,
    /// Tasks spawned whose completion was not taken yet.
    in_flight: usize,
}

impl Tasks {
    /// Creates room for `iodepth` requests.
    pub(crate) fn new(iodepth: usize) -> Self {
        Tasks {
            files: Vec::new(),
            borrowed: BorrowedFiles::default(),
            queue: Vec::with_capacity(iodepth),
            finished: Rc::new(CompletionQueue::new(iodepth)),
            in_flight: 0,
        }
    }

    /// Replaces all files.
    pub(crate) fn attach(&mut self, files: &FileSet) {
        self.files = files.files.iter().map(|file| self.borrowed.file(file)).collect();
    }

    /// Replaces the file with this index.
    pub(crate) fn attach_one(&mut self, index: usize, file: &OpenFile) {
        self.files[index] = self.borrowed.file(file);
    }

    /// The descriptor of the file with this index.
    pub(crate) fn raw_fd(&self, file: u32) -> RawFd {
        self.files[file as usize].as_ref().map_or(-1, |file| file.as_raw_fd())
    }

    /// Number of requests without a task.
    #[inline]
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Number of tasks whose completion was not taken.
    #[inline]
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    #[inline]
    pub(crate) fn queue(&mut self, request: &Request) {
        self.queue.push(*request);
    }

    /// Spawns a task for every queued request; returns how many. Call only inside the runtime.
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

    /// True if fewer than `min` completions are available and more can come, or, for `min` 0, if none is available.
    #[inline]
    pub(crate) fn must_run_for(&self, min: u32) -> bool {
        let pending = self.queue.len() + self.in_flight;
        self.finished.len() < pending.min(min.max(1) as usize)
    }

    /// Runs the runtime until `min` completions are available, or as many as can come. Call only inside the runtime.
    pub(crate) async fn run(&self, min: u32) {
        if min > 0 {
            return self.finished.wait(self.in_flight.min(min as usize)).await;
        }
        // Awaiting an operation that completes at once is the only way to make the runtime submit new requests and collect completions
        // without waiting for I/O. If it fails, there is nothing to collect.
        self.finished.wait_for(tokio_uring::no_op()).await;
    }

    /// Starts a timer that detects when the kernel takes no more requests. Call only inside the runtime.
    pub(crate) fn watch(&self) -> std::io::Result<()> {
        stall_detector::spawn(Rc::clone(&self.finished))
    }

    /// True once the kernel takes no more requests.
    #[inline]
    pub(crate) fn is_broken(&self) -> bool {
        self.finished.is_broken_off()
    }

    /// Moves at most `max` completions to `done`, oldest first.
    #[inline]
    pub(crate) fn take(&mut self, max: u32, done: &mut Vec<Completion>) {
        self.in_flight -= self.finished.take(max as usize, done);
    }

    /// Discards queued requests and waits for all tasks. Call only inside the runtime.
    pub(crate) async fn finish(&mut self) {
        self.queue.clear();
        self.finished.wait(self.in_flight).await;
    }
}

/// The runtime's files by descriptor. Dropping one would close a descriptor that the job owns, and hide the error of that, so they are
/// leaked: at most one per descriptor.
#[derive(Default)]
struct BorrowedFiles(ManuallyDrop<HashMap<RawFd, Rc<File>>>);

impl BorrowedFiles {
    fn file(&mut self, file: &OpenFile) -> Option<Rc<File>> {
        let number = file.fd.as_ref()?.as_raw_fd();
        let file = self.0.entry(number).or_insert_with(|| {
            // SAFETY: the file is never dropped, so it closes nothing. The job keeps a descriptor open until all its requests have ended,
            // and after a failure until this engine is dropped.
            Rc::new(unsafe { File::from_raw_fd(number) })
        });
        Some(Rc::clone(file))
    }
}

/// Performs one I/O: bytes moved, or a negated errno.
async fn perform(file: &File, request: &Request) -> i64 {
    let outcome = match request.op {
        Op::Read => file.read_at(SlotBuffer(*request), request.offset).await.0,
        Op::Write => file.write_at(SlotBuffer(*request), request.offset).submit().await.0,
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

/// A request's buffer in the form that the runtime requires: an owned value that points to memory at a fixed address. Owns nothing. Only
/// [`perform`] creates it.
struct SlotBuffer(Request);

// SAFETY: the address is stored, not computed from the address of the Slot, so it stays the same when the Slot moves. By the contract of
// Request the bytes are initialised and nothing else touches them until the completion is reaped, which is after the runtime returned the
// Slot; the worker owns them longer than the engine, whose destructor waits for every task.
unsafe impl IoBuf for SlotBuffer {
    fn stable_ptr(&self) -> *const u8 {
        self.0.buffer
    }

    fn bytes_init(&self) -> usize {
        self.0.len as usize
    }

    fn bytes_total(&self) -> usize {
        self.0.len as usize
    }
}

// SAFETY: as above.
unsafe impl IoBufMut for SlotBuffer {
    fn stable_mut_ptr(&mut self) -> *mut u8 {
        self.0.buffer
    }

    /// All bytes are initialised from the start.
    unsafe fn set_init(&mut self, _count: usize) {}
}
