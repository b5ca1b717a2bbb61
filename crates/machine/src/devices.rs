//! Block devices: what `/sys/dev/block` says of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use nix::sys::stat::{major, minor};

/// Major and minor number.
pub type DeviceNumber = (u64, u64);

/// Numbers of a device node, from the `st_rdev` of its metadata.
#[must_use]
pub fn device_number(rdev: u64) -> DeviceNumber {
    (major(rdev), minor(rdev))
}

/// True for a device that cannot be written.
#[must_use]
pub fn is_read_only(device: DeviceNumber) -> bool {
    sys_text(&sys_path(device).join("ro")).as_deref() == Some("1")
}

/// The directory below `/sys` of a device, by way of a link.
#[must_use]
pub fn sys_path(device: DeviceNumber) -> PathBuf {
    Path::new("/sys/dev/block").join(format!("{}:{}", device.0, device.1))
}

/// A block device, perhaps a partition; what the queue says is that of the whole disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockDevice {
    /// Its node.
    pub path: PathBuf,
    /// Node of the whole disk, for a partition another than its own.
    pub disk: PathBuf,
    /// Name of the whole disk below `/sys/block`, as disk statistics have it.
    pub disk_name: String,
    /// Vendor and model, if it says.
    pub model: Option<String>,
    /// Bytes.
    pub size_bytes: u64,
    /// Smallest unit of direct I/O.
    pub logical_block_bytes: u64,
    /// Unit that is written without reading first.
    pub physical_block_bytes: u64,
    /// A disk that turns, as far as the kernel knows.
    pub rotational: bool,
    /// It takes trims.
    pub trims: bool,
    /// The I/O scheduler in force (`none`, `mq-deadline`).
    pub scheduler: Option<String>,
    /// The file that a loop device keeps in the page cache: it was set up without direct I/O.
    pub cached_file: Option<String>,
    /// The kernel does not count what the disk moves, or has not counted anything yet.
    pub uncounted: bool,
}

impl BlockDevice {
    /// Asks about a device; `None` for numbers that are no block device.
    #[must_use]
    pub fn read(device: DeviceNumber) -> Option<Self> {
        let here = fs::canonicalize(sys_path(device)).ok()?;
        let is_part = here.join("partition").exists();
        let disk = if is_part { here.parent()?.to_path_buf() } else { here.clone() };
        let queue = |name: &str| figure(&disk.join("queue").join(name));
        let logical = queue("logical_block_size").filter(|&bytes| bytes > 0).unwrap_or(512);
        Some(BlockDevice {
            path: device_node(&here)?,
            disk: device_node(&disk)?,
            disk_name: disk.file_name()?.to_string_lossy().into_owned(),
            model: model(&disk),
            size_bytes: figure::<u64>(&here.join("size")).unwrap_or(0).saturating_mul(512),
            logical_block_bytes: logical,
            physical_block_bytes: queue("physical_block_size").unwrap_or(logical),
            rotational: queue("rotational") == Some(1),
            trims: queue("discard_max_bytes").is_some_and(|bytes| bytes > 0),
            scheduler: sys_text(&disk.join("queue/scheduler")).map(|text| chosen(&text).to_owned()),
            cached_file: cached_file(&disk),
            uncounted: uncounted(&disk),
        })
    }
}

/// The node of a device by its directory below `/sys`: `dm-0` is known to people by its name below `/dev/mapper`.
#[must_use]
pub fn device_node(sys: &Path) -> Option<PathBuf> {
    let mapped = sys_text(&sys.join("dm/name")).map(|name| Path::new("/dev/mapper").join(name));
    let name = sys.file_name()?.to_string_lossy().replace('!', "/");
    Some(mapped.unwrap_or_else(|| Path::new("/dev").join(name)))
}

fn model(disk: &Path) -> Option<String> {
    if let Some(file) = sys_text(&disk.join("loop/backing_file")) {
        return Some(format!("loop over {file}"));
    }
    let model = sys_text(&disk.join("device/model"))?;
    // ATA disks say only that they are ATA; NVMe vendors are numbers.
    let vendor =
        sys_text(&disk.join("device/vendor")).filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
    Some(vendor.map(|vendor| format!("{vendor} {model}")).unwrap_or(model))
}

fn cached_file(disk: &Path) -> Option<String> {
    let is_direct = sys_text(&disk.join("loop/dio"))? == "1";
    sys_text(&disk.join("loop/backing_file")).filter(|_| !is_direct)
}

/// Counting can be switched off. Some drivers never count: the kernel looks at each disk when it appears, so that one that is
/// counted has read something.
fn uncounted(disk: &Path) -> bool {
    let off = sys_text(&disk.join("queue/iostats")).as_deref() == Some("0");
    let nothing = |stat: String| stat.split_ascii_whitespace().all(|figure| figure == "0");
    off || sys_text(&disk.join("stat")).is_none_or(nothing)
}

/// `none [mq-deadline] kyber` is mq-deadline; a single word is chosen as it is.
fn chosen(schedulers: &str) -> &str {
    let between = schedulers.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    between.map_or(schedulers, |(chosen, _)| chosen)
}

fn figure<T: FromStr>(path: &Path) -> Option<T> {
    sys_text(path)?.parse().ok()
}

/// The text of a small file, without blanks around it; `None` for an empty one.
#[must_use]
pub fn sys_text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_brackets_is_the_one_in_force() {
        assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!((chosen("[none]"), chosen("none")), ("none", "none"));
    }

    #[test]
    fn numbers_without_a_device_are_none() {
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
    fn a_disk_is_counted_unless_that_is_off_or_nothing_ever_was() {
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
    fn a_disk_that_says_nothing_of_itself_has_no_model() {
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
