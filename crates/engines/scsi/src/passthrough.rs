//! The system call: `SG_IO` with the structure of version 3 of the SCSI generic driver (`struct sg_io_hdr` of <scsi/sg.h>), which SCSI
//! block devices take as well.

use std::os::fd::RawFd;
use std::ptr;

use ferrio_machine::InterruptionLimit;

use crate::cdb::Cdb;
use crate::sense::{self, ScsiStatus};

const SG_IO: libc::Ioctl = 0x2285;
/// Time limit of a command.
const TIMEOUT_MS: u32 = 30_000;
/// Flag of commands that are polled for.
const HIPRI: u32 = 0x800;
/// Maximum size of sense data.
const SENSE_LEN: usize = 64;

/// `struct sg_io_hdr`
#[repr(C)]
struct SgIoHeader {
    interface_id: i32,
    direction: i32,
    cmd_len: u8,
    max_sense_len: u8,
    iovec_count: u16,
    data_len: u32,
    data: *mut u8,
    cmd: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack_id: i32,
    user: *mut u8,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residual: i32,
    duration_ms: u32,
    info: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<SgIoHeader>() == 88);
    assert!(std::mem::offset_of!(SgIoHeader, data) == 16);
    assert!(std::mem::offset_of!(SgIoHeader, timeout_ms) == 40);
    assert!(std::mem::offset_of!(SgIoHeader, status) == 64);
    assert!(std::mem::offset_of!(SgIoHeader, residual) == 72);
};

/// Data that goes with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandData {
    None,
    /// Bytes from the device to this address.
    In(*mut u8, u32),
    /// Bytes at this address to the device.
    Out(*const u8, u32),
}

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The kernel refused it with this errno.
    Call(i32),
    /// The device, or something on the way to it, reported this error.
    ScsiCommand(String),
}

/// Executes a command. Returns the number of bytes of its data that were not transferred.
///
/// # Safety
/// The memory of the data must be valid (for writes, if data comes from the device), and nothing else uses it during the call.
pub(crate) unsafe fn execute(
    fd: RawFd,
    cdb: &Cdb,
    data: CommandData,
    polled: bool,
) -> Result<u32, CommandError> {
    let mut sense = [0; SENSE_LEN];
    let (direction, data, data_len) = match data {
        CommandData::None => (-1, ptr::null_mut(), 0),
        CommandData::Out(from, len) => (-2, from.cast_mut(), len),
        CommandData::In(to, len) => (-3, to, len),
    };
    let mut header = SgIoHeader {
        interface_id: i32::from(b'S'),
        direction,
        cmd_len: cdb.bytes().len() as u8,
        max_sense_len: SENSE_LEN as u8,
        iovec_count: 0,
        data_len,
        data,
        cmd: cdb.bytes().as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: TIMEOUT_MS,
        flags: if polled { HIPRI } else { 0 },
        pack_id: 0,
        user: ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    let mut interrupted = InterruptionLimit::default();
    loop {
        // SAFETY: the header is that of the system call; what it points to lives until the call returns: the command and the sense data
        // are here, the data by the contract of this function.
        if unsafe { libc::ioctl(fd, SG_IO, &raw mut header) } >= 0 {
            break;
        }
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        if errno != libc::EINTR || !interrupted.should_retry() {
            return Err(CommandError::Call(errno));
        }
    }
    let status = ScsiStatus {
        device: header.status,
        host: header.host_status,
        driver: header.driver_status,
        residual: header.residual,
    };
    if status.is_good() {
        return Ok(u32::try_from(header.residual).unwrap_or(0).min(data_len));
    }
    let sense = &sense[..usize::from(header.sense_written).min(SENSE_LEN)];
    Err(CommandError::ScsiCommand(sense::failure(status, sense, cdb.bytes())))
}
