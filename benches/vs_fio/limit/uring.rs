//! io_uring as ferrio's engine sets it up: completions run in the thread that asks for them, the ring is registered, and a wait
//! counts as no iowait. `batch` requests and as many completions per io_uring_enter(2), `depth` in flight.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::squeue::{Entry, Flags};
use io_uring::{EnterFlags, IoUring, opcode, types};

use super::{Block, Walk, whole};
use crate::work::BLOCK;

/// `IORING_REGISTER_RING_FDS`.
const REGISTER_RING_FDS: u32 = 20;

pub(super) fn run(
    file: &File,
    depth: usize,
    batch: usize,
    registered: bool,
    walk: &Walk<'_>,
) -> io::Result<()> {
    // Leaked, 128 KiB: requests may be in flight when an error ends the loop.
    let blocks: &'static mut [Block] = vec![Block::ZERO; depth].leak();
    let memory: Vec<libc::iovec> = blocks
        .iter_mut()
        .map(|block| libc::iovec { iov_base: block.0.as_mut_ptr().cast(), iov_len: BLOCK })
        .collect();
    let mut ring = BareRing::new(depth as u32)?;
    if registered {
        ring.ring.submitter().register_files(&[file.as_raw_fd()])?;
        // SAFETY: the buffers are never freed.
        unsafe { ring.ring.submitter().register_buffers(&memory)? };
    }
    let entry = |unit: u16, offset: u64| -> Entry {
        let buffer = memory[usize::from(unit)].iov_base.cast();
        let entry = if registered {
            let read = opcode::ReadFixed::new(types::Fixed(0), buffer, BLOCK as u32, unit);
            read.offset(offset).build().flags(Flags::FIXED_FILE)
        } else {
            opcode::Read::new(types::Fd(file.as_raw_fd()), buffer, BLOCK as u32).offset(offset).build()
        };
        entry.user_data(u64::from(unit))
    };
    let mut free: Vec<u16> = (0..depth as u16).collect();
    // From here on `depth - batch` requests stay in flight between two calls.
    for &offset in walk.offsets.iter().take(depth - batch) {
        ring.push(&entry(free.pop().ok_or(io::ErrorKind::WouldBlock)?, offset))?;
    }
    ring.enter((depth - batch) as u32, 0)?;
    walk.each(|chunk| {
        for group in chunk.chunks_exact(batch) {
            for &offset in group {
                ring.push(&entry(free.pop().ok_or(io::ErrorKind::WouldBlock)?, offset))?;
            }
            ring.enter(batch as u32, batch as u32)?;
            for entry in ring.ring.completion().take(batch) {
                whole(i64::from(entry.result()))?;
                free.push(entry.user_data() as u16);
            }
        }
        Ok(())
    })
}

/// A ring and what each io_uring_enter(2) names it by.
struct BareRing {
    ring: IoUring,
    fd: i32,
    flags: u32,
}

impl BareRing {
    fn new(depth: u32) -> io::Result<BareRing> {
        // The flags of the engine, or those of an older kernel.
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_coop_taskrun()
            .setup_cqsize(depth)
            .build(depth)
            .or_else(|_| IoUring::builder().build(depth))?;
        let mut flags = EnterFlags::GETEVENTS;
        if ring.params().is_feature_no_iowait() {
            flags |= EnterFlags::NO_IOWAIT;
        }
        let index = register(ring.as_raw_fd());
        if index.is_some() {
            flags |= EnterFlags::REGISTERED_RING;
        }
        Ok(BareRing { fd: index.unwrap_or_else(|| ring.as_raw_fd()), flags: flags.bits(), ring })
    }

    fn push(&mut self, entry: &Entry) -> io::Result<()> {
        // SAFETY: the buffer has BLOCK bytes, is never freed, and is in use by no other request: its unit was free.
        unsafe { self.ring.submission().push(entry) }.map_err(io::Error::other)
    }

    fn enter(&self, submit: u32, complete: u32) -> io::Result<()> {
        // SAFETY: the ring is alive and there is no signal mask.
        let answer = unsafe {
            libc::syscall(libc::SYS_io_uring_enter, self.fd, submit, complete, self.flags, 0usize, 0usize)
        };
        if answer == i64::from(submit) { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// The index of a registered ring, before Linux 5.18 `None`. The ring lives as long as this process, so nobody gives it back.
fn register(ring: i32) -> Option<i32> {
    /// `struct io_uring_rsrc_update`
    #[repr(C)]
    struct Update {
        offset: u32,
        reserved: u32,
        data: u64,
    }
    let mut update = Update { offset: u32::MAX, reserved: 0, data: u64::from(ring.cast_unsigned()) };
    // SAFETY: the kernel reads and writes one Update, which lives until the call returns.
    let count =
        unsafe { libc::syscall(libc::SYS_io_uring_register, ring, REGISTER_RING_FDS, &raw mut update, 1u32) };
    if count == 1 { i32::try_from(update.offset).ok() } else { None }
}
