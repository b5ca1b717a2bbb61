//! Access to mapped files that survives SIGBUS.
//!
//! The kernel sends SIGBUS when a page of a mapping cannot be read: the file became shorter, or its device failed. Its default action
//! ends the process, with the reports of all jobs. Here the handler puts an empty page in place of the missing one, so that the access
//! completes, and records the loss. There are two kinds of accesses:
//!
//! - A copy from or to a mapping ([`copy`], [`access`]) by the thread that does it: the caller maps the file again and reports an error
//!   instead of the copied bytes. Writing back the CPU's caches is guarded like the copy before it.
//! - Memory that is accessed from everywhere, as I/O buffers are ([`WatchedMemory`]): its owner is told to stop, and asks afterwards
//!   whether something was lost.
//!
//! Any other SIGBUS goes to the handler that was there before.

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
struct Watched {
    start: usize,
    end: usize,
    /// Bytes that are mapped together: pages, or the larger units of some devices.
    unit: usize,
}

const NOTHING: Watched = Watched { start: 0, end: 0, unit: 1 };

thread_local! {
    // Constant values without destructors: a signal handler may read them.
    static WATCHED: Cell<Watched> = const { Cell::new(NOTHING) };
    static PAGE_WAS_MISSING: Cell<bool> = const { Cell::new(false) };
}

/// What handled SIGBUS before, or why the kernel refused the new handler.
static BEFORE: OnceLock<Result<libc::sigaction, Errno>> = OnceLock::new();

/// Handles SIGBUS from now on, in the whole process.
///
/// # Errors
/// The kernel's, which has no reason to refuse.
pub fn install() -> Result<(), Errno> {
    let before = BEFORE.get_or_init(|| {
        // SAFETY: all zeros are a valid sigaction. The handler has the form that SA_SIGINFO asks for and is async-signal-safe, and
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
    // SAFETY: the kernel hands over a siginfo_t of a fault, which has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let watched = WATCHED.get();
    if (watched.start..watched.end).contains(&address) && put_empty_page(address, watched.unit) {
        PAGE_WAS_MISSING.set(true);
    } else if WatchedMemory::at(address).is_some_and(|memory| memory.lose_page(address)) {
        // The access happens again when this returns, and succeeds.
    } else if let Some(Ok(before)) = BEFORE.get() {
        // The access happens again when this returns, and raises the signal again.
        // SAFETY: `before` is what sigaction(2) returned; the call is async-signal-safe.
        unsafe { libc::sigaction(libc::SIGBUS, before, ptr::null_mut()) };
    }
}

fn put_empty_page(address: usize, unit: usize) -> bool {
    let page = address - address % unit;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the page belongs to a mapping that this thread copies from or to and that is not used otherwise, or to buffers, which are
    // worthless from now on; mmap(2) is a plain system call and may be made in a signal handler.
    let at = unsafe { libc::mmap(page as *mut libc::c_void, unit, protection, flags, -1, 0) };
    at != libc::MAP_FAILED
}

/// Copies `len` bytes, where `mapped` is the side of the copy that is in a mapping of whole `unit`s. False when a page of it was missing:
/// the bytes are worthless then, and the mapping has empty pages of its own in place of the file's.
///
/// # Safety
/// As for [`ptr::copy_nonoverlapping`], except that pages at `mapped` may be missing. [`install`] was called.
#[inline]
pub unsafe fn copy(from: *const u8, to: *mut u8, mapped: *const u8, len: usize, unit: usize) -> bool {
    // SAFETY: by the contract of this function.
    access(mapped, len, unit, || unsafe { ptr::copy_nonoverlapping(from, to, len) })
}

/// The same for another way to access `len` bytes of a mapping. Pages may be missing in `access` only, and [`install`] was called.
#[inline]
pub fn access(mapped: *const u8, len: usize, unit: usize, access: impl FnOnce()) -> bool {
    let start = mapped as usize;
    WATCHED.set(Watched { start, end: start + len, unit });
    compiler_fence(SeqCst);
    access();
    compiler_fence(SeqCst);
    WATCHED.set(NOTHING);
    !PAGE_WAS_MISSING.get() || forget_missing_page()
}

/// The next copy begins as if no page had been missing. Always false: this copy is not complete.
#[cold]
fn forget_missing_page() -> bool {
    PAGE_WAS_MISSING.set(false);
    false
}

/// All memory that was ever watched, each entry before those that are older. Entries stay: a handler may be looking at them.
static WATCHED_MEMORY: AtomicPtr<WatchedMemory> = AtomicPtr::new(ptr::null_mut());

/// A mapping of a file that any thread may access, and that stays accessible when pages of the file are missing.
pub struct WatchedMemory {
    start: usize,
    /// Set to `start` at the end of the watch: no address is between them then.
    end: AtomicUsize,
    /// Bytes of a page of the file.
    unit: usize,
    /// 1 + the offset of the first page that was missing; 0 if none was.
    lost: AtomicUsize,
    /// Called in the signal handler.
    on_loss: Box<dyn Fn() + Send + Sync>,
    older: *const WatchedMemory,
}

// SAFETY: the pointer leads to an entry that is never freed or changed through it; all else may be shared anyway.
unsafe impl Sync for WatchedMemory {}

impl fmt::Debug for WatchedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedMemory").field("start", &self.start).finish_non_exhaustive()
    }
}

impl WatchedMemory {
    /// Watches the addresses of a mapping, until [`end`](Self::end). `unit` is the size of a page of the file. When a page is missing,
    /// `on_loss` is called in a signal handler: it may do nothing but change atomic values.
    ///
    /// # Errors
    /// Those of [`install`].
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

    /// Ends the watch, before the memory is unmapped.
    pub fn end(&self) {
        self.end.store(self.start, Release);
    }

    /// The offset of the first page that was missing, from the beginning of the mapping.
    #[must_use]
    pub fn lost(&self) -> Option<usize> {
        self.lost.load(Relaxed).checked_sub(1)
    }

    /// The entry that watches an address.
    fn at(address: usize) -> Option<&'static Self> {
        // SAFETY: the list has entries that are never freed, each complete before it got there.
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

    /// Puts an empty page in place of a missing one, and tells the owner.
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
