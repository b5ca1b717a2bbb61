//! Where the kernel keeps threads that wait for each other.

/// Most buckets that are asked for: 64 KiB of kernel memory.
const MAX_BUCKETS: usize = 1024;

/// `PR_FUTEX_HASH` and `PR_FUTEX_HASH_SET_SLOTS` of prctl(2), since Linux 6.16.
const FUTEX_HASH: libc::c_int = 78;
const SET_SLOTS: libc::c_ulong = 1;

/// Gives the futexes of this process more hash buckets if it is about to have very many threads.
///
/// The kernel makes four per CPU. While thousands of threads wait for one futex, whoever wakes a thread at another one in the same
/// bucket walks past all of them: at 10 000 jobs, on two CPUs, that was a fifth of the CPU time. Older kernels refuse this, and then
/// everything works as well, only slower.
pub fn expect_waiters(threads: usize) {
    if threads < MAX_BUCKETS {
        return;
    }
    // SAFETY: this prctl takes numbers only, and changes how the kernel finds waiting threads, not what they do.
    unsafe {
        libc::prctl(FUTEX_HASH, SET_SLOTS, MAX_BUCKETS as libc::c_ulong, 0, 0);
    }
}
