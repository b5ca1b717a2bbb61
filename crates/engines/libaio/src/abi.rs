//! The kernel's AIO interface as `linux/aio_abi.h` lays it out, and its system calls.

use std::io;
use std::time::Duration;

use ferrio_kernel::syscall;

/// `IOCB_CMD_*`
pub(crate) const PREAD: u16 = 0;
pub(crate) const PWRITE: u16 = 1;
pub(crate) const FSYNC: u16 = 2;
pub(crate) const PREADV: u16 = 7;
pub(crate) const PWRITEV: u16 = 8;

/// The request has its own priority.
pub(crate) const IOCB_FLAG_IOPRIO: u32 = 2;

/// `struct iocb`: one request.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Iocb {
    /// Returned in [`IoEvent::data`].
    pub data: u64,
    #[cfg(target_endian = "little")]
    pub key: u32,
    pub rw_flags: u32,
    #[cfg(target_endian = "big")]
    pub key: u32,
    pub opcode: u16,
    /// Used only with [`IOCB_FLAG_IOPRIO`].
    pub priority: u16,
    pub fd: u32,
    /// Address of the data, or of the segments.
    pub buffer: u64,
    /// Bytes, or number of segments.
    pub length: u64,
    pub offset: i64,
    pub reserved: u64,
    pub flags: u32,
    pub event_fd: u32,
}

/// `struct io_event`: one completion.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct IoEvent {
    pub data: u64,
    /// Address of the iocb.
    pub object: u64,
    /// Bytes moved or a negated errno.
    pub result: i64,
    pub result2: i64,
}

const _: () = assert!(size_of::<Iocb>() == 64 && size_of::<IoEvent>() == 32);

/// `aio_context_t`: also the address of the completion ring that the kernel maps into the process.
#[derive(Clone, Copy)]
pub(crate) struct ContextId(pub usize);

/// io_setup(2)
pub(crate) fn io_setup(events: u32) -> io::Result<ContextId> {
    let mut id = 0usize;
    // SAFETY: the kernel writes one word, which lives until the call returns.
    libc_syscall_result(unsafe { libc::syscall(libc::SYS_io_setup, events, &raw mut id) })?;
    Ok(ContextId(id))
}

/// io_destroy(2): waits for all requests of the context.
pub(crate) fn io_destroy(context: ContextId) {
    // SAFETY: takes a number; an invalid context is refused.
    unsafe { libc::syscall(libc::SYS_io_destroy, context.0) };
}

/// io_submit(2): returns how many requests the kernel took.
///
/// # Safety
/// The pointers must be valid, and the memory that the iocbs point to must stay valid until their events are reaped.
#[inline]
pub(crate) unsafe fn io_submit(context: ContextId, requests: &[*mut Iocb]) -> io::Result<usize> {
    let arguments = [context.0, requests.len(), requests.as_ptr() as usize, 0, 0, 0];
    // SAFETY: guaranteed by the caller.
    raw_syscall_result(unsafe { syscall::call(libc::SYS_io_submit, arguments) })
}

/// io_getevents(2) without a time limit: returns the number of events written to the front of `events`.
#[inline]
pub(crate) fn io_getevents(context: ContextId, min: usize, events: &mut [IoEvent]) -> io::Result<usize> {
    let (room, no_limit) = (events.len(), 0);
    let arguments = [context.0, min, room, events.as_mut_ptr() as usize, no_limit, 0];
    // SAFETY: the kernel writes at most `room` events.
    raw_syscall_result(unsafe { syscall::call(libc::SYS_io_getevents, arguments) })
}

/// io_getevents(2) with a time limit; otherwise like [`io_getevents`].
pub(crate) fn io_getevents_within(
    context: ContextId,
    min: usize,
    events: &mut [IoEvent],
    timeout: Duration,
) -> io::Result<usize> {
    // Seconds and ns as words: the kernel's layout on 64-bit systems, the only ones that this crate supports.
    let limit = [i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX), i64::from(timeout.subsec_nanos())];
    let room = events.len();
    // SAFETY: the kernel writes at most `room` events and reads the two words of the limit, which live until the call returns.
    libc_syscall_result(unsafe {
        libc::syscall(libc::SYS_io_getevents, context.0, min, room, events.as_mut_ptr(), limit.as_ptr())
    })
}

/// Converts the return value of a raw system call: a count or a negated errno.
#[inline]
fn raw_syscall_result(answer: i64) -> io::Result<usize> {
    usize::try_from(answer).map_err(|_| io::Error::from_raw_os_error(-answer as i32))
}

/// Converts the return value of libc's `syscall`: a count, or -1 with errno set.
#[inline]
fn libc_syscall_result(answer: i64) -> io::Result<usize> {
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}
