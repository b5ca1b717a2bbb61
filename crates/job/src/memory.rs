//! Where the memory of a job's I/O buffers comes from.

use std::path::PathBuf;

use crate::choice::choices;

/// `mem` and the options below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// `mem`.
    pub kind: MemoryKind,
    /// `iomem_align`: each buffer begins at a multiple of this, a power of two; 0 for any address.
    pub align: u64,
    /// `hugepage-size`: bytes of a huge page, a power of two.
    pub huge_page: u64,
}

choices! {
    /// `mem`, as a word.
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

/// `mem`, with the file it may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// `malloc`: ordinary memory.
    Malloc,
    /// `shm`: a System V shared memory segment.
    Shm,
    /// `shmhuge`: such a segment of huge pages.
    ShmHuge,
    /// `mmap` and `mmapshared` without a file: an anonymous private mapping.
    Mmap,
    /// `mmap:FILE`: a private mapping of a file.
    MmapFile(PathBuf),
    /// `mmapshared:FILE`: a shared mapping of a file.
    MmapShared(PathBuf),
    /// `mmaphuge`, with a file on a hugetlbfs or without: a mapping of huge pages.
    MmapHuge(Option<PathBuf>),
}

impl Default for MemoryKind {
    fn default() -> Self {
        MemoryKind::new(MemoryType::default(), None)
    }
}

impl MemoryKind {
    /// The memory that a word of `mem` and the file after it request.
    #[must_use]
    pub fn new(kind: MemoryType, file: Option<PathBuf>) -> Self {
        match (kind, file) {
            // GPU memory is refused before anything is allocated
            (MemoryType::Malloc | MemoryType::CudaMalloc, _) => MemoryKind::Malloc,
            (MemoryType::Shm, _) => MemoryKind::Shm,
            (MemoryType::ShmHuge, _) => MemoryKind::ShmHuge,
            (MemoryType::Mmap, Some(path)) => MemoryKind::MmapFile(path),
            (MemoryType::MmapShared, Some(path)) => MemoryKind::MmapShared(path),
            (MemoryType::Mmap | MemoryType::MmapShared, None) => MemoryKind::Mmap,
            (MemoryType::MmapHuge, file) => MemoryKind::MmapHuge(file),
        }
    }

    /// fio's word for it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            MemoryKind::Malloc => "malloc",
            MemoryKind::Shm => "shm",
            MemoryKind::ShmHuge => "shmhuge",
            MemoryKind::Mmap | MemoryKind::MmapFile(_) => "mmap",
            MemoryKind::MmapShared(_) => "mmapshared",
            MemoryKind::MmapHuge(_) => "mmaphuge",
        }
    }

    /// True for kinds whose memory is huge pages.
    #[must_use]
    pub fn is_huge(&self) -> bool {
        matches!(self, MemoryKind::ShmHuge | MemoryKind::MmapHuge(_))
    }
}
