//! The coordinator: the end of all conversations that has the user.

mod phases;

use std::time::Duration;

use crate::agent::SILENCE_TIMEOUT;
use crate::host::{Host, Stage, other_version};
use crate::token::{Greetings, Role};
use crate::{
    AgentHello, Challenge, ClockOffset, ClockTime, CoordinatorHello, HostId, HostLoss, PROTOCOL, PhaseStart,
    PlanText, Proof, ToAgent, ToCoordinator,
};

/// How a run on many hosts behaves.
#[derive(Clone, Copy, Debug)]
pub struct CoordinatorSettings {
    /// End the run on all hosts when one is lost.
    pub require_all: bool,
    /// Plan and check only.
    pub only_check: bool,
    /// No host runs its jobs if one cannot.
    pub refusal_ends_run: bool,
    /// All hosts begin each phase together; otherwise only the first, and each goes on by itself.
    pub common_phases: bool,
    /// How long a host may take to greet.
    pub greeting_timeout: Duration,
}

/// Something that the user wants of all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserRequest {
    /// The run shall end; the second time, at once.
    Stop,
    /// The jobs shall end because of what they have measured.
    End {
        /// For the user.
        reason: String,
    },
    /// The jobs shall save what their verification needs to know, and end, as if the power failed.
    Trigger {
        /// The shell command that each host runs then.
        command: Option<String>,
    },
}

/// Something that happens to the coordinator.
#[derive(Clone, Debug)]
pub enum CoordinatorInput {
    /// A message of a host.
    Message(HostId, ToCoordinator),
    /// Something of a host has come, but no whole message, or one for which this end has no time yet.
    Alive(HostId),
    /// The connection to a host ended; the reason is the carrier's.
    Disconnected(HostId, String),
    /// The user wants something.
    User(UserRequest),
    /// Time has passed. Wanted at least every 100 ms.
    Tick,
}

/// Something for the coordinator's surroundings to do.
#[derive(Clone, Debug, PartialEq)]
pub enum CoordinatorAction {
    /// Send a message to a host.
    Send(HostId, ToAgent),
    /// End the connection to a host; nothing more is sent.
    Close(HostId),
    /// A host has greeted.
    Greeted(HostId, AgentHello),
    /// The clock of a host is measured.
    Measured(HostId, ClockOffset),
    /// A host says something that is for the front end: texts, plans, intervals, logs and results. The times of snapshots are by the
    /// coordinator's clock.
    Deliver(HostId, ToCoordinator),
    /// A phase began on a host.
    Began {
        /// The host.
        host: HostId,
        /// Number of the phase, from 0.
        phase: u32,
        /// When it was to begin, and when it did.
        start: PhaseStart,
    },
    /// A host is lost. What it sent before is kept.
    Lost(HostId, HostLoss),
    /// The conversations are over.
    Finished,
}

/// Round trips before a plan is sent.
const GREETING_TRIPS: usize = 8;

/// Time between pings while jobs run.
const PING_INTERVAL: Duration = Duration::from_secs(1);

/// The state of the coordinator's end.
#[derive(Debug)]
pub struct Coordinator {
    settings: CoordinatorSettings,
    /// Version of the program, as `--version` prints it.
    program: String,
    plans: Vec<PlanText>,
    hosts: Vec<Host>,
    /// The run is being ended.
    is_stopping: bool,
    is_finished: bool,
}

impl Coordinator {
    /// Greets all hosts, of which each gets a plan of its own, and has to prove what its challenge asks. `program` is the version as
    /// `--version` prints it.
    pub fn new(
        settings: CoordinatorSettings,
        program: &str,
        hosts: Vec<(PlanText, Option<Challenge>)>,
        now: ClockTime,
        actions: &mut Vec<CoordinatorAction>,
    ) -> Self {
        let program = program.to_owned();
        let (plans, challenges): (Vec<PlanText>, Vec<Option<Challenge>>) = hosts.into_iter().unzip();
        for (at, challenge) in challenges.iter().enumerate() {
            let nonce = challenge.as_ref().map(|challenge| challenge.nonce);
            let hello = CoordinatorHello { protocol: PROTOCOL, program: program.clone(), nonce };
            actions.push(CoordinatorAction::Send(HostId(at), ToAgent::Hello(hello)));
        }
        let hosts = challenges.into_iter().map(|challenge| Host::new(challenge, now)).collect();
        Coordinator { settings, program, plans, hosts, is_stopping: false, is_finished: false }
    }

    /// Takes an input at the time `now` of the coordinator's clock. What is to be done is appended to `actions`; after
    /// [`CoordinatorAction::Finished`] there is nothing more.
    pub fn take(&mut self, input: CoordinatorInput, now: ClockTime, actions: &mut Vec<CoordinatorAction>) {
        if self.is_finished {
            return;
        }
        match input {
            CoordinatorInput::Message(host, message) => self.hear(host, message, now, actions),
            CoordinatorInput::Disconnected(id, reason) => {
                let has_greeted = self.hosts.get(id.0).is_some_and(|host| host.stage != Stage::Greeting);
                let loss = if has_greeted { HostLoss::Disconnected } else { HostLoss::NotStarted };
                self.lose(id, loss(reason), actions);
            }
            CoordinatorInput::Alive(host) => self.note_life(host, now),
            CoordinatorInput::User(UserRequest::Stop) if self.is_stopping => self.abandon(actions),
            CoordinatorInput::User(UserRequest::Stop) => self.stop("terminated", actions),
            CoordinatorInput::User(UserRequest::End { reason }) => {
                for (at, _) in self.hosts.iter().enumerate().filter(|(_, host)| host.runs()) {
                    let stop = ToAgent::Stop { reason: reason.clone(), early: true };
                    actions.push(CoordinatorAction::Send(HostId(at), stop));
                }
            }
            CoordinatorInput::User(UserRequest::Trigger { command }) => {
                for (at, _) in self.hosts.iter().enumerate().filter(|(_, host)| host.runs()) {
                    let trigger = ToAgent::Trigger { command: command.clone() };
                    actions.push(CoordinatorAction::Send(HostId(at), trigger));
                }
            }
            CoordinatorInput::Tick => self.look_at_time(now, actions),
        }
        self.go_on(now, actions);
    }

    fn hear(
        &mut self,
        id: HostId,
        message: ToCoordinator,
        now: ClockTime,
        actions: &mut Vec<CoordinatorAction>,
    ) {
        let Some(host) = self.hosts.get_mut(id.0) else { return };
        host.last_heard = now;
        match (message, host.stage) {
            (_, Stage::Lost | Stage::Ended | Stage::Refused) | (ToCoordinator::Unknown, _) => {}
            (ToCoordinator::Hello(theirs), Stage::Greeting) => {
                self.greet(id, theirs.harmless(), now, actions);
            }
            (ToCoordinator::Proof { proof }, Stage::Proving(greetings)) => {
                self.check_proof(id, &greetings, &proof, now, actions);
            }
            (ToCoordinator::Denied, Stage::Proving(_)) => self.lose(id, HostLoss::OtherToken, actions),
            (ToCoordinator::Pong { sent, answered }, stage)
                if !matches!(stage, Stage::Greeting | Stage::Proving(_)) =>
            {
                host.trips.add(sent, answered, now);
                if stage == Stage::Measuring && host.trips.len() < GREETING_TRIPS {
                    self.ping(id, now, actions);
                } else if stage == Stage::Measuring {
                    host.stage = Stage::Checking;
                    let offset = host.trips.offset(now);
                    actions.extend(offset.map(|offset| CoordinatorAction::Measured(id, offset)));
                    let plan = std::mem::take(&mut self.plans[id.0]);
                    let plan = PlanText { only_check: self.settings.only_check, ..plan };
                    actions.push(CoordinatorAction::Send(id, ToAgent::Plan(plan)));
                }
            }
            (message @ ToCoordinator::Checked { .. }, Stage::Checking) => {
                host.stage = Stage::Checked;
                actions.push(CoordinatorAction::Deliver(id, message));
            }
            (message @ ToCoordinator::Refused { .. }, Stage::Checking) => {
                host.stage = Stage::Refused;
                actions.push(CoordinatorAction::Deliver(id, message));
                if self.settings.refusal_ends_run {
                    self.stop("a host cannot run its jobs", actions);
                }
            }
            (ToCoordinator::Ready { phase }, Stage::Running)
                if host.phase.map_or(0, |last| last + 1) == phase =>
            {
                host.stage = Stage::Ready(phase);
            }
            (ToCoordinator::Started { phase, at }, Stage::Running) if host.phase == Some(phase) => {
                let start = host.phase_start(at, now);
                actions.extend(start.map(|start| CoordinatorAction::Began { host: id, phase, start }));
            }
            (message @ ToCoordinator::Text { .. }, Stage::Checking | Stage::Checked) => {
                actions.push(CoordinatorAction::Deliver(id, message));
            }
            (ToCoordinator::Snapshot { at, result }, _) if host.runs() => {
                // On the time axis that all hosts share.
                if let Some(offset) = host.trips.offset(now) {
                    let message = ToCoordinator::Snapshot { at: offset.to_ours(at), result };
                    actions.push(CoordinatorAction::Deliver(id, message));
                }
            }
            (
                message @ (ToCoordinator::Text { .. }
                | ToCoordinator::Interval { .. }
                | ToCoordinator::Log { .. }
                | ToCoordinator::State { .. }
                | ToCoordinator::Interim { .. }
                | ToCoordinator::Result { .. }),
                _,
            ) if host.runs() => actions.push(CoordinatorAction::Deliver(id, message)),
            (
                message @ ToCoordinator::Ended { .. },
                Stage::Checking | Stage::Checked | Stage::Running | Stage::Ready(_),
            ) => {
                host.stage = Stage::Ended;
                actions.push(CoordinatorAction::Deliver(id, message));
            }
            (message, _) => self.lose(id, HostLoss::OutOfTurn(message.name()), actions),
        }
    }

    fn note_life(&mut self, id: HostId, now: ClockTime) {
        if let Some(host) = self.hosts.get_mut(id.0)
            // A stranger has to come to the point.
            && !matches!(host.stage, Stage::Greeting | Stage::Proving(_))
        {
            host.last_heard = now;
        }
    }

    fn greet(
        &mut self,
        id: HostId,
        theirs: AgentHello,
        now: ClockTime,
        actions: &mut Vec<CoordinatorAction>,
    ) {
        let host = &mut self.hosts[id.0];
        if let Some(loss) = other_version(&self.program, &theirs) {
            return self.lose(id, loss, actions);
        }
        match (&host.challenge, theirs.nonce) {
            (None, None) => self.measure(id, theirs, now, actions),
            (None, Some(_)) => self.lose(id, HostLoss::TokenWanted, actions),
            (Some(_), None) => self.lose(id, HostLoss::NoToken, actions),
            (Some(challenge), Some(nonce)) => {
                let greetings =
                    Greetings { coordinator: (PROTOCOL, challenge.nonce), agent: (theirs.protocol, nonce) };
                let proof = challenge.proof(Role::Coordinator, &greetings);
                actions.push(CoordinatorAction::Send(id, ToAgent::Proof { proof }));
                (host.stage, host.hello) = (Stage::Proving(greetings), Some(theirs));
            }
        }
    }

    fn check_proof(
        &mut self,
        id: HostId,
        greetings: &Greetings,
        proof: &Proof,
        now: ClockTime,
        actions: &mut Vec<CoordinatorAction>,
    ) {
        let host = &mut self.hosts[id.0];
        let is_proved =
            host.challenge.as_ref().is_some_and(|ours| ours.is_proved(Role::Agent, greetings, proof));
        match host.hello.take().filter(|_| is_proved) {
            Some(hello) => self.measure(id, hello, now, actions),
            None => self.lose(id, HostLoss::OtherToken, actions),
        }
    }

    /// The host is who it should be: its clock is next.
    fn measure(
        &mut self,
        id: HostId,
        hello: AgentHello,
        now: ClockTime,
        actions: &mut Vec<CoordinatorAction>,
    ) {
        self.hosts[id.0].stage = Stage::Measuring;
        actions.push(CoordinatorAction::Greeted(id, hello));
        self.ping(id, now, actions);
    }

    fn ping(&mut self, id: HostId, now: ClockTime, actions: &mut Vec<CoordinatorAction>) {
        self.hosts[id.0].last_ping = now;
        actions.push(CoordinatorAction::Send(id, ToAgent::Ping { sent: now }));
    }

    fn look_at_time(&mut self, now: ClockTime, actions: &mut Vec<CoordinatorAction>) {
        for at in 0..self.hosts.len() {
            let (id, host) = (HostId(at), &self.hosts[at]);
            let silence = now.since(host.last_heard);
            let greets = matches!(host.stage, Stage::Greeting | Stage::Proving(_));
            let allowed = if greets { self.settings.greeting_timeout } else { SILENCE_TIMEOUT };
            match host.stage {
                Stage::Lost => {}
                _ if silence >= allowed => self.lose(id, HostLoss::Silent(allowed), actions),
                Stage::Greeting | Stage::Proving(_) => {}
                // Also hosts that have ended: they leave when nobody pings them any more.
                _ if now.since(host.last_ping) >= PING_INTERVAL => self.ping(id, now, actions),
                _ => {}
            }
        }
    }

    fn lose(&mut self, id: HostId, loss: HostLoss, actions: &mut Vec<CoordinatorAction>) {
        let Some(host) = self.hosts.get_mut(id.0) else { return };
        let was_over = host.is_over();
        if host.stage == Stage::Lost {
            return;
        }
        // A host that has sent everything may leave.
        if !was_over {
            host.stage = Stage::Lost;
            actions.push(CoordinatorAction::Lost(id, loss));
        }
        actions.push(CoordinatorAction::Close(id));
        if !was_over && self.settings.require_all {
            self.stop("a host is lost", actions);
        }
    }

    fn stop(&mut self, reason: &str, actions: &mut Vec<CoordinatorAction>) {
        if self.is_stopping {
            return;
        }
        self.is_stopping = true;
        for (at, host) in self.hosts.iter_mut().enumerate().filter(|(_, host)| !host.is_over()) {
            if matches!(host.stage, Stage::Greeting | Stage::Proving(_) | Stage::Measuring) {
                host.stage = Stage::Ended;
            } else {
                let stop = ToAgent::Stop { reason: reason.to_owned(), early: false };
                actions.push(CoordinatorAction::Send(HostId(at), stop));
            }
        }
    }

    /// Waits no longer for hosts that do not end.
    fn abandon(&mut self, actions: &mut Vec<CoordinatorAction>) {
        for at in (0..self.hosts.len()).filter(|&at| !self.hosts[at].is_over()).collect::<Vec<_>>() {
            self.lose(HostId(at), HostLoss::Abandoned, actions);
        }
    }
}
