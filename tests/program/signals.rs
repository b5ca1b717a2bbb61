//! A signal ends the run early and in order: jobs stop, the report is complete, the status is 128.

use nix::sys::signal::Signal;

use crate::support::{Place, number};

/// Writes one MiB over and over until somebody stops it; the file grows from nothing once I/O goes on.
const ENDLESS: [&str; 8] = [
    "--output-format=json",
    "--name=endless",
    "--filename=f",
    "--rw=write",
    "--size=1m",
    "--fallocate=none",
    "--time_based",
    "--runtime=1h",
];

fn interrupted(words: &[&str], signal: Signal) -> serde_json::Value {
    let place = Place::new();
    let mut running = place.ferrio(words).start();
    running.until("its first write", || place.is_written("f"));
    running.signal(signal);
    let run = running.wait().ended_with(128);
    let line = format!("terminating on signal {}", signal as i32);
    assert!(run.stderr.contains(&line), "{line:?} is expected in\n{}", run.stderr);
    run.json()
}

#[test]
fn ctrl_c_ends_the_run_with_a_full_report() {
    let report = interrupted(&ENDLESS, Signal::SIGINT);
    let job = &report["jobs"][0];
    assert_eq!(job["error"], 0);
    assert!(number(job, "/write/total_ios") > 0);
    assert_eq!(number(job, "/write/io_bytes"), number(job, "/write/total_ios") * 4096);
    assert_eq!(job["write"]["clat_ns"]["N"], job["write"]["total_ios"]);
}

#[test]
fn a_polite_kill_does_the_same() {
    let report = interrupted(&ENDLESS, Signal::SIGTERM);
    assert!(number(&report, "/jobs/0/write/total_ios") > 0);
}

#[test]
fn requests_in_flight_are_waited_for() {
    let deep: Vec<&str> = ENDLESS.iter().copied().chain(["--ioengine=io_uring", "--iodepth=32"]).collect();
    let report = interrupted(&deep, Signal::SIGINT);
    let job = &report["jobs"][0];
    assert_eq!(job["write"]["clat_ns"]["N"], job["write"]["total_ios"]);
}

#[test]
fn jobs_behind_a_stonewall_do_not_begin_anymore() {
    let words: Vec<&str> = ENDLESS
        .iter()
        .copied()
        .chain(["--name=later", "--stonewall", "--filename=g", "--rw=write", "--size=64k"])
        .collect();
    let report = interrupted(&words, Signal::SIGINT);
    assert_eq!(report["jobs"].as_array().unwrap().len(), 2);
    assert_eq!(report["jobs"][1]["jobname"], "later");
    assert_eq!(number(&report, "/jobs/1/write/total_ios"), 0);
}

/// The layout of this file would take far longer than the test.
#[test]
fn a_signal_during_layout_removes_the_unfinished_file() {
    let place = Place::new();
    let words =
        ["--output-format=json", "--name=a", "--filename=f", "--rw=read", "--size=16g", "--fallocate=none"];
    let mut running = place.ferrio(&words).start();
    running.until("layout", || place.is_written("f"));
    running.signal(Signal::SIGINT);
    let report = running.wait().ended_with(128).json();
    assert_eq!(number(&report, "/jobs/0/read/total_ios"), 0);
    assert_eq!(place.files(), []);
}
