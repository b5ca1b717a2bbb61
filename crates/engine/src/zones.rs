//! The zones of a zoned block device: the kernel's report of them, and the commands that change their write pointers.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `BLKREPORTZONE`: reports the zones from a sector on.
const BLKREPORTZONE: libc::Ioctl = 0xc010_1282_u32 as libc::Ioctl;
/// `BLKRESETZONE`: empties the zones of a range.
const BLKRESETZONE: libc::Ioctl = 0x4010_1283_u32 as libc::Ioctl;
/// `BLKFINISHZONE`: makes the zones of a range full.
const BLKFINISHZONE: libc::Ioctl = 0x4010_1288_u32 as libc::Ioctl;
/// `BLK_ZONE_REP_CAPACITY`: the report has the capacity of each zone.
const HAS_CAPACITY: u32 = 1;
/// Size of the header of a report: the first sector, the number of zones, flags.
const HEADER_BYTES: usize = 16;
/// Size of the entry of one zone.
const ENTRY_BYTES: usize = 64;
/// Most zones that one call reports.
const MAX_ZONES_PER_CALL: usize = 8192;
/// The kernel's unit of offsets and lengths.
const SECTOR_BYTES: u64 = 512;

/// Where a zone may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneType {
    /// Anywhere.
    Conventional,
    /// At its write pointer only.
    SequentialRequired,
    /// Anywhere, best at its write pointer.
    SequentialPreferred,
}

/// The state of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneCondition {
    /// The zone has no write pointer.
    NoPointer,
    /// Nothing is written.
    Empty,
    /// The zone is open for writing, or closed and partly written.
    Active,
    /// Nothing more can be written.
    Full,
    /// The zone can only be read.
    ReadOnly,
    /// The zone cannot be used.
    Offline,
}

/// A zone as the device reports it, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneReport {
    /// Offset of the first byte.
    pub start: u64,
    /// Length, including the part beyond `capacity`.
    pub len: u64,
    /// Number of bytes that can be written, from the start.
    pub capacity: u64,
    /// Offset of the next write.
    pub write_pointer: u64,
    /// Where the zone may be written.
    pub kind: ZoneType,
    /// The state of the zone.
    pub condition: ZoneCondition,
}

/// Reports the zones of a device from byte `from` on, as many as one call returns; none beyond the last.
///
/// # Errors
/// ENOTTY for a device without zones, EIO if it does not answer.
pub fn report_zones(device: BorrowedFd<'_>, from: u64) -> io::Result<Vec<ZoneReport>> {
    let mut report = vec![0_u8; HEADER_BYTES + MAX_ZONES_PER_CALL * ENTRY_BYTES];
    report[..8].copy_from_slice(&(from / SECTOR_BYTES).to_ne_bytes());
    report[8..12].copy_from_slice(&(MAX_ZONES_PER_CALL as u32).to_ne_bytes());
    // SAFETY: the kernel writes at most as many entries after the header as the header says, and the vector has room for these.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), BLKREPORTZONE, report.as_mut_ptr()) };
    if answer == 0 { Ok(zones_of(&report)) } else { Err(io::Error::last_os_error()) }
}

/// Empties the zones of a range.
///
/// # Errors
/// EIO for a zone that cannot be reset, EACCES without the right to write to the device.
pub fn reset_zones(device: BorrowedFd<'_>, start: u64, len: u64) -> io::Result<()> {
    change(device, BLKRESETZONE, start, len)
}

/// Makes the zones of a range full.
///
/// # Errors
/// EIO for a zone that cannot be finished, EACCES without the right to write to the device.
pub fn finish_zones(device: BorrowedFd<'_>, start: u64, len: u64) -> io::Result<()> {
    change(device, BLKFINISHZONE, start, len)
}

fn change(device: BorrowedFd<'_>, command: libc::Ioctl, start: u64, len: u64) -> io::Result<()> {
    let range = [start / SECTOR_BYTES, len / SECTOR_BYTES];
    // SAFETY: the kernel reads two u64 at the address, and only during the call.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), command, range.as_ptr()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Parses a report as the kernel writes it.
fn zones_of(report: &[u8]) -> Vec<ZoneReport> {
    let Some((head, entries)) = report.split_at_checked(HEADER_BYTES) else { return Vec::new() };
    let zones = number(head, 8) as u32 as usize;
    let has_capacity = (number(head, 8) >> 32) as u32 & HAS_CAPACITY != 0;
    entries.chunks_exact(ENTRY_BYTES).take(zones).map(|entry| zone_of(entry, has_capacity)).collect()
}

fn zone_of(entry: &[u8], has_capacity: bool) -> ZoneReport {
    let bytes = |at| number(entry, at).saturating_mul(SECTOR_BYTES);
    let len = bytes(8);
    ZoneReport {
        start: bytes(0),
        len,
        capacity: if has_capacity { bytes(32) } else { len },
        write_pointer: bytes(16),
        kind: match entry[24] {
            2 => ZoneType::SequentialRequired,
            3 => ZoneType::SequentialPreferred,
            _ => ZoneType::Conventional,
        },
        condition: match entry[25] {
            0 => ZoneCondition::NoPointer,
            1 => ZoneCondition::Empty,
            // Opened by a write or a command, or closed.
            2..=4 => ZoneCondition::Active,
            0xd => ZoneCondition::ReadOnly,
            0xe => ZoneCondition::Full,
            // Also the value for conditions that later kernels may add.
            _ => ZoneCondition::Offline,
        },
    }
}

/// The u64 at `at`; 0 beyond the end.
fn number(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..at + 8).and_then(|word| <[u8; 8]>::try_from(word).ok());
    word.map_or(0, u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;

    use super::*;

    /// A report of zones: start, length, pointer, type, condition, capacity, in sectors.
    fn report(flags: u32, zones: &[(u64, u64, u64, u8, u8, u64)]) -> Vec<u8> {
        let mut report = 0_u64.to_ne_bytes().to_vec();
        report.extend((zones.len() as u32).to_ne_bytes());
        report.extend(flags.to_ne_bytes());
        for &(start, len, pointer, kind, condition, capacity) in zones {
            [start, len, pointer].iter().for_each(|number| report.extend(number.to_ne_bytes()));
            report.extend([kind, condition, 0, 0, 0, 0, 0, 0]);
            report.extend(capacity.to_ne_bytes());
            report.extend([0; 24]);
        }
        report
    }

    #[test]
    fn a_report_has_bytes_kinds_and_conditions() {
        let bytes = report(
            1,
            &[
                (0, 2048, u64::MAX, 1, 0, 2048),
                (2048, 2048, 2048, 2, 1, 1536),
                (4096, 2048, 4104, 2, 2, 1536),
                (6144, 2048, 6152, 3, 4, 2048),
                (8192, 2048, u64::MAX, 2, 0xe, 1536),
                (10240, 2048, u64::MAX, 2, 0xd, 1536),
                (12288, 2048, u64::MAX, 2, 0xf, 1536),
            ],
        );
        let zones = zones_of(&bytes);
        assert_eq!(
            zones[2],
            ZoneReport {
                start: 2 << 20,
                len: 1 << 20,
                capacity: 768 << 10,
                write_pointer: (2 << 20) + 4096,
                kind: ZoneType::SequentialRequired,
                condition: ZoneCondition::Active,
            }
        );
        let conditions: Vec<_> = zones.iter().map(|zone| zone.condition).collect();
        let want = [
            ZoneCondition::NoPointer,
            ZoneCondition::Empty,
            ZoneCondition::Active,
            ZoneCondition::Active,
            ZoneCondition::Full,
            ZoneCondition::ReadOnly,
            ZoneCondition::Offline,
        ];
        assert_eq!(conditions, want);
        assert_eq!((zones[0].kind, zones[3].kind), (ZoneType::Conventional, ZoneType::SequentialPreferred));
    }

    #[test]
    fn without_capacities_zones_can_be_written_as_a_whole() {
        let zones = zones_of(&report(0, &[(0, 2048, 0, 2, 1, 7)]));
        assert_eq!(zones[0].capacity, 1 << 20);
    }

    #[test]
    fn a_report_that_was_cut_has_the_zones_that_are_whole() {
        let bytes = report(1, &[(0, 2048, 0, 2, 1, 2048), (2048, 2048, 2048, 2, 1, 2048)]);
        assert_eq!(zones_of(&bytes[..bytes.len() - 1]).len(), 1);
        assert!(zones_of(&bytes[..10]).is_empty());
    }

    #[test]
    fn what_is_no_zoned_device_has_no_report() {
        let file = File::open("/dev/null").unwrap();
        assert_eq!(report_zones(file.as_fd(), 0).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
        assert!(reset_zones(file.as_fd(), 0, 512).is_err() && finish_zones(file.as_fd(), 0, 512).is_err());
    }

    #[test]
    fn commands_have_the_numbers_of_the_kernel() {
        // direction, size of the argument, type 0x12, number
        let command =
            |direction: u32, size: u32, number: u32| direction << 30 | size << 16 | 0x12 << 8 | number;
        assert_eq!(BLKREPORTZONE as u32, command(3, 16, 130));
        assert_eq!(BLKRESETZONE as u32, command(1, 16, 131));
        assert_eq!(BLKFINISHZONE as u32, command(1, 16, 136));
    }
}
