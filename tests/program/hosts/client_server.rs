//! `--server` and `--client`, over local sockets.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};

use nix::sys::signal::Signal;

use crate::support::{Invocation, Running, TestDir, number, text, until};

const JOB: &str = "[a]\nioengine=null\nsize=64k\nrw=randread\n";

/// ferrio called `fio`.
fn fio<'a>(dir: &'a TestDir, words: &[&str]) -> Invocation<'a> {
    dir.ferrio(words).env("FERRIO_AS", "fio")
}

/// A server on the socket `name`, which serves.
fn server(dir: &TestDir, name: &str) -> Running {
    let mut server = fio(dir, &[&format!("--server=sock:{name}")]).start();
    let said = server.stdout_path();
    server.until("its line", || fs::read_to_string(&said).unwrap().contains("listening on"));
    server
}

/// Ends a server, which leaves nothing behind.
fn end(dir: &TestDir, server: Running, name: &str) {
    server.signal(Signal::SIGTERM);
    let run = server.wait().succeeded();
    assert_eq!(run.stdout, format!("fio: server listening on {name}\n"));
    assert!(dir.size(name).is_none(), "the socket is left behind");
}

/// The agents of a server.
fn agents(server: &Running) -> String {
    let process = server.pid();
    fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap()
}

#[test]
fn two_servers_give_one_document_with_the_sums() {
    let dir = TestDir::new();
    let (one, two) = (server(&dir, "one"), server(&dir, "two"));
    let job = dir.job(JOB);
    let words = ["--client=sock:one", &job, "--client=sock:two", &job, "--output-format=json"];
    let run = fio(&dir, &words).run().succeeded();
    let report = run.json();
    let stats = report["client_stats"].as_array().unwrap();
    let mut hosts: Vec<_> = stats[..2].iter().map(|entry| text(entry, "/hostname").to_owned()).collect();
    hosts.sort();
    assert_eq!(hosts, ["one", "two"]);
    assert_eq!((stats.len(), text(&stats[2], "/jobname")), (3, "All clients"));
    assert_eq!(number(&stats[2], "/read/total_ios"), 32);
    assert_eq!(run.stderr, "");
    end(&dir, one, "one");
    end(&dir, two, "two");
}

#[test]
fn a_client_that_is_killed_ends_its_jobs_and_not_the_server() {
    let dir = TestDir::new();
    let server = server(&dir, "s");
    let job = dir.job("[a]\nioengine=null\nsize=1g\nrate_iops=100\ntime_based\nruntime=60\n");
    let mut client = fio(&dir, &["--client=sock:s", &job]).start();
    let shown = client.stdout_path();
    client.until("its job", || fs::read_to_string(&shown).unwrap().contains("Jobs: 1"));
    assert_eq!(agents(&server).split_whitespace().count(), 1);
    client.kill();
    until("end of the agent", || agents(&server).is_empty());
    end(&dir, server, "s");
}

#[test]
fn a_socket_is_its_users_and_one_of_a_dead_server_is_replaced() {
    let dir = TestDir::new();
    let path = dir.work().join("s");
    drop(UnixListener::bind(&path).unwrap());
    let server = server(&dir, "s");
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = fio(&dir, &["--server=sock:s"]).run().ended_with(1);
    assert!(second.stderr.starts_with("fio: bind: Address already in use\n"), "{}", second.stderr);
    end(&dir, server, "s");
}

#[test]
fn logs_come_back_under_the_name_of_the_server() {
    let dir = TestDir::new();
    let server = server(&dir, "s");
    let job = dir.job(&format!("{JOB}write_iops_log=l\n"));
    fio(&dir, &["--client=sock:s", &job]).run().succeeded();
    let names: Vec<String> = dir.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["l_iops.1.log.s", "s"]);
    assert_eq!(dir.rows("l_iops.1.log.s").len(), 16);
    end(&dir, server, "s");
}

#[test]
fn fio_at_the_other_end_is_named_and_nothing_hangs() {
    needs!("fio");
    let dir = TestDir::new();
    let ours = server(&dir, "ours");
    let job = dir.job(JOB);
    // fio 3.33 is ended by SIGPIPE here.
    assert_ne!(dir.fio(&["--client=sock:ours", &job]).run().status, Some(0));
    let said = ours.stderr_path();
    until("line about fio", || {
        fs::read_to_string(&said).unwrap().contains("ours is a client of fio, and version mismatch")
    });
    end(&dir, ours, "ours");

    let mut theirs = dir.fio(&["--server=sock:theirs"]).start();
    let path = dir.work().join("theirs");
    theirs.until("its socket", || UnixStream::connect(&path).is_ok());
    let run = fio(&dir, &["--client=sock:theirs", &job]).run().ended_with(1);
    let line = "fio: client theirs: it does not speak ferrio's protocol, a client/server version mismatch: ";
    assert!(run.stderr.starts_with(line), "{}", run.stderr);
    assert_eq!((run.stdout.as_str(), run.stderr.lines().count()), ("client: host=theirs disconnected\n", 1));
    theirs.kill();
}
