//! The files, file systems and devices of the report.

use std::path::PathBuf;

use ferrio_machine::{BlockDevice, DeviceUse};
use serde::Serialize;

/// One file or device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedFile {
    /// Path as the job uses it.
    pub path: PathBuf,
    /// What it is.
    pub kind: CheckedFileKind,
    /// What a run does to it.
    pub action: LayoutAction,
    /// Start of the region that is used.
    pub offset: u64,
    /// Length of that region.
    pub size: u64,
    /// Size of the existing file.
    pub existing_bytes: Option<u64>,
    /// Bytes that it takes on the device; less than its size if it is sparse.
    pub allocated_bytes: Option<u64>,
    /// Index into `places`.
    pub place: Option<usize>,
    /// Removed when the job ends.
    pub unlink: bool,
}

/// What kind of thing a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckedFileKind {
    /// A regular file, or a path that does not exist.
    Regular,
    /// A block device.
    Block,
    /// A character device.
    Char,
    /// Only a size: the engine touches no file.
    None,
}

/// What a run does to a file before its I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutAction {
    /// Used as it is.
    Use,
    /// Created by an earlier job.
    UseEarlier,
    /// Created and filled with data.
    CreateFilled,
    /// Created with space reserved, or sparse; the job writes it.
    CreateEmpty,
    /// Removed, created again and filled.
    ReplaceFilled,
    /// Removed and created again with space reserved, or sparse.
    ReplaceEmpty,
    /// Made longer; its data stays.
    Grow,
    /// Created when the job opens it.
    CreateOnOpen,
    /// Nothing creates it: opening it fails unless it appears before.
    Missing,
    /// Nothing: there is no file.
    None,
}

/// A file system, or a device that is used directly, and what the jobs need there.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckedPlace {
    /// Mount point; `None` for a device.
    pub mount_point: Option<PathBuf>,
    /// Type of the file system.
    pub file_system: Option<String>,
    /// What is mounted there, or the path of the device.
    pub source: Option<String>,
    /// The device that it is on.
    pub device: Option<CheckedDevice>,
    /// Data there is in memory.
    #[serde(skip)]
    pub in_memory: bool,
    /// The mount or the device is read-only.
    pub read_only: bool,
    /// Bytes free for this user.
    pub free_bytes: Option<u64>,
    /// Bytes that the jobs' files will take in addition to what they take now.
    pub needed_bytes: u64,
}

/// A block device and what is on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckedDevice {
    /// The device itself.
    #[serde(flatten)]
    pub about: BlockDevice,
    /// What a write to it would destroy.
    pub holds: Vec<DeviceUse>,
}
