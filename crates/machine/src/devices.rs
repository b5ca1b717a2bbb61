//! Block devices, as described in `/sys/dev/block`.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};
use serde::Serialize;

use crate::files::{entries, sys_figure, sys_text};

/// Major and minor number.
pub type DeviceNumber = (u64, u64);

/// Numbers of a device node, from the `st_rdev` of its metadata.
#[must_use]
pub fn device_number(rdev: u64) -> DeviceNumber {
    (major(rdev), minor(rdev))
}

/// The node below `/dev` of the block device with this number: the one that the kernel names, otherwise one directly in `/dev`.
#[must_use]
pub fn block_device_node(device: DeviceNumber) -> Option<PathBuf> {
    let is_it = |path: &PathBuf| {
        let is_it = |of: fs::Metadata| of.file_type().is_block_device() && device_number(of.rdev()) == device;
        fs::metadata(path).is_ok_and(is_it)
    };
    let named = sys_directory(device).and_then(|sys| device_node(&sys));
    named.filter(is_it).or_else(|| entries(Path::new("/dev")).into_iter().find(is_it))
}

/// A block device, perhaps a partition; the figures of its queue are those of the whole disk. Serializes as a `device` object of `ferrio
/// check`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlockDevice {
    /// Major and minor number.
    #[serde(skip)]
    pub number: DeviceNumber,
    /// The device node.
    pub path: PathBuf,
    /// Node of the whole disk; differs from `path` for a partition.
    pub disk: PathBuf,
    /// Name of the whole disk below `/sys/block`, as in disk statistics.
    #[serde(skip)]
    pub disk_name: String,
    /// Vendor and model, if known.
    pub model: Option<String>,
    /// Bytes.
    pub size_bytes: u64,
    /// Smallest unit of direct I/O.
    pub logical_block_bytes: u64,
    /// Unit that is written without reading first.
    pub physical_block_bytes: u64,
    /// Whether it is a rotating disk, as far as the kernel knows.
    pub rotational: bool,
    /// Whether it supports trims.
    pub trims: bool,
    /// Whether it is read-only.
    #[serde(skip)]
    pub read_only: bool,
    /// The current I/O scheduler (`none`, `mq-deadline`).
    #[serde(skip)]
    pub scheduler: Option<String>,
    /// The file that a loop device without direct I/O keeps in the page cache.
    #[serde(skip)]
    pub cached_file: Option<String>,
    /// Whether the kernel does not count the disk's I/O, or has not counted any yet.
    #[serde(skip)]
    pub uncounted: bool,
}

impl BlockDevice {
    /// Queries a device; `None` if the number is not that of a block device.
    #[must_use]
    pub fn read(number: DeviceNumber) -> Option<Self> {
        let here = sys_directory(number)?;
        let disk = whole_disk(&here);
        let queue = |name: &str| sys_figure(&disk.join("queue").join(name));
        let logical = queue("logical_block_size").filter(|&bytes| bytes > 0).unwrap_or(512);
        Some(BlockDevice {
            number,
            path: device_node(&here)?,
            disk: device_node(&disk)?,
            disk_name: disk.file_name()?.to_string_lossy().into_owned(),
            model: model(&disk),
            size_bytes: sys_figure(&here.join("size")).unwrap_or(0).saturating_mul(512),
            logical_block_bytes: logical,
            physical_block_bytes: queue("physical_block_size").unwrap_or(logical),
            rotational: queue("rotational") == Some(1),
            trims: queue("discard_max_bytes").is_some_and(|bytes| bytes > 0),
            read_only: sys_text(&here.join("ro")).as_deref() == Some("1"),
            scheduler: sys_text(&disk.join("queue/scheduler"))
                .map(|text| current_scheduler(&text).to_owned()),
            cached_file: cached_file(&disk),
            uncounted: uncounted(&disk),
        })
    }
}

/// The directory of a device below `/sys`.
pub(crate) fn sys_directory(device: DeviceNumber) -> Option<PathBuf> {
    fs::canonicalize(format!("/sys/dev/block/{}:{}", device.0, device.1)).ok()
}

/// The directory of the disk that a partition belongs to, or that of the device itself.
pub(crate) fn whole_disk(sys: &Path) -> PathBuf {
    let parent = sys.parent().filter(|_| sys.join("partition").exists());
    parent.unwrap_or(sys).to_path_buf()
}

/// The number of the device with this directory.
pub(crate) fn number(sys: &Path) -> Option<DeviceNumber> {
    let text = sys_text(&sys.join("dev"))?;
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The node of a device by its directory below `/sys`; for `dm-0`, its better known name below `/dev/mapper`.
pub(crate) fn device_node(sys: &Path) -> Option<PathBuf> {
    let mapped = sys_text(&sys.join("dm/name")).map(|name| Path::new("/dev/mapper").join(name));
    let name = sys.file_name()?.to_string_lossy().replace('!', "/");
    Some(mapped.unwrap_or_else(|| Path::new("/dev").join(name)))
}

fn model(disk: &Path) -> Option<String> {
    if let Some(file) = sys_text(&disk.join("loop/backing_file")) {
        return Some(format!("loop over {file}"));
    }
    let model = sys_text(&disk.join("device/model"))?;
    // The vendor of ATA disks is always ATA; NVMe vendors are numbers.
    let vendor =
        sys_text(&disk.join("device/vendor")).filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
    Some(vendor.map(|vendor| format!("{vendor} {model}")).unwrap_or(model))
}

fn cached_file(disk: &Path) -> Option<String> {
    let is_direct = sys_text(&disk.join("loop/dio"))? == "1";
    sys_text(&disk.join("loop/backing_file")).filter(|_| !is_direct)
}

/// Counting can be switched off, and some drivers never count. The kernel reads from each disk when it appears, so a disk whose counters
/// are all 0 is not counted.
fn uncounted(disk: &Path) -> bool {
    let off = sys_text(&disk.join("queue/iostats")).as_deref() == Some("0");
    let nothing = |stat: String| stat.split_ascii_whitespace().all(|figure| figure == "0");
    off || sys_text(&disk.join("stat")).is_none_or(nothing)
}

/// `mq-deadline` in `none [mq-deadline] kyber`; a text without brackets is the scheduler itself.
pub(crate) fn current_scheduler(schedulers: &str) -> &str {
    let bracketed = schedulers.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(schedulers, |(current, _)| current)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_brackets_is_the_current_one() {
        assert_eq!(current_scheduler("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!((current_scheduler("[none]"), current_scheduler("none")), ("none", "none"));
    }

    #[test]
    fn numbers_without_a_device_find_nothing() {
        assert_eq!(BlockDevice::read((0, 4_000_000)), None);
    }

    #[test]
    fn a_loop_device_without_direct_io_has_its_file_in_the_cache() {
        let disk = tempfile::tempdir().unwrap();
        assert_eq!(cached_file(disk.path()), None);
        fs::create_dir(disk.path().join("loop")).unwrap();
        fs::write(disk.path().join("loop/backing_file"), "/srv/image\n").unwrap();
        fs::write(disk.path().join("loop/dio"), "0\n").unwrap();
        assert_eq!(cached_file(disk.path()).as_deref(), Some("/srv/image"));
        fs::write(disk.path().join("loop/dio"), "1\n").unwrap();
        assert_eq!(cached_file(disk.path()), None);
    }

    #[test]
    fn a_disk_is_uncounted_if_counting_is_off_or_all_counters_are_zero() {
        let disk = tempfile::tempdir().unwrap();
        assert!(uncounted(disk.path()));
        fs::write(disk.path().join("stat"), "  0  0 0 0\n").unwrap();
        assert!(uncounted(disk.path()));
        fs::write(disk.path().join("stat"), "  7  0 56 1\n").unwrap();
        assert!(!uncounted(disk.path()));
        fs::create_dir(disk.path().join("queue")).unwrap();
        fs::write(disk.path().join("queue/iostats"), "0\n").unwrap();
        assert!(uncounted(disk.path()));
    }

    #[test]
    fn a_disk_without_model_file_has_no_model() {
        let disk = tempfile::tempdir().unwrap();
        assert_eq!(model(disk.path()), None);
        fs::create_dir(disk.path().join("device")).unwrap();
        fs::write(disk.path().join("device/model"), "Fast 9000   \n").unwrap();
        assert_eq!(model(disk.path()).as_deref(), Some("Fast 9000"));
        fs::write(disk.path().join("device/vendor"), "ACME\n").unwrap();
        assert_eq!(model(disk.path()).as_deref(), Some("ACME Fast 9000"));
        fs::write(disk.path().join("device/vendor"), "0x1b36\n").unwrap();
        assert_eq!(model(disk.path()).as_deref(), Some("Fast 9000"));
    }
}
