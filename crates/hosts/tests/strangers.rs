//! What the state machines do with an other end that is not known yet, or that goes on for ever.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use ferrio_hosts::{
    Agent, AgentAction, AgentHello, AgentInput, Challenge, ClockTime, Coordinator, CoordinatorAction,
    CoordinatorHello, CoordinatorInput, CoordinatorSettings, HostId, HostLoss, Nonce, PROTOCOL, PlanText,
    ToAgent, ToCoordinator, Token,
};

fn second(number: u64) -> ClockTime {
    ClockTime::default().after(Duration::from_secs(number))
}

fn challenge(nonce: u8) -> Option<Challenge> {
    Some(Challenge::new(Token::new(b"0123456789abcdef").unwrap(), Nonce([nonce; 32])))
}

fn agent(challenge: Option<Challenge>) -> Agent {
    Agent::new(AgentHello::new("ferrio 0.1.0", "h", "x86_64"), challenge, second(0))
}

fn take(agent: &mut Agent, input: AgentInput, at: u64) -> Vec<AgentAction> {
    let mut actions = Vec::new();
    agent.take(input, second(at), &mut actions);
    actions
}

fn greeting(nonce: Option<Nonce>) -> AgentInput {
    let hello = CoordinatorHello { protocol: PROTOCOL, program: "ferrio 0.1.0".into(), nonce };
    AgentInput::Message(ToAgent::Hello(hello))
}

/// A coordinator of one host, which has greeted.
fn coordinator(challenge: Option<Challenge>) -> Coordinator {
    let settings = CoordinatorSettings {
        require_all: false,
        only_check: false,
        refusal_ends_run: true,
        common_phases: true,
        greeting_timeout: Duration::from_secs(10),
    };
    Coordinator::new(settings, "f", vec![(PlanText::default(), challenge)], second(0), &mut Vec::new())
}

fn tell(coordinator: &mut Coordinator, input: CoordinatorInput, at: u64) -> Vec<CoordinatorAction> {
    let mut actions = Vec::new();
    coordinator.take(input, second(at), &mut actions);
    actions
}

#[test]
fn a_stranger_has_ten_seconds_however_busy_it_is() {
    for greets in [false, true] {
        let mut agent = agent(challenge(1));
        if greets {
            take(&mut agent, greeting(Some(Nonce([2; 32]))), 1);
        }
        for at in 2..10 {
            assert_eq!(take(&mut agent, AgentInput::Alive, at), []);
            assert_eq!(take(&mut agent, AgentInput::Tick, at), []);
        }
        assert_eq!(take(&mut agent, AgentInput::Tick, 10), [AgentAction::Exit { status: 1 }]);
    }
}

#[test]
fn a_stranger_gets_nothing_done() {
    let plan = || AgentInput::Message(ToAgent::Plan(PlanText::default()));
    let ping = || AgentInput::Message(ToAgent::Ping { sent: second(0) });
    for message in [plan(), ping(), greeting(None), greeting(Some(Nonce([2; 32])))] {
        let mut agent = agent(challenge(1));
        take(&mut agent, greeting(Some(Nonce([2; 32]))), 1);
        assert_eq!(take(&mut agent, message, 2), [AgentAction::Exit { status: 1 }]);
        assert_eq!(take(&mut agent, plan(), 3), []);
    }
}

/// The proof of one conversation, sent again in another one.
#[test]
fn a_proof_that_was_overheard_opens_nothing() {
    let hello = |agent: &mut Agent, nonce| {
        let actions = take(agent, greeting(Some(Nonce([nonce; 32]))), 1);
        let [AgentAction::Send(message)] = &actions[..] else { panic!("{actions:?}") };
        message.clone()
    };
    let (mut first, mut coordinator) = (agent(challenge(1)), coordinator(challenge(2)));
    let answer = hello(&mut first, 2);
    let actions = tell(&mut coordinator, CoordinatorInput::Message(HostId(0), answer), 1);
    let [CoordinatorAction::Send(_, proof)] = &actions[..] else { panic!("{actions:?}") };
    let opened = take(&mut first, AgentInput::Message(proof.clone()), 2);
    assert_eq!(opened[1], AgentAction::Trust);
    let mut second = agent(challenge(3));
    hello(&mut second, 2);
    assert_eq!(
        take(&mut second, AgentInput::Message(proof.clone()), 2),
        [AgentAction::Send(ToCoordinator::Denied), AgentAction::Exit { status: 1 }]
    );
}

#[test]
fn a_long_message_that_still_comes_is_a_sign_of_life_and_a_long_greeting_is_none() {
    let hello = ToCoordinator::Hello(AgentHello::new("f", "h", "x86_64"));
    for (has_greeted, lost_at) in [(false, Some(10)), (true, None)] {
        let mut coordinator = coordinator(None);
        if has_greeted {
            tell(&mut coordinator, CoordinatorInput::Message(HostId(0), hello.clone()), 0);
        }
        let lost = (1..60).find(|&at| {
            let mut actions = tell(&mut coordinator, CoordinatorInput::Alive(HostId(0)), at);
            actions.extend(tell(&mut coordinator, CoordinatorInput::Tick, at));
            actions.iter().any(|action| matches!(action, CoordinatorAction::Lost(_, HostLoss::Silent(_))))
        });
        assert_eq!(lost, lost_at);
    }
    let mut agent = agent(None);
    take(&mut agent, greeting(None), 0);
    for at in 1..60 {
        take(&mut agent, AgentInput::Alive, at);
        assert_eq!(take(&mut agent, AgentInput::Tick, at), []);
    }
}

#[test]
fn what_a_stranger_says_about_itself_does_no_harm_in_a_terminal() {
    let mut coordinator = coordinator(None);
    let about = AgentHello::new("f\x1b]0;x\x07", &"h\n".repeat(400), "x\u{9b}31m");
    let actions =
        tell(&mut coordinator, CoordinatorInput::Message(HostId(0), ToCoordinator::Hello(about)), 1);
    let CoordinatorAction::Greeted(_, shown) = &actions[0] else { panic!("{actions:?}") };
    assert_eq!((&*shown.program, &*shown.arch), ("f.]0;x.", "x.31m"));
    assert_eq!(shown.host.len(), 255);
    assert!(shown.host.starts_with("h.h."));
}
