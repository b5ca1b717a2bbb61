//! Mounted file systems, from `/proc/self/mountinfo` (proc(5)).

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::devices::{Number, number};

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) point: PathBuf,
    pub(super) file_system: String,
    pub(super) source: String,
    device: Number,
}

impl Mount {
    /// The block device below; file systems with numbers of their own (btrfs) name it by path.
    pub(super) fn device(&self) -> Number {
        if self.device.0 == 0
            && self.source.starts_with('/')
            && let Ok(node) = fs::metadata(&self.source)
            && node.file_type().is_block_device()
        {
            return number(node.rdev());
        }
        self.device
    }
}

/// All mounts of this process's view; a later one at the same point hides an earlier one.
pub(super) fn read() -> Vec<Mount> {
    parse(&fs::read("/proc/self/mountinfo").unwrap_or_default())
}

/// The mount that a resolved path lies on.
pub(super) fn of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    // Of equally long ones the last counts, and that is what `max_by_key` returns.
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.as_os_str().len())
}

fn parse(mountinfo: &[u8]) -> Vec<Mount> {
    mountinfo.split(|&byte| byte == b'\n').filter_map(line).collect()
}

fn line(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let dash = fields.iter().position(|field| *field == b"-")?;
    let text =
        |at: usize| fields.get(at).map(|field| String::from_utf8_lossy(&unescaped(field)).into_owned());
    let (major, minor) = text(2)?.split_once(':').map(|(a, b)| (a.parse().ok(), b.parse().ok()))?;
    Some(Mount {
        point: PathBuf::from(std::ffi::OsString::from_vec(unescaped(fields.get(4)?))),
        file_system: text(dash + 1)?,
        source: text(dash + 2)?,
        device: (major?, minor?),
    })
}

/// Blanks and the like stand as `\040`.
fn unescaped(field: &[u8]) -> Vec<u8> {
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
    fn a_path_lies_on_the_longest_mount_point_and_there_on_the_last_mount() {
        let mounts = parse(TEXT);
        assert_eq!(mounts.len(), 4);
        let file_system = |path: &str| of(&mounts, Path::new(path)).unwrap().file_system.clone();
        assert_eq!(file_system("/home/a"), "ext4");
        assert_eq!(file_system("/my disk/a"), "xfs");
        assert_eq!(file_system("/my diskette"), "ext4");
        assert_eq!(of(&mounts, Path::new("/")).unwrap().device(), (254, 0));
    }
}
