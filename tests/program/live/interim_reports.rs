//! Reports of a run that goes on: `--status-interval`, SIGUSR1 and the status file. The last report is that of the whole run.
//!
//! Runs go on until the reports that a test waits for are there. How soon a job answers depends on the machine; that it does is what
//! is tested.

use std::fs::{self, File};
use std::path::Path;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Deserializer, Value};

use crate::support::{Running, TestDir, number};

const ENDLESS: [&str; 4] = ["--ioengine=null", "--size=1g", "--time_based", "--runtime=1h"];
/// Shows by its file when it has begun.
const WRITER: [&str; 8] = [
    "--name=a",
    "--filename=f",
    "--rw=write",
    "--size=1m",
    "--fallocate=none",
    "--thinktime=1ms",
    "--time_based",
    "--runtime=1h",
];
const HEADING: &str = "\nRun status group 0 (all jobs):\n";

fn with<'a>(words: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    words.iter().chain(more).copied().collect()
}

/// The whole documents of a stream; one that is still being written does not count.
fn documents(text: &str) -> Vec<Value> {
    Deserializer::from_str(text).into_iter().map_while(Result::ok).collect()
}

fn written(file: &Path) -> Vec<Value> {
    documents(&fs::read_to_string(file).unwrap_or_default())
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// Ends the run. All documents in `file`, of which there is nothing else.
fn end(running: Running, file: &Path) -> Vec<Value> {
    running.signal(Signal::SIGINT);
    running.wait().ended_with(128);
    let all: Result<Vec<Value>, _> = Deserializer::from_str(&text(file)).into_iter().collect();
    all.unwrap_or_else(|error| panic!("{error}:\n{}", text(file)))
}

/// I/Os of the reads and their latencies.
fn reads(document: &Value, job: usize) -> (u64, u64) {
    let figure = |name| number(document, &format!("/jobs/{job}/read/{name}"));
    (figure("total_ios"), figure("clat_ns/N"))
}

/// Documents come until one is there with a latency for each I/O of each job, and two more.
fn grows(words: &[&str], jobs: usize) {
    let dir = TestDir::new();
    let out = dir.beside("out");
    let words = with(&["--output-format=json", "--status-interval=20ms", "--output=../out"], words);
    let mut running = dir.ferrio(&words).start();
    let answered = |document: &Value| {
        (0..jobs).map(|job| reads(document, job)).all(|(ios, latencies)| ios > 0 && ios == latencies)
    };
    running.until("three reports", || {
        let all = written(&out);
        all.len() > 2 && all.iter().any(answered)
    });
    let all = end(running, &out);
    for (earlier, later) in all.iter().zip(&all[1..]) {
        assert!(earlier["timestamp_ms"].as_u64() <= later["timestamp_ms"].as_u64());
        assert!(number(earlier, "/jobs/0/elapsed") <= number(later, "/jobs/0/elapsed"));
        for job in 0..jobs {
            let (before, after) = (reads(earlier, job), reads(later, job));
            assert!(before.0 <= after.0 && before.1 <= after.1, "{before:?} {after:?}");
            for figure in ["job_runtime", "read/runtime", "read/io_bytes", "read/bw_samples"] {
                let figure = format!("/jobs/{job}/{figure}");
                assert!(number(earlier, &figure) <= number(later, &figure), "{figure}");
            }
        }
    }
    let (last, others) = all.split_last().unwrap();
    assert!(answered(last));
    assert_eq!(last["ferrio"]["run"]["end"], "signal");
    for other in others {
        assert_eq!(other["ferrio"]["run"]["end"], "running");
        let warnings = other["ferrio"]["warnings"].as_array().unwrap();
        assert!(warnings.iter().all(|warning| warning["code"] != "short-run"), "{warnings:?}");
    }
    assert_eq!(all[0]["jobs"][0]["eta"], 2_147_483_647);
}

#[test]
fn interim_documents_are_whole_and_grow_up_to_the_last_one() {
    grows(&with(&["--name=a", "--rw=randread"], &ENDLESS), 1);
}

#[test]
fn jobs_that_wait_most_of_the_time_and_jobs_of_a_file_are_in_them_too() {
    let thinks = with(&["--name=thinks", "--thinktime=1h"], &ENDLESS);
    let limited = with(&["--name=limited", "--rate_iops=5"], &ENDLESS);
    let file =
        ["--name=file", "--ioengine=psync", "--filename=f", "--size=64k", "--time_based", "--runtime=1h"];
    let deep = with(&["--name=deep", "--iodepth=1"], &ENDLESS);
    grows(&[thinks, limited, file.to_vec(), deep].concat(), 4);
}

#[test]
fn a_job_that_does_not_answer_holds_no_report_back() {
    let dir = TestDir::new();
    let (fifo, out) = (dir.work().join("fifo"), dir.beside("out"));
    mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    let words = ["--output-format=json", "--status-interval=10ms", "--output=../out"];
    let busy = ["--name=busy", "--ioengine=null", "--size=64k", "--exec_postrun=cat fifo"];
    let jobs = with(&["--name=a", "--numjobs=3"], &ENDLESS);
    let mut running = dir.ferrio(&[&words[..], &busy, &jobs].concat()).start();
    // The job is over but for its command, which waits for somebody to write.
    let shown =
        |document: &Value| reads(document, 0) == (16, 16) && (1..4).all(|job| reads(document, job).0 > 0);
    running.until("three reports", || written(&out).iter().filter(|document| shown(document)).count() > 2);
    drop(File::options().write(true).open(&fifo).unwrap());
    let all = end(running, &out);
    assert!(all.iter().all(|document| document["jobs"].as_array().unwrap().len() == 4));
    assert!(shown(all.last().unwrap()));
}

#[test]
fn each_sigusr1_prints_one_report_and_the_last_one_still_follows() {
    let dir = TestDir::new();
    let out = dir.beside("out");
    let later = with(&["--name=later", "--stonewall"], &ENDLESS);
    let mut running = dir.ferrio(&[&["--output=../out"], &WRITER[..], &later].concat()).start();
    running.until("the first write", || dir.is_written("f"));
    for reports in 1..=2 {
        running.signal(Signal::SIGUSR1);
        running.until("a report", || text(&out).matches(HEADING).count() == reports);
    }
    running.signal(Signal::SIGINT);
    running.wait().ended_with(128);
    let text = text(&out);
    assert_eq!(text.matches(HEADING).count(), 3);
    assert_eq!(text.matches("\na: (groupid=0, jobs=1): err= 0: pid=").count(), 3, "{text}");
    assert!(!text.contains("\nlater: (groupid=1, jobs=1)"), "a job that did not start is not in the text");
}

#[test]
fn the_status_file_is_removed_and_prints_one_report() {
    let dir = TestDir::new();
    let (out, file) = (dir.beside("out"), dir.work().join("fio-dump-status"));
    let later = with(&["--name=later", "--stonewall"], &ENDLESS);
    let words = [&["--output-format=json", "--output=../out"], &WRITER[..], &later].concat();
    let temporary = dir.work().display().to_string();
    let mut running = dir.ferrio(&words).env("TMPDIR", &temporary).env("TEMP", "/nowhere").start();
    running.until("the first write", || dir.is_written("f"));
    File::create(&file).unwrap();
    running.until("the report", || !file.exists() && written(&out).len() == 1);
    let all = end(running, &out);
    assert_eq!(all.len(), 2);
    for document in &all {
        assert_eq!(document["jobs"][1]["jobname"], "later");
        assert_eq!((reads(document, 1), number(document, "/jobs/1/job_start")), ((0, 0), 0));
        assert!(number(document, "/jobs/0/write/total_ios") > 0);
    }
}

#[test]
fn a_group_is_one_entry_of_every_report_in_every_format() {
    let dir = TestDir::new();
    let out = dir.beside("out");
    let group = ["--name=a", "--numjobs=4", "--group_reporting", "--rate_iops=1000"];
    let words = ["--output-format=normal,json,terse", "--status-interval=20ms", "--output=../out"];
    let mut running = dir.ferrio(&[&words[..], &group, &ENDLESS].concat()).start();
    running.until("two reports", || text(&out).matches(HEADING).count() >= 2);
    running.signal(Signal::SIGINT);
    running.wait().ended_with(128);
    let text = text(&out);
    let reports = text.matches(HEADING).count();
    assert_eq!(text.matches("\n3;fio-").count(), reports);
    assert_eq!(text.matches("\n  \"jobs\" : [\n").count(), reports);
    let entries = text.matches("\na: (groupid=0, jobs=4): err= 0: pid=").count();
    // Before the first I/O there is no entry.
    assert!(entries >= 2 && entries <= reports, "{text}");
    for line in text.lines().filter(|line| line.starts_with("3;fio-")) {
        assert_eq!(line.split(';').count(), 121, "{line}");
    }
}

#[test]
fn sigusr1_is_taken_from_the_first_moment_to_the_last() {
    let dir = TestDir::new();
    let layout =
        ["--output-format=json", "--name=a", "--filename=f", "--rw=read", "--size=16g", "--fallocate=none"];
    let mut running = dir.ferrio(&layout).start();
    running.until("layout", || dir.is_written("f"));
    running.signal(Signal::SIGUSR1);
    running.signal(Signal::SIGINT);
    let run = running.wait().ended_with(128);
    assert!(!documents(&run.stdout).is_empty());

    let out = dir.beside("out");
    let words = ["--output-format=json", "--status-interval=1ms", "--output=../out", "--name=a"];
    let mut running = dir.ferrio(&with(&words, &ENDLESS)).start();
    running.until("the output file", || out.exists());
    (0..50).for_each(|_| running.signal(Signal::SIGUSR1));
    running.until("a report", || !written(&out).is_empty());
    running.signal(Signal::SIGINT);
    // The process stays known until it is waited for.
    (0..1000).for_each(|_| running.signal(Signal::SIGUSR1));
    let all = end(running, &out);
    assert_eq!(reads(all.last().unwrap(), 0).0, reads(all.last().unwrap(), 0).1);
}
