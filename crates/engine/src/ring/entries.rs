//! Builds submission queue entries from requests.

use std::os::fd::RawFd;

use io_uring::opcode::{Fsync, Read, ReadFixed, Readv, SyncFileRange, UringCmd16, Write, WriteFixed, Writev};
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, FsyncFlags};

use crate::{Op, Request};

/// How data requests address their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// READ, WRITE: address and length in the entry (Linux 5.6).
    Plain,
    /// READV, WRITEV: one segment each.
    Vectored,
    /// READ_FIXED, WRITE_FIXED: buffer `unit` is registered.
    Fixed,
}

/// `BLOCK_URING_CMD_DISCARD` (Linux 6.12): discard a byte range of a block device.
const DISCARD: u32 = 0x1200;

/// Builds entries; `user_data` is the unit.
pub struct EntryBuilder {
    style: Addressing,
    read_flags: i32,
    write_flags: i32,
    flags: Flags,
    targets: Vec<Fd>,
    /// One segment per unit for [`Addressing::Vectored`]; the kernel may read it until the request starts.
    segments: Box<[libc::iovec]>,
}

impl EntryBuilder {
    /// A builder for units below `iodepth`; `read_flags` and `write_flags` are RWF_*.
    #[must_use]
    pub fn new(style: Addressing, read_flags: i32, write_flags: i32, iodepth: u32) -> Self {
        let count = if style == Addressing::Vectored { iodepth.max(1) } else { 0 };
        let empty = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        EntryBuilder {
            style,
            read_flags,
            write_flags,
            flags: Flags::empty(),
            targets: Vec::new(),
            segments: vec![empty; count as usize].into_boxed_slice(),
        }
    }

    /// Makes requests address files by these descriptors.
    pub fn use_descriptors(&mut self, files: &[RawFd]) {
        self.flags = Flags::empty();
        self.targets = files.iter().map(|&file| Fd(file)).collect();
    }

    /// Makes requests to one file use another descriptor.
    pub fn use_descriptor(&mut self, index: usize, fd: RawFd) {
        self.targets[index] = Fd(fd);
    }

    /// Makes requests address the first `count` registered files.
    pub fn use_registered(&mut self, count: usize) {
        self.flags = Flags::FIXED_FILE;
        self.targets = (0..count).map(|index| Fd(index as i32)).collect();
    }

    /// The entry of a request; `None` for a trim, which [`EntryBuilder::discard`] builds for some devices. It points to the request's
    /// buffer, and for vectored requests into this value.
    #[inline]
    pub fn entry(&mut self, request: &Request) -> Option<Entry> {
        let fd = Fd(self.targets[request.file as usize].0);
        let Request { offset, buffer, unit, priority: prio, .. } = *request;
        // An entry has 32 bits for a length, and the kernel moves less anyway.
        let len = u32::try_from(request.len).unwrap_or(Request::MAX_TRANSFER);
        let (read, write) = (self.read_flags, self.write_flags);
        let entry = match (request.op, self.style) {
            (Op::Read, Addressing::Plain) => {
                Read::new(fd, buffer, len).offset(offset).rw_flags(read).ioprio(prio).build()
            }
            (Op::Write, Addressing::Plain) => {
                Write::new(fd, buffer, len).offset(offset).rw_flags(write).ioprio(prio).build()
            }
            (Op::Read, Addressing::Fixed) => ReadFixed::new(fd, buffer, len, unit as u16)
                .offset(offset)
                .rw_flags(read)
                .ioprio(prio)
                .build(),
            (Op::Write, Addressing::Fixed) => WriteFixed::new(fd, buffer, len, unit as u16)
                .offset(offset)
                .rw_flags(write)
                .ioprio(prio)
                .build(),
            (Op::Read, Addressing::Vectored) => {
                Readv::new(fd, self.segment(request), 1).offset(offset).rw_flags(read).ioprio(prio).build()
            }
            (Op::Write, Addressing::Vectored) => {
                Writev::new(fd, self.segment(request), 1).offset(offset).rw_flags(write).ioprio(prio).build()
            }
            (Op::Fsync, _) => Fsync::new(fd).build(),
            (Op::Fdatasync, _) => Fsync::new(fd).flags(FsyncFlags::DATASYNC).build(),
            (Op::SyncFileRange(flags), _) => {
                // A length of 0 means up to the end of the file.
                let len = u32::try_from(request.len).unwrap_or(0);
                SyncFileRange::new(fd, len).offset(offset).flags(flags.into()).build()
            }
            (Op::Trim, _) => return None,
        };
        Some(entry.flags(self.flags).user_data(u64::from(unit)))
    }

    /// The entry that discards the range of a request, for devices and kernels that support it.
    #[must_use]
    pub fn discard(&self, request: &Request) -> Entry {
        let fd = Fd(self.targets[request.file as usize].0);
        // The range is stored in the fields that other commands use for an address and for 16 bytes of command data.
        let mut own = [0; 16];
        own[..8].copy_from_slice(&request.len.to_ne_bytes());
        let entry = UringCmd16::new(fd, DISCARD).addr(Some(request.offset)).cmd(own).build();
        entry.flags(self.flags).user_data(u64::from(request.unit))
    }

    #[inline]
    fn segment(&mut self, request: &Request) -> *const libc::iovec {
        let segment = &mut self.segments[request.unit as usize];
        *segment = libc::iovec { iov_base: request.buffer.cast(), iov_len: request.len as usize };
        segment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the kernel finds the priority in an entry (`ioprio`, after opcode and flags).
    fn priority(entry: Entry) -> u16 {
        // SAFETY: an entry is a plain struct of 64 bytes, `#[repr(C)]` and without padding.
        let bytes: [u8; 64] = unsafe { std::mem::transmute(entry) };
        u16::from_ne_bytes([bytes[2], bytes[3]])
    }

    #[test]
    fn data_requests_carry_their_priority_and_syncs_none() {
        for style in [Addressing::Plain, Addressing::Vectored, Addressing::Fixed] {
            let mut entries = EntryBuilder::new(style, 0, 0, 1);
            entries.use_registered(1);
            let mut entry = |op| {
                let buffer = std::ptr::null_mut();
                let request = Request { op, unit: 0, file: 0, len: 512, priority: 0x4003, offset: 0, buffer };
                entries.entry(&request).map(priority)
            };
            assert_eq!([Op::Read, Op::Write].map(&mut entry), [Some(0x4003); 2]);
            // The kernel refuses a sync with one.
            assert_eq!([Op::Fsync, Op::Fdatasync, Op::SyncFileRange(2)].map(&mut entry), [Some(0); 3]);
        }
    }

    #[test]
    fn a_discard_is_a_command_with_the_range_and_nothing_else() {
        let mut entries = EntryBuilder::new(Addressing::Plain, 8, 8, 1);
        entries.use_registered(1);
        let buffer = std::ptr::without_provenance_mut(4096);
        let request = Request {
            op: Op::Trim,
            unit: 5,
            file: 0,
            len: 0x5_0000_1234,
            priority: 7,
            offset: 0xabcd,
            buffer,
        };
        let entry = entries.discard(&request);
        let mut want = [0; 64];
        (want[0], want[1]) = (46, 1);
        want[8..12].copy_from_slice(&0x1200u32.to_ne_bytes());
        want[16..24].copy_from_slice(&0xabcdu64.to_ne_bytes());
        want[32] = 5;
        want[48..56].copy_from_slice(&0x5_0000_1234u64.to_ne_bytes());
        // SAFETY: as in `priority`.
        let bytes: [u8; 64] = unsafe { std::mem::transmute(entry) };
        assert_eq!(bytes, want);
    }

    #[test]
    fn a_request_that_is_too_long_for_an_entry_asks_for_what_the_kernel_moves_at_once() {
        for style in [Addressing::Plain, Addressing::Fixed] {
            let mut entries = EntryBuilder::new(style, 0, 0, 1);
            entries.use_registered(1);
            let mut len = |op, len| {
                let buffer = std::ptr::null_mut();
                let request = Request { op, unit: 0, file: 0, len, priority: 0, offset: 0, buffer };
                // SAFETY: as in `priority`; `len` are the bytes from 24.
                let bytes: [u8; 64] = unsafe { std::mem::transmute(entries.entry(&request).unwrap()) };
                u32::from_ne_bytes(bytes[24..28].try_into().unwrap())
            };
            assert_eq!([Op::Read, Op::Write].map(|op| len(op, 5 << 30)), [0x7fff_f000; 2]);
            assert_eq!(len(Op::Read, 4096), 4096);
            assert_eq!(len(Op::SyncFileRange(2), 5 << 30), 0, "up to the end of the file");
        }
    }

    #[test]
    fn reads_and_writes_have_flags_of_their_own_and_syncs_none() {
        for style in [Addressing::Plain, Addressing::Vectored, Addressing::Fixed] {
            let mut entries = EntryBuilder::new(style, libc::RWF_NOWAIT, libc::RWF_ATOMIC, 1);
            entries.use_registered(1);
            let mut flags = |op| {
                let buffer = std::ptr::null_mut();
                let request = Request { op, unit: 0, file: 0, len: 512, priority: 0, offset: 0, buffer };
                // SAFETY: as in `priority`; `rw_flags` are the bytes from 28.
                let bytes: [u8; 64] = unsafe { std::mem::transmute(entries.entry(&request).unwrap()) };
                i32::from_ne_bytes(bytes[28..32].try_into().unwrap())
            };
            let want = [libc::RWF_NOWAIT, libc::RWF_ATOMIC, 0];
            assert_eq!([Op::Read, Op::Write, Op::Fsync].map(&mut flags), want, "{style:?}");
        }
    }
}
