//! The I/O priority of the calling thread.

use std::io;

use ferrio_job::IoPriority;

/// `IOPRIO_WHO_PROCESS`: one thread, here the calling one.
const WHO_PROCESS: libc::c_int = 1;

/// Gives the calling thread, and all I/O it starts from now on, this priority.
///
/// # Errors
/// EPERM for the real-time class without the privilege for it, EINVAL for a hint that the kernel does not know of.
pub fn set_io_priority(priority: IoPriority) -> io::Result<()> {
    // SAFETY: takes numbers only.
    match unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, libc::c_int::from(priority.bits())) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
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
