//! The thread pool, with queued requests and unreaped completions.
//!
//! One lock protects everything. A thread takes it once per request, to deliver one completion and take the next request. A thread sleeps
//! only when there is nothing to start, and the worker is woken once, when as many requests have ended as it waits for.

use std::os::fd::RawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use ferrio_engine::{Completion, Op, Request, sync_ops};
use ferrio_stats::ThreadUsage;

use crate::request_queues::RequestQueues;

/// A thread pool. Threads inherit CPUs, nice value and I/O priority from the thread that starts them, and end on drop.
pub(crate) struct Pool {
    shared: Arc<PoolCore>,
    threads: Vec<JoinHandle<()>>,
}

struct PoolCore {
    state: Mutex<PoolState>,
    /// Signalled when there is a request to start or a question to answer, or when the threads must end.
    work: Condvar,
    /// Signalled when the condition that the worker waits for holds.
    progress: Condvar,
}

struct PoolState {
    waiting: RequestQueues,
    descriptors: Vec<RawFd>,
    /// Number of idle threads.
    idle: usize,
    /// Ended and not reaped.
    done: Vec<Completion>,
    /// Number of ended requests that wakes the worker; 0 when it does not wait.
    wanted: usize,
    /// Number of requests for the threads' usage so far.
    questions: u64,
    /// Number of threads that have not answered the last request for usage; the answers are added up in `usage`.
    unanswered: usize,
    usage: ThreadUsage,
    must_end: bool,
}

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    /// EAGAIN when there are too many threads.
    pub(crate) fn new(job: u32, threads: usize, iodepth: u32) -> std::io::Result<Self> {
        let state = PoolState {
            waiting: RequestQueues::new(iodepth),
            descriptors: Vec::new(),
            idle: 0,
            done: Vec::with_capacity(iodepth as usize),
            wanted: 0,
            questions: 0,
            unanswered: 0,
            usage: ThreadUsage::default(),
            must_end: false,
        };
        let shared =
            Arc::new(PoolCore { state: Mutex::new(state), work: Condvar::new(), progress: Condvar::new() });
        // If a thread cannot be started, dropping the pool ends the others.
        let mut pool = Pool { shared, threads: Vec::with_capacity(threads) };
        for number in 0..threads {
            let shared = Arc::clone(&pool.shared);
            let name = format!("{job}-aio-{number}");
            pool.threads.push(Builder::new().name(name).spawn(move || shared.serve())?);
        }
        Ok(pool)
    }

    /// Replaces all descriptors. Nothing may be in flight.
    pub(crate) fn use_descriptors(&mut self, descriptors: Vec<RawFd>) {
        let mut state = self.shared.lock();
        state.waiting.set_files(descriptors.len());
        state.descriptors = descriptors;
    }

    /// Replaces the descriptor of file `index`. Nothing of this file may be in flight.
    pub(crate) fn use_descriptor(&mut self, index: usize, descriptor: RawFd) {
        self.shared.lock().descriptors[index] = descriptor;
    }

    pub(crate) fn descriptor(&self, file: u32) -> RawFd {
        self.shared.lock().descriptors[file as usize]
    }

    /// Queues a request for the threads.
    ///
    /// # Safety
    /// The request's buffer must stay valid until its completion is taken or the pool is dropped.
    pub(crate) unsafe fn start(&mut self, request: &Request) {
        let mut state = self.shared.lock();
        let wake = state.waiting.push(*request) && state.idle > 0;
        drop(state);
        if wake {
            self.shared.work.notify_one();
        }
    }

    /// Waits until `min` requests have ended, and moves up to `max` completions to `done`; returns how many.
    pub(crate) fn take(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> u32 {
        let mut state = self.shared.lock();
        state.wanted = min as usize;
        while state.done.len() < min as usize {
            state = self.shared.progress.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.take_done(max, done)
    }

    /// Waits until a request has ended, at most for `timeout`, and moves up to `max` completions to `done`; returns how many.
    pub(crate) fn take_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> u32 {
        let began = Instant::now();
        let mut state = self.shared.lock();
        state.wanted = 1;
        while state.done.is_empty() {
            let Some(left) = timeout.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) else {
                break;
            };
            state = self.shared.progress.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.take_done(max, done)
    }

    #[cfg(test)]
    pub(crate) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Resources used by the threads so far.
    pub(crate) fn usage(&mut self) -> ThreadUsage {
        let mut state = self.shared.lock();
        state.questions += 1;
        state.unanswered = self.threads.len();
        state.usage = ThreadUsage::default();
        self.shared.work.notify_all();
        while state.unanswered > 0 {
            state = self.shared.progress.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.usage
    }
}

impl Drop for Pool {
    /// Waits for requests in progress, which use their buffers. Other requests do not start.
    fn drop(&mut self) {
        self.shared.lock().must_end = true;
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // Threads do not panic.
            let _ = thread.join();
        }
    }
}

impl PoolState {
    fn take_done(&mut self, max: u32, done: &mut Vec<Completion>) -> u32 {
        self.wanted = 0;
        let count = self.done.len().min(max as usize);
        done.extend(self.done.drain(..count));
        count as u32
    }
}

impl PoolCore {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Body of a thread.
    fn serve(&self) {
        let mut answered = 0;
        let mut state = self.lock();
        while !state.must_end {
            if answered < state.questions {
                answered = state.questions;
                state.usage.merge(&ThreadUsage::of_this_thread());
                state.unanswered -= 1;
                self.progress.notify_one();
            } else if let Some(request) = state.waiting.next() {
                let descriptor = state.descriptors[request.file as usize];
                drop(state);
                let result = run(descriptor, &request);
                state = self.lock();
                state.waiting.finish(request.file);
                state.done.push(Completion { unit: request.unit, result });
                if state.done.len() == state.wanted {
                    self.progress.notify_one();
                }
            } else {
                state.idle += 1;
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }
}

/// Runs one request: bytes moved, or a negated errno.
fn run(fd: RawFd, request: &Request) -> i64 {
    let call = match request.op {
        Op::Read => libc::SYS_pread64,
        Op::Write => libc::SYS_pwrite64,
        Op::Trim | Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => {
            return sync_ops::run(fd, &Request { op: Op::Fsync, ..*request });
        }
    };
    // SAFETY: the contract of Request: the buffer is valid for `len` bytes, and nobody else uses it.
    sync_ops::outcome(unsafe {
        libc::syscall(call, fd, request.buffer, request.len as usize, request.offset)
    })
}
