//! Queries about single paths: support of direct I/O, size of a device, contents of a small file below `/sys`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::iter;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags as NixAtFlags, OFlag};
use nix::unistd::{AccessFlags, faccessat};
use rustix::fs::{AtFlags, CWD, RawDir, StatxFlags, statx};

use crate::interruptions::{InterruptionLimit, open_file, open_to_read, text_of_file};

/// The support of direct I/O on a file, as reported by the file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirectIo {
    /// Not reported: the kernel is too old, or the file does not exist yet.
    #[default]
    Unknown,
    /// Direct I/O is not possible.
    Refused,
    /// Offsets and lengths must be multiples of this.
    Aligned(u64),
}

impl DirectIo {
    /// Queries a path.
    #[must_use]
    pub fn on(path: &Path) -> Self {
        match statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN) {
            Ok(stat) if StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::DIOALIGN) => {
                match stat.stx_dio_offset_align {
                    0 => DirectIo::Refused,
                    align => DirectIo::Aligned(u64::from(align)),
                }
            }
            _ => DirectIo::Unknown,
        }
    }
}

/// The permitted access of this process to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAccess {
    /// Whether it may read the file.
    pub read: bool,
    /// Whether it may write to the file.
    pub write: bool,
    /// Whether it may create the file: its directory, otherwise the nearest existing one above it, is writable.
    pub create: bool,
}

impl Default for FileAccess {
    /// Everything is permitted.
    fn default() -> Self {
        FileAccess { read: true, write: true, create: true }
    }
}

impl FileAccess {
    /// The permitted access to a path. Only permissions count: nothing is denied because the path does not exist.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let allowed = |path: &Path, mode: AccessFlags| {
            let answer = faccessat(AT_FDCWD, path, mode, NixAtFlags::AT_EACCESS);
            !matches!(answer, Err(Errno::EACCES | Errno::EPERM))
        };
        let above = path.ancestors().skip(1).map(|above| match above.as_os_str().is_empty() {
            true => Path::new("."),
            false => above,
        });
        let directory = above.into_iter().find(|above| above.exists());
        let enter_and_write = AccessFlags::W_OK | AccessFlags::X_OK;
        FileAccess {
            read: allowed(path, AccessFlags::R_OK),
            write: allowed(path, AccessFlags::W_OK),
            create: directory.is_none_or(|directory| allowed(directory, enter_and_write)),
        }
    }
}

/// Size of a block device in bytes: the end of the opened device.
///
/// # Errors
/// It cannot be opened for reading.
pub fn block_device_bytes(path: &Path) -> io::Result<u64> {
    // Asking for the size need not update the access time, but only the owner may use O_NOATIME.
    let mut device = open_file(path, OFlag::O_NOATIME, 0).or_else(|_| open_to_read(path))?;
    device.seek(SeekFrom::End(0))
}

/// Whether a file has data anywhere, not only holes and reserved space. A file that cannot be read counts as having data.
#[must_use]
pub fn holds_data(path: &Path) -> bool {
    let first = open_to_read(path).map(|file| rustix::fs::seek(file, rustix::fs::SeekFrom::Data(0)));
    !matches!(first, Ok(Err(rustix::io::Errno::NXIO)))
}

/// Size of the buffer for getdents64(2): room for hundreds of entries.
const ENTRIES_BYTES: usize = 16 << 10;

/// Directories below `/dev` that contain files.
const FILES_IN_DEV: [&str; 3] = ["/dev/shm", "/dev/hugepages", "/dev/mqueue"];

/// Most links that are followed, as in the kernel.
const MAX_LINKS: usize = 40;

/// Whether a file created at this path would be among devices: in `/dev`, and not in one of the directories for files there.
#[must_use]
pub fn is_among_devices(path: &Path) -> bool {
    let mut path = path.to_owned();
    // A dangling link determines where the file is created.
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| target.clone(), |parent| parent.join(&target));
    }
    existing_parent(&path).is_some_and(|directory| {
        directory.starts_with("/dev") && !FILES_IN_DEV.iter().any(|files| directory.starts_with(files))
    })
}

/// The nearest existing directory above a path, resolved.
pub(crate) fn existing_parent(path: &Path) -> Option<PathBuf> {
    here_and_above(path).skip(1).find_map(|parent| fs::canonicalize(parent).ok())
}

/// A path and its ancestors; the last one of a relative path is the working directory.
pub(crate) fn here_and_above(path: &Path) -> impl Iterator<Item = &Path> {
    path.ancestors().map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path })
}

/// The names in a directory, in no particular order, up to the first error. The iterator of the standard library panics if the directory
/// cannot be closed, and that of rustix retries EINTR without a limit.
///
/// # Errors
/// The directory cannot be opened.
pub fn names_in(directory: &Path) -> io::Result<impl Iterator<Item = io::Result<OsString>>> {
    let opened = open_file(directory, OFlag::O_RDONLY | OFlag::O_DIRECTORY, 0)?;
    let mut buffer = Vec::with_capacity(ENTRIES_BYTES);
    let mut failed = false;
    let names = iter::from_fn(move || {
        let next = if failed { Vec::new() } else { next_names(&opened, buffer.spare_capacity_mut()) };
        failed = next.iter().any(Result::is_err);
        (!next.is_empty()).then_some(next)
    });
    Ok(names.flatten().filter(|name| !name.as_ref().is_ok_and(|name| name == "." || name == "..")))
}

/// The names that the next getdents64(2) returns, or its error; empty at the end.
fn next_names(directory: &File, buffer: &mut [MaybeUninit<u8>]) -> Vec<io::Result<OsString>> {
    let mut entries = RawDir::new(directory, buffer);
    let mut interrupted = InterruptionLimit::default();
    let mut names = Vec::new();
    loop {
        match entries.next() {
            Some(Ok(entry)) => names.push(Ok(OsString::from_vec(entry.file_name().to_bytes().to_vec()))),
            Some(Err(rustix::io::Errno::INTR)) if interrupted.should_retry() => continue,
            Some(Err(error)) => {
                names.push(Err(error.into()));
                return names;
            }
            None => return names,
        }
        if entries.is_buffer_empty() {
            return names;
        }
    }
}

/// The paths in a directory, sorted; none if it cannot be read.
pub(crate) fn entries(directory: &Path) -> Vec<PathBuf> {
    let names = names_in(directory).into_iter().flatten().map_while(Result::ok);
    let mut paths: Vec<PathBuf> = names.map(|name| directory.join(name)).collect();
    paths.sort();
    paths
}

/// The text of a small file without surrounding whitespace; `None` if it is empty.
pub(crate) fn sys_text(path: &Path) -> Option<String> {
    let text = text_of_file(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The number in a small file.
pub(crate) fn sys_figure(path: &Path) -> Option<u64> {
    sys_text(path)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_in_its_nearest_directory() {
        let dir = tempfile::tempdir().unwrap();
        let resolved = fs::canonicalize(dir.path()).unwrap();
        assert_eq!(existing_parent(&dir.path().join("a/b/c")), Some(resolved));
        assert_eq!(existing_parent(Path::new("f")), fs::canonicalize(".").ok());
    }

    #[test]
    fn nothing_is_known_about_direct_io_on_a_missing_file() {
        assert_eq!(DirectIo::on(Path::new("/no/such/file")), DirectIo::Unknown);
    }
}
