//! Resolves symbolic links.

use std::fs::{self, File};
use std::io;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::statfs::{PROC_SUPER_MAGIC, statfs};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// Most links that are followed from a path to the file, as in the kernel.
const MAX_LINKS: usize = 40;

/// The meaning of a path once its links are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A path that is not a link. It need not exist.
    Path(PathBuf),
    /// An open file, as in `/dev/stdout` and `/dev/fd/3`. It may have a path too, but a program that writes to it does not mean that path.
    Descriptor(OpenDescriptor),
}

/// A descriptor of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDescriptor {
    pid: i32,
    number: RawFd,
}

impl OpenDescriptor {
    /// Duplicates the descriptor: both share the offset, and with it the position of the next write.
    ///
    /// # Errors
    /// Nothing is open under this number, or the kernel refuses.
    pub fn duplicate(&self) -> io::Result<File> {
        let pid = Pid::from_raw(self.pid).ok_or(Errno::ESRCH)?;
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(pidfd_getfd(process, self.number, PidfdGetfdFlags::empty())?.into())
    }
}

/// Follows the links at the end of a path, the last of which may be dangling.
///
/// # Errors
/// There are too many links.
pub fn follow_links(path: &Path) -> io::Result<Destination> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Some(descriptor) = descriptor_at(&path) {
            return Ok(Destination::Descriptor(descriptor));
        }
        match fs::read_link(&path) {
            Ok(to) => path = directory_of(&path).join(to),
            Err(_) => return Ok(Destination::Path(path)),
        }
    }
    Err(Errno::ELOOP.into())
}

/// The directory that contains a path.
#[must_use]
pub fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The descriptor that a path like `/proc/self/fd/1` means.
fn descriptor_at(path: &Path) -> Option<OpenDescriptor> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let directory = fs::canonicalize(directory_of(path)).ok()?;
    let is_of_process = directory.ends_with("fd")
        && statfs(&directory).is_ok_and(|about| about.filesystem_type() == PROC_SUPER_MAGIC);
    let pid = directory.parent()?.file_name()?.to_str()?.parse().ok()?;
    is_of_process.then_some(OpenDescriptor { pid, number })
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _, Write as _};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_lead_to_paths_or_to_open_files() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let mut file = File::options().read(true).append(true).create(true).open(at("file")).unwrap();
        fs::create_dir_all(at("fd")).unwrap();
        symlink("fd/none", at("dangling")).unwrap();
        symlink("dangling", at("twice")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink(format!("/dev/fd/{}", file.as_raw_fd()), at("open")).unwrap();
        symlink("../file", at("fd/1")).unwrap();
        let path = |name: &str| follow_links(&at(name)).ok();
        assert_eq!(path("twice"), Some(Destination::Path(at("fd/none"))));
        assert_eq!(path("fd/1"), Some(Destination::Path(at("fd/../file"))), "not a directory of a process");
        assert_eq!(path("loop"), None);
        let Some(Destination::Descriptor(open)) = path("open") else { panic!("a descriptor is expected") };
        file.write_all(b"one ").unwrap();
        open.duplicate().unwrap().write_all(b"two").unwrap();
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
        let Ok(Destination::Descriptor(closed)) = follow_links("/proc/self/fd/99999".as_ref()) else {
            panic!("a descriptor is expected")
        };
        assert_eq!(closed.duplicate().unwrap_err().raw_os_error(), Some(Errno::EBADF as i32));
        for path in ["/dev/stdout", "/dev/stderr", "/dev/fd/1"] {
            assert!(matches!(follow_links(path.as_ref()), Ok(Destination::Descriptor(_))), "{path}");
        }
    }
}
