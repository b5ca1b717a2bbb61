//! What the other end of a conversation sends: the bits of a byte choose the end and whether it wants a token, the rest are frames. Time
//! passes between them.

#![cfg_attr(feature = "fuzzer", no_main)]

mod target;

use std::time::Duration;

use ferrio_hosts::{
    Agent, AgentAction, AgentHello, AgentInput, Challenge, ClockTime, Coordinator, CoordinatorAction,
    CoordinatorInput, CoordinatorSettings, FrameReader, HostId, MAX_GREETING, Nonce, PlanText, ToAgent,
    ToCoordinator, Token, UserRequest,
};
use serde_json::Value;

/// Hosts of the coordinator, which take turns.
const HOSTS: usize = 3;

/// Actions at most for one input: each host may be lost, closed and stopped, and a phase may begin on all.
const MAX_ACTIONS: usize = 4 * HOSTS + 4;

fn challenge(wants_token: bool) -> Option<Challenge> {
    let token = Token::new(b"0123456789abcdef").expect("long enough");
    wants_token.then(|| Challenge::new(token, Nonce([7; 32])))
}

target::target!(|data: &[u8]| {
    let Some((&choice, frames)) = data.split_first() else { return };
    let (is_agent, wants_token, trusts) = (choice & 1 == 0, choice & 2 == 0, choice & 4 == 0);
    if is_agent { as_agent(frames, wants_token) } else { as_coordinator(frames, wants_token, trusts) }
});

fn as_agent(frames: &[u8], wants_token: bool) {
    let mut now = ClockTime::default();
    let mut agent = Agent::new(AgentHello::new("ferrio", "h", "x86_64"), challenge(wants_token), now);
    let mut reader = FrameReader::new(frames);
    let (mut is_trusted, mut has_exited) = (false, false);
    while let Ok(Some(message)) = reader.read::<ToAgent>() {
        now = now.after(Duration::from_millis(300));
        let mut actions = Vec::new();
        let size = serde_json::to_vec(&message).map_or(0, |text| text.len());
        assert!(is_trusted || size <= 8 * MAX_GREETING, "a stranger makes this end keep {size} bytes");
        agent.take(AgentInput::Message(message), now, &mut actions);
        agent.take(AgentInput::Tick, now, &mut actions);
        let mut answers = Vec::new();
        for action in &actions {
            assert!(!has_exited, "{action:?} after the end");
            match action {
                AgentAction::Trust => {
                    // Nobody who knows no token can prove it.
                    assert!(!wants_token);
                    is_trusted = true;
                    reader.intake().trust();
                }
                AgentAction::Check(_) => {
                    assert!(is_trusted);
                    answers.push(ToCoordinator::Checked { plan: Value::Null, phases: 2 });
                    answers.push(ToCoordinator::Ready { phase: 0 });
                }
                AgentAction::Begin { phase, at } => {
                    answers.push(ToCoordinator::Started { phase: *phase, at: *at })
                }
                AgentAction::StopJobs { .. } => answers.push(ToCoordinator::Ended { status: 0 }),
                AgentAction::Exit { .. } => has_exited = true,
                _ => {}
            }
        }
        assert!(actions.len() <= MAX_ACTIONS, "{actions:?}");
        actions.clear();
        answers.into_iter().for_each(|answer| agent.take(AgentInput::Run(answer), now, &mut actions));
    }
}

fn as_coordinator(frames: &[u8], wants_token: bool, only_check: bool) {
    let mut now = ClockTime::default();
    let settings = CoordinatorSettings {
        require_all: false,
        only_check,
        refusal_ends_run: true,
        common_phases: true,
        greeting_timeout: Duration::from_secs(10),
    };
    let plans = (0..HOSTS).map(|_| (PlanText::default(), challenge(wants_token))).collect();
    let mut actions = Vec::new();
    let mut coordinator = Coordinator::new(settings, "ferrio", plans, now, &mut actions);
    let mut reader = FrameReader::new(frames);
    let mut turn = 0;
    while let Ok(Some(message)) = reader.read::<ToCoordinator>() {
        now = now.after(Duration::from_millis(300));
        actions.clear();
        coordinator.take(CoordinatorInput::Message(HostId(turn % HOSTS), message), now, &mut actions);
        coordinator.take(CoordinatorInput::Tick, now, &mut actions);
        turn += 1;
        for action in &actions {
            match action {
                CoordinatorAction::Greeted(..) => {
                    assert!(!wants_token);
                    reader.intake().trust();
                }
                CoordinatorAction::Lost(_, loss) => assert!(!loss.to_string().contains('\x1b')),
                CoordinatorAction::Began { start, .. } => {
                    assert!(start.planned <= now.after(Duration::from_secs(3600)))
                }
                CoordinatorAction::Finished => return,
                _ => {}
            }
        }
        assert!(actions.len() <= 2 * MAX_ACTIONS, "{actions:?}");
    }
    // However it went, the user gets an end.
    actions.clear();
    coordinator.take(CoordinatorInput::User(UserRequest::Stop), now, &mut actions);
    coordinator.take(CoordinatorInput::User(UserRequest::Stop), now, &mut actions);
    assert!(actions.contains(&CoordinatorAction::Finished), "{actions:?}");
}
