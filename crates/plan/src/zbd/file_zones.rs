//! The zones of each file: those of a zoned block device, or emulated ones of the size that the job asks for.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::PathBuf;

use ferrio_job::{Direction, FileKind, FileSpec, FileZones, JobSpec, Prefix, SetupError, ZoneModel};
use ferrio_jobfile::{Job, Opt};
use ferrio_machine::ZonedDevice;

use super::failed;
use crate::as_written::asks;
use crate::direction::changes_data;
use crate::sizes::JobFile;

/// The smallest zone, in bytes.
const MIN_ZONE: u64 = 512;

/// The zones of all files that earlier jobs have in zones.
pub(crate) type ZonesByPath = HashMap<PathBuf, FileZones>;

/// The zones of the files of a job, which were examined.
///
/// # Errors
/// A file has no zones and the job does not say how large they are, or what it says does not fit.
pub(crate) fn of_files(
    job: &Job,
    spec: &JobSpec,
    files: &[JobFile],
    known: &mut ZonesByPath,
) -> Result<Vec<FileZones>, SetupError> {
    files.iter().map(|file| of_file(job, spec, file, known)).collect()
}

/// The zones of files that are counted, of which some entries may have been divided; `counts` are those of the entries before.
pub(crate) fn of_parts(zones: &[FileZones], counts: &[u64], parts: &[FileSpec]) -> Vec<FileZones> {
    let mut each = zones.iter().zip(counts).map(|(zones, count)| (*zones, *count));
    let mut current = each.next();
    let of_part = |part: &FileSpec| {
        let (zones, left) = current?;
        current = if left > part.count() { Some((zones, left - part.count())) } else { each.next() };
        Some(zones)
    };
    parts.iter().filter_map(of_part).collect()
}

fn of_file(
    job: &Job,
    spec: &JobSpec,
    file: &JobFile,
    known: &mut ZonesByPath,
) -> Result<FileZones, SetupError> {
    let options = &job.options;
    let (size, capacity): (u64, u64) = (options.value(Opt::Zonesize), options.value(Opt::Zonecapacity));
    let max_open: u32 = options.value(Opt::MaxOpenZones);
    let path = file.path.display();
    if file.found.kind == FileKind::Char {
        return Err(failed(format!("{path}: zonemode=zbd needs a regular file or a block device")));
    }
    let device = file.found.device.and_then(ZonedDevice::read);
    if let Some(earlier) = known.get(&file.path) {
        return same_zones(&path, *earlier, size, capacity, max_open);
    }
    let zones = match device {
        Some(device) => of_device(&path, spec, device, size, (max_open, asks(job, Opt::IgnoreZoneLimits)))?,
        None => emulated(&path, size, capacity, max_open)?,
    };
    known.insert(file.path.clone(), zones);
    Ok(zones)
}

/// The zones of a file that the first job with the file has settled; the others may not contradict them.
fn same_zones(
    path: &dyn Display,
    zones: FileZones,
    size: u64,
    capacity: u64,
    max_open: u32,
) -> Result<FileZones, SetupError> {
    if size > 0 && size != zones.size {
        let message = format!("{path}: zonesize {size} does not match the device zone size {}.", zones.size);
        return Err(failed(message));
    }
    if capacity > 0 && capacity != zones.capacity && zones.model == ZoneModel::Emulated {
        let message = format!(
            "{path}: zonecapacity {capacity} does not match that of an earlier job, {}",
            zones.capacity
        );
        return Err(failed(message));
    }
    if max_open > 0 && max_open != zones.max_open {
        return Err(failed("Different 'max_open_zones' values"));
    }
    Ok(zones)
}

fn emulated(path: &dyn Display, size: u64, capacity: u64, max_open: u32) -> Result<FileZones, SetupError> {
    let message = match (size, capacity) {
        (0, _) => {
            "Specifying the zone size is mandatory for regular file/block device with --zonemode=zbd".into()
        }
        (size, _) if size < MIN_ZONE => "zone size must be at least 512 bytes for --zonemode=zbd".into(),
        (size, capacity) if capacity > size => {
            format!("job parameter zonecapacity {capacity} is larger than zone size {size}")
        }
        (size, capacity) => {
            let capacity = if capacity > 0 { capacity } else { size };
            return Ok(FileZones { model: ZoneModel::Emulated, size, capacity, max_open });
        }
    };
    Err(failed(format!("{path}: {message}")))
}

/// The limit of the device holds for the job too, unless it ignores that.
pub(super) fn of_device(
    path: &dyn Display,
    spec: &JobSpec,
    device: ZonedDevice,
    size: u64,
    (max_open, ignores_limits): (u32, bool),
) -> Result<FileZones, SetupError> {
    let zone = device.zone_bytes;
    if zone == 0 {
        return Err(failed(format!("{path}: the kernel does not tell the zone size of the device")));
    }
    if size > 0 && size != zone {
        let message = format!("{path} job parameter zonesize {size} does not match disk zone size {zone}.");
        return Err(failed(message).prefix(Prefix::Program));
    }
    if device.host_managed && changes_data(spec.rw) && !spec.opening.direct {
        return Err(failed("Using direct I/O is mandatory for writing to ZBD drives"));
    }
    if spec.offload && spec.rw.does(Direction::Write) && spec.depth.iodepth > 1 {
        let message =
            format!("{path}: the threads of io_submit_mode=offload do not keep writes to a zone in order");
        return Err(failed(message));
    }
    let most = match device.max_open_zones {
        0 => device.max_active_zones,
        most => most,
    };
    let most = u32::try_from(most).unwrap_or(u32::MAX);
    let max_open = match (max_open, most) {
        (max_open, _) if ignores_limits => max_open,
        (0, most) => most,
        (max_open, most) if most > 0 && max_open > most => {
            let message = format!("Specified --max_open_zones ({max_open}) is larger than max ({most})");
            return Err(failed(message));
        }
        (max_open, _) => max_open,
    };
    let model = if device.host_managed { ZoneModel::HostManaged } else { ZoneModel::HostAware };
    Ok(FileZones { model, size: zone, capacity: zone, max_open })
}
