//! io_uring with everything registered: `batch` requests and as many completions per io_uring_enter(2), `depth` in flight.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};

use super::{Block, Walk, whole};
use crate::work::BLOCK;

pub(super) fn run(file: &File, depth: usize, batch: usize, walk: &Walk<'_>) -> io::Result<f64> {
    let mut ring = ring(depth as u32)?;
    // Leaked, 128 KiB a run: requests may be in flight when an error ends the loop.
    let blocks: &'static mut [Block] = vec![Block::ZERO; depth].leak();
    let buffers: Vec<libc::iovec> = blocks
        .iter_mut()
        .map(|block| libc::iovec { iov_base: block.0.as_mut_ptr().cast(), iov_len: BLOCK })
        .collect();
    ring.submitter().register_files(&[file.as_raw_fd()])?;
    // SAFETY: the buffers are never freed.
    unsafe { ring.submitter().register_buffers(&buffers)? };
    let mut free: Vec<u16> = (0..depth as u16).collect();
    // From here on `depth - batch` requests stay in flight between two calls.
    for &offset in walk.offsets.iter().take(depth - batch) {
        push(&mut ring, &buffers, &mut free, offset)?;
    }
    ring.submit()?;
    walk.per_io(|chunk| {
        for group in chunk.chunks_exact(batch) {
            for &offset in group {
                push(&mut ring, &buffers, &mut free, offset)?;
            }
            ring.submit_and_wait(batch)?;
            for entry in ring.completion() {
                whole(i64::from(entry.result()))?;
                free.push(entry.user_data() as u16);
            }
        }
        Ok(())
    })
}

/// With the flags of newer kernels that spare interrupts, else without.
fn ring(depth: u32) -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(depth)
        .or_else(|_| IoUring::builder().build(depth))
}

/// Queues a read into a free buffer.
fn push(ring: &mut IoUring, buffers: &[libc::iovec], free: &mut Vec<u16>, offset: u64) -> io::Result<()> {
    let unit = free.pop().ok_or(io::ErrorKind::WouldBlock)?;
    let buffer = buffers[usize::from(unit)].iov_base.cast();
    let entry = opcode::ReadFixed::new(types::Fixed(0), buffer, BLOCK as u32, unit)
        .offset(offset)
        .build()
        .user_data(u64::from(unit));
    // SAFETY: the buffer has BLOCK bytes, is never freed, and is in use by no other request: its unit was free.
    unsafe { ring.submission().push(&entry) }.map_err(io::Error::other)
}
