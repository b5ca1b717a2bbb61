//! System calls that neither nix nor rustix has: scheduling, I/O priority and NUMA policy of the calling thread, the page cache of a block
//! device, hints about the lifetime of data, signals, inherited sockets, and the immediate end of the process.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::ptr;
use std::time::Duration;

use ferrio_job::{IoPriority, MemoryPolicy, WriteHint};
use nix::sys::signal::SigSet;
use nix::sys::time::TimeSpec;

/// `BLKFLSBUF`: write back and drop the page cache of a block device.
const BLKFLSBUF: libc::Ioctl = 0x1261;
/// `F_SET_RW_HINT`: the lifetime of the data of a file.
const F_SET_RW_HINT: libc::c_int = 1036;
/// `F_SET_FILE_RW_HINT`: that of the data written through one descriptor. Newer kernels lack it.
const F_SET_FILE_RW_HINT: libc::c_int = 1038;
/// `IOPRIO_WHO_PROCESS`: one thread, here the calling one.
const WHO_PROCESS: libc::c_int = 1;
/// Nodes that a mask has room for; the kernel has 1024 at most.
const NODES: usize = 1024;
const WORD: usize = u64::BITS as usize;

/// Waits for one of these signals, which must be blocked, at most for `limit` if there is one, and returns its number.
///
/// # Errors
/// EAGAIN if none came in time, EINTR; ENOSYS or EPERM where a sandbox forbids the call.
pub fn wait_for_signal(signals: &SigSet, limit: Option<Duration>) -> io::Result<i32> {
    let limit = limit.map(TimeSpec::from_duration);
    let limit = limit.as_ref().map_or(ptr::null(), |limit| ptr::from_ref(limit.as_ref()));
    // SAFETY: the set and the limit, if there is one, are valid during the call; nothing is asked about the signal but its number.
    let number = unsafe { libc::sigtimedwait(signals.as_ref(), ptr::null_mut(), limit) };
    if number > 0 { Ok(number) } else { Err(io::Error::last_os_error()) }
}

/// Restores the default of SIGCHLD. If the parent ignores it, the kernel would discard the exit status of each command.
pub fn keep_ended_children() {
    // SAFETY: SIG_DFL is a valid disposition, and no handler of this process is replaced.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Ends the process without running destructors or flushing anything. Unmapping memory could block on a thread that hangs in the kernel
/// while it holds the lock of the address space.
pub fn exit_at_once(status: u8) -> ! {
    // SAFETY: no code of this process runs afterwards.
    unsafe { libc::_exit(status.into()) }
}

/// The socket that the parent process has left on a descriptor, for this process alone: programs that it starts do not inherit it.
///
/// # Errors
/// EBADF if there is no such descriptor.
pub fn inherited_socket(descriptor: i32) -> io::Result<UnixStream> {
    if descriptor < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: the call takes a number, which the kernel checks, and touches no memory.
    check(i64::from(unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) }))?;
    // SAFETY: the descriptor is open, as the kernel has just said, and is only borrowed to duplicate it: whoever owns it keeps it.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(UnixStream::from(borrowed.try_clone_to_owned()?))
}

/// Drops the cached pages of a whole block device.
///
/// # Errors
/// EACCES without CAP_SYS_ADMIN, ENOTTY when `device` is no block device.
pub fn flush_buffers(device: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: BLKFLSBUF takes no argument and touches no memory of this process.
    check(i64::from(unsafe { libc::ioctl(device.as_raw_fd(), BLKFLSBUF, 0) }))
}

/// Tells the kernel how long data written to a file is expected to last. With `for_descriptor`, the hint holds for this descriptor alone
/// if the kernel supports that; otherwise it holds for the file.
///
/// # Errors
/// EINVAL where the kernel has no hints.
pub fn set_write_hint(file: BorrowedFd<'_>, hint: WriteHint, for_descriptor: bool) -> io::Result<()> {
    let lifetime = hint.lifetime();
    let set = |command| {
        // SAFETY: the kernel reads one u64 at the address, and only during the call.
        check(i64::from(unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const lifetime) }))
    };
    if for_descriptor && set(F_SET_FILE_RW_HINT).is_ok() { Ok(()) } else { set(F_SET_RW_HINT) }
}

/// Puts the calling thread into the class SCHED_IDLE: it runs when no thread of another class wants its CPU, but for a fraction of a
/// percent.
///
/// # Errors
/// EPERM or ENOSYS where a sandbox forbids the call.
pub fn run_when_idle() -> io::Result<()> {
    // The class has one priority, 0.
    let priority: libc::c_int = 0;
    // SAFETY: the kernel reads a struct of this one int, and only during the call; 0 is the calling thread.
    check(unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_IDLE, &raw const priority) })
}

/// Gives the calling thread, and all I/O it starts from now on, this priority.
///
/// # Errors
/// EPERM for the real-time class without the privilege for it, EINVAL for a hint that the kernel does not know.
pub fn set_io_priority(priority: IoPriority) -> io::Result<()> {
    // SAFETY: takes numbers only.
    check(unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, libc::c_int::from(priority.bits())) })
}

/// Sets the NUMA policy of the calling thread, for pages it touches first from now on: its I/O buffers above all.
///
/// # Errors
/// EINVAL for nodes without memory, ENOSYS where the kernel knows no nodes, EPERM where a sandbox forbids the call.
pub fn set_memory_policy(policy: &MemoryPolicy) -> io::Result<()> {
    let (mode, nodes) = match policy {
        MemoryPolicy::Default => (libc::MPOL_DEFAULT, &[][..]),
        MemoryPolicy::Local => (libc::MPOL_LOCAL, &[][..]),
        MemoryPolicy::Prefer(node) => (libc::MPOL_PREFERRED, std::slice::from_ref(node)),
        MemoryPolicy::Bind(nodes) => (libc::MPOL_BIND, &nodes[..]),
        MemoryPolicy::Interleave(nodes) => (libc::MPOL_INTERLEAVE, &nodes[..]),
    };
    let mut mask = [0u64; NODES / WORD];
    for &node in nodes {
        let word = mask.get_mut(node as usize / WORD).ok_or(io::ErrorKind::InvalidInput)?;
        *word |= 1 << (node as usize % WORD);
    }
    let (mask, bits) = if nodes.is_empty() { (ptr::null(), 0) } else { (mask.as_ptr(), NODES) };
    // SAFETY: the kernel reads at most `bits` bits at `mask`, which holds as many, and only during the call.
    check(unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask, bits) })
}

fn check(answer: i64) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_priority_that_it_was_given_and_others_keep_theirs() {
        let current = || {
            // SAFETY: takes numbers only.
            unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0) }
        };
        let before = current();
        let priority = IoPriority::new(2, 0, 6);
        let inside = std::thread::spawn(move || set_io_priority(priority).map(|()| current()));
        assert_eq!(inside.join().unwrap().unwrap(), i64::from(priority.bits()));
        assert_eq!(current(), before);
    }
}
