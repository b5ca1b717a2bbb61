//! What a path of a job names, and how large it is.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use ferrio_machine::{DeviceNumber, block_device_bytes, device_number};

use ferrio_job::{FileKind, Prefix, SetupError, strerror};

/// What was found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) kind: FileKind,
    /// Bytes; `None` when nothing is there or the size cannot be known.
    pub(crate) size: Option<u64>,
    /// Numbers of a block device.
    pub(crate) device: Option<DeviceNumber>,
}

impl Found {
    /// A file of an engine without files.
    pub(crate) const PRETEND: Found = Found { kind: FileKind::Pretend, size: None, device: None };
}

/// Looks at one path of a job; symbolic links are followed.
pub(crate) fn probe(path: &Path) -> Result<Found, SetupError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Found { kind: FileKind::Regular, size: None, device: None });
        }
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            let message = format!("cannot examine {}: {}", path.display(), strerror(errno));
            return Err(SetupError::new(errno, "fstat", message));
        }
    };
    let kind = metadata.file_type();
    if kind.is_block_device() {
        let device = Some(device_number(metadata.rdev()));
        Ok(Found { kind: FileKind::Block, size: Some(device_size(path)?), device })
    } else if kind.is_char_device() {
        Ok(Found { kind: FileKind::Char, size: None, device: None })
    } else if kind.is_dir() {
        let message = format!("{} is a directory: name a file or a device", path.display());
        Err(SetupError::new(libc::EISDIR, "unlink", message))
    } else if kind.is_file() {
        Ok(Found { kind: FileKind::Regular, size: Some(metadata.len()), device: None })
    } else {
        let message = format!("failed to get file size of {}", path.display());
        Err(SetupError::new(libc::EINVAL, "get_file_size", message))
    }
}

/// The end of an opened block device is its size.
fn device_size(path: &Path) -> Result<u64, SetupError> {
    match block_device_bytes(path) {
        Ok(0) => Err(SetupError::new(libc::EINVAL, "get_file_size", "zero sized block device?")),
        Ok(size) => Ok(size),
        Err(error) => {
            let message = format!("failed opening blockdev {} for size check", path.display());
            let error = SetupError::new(error.raw_os_error().unwrap_or(libc::EIO), "open", message);
            Err(SetupError { prefix: Prefix::Program, ..error })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_distinguished() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        fs::write(&file, b"12345").unwrap();
        assert_eq!(probe(&file), Ok(Found { kind: FileKind::Regular, size: Some(5), device: None }));
        assert_eq!(
            probe(&dir.path().join("none")),
            Ok(Found { kind: FileKind::Regular, size: None, device: None })
        );
        assert_eq!(
            probe(Path::new("/dev/null")),
            Ok(Found { kind: FileKind::Char, size: None, device: None })
        );
        assert_eq!(probe(dir.path()).unwrap_err().errno, libc::EISDIR);
        assert_eq!(probe(&file.join("below")).unwrap_err().errno, libc::ENOTDIR);
        let fifo = dir.path().join("p");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let refused = probe(&fifo).unwrap_err();
        assert_eq!(
            refused.diagnostic("a").line(),
            format!("a: failed to get file size of {}", fifo.display())
        );
    }
}
