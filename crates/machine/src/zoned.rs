//! Zoned block devices, as described in `/sys/dev/block`. The state of the zones is reported by the device itself, not there.

use std::path::Path;

use crate::devices::{DeviceNumber, sys_directory, whole_disk};
use crate::files::{sys_figure, sys_text};

/// A block device, or a partition of one, whose zones are written sequentially.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonedDevice {
    /// Whether it accepts writes only at the write pointer.
    pub host_managed: bool,
    /// Length of a zone.
    pub zone_bytes: u64,
    /// Most zones that may be open for writing at once; 0 for no limit.
    pub max_open_zones: u64,
    /// Most zones that may be partly written at once; 0 for no limit.
    pub max_active_zones: u64,
}

impl ZonedDevice {
    /// Queries a device; `None` if it has no zones.
    #[must_use]
    pub fn read(number: DeviceNumber) -> Option<Self> {
        Self::of_disk(&whole_disk(&sys_directory(number)?))
    }

    /// A disk by its directory below `/sys`.
    fn of_disk(disk: &Path) -> Option<Self> {
        let host_managed = match sys_text(&disk.join("queue/zoned"))?.as_str() {
            "host-managed" => true,
            "host-aware" => false,
            _ => return None,
        };
        // A limit that the kernel does not know has no file.
        let figure = |name: &str| sys_figure(&disk.join("queue").join(name)).unwrap_or(0);
        Some(ZonedDevice {
            host_managed,
            zone_bytes: figure("chunk_sectors").saturating_mul(512),
            max_open_zones: figure("max_open_zones"),
            max_active_zones: figure("max_active_zones"),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_queue_of_a_disk_says_whether_it_has_zones() {
        let disk = tempfile::tempdir().unwrap();
        assert_eq!(ZonedDevice::of_disk(disk.path()), None, "the kernel knows no zones");
        let set = |name: &str, text: &str| fs::write(disk.path().join("queue").join(name), text).unwrap();
        fs::create_dir(disk.path().join("queue")).unwrap();
        set("zoned", "none\n");
        set("chunk_sectors", "524288\n");
        assert_eq!(ZonedDevice::of_disk(disk.path()), None);
        set("zoned", "host-managed\n");
        let mut want =
            ZonedDevice { host_managed: true, zone_bytes: 256 << 20, max_open_zones: 0, max_active_zones: 0 };
        assert_eq!(ZonedDevice::of_disk(disk.path()), Some(want));
        set("zoned", "host-aware\n");
        set("max_open_zones", "14\n");
        set("max_active_zones", "28\n");
        (want.host_managed, want.max_open_zones, want.max_active_zones) = (false, 14, 28);
        assert_eq!(ZonedDevice::of_disk(disk.path()), Some(want));
    }
}
