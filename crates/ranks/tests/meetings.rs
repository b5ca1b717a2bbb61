//! Ranks meet over real sockets and files. All are threads of this process.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use ferrio_ranks::{Meeting, Met, RankOfRun, RendezvousError, meet};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

fn me(rank: u64, job: &str) -> RankOfRun {
    RankOfRun { rank, ranks: 4, job: job.to_owned(), launcher: None, is_on_one_host: false }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

fn at(ports: &[u16]) -> Meeting {
    Meeting::Address { hosts: vec!["127.0.0.1".to_owned()], ports: ports.to_vec() }
}

fn file(directory: &Path) -> Meeting {
    Meeting::File(directory.join("rank0"))
}

/// Rank 0 with the lines that it had for the user.
fn first(job: &str, meeting: &Meeting, timeout: Duration) -> (Result<Met, RendezvousError>, Vec<String>) {
    let mut notes = Vec::new();
    let met =
        meet(&me(0, job), "here", meeting, timeout, &AtomicBool::new(false), &mut |note| notes.push(note));
    (met, notes)
}

/// Starts another rank, which then says its number to rank 0 and returns what it hears.
fn start(
    rank: u64,
    job: &'static str,
    meeting: Meeting,
    timeout: Duration,
) -> thread::JoinHandle<Result<String, String>> {
    thread::spawn(move || {
        match meet(
            &me(rank, job),
            &format!("host{rank}"),
            &meeting,
            timeout,
            &AtomicBool::new(false),
            &mut |_| {},
        ) {
            Ok(Met::Other(mut ends)) => {
                writeln!(ends.writer, "rank {rank}").unwrap();
                let mut heard = String::new();
                ends.reader.read_to_string(&mut heard).unwrap();
                Ok(heard)
            }
            Ok(Met::First(_)) => panic!("rank {rank} is not the first"),
            Err(error) => Err(error.to_string()),
        }
    })
}

/// Hears all ranks and answers each.
fn converse(met: Result<Met, RendezvousError>) {
    let Ok(Met::First(ranks)) = met else { panic!("{}", met.err().unwrap()) };
    assert_eq!(ranks.len(), 3);
    for (at, (host, mut ends)) in ranks.into_iter().enumerate() {
        assert_eq!(host, format!("host{}", at + 1));
        let mut line = String::new();
        BufReader::new(ends.reader).read_line(&mut line).unwrap();
        assert_eq!(line, format!("rank {}\n", at + 1));
        write!(ends.writer, "heard {}", at + 1).unwrap();
    }
}

#[test]
fn four_ranks_meet_at_an_address_and_talk() {
    // The first port is another program's, which says nothing of use.
    let other = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let taken = other.local_addr().unwrap().port();
    let foreign = thread::spawn(move || {
        for stream in other.incoming() {
            let mut stream = stream.unwrap();
            let mut byte = [0];
            if stream.read(&mut byte).unwrap() == 0 {
                return;
            }
            stream.write_all(b"220 mail ready\r\n").unwrap();
        }
    });
    let meeting = at(&[taken, free_port()]);
    let others: Vec<_> = (1..4).map(|rank| start(rank, "7.0", meeting.clone(), LONG)).collect();
    let (met, notes) = first("7.0", &meeting, LONG);
    converse(met);
    assert_eq!(notes, Vec::<String>::new());
    for (at, rank) in others.into_iter().enumerate() {
        assert_eq!(rank.join().unwrap(), Ok(format!("heard {}", at + 1)));
    }
    drop(TcpStream::connect(("127.0.0.1", taken)).unwrap());
    foreign.join().unwrap();
}

#[test]
fn missing_ranks_are_named_to_rank_0_and_to_those_who_have_come() {
    let port = free_port();
    let second = start(2, "7.0", at(&[port]), LONG);
    let (met, _) = first("7.0", &at(&[port]), Duration::from_secs(2));
    let error = met.err().unwrap().to_string();
    assert!(error.starts_with("ranks are missing after 2 s: 1, 3; look whether they run"), "{error}");
    let told = second.join().unwrap().unwrap_err();
    assert_eq!(told, "rank 0 has given up, because ranks have not come: 1, 3");
}

#[test]
fn a_rank_without_rank_0_says_where_it_has_looked() {
    let port = free_port();
    let error = start(1, "", at(&[port]), SHORT).join().unwrap().unwrap_err();
    assert!(
        error.starts_with(&format!("rank 0 was not found at 127.0.0.1, port {port} within 0 s: ")),
        "{error}"
    );
    assert!(error.contains("refused"), "{error}");
}

#[test]
fn strangers_and_second_ones_are_refused_with_a_line_and_the_run_goes_on() {
    let port = free_port();
    let meeting = at(&[port]);
    let run = thread::spawn({
        let meeting = meeting.clone();
        move || first("7.0", &meeting, LONG)
    });
    // Connected when rank 0 listens.
    let connect = || loop {
        if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
            return BufReader::new(stream);
        }
        thread::yield_now();
    };
    let refused = |words: &str| {
        let mut stream = connect();
        stream.get_mut().write_all(words.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_line(&mut answer).unwrap();
        answer
    };
    let answer = refused("GET / HTTP/1.1\r\n");
    assert!(answer.contains("does not greet as a rank of ferrio does"), "{answer}");
    let answer = refused(
        "{\"message\":\"rank\",\"job\":\"8.0\",\"rank\":1,\"ranks\":4,\"host\":\"host3\",\"nonce\":\"n\"}\n",
    );
    assert!(answer.contains("it belongs to run `8.0`, this is run `7.0`"), "{answer}");
    // One rank comes, and then comes again.
    let greeting = "{\"message\":\"rank\",\"job\":\"7.0\",\"rank\":3,\"ranks\":4,\"host\":\"host3\",\"nonce\":\"n\"}\n{\"message\":\"proof\",\"proof\":\"\"}\n";
    let mut stays = connect();
    stays.get_mut().write_all(greeting.as_bytes()).unwrap();
    let mut challenge = String::new();
    stays.read_line(&mut challenge).unwrap();
    assert!(challenge.starts_with("{\"message\":\"challenge\""), "{challenge}");
    let told = start(3, "7.0", meeting.clone(), LONG).join().unwrap();
    assert_eq!(told, Err("rank 0 refuses this rank: rank 3 is here already".to_owned()));
    let others: Vec<_> = (1..3).map(|rank| start(rank, "7.0", meeting.clone(), LONG)).collect();
    let mut complete = String::new();
    stays.read_line(&mut complete).unwrap();
    assert_eq!(complete, "{\"message\":\"complete\"}\n");
    stays.get_mut().write_all(b"rank 3\n").unwrap();
    let (met, notes) = run.join().unwrap();
    converse(met);
    others.into_iter().for_each(|rank| assert!(rank.join().unwrap().is_ok()));
    assert_eq!(notes.len(), 3, "{notes:#?}");
    assert!(notes.iter().all(|note| note.starts_with("a connection from 127.0.0.1:")), "{notes:#?}");
}

#[test]
fn a_file_leads_to_rank_0_and_a_stale_one_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let meeting = file(directory.path());
    let path = directory.path().join("rank0");
    let stale = format!(
        "{{\"job\":\"6.0\",\"addresses\":[\"127.0.0.1\"],\"port\":{},\"secret\":\"00\"}}",
        free_port()
    );
    fs::write(&path, stale).unwrap();
    let early = start(1, "7.0", meeting.clone(), SHORT).join().unwrap().unwrap_err();
    // It is not its owner's alone.
    assert!(early.contains("others can read or write it"), "{early}");
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let early = start(1, "7.0", meeting.clone(), SHORT).join().unwrap().unwrap_err();
    assert!(early.contains("it is of run `6.0`"), "{early}");
    let others: Vec<_> = (1..4).map(|rank| start(rank, "7.0", meeting.clone(), LONG)).collect();
    let (met, notes) = first("7.0", &meeting, LONG);
    converse(met);
    others.into_iter().for_each(|rank| assert!(rank.join().unwrap().is_ok()));
    assert_eq!(notes, Vec::<String>::new());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "the file is removed");
}

#[test]
fn a_rank_that_loses_rank_0_before_all_have_come_ends() {
    let port = free_port();
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let rank = start(1, "", at(&[port]), LONG);
    let mut stream = BufReader::new(listener.accept().unwrap().0);
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"message\":\"rank\",\"job\":\"\",\"rank\":1,\"ranks\":4,"), "{line}");
    stream.get_mut().write_all(b"{\"message\":\"challenge\",\"nonce\":\"m\",\"proof\":\"\"}\n").unwrap();
    stream.read_line(&mut line).unwrap();
    drop(stream);
    let error = rank.join().unwrap().unwrap_err();
    assert!(error.starts_with("rank 0 ended before all ranks had come: "), "{error}");
}

#[test]
fn a_signal_ends_the_wait_and_removes_the_file() {
    let directory = tempfile::tempdir().unwrap();
    for rank in [0, 1] {
        let stop = AtomicBool::new(true);
        let met = meet(&me(rank, "7.0"), "here", &file(directory.path()), LONG, &stop, &mut |_| {});
        assert!(matches!(met, Err(RendezvousError::Stopped)), "{rank}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
