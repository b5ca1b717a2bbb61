//! Block devices: what `/sys/dev/block` says of them, and what is on them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};

use super::mounts::Mount;
use super::signature;
use crate::model::Device;

/// Major and minor number.
pub(super) type Number = (u64, u64);

/// Numbers of a device node.
pub(super) fn number(rdev: u64) -> Number {
    (major(rdev), minor(rdev))
}

/// True for a device that cannot be written.
pub(super) fn read_only(device: Number) -> bool {
    word(&sys(device).join("ro")).as_deref() == Some("1")
}

/// Devices met so far.
#[derive(Debug, Default)]
pub(super) struct Devices {
    known: HashMap<Number, Option<Device>>,
}

impl Devices {
    /// A device with what is on it; `None` for numbers that are no block device.
    pub(super) fn find(&mut self, device: Number, mounts: &[Mount]) -> Option<Device> {
        self.known.entry(device).or_insert_with(|| read(device, mounts)).clone()
    }
}

fn sys(device: Number) -> PathBuf {
    Path::new("/sys/dev/block").join(format!("{}:{}", device.0, device.1))
}

fn read(device: Number, mounts: &[Mount]) -> Option<Device> {
    let here = fs::canonicalize(sys(device)).ok()?;
    let is_part = here.join("partition").exists();
    let disk = if is_part { here.parent()?.to_path_buf() } else { here.clone() };
    let figure = |path: PathBuf| word(&path).and_then(|text| text.parse::<u64>().ok());
    let queue = |name: &str| figure(disk.join("queue").join(name));
    let logical = queue("logical_block_size").filter(|&bytes| bytes > 0).unwrap_or(512);
    Some(Device {
        path: node(&here)?,
        disk: node(&disk)?,
        model: model(&disk),
        size_bytes: figure(here.join("size")).unwrap_or(0).saturating_mul(512),
        logical_block_bytes: logical,
        physical_block_bytes: queue("physical_block_size").unwrap_or(logical),
        rotational: queue("rotational") == Some(1),
        trims: queue("discard_max_bytes").is_some_and(|bytes| bytes > 0),
        holds: holds(device, &here, mounts, 0),
    })
}

/// `dm-0` is known to people by its name below `/dev/mapper`.
fn node(sys: &Path) -> Option<PathBuf> {
    let mapped = word(&sys.join("dm/name")).map(|name| Path::new("/dev/mapper").join(name));
    let name = sys.file_name()?.to_string_lossy().replace('!', "/");
    Some(mapped.unwrap_or_else(|| Path::new("/dev").join(name)))
}

fn model(disk: &Path) -> Option<String> {
    if let Some(file) = word(&disk.join("loop/backing_file")) {
        return Some(format!("loop over {file}"));
    }
    let model = word(&disk.join("device/model"))?;
    // ATA disks say only that they are ATA; NVMe vendors are numbers.
    let vendor =
        word(&disk.join("device/vendor")).filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
    Some(vendor.map(|vendor| format!("{vendor} {model}")).unwrap_or(model))
}

/// Devices stacked deeper than this are not looked at.
const DEEPEST: u32 = 8;

/// Whatever would be lost if the device were written to, also what is on its partitions and on devices built on it.
fn holds(device: Number, here: &Path, mounts: &[Mount], depth: u32) -> Vec<String> {
    let on_it = mounts.iter().filter(|mount| mount.device() == device);
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
        Err(_) if holds.is_empty() => node(here).and_then(|node| signature::read(&node)).map(str::to_owned),
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
    let named = word(&holder.join("dm/name")).unwrap_or_else(|| name(holder));
    let kind = match word(&holder.join("dm/uuid")).unwrap_or_default() {
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

fn numbers(sys: &Path) -> Option<Number> {
    let text = word(&sys.join("dev"))?;
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn is_swap(swaps: &str, here: &Path) -> bool {
    let names = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let own = here.file_name();
    names.map(Path::new).any(|name| fs::canonicalize(name).is_ok_and(|node| node.file_name() == own))
}

/// The text of a small file, without blanks around it.
fn word(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
