//! Conversations over real carriers: sockets, and commands with pipes.
#![allow(clippy::unwrap_used)]

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use ferrio_hosts::{
    AgentAction, AgentHello, AgentInputs, Carrier, ClockTime, CoordinatorAction, CoordinatorSettings, Ends,
    HostClock, HostId, HostLoss, PlanText, StreamPair, ToAgent, ToCoordinator, Token, UserRequest,
    coordinate, serve,
};
use serde_json::json;

const SETTINGS: CoordinatorSettings = CoordinatorSettings {
    require_all: false,
    only_check: false,
    refusal_ends_run: true,
    common_phases: true,
    greeting_timeout: Duration::from_secs(10),
};

fn hello(host: &str) -> AgentHello {
    AgentHello::new("ferrio 0.1.0", host, "x86_64")
}

/// An agent whose jobs have `phases` phases of 10 ms each; returns its exit status.
fn agent(ends: Ends, phases: u32) -> u8 {
    let clock = HostClock::start();
    let inputs = AgentInputs::new();
    let say = |inputs: &AgentInputs, message| inputs.say(message);
    let run = inputs.clone();
    let mut act = move |action| match action {
        AgentAction::Check(plan) => {
            say(&run, ToCoordinator::Checked { plan: json!(plan.files[0].text), phases });
        }
        AgentAction::Prepare => say(&run, ToCoordinator::Ready { phase: 0 }),
        AgentAction::Begin { phase, at } => {
            let run = run.clone();
            thread::spawn(move || {
                thread::sleep(clock.instant(at).saturating_duration_since(Instant::now()));
                say(&run, ToCoordinator::Started { phase, at: clock.now() });
                thread::sleep(Duration::from_millis(10));
                if phase + 1 < phases {
                    return say(&run, ToCoordinator::Ready { phase: phase + 1 });
                }
                say(&run, ToCoordinator::Result { result: phases.to_string() });
                say(&run, ToCoordinator::Ended { status: 0 });
            });
        }
        AgentAction::StopJobs { .. } => say(&run, ToCoordinator::Ended { status: 128 }),
        other => panic!("{other:?}"),
    };
    serve(ends, hello("h"), clock, inputs, &mut act).unwrap()
}

fn plan(text: &str) -> PlanText {
    let file = ferrio_hosts::JobText::new("j.fio", text.as_bytes());
    PlanText { files: vec![file], ..PlanText::default() }
}

fn all(hosts: Vec<(io::Result<Ends>, PlanText)>, settings: CoordinatorSettings) -> Vec<CoordinatorAction> {
    let (_stop, stopped) = channel();
    let mut seen = Vec::new();
    coordinate(hosts, settings, "ferrio 0.1.0", stopped, &mut |action| seen.push(action)).unwrap();
    seen
}

#[test]
fn three_hosts_run_their_phases_together() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut agents = Vec::new();
    let mut hosts = Vec::new();
    for at in 0..2 {
        agents.push(thread::spawn(move || {
            agent(TcpStream::connect(address).unwrap().split().unwrap(), 2 + at)
        }));
        hosts.push((listener.accept().unwrap().0.split(), plan(&at.to_string())));
    }
    let (ours, theirs) = UnixStream::pair().unwrap();
    agents.push(thread::spawn(move || agent(theirs.split().unwrap(), 3)));
    hosts.push((ours.split(), plan("2")));
    let seen = all(hosts, SETTINGS);
    for agent in agents {
        assert_eq!(agent.join().unwrap(), 0);
    }
    let mut began = Vec::new();
    for action in &seen {
        match action {
            CoordinatorAction::Began { host, phase, start } => {
                // On this machine, both clocks run alike.
                assert!(start.bound < Duration::from_secs(1) && start.planned > ClockTime(0), "{start:?}");
                began.push((*phase, *host));
            }
            CoordinatorAction::Lost(..) => panic!("{seen:?}"),
            _ => {}
        }
    }
    assert!(began.is_sorted_by_key(|(phase, _)| *phase), "{began:?}");
    began.sort_unstable();
    let expected = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2)];
    assert_eq!(began, expected.map(|(phase, host)| (phase, HostId(host))));
    let results = seen
        .iter()
        .filter(|action| matches!(action, CoordinatorAction::Deliver(_, ToCoordinator::Result { .. })));
    assert_eq!(results.count(), 3);
    let plans = seen.iter().filter_map(|action| match action {
        CoordinatorAction::Deliver(host, ToCoordinator::Checked { plan, .. }) => Some((plan.clone(), host.0)),
        _ => None,
    });
    assert!(plans.into_iter().all(|(plan, host)| plan == json!(host.to_string())));
}

fn losses(seen: &[CoordinatorAction]) -> Vec<(usize, String)> {
    let of = |action: &CoordinatorAction| match action {
        CoordinatorAction::Lost(host, loss) => Some((host.0, loss.to_string())),
        _ => None,
    };
    seen.iter().filter_map(of).collect()
}

#[test]
fn the_last_words_of_a_command_say_why_a_host_is_lost() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let good = thread::spawn(move || agent(theirs.split().unwrap(), 1));
    let mut failing = Command::new("sh");
    failing.args([
        "-c",
        "cat >/dev/null & echo first >&2; echo 'ssh: no route to node3' >&2; sleep 0.1; exec 1>&-",
    ]);
    let missing = Command::new("/nonexistent/ssh").split();
    let seen =
        all(vec![(ours.split(), plan("")), (failing.split(), plan("")), (missing, plan(""))], SETTINGS);
    assert_eq!(good.join().unwrap(), 0);
    let mut losses = losses(&seen);
    losses.sort();
    assert_eq!(losses[0], (1, "no agent answers: ssh: no route to node3".to_owned()));
    assert_eq!(losses[1].0, 2);
    assert!(losses[1].1.contains("No such file or directory"), "{losses:?}");
    assert!(seen.iter().any(|action| matches!(
        action,
        CoordinatorAction::Deliver(HostId(0), ToCoordinator::Ended { status: 0 })
    )));
}

#[test]
fn another_program_is_named_and_its_end_is_not_awaited() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(b"SSH-2.0-OpenSSH_9.2\n").unwrap();
    let losses = losses(&all(vec![(ours.split(), plan(""))], SETTINGS));
    assert!(losses[0].1.contains("not a message of ferrio: `SSH-2.0-OpenSSH_9.2`"), "{losses:?}");
}

#[test]
fn an_agent_speaks_on_two_streams() {
    let ((from_us, to_agent), (from_agent, to_us)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let pair = StreamPair { reader: from_us, writer: to_us };
    let agent = thread::spawn(move || agent(pair.split().unwrap(), 1));
    let seen = all(vec![(StreamPair { reader: from_agent, writer: to_agent }.split(), plan(""))], SETTINGS);
    assert_eq!(losses(&seen), []);
    assert_eq!(agent.join().unwrap(), 0);
}

#[test]
fn figures_end_the_jobs_of_all_hosts_and_no_signal_does() {
    let long_run = |ends: Ends| {
        let clock = HostClock::start();
        let inputs = AgentInputs::new();
        let run = inputs.clone();
        let mut act = move |action| match action {
            AgentAction::Check(_) => run.say(ToCoordinator::Checked { plan: json!(null), phases: 1 }),
            AgentAction::Prepare => run.say(ToCoordinator::Ready { phase: 0 }),
            AgentAction::Begin { phase, .. } => run.say(ToCoordinator::Started { phase, at: clock.now() }),
            AgentAction::StopJobs { early, reason } => {
                run.say(ToCoordinator::Result { result: reason });
                run.say(ToCoordinator::Ended { status: if early { 0 } else { 128 } });
            }
            other => panic!("{other:?}"),
        };
        serve(ends, hello("h"), clock, inputs, &mut act).unwrap()
    };
    let mut hosts = Vec::new();
    let mut agents = Vec::new();
    for _ in 0..2 {
        let (ours, theirs) = UnixStream::pair().unwrap();
        hosts.push((ours.split(), plan("")));
        agents.push(thread::spawn(move || long_run(theirs.split().unwrap())));
    }
    let (user, requests) = channel();
    let mut began = 0;
    let mut ends = Vec::new();
    let mut observe = |action| match action {
        CoordinatorAction::Began { .. } => {
            began += 1;
            if began == 2 {
                user.send(UserRequest::End { reason: "slow".to_owned() }).unwrap();
            }
        }
        CoordinatorAction::Deliver(host, ToCoordinator::Result { result }) => ends.push((host.0, result, 9)),
        CoordinatorAction::Deliver(host, ToCoordinator::Ended { status }) => {
            ends.iter_mut().filter(|(of, ..)| *of == host.0).for_each(|end| end.2 = status);
        }
        CoordinatorAction::Lost(..) => panic!("{action:?}"),
        _ => {}
    };
    coordinate(hosts, SETTINGS, "ferrio 0.1.0", requests, &mut observe).unwrap();
    ends.sort();
    assert_eq!(ends, [(0, "slow".to_owned(), 0), (1, "slow".to_owned(), 0)]);
    assert!(agents.into_iter().all(|agent| agent.join().unwrap() == 0));
}

#[test]
fn a_host_that_never_greets_is_silent() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let settings = CoordinatorSettings { greeting_timeout: Duration::from_millis(300), ..SETTINGS };
    let seen = all(vec![(ours.split(), plan(""))], settings);
    let is_silent = |action: &CoordinatorAction| {
        matches!(action, CoordinatorAction::Lost(HostId(0), HostLoss::Silent(_)))
    };
    assert!(seen.iter().any(is_silent), "{seen:?}");
}

/// The clock is looked at however much one host talks.
#[test]
fn a_host_that_talks_without_end_hides_no_silent_one() {
    let (talker, mut talking) = UnixStream::pair().unwrap();
    let (silent, _silence) = UnixStream::pair().unwrap();
    let talk = thread::spawn(move || {
        let hello = serde_json::to_string(&ToCoordinator::Hello(hello("h"))).unwrap();
        writeln!(talking, "{hello}").unwrap();
        let begin = Instant::now();
        // Messages of a newer version, which mean nothing here.
        while begin.elapsed() < Duration::from_secs(2) {
            talking.write_all(b"{\"message\":\"weather\"}\n").unwrap();
        }
    });
    let settings = CoordinatorSettings { greeting_timeout: Duration::from_millis(200), ..SETTINGS };
    let seen = all(vec![(talker.split(), plan("")), (silent.split(), plan(""))], settings);
    talk.join().unwrap();
    let hosts: Vec<usize> = losses(&seen).into_iter().map(|(host, _)| host).collect();
    assert_eq!(hosts, [1, 0]);
}

fn token(text: &str) -> Option<Token> {
    Some(Token::new(text.as_bytes()).unwrap())
}

#[test]
fn both_ends_need_the_same_token() {
    const WANTED: &str =
        "the server wants a token: give the one that it was started with as --token-file FILE";
    const MISSING: &str =
        "the server has no token, and this end does: start it with the same --token-file FILE";
    const OTHER: &str =
        "the token is another one than the server's: give both ends the same --token-file FILE";
    let one = || token("sixteen bytes or");
    for (ours, theirs, expected) in [
        (one(), one(), None),
        (None, one(), Some(WANTED)),
        (one(), None, Some(MISSING)),
        (one(), token("twenty bytes or more"), Some(OTHER)),
    ] {
        let (our_end, their_end) = UnixStream::pair().unwrap();
        let agent = thread::spawn(move || agent(their_end.split().unwrap().with_token(theirs), 1));
        let seen = all(vec![(our_end.split().map(|ends| ends.with_token(ours)), plan("x"))], SETTINGS);
        let expected: Vec<(usize, String)> = expected.iter().map(|text| (0, (*text).to_owned())).collect();
        assert_eq!(losses(&seen), expected);
        let is_checked = |action: &CoordinatorAction| {
            matches!(action, CoordinatorAction::Deliver(_, ToCoordinator::Checked { .. }))
        };
        assert_eq!(seen.iter().any(is_checked), expected.is_empty());
        assert_eq!(agent.join().unwrap(), u8::from(!expected.is_empty()));
    }
}

/// A screen that takes its time costs neither the jobs nor the conversation anything.
#[test]
fn an_observer_that_is_slow_holds_no_run_up() {
    const INTERVALS: u64 = 20_000;
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (run_is_over, over) = channel();
    let agent = thread::spawn(move || {
        let (clock, inputs) = (HostClock::start(), AgentInputs::new());
        let run = inputs.clone();
        let mut act = move |action| match action {
            AgentAction::Check(_) => {
                run.say(ToCoordinator::Checked { plan: json!(null), phases: 1 });
                run.say(ToCoordinator::Ready { phase: 0 });
            }
            AgentAction::Begin { .. } => {
                let (run, run_is_over) = (run.clone(), run_is_over.clone());
                thread::spawn(move || {
                    for at in 0..INTERVALS {
                        run.say(ToCoordinator::Interval {
                            at: ClockTime(at),
                            live: json!("x".repeat(1_000)),
                        });
                    }
                    run_is_over.send(()).unwrap();
                    run.say(ToCoordinator::Ended { status: 0 });
                });
            }
            _ => {}
        };
        serve(theirs.split().unwrap(), hello("h"), clock, inputs, &mut act).unwrap()
    });
    let (_stop, stopped) = channel();
    let (mut intervals, mut waited) = (Vec::new(), false);
    coordinate(vec![(ours.split(), plan(""))], SETTINGS, "ferrio 0.1.0", stopped, &mut |action| {
        if let CoordinatorAction::Deliver(_, ToCoordinator::Interval { at, .. }) = action {
            if !std::mem::replace(&mut waited, true) {
                // Looks at nothing before the jobs have ended.
                over.recv().unwrap();
            }
            intervals.push(at.0);
        }
        assert!(!matches!(action, CoordinatorAction::Lost(..)), "{action:?}");
    })
    .unwrap();
    assert_eq!(agent.join().unwrap(), 0);
    // What waited on the way was bounded, and the last one came.
    assert!(intervals.is_sorted() && intervals.last() == Some(&(INTERVALS - 1)), "{:?}", intervals.last());
    assert!(intervals.len() < INTERVALS as usize / 2, "{}", intervals.len());
}

#[test]
fn a_message_that_is_cut_is_no_message() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(br#"{"message":"hello","protocol":{"maj"#).unwrap();
    drop(theirs);
    let losses = losses(&all(vec![(ours.split(), plan(""))], SETTINGS));
    assert_eq!(losses, [(0, "no agent answers: the connection was cut within a message".to_owned())]);
}

fn write(mut stream: &UnixStream, message: &ToAgent) -> bool {
    ferrio_hosts::write_frame(&mut stream, message).is_ok()
}

#[test]
fn an_agent_gives_up_a_coordinator_that_asks_and_does_not_read() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let agent = thread::spawn(move || agent(theirs.split().unwrap(), 1));
    let hello = json!({"message": "hello", "protocol": {"major": 1, "minor": 0}, "program": "p"});
    assert!(write(&ours, &serde_json::from_value(hello).unwrap()));
    // The queues of the kernel take some 10 000.
    while write(&ours, &ToAgent::Ping { sent: ClockTime(0) }) {}
    assert_eq!(agent.join().unwrap(), 1);
}

#[test]
fn an_agent_ends_at_garbage_and_says_nothing() {
    for garbage in
        ["GET / HTTP/1.1\r\n\r\n".to_owned(), "x".repeat(1 << 20), "{\"message\":\"plan\"}\n".to_owned()]
    {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let agent =
            thread::spawn(move || agent(theirs.split().unwrap().with_token(token("sixteen bytes or")), 1));
        // It may be gone before all is written.
        let _ = ours.write_all(garbage.as_bytes());
        assert_eq!(agent.join().unwrap(), 1);
        let mut answer = String::new();
        let _ = io::Read::read_to_string(&mut ours, &mut answer);
        assert_eq!(answer, "");
    }
}

#[test]
fn two_coordinators_at_one_server_do_not_notice_each_other() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let coordinators: Vec<_> = (0..2)
        .map(|at| {
            thread::spawn(move || {
                let carrier = TcpStream::connect(address).unwrap().split();
                all(vec![(carrier, plan(&at.to_string()))], SETTINGS)
            })
        })
        .collect();
    let agents: Vec<_> = (0..2)
        .map(|_| {
            let (stream, _) = listener.accept().unwrap();
            thread::spawn(move || agent(stream.split().unwrap(), 2))
        })
        .collect();
    for (at, coordinator) in coordinators.into_iter().enumerate() {
        let seen = coordinator.join().unwrap();
        assert_eq!(losses(&seen), []);
        let own = CoordinatorAction::Deliver(
            HostId(0),
            ToCoordinator::Checked { plan: json!(at.to_string()), phases: 2 },
        );
        assert!(seen.contains(&own), "{seen:?}");
    }
    agents.into_iter().for_each(|agent| assert_eq!(agent.join().unwrap(), 0));
}
