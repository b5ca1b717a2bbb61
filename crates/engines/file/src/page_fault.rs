//! Copies to and from fresh memory: the first I/O to each page causes a page fault.

use std::io;
use std::ptr;

use ferrio_engine::{EngineError, Op, Request};
use ferrio_job::JobSpec;
use nix::errno::Errno;

/// A private anonymous mapping as large as the file of the job.
#[derive(Debug)]
pub(crate) struct FreshMemory {
    start: *mut u8,
    len: usize,
}

impl FreshMemory {
    /// # Errors
    /// The job has several files or an offset, or memory is short.
    pub(crate) fn new(spec: &JobSpec) -> Result<Self, EngineError> {
        let refused = |hint: &str| EngineError::new("page_fault", Errno::EINVAL).hint(hint);
        let [file] = &spec.files[..] else {
            return Err(refused("page_fault ioengine does not support multiple files"));
        };
        if file.offset > 0 {
            return Err(refused("page_fault engine does not support start_offset"));
        }
        let len = usize::try_from(file.size).map_err(|_| refused("page_fault has no memory of this size"))?;
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the kernel's choice replaces nothing.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            let hint = "the memory of page_fault is as large as `size`: use less";
            return Err(EngineError::new("mmap", io::Error::last_os_error()).hint(hint));
        }
        Ok(FreshMemory { start: start.cast(), len })
    }

    /// Runs an I/O: its length, 0 for a sync, or a negated errno.
    pub(crate) fn run(&self, request: &Request) -> i64 {
        let len = request.len as usize;
        let offset = usize::try_from(request.offset).unwrap_or(usize::MAX);
        let inside = offset.checked_add(len).is_some_and(|end| end <= self.len);
        match request.op {
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => return 0,
            Op::Read | Op::Write if inside => {}
            _ => return -i64::from(libc::EINVAL),
        }
        // SAFETY: `offset` is inside the mapping.
        let memory = unsafe { self.start.add(offset) };
        let (from, to) = match request.op {
            Op::Read => (memory.cast_const(), request.buffer),
            _ => (request.buffer.cast_const(), memory),
        };
        // SAFETY: `len` bytes of the mapping begin at `memory`, as many are valid in the buffer by the contract of Request, and the two
        // are different mappings.
        unsafe { ptr::copy_nonoverlapping(from, to, len) };
        request.len.cast_signed()
    }
}

impl Drop for FreshMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this value, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}
