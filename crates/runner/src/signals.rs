//! SIGINT and SIGTERM end the run gracefully: they are blocked in all threads and waited for by one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Release};
use std::sync::mpsc::Sender;
use std::thread;

use nix::sys::signal::{SigSet, Signal};

use crate::worker::Message;

/// Blocks both signals in the calling thread (threads started later inherit that); each arrival sets `stop`, which file layout
/// looks at, and is sent as a message.
///
/// They stay blocked when the run is over, so that a second Ctrl-C cannot cut the report in half; the process ends right after it.
///
/// # Errors
/// The kernel refused to change the signal mask or to start a thread.
pub(crate) fn watch(messages: Sender<Message>, stop: Arc<AtomicBool>) -> std::io::Result<()> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    signals.add(Signal::SIGTERM);
    signals.thread_block()?;
    // A write beyond the limit of file sizes shall fail with EFBIG, which the report can tell, instead of killing the program.
    let mut limit = SigSet::empty();
    limit.add(Signal::SIGXFSZ);
    limit.thread_block()?;
    thread::Builder::new().name("ferrio-signals".into()).spawn(move || {
        while let Ok(signal) = signals.wait() {
            // The message first: who sees `stop` during layout finds it in the queue afterwards and starts no job.
            if messages.send(Message::Signal(signal as i32)).is_err() {
                return;
            }
            stop.store(true, Release);
        }
    })?;
    Ok(())
}
