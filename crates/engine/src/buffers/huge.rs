//! Huge pages: their sizes as flags, and advice when there are none.

use std::ptr::NonNull;

use ferrio_job::{Memory, MemoryType};
use ferrio_machine::HugePagePool;
use nix::errno::Errno;

use crate::EngineError;

/// Advice when memory of any kind is short.
pub(super) const SMALLER_BUFFERS: &str = "the I/O buffers need too much memory: use a smaller bs or iodepth, or raise the limit of address space \
    (RLIMIT_AS, `ulimit -v`) if there is one";

/// The smallest huge page size of any machine, in bytes.
const MIN_HUGE_PAGE_BYTES: usize = 1 << 20;

/// Rounds `length` up to whole pages.
pub(super) fn whole_pages(length: usize, page: u64) -> Result<usize, EngineError> {
    usize::try_from(page)
        .ok()
        .filter(|&page| page > 0)
        .and_then(|page| length.checked_next_multiple_of(page))
        .ok_or_else(|| EngineError::new("init buffers", Errno::ENOMEM).hint(SMALLER_BUFFERS))
}

/// Transparent huge pages for ordinary memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TransparentPages {
    /// Page size in bytes, to which the memory has to be aligned.
    pub page: usize,
    /// Bytes of the memory that are whole huge pages.
    length: usize,
}

/// The huge pages that `length` bytes of memory fill; `None` if they fill none or the kernel has none. Partly filled pages do not count, so
/// a thousand jobs with small buffers take no more memory than these buffers.
pub(super) fn transparent_pages(memory: &Memory, length: usize) -> Option<TransparentPages> {
    let is_ordinary = matches!(memory.kind, MemoryType::Malloc | MemoryType::Mmap | MemoryType::MmapShared);
    // Most jobs have less; the kernel need not be asked.
    if !memory.transparent_huge || !is_ordinary || memory.file.is_some() || length < MIN_HUGE_PAGE_BYTES {
        return None;
    }
    let page = usize::try_from(ferrio_machine::transparent_huge_page()?).ok()?;
    let length = length / page * page;
    (length > 0).then_some(TransparentPages { page, length })
}

impl TransparentPages {
    /// Asks the kernel to use huge pages from `start` on. False if it has none.
    pub(super) fn advise(self, start: NonNull<u8>) -> bool {
        // SAFETY: the range lies in the new area that begins at `start`; the advice changes neither access nor contents.
        unsafe { libc::madvise(start.as_ptr().cast(), self.length, libc::MADV_HUGEPAGE) == 0 }
    }
}

/// The flag that asks mmap(2) or shmget(2) for pages of this size, which must be a power of two.
pub(super) fn size_flag(page: u64, shift: libc::c_int) -> libc::c_int {
    (page.trailing_zeros() as libc::c_int) << shift
}

/// Adds to the error how many such pages the system has and how to get more.
pub(super) fn advise(error: EngineError, kind: &str, length: usize, page: u64) -> EngineError {
    let hint = match HugePagePool::of(page >> 10) {
        Some(pool) => too_few(&pool, &error, kind, length, page),
        None => no_such_pages(&HugePagePool::sizes(), page),
    };
    error.hint(hint)
}

fn too_few(pool: &HugePagePool, error: &EngineError, kind: &str, length: usize, page: u64) -> String {
    if error.errno() == libc::EPERM {
        return format!(
            "mem={kind} needs CAP_IPC_LOCK, or membership in the group of /proc/sys/vm/hugetlb_shm_group"
        );
    }
    let needed = length as u64 / page.max(1);
    let total = pool.pages + needed.saturating_sub(pool.free);
    format!(
        "no huge pages available: each job with mem={kind} needs {needed} of {}kB, but {} are free; \
         as root: echo {total} > {}",
        page >> 10,
        pool.free,
        pool.size_file.display()
    )
}

fn no_such_pages(sizes: &[String], page: u64) -> String {
    let sizes = if sizes.is_empty() { "none".to_owned() } else { sizes.join(", ") };
    format!("the kernel has no huge pages of {}kB; those it has: {sizes} (hugepage-size)", page >> 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(errno: i32, length: usize, page: u64) -> String {
        let pool = HugePagePool { pages: 8, free: 2, size_file: "SYS/nr_hugepages".into() };
        let error = EngineError::new("mmap", std::io::Error::from_raw_os_error(errno));
        too_few(&pool, &error, "mmaphuge", length, page)
    }

    #[test]
    fn the_advice_counts_pages_and_says_what_to_write_where() {
        assert_eq!(
            advice(libc::ENOMEM, 10 << 20, 2 << 20),
            "no huge pages available: each job with mem=mmaphuge needs 5 of 2048kB, but 2 are free; as root: echo 11 > \
             SYS/nr_hugepages"
        );
    }

    #[test]
    fn a_size_that_the_kernel_does_not_have_is_named_with_those_it_has() {
        assert_eq!(
            no_such_pages(&["2048kB".to_owned(), "1048576kB".to_owned()], 1 << 20),
            "the kernel has no huge pages of 1024kB; those it has: 2048kB, 1048576kB (hugepage-size)"
        );
    }

    #[test]
    fn what_needs_a_privilege_says_so() {
        assert!(advice(libc::EPERM, 2 << 20, 2 << 20).contains("CAP_IPC_LOCK"));
    }

    #[test]
    fn sizes_are_flags_of_their_exponent() {
        assert_eq!(size_flag(2 << 20, libc::MAP_HUGE_SHIFT), libc::MAP_HUGE_2MB);
        assert_eq!(size_flag(1 << 30, libc::MAP_HUGE_SHIFT), libc::MAP_HUGE_1GB);
    }
}
