//! Where the memory of a job's I/O buffers comes from.

use std::path::PathBuf;

use crate::choice::choices;

/// `mem` and the options below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// `mem`.
    pub kind: MemoryType,
    /// The file that is mapped (`mem=mmap:FILE`); without one, `mmap` and `mmapshared` are private memory.
    pub file: Option<PathBuf>,
    /// `iomem_align`: each buffer begins at a multiple of this, a power of two; 0 for any address.
    pub align: u64,
    /// `hugepage-size`: bytes of a huge page, a power of two.
    pub huge_page: u64,
    /// Ordinary memory may be on huge pages, as far as buffers fill them and the kernel has any (`tuning=lean`).
    pub transparent_huge: bool,
    /// All I/Os in flight use the same buffer, as in sysbench.
    pub one_for_all: bool,
}

choices! {
    /// `mem`: the kind of memory.
    pub enum MemoryType default Malloc {
        Malloc: "malloc", "Ordinary memory";
        Shm: "shm", "Shared memory segments";
        ShmHuge: "shmhuge", "Shared memory segments of huge pages";
        Mmap: "mmap", "Mapped memory, or a private mapping of a file: mmap:/path";
        MmapShared: "mmapshared", "Mapped memory, or a shared mapping of a file: mmapshared:/path";
        MmapHuge: "mmaphuge", "Mapped huge pages, or a file on a hugetlbfs: mmaphuge:/path";
        /// Not available here.
        CudaMalloc: "cudamalloc", "GPU memory";
    }
}

impl MemoryType {
    /// True for kinds whose memory is huge pages.
    #[must_use]
    pub const fn is_huge(self) -> bool {
        matches!(self, MemoryType::ShmHuge | MemoryType::MmapHuge)
    }
}
