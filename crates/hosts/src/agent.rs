//! The agent: one end of a conversation, on the host whose storage is measured.

use std::time::Duration;

use crate::token::{Greetings, Role};
use crate::{
    AgentHello, Challenge, ClockTime, CoordinatorHello, PROTOCOL, PlanText, Proof, ToAgent, ToCoordinator,
};

/// Something that happens to the agent.
#[derive(Clone, Debug)]
pub enum AgentInput {
    /// A message of the coordinator.
    Message(ToAgent),
    /// The connection to the coordinator ended.
    Disconnected,
    /// Something of the coordinator has come, but no whole message.
    Alive,
    /// The run on this host has something to say; [`ToCoordinator::Ended`] and [`ToCoordinator::Refused`] are its last words.
    Run(ToCoordinator),
    /// Time has passed. Wanted at least once a second.
    Tick,
}

/// Something for the agent's surroundings to do.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentAction {
    /// Send a message.
    Send(ToCoordinator),
    /// The coordinator may send long messages from now on.
    Trust,
    /// Plan and check the jobs, then say [`ToCoordinator::Checked`] or [`ToCoordinator::Refused`].
    Check(PlanText),
    /// Lay out files, set up the jobs of the first phase, and say [`ToCoordinator::Ready`].
    Prepare,
    /// Begin a phase at a time of this host's clock.
    Begin {
        /// Number of the phase, from 0.
        phase: u32,
        /// When.
        at: ClockTime,
    },
    /// End the jobs as a signal does, or without one, and say [`ToCoordinator::Ended`] at last.
    StopJobs {
        /// For the user.
        reason: String,
        /// Without a signal.
        early: bool,
    },
    /// Save the verify states of all jobs, end them, say the states and run the command.
    Trigger {
        /// For a shell.
        command: Option<String>,
    },
    /// Exit with this status, and end what still runs.
    Exit {
        /// 0 if the conversation ended in order.
        status: u8,
    },
}

/// How long the jobs of an agent that has lost its coordinator may take to end. Within this time and the one until it notices, storage is
/// loaded by a run that nobody reads.
const ENDING_TIMEOUT: Duration = Duration::from_secs(4);

/// How long a coordinator may be silent. It sends a ping every second.
pub(crate) const SILENCE_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a coordinator may take to prove that it has the token. A stranger does not hold a process and a connection for longer.
const PROVING_TIMEOUT: Duration = Duration::from_secs(10);

/// Where the agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nobody has greeted.
    Greeting,
    /// The coordinator has to prove that it has the token.
    Proving(Greetings),
    /// No plan yet.
    Idle,
    /// Its run has begun to check the plan, and has not said its last word.
    Busy,
    /// The run has said its last word. The agent stays: launchers such as Open MPI end all ranks when one leaves with an error.
    Ended,
    /// The coordinator is lost since then, and the run has not ended.
    Orphaned(ClockTime),
    /// It exits.
    Gone,
}

/// The state of the agent's end.
#[derive(Debug)]
pub struct Agent {
    hello: AgentHello,
    /// What the coordinator has to prove; none if whoever can talk to this agent may.
    challenge: Option<Challenge>,
    state: State,
    begin: ClockTime,
    last_heard: ClockTime,
}

impl Agent {
    /// An agent that waits for a coordinator to greet, and to prove what the challenge asks.
    #[must_use]
    pub fn new(hello: AgentHello, challenge: Option<Challenge>, now: ClockTime) -> Self {
        let hello = AgentHello { nonce: challenge.as_ref().map(|challenge| challenge.nonce), ..hello };
        Agent { hello, challenge, state: State::Greeting, begin: now, last_heard: now }
    }

    /// Takes an input at the time `now` of this host's clock. What is to be done is appended to `actions`.
    pub fn take(&mut self, input: AgentInput, now: ClockTime, actions: &mut Vec<AgentAction>) {
        match input {
            AgentInput::Message(message) => {
                self.last_heard = now;
                self.answer(message, now, actions);
            }
            AgentInput::Disconnected => self.lose("the connection to the coordinator ended", now, actions),
            // A stranger has to come to the point.
            AgentInput::Alive if matches!(self.state, State::Greeting | State::Proving(_)) => {}
            AgentInput::Alive => self.last_heard = now,
            AgentInput::Run(message) => self.pass_on(message, actions),
            AgentInput::Tick => match self.state {
                State::Orphaned(since) if now.since(since) >= ENDING_TIMEOUT => self.exit(1, actions),
                State::Gone | State::Orphaned(_) => {}
                State::Greeting | State::Proving(_)
                    if self.challenge.is_some() && now.since(self.begin) >= PROVING_TIMEOUT =>
                {
                    self.exit(1, actions);
                }
                _ if now.since(self.last_heard) >= SILENCE_TIMEOUT => {
                    self.lose("the coordinator is silent", now, actions);
                }
                _ => {}
            },
        }
    }

    /// Whether the coordinator is lost and the run has not ended.
    #[must_use]
    pub fn is_orphaned(&self) -> bool {
        matches!(self.state, State::Orphaned(_))
    }

    fn answer(&mut self, message: ToAgent, now: ClockTime, actions: &mut Vec<AgentAction>) {
        match (message, self.state) {
            (ToAgent::Hello(theirs), State::Greeting) => self.greet(&theirs, actions),
            (ToAgent::Proof { proof }, State::Proving(greetings)) => {
                self.check_proof(&greetings, &proof, actions)
            }
            (ToAgent::Ping { sent }, State::Idle | State::Busy | State::Ended) => {
                actions.push(AgentAction::Send(ToCoordinator::Pong { sent, answered: now }));
            }
            (ToAgent::Plan(plan), State::Idle) => {
                self.state = State::Busy;
                actions.push(AgentAction::Check(plan));
            }
            (ToAgent::Prepare, State::Busy) => actions.push(AgentAction::Prepare),
            (ToAgent::Go { phase, at }, State::Busy) => actions.push(AgentAction::Begin { phase, at }),
            (ToAgent::Stop { reason, early }, State::Busy) => {
                actions.push(AgentAction::StopJobs { reason, early });
            }
            (ToAgent::Trigger { command }, State::Busy) => actions.push(AgentAction::Trigger { command }),
            (ToAgent::Bye, State::Busy) => {
                // A plan that was only to be checked, or a run that the coordinator no longer waits for.
                let reason = "the coordinator has ended the run".into();
                actions.push(AgentAction::StopJobs { reason, early: false });
                self.exit(0, actions);
            }
            (ToAgent::Bye, State::Greeting | State::Proving(_) | State::Idle | State::Ended) => {
                self.exit(0, actions);
            }
            // Of a newer version, or overtaken by the end of the run.
            (
                ToAgent::Unknown
                | ToAgent::Prepare
                | ToAgent::Go { .. }
                | ToAgent::Stop { .. }
                | ToAgent::Trigger { .. },
                _,
            ) => {}
            (_, State::Orphaned(_) | State::Gone) => {}
            // A second greeting or plan, or a ping before the greeting: the other end is no coordinator of ours.
            (ToAgent::Hello(_) | ToAgent::Proof { .. } | ToAgent::Plan(_) | ToAgent::Ping { .. }, _) => {
                self.lose("the coordinator spoke out of turn", now, actions);
            }
        }
    }

    /// The coordinator says what is wrong, since it has the user.
    fn greet(&mut self, theirs: &CoordinatorHello, actions: &mut Vec<AgentAction>) {
        actions.push(AgentAction::Send(ToCoordinator::Hello(self.hello.clone())));
        match (&self.challenge, theirs.nonce) {
            _ if !PROTOCOL.understands(theirs.protocol) => self.exit(1, actions),
            (None, _) => self.trust(actions),
            (Some(challenge), Some(nonce)) => {
                self.state = State::Proving(Greetings {
                    coordinator: (theirs.protocol, nonce),
                    agent: (self.hello.protocol, challenge.nonce),
                });
            }
            // It has no token, and sees from our nonce that it needs one.
            (Some(_), None) => self.exit(1, actions),
        }
    }

    fn check_proof(&mut self, greetings: &Greetings, proof: &Proof, actions: &mut Vec<AgentAction>) {
        let proved =
            self.challenge.as_ref().filter(|ours| ours.is_proved(Role::Coordinator, greetings, proof));
        let Some(challenge) = proved else {
            actions.push(AgentAction::Send(ToCoordinator::Denied));
            return self.exit(1, actions);
        };
        let proof = challenge.proof(Role::Agent, greetings);
        actions.push(AgentAction::Send(ToCoordinator::Proof { proof }));
        self.trust(actions);
    }

    fn trust(&mut self, actions: &mut Vec<AgentAction>) {
        self.state = State::Idle;
        actions.push(AgentAction::Trust);
    }

    fn pass_on(&mut self, message: ToCoordinator, actions: &mut Vec<AgentAction>) {
        let is_last = matches!(message, ToCoordinator::Ended { .. } | ToCoordinator::Refused { .. });
        match self.state {
            State::Busy => {
                actions.push(AgentAction::Send(message));
                if is_last {
                    self.state = State::Ended;
                }
            }
            State::Orphaned(_) if is_last => self.exit(1, actions),
            _ => {}
        }
    }

    fn lose(&mut self, reason: &str, now: ClockTime, actions: &mut Vec<AgentAction>) {
        match self.state {
            State::Busy => {
                self.state = State::Orphaned(now);
                actions.push(AgentAction::StopJobs { reason: reason.into(), early: false });
            }
            State::Greeting | State::Proving(_) | State::Idle | State::Ended => self.exit(1, actions),
            State::Orphaned(_) | State::Gone => {}
        }
    }

    fn exit(&mut self, status: u8, actions: &mut Vec<AgentAction>) {
        self.state = State::Gone;
        actions.push(AgentAction::Exit { status });
    }
}
