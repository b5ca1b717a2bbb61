//! The messages of both directions. Each is a JSON object with its name as `message`; names and fields that a program does not know are
//! those of a newer minor version and mean nothing to it.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ClockTime, Nonce, PROTOCOL, Proof, ProtocolVersion};

/// From the coordinator to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToAgent {
    /// The first message.
    Hello(CoordinatorHello),
    /// Proves that the coordinator has the token that the agent wants.
    Proof {
        /// Over both greetings.
        proof: Proof,
    },
    /// Asks for a [`ToCoordinator::Pong`]: measures the clock offset, and says that the coordinator lives.
    Ping {
        /// By the coordinator's clock.
        sent: ClockTime,
    },
    /// The jobs. The agent plans and checks them, and runs nothing.
    Plan(PlanText),
    /// All hosts can run their jobs: lay out files, and set up the jobs of the first phase.
    Prepare,
    /// Begin a phase.
    Go {
        /// Number of the phase, from 0.
        phase: u32,
        /// When, by the agent's clock.
        at: ClockTime,
    },
    /// End the jobs as a first Ctrl-C does; results are wanted.
    Stop {
        /// For the user, for example `host node3 is lost`.
        reason: String,
        /// They end because of what they have measured, so that the run is not one that a signal has ended.
        #[serde(default)]
        early: bool,
    },
    /// Save the verify states of all jobs, end them, send the states and run the command.
    Trigger {
        /// For a shell.
        #[serde(default)]
        command: Option<String>,
    },
    /// The conversation is over; the agent exits.
    Bye,
    /// A message of a newer version.
    #[serde(other)]
    Unknown,
}

/// From an agent to the coordinator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToCoordinator {
    /// The answer to [`ToAgent::Hello`].
    Hello(AgentHello),
    /// Proves in turn that the agent has the token; the coordinator has proved it before.
    Proof {
        /// Over both greetings.
        proof: Proof,
    },
    /// The coordinator has another token, or none.
    Denied,
    /// The answer to [`ToAgent::Ping`].
    Pong {
        /// As in the ping.
        sent: ClockTime,
        /// When the ping was answered, by the agent's clock.
        answered: ClockTime,
    },
    /// Words for the user.
    Text {
        /// Where the agent would have written them.
        stream: Stream,
        /// May have several lines.
        text: String,
    },
    /// The jobs can run here; nothing has been laid out yet.
    Checked {
        /// The plan of this host, for `ferrio check`.
        plan: Value,
        /// Number of phases.
        phases: u32,
    },
    /// The jobs cannot run here; the texts before said why.
    Refused {
        /// The exit status that the agent would have had.
        status: u8,
    },
    /// Ready to begin a phase; all before have ended.
    Ready {
        /// Number of the phase, from 0.
        phase: u32,
    },
    /// The first job of a phase began.
    Started {
        /// Number of the phase, from 0.
        phase: u32,
        /// When, by the agent's clock.
        at: ClockTime,
    },
    /// The state of the jobs while they run.
    Interval {
        /// When it was taken, by the agent's clock.
        at: ClockTime,
        /// What the live line says of it.
        #[serde(default)]
        live: Value,
    },
    /// A piece of a log file.
    Log {
        /// Name of the file.
        name: String,
        /// Bytes, in base64.
        data: String,
    },
    /// The verify state of a job that a trigger has ended.
    State {
        /// Name of the job, and which of those with that name it is: `job-0`.
        job: String,
        /// Bytes, in base64.
        data: String,
    },
    /// The figures of a moment, for live displays and metrics, each time that [`PlanText::snapshots_ms`] has passed.
    Snapshot {
        /// When they were taken, by the agent's clock.
        at: ClockTime,
        /// As in [`ToCoordinator::Result`].
        result: String,
    },
    /// The figures so far, as those of the end.
    Interim {
        /// The report, as JSON in a text: those who pass it on need not know what is in it.
        result: String,
    },
    /// The figures, histograms and all.
    Result {
        /// The report, as JSON in a text: those who pass it on need not know what is in it.
        result: String,
    },
    /// All is sent.
    Ended {
        /// The exit status that the agent would have had.
        status: u8,
    },
    /// A message of a newer version.
    #[serde(other)]
    Unknown,
}

/// Who the coordinator is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoordinatorHello {
    /// The version that it speaks.
    pub protocol: ProtocolVersion,
    /// The version of the program, as `--version` prints it.
    pub program: String,
    /// Of a coordinator with a token, for the agent to prove that it has it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Nonce>,
}

/// Who an agent is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentHello {
    /// The version that it speaks.
    pub protocol: ProtocolVersion,
    /// The version of the program, as `--version` prints it.
    pub program: String,
    /// The name that the host has for itself.
    pub host: String,
    /// The architecture, as `uname -m` prints it.
    pub arch: String,
    /// Of an agent with a token, for the coordinator to prove that it has it too. The conversation fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Nonce>,
}

/// Characters at most of what an agent says about itself.
const MAX_ABOUT: usize = 255;

impl AgentHello {
    /// The greeting of an agent with this version of the program, on this host.
    #[must_use]
    pub fn new(program: &str, host: &str, arch: &str) -> Self {
        AgentHello {
            protocol: PROTOCOL,
            program: program.to_owned(),
            host: host.to_owned(),
            arch: arch.to_owned(),
            nonce: None,
        }
    }

    /// The same with texts that can do no harm in a terminal or fill it: a stranger may have written them.
    pub(crate) fn harmless(self) -> Self {
        let [program, host, arch] =
            [self.program, self.host, self.arch].map(|text| printable(&text, MAX_ABOUT));
        AgentHello { program, host, arch, ..self }
    }
}

/// The beginning of a text from elsewhere, with dots for control characters.
pub(crate) fn printable(text: &str, limit: usize) -> String {
    text.chars().take(limit).map(|c| if c.is_control() { '.' } else { c }).collect()
}

/// The jobs of a host, as text: names of files, sizes in percent and engines mean what they mean there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanText {
    /// Words of the command line that concern the agent.
    pub words: Vec<String>,
    /// The job files, in order.
    pub files: Vec<JobText>,
    /// Variables that job files may use, such as `host` and `rank`.
    pub variables: BTreeMap<String, String>,
    /// Job files of the agent's host, after the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_files: Vec<String>,
    /// The agent's address, as the coordinator dialled it, where names of files and jobs are those of fio's servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Send a [`ToCoordinator::Snapshot`] each time this has passed, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshots_ms: Option<u64>,
    /// Verify states for jobs that load one, in base64, by the name of the job and which of those with that name it is: `job-0`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, String>,
    /// Plan and check only: [`ToAgent::Prepare`] never comes.
    #[serde(default)]
    pub only_check: bool,
}

/// A job file, or another file that one names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobText {
    /// Its name, for messages.
    pub name: String,
    /// Its content, or that in base64 if it is no text.
    pub text: String,
    /// True for a content that is no text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_base64: bool,
}

impl JobText {
    /// A file that has this content.
    #[must_use]
    pub fn new(name: &str, content: &[u8]) -> Self {
        let text = str::from_utf8(content);
        JobText {
            name: name.to_owned(),
            text: text.map_or_else(|_| STANDARD.encode(content), str::to_owned),
            is_base64: text.is_err(),
        }
    }

    /// The content; `None` if it is damaged.
    #[must_use]
    pub fn content(&self) -> Option<Vec<u8>> {
        if self.is_base64 { STANDARD.decode(&self.text).ok() } else { Some(self.text.clone().into_bytes()) }
    }
}

/// Where words for the user go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

impl ToCoordinator {
    /// Its name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            ToCoordinator::Hello(_) => "hello",
            ToCoordinator::Proof { .. } => "proof",
            ToCoordinator::Denied => "denied",
            ToCoordinator::Pong { .. } => "pong",
            ToCoordinator::Text { .. } => "text",
            ToCoordinator::Checked { .. } => "checked",
            ToCoordinator::Refused { .. } => "refused",
            ToCoordinator::Ready { .. } => "ready",
            ToCoordinator::Started { .. } => "started",
            ToCoordinator::Interval { .. } => "interval",
            ToCoordinator::Log { .. } => "log",
            ToCoordinator::State { .. } => "state",
            ToCoordinator::Snapshot { .. } => "snapshot",
            ToCoordinator::Interim { .. } => "interim",
            ToCoordinator::Result { .. } => "result",
            ToCoordinator::Ended { .. } => "ended",
            ToCoordinator::Unknown => "unknown",
        }
    }
}
