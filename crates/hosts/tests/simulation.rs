//! Thousands of whole conversations, without sockets, threads and clocks: hosts with clocks of their own behind links with delays, which
//! are cut, and agents that refuse, hang and die. Everything follows from a seed, which a failure names.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use ferrio_hosts::{
    Agent, AgentAction, AgentHello, AgentInput, Challenge, ClockTime, Coordinator, CoordinatorAction,
    CoordinatorInput, CoordinatorSettings, HostId, HostLoss, Nonce, PROTOCOL, PlanText, ProtocolVersion,
    ToAgent, ToCoordinator, Token, UserRequest,
};
use serde_json::Value;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

/// xorshift64*, enough to choose.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) % limit
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A clock that is ahead of the true time, and fast or slow by up to 50 ppm.
#[derive(Clone, Copy)]
struct Clock {
    ahead: u64,
    /// In ppm, plus 1 000 000.
    rate: u64,
}

impl Clock {
    fn drawn(dice: &mut Dice) -> Clock {
        Clock { ahead: dice.below(1_000_000 * SECOND), rate: 1_000_000 + dice.below(100) - 50 }
    }

    fn at(self, time: u64) -> ClockTime {
        ClockTime(self.ahead + u64::try_from(u128::from(time) * u128::from(self.rate) / 1_000_000).unwrap())
    }

    /// The true time at which the clock shows `reading`.
    fn when(self, reading: ClockTime) -> u64 {
        let shown = u128::from(reading.0.saturating_sub(self.ahead));
        u64::try_from(shown * 1_000_000 / u128::from(self.rate)).unwrap()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// The agent and its jobs die, and the connection with them.
    Dies,
    /// The cable is cut: nobody is told.
    Silence,
    /// The connection is closed, and both ends see it.
    Cut,
    /// The agent hangs: it reads nothing and says nothing.
    Hangs,
}

#[derive(Debug)]
enum Happening {
    ToAgent(usize, ToAgent),
    ToCoordinator(usize, ToCoordinator),
    AgentSeesEnd(usize),
    CoordinatorSeesEnd(usize),
    /// The run of an agent says something, if it is still the same run (it has a new number after each stop).
    Run(usize, u32, ToCoordinator),
    AgentTick(usize),
    CoordinatorTick,
    Fault(usize, Fault),
    CoordinatorDies,
    UserStops,
}

/// Which tokens the two ends of a conversation have.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tokens {
    /// None, or the same.
    Fit,
    OnlyAgent,
    OnlyCoordinator,
    Different,
}

impl Tokens {
    fn drawn(dice: &mut Dice, coordinator_has_one: bool) -> Tokens {
        match dice.below(100) {
            0..=1 if coordinator_has_one => Tokens::OnlyCoordinator,
            2..=3 if coordinator_has_one => Tokens::Different,
            0..=3 => Tokens::OnlyAgent,
            _ => Tokens::Fit,
        }
    }

    /// The token of the agent.
    fn of_agent(self, coordinator_has_one: bool) -> Option<&'static [u8]> {
        match self {
            Tokens::Fit => coordinator_has_one.then_some(TOKEN),
            Tokens::OnlyAgent => Some(TOKEN),
            Tokens::OnlyCoordinator => None,
            Tokens::Different => Some(b"another-token-16"),
        }
    }

    fn loss(self) -> Option<HostLoss> {
        match self {
            Tokens::Fit => None,
            Tokens::OnlyAgent => Some(HostLoss::TokenWanted),
            Tokens::OnlyCoordinator => Some(HostLoss::NoToken),
            Tokens::Different => Some(HostLoss::OtherToken),
        }
    }
}

const TOKEN: &[u8] = b"one-token-for-all";

fn challenge(dice: &mut Dice, token: Option<&[u8]>) -> Option<Challenge> {
    let nonce = Nonce(std::array::from_fn(|_| dice.below(256) as u8));
    token.map(|token| Challenge::new(Token::new(token).unwrap(), nonce))
}

struct Host {
    agent: Agent,
    tokens: Tokens,
    clock: Clock,
    /// Longest way of a message, ns.
    delay: u64,
    /// When the last message of each direction arrives: none overtakes another.
    arrival: [u64; 2],
    is_connected: bool,
    /// A fault, and when.
    fault: Option<(Fault, u64)>,
    refuses: bool,
    phases: u32,
    run: u32,
    stopped: Option<u64>,
    exited: Option<(u64, u8)>,
    /// True times of start and end of each phase.
    starts: Vec<u64>,
    ends: Vec<u64>,
    has_ended: bool,
}

/// What came out of a conversation.
#[derive(Default)]
struct Outcome {
    finished: Option<u64>,
    lost: Vec<(usize, HostLoss)>,
    ended: Vec<usize>,
    refused: Vec<usize>,
    /// Phases that began, over all hosts.
    began: usize,
    problems: Vec<String>,
}

struct World {
    dice: Dice,
    time: u64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    happenings: Vec<Option<Happening>>,
    hosts: Vec<Host>,
    coordinator: Coordinator,
    clock: Clock,
    coordinator_died: Option<u64>,
    user_stopped: Option<u64>,
    settings: CoordinatorSettings,
    outcome: Outcome,
}

fn hello(protocol: ProtocolVersion) -> AgentHello {
    AgentHello { protocol, ..AgentHello::new("ferrio 0.1.0", "h", "x86_64") }
}

impl World {
    fn new(seed: u64) -> World {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let settings = CoordinatorSettings {
            require_all: dice.happens(30),
            only_check: dice.happens(10),
            refusal_ends_run: dice.happens(50),
            common_phases: true,
            greeting_timeout: Duration::from_secs(10),
        };
        let number = 1 + dice.below(8) as usize;
        let clock = Clock::drawn(&mut dice);
        let phases = 1 + dice.below(4) as u32;
        let has_token = dice.happens(50);
        let hosts: Vec<Host> = (0..number)
            .map(|_| {
                let tokens = Tokens::drawn(&mut dice, has_token);
                let asked = challenge(&mut dice, tokens.of_agent(has_token));
                let its = Clock::drawn(&mut dice);
                let protocol =
                    if dice.happens(1) { ProtocolVersion { major: 2, minor: 0 } } else { PROTOCOL };
                Host {
                    agent: Agent::new(hello(protocol), asked, its.at(0)),
                    tokens,
                    clock: its,
                    delay: [10_000, MS, 40 * MS, 300 * MS][dice.below(4) as usize],
                    arrival: [0; 2],
                    is_connected: true,
                    fault: (protocol != PROTOCOL).then_some((Fault::Dies, 0)),
                    refuses: dice.happens(2),
                    // Some hosts have fewer phases than others.
                    phases: if dice.happens(80) { phases } else { 1 + dice.below(u64::from(phases)) as u32 },
                    run: 0,
                    stopped: None,
                    exited: None,
                    starts: Vec::new(),
                    ends: Vec::new(),
                    has_ended: false,
                }
            })
            .collect();
        let mut actions = Vec::new();
        let token = has_token.then_some(TOKEN);
        let plans = (0..number).map(|_| (PlanText::default(), challenge(&mut dice, token))).collect();
        let coordinator = Coordinator::new(settings, "ferrio 0.1.0", plans, clock.at(0), &mut actions);
        let mut world = World {
            dice,
            time: 0,
            queue: BinaryHeap::new(),
            happenings: Vec::new(),
            hosts,
            coordinator,
            clock,
            coordinator_died: None,
            user_stopped: None,
            settings,
            outcome: Outcome::default(),
        };
        for at in 0..number {
            world.later(0, Happening::AgentTick(at));
            if world.hosts[at].fault.is_none() && world.dice.happens(12) {
                let faults = [Fault::Dies, Fault::Silence, Fault::Cut, Fault::Hangs];
                let fault = faults[world.dice.below(4) as usize];
                let when = world.dice.below(40 * SECOND);
                world.later(when, Happening::Fault(at, fault));
            }
        }
        if world.dice.happens(10) {
            let when = world.dice.below(40 * SECOND);
            world.later(when, Happening::CoordinatorDies);
        }
        if world.dice.happens(10) {
            let when = world.dice.below(40 * SECOND);
            world.later(when, Happening::UserStops);
        }
        // A user whose patience ends.
        world.later(200 * SECOND, Happening::UserStops);
        world.later(210 * SECOND, Happening::UserStops);
        world.later(0, Happening::CoordinatorTick);
        world.coordinate(actions);
        world
    }

    fn later(&mut self, delay: u64, happening: Happening) {
        self.queue.push(Reverse((self.time + delay, self.happenings.len() as u64)));
        self.happenings.push(Some(happening));
    }

    /// Puts a message on its way. Direction 0 is to the agent.
    fn send(&mut self, host: usize, direction: usize, happening: Happening) {
        let delay = self.hosts[host].delay;
        let arrival = self.time + self.dice.below(delay);
        let arrival = arrival.max(self.hosts[host].arrival[direction]);
        self.hosts[host].arrival[direction] = arrival;
        self.later(arrival - self.time, happening);
    }

    /// Closes the connection of a host; both ends are told after what is on its way.
    fn close(&mut self, host: usize) {
        if std::mem::take(&mut self.hosts[host].is_connected) {
            self.send(host, 0, Happening::AgentSeesEnd(host));
            self.send(host, 1, Happening::CoordinatorSeesEnd(host));
        }
    }

    fn is_cut_off(&self, host: usize) -> bool {
        self.hosts[host].fault.is_some_and(|(fault, _)| fault == Fault::Silence)
    }

    fn agent_is_dead(&self, host: usize) -> bool {
        let host = &self.hosts[host];
        host.exited.is_some() || matches!(host.fault, Some((Fault::Dies | Fault::Hangs, at)) if at > 0)
    }

    fn coordinate(&mut self, actions: Vec<CoordinatorAction>) {
        for action in actions {
            match action {
                CoordinatorAction::Send(HostId(host), message) => {
                    if self.hosts[host].is_connected {
                        self.send(host, 0, Happening::ToAgent(host, message));
                    }
                }
                CoordinatorAction::Close(HostId(host)) => self.close(host),
                CoordinatorAction::Greeted(HostId(host), _) => {
                    if self.hosts[host].tokens != Tokens::Fit {
                        self.wrong(format!("the coordinator trusts {host} without its token"));
                    }
                }
                CoordinatorAction::Measured(HostId(host), offset) => {
                    let theirs = self.hosts[host].clock.at(self.time);
                    let error = offset.to_theirs(self.clock.at(self.time)).0.abs_diff(theirs.0);
                    if Duration::from_nanos(error) > offset.bound {
                        self.wrong(format!(
                            "the clock of host {host} is off by {error} ns, beyond {offset:?}"
                        ));
                    }
                }
                CoordinatorAction::Deliver(HostId(host), message) => match message {
                    ToCoordinator::Ended { .. } => self.outcome.ended.push(host),
                    ToCoordinator::Refused { .. } => self.outcome.refused.push(host),
                    _ => {}
                },
                CoordinatorAction::Began { host: HostId(host), phase, start } => {
                    self.outcome.began += 1;
                    let truth = self.hosts[host].starts[phase as usize];
                    let error = self.clock.at(truth).0.abs_diff(start.reached.0);
                    if Duration::from_nanos(error) > start.bound {
                        self.wrong(format!("host {host}, phase {phase}: start off by {error} ns, {start:?}"));
                    }
                }
                CoordinatorAction::Lost(HostId(host), loss) => self.outcome.lost.push((host, loss)),
                CoordinatorAction::Finished => self.outcome.finished = Some(self.time),
            }
        }
    }

    fn wrong(&mut self, what: String) {
        self.outcome.problems.push(what);
    }

    fn tell_agent(&mut self, host: usize, input: AgentInput) {
        if self.agent_is_dead(host) {
            return;
        }
        let mut actions = Vec::new();
        let now = self.hosts[host].clock.at(self.time);
        self.hosts[host].agent.take(input, now, &mut actions);
        for action in actions {
            match action {
                AgentAction::Send(message) => {
                    if self.hosts[host].is_connected && !self.is_cut_off(host) {
                        self.send(host, 1, Happening::ToCoordinator(host, message));
                    }
                }
                AgentAction::Trust if self.hosts[host].tokens.of_agent(false).is_some() => {
                    self.wrong(format!("agent {host} trusts a coordinator without its token"));
                }
                AgentAction::Trust => {}
                AgentAction::Check(_) => self.check(host),
                AgentAction::Prepare => {
                    let (run, delay) = (self.hosts[host].run, self.dice.below(3 * SECOND));
                    self.later(delay, Happening::Run(host, run, ToCoordinator::Ready { phase: 0 }));
                }
                AgentAction::Begin { phase, at } => self.begin(host, phase, at),
                AgentAction::StopJobs { .. } | AgentAction::Trigger { .. } => {
                    self.hosts[host].run += 1;
                    self.hosts[host].stopped.get_or_insert(self.time);
                    let run = self.hosts[host].run;
                    // Some jobs do not end.
                    if !self.dice.happens(10) {
                        let delay = self.dice.below(3 * SECOND);
                        self.later(delay, Happening::Run(host, run, ToCoordinator::Ended { status: 128 }));
                    }
                }
                AgentAction::Exit { status } => {
                    self.hosts[host].exited = Some((self.time, status));
                    self.close(host);
                }
            }
        }
    }

    fn check(&mut self, host: usize) {
        let delay = self.dice.below(3 * SECOND);
        let (run, phases) = (self.hosts[host].run, self.hosts[host].phases);
        let answer = if self.hosts[host].refuses {
            ToCoordinator::Refused { status: 1 }
        } else {
            ToCoordinator::Checked { plan: Value::Null, phases }
        };
        self.later(delay, Happening::Run(host, run, answer));
    }

    /// A phase begins when the host's clock shows `at`, or now if that is over, and ends some time later.
    fn begin(&mut self, host: usize, phase: u32, at: ClockTime) {
        let start = self.hosts[host].clock.when(at).max(self.time) - self.time;
        let run = self.hosts[host].run;
        let at = self.hosts[host].clock.at(self.time + start);
        self.later(start, Happening::Run(host, run, ToCoordinator::Started { phase, at }));
        let lasts = self.dice.below(12 * SECOND);
        let interval = ToCoordinator::Interval { at, live: Value::Null };
        self.later(start + lasts / 2, Happening::Run(host, run, interval));
        if phase + 1 < self.hosts[host].phases {
            self.later(start + lasts, Happening::Run(host, run, ToCoordinator::Ready { phase: phase + 1 }));
        } else {
            let result = ToCoordinator::Result { result: String::new() };
            self.later(start + lasts, Happening::Run(host, run, result));
            self.later(start + lasts + 1, Happening::Run(host, run, ToCoordinator::Ended { status: 0 }));
        }
    }

    /// The run of a host says something: what the simulation knows of it is kept.
    fn note(&mut self, host: usize, message: &ToCoordinator) {
        let time = self.time;
        match message {
            ToCoordinator::Started { phase, .. } => {
                self.hosts[host].starts.push(time);
                // Hosts whose loss the coordinator may have noticed do not count.
                let too_early: Vec<usize> = (0..self.hosts.len())
                    .filter(|&other| {
                        let other = &self.hosts[other];
                        let is_well =
                            other.fault.is_none() && other.exited.is_none() && other.stopped.is_none();
                        is_well && !other.has_ended && other.ends.len() < *phase as usize
                    })
                    .collect();
                if !too_early.is_empty() {
                    self.wrong(format!(
                        "host {host} begins phase {phase} before {too_early:?} have ended the last"
                    ));
                }
            }
            ToCoordinator::Ready { phase: 1.. } => self.hosts[host].ends.push(time),
            ToCoordinator::Ended { .. } | ToCoordinator::Refused { .. } => self.hosts[host].has_ended = true,
            _ => {}
        }
    }

    fn step(&mut self, happening: Happening) {
        match happening {
            Happening::ToAgent(host, message) if !self.is_cut_off(host) => {
                self.tell_agent(host, AgentInput::Message(message));
            }
            Happening::AgentSeesEnd(host) if !self.is_cut_off(host) => {
                self.tell_agent(host, AgentInput::Disconnected);
            }
            Happening::ToCoordinator(host, message) if !self.is_cut_off(host) => {
                self.tell_coordinator(CoordinatorInput::Message(HostId(host), message));
            }
            Happening::CoordinatorSeesEnd(host) if !self.is_cut_off(host) => {
                self.tell_coordinator(CoordinatorInput::Disconnected(HostId(host), "cut".into()));
            }
            Happening::Run(host, run, message)
                if run == self.hosts[host].run && !self.agent_is_dead(host) =>
            {
                self.note(host, &message);
                self.tell_agent(host, AgentInput::Run(message));
            }
            Happening::AgentTick(host) if !self.agent_is_dead(host) => {
                self.tell_agent(host, AgentInput::Tick);
                self.later(SECOND / 2, Happening::AgentTick(host));
            }
            Happening::CoordinatorTick
                if self.outcome.finished.is_none() && self.coordinator_died.is_none() =>
            {
                self.tell_coordinator(CoordinatorInput::Tick);
                self.later(100 * MS, Happening::CoordinatorTick);
            }
            Happening::Fault(host, fault) if self.hosts[host].exited.is_none() => {
                self.hosts[host].fault = Some((fault, self.time.max(1)));
                if matches!(fault, Fault::Dies | Fault::Cut) {
                    self.close(host);
                }
            }
            Happening::CoordinatorDies if self.outcome.finished.is_none() => {
                self.coordinator_died = Some(self.time);
                (0..self.hosts.len()).for_each(|host| self.close(host));
            }
            Happening::UserStops if self.outcome.finished.is_none() => {
                self.user_stopped = Some(self.time);
                self.tell_coordinator(CoordinatorInput::User(UserRequest::Stop));
            }
            _ => {}
        }
    }

    fn tell_coordinator(&mut self, input: CoordinatorInput) {
        if self.coordinator_died.is_none() {
            let mut actions = Vec::new();
            self.coordinator.take(input, self.clock.at(self.time), &mut actions);
            self.coordinate(actions);
        }
    }

    /// Runs until nothing happens any more, and judges.
    fn run(&mut self) -> Vec<String> {
        while let Some(Reverse((time, at))) = self.queue.pop() {
            if time > 600 * SECOND {
                self.wrong("it does not end".into());
                break;
            }
            self.time = time;
            let happening = self.happenings[at as usize].take().expect("each happens once");
            self.step(happening);
        }
        self.judge()
    }

    fn judge(&self) -> Vec<String> {
        let outcome = &self.outcome;
        let mut problems = outcome.problems.clone();
        if outcome.finished.is_none() && self.coordinator_died.is_none() {
            problems.push("the coordinator does not finish".into());
        }
        for (at, host) in self.hosts.iter().enumerate() {
            let lost: Vec<&HostLoss> =
                outcome.lost.iter().filter(|(lost, _)| *lost == at).map(|(_, loss)| loss).collect();
            if lost.len() > 1 || (!lost.is_empty() && outcome.ended.contains(&at)) {
                problems.push(format!("host {at} is lost {lost:?} and ended"));
            }
            // A job that does not end after a stop is a host that never ends: nothing else keeps the coordinator from its end.
            if host.fault.is_none()
                && !lost.is_empty()
                && self.user_stopped.is_none()
                && host.stopped.is_none()
                && host.tokens == Tokens::Fit
            {
                problems.push(format!("host {at} is well and lost: {lost:?}"));
            }
            if host.tokens != Tokens::Fit && host.fault.is_none() && !lost.is_empty() {
                let expected = host.tokens.loss();
                if lost != expected.iter().collect::<Vec<_>>() {
                    problems.push(format!("host {at} has {:?}, and is lost: {lost:?}", host.tokens));
                }
            }
            if let Some((fault, _)) = host.fault
                && lost.is_empty()
                && self.coordinator_died.is_none()
                && !outcome.ended.contains(&at)
                && !outcome.refused.contains(&at)
                && !self.settings.only_check
                && self.user_stopped.is_none()
                && (outcome.refused.is_empty() || !self.settings.refusal_ends_run)
                && !self.settings.require_all
            {
                problems.push(format!("host {at} has {fault:?} and nobody says so"));
            }
            let is_gone = matches!(host.fault, Some((Fault::Dies | Fault::Hangs, 1..)));
            match host.exited {
                None if !is_gone => problems.push(format!("agent {at} does not exit")),
                // The jobs of agents end within 5 s of the coordinator's death.
                Some((when, _))
                    if host.fault.is_none()
                        && self.coordinator_died.is_some_and(|died| when > died + 5 * SECOND) =>
                {
                    problems.push(format!("agent {at} outlives the coordinator"));
                }
                _ => {}
            }
        }
        problems
    }
}

/// What all conversations together have seen, so that none of it can stay out unnoticed.
#[derive(Debug, Default)]
struct Seen {
    phases: usize,
    whole_runs: usize,
    refusals: usize,
    stops: usize,
    dead_coordinators: usize,
    disconnected: usize,
    silent: usize,
    other_versions: usize,
    abandoned: usize,
    tokens_wanted: usize,
    no_tokens: usize,
    other_tokens: usize,
}

impl Seen {
    fn add(&mut self, world: &World) {
        let outcome = &world.outcome;
        self.phases += outcome.began;
        self.whole_runs +=
            usize::from(outcome.ended.len() == world.hosts.len() && world.user_stopped.is_none());
        self.refusals += outcome.refused.len();
        self.stops += usize::from(world.user_stopped.is_some());
        self.dead_coordinators += usize::from(world.coordinator_died.is_some());
        for (_, loss) in &outcome.lost {
            *match loss {
                HostLoss::NotStarted(_) | HostLoss::Disconnected(_) => &mut self.disconnected,
                HostLoss::Silent(_) => &mut self.silent,
                HostLoss::OtherVersion { .. } => &mut self.other_versions,
                HostLoss::Abandoned => &mut self.abandoned,
                HostLoss::TokenWanted => &mut self.tokens_wanted,
                HostLoss::NoToken => &mut self.no_tokens,
                HostLoss::OtherToken => &mut self.other_tokens,
                HostLoss::OutOfTurn(name) => panic!("{name} is out of turn"),
            } += 1;
        }
    }
}

#[test]
fn every_conversation_ends_with_the_truth() {
    let mut seen = Seen::default();
    for seed in 1..=3_000 {
        let mut world = World::new(seed);
        let problems = world.run();
        assert!(problems.is_empty(), "seed {seed}: {problems:#?}");
        seen.add(&world);
    }
    let Seen { phases, whole_runs, refusals, stops, dead_coordinators, .. } = seen;
    let Seen { disconnected, silent, other_versions, abandoned, .. } = seen;
    let Seen { tokens_wanted, no_tokens, other_tokens, .. } = seen;
    let losses = [disconnected, silent, other_versions, abandoned, tokens_wanted, no_tokens, other_tokens];
    let losses = losses.into_iter().min();
    let least = [refusals, stops, dead_coordinators].into_iter().chain(losses).min();
    assert!(phases > 10_000 && whole_runs > 1_000 && least > Some(20), "{seen:?}");
}
