//! Whether a file system is mounted from a block device: writing to it from below would destroy that file system.
//!
//! Device numbers are compared, so that links and other names of a device are recognised; partitions and devices stacked on
//! top of it count as well.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};

/// Major and minor number.
pub(crate) type Device = (u64, u64);

/// Devices stacked deeper than this are not looked for.
const DEEPEST: u32 = 8;

/// Numbers of a device node.
pub(crate) fn device(rdev: u64) -> Device {
    (major(rdev), minor(rdev))
}

/// All devices that file systems of this process's view are mounted from.
pub(crate) fn mounted() -> HashSet<Device> {
    parse(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
}

/// True when the device, a part of it or something built on it is in `mounted`.
pub(crate) fn is_in_use(device: Device, mounted: &HashSet<Device>) -> bool {
    in_use(Path::new("/sys/dev/block"), device, mounted, 0)
}

fn in_use(sys: &Path, device: Device, mounted: &HashSet<Device>, depth: u32) -> bool {
    if mounted.contains(&device) {
        return true;
    }
    let here = sys.join(format!("{}:{}", device.0, device.1));
    let below = |directory: PathBuf| fs::read_dir(directory).into_iter().flatten().flatten();
    let parts = below(here.clone()).filter(|entry| entry.path().join("partition").exists());
    let mut above = parts.chain(below(here.join("holders")));
    depth < DEEPEST
        && above.any(|entry| {
            let number =
                fs::read_to_string(entry.path().join("dev")).ok().and_then(|text| numbers(text.trim()));
            number.is_some_and(|device| in_use(sys, device, mounted, depth + 1))
        })
}

/// Each line names the device; file systems with numbers of their own (btrfs) name it by path at the end.
fn parse(mountinfo: &str) -> HashSet<Device> {
    let mut devices = HashSet::new();
    for line in mountinfo.lines() {
        devices.extend(line.split(' ').nth(2).and_then(numbers));
        let source = line.split_once(" - ").and_then(|(_, rest)| rest.split(' ').nth(1));
        let Some(source) = source.filter(|source| source.starts_with('/')) else { continue };
        if let Ok(node) = fs::metadata(source)
            && node.file_type().is_block_device()
        {
            devices.insert(device(node.rdev()));
        }
    }
    devices
}

fn numbers(text: &str) -> Option<Device> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_from_mountinfo() {
        let text = "22 27 0:21 / /proc rw,relatime - proc proc rw\n27 1 254:1 / / rw shared:1 - ext4 /dev/none rw\nodd\n";
        assert_eq!(parse(text), HashSet::from([(0, 21), (254, 1)]));
    }

    #[test]
    fn parts_of_a_device_and_what_is_built_on_it_count() {
        let sys = tempfile::tempdir().unwrap();
        let disk = sys.path().join("8:0");
        fs::create_dir_all(disk.join("sda1")).unwrap();
        fs::write(disk.join("sda1/partition"), "1\n").unwrap();
        fs::write(disk.join("sda1/dev"), "8:1\n").unwrap();
        let part = sys.path().join("8:1/holders/dm-0");
        fs::create_dir_all(&part).unwrap();
        fs::write(part.join("dev"), "253:0\n").unwrap();
        let check = |device, mounted: Device| in_use(sys.path(), device, &HashSet::from([mounted]), 0);
        assert!(check((8, 0), (8, 0)) && check((8, 0), (8, 1)) && check((8, 0), (253, 0)));
        assert!(!check((8, 1), (8, 0)) && !check((8, 0), (8, 16)));
    }
}
