//! Creates a ring: its flags, the order in which unsupported flags are dropped, and the error message if the kernel has no io_uring.

use std::io;
use std::os::fd::RawFd;

use ferrio_machine::IoUringSysctl;
use io_uring::{Builder, IoUring, cqueue, squeue};

use crate::EngineError;

/// Operations of io_uring_register(2) that are needed before the ring is built.
const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;

/// Entries of the largest ring that the kernel creates.
const MAX_ENTRIES: u32 = 32768;

/// Properties of the ring to create.
#[derive(Clone, Copy, Debug, Default)]
pub struct RingSetup {
    /// Maximum number of requests in flight; rounded up to a power of two.
    pub iodepth: u32,
    /// Polls for completions instead of using interrupts (direct I/O on devices with poll queues).
    pub iopoll: bool,
    /// Lets a kernel thread take entries off the submission queue.
    pub sqpoll: bool,
    /// CPU of that thread.
    pub sqpoll_cpu: Option<u32>,
    /// Unregisters files and buffers when the ring is dropped. The kernel takes its time to end a ring; until then a file system could not
    /// be unmounted, and the next job would find the limit of locked memory used up.
    pub unregisters_on_drop: bool,
}

/// Flags that older kernels refuse, or that conflict with other flags.
#[derive(Clone, Copy)]
struct OptionalFlags {
    /// SINGLE_ISSUER and DEFER_TASKRUN (Linux 6.1): completion work runs when this thread asks for completions.
    defer: bool,
    /// COOP_TASKRUN and TASKRUN_FLAG (5.19): no interrupt to run completion work, but a flag that there is some.
    cooperative: bool,
    /// CQSIZE (5.5): a completion queue as long as the submission queue.
    cq_size: bool,
}

impl RingSetup {
    /// Builds a ring. The boolean is true if the ring's flags show pending completion work.
    pub(super) fn build<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
        &self,
    ) -> Result<(IoUring<S, C>, bool), EngineError> {
        // The kernel refuses the first two together with a submission thread.
        let own = !self.sqpoll;
        let attempts = [(own, own, true), (false, own, true), (false, false, true), (false, false, false)];
        let mut error = io::Error::from_raw_os_error(libc::EINVAL);
        for (defer, cooperative, cq_size) in attempts {
            match self.builder(OptionalFlags { defer, cooperative, cq_size }).build(self.entries()) {
                Ok(ring) => return Ok((ring, cooperative)),
                Err(e) => error = e,
            }
            if error.raw_os_error() != Some(libc::EINVAL) {
                break;
            }
        }
        Err(setup_error(error))
    }

    /// Number of entries. Doubled with a submission thread, which frees entries only after a whole batch, when completions of that batch
    /// may already have been reaped and followed by new requests.
    fn entries(&self) -> u32 {
        let depth = self.iodepth.max(1).checked_next_power_of_two().unwrap_or(u32::MAX);
        if self.sqpoll && depth < MAX_ENTRIES { depth * 2 } else { depth }
    }

    fn builder<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
        &self,
        extras: OptionalFlags,
    ) -> Builder<S, C> {
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

/// Converts an error of io_uring_setup(2) into one of `io_queue_init`, with a hint for the usual reasons.
#[must_use]
pub fn setup_error(error: io::Error) -> EngineError {
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

/// Names who forbids io_uring, and the remedy.
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

/// Registers the ring for this thread and returns an index that io_uring_enter(2) takes without looking up the descriptor; `None` before
/// Linux 5.18.
pub(super) fn register_ring_fd(ring: RawFd) -> Option<i32> {
    let mut update = ResourceUpdate { offset: u32::MAX, reserved: 0, data: u64::from(ring.cast_unsigned()) };
    // SAFETY: the kernel reads and writes one ResourceUpdate, which lives until the call returns.
    let count =
        unsafe { libc::syscall(libc::SYS_io_uring_register, ring, REGISTER_RING_FDS, &raw mut update, 1u32) };
    if count == 1 { i32::try_from(update.offset).ok() } else { None }
}

/// Unregisters the index, which would keep the ring open.
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
        let error = RingSetup { iodepth: 1 << 20, ..RingSetup::default() };
        let error = error.build::<squeue::Entry, cqueue::Entry>().err().unwrap();
        assert_eq!((error.func.as_str(), error.errno()), ("io_queue_init", libc::EINVAL));
        assert!(error.to_string().contains("32768"), "{error}");
    }

    #[test]
    fn a_missing_io_uring_says_what_to_do() {
        let text = |errno| setup_error(io::Error::from_raw_os_error(errno)).to_string();
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
        let of_kernel = setup_error(io::Error::from_raw_os_error(libc::EPERM));
        assert_eq!(of_kernel.hint, Some(forbidden_by(IoUringSysctl::ask())));
    }

    #[test]
    fn entries_are_a_power_of_two() {
        assert_eq!(RingSetup { iodepth: 3, ..RingSetup::default() }.entries(), 4);
        assert_eq!(RingSetup { iodepth: 32, ..RingSetup::default() }.entries(), 32);
        assert_eq!(RingSetup { iodepth: 32, sqpoll: true, ..RingSetup::default() }.entries(), 64);
        assert_eq!(
            RingSetup { iodepth: MAX_ENTRIES, sqpoll: true, ..RingSetup::default() }.entries(),
            MAX_ENTRIES
        );
    }
}
