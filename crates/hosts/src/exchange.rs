//! The coordinator's end of all conversations in the real world: threads that move messages between carriers and the state machine, and the
//! clock.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::carrier::{Closer, Ends};
use crate::intake::{LongFramePermit, LongFrames};
use crate::line::{Heard, Line};
use crate::{
    Challenge, ClockTime, Coordinator, CoordinatorAction, CoordinatorInput, CoordinatorSettings, HostId,
    PlanText, UserRequest,
};

/// Messages that wait for the coordinator before agents have to wait: bounds its memory, and a slow reader slows only the talk.
const WAITING: usize = 1_024;

/// How long the other end may take to close a connection that this end has closed.
pub(crate) const CLOSING_TIMEOUT: Duration = Duration::from_secs(2);

/// Time between two looks at whether the observer has taken what waits for it.
const OBSERVER_INTERVAL: Duration = Duration::from_millis(5);

/// Time between two looks at the clock.
const TICK_INTERVAL: Duration = Duration::from_millis(100);

/// The monotonic clock of this process, from when it was made.
#[derive(Clone, Copy, Debug)]
pub struct HostClock(Instant);

impl HostClock {
    /// Shows 0 now.
    #[must_use]
    pub fn start() -> Self {
        HostClock(Instant::now())
    }

    /// What it shows.
    #[must_use]
    pub fn now(self) -> ClockTime {
        ClockTime::default().after(self.0.elapsed())
    }

    /// What it showed at `instant`; 0 before its start.
    #[must_use]
    pub fn time_of(self, instant: Instant) -> ClockTime {
        ClockTime::default().after(instant.saturating_duration_since(self.0))
    }

    /// When it shows `time`.
    #[must_use]
    pub fn instant(self, time: ClockTime) -> Instant {
        self.0 + time.since(ClockTime::default())
    }
}

/// Holds the conversations of a run until they are over. Hosts whose carrier could not be opened are lost at once. `observer` gets
/// everything that is not for a carrier, in order, on this thread; while it takes its time, the conversations go on, but no more is read than
/// a bounded amount. `stop` is received from whenever the user wants an end, and says so twice for an end at once.
///
/// # Errors
///
/// A thread cannot be started, or there are no random numbers for tokens; all conversations are over then.
pub fn coordinate(
    hosts: Vec<(io::Result<Ends>, PlanText)>,
    settings: CoordinatorSettings,
    program: &str,
    requests: Receiver<UserRequest>,
    observer: &mut dyn FnMut(CoordinatorAction),
) -> io::Result<()> {
    let clock = HostClock::start();
    let (sender, inputs) = sync_channel(WAITING);
    let long_frames = Arc::default();
    let (mut lines, mut missing, mut plans) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (ends, plan)) in hosts.into_iter().enumerate() {
        match ends.and_then(|ends| open(HostId(at), ends, &long_frames, &sender)) {
            Ok((line, challenge)) => {
                lines.push(Some(line));
                plans.push((plan, challenge));
            }
            Err(error) => {
                lines.push(None);
                plans.push((plan, None));
                missing.push(CoordinatorInput::Disconnected(HostId(at), error.to_string()));
            }
        }
    }
    let mut actions = Vec::new();
    let coordinator = Coordinator::new(settings, program, plans, clock.now(), &mut actions);
    let (to_observer, deliveries) = sync_channel(WAITING);
    let observed = Observed { backlog: VecDeque::new(), to_observer };
    let conversations = Conversations {
        clock,
        coordinator,
        lines,
        inputs,
        requests,
        missing: missing.into_iter(),
        closing: Vec::new(),
        observed,
    };
    thread::scope(|scope| {
        thread::Builder::new().spawn_scoped(scope, || conversations.hold(actions))?;
        // Dropped when the observer panics, too: the conversations end then.
        for (action, _permit) in deliveries {
            observer(action);
        }
        Ok(())
    })
}

fn open(
    host: HostId,
    ends: Ends,
    long_frames: &Arc<LongFrames>,
    inputs: &SyncSender<(HostId, Heard)>,
) -> io::Result<(Line, Option<Challenge>)> {
    let challenge = ends.challenge()?;
    Ok((Line::open(host, ends, long_frames, inputs.clone())?, challenge))
}

/// What the observer gets, with the memory that it takes.
type Delivery = (CoordinatorAction, Option<Arc<LongFramePermit>>);

/// The way to the observer.
struct Observed {
    /// What it has no time for.
    backlog: VecDeque<Delivery>,
    to_observer: SyncSender<Delivery>,
}

impl Observed {
    /// Moves on what the observer takes without a wait; false if it is gone.
    fn move_on(&mut self) -> bool {
        while let Some(delivery) = self.backlog.pop_front() {
            match self.to_observer.try_send(delivery) {
                Ok(()) => {}
                Err(TrySendError::Full(delivery)) => {
                    self.backlog.push_front(delivery);
                    break;
                }
                Err(TrySendError::Disconnected(_)) => return false,
            }
        }
        true
    }
}

/// All conversations of a run.
struct Conversations {
    clock: HostClock,
    coordinator: Coordinator,
    lines: Vec<Option<Line>>,
    inputs: Receiver<(HostId, Heard)>,
    requests: Receiver<UserRequest>,
    /// Hosts to which there is no connection.
    missing: std::vec::IntoIter<CoordinatorInput>,
    /// Connections that the other end has not closed yet, since when.
    closing: Vec<(HostId, Instant, Box<dyn Closer>)>,
    observed: Observed,
}

impl Conversations {
    fn hold(mut self, mut actions: Vec<CoordinatorAction>) {
        let mut ticks = Ticks::every(TICK_INTERVAL);
        let mut permit = None;
        loop {
            self.close_late_ones();
            let is_finished = self.act(&mut actions, permit.take());
            if !self.observed.move_on() {
                return;
            }
            if is_finished {
                let_go(&self.inputs, self.closing);
                for delivery in self.observed.backlog {
                    // Gone with a panic.
                    let _ = self.observed.to_observer.send(delivery);
                }
                return;
            }
            let input;
            (input, permit) = self.next(&mut ticks, &mut actions);
            self.coordinator.take(input, self.clock.now(), &mut actions);
        }
    }

    fn close_late_ones(&mut self) {
        self.closing.retain_mut(|(_, since, closer)| {
            let is_late = since.elapsed() >= CLOSING_TIMEOUT;
            if is_late {
                closer.close();
            }
            !is_late
        });
    }

    /// Does what is to be done; true if the conversations are over.
    fn act(&mut self, actions: &mut Vec<CoordinatorAction>, permit: Option<LongFramePermit>) -> bool {
        let permit = permit.map(Arc::new);
        let mut is_finished = false;
        let mut deaf = Vec::new();
        for action in actions.drain(..) {
            match &action {
                CoordinatorAction::Send(host, message) => {
                    let line = self.lines[host.0].as_ref();
                    if line.is_some_and(|line| !line.send(message.clone())) {
                        deaf.push(*host);
                    }
                    continue;
                }
                CoordinatorAction::Close(host) => {
                    let line = self.lines[host.0].take().filter(|line| !line.has_ended);
                    self.closing.extend(line.map(|line| (*host, Instant::now(), line.closer)));
                    continue;
                }
                CoordinatorAction::Greeted(host, _) => {
                    if let Some(line) = &self.lines[host.0] {
                        line.intake.trust();
                    }
                }
                CoordinatorAction::Finished => is_finished = true,
                _ => {}
            }
            self.observed.backlog.push_back((action, permit.clone()));
        }
        for host in deaf {
            let lost = CoordinatorInput::Disconnected(host, "the host does not read".into());
            self.coordinator.take(lost, self.clock.now(), actions);
        }
        is_finished
    }

    /// The next input, and the memory that it takes.
    fn next(
        &mut self,
        ticks: &mut Ticks,
        actions: &mut Vec<CoordinatorAction>,
    ) -> (CoordinatorInput, Option<LongFramePermit>) {
        let request = self.requests.try_recv().ok().map(CoordinatorInput::User);
        if let Some(at_once) = self.missing.next().or(request) {
            return (at_once, None);
        }
        let is_observed = self.observed.backlog.is_empty();
        let heard = ticks.next(|until| match is_observed {
            true => self.inputs.recv_timeout(until.saturating_duration_since(Instant::now())).ok(),
            // The observer is behind: hosts wait until it has caught up.
            false => {
                thread::sleep(OBSERVER_INTERVAL);
                None
            }
        });
        match heard {
            None => {
                self.note_life(actions);
                (CoordinatorInput::Tick, None)
            }
            Some((host, Heard::Message(message, permit))) => {
                (CoordinatorInput::Message(host, message), permit.is_long().then_some(permit))
            }
            Some((host, Heard::End(broken))) => {
                self.closing.retain(|(closed, ..)| *closed != host);
                let reason = self.lines[host.0].as_mut().map(|line| line.end(broken)).unwrap_or_default();
                (CoordinatorInput::Disconnected(host, reason), None)
            }
        }
    }

    /// Hosts whose messages are on their way, or wait here, are not silent.
    fn note_life(&mut self, actions: &mut Vec<CoordinatorAction>) {
        for at in 0..self.lines.len() {
            if self.lines[at].as_mut().is_some_and(Line::is_alive) {
                self.coordinator.take(CoordinatorInput::Alive(HostId(at)), self.clock.now(), actions);
            }
        }
    }
}

/// Takes inputs, and looks at the clock in between however many there are.
pub(crate) struct Ticks {
    interval: Duration,
    next: Instant,
}

impl Ticks {
    /// Looks at the clock at this interval.
    pub fn every(interval: Duration) -> Self {
        Ticks { interval, next: Instant::now() + interval }
    }

    /// The next input, which `take` returns if it comes until the time; `None` if it is time to look at the clock first.
    pub fn next<T>(&mut self, take: impl FnOnce(Instant) -> Option<T>) -> Option<T> {
        let input = if Instant::now() >= self.next { None } else { take(self.next) };
        if input.is_none() {
            self.next = Instant::now() + self.interval;
        }
        input
    }
}

/// Waits until the other ends have closed the connections that are being closed, at most for [`CLOSING_TIMEOUT`].
fn let_go(inputs: &Receiver<(HostId, Heard)>, mut closing: Vec<(HostId, Instant, Box<dyn Closer>)>) {
    let begin = Instant::now();
    while !closing.is_empty()
        && let Some(left) = CLOSING_TIMEOUT.checked_sub(begin.elapsed())
        && let Ok((host, heard)) = inputs.recv_timeout(left)
    {
        if matches!(heard, Heard::End(_)) {
            closing.retain(|(closed, ..)| *closed != host);
        }
    }
    closing.iter_mut().for_each(|(.., closer)| closer.close());
}
