//! Conversations in the real world: threads that move messages between carriers and the state machines, and the clock.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::carrier::{Closer, Ends, THREAD_STACK};
use crate::{
    Agent, AgentAction, AgentHello, AgentInput, ClockTime, Coordinator, CoordinatorAction, CoordinatorInput,
    CoordinatorSettings, FrameLimit, FrameReader, HostId, PlanText, ToAgent, ToCoordinator, write_frame,
};

/// Messages that wait for the coordinator before agents have to wait: bounds its memory, and a slow reader slows only the talk.
const WAITING: usize = 1_024;

/// How long the other end may take to close a connection that this end has closed.
const CLOSING_TIMEOUT: Duration = Duration::from_secs(2);

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
/// everything that is not for a carrier, in order; `stop` is received from whenever the user wants an end, and says so twice for an end
/// at once.
///
/// # Errors
///
/// A thread cannot be started; all conversations are over then.
pub fn coordinate(
    hosts: Vec<(io::Result<Ends>, PlanText)>,
    settings: CoordinatorSettings,
    program: &str,
    stop: &Receiver<()>,
    observer: &mut dyn FnMut(CoordinatorAction),
) -> io::Result<()> {
    let clock = HostClock::start();
    let (sender, inputs) = sync_channel(WAITING);
    let mut lines = Vec::new();
    let mut missing = Vec::new();
    let mut plans = Vec::new();
    for (at, (ends, plan)) in hosts.into_iter().enumerate() {
        let ends = ends.and_then(|ends| Ok((ends.challenge()?, ends)));
        lines.push(match ends {
            Ok((challenge, ends)) => {
                plans.push((plan, challenge));
                Some(Line::open(HostId(at), ends, sender.clone())?)
            }
            Err(error) => {
                plans.push((plan, None));
                missing.push(CoordinatorInput::Disconnected(HostId(at), error.to_string()));
                None
            }
        });
    }
    let mut actions = Vec::new();
    let mut coordinator = Coordinator::new(settings, program, plans, clock.now(), &mut actions);
    let mut missing = missing.into_iter();
    // Connections that the other end has not closed yet, since when.
    let mut closing: Vec<(HostId, Instant, Box<dyn Closer>)> = Vec::new();
    let mut ticks = Ticks::default();
    loop {
        closing.retain_mut(|(_, since, closer)| {
            let is_late = since.elapsed() >= CLOSING_TIMEOUT;
            if is_late {
                closer.close();
            }
            !is_late
        });
        for action in actions.drain(..) {
            match action {
                CoordinatorAction::Send(host, message) => {
                    if let Some(line) = &lines[host.0] {
                        line.send(message);
                    }
                }
                CoordinatorAction::Close(host) => {
                    let line = lines[host.0].take().filter(|line| !line.has_ended);
                    closing.extend(line.map(|line| (host, Instant::now(), line.closer)));
                }
                CoordinatorAction::Finished => {
                    let_go(&inputs, closing);
                    observer(CoordinatorAction::Finished);
                    return Ok(());
                }
                action => {
                    if let CoordinatorAction::Greeted(host, _) = action
                        && let Some(line) = &lines[host.0]
                    {
                        line.limit.trust();
                    }
                    observer(action);
                }
            }
        }
        let at_once = missing.next().or_else(|| stop.try_recv().ok().map(|()| CoordinatorInput::Stop));
        let input = match at_once {
            Some(input) => input,
            None => match ticks.next(&inputs) {
                None => CoordinatorInput::Tick,
                Some((host, Heard::Message(message))) => CoordinatorInput::Message(host, message),
                Some((host, Heard::End(reason))) => {
                    closing.retain(|(closed, ..)| *closed != host);
                    let last_words = lines[host.0].as_mut().and_then(Line::end);
                    CoordinatorInput::Disconnected(host, last_words.unwrap_or(reason))
                }
            },
        };
        coordinator.take(input, clock.now(), &mut actions);
    }
}

/// Takes inputs, and looks at the clock in between however many there are.
struct Ticks(Instant);

impl Default for Ticks {
    fn default() -> Self {
        Ticks(Instant::now() + TICK_INTERVAL)
    }
}

impl Ticks {
    /// The next input; `None` if it is time to look at the clock first.
    fn next<T>(&mut self, inputs: &Receiver<T>) -> Option<T> {
        let left = self.0.saturating_duration_since(Instant::now());
        let input = if left.is_zero() { None } else { inputs.recv_timeout(left).ok() };
        if input.is_none() {
            *self = Ticks::default();
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

/// What comes out of a connection.
enum Heard {
    Message(ToCoordinator),
    /// The connection is over, and why.
    End(String),
}

/// The coordinator's end of one connection. When it is dropped, the messages that were sent still go out before the other end is told.
struct Line {
    to_writer: Sender<ToAgent>,
    closer: Box<dyn Closer>,
    limit: FrameLimit,
    /// The other end has closed it.
    has_ended: bool,
}

impl Line {
    fn open(host: HostId, ends: Ends, inputs: SyncSender<(HostId, Heard)>) -> io::Result<Line> {
        let to_writer = write_all(ends.writer)?;
        let limit = move_messages(ends.reader, move |heard| {
            let heard = heard.map_or_else(Heard::End, Heard::Message);
            inputs.send((host, heard)).is_ok()
        })?;
        Ok(Line { to_writer, closer: ends.closer, limit, has_ended: false })
    }

    /// Notes that the other end is gone, and returns why if the carrier knows.
    fn end(&mut self) -> Option<String> {
        self.has_ended = true;
        self.closer.last_words()
    }

    /// A message to a host that is gone goes nowhere: its end is told by the reader.
    fn send(&self, message: ToAgent) {
        let _ = self.to_writer.send(message);
    }
}

/// Starts a thread that writes messages to a stream until the sender is dropped.
fn write_all<M: Serialize + Send + 'static>(
    mut stream: impl Write + Send + 'static,
) -> io::Result<Sender<M>> {
    let (sender, messages) = channel::<M>();
    thread::Builder::new().stack_size(THREAD_STACK).spawn(move || {
        for message in messages {
            if write_frame(&mut stream, &message).is_err() {
                break;
            }
        }
    })?;
    Ok(sender)
}

/// Starts a thread that gives each message to `take`, and at last why there are no more, until `take` returns false. Messages
/// are short until the other end is trusted.
fn move_messages<M: DeserializeOwned>(
    stream: impl Read + Send + 'static,
    mut take: impl FnMut(Result<M, String>) -> bool + Send + 'static,
) -> io::Result<FrameLimit> {
    let mut reader = FrameReader::new(stream);
    let limit = reader.limit();
    let read = move || {
        loop {
            let message: Result<M, String> = match reader.read() {
                Ok(Some(message)) => Ok(message),
                Ok(None) => Err("it was closed".into()),
                Err(error) => Err(error.to_string()),
            };
            let is_over = message.is_err();
            if !take(message) || is_over {
                return;
            }
        }
    };
    thread::Builder::new().stack_size(THREAD_STACK).spawn(read)?;
    Ok(limit)
}

/// The inputs of an agent: the sender is for its run.
#[must_use]
pub fn agent_inputs() -> (SyncSender<AgentInput>, Receiver<AgentInput>) {
    sync_channel(WAITING)
}

/// Holds the agent's end of a conversation until it is over, and returns the exit status of the agent. `act` gets all actions for the run:
/// to check, to begin a phase, to stop.
///
/// # Errors
///
/// A thread cannot be started, or there are no random numbers for a token.
pub fn serve(
    ends: Ends,
    hello: AgentHello,
    clock: HostClock,
    (sender, inputs): (SyncSender<AgentInput>, Receiver<AgentInput>),
    act: &mut dyn FnMut(AgentAction),
) -> io::Result<u8> {
    let challenge = ends.challenge()?;
    let to_writer = write_all::<ToCoordinator>(ends.writer)?;
    let mut closer = ends.closer;
    let limit = move_messages(ends.reader, move |heard| {
        let input = heard.map_or(AgentInput::Disconnected, AgentInput::Message);
        sender.send(input).is_ok()
    })?;
    let mut agent = Agent::new(hello, challenge, clock.now());
    let mut actions = Vec::new();
    let mut ticks = Ticks::default();
    loop {
        let input = ticks.next(&inputs).unwrap_or(AgentInput::Tick);
        agent.take(input, clock.now(), &mut actions);
        for action in actions.drain(..) {
            match action {
                AgentAction::Send(message) => drop(to_writer.send(message)),
                AgentAction::Trust => limit.trust(),
                AgentAction::Exit { status } => {
                    closer.close();
                    return Ok(status);
                }
                action => act(action),
            }
        }
    }
}
