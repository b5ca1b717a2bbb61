//! The scheduling class of threads that are to run where nothing else wants to.

use std::io;

/// Puts the calling thread into the class SCHED_IDLE: it runs when no thread of another class wants its CPU, but for a fraction of a
/// percent.
///
/// # Errors
/// EPERM or ENOSYS where a sandbox forbids the call.
pub fn run_when_idle() -> io::Result<()> {
    // The class has one priority, 0.
    let priority: libc::c_int = 0;
    // SAFETY: the kernel reads a struct of this one int, and only during the call; 0 is the calling thread.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_IDLE, &raw const priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
