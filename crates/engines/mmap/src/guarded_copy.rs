//! Copies from and to a mapping of a file that survive SIGBUS.
//!
//! The kernel sends SIGBUS when a page of a mapping cannot be read: the file became shorter, or its device failed. Its default action
//! ends the process, with the reports of all jobs. Here the handler puts an empty page in place of the missing one, so that the copy
//! comes to its end, and notes that it did. The caller then maps the file again and reports an error instead of the copied bytes.
//!
//! Writing back the CPU's caches is guarded like the copy before it.
//!
//! A SIGBUS outside a copy is none of ours: the handler that was there before gets it.

use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};

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
pub(crate) fn install() -> Result<(), Errno> {
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
    // SAFETY: the page belongs to a mapping that this thread copies from or to and that is not used otherwise; mmap(2) is a plain
    // system call and may be made in a signal handler.
    let at = unsafe { libc::mmap(page as *mut libc::c_void, unit, protection, flags, -1, 0) };
    at != libc::MAP_FAILED
}

/// Copies `len` bytes, where `mapped` is the side of the copy that is in a mapping of whole `unit`s. False when a page of it was missing:
/// the bytes are worthless then, and the mapping has empty pages of its own in place of the file's.
///
/// # Safety
/// As for [`ptr::copy_nonoverlapping`], except that pages at `mapped` may be missing. [`install`] was called.
#[inline]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, mapped: *const u8, len: usize, unit: usize) -> bool {
    // SAFETY: by the contract of this function.
    access(mapped, len, unit, || unsafe { ptr::copy_nonoverlapping(from, to, len) })
}

/// The same for another way to access `len` bytes of a mapping. Pages may be missing in `access` only, and [`install`] was called.
#[inline]
pub(crate) fn access(mapped: *const u8, len: usize, unit: usize, access: impl FnOnce()) -> bool {
    let start = mapped as usize;
    WATCHED.set(Watched { start, end: start + len, unit });
    compiler_fence(Ordering::SeqCst);
    access();
    compiler_fence(Ordering::SeqCst);
    WATCHED.set(NOTHING);
    !PAGE_WAS_MISSING.get() || forget_missing_page()
}

/// The next copy begins as if no page had been missing. Always false: this copy is not complete.
#[cold]
fn forget_missing_page() -> bool {
    PAGE_WAS_MISSING.set(false);
    false
}
