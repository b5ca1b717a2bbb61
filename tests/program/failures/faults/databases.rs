//! Databases whose files fail: the first error ends all jobs, and the report says which I/O it was.

use serde_json::Value;

use super::filesystem::{Call, Fault, FaultyFile, Rule, When};
use super::fuse_is_available;
use crate::support::{Run, TestDir, number};

/// A database of four sessions, of which one file is on a file system with this fault.
fn bank(option: &str, bytes: usize, rule: Rule) -> Run {
    let dir = TestDir::new();
    let file = FaultyFile::mount(&dir.beside(""), vec![0x5a; bytes], &[rule]).expect("FUSE is available");
    let path = file.path();
    let job = dir.job(&format!(
        "[bank]\nworkload=innodb\nnumjobs=4\nruntime=1h\nsize=1m\nlog_size=1m\ndirect=0\n{option}={path}\n"
    ));
    dir.ferrio(&["--output-format=json", &job]).run()
}

fn failed_with_eio(run: &Run) -> Vec<String> {
    assert_eq!((run.status, run.signal), (Some(1), None), "{}", run.stderr);
    let report: Value = run.json();
    let jobs = report["jobs"].as_array().unwrap();
    jobs.iter().filter(|job| number(job, "/error") == 5).map(|job| job["jobname"].to_string()).collect()
}

#[test]
fn a_log_that_cannot_be_synced_ends_all_sessions() {
    if !fuse_is_available() {
        return;
    }
    let rule = Rule { call: Call::Fsync, when: When::Always, fault: Fault::Error(nix::errno::Errno::EIO) };
    let run = bank("log_filename", 1 << 20, rule);
    assert_eq!(failed_with_eio(&run), ["\"bank\""]);
    assert!(run.stderr.contains("Input/output error: sync "), "{}", run.stderr);
}

#[test]
fn a_log_that_cannot_be_written_ends_all_sessions_with_the_place() {
    if !fuse_is_available() {
        return;
    }
    let rule = Rule { call: Call::Write, when: When::At(40960), fault: Fault::Error(nix::errno::Errno::EIO) };
    let run = bank("log_filename", 1 << 20, rule);
    assert_eq!(failed_with_eio(&run), ["\"bank\""]);
    assert!(run.stderr.contains("40960"), "{}", run.stderr);
}

#[test]
fn a_double_write_area_that_fails_ends_the_sessions_that_wait_for_the_cleaner() {
    if !fuse_is_available() {
        return;
    }
    let rule = Rule { call: Call::Write, when: When::Always, fault: Fault::Error(nix::errno::Errno::EIO) };
    let run = bank("dirty_pages=2\ndouble_write_filename", 2 << 20, rule);
    assert_eq!(failed_with_eio(&run), ["\"bank.cleaner\""]);
}
