//! What the coordinator knows about one host.

use std::time::Duration;

use thiserror::Error;

use crate::token::Greetings;
use crate::{AgentHello, Challenge, ClockTime, PROTOCOL, RoundTrips, ToAgent};

/// A host, by its position in the list of the run's hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub usize);

/// Why a host gives no (more) results.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostLoss {
    /// There was no word of an agent. The reason is the carrier's.
    #[error("no agent answers: {0}")]
    NotStarted(String),
    /// The connection ended. The reason is the carrier's, for example the last line of ssh.
    #[error("the connection ended: {0}")]
    Disconnected(String),
    /// Nothing came for a time.
    #[error("no sign of life for {} s", .0.as_secs())]
    Silent(Duration),
    /// It speaks another major version.
    #[error(
        "it has {theirs}, which speaks another protocol than this {ours}: install one version on all hosts"
    )]
    OtherVersion {
        /// Program and protocol of the agent.
        theirs: String,
        /// Program and protocol of the coordinator.
        ours: String,
    },
    /// It wants a token, and there is none.
    #[error("the server wants a token: give the one that it was started with as --token-file FILE")]
    TokenWanted,
    /// It was started without a token, so whoever answers there cannot prove to be ours.
    #[error("the server has no token, and this end does: start it with the same --token-file FILE")]
    NoToken,
    /// It has another token.
    #[error("the token is another one than the server's: give both ends the same --token-file FILE")]
    OtherToken,
    /// It had not ended when the user asked a second time.
    #[error("its jobs did not end when asked to, and were given up")]
    Abandoned,
    /// A message came that has no meaning at this point.
    #[error("it sent `{0}` out of turn")]
    OutOfTurn(&'static str),
}

/// How a phase began on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseStart {
    /// The moment that all hosts were given, by the coordinator's clock.
    pub planned: ClockTime,
    /// When the host's first job began, translated to the coordinator's clock.
    pub reached: ClockTime,
    /// The translation can be wrong by this.
    pub bound: Duration,
}

/// How far the conversation with a host has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nothing has come yet.
    Greeting,
    /// It has to prove that it has the token.
    Proving(Greetings),
    /// Its clock is being measured.
    Measuring,
    /// It has the plan and checks it.
    Checking,
    /// It can run its jobs, and waits until the others have checked theirs.
    Checked,
    /// It cannot run its jobs.
    Refused,
    /// It prepares the first phase, runs a phase, or ends the last one.
    Running,
    /// It has ended all phases before this one.
    Ready(u32),
    /// It has sent everything.
    Ended,
    /// It is lost.
    Lost,
}

/// One host.
#[derive(Debug)]
pub(crate) struct Host {
    pub stage: Stage,
    /// What it has to prove.
    pub challenge: Option<Challenge>,
    /// What it said about itself, until it has proved what it has to.
    pub hello: Option<AgentHello>,
    pub trips: RoundTrips,
    pub last_heard: ClockTime,
    pub last_ping: ClockTime,
    /// The moment at which the phase that it runs was planned to begin.
    pub planned: ClockTime,
    /// The phase that began last.
    pub phase: Option<u32>,
}

impl Host {
    pub fn new(challenge: Option<Challenge>, now: ClockTime) -> Self {
        Host {
            stage: Stage::Greeting,
            challenge,
            hello: None,
            trips: RoundTrips::default(),
            last_heard: now,
            last_ping: now,
            planned: now,
            phase: None,
        }
    }

    /// Nothing more is awaited from it.
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Ended | Stage::Refused | Stage::Lost)
    }

    /// It may send messages about its run.
    pub fn runs(&self) -> bool {
        matches!(self.stage, Stage::Running | Stage::Ready(_))
    }

    /// Begins a phase at a time of our clock.
    pub fn begin(&mut self, phase: u32, planned: ClockTime, now: ClockTime) -> Option<ToAgent> {
        let offset = self.trips.offset(now)?;
        (self.stage, self.phase, self.planned) = (Stage::Running, Some(phase), planned);
        Some(ToAgent::Go { phase, at: offset.to_theirs(planned) })
    }

    /// When the first job of the phase began, on our clock.
    pub fn phase_start(&self, theirs: ClockTime, now: ClockTime) -> Option<PhaseStart> {
        let offset = self.trips.offset(now)?;
        Some(PhaseStart { planned: self.planned, reached: offset.to_ours(theirs), bound: offset.bound })
    }
}

/// The loss of a host that speaks another major version.
pub(crate) fn other_version(program: &str, theirs: &AgentHello) -> Option<HostLoss> {
    (!PROTOCOL.understands(theirs.protocol)).then(|| HostLoss::OtherVersion {
        theirs: format!("{} (protocol {})", theirs.program, theirs.protocol),
        ours: format!("{program} (protocol {PROTOCOL})"),
    })
}
