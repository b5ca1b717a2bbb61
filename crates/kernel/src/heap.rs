//! The heap that small allocations come from.

/// Makes all threads share the heap of the main thread, where glibc would give each its own and reserve 64 MiB of address space for it.
/// Other C libraries have one heap anyway.
pub fn share() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt(3) takes two numbers and changes a setting of the allocator under the allocator's own lock.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
