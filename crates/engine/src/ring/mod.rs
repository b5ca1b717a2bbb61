//! An io_uring as engines use it: set up with the best flags that the kernel accepts; submits batches and takes completions with as
//! few io_uring_enter(2) calls as possible. Shared by the io_uring engine and by libaio's io_uring backend.
//!
//! Cost model: a submission writes one 64-byte entry; a batch is one system call, which also runs deferred completion work, so
//! that I/O the kernel completed while submitting is reaped without a second call.

mod entries;
mod setup;

pub use entries::{Entries, Style};
pub use setup::{Setup, refused};

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use ferrio_machine::Interrupted;
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, Submitter, cqueue, squeue};

use crate::{Completion, EngineError, syscall};

/// Looks at the completion queue of a ring with a submission thread before giving the CPU away, in case that thread has no other: some
/// 100 us. Nothing sleeps in the kernel: who polls wants to know at once.
const SPINS: u32 = 1 << 12;

/// A ring and the count of what it owns. Its entries have the usual size unless commands need more room.
pub struct Ring<S = squeue::Entry, C = cqueue::Entry>
where
    S: squeue::EntryMarker,
    C: cqueue::EntryMarker,
{
    ring: IoUring<S, C>,
    /// Index given to io_uring_enter(2), or the descriptor when the kernel registers none.
    enter_fd: i32,
    /// Flags of every io_uring_enter(2).
    enter_flags: u32,
    /// True when `enter_fd` is an index to give back.
    registered: bool,
    /// True when a kernel thread takes entries off the submission queue.
    sqpoll: bool,
    /// True when the ring itself shows that an io_uring_enter(2) would bring completions.
    shows_work: bool,
    /// [`Setup::unregisters`]
    unregisters: bool,
    /// Files are registered.
    has_files: bool,
    /// Buffers are registered.
    has_buffers: bool,
    /// Entries pushed and not submitted to the kernel yet.
    unsubmitted: u32,
    /// Entries handed over while reaping, not yet part of what [`Ring::submit`] returned.
    unreported: u32,
    /// Entries pushed whose completion was not reaped yet.
    in_flight: u32,
}

impl<S, C> Ring<S, C>
where
    S: squeue::EntryMarker,
    C: cqueue::EntryMarker,
{
    /// Makes the ring, trying fewer and fewer of the newer flags while the kernel refuses them.
    ///
    /// # Errors
    /// io_uring_setup(2)'s error as `io_queue_init`, with a hint for the usual reasons.
    pub fn new(setup: &Setup) -> Result<Self, EngineError> {
        let (ring, shows_work) = setup.build()?;
        let no_iowait =
            if ring.params().is_feature_no_iowait() { EnterFlags::NO_IOWAIT } else { EnterFlags::empty() };
        let index = setup::register_ring_fd(ring.as_raw_fd());
        let registered = if index.is_some() { EnterFlags::REGISTERED_RING } else { EnterFlags::empty() };
        Ok(Ring {
            enter_fd: index.unwrap_or_else(|| ring.as_raw_fd()),
            enter_flags: (no_iowait | registered).bits(),
            registered: index.is_some(),
            sqpoll: ring.params().is_setup_sqpoll(),
            // A polled ring has nothing to show: the kernel looks at the device when it is asked.
            shows_work: shows_work && !ring.params().is_setup_iopoll(),
            unregisters: setup.unregisters,
            has_files: false,
            has_buffers: false,
            unsubmitted: 0,
            unreported: 0,
            in_flight: 0,
            ring,
        })
    }

    /// For registrations.
    #[must_use]
    pub fn submitter(&self) -> Submitter<'_> {
        self.ring.submitter()
    }

    /// Registers these descriptors in place of those that are registered; -1 is a place without a file.
    ///
    /// # Errors
    /// io_uring_register(2)'s error, with the name of the call. Then none is registered.
    pub fn register_files(&mut self, files: &[RawFd]) -> Result<(), EngineError> {
        if std::mem::take(&mut self.has_files) {
            let answer = self.ring.submitter().unregister_files();
            answer.map_err(|e| EngineError::new("io_uring_unregister_files", e))?;
        }
        let answer = self.ring.submitter().register_files(files);
        self.has_files = answer.is_ok();
        answer.map_err(|e| EngineError::new("io_uring_register_files", e))
    }

    /// Registers these buffers.
    ///
    /// # Errors
    /// io_uring_register(2)'s error, with the name of the call.
    ///
    /// # Safety
    /// The memory outlives the ring.
    pub unsafe fn register_buffers(&mut self, buffers: &[libc::iovec]) -> Result<(), EngineError> {
        // SAFETY: the caller's promise.
        let answer = unsafe { self.ring.submitter().register_buffers(buffers) };
        self.has_buffers = answer.is_ok();
        answer.map_err(|e| EngineError::new("io_uring_register_buffers", e))
    }

    /// Appends an entry to the submission queue; false when there is no room. A submission thread may start it at once, else it
    /// waits for [`Ring::submit`].
    ///
    /// # Safety
    /// Memory that the entry points to must stay valid until its completion is reaped or the ring is dropped.
    #[inline]
    pub unsafe fn push(&mut self, entry: &S) -> bool {
        // SAFETY: the caller keeps the memory valid, and Drop waits for every completion.
        let room = unsafe { self.ring.submission().push(entry) }.is_ok();
        self.unsubmitted += u32::from(room);
        self.in_flight += u32::from(room);
        room
    }

    /// Hands all pushed entries to the kernel; returns how many it took since the last call. Fewer than pushed only when the
    /// kernel is out of requests while others are in flight: reaping makes room.
    ///
    /// # Errors
    /// io_uring_enter(2)'s error; EAGAIN and EBUSY only when nothing is in flight that could be reaped.
    #[inline]
    pub fn submit(&mut self) -> io::Result<u32> {
        if self.unsubmitted > 0 {
            self.hand_over(0)?;
        }
        Ok(std::mem::take(&mut self.unreported))
    }

    /// Appends completions to `done`: at least `min` (waiting for them, as far as that many are in flight), at most `max`.
    ///
    /// # Errors
    /// io_uring_enter(2)'s error.
    #[inline]
    pub fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let taken = self.take(max, done);
        if taken >= min.max(1) || self.in_flight == 0 {
            return Ok(());
        }
        if min == 0 && self.shows_work && self.unsubmitted == 0 && !self.has_work() {
            // Who polls comes again at once.
            std::hint::spin_loop();
            return Ok(());
        }
        self.wait(min, max, taken, done)
    }

    /// Appends completions to `done`, at most `max`. When there is none yet: waits for the first one, at most for `timeout`. A polled
    /// ring has nothing to sleep on and answers at once. False when the kernel is too old to wait like that (before Linux 5.11).
    ///
    /// # Errors
    /// io_uring_enter(2)'s error.
    pub fn reap_within(
        &mut self,
        timeout: Duration,
        max: u32,
        done: &mut Vec<Completion>,
    ) -> io::Result<bool> {
        if self.take(max, done) > 0 || self.in_flight == 0 {
            return Ok(true);
        }
        if self.unsubmitted > 0 || self.ring.params().is_setup_iopoll() {
            return self.wait(0, max, 0, done).map(|()| true);
        }
        if !self.ring.params().is_feature_ext_arg() {
            return Ok(false);
        }
        let limit = Timespec::from(timeout);
        let answer = self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&limit));
        match answer.map_err(|error| (error.raw_os_error(), error)) {
            Ok(_) | Err((Some(libc::ETIME | libc::EINTR), _)) => {}
            Err((_, error)) => return Err(error),
        }
        self.take(max, done);
        Ok(true)
    }

    /// True when completions wait for an io_uring_enter(2).
    fn has_work(&mut self) -> bool {
        let queue = self.ring.submission();
        queue.taskrun() || queue.cq_overflow()
    }

    fn wait(&mut self, min: u32, max: u32, mut taken: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let mut spins = SPINS;
        loop {
            let missing = min.saturating_sub(taken).min(self.in_flight);
            if self.unsubmitted > 0 {
                self.hand_over(missing)?;
            } else if self.sqpoll && spins > 0 {
                spins -= 1;
                std::hint::spin_loop();
            } else if self.sqpoll {
                spins = SPINS;
                std::thread::yield_now();
            } else {
                self.enter(0, missing, EnterFlags::GETEVENTS)?;
            }
            taken += self.take(max - taken, done);
            if taken >= min || self.in_flight == 0 {
                return Ok(());
            }
        }
    }

    /// Takes what is in the completion queue.
    #[inline]
    fn take(&mut self, max: u32, done: &mut Vec<Completion>) -> u32 {
        let before = done.len();
        done.extend(
            self.ring
                .completion()
                .take(max as usize)
                .map(|cqe| -> cqueue::Entry { cqe.into() })
                .map(|cqe| Completion { unit: cqe.user_data() as u32, result: i64::from(cqe.result()) }),
        );
        let taken = (done.len() - before) as u32;
        self.in_flight -= taken;
        taken
    }

    /// Tells the kernel of all pushed entries. Without a submission thread: io_uring_enter(2) until it took them, the last call
    /// waits for `min` completions.
    fn hand_over(&mut self, min: u32) -> io::Result<()> {
        if self.sqpoll {
            return self.wake();
        }
        while self.unsubmitted > 0 {
            match self.enter(self.unsubmitted, min, EnterFlags::GETEVENTS) {
                Ok(n) if n > 0 => {
                    self.unsubmitted -= n;
                    self.unreported += n;
                }
                answer => {
                    let error = answer.err().unwrap_or_else(|| io::Error::from_raw_os_error(libc::EAGAIN));
                    let busy = matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EBUSY));
                    if !busy || self.in_flight == self.unsubmitted {
                        return Err(error);
                    }
                    // Out of requests, or completions the queue had no room for: wait for one if the caller waits at all.
                    self.enter(0, min.min(1), EnterFlags::GETEVENTS)?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// The submission thread sees pushed entries by itself, unless it went to sleep.
    fn wake(&mut self) -> io::Result<()> {
        if self.ring.submission().need_wakeup() {
            self.enter(self.unsubmitted, 0, EnterFlags::SQ_WAKEUP)?;
        }
        self.unreported += std::mem::take(&mut self.unsubmitted);
        Ok(())
    }

    /// io_uring_enter(2), repeated when a signal interrupts it.
    fn enter(&self, to_submit: u32, min_complete: u32, flags: EnterFlags) -> io::Result<u32> {
        let flags = self.enter_flags | flags.bits();
        let mut interrupted = Interrupted::default();
        loop {
            let ring = self.enter_fd as usize;
            let arguments = [ring, to_submit as usize, min_complete as usize, flags as usize, 0, 0];
            // SAFETY: the ring is alive, the signal mask is absent, and what the entries point to is valid by the contract of
            // `push`.
            let answer = unsafe { syscall::call(libc::SYS_io_uring_enter, arguments) };
            if answer >= 0 {
                return Ok(answer as u32);
            }
            let error = io::Error::from_raw_os_error(-answer as i32);
            if error.kind() != io::ErrorKind::Interrupted || !interrupted.should_retry() {
                return Err(error);
            }
        }
    }
}

impl<S, C> Drop for Ring<S, C>
where
    S: squeue::EntryMarker,
    C: cqueue::EntryMarker,
{
    /// Waits for whatever the kernel still owns: it may write into buffers that are freed next.
    fn drop(&mut self) {
        let mut done = Vec::with_capacity(self.in_flight as usize);
        if !self.sqpoll {
            // The kernel never saw these.
            self.in_flight -= self.unsubmitted;
            self.unsubmitted = 0;
        }
        while self.in_flight > 0 {
            done.clear();
            if self.reap(self.in_flight, self.in_flight, &mut done).is_err() {
                break;
            }
        }
        if self.unregisters && self.has_files {
            let _ = self.ring.submitter().unregister_files();
        }
        if self.unregisters && self.has_buffers {
            let _ = self.ring.submitter().unregister_buffers();
        }
        if self.registered {
            setup::unregister_ring_fd(self.ring.as_raw_fd(), self.enter_fd);
        }
    }
}
