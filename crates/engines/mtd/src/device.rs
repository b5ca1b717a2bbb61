//! System calls for flash devices: reads and writes at offsets, and the requests of <mtd/mtd-abi.h>.

use std::io;
use std::os::fd::RawFd;

use ferrio_engine::sync_ops::outcome;

use crate::geometry::Geometry;

/// Direction bits of ioctl(2) requests, as seen from the program.
const OUT: libc::Ioctl = 1 << 30;
const IN: libc::Ioctl = 2 << 30;

/// A request of group `M` with `size` bytes of data.
const fn request(direction: libc::Ioctl, number: libc::Ioctl, size: usize) -> libc::Ioctl {
    direction | (size as libc::Ioctl) << 16 | (b'M' as libc::Ioctl) << 8 | number
}

const MEMGETINFO: libc::Ioctl = request(IN, 1, size_of::<MtdInfo>());
const MEMGETBADBLOCK: libc::Ioctl = request(OUT, 11, size_of::<i64>());
const MEMSETBADBLOCK: libc::Ioctl = request(OUT, 12, size_of::<i64>());
const MEMERASE64: libc::Ioctl = request(OUT, 20, size_of::<EraseRange>());

/// Types of devices that have bad blocks.
const NAND: u8 = 4;
const MLC_NAND: u8 = 8;

/// `struct mtd_info_user`
#[repr(C)]
#[derive(Default)]
struct MtdInfo {
    kind: u8,
    flags: u32,
    size: u32,
    erase_size: u32,
    write_size: u32,
    oob_size: u32,
    padding: u64,
}

/// `struct erase_info_user64`
#[repr(C)]
struct EraseRange {
    start: u64,
    length: u64,
}

const _: () = {
    assert!(size_of::<MtdInfo>() == 32 && size_of::<EraseRange>() == 16);
    assert!(std::mem::offset_of!(MtdInfo, size) == 8 && std::mem::offset_of!(MtdInfo, padding) == 24);
    assert!(MEMGETINFO == 0x8020_4d01 && MEMERASE64 == 0x4010_4d14);
    assert!(MEMGETBADBLOCK == 0x4008_4d0b && MEMSETBADBLOCK == 0x4008_4d0c);
};

/// An open flash device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlashDevice {
    fd: RawFd,
    /// True if the device records bad blocks.
    pub(crate) has_bad_blocks: bool,
}

impl FlashDevice {
    /// Queries an open file; an errno if it is not a flash device.
    pub(crate) fn new(fd: RawFd) -> Result<(Self, Geometry), i32> {
        let mut info = MtdInfo::default();
        // SAFETY: the request fills the structure, which lives until the call returns.
        let result = unsafe { libc::ioctl(fd, MEMGETINFO, &raw mut info) };
        errno_of(outcome(result.into()))?;
        let geometry = Geometry::new(info.erase_size, info.write_size).ok_or(libc::EINVAL)?;
        Ok((FlashDevice { fd, has_bad_blocks: matches!(info.kind, NAND | MLC_NAND) }, geometry))
    }

    /// True if the block at offset `block` is bad.
    pub(crate) fn is_bad(self, block: u64) -> Result<bool, i32> {
        let offset = block.cast_signed();
        // SAFETY: the request reads the offset, which lives until the call returns.
        let result = unsafe { libc::ioctl(self.fd, MEMGETBADBLOCK, &raw const offset) };
        errno_of(outcome(result.into())).map(|answer| answer > 0)
    }

    /// Marks the block at offset `block` as bad.
    pub(crate) fn mark_bad(self, block: u64) -> io::Result<()> {
        let offset = block.cast_signed();
        // SAFETY: as above.
        let result = unsafe { libc::ioctl(self.fd, MEMSETBADBLOCK, &raw const offset) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Erases the block at offset `block`.
    pub(crate) fn erase(self, block: u64, len: u32) -> Result<(), i32> {
        let range = EraseRange { start: block, length: len.into() };
        // SAFETY: the request reads the range, which lives until the call returns.
        let result = unsafe { libc::ioctl(self.fd, MEMERASE64, &raw const range) };
        errno_of(outcome(result.into())).map(|_| ())
    }

    /// Reads; returns the number of bytes.
    ///
    /// # Safety
    /// The buffer must be valid for `len` bytes, and nothing else may use it during the call.
    pub(crate) unsafe fn read(self, buffer: *mut u8, len: u32, offset: u64) -> Result<u32, i32> {
        // SAFETY: by the contract of this function.
        let result = unsafe { libc::pread64(self.fd, buffer.cast(), len as usize, offset.cast_signed()) };
        errno_of(outcome(result as i64)).map(|moved| moved as u32)
    }

    /// Writes; returns the number of bytes.
    ///
    /// # Safety
    /// See [`FlashDevice::read`].
    pub(crate) unsafe fn write(self, buffer: *const u8, len: u32, offset: u64) -> Result<u32, i32> {
        // SAFETY: by the contract of this function.
        let result = unsafe { libc::pwrite64(self.fd, buffer.cast(), len as usize, offset.cast_signed()) };
        errno_of(outcome(result as i64)).map(|moved| moved as u32)
    }
}

/// Splits the result of a system call into its value or errno.
fn errno_of(outcome: i64) -> Result<i64, i32> {
    if outcome < 0 { Err(i32::try_from(-outcome).unwrap_or(libc::EIO)) } else { Ok(outcome) }
}
