//! Access to mapped files that survives SIGBUS.
//!
//! The kernel sends SIGBUS when a page of a mapping cannot be read: the file was truncated, or its device failed. The default action ends
//! the process, losing the reports of all jobs. This handler maps an empty page in place of the missing one, so that the access completes,
//! and records the loss. There are two kinds of accesses:
//!
//! - A copy from or to a mapping ([`copy`], [`access`]) by the current thread: the caller maps the file again and reports an error instead
//!   of the copied bytes. Writing back the CPU's caches is guarded like the copy before it.
//! - Memory that any thread accesses, such as I/O buffers ([`WatchedMemory`]): its owner is asked to stop, and checks afterwards whether
//!   something was lost.
//!
//! Any other SIGBUS goes to the previous handler.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicUsize, compiler_fence};

use nix::errno::Errno;

/// The part of a mapping that this thread copies from or to at the moment.
#[derive(Clone, Copy)]
struct WatchedRange {
    start: usize,
    end: usize,
    /// Bytes that are mapped together: a page, or the larger unit of some devices.
    unit: usize,
}

const NO_RANGE: WatchedRange = WatchedRange { start: 0, end: 0, unit: 1 };

thread_local! {
    // Constants without destructors, so that a signal handler may read them.
    static WATCHED: Cell<WatchedRange> = const { Cell::new(NO_RANGE) };
    static PAGE_WAS_MISSING: Cell<bool> = const { Cell::new(false) };
}

/// The previous handler of SIGBUS, or the error that installing ours returned.
static PREVIOUS_HANDLER: OnceLock<Result<libc::sigaction, Errno>> = OnceLock::new();

/// Installs the handler for the whole process.
///
/// # Errors
/// sigaction(2)'s error, which is not expected.
pub fn install() -> Result<(), Errno> {
    let before = PREVIOUS_HANDLER.get_or_init(|| {
        // SAFETY: all zeros are a valid sigaction. The handler has the signature that SA_SIGINFO requires and is async-signal-safe, and
        // sigaction(2) fills `before` unless it fails.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_sigbus as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            let mut before = std::mem::zeroed();
            Errno::result(libc::sigaction(libc::SIGBUS, &action, &mut before)).map(|_| before)
        }
    });
    before.as_ref().map(|_| ()).map_err(|&errno| errno)
}

extern "C" fn on_sigbus(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes the siginfo_t of a fault, which has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let watched = WATCHED.get();
    if (watched.start..watched.end).contains(&address) && put_empty_page(address, watched.unit) {
        PAGE_WAS_MISSING.set(true);
    } else if WatchedMemory::at(address).is_some_and(|memory| memory.lose_page(address)) {
        // The access is repeated on return, and succeeds.
    } else if let Some(Ok(before)) = PREVIOUS_HANDLER.get() {
        // The access is repeated on return, and raises the signal again.
        // SAFETY: sigaction(2) returned `before`; the call is async-signal-safe.
        unsafe { libc::sigaction(libc::SIGBUS, before, ptr::null_mut()) };
    }
}

fn put_empty_page(address: usize, unit: usize) -> bool {
    let page = address - address % unit;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the page belongs to a mapping that this thread copies from or to and that is not used otherwise, or to buffers, whose
    // contents are lost. mmap(2) is a plain system call and may be made in a signal handler.
    let at = unsafe { libc::mmap(page as *mut libc::c_void, unit, protection, flags, -1, 0) };
    at != libc::MAP_FAILED
}

/// Copies `len` bytes, where `mapped` is the side of the copy that is in a mapping of whole `unit`s. Returns false if a page of it was
/// missing: the copied bytes are then worthless, and the mapping has private empty pages in place of the file's.
///
/// # Safety
/// That of [`ptr::copy_nonoverlapping`], except that pages at `mapped` may be missing. [`install`] was called.
#[inline]
pub unsafe fn copy(from: *const u8, to: *mut u8, mapped: *const u8, len: usize, unit: usize) -> bool {
    // SAFETY: by the contract of this function.
    access(mapped, len, unit, || unsafe { ptr::copy_nonoverlapping(from, to, len) })
}

/// Like [`copy`] for another way to access `len` bytes of a mapping. Pages may be missing in `access` only, and [`install`] was called.
#[inline]
pub fn access(mapped: *const u8, len: usize, unit: usize, access: impl FnOnce()) -> bool {
    let start = mapped as usize;
    WATCHED.set(WatchedRange { start, end: start + len, unit });
    compiler_fence(SeqCst);
    access();
    compiler_fence(SeqCst);
    WATCHED.set(NO_RANGE);
    !PAGE_WAS_MISSING.get() || forget_missing_page()
}

/// Resets the flag for the next copy. Returns false: this copy is not complete.
#[cold]
fn forget_missing_page() -> bool {
    PAGE_WAS_MISSING.set(false);
    false
}

/// Every memory range that was ever watched, newest first. Entries are never freed, as a handler may be reading them.
static WATCHED_MEMORY: AtomicPtr<WatchedMemory> = AtomicPtr::new(ptr::null_mut());

/// A mapping of a file that any thread may access, and that stays accessible when pages of the file are missing.
pub struct WatchedMemory {
    start: usize,
    /// Set to `start` when the watch ends, so that no address is in the range.
    end: AtomicUsize,
    /// Page size of the file in bytes.
    unit: usize,
    /// 1 + the offset of the first missing page; 0 if none was missing.
    lost: AtomicUsize,
    /// Called in the signal handler.
    on_loss: Box<dyn Fn() + Send + Sync>,
    older: *const WatchedMemory,
}

// SAFETY: the pointer leads to an entry that is never freed or changed through it; everything else may be shared anyway.
unsafe impl Sync for WatchedMemory {}

impl fmt::Debug for WatchedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedMemory").field("start", &self.start).finish_non_exhaustive()
    }
}

impl WatchedMemory {
    /// Watches the addresses of a mapping until [`end`](Self::end). `unit` is the page size of the file. When a page is missing, `on_loss`
    /// is called in a signal handler: it may only change atomic values.
    ///
    /// # Errors
    /// The error of [`install`].
    pub fn begin(
        addresses: Range<usize>,
        unit: usize,
        on_loss: impl Fn() + Send + Sync + 'static,
    ) -> Result<&'static Self, Errno> {
        install()?;
        let Range { start, end } = addresses;
        let (end, lost, on_loss) = (AtomicUsize::new(end), AtomicUsize::new(0), Box::new(on_loss));
        let entry =
            Box::leak(Box::new(WatchedMemory { start, end, unit, lost, on_loss, older: ptr::null() }));
        let mut newest = WATCHED_MEMORY.load(Acquire);
        loop {
            entry.older = newest;
            match WATCHED_MEMORY.compare_exchange_weak(newest, entry, Release, Acquire) {
                Ok(_) => return Ok(entry),
                Err(other) => newest = other,
            }
        }
    }

    /// Ends the watch; call it before the memory is unmapped.
    pub fn end(&self) {
        self.end.store(self.start, Release);
    }

    /// The offset of the first missing page from the start of the mapping.
    #[must_use]
    pub fn lost(&self) -> Option<usize> {
        self.lost.load(Relaxed).checked_sub(1)
    }

    /// The entry that watches an address.
    fn at(address: usize) -> Option<&'static Self> {
        // SAFETY: entries of the list are never freed, and each was complete before it was added.
        let mut entry = unsafe { WATCHED_MEMORY.load(Acquire).as_ref() };
        while let Some(memory) = entry {
            if (memory.start..memory.end.load(Acquire)).contains(&address) {
                return Some(memory);
            }
            // SAFETY: as above.
            entry = unsafe { memory.older.as_ref() };
        }
        None
    }

    /// Maps an empty page in place of a missing one, and informs the owner.
    fn lose_page(&self, address: usize) -> bool {
        let is_there = put_empty_page(address, self.unit);
        if is_there {
            let offset = address - address % self.unit - self.start;
            let _ = self.lost.compare_exchange(0, offset + 1, Relaxed, Relaxed);
            (self.on_loss)();
        }
        is_there
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn memory_of_a_file_that_is_cut_stays_accessible_and_its_owner_is_told() {
        const PAGE: usize = 4096;
        let file = tempfile::tempfile().unwrap();
        file.set_len(3 * PAGE as u64).unwrap();
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let at =
            unsafe { libc::mmap(ptr::null_mut(), 3 * PAGE, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        assert_ne!(at, libc::MAP_FAILED);
        let start = at as usize;
        let told = Arc::new(AtomicUsize::new(0));
        let teller = Arc::clone(&told);
        let other = WatchedMemory::begin(0..1, PAGE, || ()).unwrap();
        let memory = WatchedMemory::begin(start..start + 3 * PAGE, PAGE, move || {
            teller.fetch_add(1, Relaxed);
        });
        let memory = memory.unwrap();
        file.set_len(PAGE as u64).unwrap();
        let bytes = at.cast::<u8>();
        // SAFETY: all addresses are inside the mapping, and the handler supplies pages that are missing.
        unsafe {
            bytes.write_volatile(1);
            assert_eq!((memory.lost(), told.load(Relaxed)), (None, 0));
            bytes.add(2 * PAGE + 7).write_volatile(3);
            bytes.add(PAGE).write_volatile(2);
            assert_eq!([0, PAGE, 2 * PAGE + 7].map(|at| bytes.add(at).read_volatile()), [1, 2, 3]);
        }
        assert_eq!((memory.lost(), other.lost(), told.load(Relaxed)), (Some(2 * PAGE), None, 2));
        memory.end();
        assert!(WatchedMemory::at(start).is_none());
        // SAFETY: the mapping from above, which nobody uses any more.
        assert_eq!(unsafe { libc::munmap(at, 3 * PAGE) }, 0);
    }
}
