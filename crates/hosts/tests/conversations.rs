//! Conversations over real carriers: sockets, and commands with pipes.
#![allow(clippy::unwrap_used)]

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::mpsc::{SyncSender, channel};
use std::thread;
use std::time::{Duration, Instant};

use ferrio_hosts::{
    AgentAction, AgentHello, AgentInput, Carrier, ClockTime, CoordinatorAction, CoordinatorSettings, Ends,
    HostClock, HostId, HostLoss, PlanText, StreamPair, ToCoordinator, agent_inputs, coordinate, serve,
};
use serde_json::json;

const SETTINGS: CoordinatorSettings = CoordinatorSettings {
    require_all: false,
    only_check: false,
    refusal_ends_run: true,
    greeting_timeout: Duration::from_secs(10),
};

fn hello(host: &str) -> AgentHello {
    AgentHello::new("ferrio 0.1.0", host, "x86_64")
}

/// An agent whose jobs have `phases` phases of 10 ms each; returns its exit status.
fn agent(ends: Ends, phases: u32) -> u8 {
    let clock = HostClock::start();
    let (sender, inputs) = agent_inputs();
    let say = |sender: &SyncSender<AgentInput>, message| sender.send(AgentInput::Run(message)).unwrap();
    let run = sender.clone();
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
                say(&run, ToCoordinator::Result { result: json!({"phases": phases}) });
                say(&run, ToCoordinator::Ended { status: 0 });
            });
        }
        AgentAction::StopJobs { .. } => say(&run, ToCoordinator::Ended { status: 128 }),
        other => panic!("{other:?}"),
    };
    serve(ends, hello("h"), clock, (sender, inputs), &mut act).unwrap()
}

fn plan(text: &str) -> PlanText {
    let file = ferrio_hosts::JobText::new("j.fio", text.as_bytes());
    PlanText { files: vec![file], ..PlanText::default() }
}

fn all(hosts: Vec<(io::Result<Ends>, PlanText)>, settings: CoordinatorSettings) -> Vec<CoordinatorAction> {
    let (_stop, stopped) = channel();
    let mut seen = Vec::new();
    coordinate(hosts, settings, "ferrio 0.1.0", &stopped, &mut |action| seen.push(action)).unwrap();
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
    assert_eq!(losses[0], (1, "the connection ended: ssh: no route to node3".to_owned()));
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
