//! Every system call of a run may fail: jobs run under strace, which lets one call of each thread fail, or all from one on, at every
//! position. Each run must end in time, name what failed, and leave one whole report and nothing else.
//!
//! An ordinary test run tries a sample. `FERRIO_FAULTS=all cargo test --test program -- faults::matrix` tries all, and
//! `FERRIO_FAULTS=300` that many; `FERRIO_SEED` selects another sample.
//!
//! The program waits for its job file while strace attaches, so calls of the loader and of the standard library's runtime are not counted.

mod jobs;
mod trace;

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use nix::errno::Errno;
use serde_json::Value;

use crate::random_numbers::RandomNumbers;
use crate::support::{TestDir, at_once, installed, segments, segments_of, skipped};
use ferrio_job::reason;
use jobs::{JOBS, ends_if_it_always_fails, errors};
use trace::{Trace, positions};

/// A run that takes longer counts as hanging. It does a few KiB of I/O.
const RUN_TIMEOUT: Duration = Duration::from_secs(20);

/// Faults that every run of the tests tries.
const SAMPLE: usize = 150;

/// Twice the number of EINTR in a row after which the program gives up (`Interrupted` in crates/machine).
const MAX_INTERRUPTIONS: usize = 2_000;

/// Calls on the files of a run, its logs and its report among them, whose failure fails the run.
const SERIOUS: [&str; 22] = [
    "close",
    "fdatasync",
    "fsync",
    "ftruncate",
    "io_submit",
    "io_uring_enter",
    "msync",
    "open",
    "openat",
    "pread64",
    "preadv",
    "preadv2",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "read",
    "renameat",
    "splice",
    "sync_file_range",
    "syncfs",
    "unlink",
    "write",
];

/// The names of the files that jobs use. strace compares paths as they are written, and those of descriptors.
const NAMES: [&str; 6] = ["f", "g", "r.json", "x_lat.1.log", "x_bw.1.log", "a.0.0"];

/// One call, or all calls from one on, of each thread of a job.
#[derive(Clone, Debug)]
struct Fault {
    job: usize,
    call: String,
    error: &'static str,
    /// `3` or `3+`
    when: String,
}

impl Fault {
    fn goes_on(&self) -> bool {
        self.when.ends_with('+')
    }

    /// True if the fault is limited to the files of the job: if every write failed, no message could be printed.
    fn only_job_files(&self) -> bool {
        self.goes_on()
            && self.error != "EINTR"
            && ["write", "pwrite64", "close"].contains(&self.call.as_str())
    }

    fn errno(&self) -> Errno {
        jobs::errno(self.error)
    }

    /// The arguments of strace that inject the fault.
    fn options(&self, dir: &TestDir) -> Vec<String> {
        let Fault { call, error, when, .. } = self;
        let mut options = vec![
            "-e".to_owned(),
            format!("inject={call}:error={error}:when={when}"),
            "-e".to_owned(),
            format!("trace={call}"),
        ];
        if self.only_job_files() {
            // Programs that read a report only know whole ones: the file is made by another name.
            for name in NAMES.iter().filter(|&&name| name != "r.json" || self.call != "openat") {
                options.extend(["-P".to_owned(), (*name).to_owned()]);
                options.extend(["-P".to_owned(), dir.work().join(name).display().to_string()]);
            }
        }
        options
    }
}

/// A run under strace that has ended or was killed.
struct Traced {
    hung: bool,
    status: Option<i32>,
    stderr: String,
    report: Option<Value>,
    files: Vec<String>,
    /// The directory that it ran in, with a slash.
    work: String,
    /// Shared memory that was left.
    segments: Vec<String>,
    trace: Trace,
}

/// Runs a job under strace.
fn traced(job: usize, options: impl FnOnce(&TestDir) -> Vec<String>) -> Traced {
    let dir = TestDir::new();
    let before = segments();
    let (reader, mut writer) = std::io::pipe().unwrap();
    let mut running = dir.ferrio(&["--output-format=json", "--output=r.json", "-"]).stdin(reader).start();
    let waits_in = format!("/proc/{}/wchan", running.pid());
    running
        .until("it waits for its job file", || fs::read_to_string(&waits_in).unwrap().contains("pipe_read"));
    let pid = running.pid();
    let trace = dir.beside("trace");
    let mut strace = Command::new(installed("strace"))
        .args(["-f", "-y", "-o"])
        .arg(&trace)
        .args(["-p", &running.pid().to_string()])
        .args(options(&dir))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    // Open until the end: strace reports each thread there, and would be ended by a closed pipe.
    let mut reports = BufReader::new(strace.stderr.take().unwrap());
    reports.read_line(&mut said).unwrap();
    assert!(said.contains("attached"), "{said}");
    if let Err(error) = writer.write_all(JOBS[job].1.as_bytes()) {
        // If each read is interrupted, the program may have given up already.
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }
    drop(writer);
    let hung = !running.ends_within(RUN_TIMEOUT);
    let stderr_path = running.stderr_path();
    let (status, stderr) = if hung {
        running.kill();
        (None, fs::read_to_string(stderr_path).unwrap_or_default())
    } else {
        let run = running.wait();
        (run.status, run.stderr)
    };
    let _ = strace.wait();
    drop(reports);
    let segments = segments_of(pid, &before);
    for segment in &segments {
        let _ = Command::new("ipcrm").args(["-m", segment]).status();
    }
    let report = fs::read(dir.work().join("r.json")).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let files = dir.files().into_iter().map(|(name, _)| name).collect();
    let work = format!("{}/", dir.work().display());
    Traced { work, hung, status, stderr, report, files, segments, trace: Trace::read(&trace) }
}

/// All faults of a job. It runs once without any, to find its calls and the files that it leaves.
fn faults(job: usize) -> (Vec<Fault>, Vec<String>) {
    let good = traced(job, |_| Vec::new());
    assert_eq!(good.status, Some(0), "{}: {}", JOBS[job].0, good.stderr);
    assert!(good.trace.is_complete(), "{}: strace did not see the end", JOBS[job].0);
    let mut faults = Vec::new();
    for (call, count) in good.trace.calls() {
        for &error in errors(&call) {
            let fault = |when: String| Fault { job, call: call.clone(), error, when };
            let (single, lasting) = positions(count);
            faults.extend(single.iter().map(|at| fault(at.to_string())));
            if ends_if_it_always_fails(&call, error) {
                faults.extend(lasting.iter().map(|at| fault(format!("{at}+"))));
            }
        }
    }
    (faults, good.files)
}

/// The defect of a run under a fault; `None` if the fault did not happen.
fn judged(fault: &Fault, files: &[String]) -> Option<Vec<String>> {
    let run = traced(fault.job, |dir| fault.options(dir));
    let injected = run.trace.injected();
    if injected.is_empty() {
        return None;
    }
    // Under strace on a busy machine, a storm may be too slow for one: then it is left to end by itself.
    if run.hung && fault.error == "EINTR" && fault.goes_on() && injected.len() < MAX_INTERRUPTIONS {
        return None;
    }
    // The standard library ends the program if it cannot make the stack that tells of stack overflows.
    if run.stderr.contains("alternative stack") {
        return Some(Vec::new());
    }
    let mut wrong = Vec::new();
    let mut check = |good: bool, what: &str| {
        if !good {
            wrong.push(what.to_owned());
        }
    };
    check(!run.hung, "it does not end");
    check(run.hung || run.status.is_some(), "a signal ends it");
    // The library that knows time zones reads a directory of them with the standard library, which panics if it cannot be closed.
    let is_of_zones = run.stderr.contains("unexpected error during closedir");
    // The runtime of tokio_uring panics if it cannot be set up; the job fails with that.
    let is_of_runtime = run.stderr.contains("/tokio-uring-") && run.report.is_some();
    check(is_of_zones || is_of_runtime || !run.stderr.contains("panic"), "it panics");
    let says_why_none = run.stderr.contains("r.json") || run.stderr.contains("job file");
    let failed = run.status != Some(0);
    let stderr_fails = injected.iter().any(|line| line.contains("write(2<"));
    check(
        is_of_zones || run.report.is_some() || (failed && (says_why_none || stderr_fails)),
        "no report, and no message about it",
    );
    check(!failed || run.hung || stderr_fails || !run.stderr.trim().is_empty(), "it fails without a message");
    let is_left = |name: &&String| {
        files.contains(name) || ["f", "g"].contains(&name.as_str()) || name.ends_with("run.txt")
    };
    let left: Vec<&String> = run.files.iter().filter(|name| !is_left(name)).collect();
    // What cannot be removed stays.
    let removes = ["unlink", "shmctl"].contains(&fault.call.as_str());
    check(removes || left.is_empty(), &format!("it leaves {left:?}"));
    check(removes || run.hung || run.segments.is_empty(), "it leaves shared memory");
    let of_files = injected.iter().find(|line| is_of_files(line, &fault.call, &run.work));
    if SERIOUS.contains(&fault.call.as_str()) && of_files.is_some() {
        // The runtime of tokio_uring tries again and keeps the error to itself.
        let is_tried_again = JOBS[fault.job].0 == "tokio_uring" && fault.call == "io_uring_enter";
        let may_pass = is_tried_again || ["EINTR", "EAGAIN"].contains(&fault.error);
        let is_named = stderr_fails || run.stderr.contains(&reason(&fault.errno().into()));
        check(may_pass || failed, "status 0");
        check(may_pass || run.hung || is_named, "the message does not name the error");
    }
    if !wrong.is_empty() {
        let first: Vec<&str> =
            run.stderr.lines().filter(|line| !line.starts_with(['w', ' '])).take(3).collect();
        wrong.push(format!("status {:?}: {}", run.status, first.join(" / ")));
        wrong.extend(of_files.or(injected.first()).map(|line| line.chars().take(200).collect()));
    }
    Some(wrong)
}

#[test]
fn whatever_call_fails_the_run_ends_and_says_so() {
    needs!("strace");
    if !strace_can_attach() {
        return skipped(
            "the matrix of failing calls",
            "strace may not attach to a process (kernel.yama.ptrace_scope)",
        );
    }
    let wanted = std::env::var("FERRIO_FAULTS").unwrap_or_else(|_| SAMPLE.to_string());
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let mut dice = RandomNumbers(number("FERRIO_SEED").unwrap_or(17));
    let found = Mutex::new(Vec::new());
    at_once_in_lanes(JOBS.len(), |job| {
        let (faults, files) = faults(job);
        found.lock().unwrap().push((job, faults, files));
    });
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|(job, ..)| *job);
    let mut all: Vec<&Fault> = found.iter().flat_map(|(_, faults, _)| faults).collect();
    let count = all.len();
    if wanted != "all" {
        let wanted: usize = wanted.parse().expect("FERRIO_FAULTS is a number or `all`");
        (0..all.len()).for_each(|at| all.swap(at, (dice.next() % count as u64) as usize));
        all.truncate(wanted);
    }
    let (happened, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    at_once_in_lanes(all.len(), |at| {
        let fault = all[at];
        let Some(problems) = judged(fault, &found[fault.job].2) else { return };
        happened.fetch_add(1, Relaxed);
        if !problems.is_empty() {
            let Fault { job, call, error, when } = fault;
            let text = format!("{}: {call} {error} at {when}: {}", JOBS[*job].0, problems.join("; "));
            if wanted == "all" {
                let _ = writeln!(std::io::stderr(), "{text}");
            }
            wrong.lock().unwrap().push(text);
        }
    });
    let happened = happened.into_inner();
    if wanted == "all" {
        let _ = writeln!(std::io::stderr(), "{happened} faults of {count} happened");
    }
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {happened} faults:\n{}", wrong.len(), wrong.join("\n"));
    assert!(happened * 2 >= all.len(), "{happened} of {} faults happened", all.len());
}

/// True if the call in a line is about a file of a run. Relative paths are below the directory `work`.
fn is_of_files(line: &str, call: &str, work: &str) -> bool {
    if call.starts_with("io_") {
        return true;
    }
    // The output of a command, which its shell closes, too.
    if line.contains("run.txt") {
        return false;
    }
    let (before, after) = line
        .split_once("AT_FDCWD<")
        .map_or((line, ""), |(before, rest)| (before, rest.split_once('>').map_or("", |(_, after)| after)));
    let is_name = |text: &str| NAMES.iter().any(|name| text.contains(&format!("\"{name}\"")));
    before.contains(work) || after.contains(work) || is_name(after) || is_name(before)
}

/// Calls `work` with each number below `count`, a few at the same time.
fn at_once_in_lanes(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    at_once(&[(); 3], |()| {
        loop {
            let at = next.fetch_add(1, Relaxed);
            if at >= count {
                return;
            }
            work(at);
        }
    });
}

/// True if strace may trace a process that it has not started.
fn strace_can_attach() -> bool {
    let Ok(mut child) = Command::new("sleep").arg("60").spawn() else { return false };
    let mut strace = Command::new(installed("strace"))
        .args(["-p", &child.id().to_string(), "-o", "/dev/null"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let _ = BufReader::new(strace.stderr.take().unwrap()).read_line(&mut said);
    let _ = child.kill();
    let _ = (child.wait(), strace.wait());
    said.contains("attached")
}
