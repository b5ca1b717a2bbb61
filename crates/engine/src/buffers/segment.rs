//! System V shared memory: `mem=shm` and `mem=shmhuge`.

use std::io;
use std::ptr::NonNull;

use super::huge;
use crate::EngineError;

/// Bits of the flags that the size of a huge page begins at.
const HUGE_SHIFT: libc::c_int = 26;

/// An attached segment that nobody else can find.
#[derive(Debug)]
pub(super) struct Segment {
    start: NonNull<u8>,
}

impl Segment {
    /// A segment of ordinary pages.
    pub(super) fn new(length: usize) -> Result<Self, EngineError> {
        Self::attach(length, 0).map_err(|(func, e)| {
            let hint = match e.raw_os_error() {
                Some(libc::EINVAL) => {
                    "the segment is larger than kernel.shmmax allows: raise it, or use mem=mmap"
                }
                Some(libc::ENOSPC) => "kernel.shmall or kernel.shmmni is used up: raise it, or use mem=mmap",
                _ => huge::SMALLER,
            };
            EngineError::new(func, e).hint(hint)
        })
    }

    /// A segment of huge pages. `length` is a multiple of the page.
    pub(super) fn huge(length: usize, page: u64) -> Result<Self, EngineError> {
        let flags = libc::SHM_HUGETLB | huge::size_flag(page, HUGE_SHIFT);
        Self::attach(length, flags).map_err(|(func, e)| EngineError::new(func, e))
    }

    fn attach(length: usize, flags: libc::c_int) -> Result<Self, (&'static str, io::Error)> {
        // SAFETY: makes a segment; no memory of this process is touched.
        let id = unsafe { libc::shmget(libc::IPC_PRIVATE, length, libc::IPC_CREAT | 0o600 | flags) };
        if id < 0 {
            return Err(("shmget", io::Error::last_os_error()));
        }
        // SAFETY: attaches at an address of the kernel's choice, where nothing is.
        let start = unsafe { libc::shmat(id, std::ptr::null(), 0) };
        let attached = if start.addr() == usize::MAX { Err(io::Error::last_os_error()) } else { Ok(start) };
        // Marked at once, the segment goes with the last process that has it attached, however that ends.
        // SAFETY: IPC_RMID takes no buffer.
        unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
        let start = attached.map_err(|e| ("shmat", e))?;
        let start = NonNull::new(start.cast()).ok_or(("shmat", io::ErrorKind::OutOfMemory.into()))?;
        Ok(Segment { start })
    }

    /// The first byte.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: the address is that of the attachment made in `attach`; nothing outlives the worker that owns it.
        unsafe { libc::shmdt(self.start.as_ptr().cast()) };
    }
}
