//! Sets up a ring: its flags, the order in which unsupported flags are dropped, and the error message when the kernel has no io_uring.

use std::io;
use std::os::fd::RawFd;

use ferrio_machine::IoUringSysctl;
use io_uring::{Builder, IoUring, cqueue, squeue};

use crate::EngineError;

/// io_uring_register(2) operations that the ring needs before it exists as a value.
const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;

/// Entries of the largest ring.
const LARGEST: u32 = 32768;

/// What kind of ring.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup {
    /// Requests in flight at most; rounded up to a power of two.
    pub iodepth: u32,
    /// Completions are polled for instead of interrupting (direct I/O on devices with poll queues).
    pub iopoll: bool,
    /// A kernel thread takes entries off the submission queue.
    pub sqpoll: bool,
    /// CPU of that thread.
    pub sqpoll_cpu: Option<u32>,
    /// Registered files and buffers are unregistered when the ring is dropped. The kernel takes its time to end a ring: until then a file
    /// system could not be unmounted, and the next job would find the limit of locked memory used up.
    pub unregisters: bool,
}

/// Flags that older kernels, or other flags, refuse.
#[derive(Clone, Copy)]
struct Extras {
    /// SINGLE_ISSUER and DEFER_TASKRUN (Linux 6.1): completion work runs when this thread asks for completions.
    defer: bool,
    /// COOP_TASKRUN and TASKRUN_FLAG (5.19): no interrupt to run completion work, but a flag that there is some.
    cooperative: bool,
    /// CQSIZE (5.5): a completion queue as long as the submission queue.
    cq_size: bool,
}

impl Setup {
    /// A ring, and whether the word of its flags shows that completion work waits.
    pub(super) fn build<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
        &self,
    ) -> Result<(IoUring<S, C>, bool), EngineError> {
        // The kernel refuses the first two together with a submission thread.
        let own = !self.sqpoll;
        let attempts = [(own, own, true), (false, own, true), (false, false, true), (false, false, false)];
        let mut error = io::Error::from_raw_os_error(libc::EINVAL);
        for (defer, cooperative, cq_size) in attempts {
            match self.builder(Extras { defer, cooperative, cq_size }).build(self.entries()) {
                Ok(ring) => return Ok((ring, cooperative)),
                Err(e) => error = e,
            }
            if error.raw_os_error() != Some(libc::EINVAL) {
                break;
            }
        }
        Err(refused(error))
    }

    /// Twice the depth with a submission thread: it gives places back only after a whole batch, when the completions of that
    /// batch may be reaped and followed by new requests already.
    fn entries(&self) -> u32 {
        let depth = self.iodepth.max(1).checked_next_power_of_two().unwrap_or(u32::MAX);
        if self.sqpoll && depth < LARGEST { depth * 2 } else { depth }
    }

    fn builder<S: squeue::EntryMarker, C: cqueue::EntryMarker>(&self, extras: Extras) -> Builder<S, C> {
        let mut builder = IoUring::<S, C>::builder();
        if self.iopoll {
            builder.setup_iopoll();
        }
        if self.sqpoll {
            builder.setup_sqpoll(0);
            if let Some(cpu) = self.sqpoll_cpu {
                builder.setup_sqpoll_cpu(cpu);
            }
        }
        if extras.defer {
            builder.setup_single_issuer().setup_defer_taskrun();
        }
        if extras.cooperative {
            builder.setup_coop_taskrun().setup_taskrun_flag();
        }
        if extras.cq_size {
            builder.setup_cqsize(self.entries());
        }
        builder
    }
}

/// An error of io_uring_setup(2) as `io_queue_init`, with a hint for the usual reasons.
#[must_use]
pub fn refused(error: io::Error) -> EngineError {
    let error = EngineError::new("io_queue_init", error);
    if error.errno() == libc::EPERM {
        return error.hint(forbidden_by(IoUringSysctl::ask()));
    }
    error.hint_for(|errno| match errno {
        libc::ENOSYS => Some(
            "your kernel doesn't support io_uring: it needs Linux 5.1 with CONFIG_IO_URING, or try ioengine=libaio",
        ),
        libc::ENOMEM => Some("raise the limit of locked memory (ulimit -l) or lower iodepth"),
        libc::EINVAL => Some("io_uring allows an iodepth of at most 32768"),
        _ => None,
    })
}

/// Who forbids io_uring, and what to do about it.
fn forbidden_by(sysctl: IoUringSysctl) -> String {
    match sysctl.obstacle() {
        Some(obstacle) => format!("{obstacle}; {}", IoUringSysctl::ADVICE),
        None => "io_uring is forbidden to this process, not by the sysctl kernel.io_uring_disabled but most likely by the seccomp \
                 profile of a container; allow io_uring_setup(2) there (Docker: `--security-opt seccomp=unconfined`), or use \
                 another engine, such as libaio"
            .to_owned(),
    }
}

/// `struct io_uring_rsrc_update`
#[repr(C)]
struct ResourceUpdate {
    offset: u32,
    reserved: u32,
    data: u64,
}

/// Gives this thread an index for the ring that io_uring_enter(2) takes without looking up the descriptor; `None` before Linux
/// 5.18.
pub(super) fn register_ring_fd(ring: RawFd) -> Option<i32> {
    let mut update = ResourceUpdate { offset: u32::MAX, reserved: 0, data: u64::from(ring.cast_unsigned()) };
    // SAFETY: the kernel reads and writes one ResourceUpdate, which lives until the call returns.
    let count =
        unsafe { libc::syscall(libc::SYS_io_uring_register, ring, REGISTER_RING_FDS, &raw mut update, 1u32) };
    if count == 1 { i32::try_from(update.offset).ok() } else { None }
}

/// Gives the index back; it holds the ring open otherwise.
pub(super) fn unregister_ring_fd(ring: RawFd, index: i32) {
    let mut update = ResourceUpdate { offset: index.cast_unsigned(), reserved: 0, data: 0 };
    // SAFETY: the kernel reads one ResourceUpdate, which lives until the call returns.
    unsafe { libc::syscall(libc::SYS_io_uring_register, ring, UNREGISTER_RING_FDS, &raw mut update, 1u32) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_that_no_ring_has_is_refused_with_the_limit() {
        let error = Setup { iodepth: 1 << 20, ..Setup::default() };
        let error = error.build::<squeue::Entry, cqueue::Entry>().err().unwrap();
        assert_eq!((error.func.as_str(), error.errno()), ("io_queue_init", libc::EINVAL));
        assert!(error.to_string().contains("32768"), "{error}");
    }

    #[test]
    fn a_missing_io_uring_says_what_to_do() {
        let text = |errno| refused(io::Error::from_raw_os_error(errno)).to_string();
        assert!(text(libc::ENOSYS).contains("ioengine=libaio"));
    }

    #[test]
    fn a_forbidden_io_uring_says_who_forbids_it() {
        let all = [IoUringSysctl::Allows, IoUringSysctl::AllowsOthers, IoUringSysctl::AllowsNobody]
            .map(forbidden_by);
        assert!(all.iter().all(|text| text.contains("libaio")), "{all:?}");
        assert_eq!(all.each_ref().map(|text| text.contains("seccomp")), [true, false, false], "{all:?}");
        let cure = "sysctl kernel.io_uring_disabled=0";
        assert_eq!(all.each_ref().map(|text| text.contains(cure)), [false, true, true], "{all:?}");
        let of_kernel = refused(io::Error::from_raw_os_error(libc::EPERM));
        assert_eq!(of_kernel.hint, Some(forbidden_by(IoUringSysctl::ask())));
    }

    #[test]
    fn entries_are_a_power_of_two() {
        assert_eq!(Setup { iodepth: 3, ..Setup::default() }.entries(), 4);
        assert_eq!(Setup { iodepth: 32, ..Setup::default() }.entries(), 32);
        assert_eq!(Setup { iodepth: 32, sqpoll: true, ..Setup::default() }.entries(), 64);
        assert_eq!(Setup { iodepth: LARGEST, sqpoll: true, ..Setup::default() }.entries(), LARGEST);
    }
}
