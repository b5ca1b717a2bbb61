//! Linux AIO as ferrio's engine uses it: `batch` requests per io_submit(2), `depth` in flight; completions come from the queue that
//! the kernel maps into the process if they are there already, otherwise from io_getevents(2).
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Block, Walk, whole};
use crate::work::BLOCK;

/// `IOCB_CMD_PREAD`
const PREAD: u16 = 0;

/// What a ring of the known layout has.
const MAGIC: u32 = 0xa10a_10a1;

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

/// `struct aio_ring`: the completion queue, mapped into the process.
#[repr(C)]
struct Ring {
    id: u32,
    places: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    features: [u32; 2],
    header_length: u32,
}

pub(super) fn run(file: &File, depth: usize, batch: usize, walk: &Walk<'_>) -> io::Result<()> {
    // Leaked, 128 KiB: requests may be in flight when an error ends the loop.
    let blocks: &'static mut [Block] = vec![Block::ZERO; depth].leak();
    let context = Context::new(depth)?;
    let fd = file.as_raw_fd().cast_unsigned();
    let mut requests: Vec<Iocb> = blocks
        .iter_mut()
        .enumerate()
        .map(|(unit, block)| Iocb {
            data: unit as u64,
            opcode: PREAD,
            fd,
            buffer: block.0.as_mut_ptr().addr() as u64,
            length: BLOCK as u64,
            ..Iocb::default()
        })
        .collect();
    let mut free: Vec<usize> = (0..depth).collect();
    let mut list: Vec<*mut Iocb> = Vec::with_capacity(depth);
    let mut submit = |free: &mut Vec<usize>, offsets: &[u64]| {
        list.clear();
        for &offset in offsets {
            let request = &mut requests[free.pop().ok_or(io::ErrorKind::WouldBlock)?];
            request.offset = offset.cast_signed();
            list.push(request);
        }
        context.submit(&mut list)
    };
    // From here on `depth - batch` requests stay in flight between two calls.
    submit(&mut free, &walk.offsets[..depth - batch])?;
    let mut events: Vec<Event> = (0..depth).map(|_| Event::default()).collect();
    walk.each(|chunk| {
        for group in chunk.chunks_exact(batch) {
            submit(&mut free, group)?;
            for event in context.take(&mut events[..batch])? {
                whole(event.result)?;
                free.push(event.data as usize);
            }
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

    /// The kernel copies the iocbs; the buffers they name must live until the events are there.
    fn submit(&self, list: &mut [*mut Iocb]) -> io::Result<()> {
        // SAFETY: valid pointers to valid iocbs; their buffers are leaked blocks.
        match unsafe { libc::syscall(libc::SYS_io_submit, self.0, list.len(), list.as_mut_ptr()) } {
            count if count == list.len() as i64 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Fills `events`: from the mapped queue if enough are there, as ferrio's engine does, otherwise with io_getevents(2).
    fn take<'a>(&self, events: &'a mut [Event]) -> io::Result<&'a [Event]> {
        // SAFETY: a context's number is the address of its ring, mapped as long as the context lives.
        let ring = unsafe { &*(self.0 as *const Ring) };
        let (head, tail) = (ring.head.load(Ordering::Relaxed), ring.tail.load(Ordering::Acquire));
        let ready = if tail >= head { tail - head } else { ring.places - head + tail };
        let count = events.len();
        if ring.magic != MAGIC || ring.features[1] != 0 || (ready as usize) < count {
            let no_limit = 0usize;
            // SAFETY: the kernel writes at most `count` events.
            done(unsafe {
                libc::syscall(libc::SYS_io_getevents, self.0, count, count, events.as_mut_ptr(), no_limit)
            })?;
            return Ok(events);
        }
        // SAFETY: the places follow the header inside the mapping.
        let places = unsafe { (self.0 as *const u8).add(ring.header_length as usize).cast::<Event>() };
        let mut at = head;
        for event in events.iter_mut() {
            // SAFETY: `at` is below `places`, and the kernel does not write places between head and tail.
            *event = unsafe { places.add(at as usize).read() };
            at = if at + 1 == ring.places { 0 } else { at + 1 };
        }
        ring.head.store(at, Ordering::Release);
        Ok(events)
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
