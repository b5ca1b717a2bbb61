//! Linux AIO as libaio's functions call it: one io_submit(2) and one io_getevents(2) for each I/O, `depth` in flight.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use super::{Block, Walk, whole};
use crate::work::BLOCK;

/// `IOCB_CMD_PREAD`
const PREAD: u16 = 0;

/// `struct iocb` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Default)]
struct Iocb {
    data: u64,
    key_and_flags: [u32; 2],
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    length: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Default)]
struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

pub(super) fn run(file: &File, depth: usize, walk: &Walk<'_>) -> io::Result<f64> {
    // Leaked, 128 KiB a run: requests may be in flight when an error ends the loop.
    let blocks: &'static mut [Block] = vec![Block::ZERO; depth].leak();
    let context = Context::new(depth)?;
    let fd = file.as_raw_fd().cast_unsigned();
    let mut submit = |unit: usize, offset: u64| {
        let mut request = Iocb {
            data: unit as u64,
            opcode: PREAD,
            fd,
            buffer: blocks[unit].0.as_mut_ptr().addr() as u64,
            length: BLOCK as u64,
            offset: offset.cast_signed(),
            ..Iocb::default()
        };
        context.submit(&mut request)
    };
    // From here on `depth - 1` requests stay in flight between two I/Os.
    for (unit, &offset) in walk.offsets.iter().enumerate().take(depth - 1) {
        submit(unit, offset)?;
    }
    let mut free = depth - 1;
    walk.per_io(|chunk| {
        for &offset in chunk {
            submit(free, offset)?;
            let event = context.wait()?;
            whole(event.result)?;
            free = event.data as usize;
        }
        Ok(())
    })
}

/// An AIO context.
struct Context(usize);

impl Context {
    fn new(depth: usize) -> io::Result<Context> {
        let mut id = 0usize;
        // SAFETY: the kernel writes one word, which lives until the call returns.
        done(unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut id) })?;
        Ok(Context(id))
    }

    /// The kernel copies the iocb; the buffer it names must live until the event is there.
    fn submit(&self, request: &mut Iocb) -> io::Result<()> {
        let mut list = [std::ptr::from_mut(request)];
        // SAFETY: one valid pointer to a valid iocb; its buffer is one of the leaked blocks.
        done(unsafe { libc::syscall(libc::SYS_io_submit, self.0, 1, list.as_mut_ptr()) })
    }

    fn wait(&self) -> io::Result<Event> {
        let mut event = Event::default();
        let no_limit = 0usize;
        // SAFETY: the kernel writes at most one event.
        done(unsafe { libc::syscall(libc::SYS_io_getevents, self.0, 1, 1, &raw mut event, no_limit) })?;
        Ok(event)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: takes a number; waits for what is in flight.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

fn done(answer: i64) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
