//! Determines the kind and the size of each path of a job.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use ferrio_machine::{DaxDevice, DeviceNumber, ScsiGeneric, block_device_bytes, device_number, flash_bytes};

use ferrio_nvme::{Namespace, NamespaceError};

use ferrio_job::{FileKind, FileType, Prefix, SetupError, strerror};

/// A file of this name is standard input or output.
const STANDARD_STREAMS: &str = "-";

/// A file or device found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub(crate) kind: FileKind,
    /// Bytes; `None` when nothing is there or the size cannot be known.
    pub(crate) size: Option<u64>,
    /// Major and minor number, for a block device.
    pub(crate) device: Option<DeviceNumber>,
}

impl FoundFile {
    /// The placeholder file of a job whose engine uses no files.
    pub(crate) const PRETEND: FoundFile = FoundFile { kind: FileKind::Pretend, size: None, device: None };
}

/// Looks at one path of a job, which must be of this type; symbolic links are followed.
pub(crate) fn probe(path: &Path, wanted: FileType) -> Result<FoundFile, SetupError> {
    if path.as_os_str() == STANDARD_STREAMS {
        let message = format!(
            "failed to get file size of {STANDARD_STREAMS}: jobs cannot use standard input and output"
        );
        return Err(SetupError::new(libc::EINVAL, "get_file_size", message));
    }
    match wanted {
        FileType::Detect => detect(path),
        // Its size does not matter, nor whether it is a device.
        FileType::Char => {
            let device = fs::metadata(path).ok().filter(|found| found.file_type().is_block_device());
            let device = device.map(|found| device_number(found.rdev()));
            Ok(FoundFile { kind: FileKind::Char, size: None, device })
        }
        FileType::Block if !path.exists() => Err(no_block_device(path, libc::ENOENT)),
        FileType::File => check_kind(path, FileKind::Regular, wanted),
        FileType::Block => check_kind(path, FileKind::Block, wanted),
    }
}

/// Looks at a path that must be a device of persistent memory.
pub(crate) fn probe_dax(path: &Path) -> Result<FoundFile, SetupError> {
    match DaxDevice::at(path) {
        Some(device) => Ok(FoundFile { kind: FileKind::Char, size: Some(device.size), device: None }),
        None => {
            let message = format!("{} not a DAX device!", path.display());
            Err(SetupError::new(libc::EINVAL, "get_file_size", message))
        }
    }
}

/// Looks at a path that must be the character device of an NVMe namespace.
pub(crate) fn probe_namespace(path: &Path, protection_by_device: bool) -> Result<FoundFile, SetupError> {
    let name = path.display();
    let refused = |errno, message: String| Err(SetupError::new(errno, "get_file_size", message));
    match Namespace::at(path) {
        Ok(namespace) => {
            let size = namespace.blocks.saturating_mul(namespace.block_bytes(protection_by_device).into());
            Ok(FoundFile { kind: FileKind::Char, size: Some(size), device: None })
        }
        Err(NamespaceError::NotCharacterDevice) => {
            let text = "ioengine io_uring_cmd only works with nvme ns generic char devices (/dev/ngXnY)";
            refused(libc::EINVAL, format!("{name}: {text}"))
        }
        Err(NamespaceError::NoNamespaceId(error)) => {
            let errno = error.raw_os_error().unwrap_or(libc::ENOTTY);
            refused(errno, format!("{name}: failed to fetch namespace-id: {}", strerror(errno)))
        }
        Err(NamespaceError::Identify(error)) => {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            refused(errno, format!("{name}: failed to identify the namespace: {}", strerror(errno)))
        }
        Err(NamespaceError::Format) => {
            refused(libc::EINVAL, format!("{name}: the format of this namespace is not supported"))
        }
    }
}

/// Looks at a path that must be a SCSI disk, or a SCSI generic device.
pub(crate) fn probe_scsi(
    path: &Path,
    wanted: FileType,
    has_words_of_fio: bool,
) -> Result<FoundFile, SetupError> {
    let kind = if path.exists() { probe(path, wanted)?.kind } else { FileKind::Regular };
    let refused = |words: &str, what: &str| {
        let advice = format!("{} is {what}; name one such as /dev/sg0 or /dev/sda", path.display());
        Err(wrong_device_error("sg", words, &advice, has_words_of_fio))
    };
    match kind {
        FileKind::Block => probe(path, wanted),
        FileKind::Char => match ScsiGeneric::at(path) {
            Some(device) => Ok(FoundFile { kind: FileKind::Char, size: device.size, device: None }),
            None => {
                let words = "unable to successfully execute read capacity to get block size and maximum lba";
                refused(&format!("ioengine sg {words}"), "no SCSI device")
            }
        },
        FileKind::Regular | FileKind::Pretend => {
            refused("ioengine sg only works on block or character devices", "none")
        }
    }
}

/// Looks at a path that must be a device of raw flash.
pub(crate) fn probe_flash(path: &Path, has_words_of_fio: bool) -> Result<FoundFile, SetupError> {
    match flash_bytes(path) {
        Some(size) => Ok(FoundFile { kind: FileKind::Char, size: Some(size), device: None }),
        None => {
            let words = format!("libmtd: error!: \"{}\" is not a character device", path.display());
            let advice = format!("{} is no raw flash; name a device such as /dev/mtd0", path.display());
            Err(wrong_device_error("mtd", &words, &advice, has_words_of_fio))
        }
    }
}

/// The error about a file that the engine cannot use: either fio's message, which has no prefix, or ferrio's with `advice` on what to use.
fn wrong_device_error(engine: &str, words: &str, advice: &str, has_words_of_fio: bool) -> SetupError {
    let error = |message: String| SetupError::new(libc::EINVAL, "setup_files", message);
    match has_words_of_fio {
        true => error(words.to_owned()).prefix(Prefix::None),
        false => error(format!("ioengine={engine} needs a device of its kind: {advice}")),
    }
}

/// The file or device at a path, which must be of the kind that `filetype` asks for. fio does not check that, and lays a file out over a device node.
fn check_kind(path: &Path, kind: FileKind, wanted: FileType) -> Result<FoundFile, SetupError> {
    let found = detect(path)?;
    if found.kind == kind {
        return Ok(found);
    }
    let what = match found.kind {
        FileKind::Block => "a block device",
        FileKind::Char => "a character device",
        FileKind::Regular | FileKind::Pretend => "a regular file",
    };
    let message = format!("{} is {what}, but the job has filetype={}", path.display(), wanted.word());
    Err(SetupError::new(libc::EINVAL, "get_file_type", message))
}

fn detect(path: &Path) -> Result<FoundFile, SetupError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(FoundFile { kind: FileKind::Regular, size: None, device: None });
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
        Ok(FoundFile { kind: FileKind::Block, size: Some(device_size(path)?), device })
    } else if kind.is_char_device() {
        Ok(FoundFile { kind: FileKind::Char, size: None, device: None })
    } else if kind.is_dir() {
        let message = format!("{} is a directory: name a file or a device", path.display());
        Err(SetupError::new(libc::EISDIR, "unlink", message))
    } else if kind.is_file() {
        Ok(FoundFile { kind: FileKind::Regular, size: Some(metadata.len()), device: None })
    } else {
        let message = format!("failed to get file size of {}", path.display());
        Err(SetupError::new(libc::EINVAL, "get_file_size", message))
    }
}

/// The size of a block device.
fn device_size(path: &Path) -> Result<u64, SetupError> {
    match block_device_bytes(path) {
        Ok(0) => Err(SetupError::new(libc::EINVAL, "get_file_size", "zero sized block device?")),
        Ok(size) => Ok(size),
        Err(error) => Err(no_block_device(path, error.raw_os_error().unwrap_or(libc::EIO))),
    }
}

fn no_block_device(path: &Path, errno: i32) -> SetupError {
    let message = format!("failed opening blockdev {} for size check", path.display());
    SetupError::new(errno, "open", message).prefix(Prefix::Program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(path: &Path) -> Result<FoundFile, SetupError> {
        super::probe(path, FileType::Detect)
    }

    #[test]
    fn kinds_are_distinguished() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        fs::write(&file, b"12345").unwrap();
        assert_eq!(probe(&file), Ok(FoundFile { kind: FileKind::Regular, size: Some(5), device: None }));
        assert_eq!(
            probe(&dir.path().join("none")),
            Ok(FoundFile { kind: FileKind::Regular, size: None, device: None })
        );
        assert_eq!(
            probe(Path::new("/dev/null")),
            Ok(FoundFile { kind: FileKind::Char, size: None, device: None })
        );
        assert_eq!(probe(dir.path()).unwrap_err().errno, libc::EISDIR);
        assert_eq!(probe(&file.join("below")).unwrap_err().errno, libc::ENOTDIR);
        let fifo = dir.path().join("p");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let refused = probe(&fifo).unwrap_err();
        assert_eq!(
            refused.diagnostic("a").line(ferrio_job::Compat::Fio),
            format!("a: failed to get file size of {}", fifo.display())
        );
    }

    #[test]
    fn a_file_of_another_type_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (file, missing) = (dir.path().join("f"), dir.path().join("none"));
        fs::write(&file, b"12345").unwrap();
        let of = |path: &Path, wanted| super::probe(path, wanted).map(|found| (found.kind, found.size));
        assert_eq!(of(&file, FileType::File), Ok((FileKind::Regular, Some(5))));
        assert_eq!(of(&missing, FileType::File), Ok((FileKind::Regular, None)));
        assert_eq!(of(&file, FileType::Char), Ok((FileKind::Char, None)));
        assert_eq!(of(&missing, FileType::Block).unwrap_err().errno, libc::ENOENT);
        let refused = |path: &Path, wanted| of(path, wanted).unwrap_err().message;
        let want = format!("{} is a regular file, but the job has filetype=block", file.display());
        assert_eq!(refused(&file, FileType::Block), want);
        let want = "/dev/null is a character device, but the job has filetype=file";
        assert_eq!(refused(Path::new("/dev/null"), FileType::File), want);
    }

    #[test]
    fn standard_input_and_output_are_no_files() {
        for wanted in FileType::ALL {
            assert_eq!(super::probe(Path::new("-"), *wanted).unwrap_err().func, "get_file_size");
        }
    }
}
