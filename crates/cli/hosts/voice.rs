//! The words of an agent's run to its coordinator, and the start line that the coordinator has drawn.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ferrio_hosts::{AgentInputs, ClockTime, HostClock, Stream, ToCoordinator};
use ferrio_job::{Compat, Plan};
use ferrio_logs::LogOutlet;
use ferrio_report::{HostReport, LiveStatus};
use ferrio_results::Progress;
use ferrio_runner::{StartLine, Trigger, TriggerSwitch, phases};
use serde_json::Value;

/// Time between two messages about the progress of the jobs: of a thousand hosts, each costs the coordinator time.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Bytes of a log in one message at most: other messages wait for it.
const LOG_PIECE: usize = 64 << 10;

/// The part that a run has in a run on many hosts.
#[derive(Clone)]
pub struct Voice {
    inputs: AgentInputs,
    clock: HostClock,
    orders: Arc<Orders>,
    /// Time between snapshots, if the coordinator wants any.
    pub snapshots: Option<Duration>,
}

/// How far run and coordinator are with each other.
#[derive(Default)]
struct Orders {
    state: Mutex<OrderState>,
    changed: Condvar,
    trigger: TriggerSwitch,
    /// Ends the run early once it is set.
    early_end: Arc<AtomicBool>,
}

#[derive(Default)]
struct OrderState {
    checked: bool,
    prepare: bool,
    stopped: bool,
    /// What the trigger runs.
    trigger_command: Option<String>,
    /// When phases begin.
    starts: BTreeMap<u32, Instant>,
    /// When the progress is said next; `None` before the jobs begin.
    progress_due: Option<Instant>,
}

impl OrderState {
    /// Whether it is time to say the progress.
    fn take_progress_turn(&mut self, now: Instant) -> bool {
        match self.progress_due {
            Some(due) if due <= now => {
                // The pace is kept, but nothing is made up for.
                self.progress_due = Some((due + PROGRESS_INTERVAL).max(now));
                true
            }
            _ => false,
        }
    }
}

impl fmt::Debug for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Voice")
    }
}

impl Voice {
    /// The voice of the run whose agent takes `inputs`, in times of `clock`.
    #[must_use]
    pub fn new(inputs: AgentInputs, clock: HostClock) -> Self {
        Voice { inputs, clock, orders: Arc::default(), snapshots: None }
    }

    /// Says something. Nobody hears it once the conversation is over.
    pub fn say(&self, message: ToCoordinator) {
        self.inputs.say(message);
    }

    /// Says words for the user.
    pub fn text(&self, stream: Stream, text: String) {
        self.say(ToCoordinator::Text { stream, text });
    }

    /// Says how far the jobs are, once a second.
    pub fn progress(&self, plan: &Plan, progress: &Progress, compat: Compat) {
        if !self.orders.lock().take_progress_turn(Instant::now()) {
            return;
        }
        let live = LiveStatus::new(plan, progress, compat);
        if let Ok(live) = serde_json::to_value(live) {
            self.say(ToCoordinator::Interval { at: self.clock.now(), live });
        }
    }

    /// The trigger that the coordinator can fire.
    #[must_use]
    pub fn trigger(&self) -> Trigger {
        let switch = self.orders.trigger.clone();
        Trigger { switch, saves_all_states: true, ..Trigger::default() }
    }

    /// Fires it.
    pub fn fire_trigger(&self, command: Option<String>) {
        self.orders.change(|state| state.trigger_command = command);
        self.orders.trigger.fire();
    }

    /// The command to run after the jobs that the trigger has ended; `None` if it was not fired.
    #[must_use]
    pub fn fired_trigger(&self) -> Option<Option<String>> {
        self.orders.trigger.is_fired().then(|| self.orders.lock().trigger_command.take())
    }

    /// The outlet for logs: the coordinator writes them.
    #[must_use]
    pub fn log_outlet(&self) -> LogOutlet {
        let voice = self.clone();
        LogOutlet(Arc::new(move |name, bytes| {
            // An empty piece says that there is a log.
            let pieces = bytes.chunks(LOG_PIECE).chain(bytes.is_empty().then_some(bytes));
            for piece in pieces {
                voice.say(ToCoordinator::Log { name: name.to_owned(), data: STANDARD.encode(piece) });
            }
        }))
    }

    /// Gives the figures of a moment.
    pub fn snapshot(&self, report: &HostReport) {
        if let Ok(result) = report.to_text() {
            self.say(ToCoordinator::Snapshot { at: self.clock.now(), result });
        }
    }

    /// Gives the figures so far.
    pub fn interim(&self, report: &HostReport) {
        if let Ok(result) = report.to_text() {
            self.say(ToCoordinator::Interim { result });
        }
    }

    /// Gives the figures of the run.
    pub fn result(&self, report: &HostReport) {
        if let Ok(result) = report.to_text() {
            self.say(ToCoordinator::Result { result });
        }
    }

    /// Says that the plan can run, and waits until all hosts have said so. False if the coordinator ends the run before.
    #[must_use]
    pub fn may_prepare(&self, plan: &Plan) -> bool {
        self.say(ToCoordinator::Checked { plan: Value::Null, phases: phases(plan) });
        self.orders.change(|state| state.checked = true);
        let unsure = |state: &mut OrderState| !state.prepare && !state.stopped;
        let state = self.orders.changed.wait_while(self.orders.lock(), unsure);
        !state.unwrap_or_else(PoisonError::into_inner).stopped
    }

    /// Says the last word of the run, with the exit status that it would have had.
    pub fn end(&self, status: u8) {
        // What fails before it is checked has not begun.
        let is_refusal = status != 0 && !self.orders.lock().checked;
        self.say(match is_refusal {
            true => ToCoordinator::Refused { status },
            false => ToCoordinator::Ended { status },
        });
    }

    /// The start line for the runner.
    #[must_use]
    pub fn start_line(&self) -> Arc<dyn StartLine> {
        Arc::new(self.clone())
    }

    /// The coordinator lets the run lay out its files.
    pub fn let_prepare(&self) {
        self.orders.change(|state| state.prepare = true);
    }

    /// The coordinator lets a phase begin.
    pub fn let_begin(&self, phase: u32, at: ClockTime) {
        let at = self.clock.instant(at);
        self.orders.change(|state| {
            state.starts.insert(phase, at);
            state.progress_due.get_or_insert(at + PROGRESS_INTERVAL);
        });
    }

    /// What ends the run early once it is set.
    #[must_use]
    pub fn early_end(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.orders.early_end)
    }

    /// The coordinator ends the run, whose figures are bad enough.
    pub fn end_early(&self) {
        self.orders.early_end.store(true, Ordering::Relaxed);
    }

    /// The coordinator ends the run, which a signal tells jobs that run already.
    pub fn stop(&self) {
        self.orders.change(|state| state.stopped = true);
    }
}

impl Orders {
    fn lock(&self) -> MutexGuard<'_, OrderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut OrderState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

impl StartLine for Voice {
    fn ready(&self, phase: u32) {
        self.say(ToCoordinator::Ready { phase });
    }

    fn start_of(&self, phase: u32, wait: Duration) -> Option<Instant> {
        let is_unknown = |state: &mut OrderState| !state.starts.contains_key(&phase);
        let state = self.orders.changed.wait_timeout_while(self.orders.lock(), wait, is_unknown);
        state.unwrap_or_else(PoisonError::into_inner).0.starts.get(&phase).copied()
    }

    fn began(&self, phase: u32, at: Instant) {
        self.say(ToCoordinator::Started { phase, at: self.clock.time_of(at) });
    }
}
