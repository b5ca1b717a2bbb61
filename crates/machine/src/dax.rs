//! Persistent memory: devices that programs map without a file system (device DAX), as described in `/sys/dev/char`, and files on file
//! systems that are mounted with DAX.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

use crate::char_devices;
use crate::disks::Disk;
use crate::files::sys_figure;
use crate::storage_locations::storage_device;

/// Bytes that a device maps together by default.
const USUAL_UNIT: u64 = 2 << 20;

/// A device of persistent memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaxDevice {
    /// Bytes.
    pub size: u64,
    /// Mappings begin and end at multiples of this.
    pub unit: u64,
}

impl DaxDevice {
    /// The device at a path; `None` for anything else.
    #[must_use]
    pub fn at(path: &Path) -> Option<Self> {
        Self::described_in(&char_devices::directory(path)?)
    }

    fn described_in(here: &Path) -> Option<Self> {
        if !char_devices::is_of(here, "dax") {
            return None;
        }
        let unit = sys_figure(&here.join("align")).filter(|&unit| unit.is_power_of_two());
        Some(DaxDevice { size: sys_figure(&here.join("size"))?, unit: unit.unwrap_or(USUAL_UNIT) })
    }
}

/// Whether a file or block device at this path can certainly not be mapped as persistent memory (`MAP_SYNC`): it is not accessed with DAX,
/// or it does not exist yet and its file system is not on persistent memory. Mount options may matter, too.
#[must_use]
pub fn is_without_dax(path: &Path) -> bool {
    match statx(CWD, path, AtFlags::empty(), StatxFlags::empty()) {
        // Kernels before 5.8 do not report it.
        Ok(found) if found.stx_attributes_mask.contains(StatxAttributes::DAX) => {
            !found.stx_attributes.contains(StatxAttributes::DAX)
        }
        _ => !storage_device(path).and_then(Disk::of).is_some_and(|disk| disk.supports_dax()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_device_has_a_size_and_a_unit_of_mapping() {
        let sys = tempfile::tempdir().unwrap();
        let device = |number: &str, subsystem: &str, figures: &[(&str, &str)]| {
            let (here, bus) = (sys.path().join(number), sys.path().join(subsystem));
            fs::create_dir_all(&here).unwrap();
            fs::create_dir_all(&bus).unwrap();
            symlink(bus, here.join("subsystem")).unwrap();
            figures.iter().for_each(|(name, text)| fs::write(here.join(name), text).unwrap());
        };
        device("252:0", "bus/dax", &[("size", "8589934592\n"), ("align", "1073741824\n")]);
        device("252:1", "class/dax", &[("size", "2097152\n")]);
        device("252:2", "bus/dax", &[]);
        device("1:3", "class/mem", &[("size", "4096\n")]);
        let found = |number: &str| DaxDevice::described_in(&sys.path().join(number));
        assert_eq!(found("252:0"), Some(DaxDevice { size: 8 << 30, unit: 1 << 30 }));
        assert_eq!(found("252:1"), Some(DaxDevice { size: 2 << 20, unit: 2 << 20 }));
        assert_eq!(found("252:2"), None, "a device without a size");
        assert_eq!((found("1:3"), found("9:9")), (None, None));
        assert_eq!(DaxDevice::at(Path::new("/dev/null")), None);
        assert_eq!(DaxDevice::at(Path::new("/no/such/device")), None);
    }

    #[test]
    fn files_of_memory_and_of_disks_are_without_dax() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        assert!(is_without_dax(&file) || Disk::of(storage_device(&file).unwrap()).unwrap().supports_dax());
        assert!(
            is_without_dax(Path::new("/dev/shm/no/such/file")) && is_without_dax(Path::new("/proc/stat"))
        );
    }
}
