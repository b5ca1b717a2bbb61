//! Claims to files that a process is going to write or replace, so that no two processes do so at once.
//!
//! The file may not exist yet, and an existing one may be replaced, so the file itself is not locked. A claim is a lock on a byte of the
//! directory that stands for the name: a read lock of the open file description, because fcntl(2) grants no others on directories. A
//! process that finds the lock of another one there releases its own. The kernel drops the locks of a process that ends for any reason, and
//! nothing remains in the file system.
//!
//! Network file systems keep such locks on the host: processes on different hosts do not see each other.

use std::collections::hash_map::{Entry, HashMap};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;

use crate::interruptions::open_file;
use crate::links::{Destination, directory_of, follow_links};

/// Attempts until another process counts as the owner of a file, rather than as one that tries at the same moment.
const MAX_ATTEMPTS: u32 = 20;
/// Longest pause between two attempts, in microseconds.
const MAX_PAUSE_US: u64 = 16_000;

/// A directory, and its files by their indexes and the bytes that stand for them.
type ClaimedDirectory = (File, Vec<(usize, i64)>);

/// Files that belong to this process until the value is dropped.
#[derive(Debug, Default)]
pub struct FileClaims {
    directories: Vec<File>,
}

impl FileClaims {
    /// Claims the files at these paths. Links are followed. Pipes, devices and open files (`/dev/stdout`) may be shared, and are left out,
    /// as are files that the kernel cannot lock.
    ///
    /// # Errors
    /// The index of a path that belongs to another process, or to other claims of this one.
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<Self, usize> {
        let mut directories: HashMap<(u64, u64), ClaimedDirectory> = HashMap::new();
        for (index, path) in paths.into_iter().enumerate() {
            let Some((directory, about, key)) = place_of(path) else { continue };
            let names = match directories.entry((about.dev(), about.ino())) {
                Entry::Occupied(known) => &mut known.into_mut().1,
                Entry::Vacant(new) => &mut new.insert((directory, Vec::new())).1,
            };
            names.push((index, key));
        }
        let claims: Vec<(&File, usize, i64)> = directories
            .values()
            .flat_map(|(directory, names)| names.iter().map(move |&(index, key)| (directory, index, key)))
            .collect();
        let mut trial = 0;
        while let Some(index) = claims.iter().find_map(|&(directory, index, key)| {
            (lock(directory, key) && is_locked_by_others(directory, key)).then_some(index)
        }) {
            directories.values().for_each(|(directory, _)| unlock(directory));
            trial += 1;
            if trial == MAX_ATTEMPTS {
                return Err(index);
            }
            // Processes that try at the same moment must not meet again.
            thread::park_timeout(Duration::from_micros(noise(trial) % MAX_PAUSE_US));
        }
        Ok(FileClaims { directories: directories.into_values().map(|(directory, _)| directory).collect() })
    }
}

impl Drop for FileClaims {
    /// Closing is not enough: a thread that hangs in the kernel may have the directory open too.
    fn drop(&mut self) {
        self.directories.iter().for_each(unlock);
    }
}

/// Whether a file that [`FileClaims`] would claim has been written since then.
#[must_use]
pub fn written_since(path: &Path, time: SystemTime) -> bool {
    let Some(path) = path_to_claim(path) else { return false };
    fs::metadata(path).and_then(|about| about.modified()).is_ok_and(|modified| modified > time)
}

/// The path of a file after all links; `None` for what can be shared: pipes, devices and files that are open already.
fn path_to_claim(path: &Path) -> Option<PathBuf> {
    let Ok(Destination::Path(path)) = follow_links(path) else { return None };
    fs::metadata(&path).map_or(true, |about| about.is_file()).then_some(path)
}

/// The directory of a file, and the byte that stands for the name there; `None` for a file that can be shared or cannot be claimed.
fn place_of(path: &Path) -> Option<(File, fs::Metadata, i64)> {
    let path = path_to_claim(path)?;
    let key = key_of(path.file_name()?.as_bytes());
    let directory = open_file(directory_of(&path), OFlag::O_RDONLY | OFlag::O_DIRECTORY, 0).ok()?;
    let about = directory.metadata().ok()?;
    Some((directory, about, key))
}

/// FNV-1a with 62 bits: the same in all processes, and a valid file offset.
fn key_of(name: &[u8]) -> i64 {
    let hash = name.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    i64::try_from(hash >> 2).unwrap_or(0)
}

fn lock(directory: &File, key: i64) -> bool {
    fcntl(directory, FcntlArg::F_OFD_SETLK(&byte(libc::F_RDLCK, key, 1))).is_ok()
}

fn is_locked_by_others(directory: &File, key: i64) -> bool {
    let mut found = byte(libc::F_WRLCK, key, 1);
    let asked = fcntl(directory, FcntlArg::F_OFD_GETLK(&mut found));
    asked.is_ok() && i32::from(found.l_type) != libc::F_UNLCK
}

fn unlock(directory: &File) {
    // Length 0 means up to the end.
    let _ = fcntl(directory, FcntlArg::F_OFD_SETLK(&byte(libc::F_UNLCK, 0, 0)));
}

fn byte(kind: i32, start: i64, len: i64) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: start,
        l_len: len,
        l_pid: 0,
    }
}

/// Differs between processes, and between the attempts of one.
fn noise(trial: u32) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
    let seed = (u64::from(std::process::id()) << 32 | u64::from(now)) ^ u64::from(trial) << 20;
    // The finalizer of splitmix64.
    let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 27
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::Barrier;

    use super::*;

    fn claim(paths: &[PathBuf]) -> Result<FileClaims, usize> {
        FileClaims::new(paths.iter().map(PathBuf::as_path))
    }

    #[test]
    fn a_file_has_one_owner_at_a_time_whether_it_exists_or_not() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("there"), "").unwrap();
        symlink("there", at("link")).unwrap();
        let first = claim(&[at("new"), at("there")]).unwrap();
        assert_eq!(claim(&[at("other"), at("new")]).unwrap_err(), 1);
        assert_eq!(claim(&[at("link")]).unwrap_err(), 0);
        // A report replaces the file.
        fs::rename(at("there"), at("before")).unwrap();
        fs::write(at("there"), "").unwrap();
        assert_eq!(claim(&[at("link")]).unwrap_err(), 0);
        // What was refused holds nothing, and one process may name a file twice.
        let second = claim(&[at("other"), at("other")]).unwrap();
        drop((first, second));
        claim(&[at("new"), at("there"), at("other")]).unwrap();
        let names = fs::read_dir(&place).unwrap().count();
        assert_eq!(names, 3, "claims leave no files");
    }

    #[test]
    fn what_may_be_shared_is_not_claimed() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let paths = [pipe, "/dev/null".into(), "/dev/stdout".into(), place.path().join("no/such")];
        let first = claim(&paths).unwrap();
        claim(&paths).unwrap();
        drop(first);
    }

    #[test]
    fn of_many_that_try_at_the_same_moment_one_wins() {
        let place = tempfile::tempdir().unwrap();
        let (start, end) = (Barrier::new(8), Barrier::new(8));
        let owners: usize = thread::scope(|scope| {
            let tries = |_| {
                scope.spawn(|| {
                    start.wait();
                    let claims = claim(&[place.path().join("report")]);
                    end.wait();
                    usize::from(claims.is_ok())
                })
            };
            let threads: Vec<_> = (0..8).map(tries).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(owners, 1);
    }
}
