//! The agent's end of a conversation in the real world.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::agent_inputs::AgentInputs;
use crate::carrier::Ends;
use crate::exchange::{CLOSING_TIMEOUT, HostClock, Ticks};
use crate::line::{move_messages, write_all};
use crate::{Agent, AgentAction, AgentHello, AgentInput, FrameReader};

/// Time between two looks at the clock. Hundreds of agents may be on one machine, as ranks are.
const TICK_INTERVAL: Duration = Duration::from_millis(500);

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
    inputs: AgentInputs,
    act: &mut dyn FnMut(AgentAction),
) -> io::Result<u8> {
    let status = hold(ends, hello, clock, &inputs, act);
    inputs.end();
    status
}

fn hold(
    ends: Ends,
    hello: AgentHello,
    clock: HostClock,
    inputs: &AgentInputs,
    act: &mut dyn FnMut(AgentAction),
) -> io::Result<u8> {
    let challenge = ends.challenge()?;
    // Bounded by what `inputs` counts.
    let (to_writer, messages) = channel();
    let (written, heard) = (inputs.clone(), inputs.clone());
    write_all(ends.writer, messages, move || written.note_written())?;
    let mut closer = ends.closer;
    let reader = FrameReader::sharing(ends.reader, &Arc::default());
    let intake = move_messages(reader, move |message, _| {
        heard.hear(message.map_or(AgentInput::Disconnected, AgentInput::Message))
    })?;
    let mut agent = Agent::new(hello, challenge, clock.now());
    let (mut actions, mut ticks, mut seen) = (Vec::new(), Ticks::every(TICK_INTERVAL), 0);
    let mut is_read = true;
    loop {
        let is_orphaned = agent.is_orphaned();
        let input = match ticks.next(|until| inputs.next(until, is_orphaned)) {
            _ if !std::mem::replace(&mut is_read, true) => AgentInput::Disconnected,
            Some(input) => input,
            None => {
                if intake.is_alive(&mut seen) {
                    agent.take(AgentInput::Alive, clock.now(), &mut actions);
                }
                AgentInput::Tick
            }
        };
        agent.take(input, clock.now(), &mut actions);
        for action in actions.drain(..) {
            match action {
                AgentAction::Send(message) => {
                    is_read &= inputs.note_sent();
                    drop(to_writer.send(message));
                }
                AgentAction::Trust => intake.trust(),
                AgentAction::Exit { status } => {
                    // The last message says why. Where the coordinator is lost, nobody hears it.
                    if !is_orphaned {
                        inputs.flush(CLOSING_TIMEOUT);
                        closer.flush(CLOSING_TIMEOUT);
                    }
                    closer.close();
                    return Ok(status);
                }
                action => act(action),
            }
        }
    }
}
