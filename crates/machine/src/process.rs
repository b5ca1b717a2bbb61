//! This process as the kernel reports it: its signals, and the progress of its threads.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::OnceLock;

use nix::libc;
use nix::sys::signal::Signal;
use nix::unistd::gettid;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use crate::files::names_in;
use crate::interruptions::text_of_file;

/// A set of signals as the kernel shows it: one bit each from the lowest.
#[derive(Clone, Copy, Debug)]
pub struct SignalMask(u64);

impl SignalMask {
    /// The signals that this process ignores because its parent said so: `nohup` ignores SIGHUP. Queried once.
    #[must_use]
    pub fn ignored() -> Self {
        static IGNORED: OnceLock<SignalMask> = OnceLock::new();
        *IGNORED.get_or_init(|| Self::from_status("SigIgn:"))
    }

    /// The signals that are pending for this process as a whole (`ShdPnd` of proc(5)).
    #[must_use]
    pub fn pending() -> Self {
        Self::from_status("ShdPnd:")
    }

    /// Whether `signal` is in the set.
    #[must_use]
    pub fn contains(self, signal: Signal) -> bool {
        self.0 & (1 << (signal as u32 - 1)) != 0
    }

    fn from_status(name: &str) -> Self {
        let status = text_of_file("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix(name));
        SignalMask(mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default())
    }
}

/// Kernel id of the calling thread.
#[must_use]
pub fn thread_id() -> u32 {
    gettid().as_raw().unsigned_abs()
}

/// Number of context switches of all threads of this process but the calling one; `None` if it is unknown.
#[must_use]
pub fn switches_of_other_threads() -> Option<u64> {
    // A thread that has just ended counts as 0: the sum changes, so the threads are not taken for blocked.
    Some(other_threads()?.map(|thread| switches_of(&thread).unwrap_or(0)).fold(0, u64::wrapping_add))
}

/// Detects whether the main thread is blocked by an output: it writes to a pipe, a socket or a terminal, or it waits for a thread that
/// writes to one through stdout or stderr. Returns the number of context switches of these threads, which does not change while they are
/// blocked; `None` if they are not blocked or if that is unknown.
#[must_use]
pub fn switches_of_blocked_main() -> Option<u64> {
    let main = OsString::from(std::process::id().to_string());
    let writes = |thread: &OsStr, is_meant: &dyn Fn(u64) -> bool| {
        let (call, descriptor) = call_of(thread)?;
        let is_write = matches!(call, libc::SYS_write | libc::SYS_writev);
        let is_blocked = is_write && is_meant(descriptor) && may_block(thread, descriptor);
        is_blocked.then(|| switches_of(thread)).flatten()
    };
    match call_of(&main)? {
        (libc::SYS_futex, _) => {
            // All other descriptors that a thread writes to are files of its job.
            let is_shown = |descriptor| matches!(descriptor, 1 | 2);
            let writer = other_threads()?.find_map(|thread| writes(&thread, &is_shown))?;
            Some(switches_of(&main)?.wrapping_add(writer))
        }
        _ => writes(&main, &|_| true),
    }
}

/// Whether writes of a thread to this descriptor may wait for the reader: it is a pipe, a socket or a terminal.
fn may_block(thread: &OsStr, descriptor: u64) -> bool {
    // Threads that open files of jobs have descriptors of their own.
    let link = Path::new("/proc/self/task").join(thread).join("fd").join(descriptor.to_string());
    let target = std::fs::read_link(&link).unwrap_or_default();
    let target = target.to_string_lossy();
    if ["pipe:[", "socket:[", "/dev/pts/", "/dev/tty"].iter().any(|kind| target.starts_with(kind)) {
        return true;
    }
    // A named pipe has a path. A network file system may not answer: STATX_DONT_SYNC uses only attributes that the kernel has cached.
    let about = statx(CWD, &link, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE);
    about.is_ok_and(|about| FileType::from_raw_mode(about.stx_mode.into()) == FileType::Fifo)
}

/// The threads of this process but the calling one, by number.
fn other_threads() -> Option<impl Iterator<Item = OsString>> {
    let own = gettid().to_string();
    let threads = names_in("/proc/self/task".as_ref()).ok()?;
    Some(threads.map_while(Result::ok).filter(move |thread| *thread != *own))
}

/// Number of context switches of a thread of this process.
fn switches_of(thread: &OsStr) -> Option<u64> {
    let status = thread_file_text(thread, "status")?;
    let counts = status.lines().filter_map(|line| line.split_once("ctxt_switches:"));
    counts.map(|(_, count)| count.trim().parse::<u64>().ok()).sum()
}

/// The system call in which a thread of this process waits, and its first argument, from `/proc/PID/task/TID/syscall` (proc(5)).
fn call_of(thread: &OsStr) -> Option<(libc::c_long, u64)> {
    let text = thread_file_text(thread, "syscall")?;
    let mut words = text.split(' ');
    let number = words.next()?.parse().ok()?;
    let argument = u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok()?;
    Some((number, argument))
}

fn thread_file_text(thread: &OsStr, file: &str) -> Option<String> {
    text_of_file(Path::new("/proc/self/task").join(thread).join(file)).ok()
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn pipes_and_sockets_block_and_files_do_not() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("named");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let named = std::fs::File::options().read(true).write(true).open(&path).unwrap();
        let (_reader, pipe) = std::io::pipe().unwrap();
        let (socket, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
        let file = tempfile::tempfile().unwrap();
        let thread = OsString::from(gettid().to_string());
        let blocks = |descriptor: i32| may_block(&thread, u64::try_from(descriptor).unwrap());
        let descriptors = [named.as_raw_fd(), pipe.as_raw_fd(), socket.as_raw_fd(), file.as_raw_fd()];
        assert_eq!(descriptors.map(blocks), [true, true, true, false]);
    }

    #[test]
    fn a_thread_that_waits_for_a_pipe_is_in_its_call() {
        let (reader, pipe) = std::io::pipe().unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let descriptor = u64::try_from(reader.as_raw_fd()).unwrap();
        let waits = std::thread::spawn(move || {
            tell.send(gettid()).unwrap();
            std::io::Read::read(&mut &reader, &mut [0]).unwrap()
        });
        let thread = OsString::from(told.recv().unwrap().to_string());
        while call_of(&thread) != Some((libc::SYS_read, descriptor)) {
            std::thread::yield_now();
        }
        assert!(switches_of(&thread).is_some());
        std::io::Write::write_all(&mut &pipe, &[1]).unwrap();
        assert_eq!(waits.join().unwrap(), 1);
    }
}
