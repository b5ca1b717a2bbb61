//! Where a path lies: in which file system, on which device.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::devices::{BlockDevice, device_number};
use crate::mounts::Mounts;

/// A file system with the device below it, or a device that is used directly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Mount point; `None` for a device.
    pub mount_point: Option<PathBuf>,
    /// Type of the file system; `None` for a device.
    pub file_system: Option<String>,
    /// The device; `None` where no block device is below (network and memory file systems).
    pub device: Option<BlockDevice>,
}

impl Place {
    /// The place of a path; one that is not there counts by its nearest directory. `None` for character devices and the like.
    #[must_use]
    pub fn of(path: &Path, mounts: &Mounts) -> Option<Self> {
        let resolved = match fs::metadata(path) {
            Ok(metadata) if metadata.file_type().is_block_device() => {
                let device = BlockDevice::read(device_number(metadata.rdev()));
                return Some(Place { device, ..Place::default() });
            }
            Ok(metadata) if metadata.is_file() || metadata.is_dir() => fs::canonicalize(path).ok()?,
            Ok(_) => return None,
            Err(_) => existing_parent(path)?,
        };
        let mount = mounts.of(&resolved)?;
        Some(Place {
            mount_point: Some(mount.point.clone()),
            file_system: Some(mount.file_system.clone()),
            device: BlockDevice::read(mount.device()),
        })
    }
}

impl Place {
    /// What is stored there is stored in memory.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        let kinds = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];
        let is_numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        let is_memory = |device: &BlockDevice| {
            ["ram", "zram"].iter().any(|kind| device.disk_name.strip_prefix(kind).is_some_and(is_numbered))
        };
        self.file_system.as_deref().is_some_and(|kind| kinds.contains(&kind))
            || self.device.as_ref().is_some_and(is_memory)
    }
}

/// Nearest directory above a path that is there, resolved.
#[must_use]
pub fn existing_parent(path: &Path) -> Option<PathBuf> {
    let parents = path.ancestors().skip(1);
    parents
        .map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
        .find_map(|parent| fs::canonicalize(parent).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_lies_where_its_nearest_directory_does() {
        let dir = tempfile::tempdir().unwrap();
        let resolved = fs::canonicalize(dir.path()).unwrap();
        assert_eq!(existing_parent(&dir.path().join("a/b/c")), Some(resolved));
        assert_eq!(existing_parent(Path::new("f")), fs::canonicalize(".").ok());
    }

    #[test]
    fn a_file_and_its_neighbour_to_be_share_a_place() {
        let dir = tempfile::tempdir().unwrap();
        let mounts = Mounts::read();
        fs::write(dir.path().join("here"), b"x").unwrap();
        let here = Place::of(&dir.path().join("here"), &mounts).unwrap();
        assert!(here.file_system.is_some());
        assert_eq!(Place::of(&dir.path().join("none/there"), &mounts), Some(here));
    }

    #[test]
    fn memory_is_told_by_file_system_and_device() {
        let on = |kind: &str, disk: &str| {
            let device = BlockDevice { disk_name: disk.to_owned(), ..BlockDevice::default() };
            let device = Some(device).filter(|_| !disk.is_empty());
            Place { file_system: Some(kind.to_owned()), device, ..Place::default() }.is_in_memory()
        };
        assert!(on("tmpfs", "") && on("ext4", "zram0") && on("ext4", "ram15"));
        assert!(!on("ext4", "vda") && !on("ext4", "ramdisk") && !on("nfs", ""));
    }

    #[test]
    fn a_character_device_lies_nowhere() {
        assert_eq!(Place::of(Path::new("/dev/null"), &Mounts::read()), None);
    }
}
