//! Finds reasons why a file could not be opened, without opening it.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::sys::statfs::{HUGETLBFS_MAGIC, PROC_SUPER_MAGIC, SYSFS_MAGIC, statfs};
use nix::unistd::{AccessFlags, faccessat};

use crate::interruptions::{RetryInterrupted, open_to_read};
use crate::links::{Destination, directory_of, follow_links};

/// Bytes of the header of a 64-bit shared object, and its beginning.
const ELF_HEADER: usize = 64;
const ELF: &[u8] = b"\x7fELF";

/// The error number of opening a file for writing, creating it if it is missing. `None` if no obstacle is known.
#[must_use]
pub fn obstacle_to_writing(path: &Path) -> Option<i32> {
    let obstacle = match obstacle_to_opening(path, AccessFlags::W_OK, Errno::EISDIR) {
        Some(Errno::ENOENT) => obstacle_to_making(path),
        obstacle => obstacle,
    };
    obstacle.map(|error| error as i32)
}

/// The error number of opening an existing file for reading. `None` if no obstacle is known.
#[must_use]
pub fn obstacle_to_reading(path: &Path) -> Option<i32> {
    obstacle_to_opening(path, AccessFlags::R_OK, Errno::EISDIR).map(|error| error as i32)
}

/// The error number of running a program, by its path or, without a slash, by its name in `PATH`. `None` if no obstacle is known.
#[must_use]
pub fn obstacle_to_running(program: &str) -> Option<i32> {
    let obstacle = |path: &Path| obstacle_to_opening(path, AccessFlags::X_OK, Errno::EACCES);
    let found = match program.contains('/') {
        true => obstacle(Path::new(program)),
        false => {
            let directories = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
            let tried: Vec<_> =
                std::env::split_paths(&directories).map(|dir| obstacle(&dir.join(program))).collect();
            // A file that may not be run counts for more than a missing one.
            let denied = tried.contains(&Some(Errno::EACCES));
            let missing = if denied { Errno::EACCES } else { Errno::ENOENT };
            if tried.contains(&None) { None } else { Some(missing) }
        }
    };
    found.map(|error| error as i32)
}

/// The reason why a file cannot be loaded as a shared object, in the words of the loader. `None` if no obstacle is known.
#[must_use]
pub fn obstacle_to_loading(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let told = |why: &str| Some(format!("{}: {why}", path.display()));
    let mut begin = Vec::new();
    let read = open_to_read(&path)
        .and_then(|file| RetryInterrupted(file).take(ELF_HEADER as u64).read_to_end(&mut begin));
    match read {
        Err(error) => told(&format!("cannot open shared object file: {}", errno(&error).desc())),
        Ok(..ELF_HEADER) => told("file too short"),
        Ok(_) if !begin.starts_with(ELF) => told("invalid ELF header"),
        Ok(_) => None,
    }
}

/// Whether a file at this path would be on a hugetlbfs, whose files are huge pages.
#[must_use]
pub fn is_on_hugetlbfs(path: &Path) -> bool {
    let there = if path.exists() { path } else { directory_of(path) };
    statfs(there).is_ok_and(|about| about.filesystem_type() == HUGETLBFS_MAGIC)
}

/// The reason why an existing file cannot be used in this way, which is `of_directory` for a directory.
fn obstacle_to_opening(path: &Path, mode: AccessFlags, of_directory: Errno) -> Option<Errno> {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => Some(of_directory),
        Ok(_) => access(path, mode),
        Err(error) => Some(errno(&error)),
    }
}

/// The reason why a missing file cannot be created.
fn obstacle_to_making(path: &Path) -> Option<Errno> {
    // The target of a dangling link is created.
    let path: PathBuf = match follow_links(path) {
        Ok(Destination::Path(path)) => path,
        Ok(Destination::Descriptor(_)) => return None,
        Err(error) => return Some(errno(&error)),
    };
    let directory = directory_of(&path);
    match fs::metadata(directory) {
        Err(error) => return Some(errno(&error)),
        Ok(about) if !about.is_dir() => return Some(Errno::ENOTDIR),
        Ok(_) => {}
    }
    access(directory, AccessFlags::W_OK | AccessFlags::X_OK).or_else(|| {
        // Only the kernel creates files there, whatever the permissions.
        match statfs(directory).ok()?.filesystem_type() {
            PROC_SUPER_MAGIC => Some(Errno::ENOENT),
            SYSFS_MAGIC => Some(Errno::EACCES),
            _ => None,
        }
    })
}

fn access(path: &Path, mode: AccessFlags) -> Option<Errno> {
    faccessat(AT_FDCWD, path, mode, AtFlags::AT_EACCESS).err()
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::open_file;
    use nix::fcntl::OFlag;

    #[test]
    fn what_is_foreseen_is_what_the_kernel_says() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("d")).unwrap();
        fs::write(at("plain"), "x").unwrap();
        symlink("new", at("to-new")).unwrap();
        symlink("none/new", at("to-nothing")).unwrap();
        symlink("loop", at("loop")).unwrap();
        let long = "x".repeat(300);
        let paths =
            ["new", "plain", "d", "none/x", "plain/x", "to-new", "to-nothing", "loop", "d/", &long].map(at);
        let kernel = ["/proc/x", "/sys/x", "/sys/kernel/x", "/dev/null"].map(PathBuf::from);
        for path in paths.into_iter().chain(kernel) {
            let flags = OFlag::O_RDWR | OFlag::O_CREAT;
            let before = obstacle_to_writing(&path);
            let opened = open_file(&path, flags, 0o666);
            assert_eq!(before, opened.err().and_then(|error| error.raw_os_error()), "{}", path.display());
            let read = obstacle_to_reading(&path);
            let opened = fs::read(&path).err().and_then(|error| error.raw_os_error());
            assert_eq!(read, opened, "{}", path.display());
        }
    }

    #[test]
    fn programs_and_objects_are_looked_at_without_being_run() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("short"), "x").unwrap();
        fs::write(at("text"), "x".repeat(100)).unwrap();
        let program = |name: &str| obstacle_to_running(&at(name).display().to_string());
        assert_eq!(program("none"), Some(libc_errno(Errno::ENOENT)));
        assert_eq!(program("text"), Some(libc_errno(Errno::EACCES)));
        assert_eq!(obstacle_to_running("sh"), None);
        assert_eq!(obstacle_to_running("no-such-program-here"), Some(libc_errno(Errno::ENOENT)));
        let object = |name: &str| obstacle_to_loading(&at(name)).unwrap_or_default();
        assert!(object("short").ends_with("/short: file too short"));
        assert!(object("text").ends_with("/text: invalid ELF header"));
        assert!(object("none").ends_with("/none: cannot open shared object file: No such file or directory"));
        assert_eq!(obstacle_to_loading(Path::new("/proc/self/exe")), None);
    }

    fn libc_errno(error: Errno) -> i32 {
        error as i32
    }
}
