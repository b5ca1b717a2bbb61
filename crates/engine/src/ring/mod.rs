//! An io_uring for engines: set up with the best flags that the kernel accepts. Submits batches and reaps completions with as few
//! io_uring_enter(2) calls as possible. Shared by the io_uring engine and libaio's io_uring backend.
//!
//! Cost model: a submission writes one 64-byte entry. A batch is one system call, which also runs deferred completion work, so that I/O the
//! kernel completed while submitting is reaped without a second call.

mod entries;
mod setup;

pub use entries::{Addressing, EntryBuilder};
pub use setup::{RingSetup, setup_error};

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use ferrio_kernel::syscall;
use ferrio_machine::InterruptionLimit;
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, Submitter, cqueue, squeue};

use crate::{Completion, EngineError};

/// Number of times to poll the completion queue of a ring with a submission thread before yielding the CPU, which that thread may need;
/// about 100 us. The reaper never sleeps in the kernel: a submission thread is chosen for low latency.
const MAX_SPINS: u32 = 1 << 12;

/// A ring with counts of the requests it owns. Entries have the usual size unless commands need more room.
pub struct Ring<S = squeue::Entry, C = cqueue::Entry>
where
    S: squeue::EntryMarker,
    C: cqueue::EntryMarker,
{
    ring: IoUring<S, C>,
    /// Index passed to io_uring_enter(2), or the descriptor if the kernel registers none.
    enter_fd: i32,
    /// Flags of every io_uring_enter(2).
    enter_flags: u32,
    /// True if `enter_fd` is an index to unregister.
    registered: bool,
    /// True if a kernel thread takes entries off the submission queue.
    sqpoll: bool,
    /// True if the ring's flags show that an io_uring_enter(2) would bring completions.
    flags_show_completions: bool,
    /// True if dropping the ring unregisters files and buffers first, see [`RingSetup::unregisters_on_drop`].
    unregisters_on_drop: bool,
    /// True if files are registered.
    has_files: bool,
    /// True if buffers are registered.
    has_buffers: bool,
    /// Entries pushed and not yet submitted to the kernel.
    unsubmitted: u32,
    /// Entries submitted while reaping and not yet counted in a result of [`Ring::submit`].
    unreported: u32,
    /// Entries pushed whose completion was not reaped yet.
    in_flight: u32,
}

impl<S, C> Ring<S, C>
where
    S: squeue::EntryMarker,
    C: cqueue::EntryMarker,
{
    /// Creates the ring, dropping the newer flags one by one while the kernel refuses them.
    ///
    /// # Errors
    /// io_uring_setup(2)'s error, reported as `io_queue_init`, with a hint for the usual reasons.
    pub fn new(setup: &RingSetup) -> Result<Self, EngineError> {
        let (ring, flags_show_completions) = setup.build()?;
        let no_iowait =
            if ring.params().is_feature_no_iowait() { EnterFlags::NO_IOWAIT } else { EnterFlags::empty() };
        let index = setup::register_ring_fd(ring.as_raw_fd());
        let registered = if index.is_some() { EnterFlags::REGISTERED_RING } else { EnterFlags::empty() };
        Ok(Ring {
            enter_fd: index.unwrap_or_else(|| ring.as_raw_fd()),
            enter_flags: (no_iowait | registered).bits(),
            registered: index.is_some(),
            sqpoll: ring.params().is_setup_sqpoll(),
            // A polled ring shows nothing: the kernel checks the device when asked.
            flags_show_completions: flags_show_completions && !ring.params().is_setup_iopoll(),
            unregisters_on_drop: setup.unregisters_on_drop,
            has_files: false,
            has_buffers: false,
            unsubmitted: 0,
            unreported: 0,
            in_flight: 0,
            ring,
        })
    }

    /// Gives access to io_uring_register(2).
    #[must_use]
    pub fn submitter(&self) -> Submitter<'_> {
        self.ring.submitter()
    }

    /// Registers these descriptors in place of those registered before; -1 stands for no file.
    ///
    /// # Errors
    /// io_uring_register(2)'s error, with the name of the call. No file is registered afterwards.
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
    /// The memory must outlive the ring.
    pub unsafe fn register_buffers(&mut self, buffers: &[libc::iovec]) -> Result<(), EngineError> {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { self.ring.submitter().register_buffers(buffers) };
        self.has_buffers = answer.is_ok();
        answer.map_err(|e| EngineError::new("io_uring_register_buffers", e))
    }

    /// Appends an entry to the submission queue; false if there is no room. A submission thread may start it at once, otherwise it waits
    /// for [`Ring::submit`].
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

    /// Submits all pushed entries; returns how many the kernel took since the last call. These are fewer than were pushed only if the
    /// kernel is out of requests while others are in flight; reaping frees some.
    ///
    /// # Errors
    /// io_uring_enter(2)'s error; EAGAIN and EBUSY only if nothing in flight could be reaped.
    #[inline]
    pub fn submit(&mut self) -> io::Result<u32> {
        if self.unsubmitted > 0 {
            self.hand_over(0)?;
        }
        Ok(std::mem::take(&mut self.unreported))
    }

    /// Appends completions to `done`: at least `min`, waiting for them if that many are in flight, and at most `max`.
    ///
    /// # Errors
    /// io_uring_enter(2)'s error.
    #[inline]
    pub fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let taken = self.take(max, done);
        if taken >= min.max(1) || self.in_flight == 0 {
            return Ok(());
        }
        if min == 0 && self.flags_show_completions && self.unsubmitted == 0 && !self.has_work() {
            // A polling caller calls again at once.
            std::hint::spin_loop();
            return Ok(());
        }
        self.wait(min, max, taken, done)
    }

    /// Appends up to `max` completions to `done`. If there is none yet, waits for the first one, at most for `timeout`. A polled ring
    /// cannot sleep and returns at once. Returns false if the kernel does not support this wait (before Linux 5.11).
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

    /// True if an io_uring_enter(2) would bring completions.
    fn has_work(&mut self) -> bool {
        let queue = self.ring.submission();
        queue.taskrun() || queue.cq_overflow()
    }

    fn wait(&mut self, min: u32, max: u32, mut taken: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let mut spins = MAX_SPINS;
        loop {
            let missing = min.saturating_sub(taken).min(self.in_flight);
            if self.unsubmitted > 0 {
                self.hand_over(missing)?;
            } else if self.sqpoll && spins > 0 {
                spins -= 1;
                std::hint::spin_loop();
            } else if self.sqpoll {
                spins = MAX_SPINS;
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

    /// Takes completions from the queue.
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

    /// Submits all pushed entries. Without a submission thread: calls io_uring_enter(2) until the kernel took them; the last call waits for
    /// `min` completions.
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
                    // Out of requests, or completions that the queue had no room for: wait for one if the caller waits at all.
                    self.enter(0, min.min(1), EnterFlags::GETEVENTS)?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Wakes the submission thread if it sleeps; awake, it sees pushed entries by itself.
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
        let mut interrupted = InterruptionLimit::default();
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
    /// Waits for everything that the kernel still owns: it may write into buffers that are freed next.
    fn drop(&mut self) {
        let mut done = Vec::with_capacity(self.in_flight as usize);
        if !self.sqpoll {
            // Entries that the kernel never saw.
            self.in_flight -= self.unsubmitted;
            self.unsubmitted = 0;
        }
        while self.in_flight > 0 {
            done.clear();
            if self.reap(self.in_flight, self.in_flight, &mut done).is_err() {
                break;
            }
        }
        if self.unregisters_on_drop && self.has_files {
            let _ = self.ring.submitter().unregister_files();
        }
        if self.unregisters_on_drop && self.has_buffers {
            let _ = self.ring.submitter().unregister_buffers();
        }
        if self.registered {
            setup::unregister_ring_fd(self.ring.as_raw_fd(), self.enter_fd);
        }
    }
}
