//! Signals while ranks wait for each other. A process that is the first of a container would ignore them, and others would leave the file of
//! the rendezvous behind.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ferrio_kernel::{exit_at_once, wait_for_signal};
use nix::sys::signal::{SigSet, Signal};

/// Time between two looks whether the wait is over.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How long the wait may take to end, which may be in a call that nothing interrupts.
const ENDING_TIMEOUT: Duration = Duration::from_secs(1);

/// Exit status of a process that did not end its wait.
const STATUS: u8 = 128;

/// Watches for signals until it is dropped.
#[derive(Debug)]
pub struct Interruption {
    /// A signal asks for an end.
    pub stop: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Interruption {
    /// Watches for SIGINT, SIGTERM and SIGHUP, which all threads must block.
    ///
    /// # Errors
    ///
    /// A thread cannot be started.
    pub fn watch() -> io::Result<Self> {
        let (stop, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (to_stop, over) = (Arc::clone(&stop), Arc::clone(&is_over));
        let watch = move || {
            let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
            let mut since: Option<Instant> = None;
            while !over.load(Relaxed) {
                match wait_for_signal(&signals, Some(POLL_INTERVAL)) {
                    Ok(_) => {
                        to_stop.store(true, Relaxed);
                        since.get_or_insert_with(Instant::now);
                    }
                    Err(error)
                        if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                    }
                    // A sandbox forbids the call.
                    Err(_) => return,
                }
                if since.is_some_and(|since| since.elapsed() >= ENDING_TIMEOUT) {
                    exit_at_once(STATUS);
                }
            }
        };
        let thread = Some(thread::Builder::new().spawn(watch)?);
        Ok(Interruption { stop, is_over, thread })
    }
}

impl Drop for Interruption {
    fn drop(&mut self) {
        // A signal that comes later is for the run.
        self.is_over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
