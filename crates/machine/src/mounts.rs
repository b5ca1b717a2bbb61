//! Mounted file systems, from `/proc/self/mountinfo` (proc(5)), and their free space.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::sys::statvfs::{FsFlags, statvfs};

use crate::devices::{DeviceNumber, device_number};
use crate::interruptions::{RetryInterrupted, open_to_read};

/// The list of mounts of this process, proc(5).
pub const MOUNTINFO: &str = "/proc/self/mountinfo";

/// All mounts that this process sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mounts(pub Vec<Mount>);

impl Mounts {
    /// Reads all mounts; a later one at the same point hides an earlier one.
    ///
    /// # Errors
    /// `/proc` is not mounted, or cannot be read.
    pub fn read() -> io::Result<Self> {
        // A large buffer saves calls: the kernel fills it at once.
        let mut text = Vec::with_capacity(64 << 10);
        RetryInterrupted(open_to_read(MOUNTINFO)?).read_to_end(&mut text)?;
        Ok(Mounts(parse(&text)))
    }

    /// The mounts; none if they cannot be read.
    #[must_use]
    pub fn known() -> Self {
        Mounts::read().unwrap_or_default()
    }

    /// All devices with a mounted file system, whether the mount has the number or the name of the device.
    pub(crate) fn devices(&self) -> HashSet<DeviceNumber> {
        self.0.iter().flat_map(|mount| [Some(mount.number), mount.source_device()]).flatten().collect()
    }

    /// The mount of a resolved path.
    #[must_use]
    pub fn of(&self, path: &Path) -> Option<&Mount> {
        // `max_by_key` returns the last of equally long ones, which is the one that counts.
        self.0
            .iter()
            .filter(|mount| path.starts_with(&mount.point))
            .max_by_key(|mount| mount.point.as_os_str().len())
    }
}

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The mount point.
    pub point: PathBuf,
    /// Type of the file system.
    pub file_system: String,
    /// The mounted source.
    pub source: String,
    /// Options of the file system, joined by commas.
    pub options: String,
    /// The mounted directory of the file system.
    pub(crate) root: PathBuf,
    number: DeviceNumber,
}

impl Mount {
    /// The block device of the file system; file systems with numbers of their own (btrfs) name it by path.
    #[must_use]
    pub fn device(&self) -> DeviceNumber {
        if self.number.0 == 0 { self.source_device().unwrap_or(self.number) } else { self.number }
    }

    fn source_device(&self) -> Option<DeviceNumber> {
        let node = self.source.starts_with('/').then(|| fs::metadata(&self.source).ok())??;
        node.file_type().is_block_device().then(|| device_number(node.rdev()))
    }
}

/// Free space on a mounted file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes free for this user; `None` on a file system without a size, such as proc.
    pub free_bytes: Option<u64>,
    /// Files that this user can still create; `None` if the file system does not limit their number.
    pub free_files: Option<u64>,
    /// Whether it is mounted read-only.
    pub read_only: bool,
}

impl Room {
    /// Queries a mount point.
    #[must_use]
    pub fn at(mount_point: &Path) -> Option<Self> {
        let found = statvfs(mount_point).ok()?;
        let free_bytes = found.blocks_available().saturating_mul(found.fragment_size());
        let has_size = found.blocks() > 0;
        Some(Room {
            free_bytes: has_size.then_some(free_bytes),
            free_files: (found.files() > 0).then(|| found.files_available()),
            read_only: found.flags().contains(FsFlags::ST_RDONLY),
        })
    }
}

pub(crate) fn parse(mountinfo: &[u8]) -> Vec<Mount> {
    mountinfo.split(|&byte| byte == b'\n').filter_map(line).collect()
}

fn line(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let dash = fields.iter().position(|field| *field == b"-")?;
    let text =
        |at: usize| fields.get(at).map(|field| String::from_utf8_lossy(&unescaped(field)).into_owned());
    let (major, minor) = text(2)?.split_once(':').map(|(a, b)| (a.parse().ok(), b.parse().ok()))?;
    let path = |at: usize| Some(PathBuf::from(std::ffi::OsString::from_vec(unescaped(fields.get(at)?))));
    Some(Mount {
        point: path(4)?,
        root: path(3)?,
        file_system: text(dash + 1)?,
        source: text(dash + 2)?,
        options: text(dash + 3).unwrap_or_default(),
        number: (major?, minor?),
    })
}

/// Spaces and other separators are written as `\040`.
fn unescaped(field: &[u8]) -> Vec<u8> {
    if !field.contains(&b'\\') {
        return field.to_vec();
    }
    let mut out = Vec::with_capacity(field.len());
    let mut at = 0;
    while let Some(&byte) = field.get(at) {
        let digits = field.get(at + 1..at + 4).filter(|_| byte == b'\\');
        let code = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        out.push(code.unwrap_or(byte));
        at += if code.is_some() { 4 } else { 1 };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] =
        b"22 27 0:21 / /proc rw - proc proc rw\n27 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n\
        30 27 0:40 / /my\\040disk rw - tmpfs none rw\n31 27 8:1 / /my\\040disk rw - xfs /dev/sda1 rw\nodd\n";

    #[test]
    fn a_path_is_on_the_longest_mount_point_and_there_on_the_last_mount() {
        let mounts = Mounts(parse(TEXT));
        assert_eq!(mounts.0.len(), 4);
        let file_system = |path: &str| mounts.of(Path::new(path)).unwrap().file_system.clone();
        assert_eq!(file_system("/home/a"), "ext4");
        assert_eq!(file_system("/my disk/a"), "xfs");
        assert_eq!(file_system("/my diskette"), "ext4");
        assert_eq!(mounts.of(Path::new("/")).unwrap().device(), (254, 0));
    }

    #[test]
    fn all_numbers_are_devices_that_something_is_mounted_from() {
        assert_eq!(Mounts(parse(TEXT)).devices(), HashSet::from([(0, 21), (254, 0), (0, 40), (8, 1)]));
    }

    #[test]
    fn a_mounted_file_system_has_free_space() {
        assert!(Room::at(Path::new("/")).and_then(|room| room.free_bytes).is_some_and(|bytes| bytes > 0));
        assert_eq!(Room::at(Path::new("/proc")).map(|room| room.free_bytes), Some(None));
        assert_eq!(Room::at(Path::new("/no/such/place")), None);
    }
}
