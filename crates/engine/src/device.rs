//! The few block device requests that the standard library does not know.

use std::io;
use std::os::fd::RawFd;

/// `BLKFLSBUF`: write back and drop the page cache of a block device.
const BLKFLSBUF: libc::Ioctl = 0x1261;

/// Drops the cached pages of a whole block device.
///
/// # Errors
/// EACCES without CAP_SYS_ADMIN, ENOTTY when `fd` is no block device.
pub fn flush_buffers(fd: RawFd) -> io::Result<()> {
    // SAFETY: BLKFLSBUF takes no argument and touches no memory of this process.
    match unsafe { libc::ioctl(fd, BLKFLSBUF, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
