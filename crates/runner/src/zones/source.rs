//! Where the zones of a file come from: emulated ones are numbers in memory, those of a device are reported and changed by commands.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use ferrio_engine::zones::{ZoneCondition, ZoneReport, ZoneType, finish_zones, report_zones, reset_zones};
use ferrio_machine::open_file;
use nix::fcntl::OFlag;

use super::table::Zone;

/// The source of zones.
#[derive(Debug)]
pub(crate) enum ZoneSource {
    /// The program.
    Emulated,
    /// A zoned block device, open apart from the descriptors of the jobs.
    Device(File),
    /// A list of zones in a file, in the place of a device.
    #[cfg(test)]
    Listed(super::tests::listed::ListedZones),
}

impl ZoneSource {
    /// A device, which is changed only if `writes` is true.
    ///
    /// # Errors
    /// The device cannot be opened.
    pub(crate) fn device(path: &Path, writes: bool) -> io::Result<Self> {
        let access = if writes { OFlag::O_RDWR } else { OFlag::O_RDONLY };
        open_file(path, access, 0).map(ZoneSource::Device)
    }

    /// All zones of a device; `None` for emulated ones.
    ///
    /// # Errors
    /// The device does not report them, or they are not of one size and without gaps.
    pub(crate) fn zones(&self) -> io::Result<Option<Vec<ZoneReport>>> {
        let report = |from| match self {
            ZoneSource::Emulated => Ok(Vec::new()),
            ZoneSource::Device(device) => report_zones(device.as_fd(), from),
            #[cfg(test)]
            ZoneSource::Listed(list) => list.report(from),
        };
        if matches!(self, ZoneSource::Emulated) {
            return Ok(None);
        }
        let mut zones: Vec<ZoneReport> = Vec::new();
        loop {
            let from = zones.last().map_or(0, |last| last.start + last.len);
            let more = report(from)?;
            if more.first().is_none_or(|first| first.start != from || first.len == 0) {
                break;
            }
            zones.extend(more);
        }
        check_shape(&zones)?;
        Ok(Some(zones))
    }

    /// Makes a zone empty.
    ///
    /// # Errors
    /// The device refuses.
    pub(crate) fn reset(&self, start: u64, len: u64) -> io::Result<()> {
        match self {
            ZoneSource::Emulated => Ok(()),
            ZoneSource::Device(device) => reset_zones(device.as_fd(), start, len),
            #[cfg(test)]
            ZoneSource::Listed(list) => list.change(start, |zone| {
                (zone.write_pointer, zone.condition) = (zone.start, ZoneCondition::Empty);
            }),
        }
    }

    /// Makes a zone full. Nothing is left of an emulated one that its job could write.
    ///
    /// # Errors
    /// The device refuses.
    pub(crate) fn finish(&self, start: u64, len: u64) -> io::Result<()> {
        match self {
            ZoneSource::Emulated => Ok(()),
            ZoneSource::Device(device) => finish_zones(device.as_fd(), start, len),
            #[cfg(test)]
            ZoneSource::Listed(list) => list.change(start, |zone| {
                (zone.write_pointer, zone.condition) = (zone.start + zone.len, ZoneCondition::Full);
            }),
        }
    }

    /// The zone that begins at `start`, as the device sees it; `None` for an emulated one.
    ///
    /// # Errors
    /// The device does not report it.
    pub(crate) fn zone_at(&self, start: u64) -> io::Result<Option<ZoneReport>> {
        let zones = match self {
            ZoneSource::Emulated => return Ok(None),
            ZoneSource::Device(device) => report_zones(device.as_fd(), start)?,
            #[cfg(test)]
            ZoneSource::Listed(list) => list.report(start)?,
        };
        zones
            .into_iter()
            .find(|zone| zone.start == start)
            .map(Some)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// fio needs the same, and so does arithmetic on zones. The last zone may be shorter.
fn check_shape(zones: &[ZoneReport]) -> io::Result<()> {
    let Some((last, others)) = zones.split_last() else {
        return Err(io::Error::other("the device reports no zones"));
    };
    let len = others.first().map_or(last.len, |first| first.len);
    let begins = |(index, zone): (usize, &ZoneReport)| zone.start == index as u64 * len;
    if others.iter().all(|zone| zone.len == len) && last.len <= len && zones.iter().enumerate().all(begins) {
        Ok(())
    } else {
        Err(io::Error::other("the zones of the device differ in size, or are not one after the other"))
    }
}

/// A zone of a report as jobs use it.
pub(crate) fn usable(report: &ZoneReport) -> Zone {
    // Zones that prefer sequential writes need not have them.
    let sequential = report.kind == ZoneType::SequentialRequired;
    let full = matches!(report.condition, ZoneCondition::Full | ZoneCondition::NoPointer);
    let capacity = report.capacity.min(report.len);
    let written = match full {
        true => capacity,
        false => report.write_pointer.saturating_sub(report.start).min(capacity),
    };
    // What a read-only zone has of data is unknown: it has lost its pointer.
    let used = !matches!(report.condition, ZoneCondition::ReadOnly | ZoneCondition::Offline);
    let mut zone = Zone::empty(report.start, capacity);
    zone.written = if used { written } else { 0 };
    (zone.sequential, zone.readable, zone.writable) = (sequential, used, used);
    zone
}
