//! The live view of a run on many hosts. Commands of this machine stand for hosts.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::tui::{OnTerminal, screens};
use crate::support::{FERRIO, TestDir, until};

/// Jobs that need next to no CPU time and run until they are told to end.
const JOBS: &str = "[global]
ioengine=null
size=1g
time_based
runtime=3600
rate_iops=100
[reader]
rw=randread
[writer]
rw=randwrite
numjobs=2
";

/// Starts an agent whose process id is in a file.
const VIA: &str = "--via=echo $$ > {host}.pid; exec";

/// The words of the row that begins so.
fn row(run: &OnTerminal, start: &str) -> Vec<String> {
    let screen = run.screen();
    let row = screen.lines().find(|row| row.starts_with(start)).unwrap_or_default();
    row.split_whitespace().map(str::to_owned).collect()
}

/// The reads per second of a row, once its jobs run.
fn reads(row: &[String]) -> Option<f64> {
    let at = row.iter().position(|word| word == "running")?;
    // The time left is in between.
    row.get(at + 2)?.parse().ok()
}

#[test]
fn hosts_have_rows_that_add_up_a_lost_one_is_marked_and_q_ends_them_all() {
    needs!("setsid");
    let dir = TestDir::new();
    let path = format!("--ferrio-path={FERRIO}");
    let job = dir.job(JOBS);
    let mut run = OnTerminal::run(&dir, &["--hosts=one,two", VIA, &path, &job], |_| {});
    run.shows("6 running");
    // Each reader does 100 reads a second. The rows of a drawing belong to one moment.
    until("figures of both hosts", || {
        let rows = [row(&run, "one "), row(&run, "two "), row(&run, "all x2 ")];
        let [Some(one), Some(two), Some(all)] = rows.each_ref().map(|row| reads(row)) else { return false };
        [one, two].iter().all(|rate| (80.0..120.0).contains(rate)) && (all - one - two).abs() <= 1.0
    });
    run.shows("latency of all hosts: p50 ");
    run.shows("sort: host");
    run.press("jj");
    run.shows("IOPS of two: ");
    // Nothing stops other hosts, and nobody is left to wonder.
    run.press("\u{1a}");
    run.shows("Ctrl-Z would not stop the jobs of other hosts; q ends them");

    let agent: i32 = dir.read("two.pid").trim().parse().unwrap();
    kill(Pid::from_raw(agent), Signal::SIGKILL).unwrap();
    run.shows("3 running, 1 host LOST");
    assert_eq!(row(&run, "two ")[1], "LOST");
    run.shows("host two is lost: ");
    // The others go on.
    until("figures of one host alone", || {
        let rows = [row(&run, "one "), row(&run, "all x2 ")];
        let [Some(one), Some(all)] = rows.each_ref().map(|row| reads(row)) else { return false };
        one > 80.0 && (all - one).abs() <= 1.0
    });
    run.press("q");
    run.shows("ENDING");
    let (status, text) = run.end();
    assert_eq!(status.code(), Some(129), "{text:?}");
    let [_, view, after] = screens(&text);
    assert!(view.contains("two       LOST"), "{view}");
    for line in ["host two is lost: ", "Hosts (2):", "two is lost: ", "reader: (groupid=0, jobs=2)"] {
        assert!(after.contains(line), "{line}: {after}");
    }
    let agent: i32 = dir.read("one.pid").trim().parse().unwrap();
    assert!(!fs::exists(format!("/proc/{agent}")).unwrap(), "its agent has ended");
}

#[test]
fn intervals_in_a_file_have_the_figures_that_the_view_shows() {
    needs!("setsid");
    let dir = TestDir::new();
    let path = format!("--ferrio-path={FERRIO}");
    let job = dir.job(JOBS);
    let words = ["--hosts=one,two", VIA, &path, "--interval-report=500ms:intervals", "--output=report", &job];
    let mut run = OnTerminal::run(&dir, &words, |_| {});
    run.shows("latency of all hosts: p50 ");
    run.press("\u{3}");
    let (status, text) = run.end();
    assert_eq!(status.code(), Some(128), "{text:?}");
    let [_, _, after] = screens(&text);
    assert!(!after.contains("Hosts (2)") && dir.read("report").contains("Hosts (2):"), "{after}");
    // Two intervals make a second of the view.
    let intervals = dir.read("intervals");
    assert!(intervals.lines().filter(|line| line.contains("\"host\":\"two\"")).count() >= 4, "{intervals}");
}

#[test]
fn only_rank_0_needs_a_terminal() {
    needs!("setsid");
    let dir = TestDir::new();
    let job = dir.job(JOBS);
    let meeting = format!("--rendezvous=file:{}", dir.work().join("meeting").display());
    let words = ["--ranks=2", &*meeting, &*job];
    let other = [&["--tui", "--rank=1"], &words[..]].concat();
    let other = dir.ferrio(&other).start();
    let mut run = OnTerminal::run(&dir, &[&["--rank=0"], &words[..]].concat(), |_| {});
    run.shows("6 running");
    let host = nix::sys::utsname::uname().unwrap().nodename().to_str().unwrap().to_owned();
    until("a row for each rank", || {
        [0, 1].iter().all(|rank| reads(&row(&run, &format!("{host}.{rank} "))).is_some())
    });
    run.press("q");
    let (status, text) = run.end();
    assert_eq!(status.code(), Some(128), "{text:?}");
    let other = other.wait();
    assert_eq!((other.status, other.stdout.as_str()), (Some(0), ""), "{other:?}");
}

#[test]
fn without_a_terminal_no_host_is_asked() {
    needs!("setsid");
    let dir = TestDir::new();
    let job = dir.job(JOBS);
    let words = ["--wait", FERRIO, "--tui", "--hosts=one", "--via=touch asked; : {host}", &job];
    let run = dir.program(crate::support::installed("setsid"), &words).run().ended_with(1);
    assert!(run.stderr.contains("--tui: there is no terminal to draw on"), "{}", run.stderr);
    assert_eq!(dir.size("asked"), None);
}
