//! One memory area: mapped by mmap(2) (anonymous or from a file), or a segment of System V shared memory.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::OnceLock;

use ferrio_job::{Memory, MemoryType};

use super::file::BackingFile;
use super::huge::{self, SMALLER_BUFFERS};
use crate::EngineError;
use ferrio_kernel::sigbus::WatchedMemory;

/// Bit offset of the huge page size in the flags of shmget(2).
const SHM_HUGE_SHIFT: libc::c_int = 26;

/// Memory that is freed on drop.
#[derive(Debug)]
pub(super) enum Area {
    /// Memory of this process or of a file.
    Mapping {
        mapping: MappedMemory,
        /// Dropped after the mapping. Dropping removes the file if it was created for this mapping.
        file: Option<BackingFile>,
    },
    /// System V shared memory.
    Segment(Segment),
}

/// Mapped memory, readable and writable.
#[derive(Debug)]
pub(super) struct MappedMemory {
    start: NonNull<u8>,
    length: usize,
    /// Present for a file whose pages may go missing.
    watched: OnceLock<&'static WatchedMemory>,
}

// SAFETY: a mapping belongs to the process. This value only has its address, which any thread may read and, as the last user, unmap.
unsafe impl Send for MappedMemory {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for MappedMemory {}

/// An attached segment that no other process can find.
#[derive(Debug)]
pub(super) struct Segment {
    start: NonNull<u8>,
}

// SAFETY: as for mappings: the process attaches a segment, not a thread.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Area {
    /// Allocates at least `length` bytes, page-aligned.
    pub(super) fn allocate(memory: &Memory, length: usize) -> Result<Self, EngineError> {
        let page = memory.huge_page;
        match (memory.kind, &memory.file) {
            // No memory is reserved for it. The planner refuses GPU memory.
            (MemoryType::Malloc | MemoryType::CudaMalloc, _)
            | (MemoryType::Mmap | MemoryType::MmapShared, None) => {
                MappedMemory::anonymous(length, libc::MAP_NORESERVE)
                    .map(|mapping| Area::Mapping { mapping, file: None })
                    .map_err(|e| e.hint(SMALLER_BUFFERS))
            }
            (MemoryType::Mmap, Some(path)) => {
                let file = BackingFile::open(path)?;
                file.extend(length)?;
                let mapping = MappedMemory::of_file(file.file(), length, libc::MAP_PRIVATE)?;
                Ok(Area::Mapping { mapping, file: Some(file) })
            }
            (MemoryType::MmapShared, Some(path)) => {
                let file = BackingFile::open(path)?;
                file.extend(length)?;
                file.reserve(length)?;
                let mapping = MappedMemory::of_file(file.file(), length, libc::MAP_SHARED)?;
                Ok(Area::Mapping { mapping, file: Some(file) })
            }
            (MemoryType::MmapHuge, None) => {
                let length = huge::whole_pages(length, page)?;
                // Reserved at once: a missing page is an error here, not a signal when the page is touched.
                let flags = libc::MAP_HUGETLB | huge::size_flag(page, libc::MAP_HUGE_SHIFT);
                MappedMemory::anonymous(length, flags)
                    .map(|mapping| Area::Mapping { mapping, file: None })
                    .map_err(|e| huge::advise(e, "mmaphuge", length, page))
            }
            (MemoryType::MmapHuge, Some(path)) => {
                let mut file = BackingFile::open(path)?;
                let page = file.huge_page()?;
                let length = huge::whole_pages(length, page)?;
                file.extend(length)?;
                let mapping = MappedMemory::of_file(file.file(), length, libc::MAP_SHARED)
                    .map_err(|e| huge::advise(e, "mmaphuge", length, page))?;
                Ok(Area::Mapping { mapping, file: Some(file) })
            }
            (MemoryType::Shm, _) => {
                Segment::attach(length, 0).map(Area::Segment).map_err(|e| e.hint_for(segment_advice))
            }
            (MemoryType::ShmHuge, _) => {
                let length = huge::whole_pages(length, page)?;
                Segment::attach(length, libc::SHM_HUGETLB | huge::size_flag(page, SHM_HUGE_SHIFT))
                    .map(Area::Segment)
                    .map_err(|e| huge::advise(e, "shmhuge", length, page))
            }
        }
    }

    /// The file of a mapping, if it has one.
    pub(super) fn file(&self) -> Option<&BackingFile> {
        match self {
            Area::Mapping { file, .. } => file.as_ref(),
            Area::Segment(_) => None,
        }
    }

    /// Keeps the memory of a file accessible when pages of the file are missing. `on_loss` is then called in a signal handler.
    pub(super) fn watch(&self, on_loss: impl Fn() + Send + Sync + 'static) -> Result<(), EngineError> {
        let Area::Mapping { mapping, file: Some(file) } = self else { return Ok(()) };
        let start = mapping.start.addr().get();
        let watched = WatchedMemory::begin(start..start + mapping.length, file.page, on_loss)
            .map_err(|errno| EngineError::new("sigaction", errno))?;
        mapping.watched.get_or_init(|| watched);
        Ok(())
    }

    /// Offset of the first missing page of the file, if any was missing.
    pub(super) fn lost(&self) -> Option<usize> {
        let Area::Mapping { mapping, .. } = self else { return None };
        mapping.watched.get()?.lost()
    }

    /// The first byte; page-aligned.
    pub(super) fn start(&self) -> NonNull<u8> {
        match self {
            Area::Mapping { mapping, .. } => mapping.start,
            Area::Segment(segment) => segment.start,
        }
    }
}

impl MappedMemory {
    /// Maps private memory. With huge pages, `length` must be a multiple of the page size.
    pub(super) fn anonymous(length: usize, flags: libc::c_int) -> Result<Self, EngineError> {
        Self::map(length, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags, -1)
    }

    /// The first byte and the length.
    pub(super) fn range(&self) -> (NonNull<u8>, usize) {
        (self.start, self.length)
    }

    /// Maps the first `length` bytes of a file, which must be that long. `kind` is MAP_PRIVATE or MAP_SHARED.
    fn of_file(file: &File, length: usize, kind: libc::c_int) -> Result<Self, EngineError> {
        Self::map(length, kind, file.as_raw_fd())
    }

    fn map(length: usize, flags: libc::c_int, fd: libc::c_int) -> Result<Self, EngineError> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, fd, 0) };
        match NonNull::new(start.cast()) {
            Some(start) if start.as_ptr() != libc::MAP_FAILED.cast() => {
                Ok(MappedMemory { start, length, watched: OnceLock::new() })
            }
            _ => Err(EngineError::new("init buffers", io::Error::last_os_error())),
        }
    }
}

impl Drop for MappedMemory {
    fn drop(&mut self) {
        if let Some(watched) = self.watched.get() {
            watched.end();
        }
        // SAFETY: start and length are those of the mapping made in `map`. Everything that points into it (buffers and lent slots) shares
        // ownership of the area, so the last of them drops it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

impl Segment {
    /// Creates and attaches a segment. If `flags` ask for huge pages, `length` must be a multiple of the page size.
    fn attach(length: usize, flags: libc::c_int) -> Result<Self, EngineError> {
        // SAFETY: creates a segment; no memory of this process is touched.
        let id = unsafe { libc::shmget(libc::IPC_PRIVATE, length, libc::IPC_CREAT | 0o600 | flags) };
        if id < 0 {
            return Err(EngineError::new("shmget", io::Error::last_os_error()));
        }
        // SAFETY: attaches at an unused address of the kernel's choice.
        let start = unsafe { libc::shmat(id, std::ptr::null(), 0) };
        let attached = match NonNull::new(start.cast()) {
            Some(start) if start.addr().get() != usize::MAX => Ok(Segment { start }),
            _ => Err(EngineError::new("shmat", io::Error::last_os_error())),
        };
        // Marked for removal at once, so that the segment disappears with the last process attached to it, however that process ends.
        // SAFETY: IPC_RMID takes no buffer.
        if unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) } < 0 {
            let error = EngineError::new("shmctl", io::Error::last_os_error());
            return Err(
                error.hint("a System V segment is left behind: `ipcs -m` lists it and `ipcrm -m` removes it")
            );
        }
        attached
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: the address is that of the attachment made in `attach`; as for mappings, nothing that points into it is left.
        unsafe { libc::shmdt(self.start.as_ptr().cast()) };
    }
}

fn segment_advice(errno: i32) -> Option<&'static str> {
    match errno {
        libc::EINVAL => Some("the segment is larger than kernel.shmmax allows: raise it, or use mem=mmap"),
        libc::ENOSPC => Some("kernel.shmall or kernel.shmmni is used up: raise it, or use mem=mmap"),
        _ => Some(SMALLER_BUFFERS),
    }
}
