//! The agent: runs the part of a run that is for this host, in a conversation with the coordinator.

use std::sync::mpsc::{SyncSender, channel, sync_channel};
use std::thread;

use ferrio_hosts::{AgentAction, AgentHello, AgentInputs, Ends, HostClock, PlanText, Token, serve};
use nix::sys::signal::{Signal, kill};
use nix::sys::utsname::uname;
use nix::unistd::Pid;

use super::limits::Limits;
use super::tls::Tls;
use super::{Voice, agent_run, agent_streams};
use crate::error::Error;

/// Holds a conversation on standard input and output to its end, and returns the exit status. Whoever could start this process may do here
/// what its user may.
///
/// # Errors
/// The streams are closed, or a thread cannot be started.
pub fn converse_on_standard_streams() -> Result<u8, Error> {
    converse(agent_streams::take_conversation().map_err(Error::Agent)?, Limits::none())
}

/// What an agent of a server asks of its client, and permits.
#[derive(Debug)]
pub struct ForClients {
    pub token: Option<Token>,
    pub tls: Option<Tls>,
    pub limits: Limits,
}

/// Holds the conversation with a client of a server, whose connection is standard input and output, and returns the exit status.
///
/// # Errors
/// The streams are closed or no connection, or a thread cannot be started.
pub fn converse_with_client(how: ForClients) -> Result<u8, Error> {
    let ends = match &how.tls {
        None => agent_streams::take_conversation(),
        Some(tls) => agent_streams::take_connection().and_then(|connection| tls.accepted(connection)),
    };
    how.limits.enter().map_err(Error::Agent)?;
    converse(ends.map_err(Error::Agent)?.with_token(how.token), how.limits)
}

/// Holds a conversation over `ends` to its end, and returns the exit status.
///
/// # Errors
/// A thread cannot be started.
pub fn converse(ends: Ends, limits: Limits) -> Result<u8, Error> {
    // Before any thread: a stop that comes early is found by the run.
    ferrio_runner::hold_signals();
    let clock = HostClock::start();
    let inputs = AgentInputs::new();
    let voice = Voice::new(inputs.clone(), clock);
    let (to_run, plans) = sync_channel(1);
    let conversation = Conversation { voice: voice.clone(), to_run };
    let (to_end, end) = channel();
    thread::Builder::new()
        .spawn(move || {
            let status = conversation.hold(ends, clock, inputs);
            let _ = to_end.send(status);
            // The run may hang, or wait for a start that never comes.
            ferrio_runner::exit_at_once(status);
        })
        .map_err(Error::Agent)?;
    if let Ok(plan) = plans.recv() {
        agent_run::run(&plan, &limits, voice);
    }
    // The coordinator says when the agent may leave.
    Ok(end.recv().unwrap_or(1))
}

/// The side of the agent that talks.
struct Conversation {
    voice: Voice,
    to_run: SyncSender<PlanText>,
}

impl Conversation {
    fn hold(self, ends: Ends, clock: HostClock, inputs: AgentInputs) -> u8 {
        let mut act = |action| match action {
            // The agent takes one plan.
            AgentAction::Check(plan) => drop(self.to_run.try_send(plan)),
            AgentAction::Prepare => self.voice.let_prepare(),
            AgentAction::Begin { phase, at } => self.voice.let_begin(phase, at),
            AgentAction::StopJobs { early: true, .. } => self.voice.end_early(),
            AgentAction::StopJobs { .. } => {
                self.voice.stop();
                // As a user's first Ctrl-C.
                let _ = kill(Pid::this(), Signal::SIGINT);
            }
            AgentAction::Trigger { command } => self.voice.fire_trigger(command),
            AgentAction::Send(_) | AgentAction::Trust | AgentAction::Exit { .. } => {}
        };
        serve(ends, hello(), clock, inputs, &mut act).unwrap_or(1)
    }
}

/// Who this agent is.
fn hello() -> AgentHello {
    let machine = uname().ok();
    let text = |text: Option<&std::ffi::OsStr>| text.unwrap_or_default().to_string_lossy().into_owned();
    let program = format!("ferrio {}", env!("CARGO_PKG_VERSION"));
    let [host, arch] =
        [machine.as_ref().map(|about| about.nodename()), machine.as_ref().map(|about| about.machine())];
    AgentHello::new(&program, &text(host), &text(arch))
}
