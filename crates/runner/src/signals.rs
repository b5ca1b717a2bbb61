//! Signals that would end the program end the run gracefully, SIGUSR1 requests a report, and SIGCONT shows that the program was stopped.
//! They are blocked in all threads; a thread of their own waits for them and ends with the run.

use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Release, SeqCst};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use ferrio_job::{Diagnostic, reason};
use ferrio_kernel::{keep_ended_children, wait_for_signal};
use ferrio_machine::{InterruptionLimit, SignalMask, switches_of_blocked_main};
use nix::sys::pthread::pthread_kill;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};

use crate::blocked_threads::{BlockedThreads, CHECK_INTERVAL};
use crate::context::Message;
use crate::control::JobControl;
use crate::gate::Gate;

/// Prepares the process for signals, whatever its parent has set up. Holds SIGUSR1 back until [`run`](crate::run) takes it: one that arrives
/// before the run begins asks for a report as well, instead of ending the program. A write beyond the limit of file sizes fails with EFBIG,
/// which a report can show, instead of ending the program with SIGXFSZ. To be called first of all, on the main thread.
pub fn prepare_signals() {
    keep_ended_children();
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGUSR1);
    signals.add(Signal::SIGXFSZ);
    // This cannot fail for known signals.
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

/// Signals that a parent may have set to be ignored, as `nohup` does. They stay ignored.
const MAY_BE_IGNORED: [Signal; 3] = [Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGUSR2];

/// All signals that a run waits for.
fn awaited() -> SigSet {
    let ignored = SignalMask::ignored();
    let is_ignored = |signal: &Signal| MAY_BE_IGNORED.contains(signal) && ignored.contains(*signal);
    let ending = ENDING.into_iter().filter(|signal| !is_ignored(signal));
    ending.chain([Signal::SIGUSR1]).collect()
}

/// Holds back the signals that a run waits for until [`run`](crate::run) takes them: from now on, one that arrives early ends the run with a
/// report. To be called when the run is about to begin, on the main thread.
pub fn hold_signals() {
    // This cannot fail for known signals.
    let _ = awaited().thread_block();
}

/// The thread that waits for signals. Dropping this asks it to end, and does not wait.
#[derive(Debug)]
pub(crate) struct SignalWatcher {
    thread: JoinHandle<()>,
    state: Arc<WatchState>,
}

/// State shared by the thread and its owner. Each stores its own flag before it loads that of the other, so at least one of them sees both.
#[derive(Debug, Default)]
struct WatchState {
    /// The run is over.
    over: AtomicBool,
    /// Signals are not waited for any more: they end the program.
    failed: AtomicBool,
}

/// Requests from the signal thread to main, recorded even while main is busy; a message only wakes main.
#[derive(Debug, Default)]
pub(crate) struct SignalRequests {
    /// Signals that end the run and that main has not taken yet, at most [`MAX_PENDING`].
    ending: Mutex<Vec<i32>>,
    /// There is something to take.
    is_pending: AtomicBool,
    /// SIGUSR1: a report of the run so far.
    report: AtomicBool,
    /// SIGCONT.
    continued: AtomicBool,
    /// The gate that holds jobs back while main starts them.
    gate: Mutex<Weak<Gate>>,
}

/// More signals at once change nothing: the second one already ends the run without jobs that hang.
const MAX_PENDING: usize = 2;

/// Requests that main takes from [`SignalRequests`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenRequests {
    /// Signals that end the run, in their order.
    pub(crate) ending: Vec<i32>,
    pub(crate) report: bool,
    pub(crate) continued: bool,
}

impl SignalRequests {
    /// Takes the requests since the last call. Costs one atomic load if there are none.
    pub(crate) fn take(&self) -> TakenRequests {
        if !self.is_pending.load(SeqCst) {
            return TakenRequests::default();
        }
        self.is_pending.store(false, SeqCst);
        TakenRequests {
            ending: std::mem::take(&mut *self.ending.lock().unwrap_or_else(PoisonError::into_inner)),
            report: self.report.swap(false, SeqCst),
            continued: self.continued.swap(false, SeqCst),
        }
    }

    /// Sets the gate that a signal opens when it ends the run. A signal that arrived before does not open it: it has set `stop`.
    pub(crate) fn set_gate(&self, gate: &Arc<Gate>) {
        *self.gate.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(gate);
    }

    /// Notes a signal for main.
    fn add(&self, signal: i32) {
        match Signal::try_from(signal) {
            Ok(Signal::SIGUSR1) => self.report.store(true, SeqCst),
            Ok(Signal::SIGCONT) => self.continued.store(true, SeqCst),
            _ => {
                let mut ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
                if ending.len() < MAX_PENDING {
                    ending.push(signal);
                }
            }
        }
        self.is_pending.store(true, SeqCst);
    }
}

impl SignalWatcher {
    /// Blocks the signals in the calling thread (threads started later inherit that) and waits for them in a thread of its own. One that
    /// ends the run stops the jobs of `controls` at once, as main may be blocked by an output, and sets `stop`, which file layout checks.
    /// Main finds all of them in `requests`, and is woken by a message. With `reports_stops`, SIGCONT is among them. With
    /// `exits_if_blocked`, the program ends without its report if an output has blocked main for ten seconds after a signal that ends the
    /// run.
    ///
    /// They stay blocked when the run is over, so that a second Ctrl-C cannot cut the report in half; the process ends right
    /// after it.
    ///
    /// # Errors
    /// The kernel refused to change the signal mask or to start a thread.
    pub(crate) fn start(
        messages: SyncSender<Message>,
        controls: &'static [JobControl],
        stop: Arc<AtomicBool>,
        requests: Arc<SignalRequests>,
        reports_stops: bool,
        exits_if_blocked: bool,
    ) -> std::io::Result<Self> {
        let mut signals = awaited();
        if reports_stops {
            signals.add(Signal::SIGCONT);
        }
        signals.thread_block()?;
        let state = Arc::new(WatchState::default());
        let watch = Watch { messages, controls, stop, requests, exits_if_blocked, state: Arc::clone(&state) };
        let thread =
            thread::Builder::new().name("ferrio-signals".into()).spawn(move || watch.watch(&signals))?;
        Ok(SignalWatcher { thread, state })
    }
}

/// The signal thread: what it needs to act on signals.
struct Watch {
    messages: SyncSender<Message>,
    controls: &'static [JobControl],
    stop: Arc<AtomicBool>,
    requests: Arc<SignalRequests>,
    exits_if_blocked: bool,
    state: Arc<WatchState>,
}

impl Watch {
    /// Waits for signals until the run is over.
    fn watch(&self, signals: &SigSet) {
        let mut interrupted = InterruptionLimit::default();
        let mut blocked = BlockedThreads::default();
        // A signal has asked the run to end.
        let mut is_asked = false;
        loop {
            let limit = (is_asked && self.exits_if_blocked).then_some(CHECK_INTERVAL);
            let arrived = match wait_for_signal(signals, limit) {
                Ok(signal) => {
                    interrupted = InterruptionLimit::default();
                    Some(signal)
                }
                Err(e) if e.raw_os_error() == Some(libc::EAGAIN) && limit.is_some() => None,
                Err(e) if e.raw_os_error() == Some(libc::EINTR) && interrupted.should_retry() => None,
                Err(e) => return self.give_up(signals, &e),
            };
            if self.state.over.load(SeqCst) {
                return;
            }
            if let Some(signal) = arrived {
                is_asked |= asks_for_end(signal);
                self.act_on(signal);
            }
            if is_asked && self.exits_if_blocked {
                blocked.exit_if_timed_out(switches_of_blocked_main());
            }
        }
    }

    /// Stops the jobs if the signal ends the run, and tells main. Main knows of the signal before a job can have ended by it, and before
    /// layout ends early, so that it mistakes neither for a normal end.
    fn act_on(&self, signal: i32) {
        self.requests.add(signal);
        if ends_run(signal) {
            self.stop.store(true, Release);
            for control in self.controls {
                control.count_signal();
                control.request_stop();
            }
            // Main may be blocked before it opens the gate.
            let gate = self.requests.gate.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
            gate.inspect(|gate| gate.open());
        }
        // A full queue has messages that wake main as well.
        let _ = self.messages.try_send(Message::Ready);
    }

    /// Called when waiting for signals fails. Unblocks the signals in this thread, which does not end, so that they act as by default.
    fn give_up(&self, signals: &SigSet, error: &std::io::Error) {
        let note = signals_not_watched(error);
        self.state.failed.store(true, SeqCst);
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

/// True for a signal that ends the run.
fn ends_run(signal: i32) -> bool {
    ENDING.iter().any(|&ending| ending as i32 == signal)
}

/// True for a signal with which a user or a program asks the run to end. SIGXCPU is not one: the kernel sends it.
pub(crate) fn asks_for_end(signal: i32) -> bool {
    signal != Signal::SIGXCPU as i32 && ends_run(signal)
}

/// Starts a thread in which all signals of a run are blocked: the kernel would otherwise let one end the program there.
pub(crate) fn spawn_without_signals(
    thread: thread::Builder,
    work: impl FnOnce() + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    let before = awaited().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let spawned = thread.spawn(work);
    before.thread_set_mask()?;
    spawned
}

/// A note for the user if signals cannot be watched.
pub(crate) fn signals_not_watched(error: &std::io::Error) -> Diagnostic {
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
    use std::sync::mpsc::{Receiver, sync_channel};

    use super::*;

    struct Started {
        watch: SignalWatcher,
        messages: Receiver<Message>,
        control: &'static JobControl,
        stop: Arc<AtomicBool>,
        requests: Arc<SignalRequests>,
    }

    impl Started {
        /// A watcher of one job. The queue has room for this many messages, and one is in it.
        fn with_queue(room: usize) -> Self {
            let (sender, messages) = sync_channel(room);
            sender.send(Message::Ready).unwrap();
            let controls: &'static [JobControl] = vec![JobControl::new(1)].leak();
            let (stop, requests): (Arc<AtomicBool>, Arc<SignalRequests>) = Default::default();
            let watch =
                SignalWatcher::start(sender, controls, Arc::clone(&stop), Arc::clone(&requests), true, false);
            Started { watch: watch.unwrap(), messages, control: &controls[0], stop, requests }
        }

        fn send(&self, signal: Signal) {
            pthread_kill(self.watch.thread.as_pthread_t(), signal).unwrap();
        }

        /// Waits until the job has been told of this many signals.
        fn await_signals(&self, count: u32) {
            while self.control.signals() < count || !self.control.stop_requested() {
                thread::yield_now();
            }
        }
    }

    #[test]
    fn a_signal_stops_layout_and_the_thread_ends_with_its_watch() {
        let started = Started::with_queue(4);
        started.send(Signal::SIGINT);
        started.await_signals(1);
        assert!(started.stop.load(Acquire));
        let want = TakenRequests { ending: vec![Signal::SIGINT as i32], ..TakenRequests::default() };
        assert_eq!([started.requests.take(), started.requests.take()], [want, TakenRequests::default()]);
        let Started { watch, messages, requests, .. } = started;
        drop(watch);
        while messages.recv().is_ok() {}
        assert_eq!(requests.take(), TakenRequests::default(), "the end is no signal of the run");
    }

    #[test]
    fn jobs_that_wait_for_each_other_are_let_go() {
        let started = Started::with_queue(1);
        let gate = Arc::new(Gate::default());
        let _closed = gate.close();
        started.requests.set_gate(&gate);
        started.send(Signal::SIGTERM);
        gate.wait_for_start();
        gate.wait_for_first_ios();
        assert!(started.control.stop_requested());
    }

    #[test]
    fn jobs_stop_although_main_takes_no_messages() {
        let started = Started::with_queue(1);
        // SIGCONT comes with those that end the run, and a storm of SIGUSR1 is in nobody's way.
        for signal in [Signal::SIGUSR1, Signal::SIGCONT, Signal::SIGINT] {
            started.send(signal);
        }
        started.await_signals(1);
        for _ in 0..20 {
            started.send(Signal::SIGUSR1);
            started.send(Signal::SIGTERM);
            thread::yield_now();
        }
        started.await_signals(2);
        while started.requests.ending.lock().unwrap().len() < MAX_PENDING {
            thread::yield_now();
        }
        let taken = started.requests.take();
        assert_eq!(taken.ending, [Signal::SIGINT as i32, Signal::SIGTERM as i32]);
        assert!(taken.report && taken.continued);
        drop(started.watch);
        while started.messages.recv().is_ok() {}
    }
}
