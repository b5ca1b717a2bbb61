//! One stretch of memory, by its kind.

use std::ptr::NonNull;

use ferrio_job::{Memory, MemoryKind};

use super::file::BackingFile;
use super::huge;
use super::mapping::MappedMemory;
use super::segment::Segment;
use crate::EngineError;

/// Memory that is given back when this is dropped.
#[derive(Debug)]
pub(super) enum Area {
    /// Memory of this process, or a file in memory.
    Mapping(MappedMemory),
    /// A mapped file; unmapped before the file is removed.
    File {
        /// The mapping of the file.
        mapping: MappedMemory,
        /// Removes the file, if that was made for the mapping.
        _file: BackingFile,
    },
    /// System V shared memory.
    Segment(Segment),
}

impl Area {
    /// At least `length` bytes, from the beginning of a page.
    pub(super) fn allocate(memory: &Memory, length: usize) -> Result<Self, EngineError> {
        let page = memory.huge_page;
        match &memory.kind {
            MemoryKind::Malloc | MemoryKind::Mmap => MappedMemory::anonymous(length).map(Area::Mapping),
            MemoryKind::MmapFile(path) => {
                let file = BackingFile::open(path)?;
                file.extend(length)?;
                let mapping = MappedMemory::of_file(file.file(), length, libc::MAP_PRIVATE)?;
                Ok(Area::File { mapping, _file: file })
            }
            MemoryKind::MmapShared(path) => {
                let file = BackingFile::open(path)?;
                file.extend(length)?;
                file.reserve(length)?;
                let mapping = MappedMemory::of_file(file.file(), length, libc::MAP_SHARED)?;
                Ok(Area::File { mapping, _file: file })
            }
            MemoryKind::MmapHuge(None) => {
                let length = huge::whole_pages(length, page)?;
                let mapping = MappedMemory::anonymous_huge(length, page);
                mapping.map(Area::Mapping).map_err(|e| huge::advise(e, "mmaphuge", length, page))
            }
            MemoryKind::MmapHuge(Some(path)) => {
                let file = BackingFile::open(path)?;
                let page = file.huge_page(path)?;
                let length = huge::whole_pages(length, page)?;
                file.extend(length)?;
                let mapping = MappedMemory::of_file(file.file(), length, libc::MAP_SHARED)
                    .map_err(|e| huge::advise(e, "mmaphuge", length, page))?;
                Ok(Area::File { mapping, _file: file })
            }
            MemoryKind::Shm => Segment::new(length).map(Area::Segment),
            MemoryKind::ShmHuge => {
                let length = huge::whole_pages(length, page)?;
                let segment = Segment::huge(length, page);
                segment.map(Area::Segment).map_err(|e| huge::advise(e, "shmhuge", length, page))
            }
        }
    }

    /// The first byte, at the beginning of a page.
    pub(super) fn start(&self) -> NonNull<u8> {
        match self {
            Area::Mapping(mapping) | Area::File { mapping, .. } => mapping.start(),
            Area::Segment(segment) => segment.start(),
        }
    }
}
