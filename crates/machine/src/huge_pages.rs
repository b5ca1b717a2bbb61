//! Pools of huge pages, from `/sys/kernel/mm/hugepages`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::sys_figure;

const POOLS: &str = "/sys/kernel/mm/hugepages";

/// The pool of huge pages of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugePagePool {
    /// Pages in it.
    pub pages: u64,
    /// Pages that are neither used nor promised to a mapping.
    pub free: u64,
    /// The file that sets the number of pages.
    pub size_file: PathBuf,
}

impl HugePagePool {
    /// The pool of pages of `kib` KiB, `None` if the kernel has no such pages.
    #[must_use]
    pub fn of(kib: u64) -> Option<Self> {
        pool(Path::new(POOLS), kib)
    }

    /// The sizes there are, smallest first, as the kernel writes them (`2048kB`).
    #[must_use]
    pub fn sizes() -> Vec<String> {
        sizes(Path::new(POOLS))
    }
}

fn pool(pools: &Path, kib: u64) -> Option<HugePagePool> {
    let directory = pools.join(format!("hugepages-{kib}kB"));
    let figure = |name: &str| sys_figure(&directory.join(name));
    let free = figure("free_hugepages")?.saturating_sub(figure("resv_hugepages")?);
    Some(HugePagePool { pages: figure("nr_hugepages")?, free, size_file: directory.join("nr_hugepages") })
}

fn sizes(pools: &Path) -> Vec<String> {
    let names = fs::read_dir(pools).into_iter().flatten().flatten().filter_map(|entry| {
        entry.file_name().to_str().and_then(|name| name.strip_prefix("hugepages-")).map(str::to_owned)
    });
    let mut sizes: Vec<String> = names.collect();
    sizes.sort_by_key(|size| (size.len(), size.clone()));
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promised_pages_are_not_free() {
        let pools = tempfile::tempdir().unwrap();
        for (size, all, free, promised) in [("1048576", 0, 0, 0), ("2048", 8, 3, 1)] {
            let pool = pools.path().join(format!("hugepages-{size}kB"));
            fs::create_dir(&pool).unwrap();
            for (name, value) in
                [("nr_hugepages", all), ("free_hugepages", free), ("resv_hugepages", promised)]
            {
                fs::write(pool.join(name), format!("{value}\n")).unwrap();
            }
        }
        let found = pool(pools.path(), 2048).unwrap();
        assert_eq!((found.pages, found.free), (8, 2));
        assert!(found.size_file.ends_with("hugepages-2048kB/nr_hugepages"));
        assert_eq!(pool(pools.path(), 1024), None);
        assert_eq!(sizes(pools.path()), ["2048kB", "1048576kB"]);
    }
}
