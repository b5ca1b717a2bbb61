//! Signals that would end the program end the run gracefully, SIGUSR1 asks for a report, and SIGCONT tells that the program was stopped:
//! they are blocked in all threads and waited for by one, which ends with the run.

use std::collections::VecDeque;
use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Release, SeqCst};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ferrio_engine::kernel::{keep_ended_children, wait_for_signal};
use ferrio_job::{Diagnostic, reason};
use ferrio_machine::{Interrupted, switches_of_blocked_main};
use nix::sys::pthread::pthread_kill;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};

use crate::context::Message;
use crate::output_watch::{CHECK, Standstill};

/// Time between two attempts to put a message into a full queue.
const RETRY: Duration = Duration::from_millis(5);

/// Prepares the process for signals, whatever its parent has set up. Holds SIGUSR1 back until [`run`](crate::run) takes it: one that arrives
/// before the run begins asks for a report as well, instead of ending the program. A write beyond the limit of file sizes fails with EFBIG,
/// which a report can show, instead of ending the program with SIGXFSZ. To be called first of all, on the main thread.
pub fn prepare_signals() {
    keep_ended_children();
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGUSR1);
    signals.add(Signal::SIGXFSZ);
    // The kernel refuses no mask of known signals.
    let _ = signals.thread_block();
}

/// The signals that end a run.
pub(crate) const ENDING: [Signal; 6] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR2,
    // The soft limit of CPU time.
    Signal::SIGXCPU,
];

/// Those that a parent may have told the program to ignore, as `nohup` does. They stay ignored.
const MAY_BE_IGNORED: [Signal; 3] = [Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGUSR2];

/// All signals that a run waits for.
fn awaited() -> SigSet {
    let ignored = ferrio_machine::ignored_signals();
    let is_ignored =
        |signal: &Signal| MAY_BE_IGNORED.contains(signal) && ignored & (1 << (*signal as u32 - 1)) != 0;
    let ending = ENDING.into_iter().filter(|signal| !is_ignored(signal));
    ending.chain([Signal::SIGUSR1]).collect()
}

/// Holds back the signals that a run waits for until [`run`](crate::run) takes them: from now on, one that arrives early ends the run with a
/// report. To be called when the run is about to begin, on the main thread.
pub fn hold_signals() {
    // The kernel refuses no mask of known signals.
    let _ = awaited().thread_block();
}

/// The thread that waits for signals. Dropping this asks it to end, and does not wait.
#[derive(Debug)]
pub(crate) struct SignalWatcher {
    thread: JoinHandle<()>,
    state: Arc<WatchState>,
}

/// What the thread and its owner share. Each stores its own flag before it loads that of the other, so at least one of them sees both.
#[derive(Debug, Default)]
struct WatchState {
    /// The run is over.
    over: AtomicBool,
    /// Signals are not waited for any more: they end the program.
    failed: AtomicBool,
}

impl SignalWatcher {
    /// Blocks the signals in the calling thread (threads started later inherit that); each arrival is sent as a message, and one that
    /// ends the run sets `stop`, which file layout checks. With `tells_stops`, SIGCONT is told as well. With `ends_blocked`, the program
    /// ends without its report if an output has blocked main for ten seconds after such a signal. Further requests for a report are ignored
    /// until main clears `report_wanted`.
    ///
    /// They stay blocked when the run is over, so that a second Ctrl-C cannot cut the report in half; the process ends right
    /// after it.
    ///
    /// # Errors
    /// The kernel refused to change the signal mask or to start a thread.
    pub(crate) fn start(
        messages: SyncSender<Message>,
        stop: Arc<AtomicBool>,
        report_wanted: Arc<AtomicBool>,
        tells_stops: bool,
        ends_blocked: bool,
    ) -> std::io::Result<Self> {
        let mut signals = awaited();
        if tells_stops {
            signals.add(Signal::SIGCONT);
        }
        signals.thread_block()?;
        let state = Arc::new(WatchState::default());
        let watch = Watch { messages, stop, report_wanted, ends_blocked, state: Arc::clone(&state) };
        let thread =
            thread::Builder::new().name("ferrio-signals".into()).spawn(move || watch.watch(&signals))?;
        Ok(SignalWatcher { thread, state })
    }
}

/// What the signal thread works with.
struct Watch {
    messages: SyncSender<Message>,
    stop: Arc<AtomicBool>,
    report_wanted: Arc<AtomicBool>,
    ends_blocked: bool,
    state: Arc<WatchState>,
}

impl Watch {
    /// Waits for signals until the run is over.
    fn watch(&self, signals: &SigSet) {
        let mut interrupted = Interrupted::default();
        let mut unsent = VecDeque::new();
        let mut blocked = Standstill::default();
        // Somebody wants the end.
        let mut is_asked = false;
        while self.send(&mut unsent) {
            let check = (is_asked && self.ends_blocked).then_some(CHECK);
            let limit = if unsent.is_empty() { check } else { Some(RETRY) };
            match wait_for_signal(signals, limit) {
                Ok(signal) => {
                    interrupted = Interrupted::default();
                    is_asked |= asks_for_end(signal);
                    self.queue(signal, &mut unsent);
                }
                Err(e) if e.raw_os_error() == Some(libc::EAGAIN) && limit.is_some() => {}
                Err(e) if e.raw_os_error() == Some(libc::EINTR) && interrupted.should_retry() => {}
                Err(e) => return self.give_up(signals, unsent, &e),
            }
            if self.state.over.load(SeqCst) {
                return;
            }
            if is_asked && self.ends_blocked {
                blocked.end_if_over(switches_of_blocked_main());
            }
        }
    }

    /// Takes a signal to be told. One that waits already is told once, as the kernel does it with signals that are pending.
    fn queue(&self, signal: i32, unsent: &mut VecDeque<i32>) {
        // While main is busy they would fill its queue, and a signal that ends the run would wait.
        let is_known = signal == Signal::SIGUSR1 as i32 && self.report_wanted.swap(true, AcqRel);
        if !is_known && !unsent.contains(&signal) {
            unsent.push_back(signal);
        }
    }

    /// Tells main of signals as far as its queue has room: messages of the jobs may fill it. False once nobody listens.
    fn send(&self, unsent: &mut VecDeque<i32>) -> bool {
        while let Some(&signal) = unsent.front() {
            match self.messages.try_send(message(signal)) {
                Ok(()) => {
                    unsent.pop_front();
                    self.told(signal);
                }
                Err(TrySendError::Full(_)) => return true,
                Err(TrySendError::Disconnected(_)) => return false,
            }
        }
        true
    }

    /// Main has the message of a signal in its queue. Who sees `stop` during layout finds it there afterwards and starts no job.
    fn told(&self, signal: i32) {
        if matches!(message(signal), Message::Signal(_)) {
            self.stop.store(true, Release);
        }
    }

    /// Signals cannot be waited for: unblocks them in this thread, which stays, so that they end the program as they end others.
    fn give_up(&self, signals: &SigSet, unsent: VecDeque<i32>, error: &std::io::Error) {
        let note = not_watched(error);
        self.state.failed.store(true, SeqCst);
        for signal in unsent {
            if self.state.over.load(SeqCst) || self.messages.send(message(signal)).is_err() {
                return;
            }
            self.told(signal);
        }
        if self.state.over.load(SeqCst) || self.messages.send(Message::Diagnostics(vec![note])).is_err() {
            return;
        }
        if signals.thread_unblock().is_ok() {
            loop {
                thread::park();
            }
        }
    }
}

/// How main is told of a signal.
fn message(signal: i32) -> Message {
    match Signal::try_from(signal) {
        Ok(Signal::SIGUSR1) => Message::ReportWanted,
        Ok(Signal::SIGCONT) => Message::Continued,
        _ => Message::Signal(signal),
    }
}

/// True for a signal by which somebody asks for the end. The kernel sends SIGXCPU by itself.
pub(crate) fn asks_for_end(signal: i32) -> bool {
    signal != Signal::SIGXCPU as i32 && ENDING.iter().any(|&ending| ending as i32 == signal)
}

/// Starts a thread in which none of the signals of a run is unblocked: the kernel would let one end the program there.
pub(crate) fn spawn_without_signals(
    thread: thread::Builder,
    work: impl FnOnce() + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    let before = awaited().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let spawned = thread.spawn(work);
    before.thread_set_mask()?;
    spawned
}

/// What the user should know when signals cannot be watched.
pub(crate) fn not_watched(error: &std::io::Error) -> Diagnostic {
    let message =
        format!("signals cannot be watched ({}): Ctrl-C will end the run without a report", reason(error));
    Diagnostic::note(message).code("signals-not-watched")
}

impl Drop for SignalWatcher {
    fn drop(&mut self) {
        self.state.over.store(true, SeqCst);
        // SIGTERM now tells this thread to end. If it stays, because the signal cannot be sent or the kernel goes on interrupting its call,
        // it does no harm.
        if !self.state.failed.load(SeqCst) {
            let _ = pthread_kill(self.thread.as_pthread_t(), Signal::SIGTERM);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Acquire;
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn a_signal_is_told_and_stops_layout_and_the_thread_ends_with_its_watch() {
        let (sender, messages) = sync_channel(4);
        let stop = Arc::new(AtomicBool::new(false));
        let watch = SignalWatcher::start(sender, Arc::clone(&stop), Arc::default(), true, false).unwrap();
        pthread_kill(watch.thread.as_pthread_t(), Signal::SIGINT).unwrap();
        let message = messages.recv().unwrap();
        assert!(matches!(message, Message::Signal(signal) if signal == Signal::SIGINT as i32));
        drop(watch);
        assert!(messages.recv().is_err(), "no sender is left, and the end is no signal of the run");
        assert!(stop.load(Acquire));
    }

    #[test]
    fn signals_wait_for_room_in_a_full_queue() {
        let (sender, messages) = sync_channel(1);
        sender.send(Message::Ready).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let watch = SignalWatcher::start(sender, Arc::clone(&stop), Arc::default(), true, true).unwrap();
        for signal in [Signal::SIGUSR1, Signal::SIGINT] {
            pthread_kill(watch.thread.as_pthread_t(), signal).unwrap();
        }
        assert!(matches!(messages.recv().unwrap(), Message::Ready));
        let told = [0; 2].map(|_| messages.recv().unwrap());
        assert!(told.iter().any(|message| matches!(message, Message::ReportWanted)));
        assert!(told.iter().any(|message| matches!(message, Message::Signal(_))));
        drop(watch);
        assert!(messages.recv().is_err() && stop.load(Acquire));
    }

    #[test]
    fn a_storm_of_report_signals_leaves_room_for_the_one_that_ends_the_run() {
        let (sender, messages) = sync_channel(2);
        let [stop, wanted]: [Arc<AtomicBool>; 2] = Default::default();
        let watch = SignalWatcher::start(sender, Arc::clone(&stop), Arc::clone(&wanted), true, true).unwrap();
        let thread = watch.thread.as_pthread_t();
        for _ in 0..20 {
            pthread_kill(thread, Signal::SIGUSR1).unwrap();
            thread::yield_now();
        }
        while !wanted.load(Acquire) {
            thread::yield_now();
        }
        pthread_kill(thread, Signal::SIGINT).unwrap();
        while !stop.load(Acquire) {
            thread::yield_now();
        }
        assert!(matches!(messages.recv().unwrap(), Message::ReportWanted));
        assert!(matches!(messages.recv().unwrap(), Message::Signal(_)));
        drop(watch);
        assert!(messages.recv().is_err());
    }
}
