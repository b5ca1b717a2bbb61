//! Huge pages: their sizes as flags, and what to do when there are none.

use std::fs;
use std::io;
use std::path::Path;

use crate::EngineError;

/// `length` in whole pages.
pub(super) fn whole_pages(length: usize, page: u64) -> Result<usize, EngineError> {
    usize::try_from(page)
        .ok()
        .filter(|&page| page > 0)
        .and_then(|page| length.checked_next_multiple_of(page))
        .ok_or_else(|| {
            EngineError::new("init buffers", io::Error::from_raw_os_error(libc::ENOMEM)).hint(super::SMALLER)
        })
}

/// The flag that asks mmap(2) or shmget(2) for pages of this size, a power of two.
pub(super) fn size_flag(page: u64, shift: libc::c_int) -> libc::c_int {
    (page.trailing_zeros() as libc::c_int) << shift
}

/// Says what the system has of these pages and how to get more.
pub(super) fn advise(error: EngineError, kind: &str, length: usize, page: u64) -> EngineError {
    let hint = advice(Path::new("/sys/kernel/mm/hugepages"), &error, kind, length, page);
    error.hint(hint)
}

fn advice(system: &Path, error: &EngineError, kind: &str, length: usize, page: u64) -> String {
    let size = page >> 10;
    let pool = system.join(format!("hugepages-{size}kB"));
    let number = |name: &str| fs::read_to_string(pool.join(name)).ok()?.trim().parse::<u64>().ok();
    let (Some(all), Some(free), Some(taken)) =
        (number("nr_hugepages"), number("free_hugepages"), number("resv_hugepages"))
    else {
        let sizes = sizes(system);
        let there = if sizes.is_empty() { "none".to_owned() } else { sizes.join(", ") };
        return format!("the kernel has no huge pages of {size}kB; those it has: {there} (hugepage-size)");
    };
    if error.errno() == libc::EPERM {
        return format!(
            "mem={kind} needs CAP_IPC_LOCK, or membership in the group of /proc/sys/vm/hugetlb_shm_group"
        );
    }
    let (needed, free) = (length as u64 / page.max(1), free.saturating_sub(taken));
    let total = all + needed.saturating_sub(free);
    format!(
        "no huge pages available: each job with mem={kind} needs {needed} of {size}kB, and {free} are free; \
         as root: echo {total} > {}",
        pool.join("nr_hugepages").display()
    )
}

/// The sizes there are, smallest first, as the kernel writes them.
fn sizes(system: &Path) -> Vec<String> {
    let names = fs::read_dir(system).into_iter().flatten().flatten().filter_map(|entry| {
        entry.file_name().to_str().and_then(|name| name.strip_prefix("hugepages-")).map(str::to_owned)
    });
    let mut sizes: Vec<String> = names.collect();
    sizes.sort_by_key(|size| (size.len(), size.clone()));
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> tempfile::TempDir {
        let system = tempfile::tempdir().unwrap();
        for (size, all, free, taken) in [("2048", 8, 3, 1), ("1048576", 0, 0, 0)] {
            let pool = system.path().join(format!("hugepages-{size}kB"));
            fs::create_dir(&pool).unwrap();
            for (name, value) in [("nr_hugepages", all), ("free_hugepages", free), ("resv_hugepages", taken)]
            {
                fs::write(pool.join(name), format!("{value}\n")).unwrap();
            }
        }
        system
    }

    fn told(errno: i32, length: usize, page: u64) -> String {
        let system = system();
        let error = EngineError::new("mmap", io::Error::from_raw_os_error(errno));
        advice(system.path(), &error, "mmaphuge", length, page)
            .replace(system.path().to_str().unwrap(), "SYS")
    }

    #[test]
    fn the_advice_counts_pages_and_says_what_to_write_where() {
        assert_eq!(
            told(libc::ENOMEM, 10 << 20, 2 << 20),
            "no huge pages available: each job with mem=mmaphuge needs 5 of 2048kB, and 2 are free; as root: echo 11 > \
             SYS/hugepages-2048kB/nr_hugepages"
        );
    }

    #[test]
    fn a_size_that_the_kernel_does_not_have_is_named_with_those_it_has() {
        assert_eq!(
            told(libc::EINVAL, 1 << 20, 1 << 20),
            "the kernel has no huge pages of 1024kB; those it has: 2048kB, 1048576kB (hugepage-size)"
        );
    }

    #[test]
    fn what_needs_a_privilege_says_so() {
        assert!(told(libc::EPERM, 2 << 20, 2 << 20).contains("CAP_IPC_LOCK"));
    }

    #[test]
    fn sizes_are_flags_of_their_exponent() {
        assert_eq!(size_flag(2 << 20, libc::MAP_HUGE_SHIFT), libc::MAP_HUGE_2MB);
        assert_eq!(size_flag(1 << 30, libc::MAP_HUGE_SHIFT), libc::MAP_HUGE_1GB);
    }
}
