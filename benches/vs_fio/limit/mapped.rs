//! A copy out of a mapping for each I/O, between two readings of the clock. The first pass touches pages that are not mapped yet, as in
//! a job.
//!
//! Reading the clock waits for the loads before it. Copies without that overlap: the processor begins the next one, with its misses of
//! caches and page tables, before the last one has ended. No tool can have that which knows how long each I/O took.
#![allow(unsafe_code)]

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::fd::AsRawFd;

use ferrio_stats::Clock;

use super::{Block, Walk};
use crate::work::{BLOCK, SIZE};

pub(super) fn run(file: &File, random: bool, walk: &Walk<'_>) -> io::Result<()> {
    let length = SIZE as usize;
    // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
    let base = unsafe {
        libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let advice = if random { libc::MADV_RANDOM } else { libc::MADV_SEQUENTIAL };
    // SAFETY: the range is the mapping made above; the advice changes nothing in it.
    unsafe { libc::madvise(base, length, advice) };
    // SAFETY: the mapping has `length` readable bytes until it is unmapped below, and nobody writes or cuts the file meanwhile.
    let memory: &[u8] = unsafe { std::slice::from_raw_parts(base.cast(), length) };
    let mut block = Box::new(Block::ZERO);
    let clock = Clock::calibrate();
    let outcome = walk.each(|chunk| {
        for &offset in chunk {
            let start = offset as usize;
            black_box(clock.now());
            block.0.copy_from_slice(&memory[start..start + BLOCK]);
            black_box(&mut block);
            black_box(clock.now());
        }
        Ok(())
    });
    // SAFETY: the mapping made above; `memory` is not used any more.
    unsafe { libc::munmap(base, length) };
    outcome
}
