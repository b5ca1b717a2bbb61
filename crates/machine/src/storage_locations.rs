//! The file systems and devices of the files of a run.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::devices::{BlockDevice, DeviceNumber, device_number};
use crate::files::{existing_parent, here_and_above};
use crate::mounts::Mounts;

/// A file system and its device, or a device that is used directly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageLocation {
    /// Mount point; `None` for a device.
    pub mount_point: Option<PathBuf>,
    /// Type of the file system; `None` for a device.
    pub file_system: Option<String>,
    /// The mounted source; `None` for a device.
    pub source: Option<String>,
    /// The device; `None` for file systems without a block device (in memory, over the network).
    pub device: Option<BlockDevice>,
}

impl StorageLocation {
    /// Whether its data is in memory.
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

/// The device that stores a path: the block device itself, or the device of the file or its nearest existing directory.
#[must_use]
pub fn storage_device(path: &Path) -> Option<DeviceNumber> {
    let existing = here_and_above(path).find_map(|path| fs::metadata(path).ok())?;
    let is_device = existing.file_type().is_block_device();
    Some(device_number(if is_device { existing.rdev() } else { existing.dev() }))
}

/// The locations of the queried paths, each once, in order of first use. The mounts are read at the first use.
#[derive(Clone, Debug, Default)]
pub struct StorageLocations {
    mounts: OnceCell<Mounts>,
    all: Vec<StorageLocation>,
    index_by_key: HashMap<LocationKey, Option<usize>>,
}

/// The key by which the location of a path is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum LocationKey {
    /// The directory of the path, which most files of a job share, and the device number of the path. A number that differs from that of
    /// the rest of the directory marks a mount point.
    Directory(PathBuf, Option<u64>),
    Device(DeviceNumber),
}

impl StorageLocations {
    /// The mounts in which locations are looked up.
    #[must_use]
    pub fn mounts(&self) -> &Mounts {
        self.mounts.get_or_init(Mounts::known)
    }

    /// All locations so far.
    #[must_use]
    pub fn all(&self) -> &[StorageLocation] {
        &self.all
    }

    /// The index of the location of a path, or of its nearest existing directory. `None` for character devices and the like.
    pub fn index_of(&mut self, path: &Path) -> Option<usize> {
        let there = fs::symlink_metadata(path).ok();
        let is_link = there.as_ref().is_some_and(fs::Metadata::is_symlink);
        let found = if is_link { fs::metadata(path).ok() } else { there };
        let device = match &found {
            Some(found) if found.file_type().is_block_device() => Some(device_number(found.rdev())),
            Some(found) if !found.is_file() && !found.is_dir() => return None,
            _ => None,
        };
        // The target of a link may be elsewhere.
        if device.is_none() && is_link {
            return self.of_file(path);
        }
        let key = match device {
            Some(device) => LocationKey::Device(device),
            None => {
                let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
                LocationKey::Directory(directory, found.map(|found| found.dev()))
            }
        };
        if let Some(known) = self.index_by_key.get(&key) {
            return *known;
        }
        let index = match device {
            Some(device) => Some(
                self.add(StorageLocation { device: BlockDevice::read(device), ..StorageLocation::default() }),
            ),
            None => self.of_file(path),
        };
        self.index_by_key.insert(key, index);
        index
    }

    fn of_file(&mut self, path: &Path) -> Option<usize> {
        let resolved = fs::canonicalize(path).ok().or_else(|| existing_parent(path))?;
        let mount = self.mounts.get_or_init(Mounts::known).of(&resolved)?;
        let is_there = |location: &StorageLocation| location.mount_point.as_ref() == Some(&mount.point);
        if let Some(known) = self.all.iter().position(is_there) {
            return Some(known);
        }
        let location = StorageLocation {
            mount_point: Some(mount.point.clone()),
            file_system: Some(mount.file_system.clone()),
            source: Some(mount.source.clone()),
            device: BlockDevice::read(mount.device()),
        };
        Some(self.add(location))
    }

    fn add(&mut self, location: StorageLocation) -> usize {
        self.all.iter().position(|known| *known == location).unwrap_or_else(|| {
            self.all.push(location);
            self.all.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_exist_or_not_share_the_place_of_their_directory() {
        let dir = tempfile::tempdir().unwrap();
        let mut places = StorageLocations::default();
        fs::write(dir.path().join("here"), b"x").unwrap();
        std::os::unix::fs::symlink(dir.path().join("here"), dir.path().join("link")).unwrap();
        let here = places.index_of(&dir.path().join("here"));
        assert_eq!(here, Some(0));
        for other in ["none", "none/there", "link"] {
            assert_eq!(places.index_of(&dir.path().join(other)), here, "{other}");
        }
        assert!(places.all().len() == 1 && places.all()[0].file_system.is_some());
    }

    #[test]
    fn a_link_is_at_the_place_of_its_target() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/proc/self/status", dir.path().join("link")).unwrap();
        let mut places = StorageLocations::default();
        let (here, linked) =
            (places.index_of(&dir.path().join("f")), places.index_of(&dir.path().join("link")));
        assert_ne!(here, linked);
        assert_eq!(places.all()[linked.unwrap()].file_system.as_deref(), Some("proc"));
    }

    #[test]
    fn a_missing_file_is_stored_where_its_nearest_directory_is() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(storage_device(&dir.path().join("a/b/c")), storage_device(dir.path()));
        assert!(storage_device(Path::new("no-such-file")).is_some());
    }

    #[test]
    fn a_character_device_has_no_place() {
        assert_eq!(StorageLocations::default().index_of(Path::new("/dev/null")), None);
    }

    #[test]
    fn memory_is_known_by_file_system_and_device() {
        let on = |kind: &str, disk: &str| {
            let device = BlockDevice { disk_name: disk.to_owned(), ..BlockDevice::default() };
            let device = Some(device).filter(|_| !disk.is_empty());
            StorageLocation { file_system: Some(kind.to_owned()), device, ..StorageLocation::default() }
                .is_in_memory()
        };
        assert!(on("tmpfs", "") && on("ext4", "zram0") && on("ext4", "ram15"));
        assert!(!on("ext4", "vda") && !on("ext4", "ramdisk") && !on("nfs", ""));
    }
}
