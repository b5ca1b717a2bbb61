//! Block devices with what is on them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use ferrio_machine::{BlockDevice, DeviceNumber, Mounts, device_node, sys_path, sys_text};

use super::signature;
use crate::model::Device;

/// Devices met so far.
#[derive(Debug, Default)]
pub(super) struct Devices {
    known: HashMap<DeviceNumber, Option<Device>>,
}

impl Devices {
    /// A device with what is on it; `None` for numbers that are no block device.
    pub(super) fn find(&mut self, device: DeviceNumber, mounts: &Mounts) -> Option<Device> {
        self.known.entry(device).or_insert_with(|| read(device, mounts)).clone()
    }
}

fn read(device: DeviceNumber, mounts: &Mounts) -> Option<Device> {
    let here = fs::canonicalize(sys_path(device)).ok()?;
    let read = BlockDevice::read(device)?;
    Some(Device {
        holds: holds(device, &here, mounts, 0),
        path: read.path,
        disk: read.disk,
        model: read.model,
        size_bytes: read.size_bytes,
        logical_block_bytes: read.logical_block_bytes,
        physical_block_bytes: read.physical_block_bytes,
        rotational: read.rotational,
        trims: read.trims,
    })
}

/// Devices stacked deeper than this are not looked at.
const DEEPEST: u32 = 8;

/// Whatever would be lost if the device were written to, also what is on its partitions and on devices built on it.
fn holds(device: DeviceNumber, here: &Path, mounts: &Mounts, depth: u32) -> Vec<String> {
    let on_it = mounts.0.iter().filter(|mount| mount.device() == device);
    let mut holds: Vec<String> =
        on_it.map(|mount| format!("{} mounted at {}", mount.file_system, mount.point.display())).collect();
    let below = |directory: &Path| {
        let mut names: Vec<PathBuf> =
            fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        names.sort();
        names
    };
    let with_its_own = |what: String, path: &Path| {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let inner = match numbers(&path).filter(|_| depth < DEEPEST) {
            Some(device) => self::holds(device, &path, mounts, depth + 1),
            None => Vec::new(),
        };
        if inner.is_empty() { what } else { format!("{what} ({})", inner.join(", ")) }
    };
    let parts: Vec<_> = below(here).into_iter().filter(|path| path.join("partition").exists()).collect();
    holds.extend(parts.iter().map(|part| with_its_own(format!("partition {}", name(part)), part)));
    let built = below(&here.join("holders"));
    holds.extend(built.iter().map(|holder| with_its_own(format!("{} built on it", stacked(holder)), holder)));
    if is_swap(&fs::read_to_string("/proc/swaps").unwrap_or_default(), here) {
        holds.push("swap in use".to_owned());
    }
    let udev = fs::read_to_string(format!("/run/udev/data/b{}:{}", device.0, device.1));
    let signature = match &udev {
        Ok(said) => said.lines().find_map(|line| line.strip_prefix("E:ID_FS_TYPE=")).map(str::to_owned),
        // Nobody has looked at the device: a look of our own, where nothing else says that it is in use.
        Err(_) if holds.is_empty() => {
            device_node(here).and_then(|node| signature::read(&node)).map(str::to_owned)
        }
        Err(_) => None,
    };
    if let Some(signature) = signature
        && !holds.iter().any(|held| held.starts_with(&signature))
    {
        holds.push(format!("{signature} signature"));
    }
    holds.dedup();
    holds
}

/// What is built on a device, by the kind of its builder.
fn stacked(holder: &Path) -> String {
    let named = sys_text(&holder.join("dm/name")).unwrap_or_else(|| name(holder));
    let kind = match sys_text(&holder.join("dm/uuid")).unwrap_or_default() {
        uuid if uuid.starts_with("LVM-") => "LVM volume",
        uuid if uuid.starts_with("mpath-") => "multipath device",
        uuid if uuid.starts_with("CRYPT-") => "encrypted device",
        _ if holder.join("md").exists() => "RAID array",
        _ => "device",
    };
    format!("{kind} {named}")
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn numbers(sys: &Path) -> Option<DeviceNumber> {
    let text = sys_text(&sys.join("dev"))?;
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn is_swap(swaps: &str, here: &Path) -> bool {
    let names = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let own = here.file_name();
    names.map(Path::new).any(|name| fs::canonicalize(name).is_ok_and(|node| node.file_name() == own))
}
