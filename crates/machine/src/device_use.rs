//! The use of a block device, and the data that writing to it would destroy: mounted file systems, partitions, devices built on it, swap,
//! signatures.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::devices::{DeviceNumber, device_node, number, sys_directory};
use crate::files::{entries, sys_text};
use crate::interruptions::{RetryInterrupted, open_to_read, text_of_file};
use crate::mounts::Mounts;

/// Deepest stack of devices that is followed.
const MAX_DEPTH: u32 = 8;

/// Signatures: name, offset and bytes.
const SIGNATURES: [(&str, usize, &[u8]); 9] = [
    ("ext", 0x438, &[0x53, 0xef]),
    ("xfs", 0, b"XFSB"),
    ("btrfs", 0x1_0040, b"_BHRfS_M"),
    ("f2fs", 0x400, &[0x10, 0x20, 0xf5, 0xf2]),
    ("crypto_LUKS", 0, b"LUKS\xba\xbe"),
    ("LVM2_member", 512, b"LABELONE"),
    ("linux_raid_member", 4096, &[0xfc, 0x4e, 0x2b, 0xa9]),
    ("swap", 4086, b"SWAPSPACE2"),
    ("partition table", 512, b"EFI PART"),
];

/// End of the last signature.
const SIGNATURES_END: usize = 0x1_0048;

/// One use of a block device. Displays and serializes as a phrase (`ext4 mounted at /data`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceUse {
    /// A mounted file system.
    Mounted {
        /// Type of the file system.
        file_system: String,
        /// The mount point.
        point: PathBuf,
    },
    /// A partition.
    Partition {
        /// Name of the partition.
        name: String,
        /// Uses of the partition.
        holds: Vec<DeviceUse>,
    },
    /// A device built on this one.
    BuiltOn {
        /// The kind of device (`LVM volume`).
        kind: &'static str,
        /// Name of the device.
        name: String,
        /// Uses of the device.
        holds: Vec<DeviceUse>,
    },
    /// Active swap.
    Swap,
    /// The signature of a file system or the like, under udev's name.
    Signature(String),
}

impl fmt::Display for DeviceUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = match self {
            DeviceUse::Mounted { file_system, point } => {
                return write!(f, "{file_system} mounted at {}", point.display());
            }
            DeviceUse::Swap => return f.write_str("swap in use"),
            DeviceUse::Signature(name) => return write!(f, "{name} signature"),
            DeviceUse::Partition { name, holds } => {
                write!(f, "partition {name}")?;
                holds
            }
            DeviceUse::BuiltOn { kind, name, holds } => {
                write!(f, "{kind} {name} built on it")?;
                holds
            }
        };
        let inner: Vec<String> = inner.iter().map(DeviceUse::to_string).collect();
        if inner.is_empty() { Ok(()) } else { write!(f, " ({})", inner.join(", ")) }
    }
}

impl Serialize for DeviceUse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl DeviceUse {
    /// All uses of a device, its partitions and the devices built on it; `None` if the device's directory in sysfs cannot be found.
    /// The first bytes of the device are read if neither udev nor anything else identifies its contents.
    #[must_use]
    pub fn on(device: DeviceNumber, mounts: &Mounts) -> Option<Vec<DeviceUse>> {
        sys_directory(device).map(|directory| uses_of(device, &directory, mounts, 0))
    }

    /// Whether this is the mounted file system or the active swap that has the signature.
    fn has_signature(&self, signature: &str) -> bool {
        match self {
            DeviceUse::Mounted { file_system, .. } => file_system.starts_with(signature),
            DeviceUse::Swap => signature == "swap",
            DeviceUse::Partition { .. } | DeviceUse::BuiltOn { .. } | DeviceUse::Signature(_) => false,
        }
    }
}

fn uses_of(device: DeviceNumber, directory: &Path, mounts: &Mounts, depth: u32) -> Vec<DeviceUse> {
    let mounted = mounts.0.iter().filter(|mount| mount.device() == device);
    let mut holds: Vec<DeviceUse> = mounted
        .map(|mount| DeviceUse::Mounted {
            file_system: mount.file_system.clone(),
            point: mount.point.clone(),
        })
        .collect();
    let inner = |path: &Path| {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let device = number(&path).filter(|_| depth < MAX_DEPTH);
        device.map(|device| uses_of(device, &path, mounts, depth + 1)).unwrap_or_default()
    };
    let parts = partitions(directory).into_iter();
    holds.extend(parts.map(|part| DeviceUse::Partition { name: name(&part), holds: inner(&part) }));
    let built = entries(&directory.join("holders")).into_iter();
    holds.extend(built.map(|holder| {
        let (kind, name) = stacked_device(&holder);
        DeviceUse::BuiltOn { kind, name, holds: inner(&holder) }
    }));
    if is_swap(&text_of_file("/proc/swaps").unwrap_or_default(), directory) {
        holds.push(DeviceUse::Swap);
    }
    let udev = text_of_file(format!("/run/udev/data/b{}:{}", device.0, device.1));
    let signature = match &udev {
        Ok(properties) => {
            properties.lines().find_map(|line| line.strip_prefix("E:ID_FS_TYPE=")).map(str::to_owned)
        }
        Err(_) if holds.is_empty() => {
            device_node(directory).and_then(|node| read_signature(&node)).map(str::to_owned)
        }
        Err(_) => None,
    };
    if let Some(signature) = signature
        && !holds.iter().any(|one| one.has_signature(&signature))
    {
        holds.push(DeviceUse::Signature(signature));
    }
    holds.dedup();
    holds
}

/// Whether a file system is mounted from the device, from a partition of it or from a device built on it: writing to the device would
/// destroy that file system.
///
/// Devices are compared by number, so links and other names of a device do not matter.
#[must_use]
pub fn is_mounted(device: DeviceNumber, mounts: &Mounts) -> bool {
    is_used(Path::new("/sys/dev/block"), device, &mounts.devices(), 0)
}

fn is_used(sys: &Path, device: DeviceNumber, mounted: &HashSet<DeviceNumber>, depth: u32) -> bool {
    if mounted.contains(&device) {
        return true;
    }
    let directory = sys.join(format!("{}:{}", device.0, device.1));
    let mut above = partitions(&directory).into_iter().chain(entries(&directory.join("holders")));
    depth < MAX_DEPTH
        && above.any(|path| number(&path).is_some_and(|device| is_used(sys, device, mounted, depth + 1)))
}

fn partitions(sys: &Path) -> Vec<PathBuf> {
    let mut entries = entries(sys);
    entries.retain(|path| path.join("partition").exists());
    entries
}

/// The first signature on a device; `None` if there is none or the device cannot be read.
fn read_signature(device: &Path) -> Option<&'static str> {
    let mut start = Vec::with_capacity(SIGNATURES_END);
    let device = RetryInterrupted(open_to_read(device).ok()?);
    device.take(SIGNATURES_END as u64).read_to_end(&mut start).ok()?;
    signature_in(&start)
}

fn signature_in(start: &[u8]) -> Option<&'static str> {
    let there = |(_, at, bytes): &&(&str, usize, &[u8])| start.get(*at..*at + bytes.len()) == Some(*bytes);
    SIGNATURES.iter().find(there).map(|(name, ..)| *name)
}

/// The kind and the name of a device that is built on another one.
fn stacked_device(holder: &Path) -> (&'static str, String) {
    let named = sys_text(&holder.join("dm/name")).unwrap_or_else(|| name(holder));
    let kind = match sys_text(&holder.join("dm/uuid")).unwrap_or_default() {
        uuid if uuid.starts_with("LVM-") => "LVM volume",
        uuid if uuid.starts_with("mpath-") => "multipath device",
        uuid if uuid.starts_with("CRYPT-") => "encrypted device",
        _ if holder.join("md").exists() => "RAID array",
        _ => "device",
    };
    (kind, named)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_swap(swaps: &str, directory: &Path) -> bool {
    let names = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let own = directory.file_name();
    names.map(Path::new).any(|name| fs::canonicalize(name).is_ok_and(|node| node.file_name() == own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_on_a_partition_or_on_a_device_built_on_it_counts() {
        let sys = tempfile::tempdir().unwrap();
        let disk = sys.path().join("8:0");
        fs::create_dir_all(disk.join("sda1")).unwrap();
        fs::write(disk.join("sda1/partition"), "1\n").unwrap();
        fs::write(disk.join("sda1/dev"), "8:1\n").unwrap();
        let part = sys.path().join("8:1/holders/dm-0");
        fs::create_dir_all(&part).unwrap();
        fs::write(part.join("dev"), "253:0\n").unwrap();
        let check = |device, mounted: DeviceNumber| is_used(sys.path(), device, &HashSet::from([mounted]), 0);
        assert!(check((8, 0), (8, 0)) && check((8, 0), (8, 1)) && check((8, 0), (253, 0)));
        assert!(!check((8, 1), (8, 0)) && !check((8, 0), (8, 16)));
    }

    #[test]
    fn what_is_on_a_partition_follows_in_brackets() {
        let root = DeviceUse::Mounted { file_system: "ext4".into(), point: "/".into() };
        let volume = DeviceUse::BuiltOn { kind: "LVM volume", name: "vg-root".into(), holds: vec![root] };
        let part = DeviceUse::Partition { name: "sda1".into(), holds: vec![volume, DeviceUse::Swap] };
        let want = "partition sda1 (LVM volume vg-root built on it (ext4 mounted at /), swap in use)";
        assert_eq!(part.to_string(), want);
        assert_eq!(DeviceUse::Signature("xfs".into()).to_string(), "xfs signature");
    }

    #[test]
    fn the_signature_of_a_mounted_file_system_is_not_listed_again() {
        let ext4 = DeviceUse::Mounted { file_system: "ext4".into(), point: "/".into() };
        assert!(ext4.has_signature("ext4") && ext4.has_signature("ext") && !ext4.has_signature("xfs"));
        assert!(DeviceUse::Swap.has_signature("swap") && !DeviceUse::Swap.has_signature("ext4"));
    }

    #[test]
    fn signatures_are_found_at_their_places() {
        for (name, at, bytes) in SIGNATURES {
            let mut start = vec![0; SIGNATURES_END];
            start[at..at + bytes.len()].copy_from_slice(bytes);
            assert_eq!(signature_in(&start), Some(name));
            assert_eq!(signature_in(&start[..at + bytes.len() - 1]), None, "{name} is cut off");
        }
        assert_eq!((signature_in(&[]), signature_in(&[0; SIGNATURES_END])), (None, None));
    }

    #[test]
    fn a_device_that_cannot_be_read_has_no_signature() {
        assert_eq!(read_signature(Path::new("/no/such/device")), None);
    }
}
