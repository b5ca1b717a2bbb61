//! Whether standard output was closed when the program began. The standard library opens `/dev/null` in its place before `main`, so that
//! `main` cannot tell it from a redirection to `/dev/null`.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before `main` and before the runtime of the standard library.
#[used]
// SAFETY: the C library calls each function in this section once, on the only thread there is. This one needs nothing that is set up later.
#[unsafe(link_section = ".init_array")]
static RECORD_AT_START: extern "C" fn() = record_closed_stdout;

extern "C" fn record_closed_stdout() {
    // SAFETY: the call only asks whether the descriptor exists.
    let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
    CLOSED.store(is_closed, Relaxed);
}

/// True if the program was started without a standard output.
#[must_use]
pub fn was_closed() -> bool {
    CLOSED.load(Relaxed)
}
