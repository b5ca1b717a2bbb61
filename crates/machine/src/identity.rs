//! Compares the identity of files behind paths and descriptors.

use std::ffi::OsString;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use nix::sys::stat::{SFlag, fstat};

use crate::links::{Destination, directory_of, follow_links};

/// The identity of a file. Character devices have none: terminals and /dev/null may be shared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FileIdentity {
    /// Device and inode of a file, a pipe or a directory.
    Inode(u64, u64),
    /// Number of a block device, which may have several nodes.
    BlockDevice(u64),
    /// A file that does not exist: device and inode of its directory, and its name.
    New(u64, u64, OsString),
}

impl FileIdentity {
    /// The file at this path, or the one that would be created there.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let Ok(about) = fs::metadata(path) else {
            let Ok(Destination::Path(path)) = follow_links(path) else { return None };
            let about = fs::metadata(directory_of(&path)).ok()?;
            return Some(FileIdentity::New(about.dev(), about.ino(), path.file_name()?.to_owned()));
        };
        match about.file_type() {
            kind if kind.is_char_device() => None,
            kind if kind.is_block_device() => Some(FileIdentity::BlockDevice(about.rdev())),
            _ => Some(FileIdentity::Inode(about.dev(), about.ino())),
        }
    }

    /// The file behind a descriptor.
    #[must_use]
    pub fn of_descriptor(file: impl AsFd) -> Option<Self> {
        let about = fstat(file).ok()?;
        match SFlag::from_bits_truncate(about.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFCHR => None,
            SFlag::S_IFBLK => Some(FileIdentity::BlockDevice(about.st_rdev)),
            _ => Some(FileIdentity::Inode(about.st_dev, about.st_ino)),
        }
    }
}

/// Whether both paths are the same file, pipe or block device, or would be once created.
#[must_use]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    FileIdentity::of_path(one).is_some_and(|file| Some(file) == FileIdentity::of_path(other))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_new_files_are_recognised() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("a"), "").unwrap();
        fs::write(at("b"), "").unwrap();
        symlink("a", at("link")).unwrap();
        fs::hard_link(at("a"), at("hard")).unwrap();
        symlink(".", at("here")).unwrap();
        assert!(is_same_file(&at("a"), &at("link")) && is_same_file(&at("a"), &at("hard")));
        assert!(!is_same_file(&at("a"), &at("b")) && !is_same_file(&at("a"), &at("new")));
        assert!(is_same_file(&at("new"), &at("here").join("new")) && !is_same_file(&at("new"), &at("newer")));
        fs::create_dir(at("d")).unwrap();
        symlink("d/new", at("dangling")).unwrap();
        assert!(is_same_file(&at("dangling"), &at("d/new")) && !is_same_file(&at("dangling"), &at("new")));
        assert!(!is_same_file(&at("no/new"), &at("no/new")), "nothing can be created there");
        let open = File::open(at("link")).unwrap();
        assert_eq!(FileIdentity::of_descriptor(&open), FileIdentity::of_path(&at("hard")));
        assert!(!is_same_file("/dev/null".as_ref(), "/dev/null".as_ref()));
        assert_eq!(FileIdentity::of_descriptor(File::open("/dev/null").unwrap()), None);
    }
}
