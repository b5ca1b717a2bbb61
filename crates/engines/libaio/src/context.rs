//! An AIO context with its requests: collected by `push`, submitted in one io_submit(2), reaped with io_getevents(2) or from the shared
//! completion ring.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use ferrio_engine::{Completion, EngineError, Op, Request};
use ferrio_machine::InterruptionLimit;

use crate::abi::{self, ContextId, FSYNC, IOCB_FLAG_IOPRIO, IoEvent, Iocb, PREAD, PREADV, PWRITE, PWRITEV};
use crate::user_ring::UserRing;

/// Number of times a submission is retried if the kernel lacks resources and nothing is in flight.
const MAX_RETRIES: u32 = 1000;
/// Time between two retries.
const RETRY_INTERVAL: Duration = Duration::from_micros(10);

/// Options of a context.
#[derive(Clone, Copy)]
pub(crate) struct AioOptions {
    /// RWF_* of reads.
    pub read_flags: u32,
    /// RWF_* of writes.
    pub write_flags: u32,
    /// Uses one segment per request instead of address and length.
    pub vectored: bool,
    /// Takes completions from the shared ring when enough are there.
    pub userspace_reap: bool,
    /// Never sleeps for completions when they can be taken from the shared ring.
    pub polling: bool,
    /// The thread's own priority, which requests need not carry.
    pub priority: u16,
}

/// A context for requests of units below `iodepth`.
pub(crate) struct AioContext {
    id: ContextId,
    options: AioOptions,
    read: u16,
    write: u16,
    ring: Option<UserRing>,
    /// Indexed by unit.
    iocbs: Box<[Iocb]>,
    /// Indexed by unit; empty unless vectored.
    segments: Box<[libc::iovec]>,
    /// Pushed and not submitted; never longer than its first allocation.
    pending: Vec<*mut Iocb>,
    /// Completions of requests that io_submit(2) refused.
    refused: Vec<Completion>,
    /// Requests submitted while reaping and not yet counted in a result of `submit`.
    unreported: u32,
    /// Submitted and not reaped.
    in_flight: u32,
    events: Box<[IoEvent]>,
}

impl AioContext {
    /// # Errors
    /// io_setup(2)'s error as `io_queue_init`.
    pub(crate) fn new(iodepth: u32, options: AioOptions) -> Result<Self, EngineError> {
        let depth = iodepth.max(1) as usize;
        let id = abi::io_setup(iodepth.max(1)).map_err(refused)?;
        let segments = if options.vectored { depth } else { 0 };
        let iocbs = (0..depth as u64).map(|unit| Iocb { data: unit, ..Iocb::default() }).collect();
        Ok(AioContext {
            id,
            options,
            read: if options.vectored { PREADV } else { PREAD },
            write: if options.vectored { PWRITEV } else { PWRITE },
            ring: if options.userspace_reap { UserRing::new(id) } else { None },
            iocbs,
            segments: vec![libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; segments]
                .into_boxed_slice(),
            pending: Vec::with_capacity(depth),
            refused: Vec::with_capacity(depth),
            unreported: 0,
            in_flight: 0,
            events: vec![IoEvent::default(); depth].into_boxed_slice(),
        })
    }

    /// Queues a request other than a trim; false if there is no room. Syncs of any kind become fsync.
    ///
    /// # Safety
    /// The request's buffer stays valid until its completion is reaped or the context is dropped.
    #[inline]
    pub(crate) unsafe fn push(&mut self, fd: RawFd, request: &Request) -> bool {
        let unit = request.unit as usize;
        if self.pending.len() == self.iocbs.len() {
            return false;
        }
        let iocb = &mut self.iocbs[unit];
        iocb.fd = fd.cast_unsigned();
        if request.op.moves_data() {
            (iocb.opcode, iocb.rw_flags) = match request.op {
                Op::Read => (self.read, self.options.read_flags),
                _ => (self.write, self.options.write_flags),
            };
            iocb.offset = request.offset.cast_signed();
            iocb.buffer = request.buffer as u64;
            iocb.length = request.len;
            let own = request.priority == self.options.priority;
            (iocb.priority, iocb.flags) = if own { (0, 0) } else { (request.priority, IOCB_FLAG_IOPRIO) };
            if let Some(segment) = self.segments.get_mut(unit) {
                *segment = libc::iovec { iov_base: request.buffer.cast(), iov_len: request.len as usize };
                iocb.buffer = std::ptr::from_mut(segment) as u64;
                iocb.length = 1;
            }
        } else {
            // The kernel refuses an fsync with any of the other fields set.
            *iocb = Iocb { data: iocb.data, fd: iocb.fd, opcode: FSYNC, ..Iocb::default() };
        }
        self.pending.push(iocb);
        true
    }

    /// Submits all pending requests; returns how many left the queue since the last call. A request that the kernel refuses completes with
    /// the error. If the kernel lacks resources while others are in flight, the rest stays queued: reaping frees some.
    ///
    /// # Errors
    /// EAGAIN or ENOMEM with nothing in flight.
    #[inline]
    pub(crate) fn submit(&mut self) -> io::Result<u32> {
        self.hand_over()?;
        Ok(std::mem::take(&mut self.unreported))
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let all = self.pending.len();
        let mut taken = 0;
        let mut attempts = 0;
        let mut interrupted = InterruptionLimit::default();
        while taken < all {
            // SAFETY: the pointers point to `iocbs`, which is never moved; the rest is guaranteed by `push`'s caller, and Drop waits for
            // all requests.
            let error = match unsafe { abi::io_submit(self.id, &self.pending[taken..]) } {
                Ok(count) => {
                    taken += count;
                    self.in_flight += count as u32;
                    continue;
                }
                Err(error) => error,
            };
            match error.raw_os_error() {
                Some(libc::EINTR) if interrupted.should_retry() => {}
                // No request of this context will end and free resources: give other processes time.
                Some(libc::EAGAIN | libc::ENOMEM)
                    if taken == 0
                        && self.in_flight == 0
                        && self.refused.is_empty()
                        && attempts < MAX_RETRIES =>
                {
                    attempts += 1;
                    ferrio_kernel::sleep(RETRY_INTERVAL);
                }
                Some(libc::EAGAIN | libc::ENOMEM) => {
                    self.pending.drain(..taken);
                    self.unreported += taken as u32;
                    return if self.in_flight > 0 || !self.refused.is_empty() { Ok(()) } else { Err(error) };
                }
                errno => {
                    // The context is valid, so the error is that of the first request.
                    // SAFETY: as above.
                    let unit = unsafe { (*self.pending[taken]).data } as u32;
                    self.refused.push(Completion { unit, result: -i64::from(errno.unwrap_or(libc::EIO)) });
                    taken += 1;
                }
            }
        }
        self.pending.clear();
        self.unreported += taken as u32;
        Ok(())
    }

    /// Appends completions to `done`: at least `min`, waiting for them if that many were queued, and at most `max`.
    ///
    /// # Errors
    /// io_getevents(2)'s error, or that of submitting pending requests.
    #[inline]
    pub(crate) fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let mut taken = self.take_refused(max, done);
        loop {
            if min.saturating_sub(taken) > self.in_flight && !self.pending.is_empty() {
                self.hand_over()?;
                taken += self.take_refused(max - taken, done);
            }
            if taken < max && self.in_flight > 0 {
                let missing = min.saturating_sub(taken).min(self.in_flight);
                taken += self.take_events(missing, max - taken, done)?;
            }
            let idle = self.in_flight == 0 && self.pending.is_empty() && self.refused.is_empty();
            if taken >= min || idle {
                return Ok(());
            }
        }
    }

    /// Appends up to `max` completions to `done`. If there is none yet, waits for the first one, at most for `timeout`.
    ///
    /// # Errors
    /// io_getevents(2)'s error.
    pub(crate) fn reap_within(
        &mut self,
        timeout: Duration,
        max: u32,
        done: &mut Vec<Completion>,
    ) -> io::Result<()> {
        if self.take_refused(max, done) > 0 || self.in_flight == 0 {
            return Ok(());
        }
        if self.take_events(0, max, done)? > 0 || self.options.polling {
            return Ok(());
        }
        let room = (max as usize).min(self.events.len());
        match abi::io_getevents_within(self.id, 1, &mut self.events[..room], timeout) {
            Ok(count) => self.keep(count, done),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Appends the first `count` events to `done`.
    #[inline]
    fn keep(&mut self, count: usize, done: &mut Vec<Completion>) {
        let completion = |event: &IoEvent| Completion { unit: event.data as u32, result: event.result };
        done.extend(self.events[..count].iter().map(completion));
        self.in_flight -= count as u32;
    }

    #[inline]
    fn take_refused(&mut self, max: u32, done: &mut Vec<Completion>) -> u32 {
        if self.refused.is_empty() {
            return 0;
        }
        let count = self.refused.len().min(max as usize);
        done.extend(self.refused.drain(..count));
        count as u32
    }

    #[inline]
    fn take_events(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<u32> {
        if let Some(ring) = &self.ring {
            let count = ring.take(min, max, done);
            self.in_flight -= count;
            if count > 0 || self.options.polling || min == 0 {
                std::hint::spin_loop();
                return Ok(count);
            }
        }
        let room = (max as usize).min(self.events.len());
        let mut interrupted = InterruptionLimit::default();
        loop {
            match abi::io_getevents(self.id, min as usize, &mut self.events[..room]) {
                Ok(count) => {
                    self.keep(count, done);
                    return Ok(count as u32);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted && interrupted.should_retry() => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for AioContext {
    fn drop(&mut self) {
        // Blocks until the kernel no longer uses any iocb or buffer.
        abi::io_destroy(self.id);
    }
}

fn refused(error: io::Error) -> EngineError {
    EngineError::new("io_queue_init", error).hint_for(|errno| match errno {
        libc::ENOSYS => Some("this kernel has no AIO: use libaio_backend=auto, or ioengine=io_uring"),
        libc::EAGAIN => Some(
            "the system-wide number of AIO requests is used up: raise /proc/sys/fs/aio-max-nr or lower iodepth",
        ),
        libc::EINVAL => Some("iodepth exceeds what one AIO context allows: lower it"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(vectored: bool) -> AioContext {
        let options = AioOptions {
            read_flags: 0,
            write_flags: 8,
            vectored,
            userspace_reap: true,
            polling: false,
            priority: 0x4002,
        };
        AioContext::new(2, options).unwrap()
    }

    fn request(op: Op) -> Request {
        Request {
            op,
            unit: 1,
            file: 0,
            len: 512,
            priority: 0x4002,
            offset: 1024,
            buffer: std::ptr::without_provenance_mut(4096),
        }
    }

    #[test]
    fn the_ring_of_this_kernel_can_be_read() {
        assert!(context(false).ring.is_some());
    }

    #[test]
    fn an_iocb_is_filled_as_the_kernel_wants_it() {
        let mut context = context(false);
        // SAFETY: nothing is submitted.
        assert!(unsafe { context.push(5, &request(Op::Write)) });
        let iocb = context.iocbs[1];
        assert_eq!((iocb.data, iocb.fd, iocb.opcode, iocb.rw_flags), (1, 5, PWRITE, 8));
        assert_eq!((iocb.buffer, iocb.length, iocb.offset), (4096, 512, 1024));
        // SAFETY: nothing is submitted.
        assert!(unsafe { context.push(5, &request(Op::Fdatasync)) });
        let iocb = context.iocbs[1];
        assert_eq!((iocb.data, iocb.fd, iocb.opcode, iocb.rw_flags), (1, 5, FSYNC, 0));
        assert_eq!((iocb.buffer, iocb.length, iocb.offset), (0, 0, 0));
        // SAFETY: nothing is submitted.
        assert!(!unsafe { context.push(5, &request(Op::Read)) }, "as many as iodepth may wait");
    }

    #[test]
    fn only_a_priority_that_the_thread_does_not_have_is_named() {
        let mut context = context(false);
        for (priority, want) in [(0x4002, (0, 0)), (0x2000, (0x2000, IOCB_FLAG_IOPRIO)), (0x4002, (0, 0))] {
            // SAFETY: nothing is submitted.
            assert!(unsafe { context.push(5, &Request { priority, ..request(Op::Read) }) });
            context.pending.clear();
            let iocb = context.iocbs[1];
            assert_eq!((iocb.priority, iocb.flags), want);
        }
    }

    #[test]
    fn a_vectored_iocb_points_to_its_segment() {
        let mut context = context(true);
        // SAFETY: nothing is submitted.
        assert!(unsafe { context.push(5, &request(Op::Read)) });
        let iocb = context.iocbs[1];
        assert_eq!((iocb.opcode, iocb.length), (PREADV, 1));
        assert_eq!(iocb.buffer, &raw const context.segments[1] as u64);
        assert_eq!((context.segments[1].iov_base as usize, context.segments[1].iov_len), (4096, 512));
    }
}
