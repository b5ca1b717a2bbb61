//! The files, file systems and devices of the report.

use std::path::PathBuf;

use ferrio_machine::{BlockDevice, DeviceUse};
use serde::Serialize;

/// A file or device; for a job with more than 1000 files, all files that differ only in their names.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedFile {
    /// Path as the job uses it; of several files, that of the first.
    pub path: PathBuf,
    /// Path of the last of several files.
    pub last_path: Option<PathBuf>,
    /// Number of files.
    pub files: u64,
    /// The kind of the path.
    pub kind: CheckedFileKind,
    /// The action of a run on it.
    pub action: LayoutAction,
    /// Start of the used region.
    pub offset: u64,
    /// Length of that region, per file.
    pub size: u64,
    /// Whether the sizes of the files are between two bounds: `size` is about their mean.
    pub size_is_mean: bool,
    /// Size of the existing file.
    pub existing_bytes: Option<u64>,
    /// Bytes that each file takes on the device; less than its size if it is sparse.
    pub allocated_bytes: Option<u64>,
    /// Index into `places`.
    pub place: Option<usize>,
    /// Whether it is removed when the job ends.
    pub unlink: bool,
}

impl CheckedFile {
    /// Whether the files differ from others only in their names.
    pub(crate) fn differs_only_in_name(&self, other: &CheckedFile) -> bool {
        let CheckedFile {
            kind,
            action,
            offset,
            size,
            size_is_mean,
            existing_bytes,
            allocated_bytes,
            place,
            unlink,
            ..
        } = self;
        (*kind, *action, *offset, *size_is_mean)
            == (other.kind, other.action, other.offset, other.size_is_mean)
            && (*size == other.size || *size_is_mean)
            && (*existing_bytes, *allocated_bytes) == (other.existing_bytes, other.allocated_bytes)
            && (*place, *unlink) == (other.place, other.unlink)
    }

    /// Adds these files to the entry.
    pub(crate) fn join(&mut self, other: CheckedFile) {
        let all = |each: u64, files: u64| u128::from(each) * u128::from(files);
        let files = self.files.saturating_add(other.files);
        let sum = all(self.size, self.files) + all(other.size, other.files);
        self.size = u64::try_from(sum / u128::from(files.max(1))).unwrap_or(u64::MAX);
        self.files = files;
        self.last_path = Some(other.last_path.unwrap_or(other.path));
    }
}

/// The kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckedFileKind {
    /// A regular file, or a path that does not exist.
    Regular,
    /// A block device.
    Block,
    /// A character device.
    Char,
    /// Only a size: the engine accesses no file.
    None,
}

/// The action of a run on a file before its I/O.
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
    /// Extended; its data is kept.
    Grow,
    /// Created when the job opens it.
    CreateOnOpen,
    /// Not created by anything: opening it fails unless it appears before.
    Missing,
    /// No action: there is no file.
    None,
}

/// A file system, or a device that is used directly, and the needs of the jobs there.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckedPlace {
    /// Mount point; `None` for a device.
    pub mount_point: Option<PathBuf>,
    /// Type of the file system.
    pub file_system: Option<String>,
    /// The mounted source, or the path of the device.
    pub source: Option<String>,
    /// The device of the file system.
    pub device: Option<CheckedDevice>,
    /// Whether its data is in memory.
    #[serde(skip)]
    pub in_memory: bool,
    /// Whether the mount or the device is read-only.
    pub read_only: bool,
    /// Bytes free for this user.
    pub free_bytes: Option<u64>,
    /// Bytes that the jobs' files will take in addition to what they take now.
    pub needed_bytes: u64,
    /// Files that this user can still create.
    pub free_files: Option<u64>,
    /// Files that the jobs will create.
    pub needed_files: u64,
}

/// A block device and its contents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckedDevice {
    /// The device itself.
    #[serde(flatten)]
    pub about: BlockDevice,
    /// The data that a write to it would destroy.
    pub holds: Vec<DeviceUse>,
}
