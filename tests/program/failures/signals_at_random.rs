//! Signals at random moments of all phases: the run ends in time, with a whole report and the right status, and leaves nothing behind.
//!
//! `FERRIO_SIGNALS=500 cargo test --test program -- signals_at_random` tries that many runs; `FERRIO_SEED` selects others.

use std::fs;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::random_numbers::RandomNumbers;
use crate::support::{TestDir, at_once, segments, segments_of};

/// Runs that every run of the tests tries.
const SAMPLE: usize = 60;

/// Time that a run has to end after the last signal that ends it. No other signal hurries a run.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Jobs that take up to half a second together with their layout, commands and report, and how many they are.
const JOBS: [(&str, usize); 9] = [
    // Layout.
    ("[a]\nioengine=psync\nrw=read\nsize=96m\nfilename=f\nfallocate=none\nunlink=1\n", 1),
    ("[a]\nioengine=psync\nrw=randrw\nsize=1m\nfilename=f\nramp_time=100ms\ntime_based\nruntime=200ms\n", 1),
    ("[a]\nioengine=io_uring\niodepth=8\nrw=write\nsize=16m\nfilename=f\nverify=sha512\nbs=16k\n", 1),
    ("[a]\nioengine=null\nrw=randread\nsize=200m\nwrite_lat_log=x\nwrite_iops_log=x\nlog_avg_msec=10\n", 1),
    ("[a]\nioengine=null\nsize=4k\nexec_prerun=sleep 0.15\nexec_postrun=sleep 0.15\n", 1),
    ("[a]\nioengine=null\nsize=4k\nexec_postrun=sleep 3600\n", 1),
    (
        "[global]\nrw=randrw\nsize=1m\ntime_based\nruntime=200ms\n[a]\nioengine=libaio\niodepth=4\nmem=shm\nfilename=f\n\
      [b]\nioengine=mmap\nfilename=g\nmem=mmap:../buffer\n[c]\nstonewall\nioengine=posixaio\nfilename=f\nmem=shm\n",
        3,
    ),
    ("[a]\nioengine=null\nrw=randread\nsize=20m\nnumjobs=40\n", 40),
    (
        "[a]\nioengine=tokio_uring\niodepth=4\nrw=randwrite\nsize=1m\nfilename=f\ntime_based\nruntime=200ms\nfsync=16\n",
        1,
    ),
];

/// What ends a run.
const ENDING: [Signal; 5] =
    [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGUSR2];

/// One signal, or two: stopped and continued.
fn draw(dice: &mut RandomNumbers) -> (Signal, bool) {
    let others = [
        (Signal::SIGUSR1, false),
        (Signal::SIGPIPE, false),
        (Signal::SIGTSTP, true),
        (Signal::SIGSTOP, true),
    ];
    let at = (dice.next() % (ENDING.len() + others.len()) as u64) as usize;
    ENDING.get(at).map_or_else(|| others[at - ENDING.len()], |&signal| (signal, false))
}

/// Runs a job and sends it signals. Returns what is wrong.
fn trial(seed: u64) -> Vec<String> {
    let mut dice = RandomNumbers(seed);
    let dir = TestDir::new();
    let (job, jobs) = JOBS[(dice.next() % JOBS.len() as u64) as usize];
    let before = segments();
    let as_text = dice.happens(30);
    let format = if as_text { "--output-format=normal" } else { "--output-format=json" };
    let mut running = dir.ferrio_in_foreground(&[format, "--output=report", &dir.job(job)]).start();
    let pid = running.pid();
    let (mut sent, mut asked) = (Vec::new(), None);
    for _ in 0..=dice.next() % 3 {
        sleep(Duration::from_micros(dice.next() % 400_000));
        if running.ends_within(Duration::ZERO) {
            break;
        }
        let (signal, is_continued) = draw(&mut dice);
        running.signal(signal);
        sent.push(signal);
        if ENDING.contains(&signal) {
            asked = Some(Instant::now());
        }
        if is_continued {
            sleep(Duration::from_micros(dice.next() % 100_000));
            running.signal(Signal::SIGCONT);
        }
    }
    let last = Instant::now();
    // A command that runs for an hour is ended by two signals, or one while it runs.
    let mut more = if job.contains("3600") { 2 } else { 0 };
    let is_late = |asked: Option<Instant>| asked.is_some_and(|asked| asked.max(last).elapsed() > END_TIMEOUT);
    while !is_late(asked) && !running.ends_within(Duration::ZERO) {
        if more > 0 && last.elapsed() > Duration::from_millis(700) * (3 - more) {
            running.signal(Signal::SIGTERM);
            sent.push(Signal::SIGTERM);
            asked = Some(Instant::now());
            more -= 1;
        }
        running.wait_between_polls("its end");
    }
    let mut wrong = Vec::new();
    let mut check = |good: bool, what: String| {
        if !good {
            wrong.push(what);
        }
    };
    if !running.ends_within(Duration::ZERO) {
        running.kill();
        return vec![format!("seed {seed}: {job:?} with {sent:?} does not end")];
    }
    let run = running.wait();
    let names: Vec<String> = dir.files().into_iter().map(|(name, _)| name).collect();
    let is_ending = |signal: &Signal| ENDING.contains(signal);
    let was_terminated = run.stderr.contains("terminating on signal");
    if let Some(signal) = run.signal {
        // Before the run began: nothing is there.
        check(sent.iter().any(|&sent| sent as i32 == signal), format!("killed by {signal}"));
        check(names.is_empty(), format!("killed by {signal}, and {names:?} are left"));
    } else {
        let status = if was_terminated { 128 } else { 0 };
        check(run.status == Some(status), format!("status {:?} instead of {status}", run.status));
        let report = fs::read_to_string(dir.work().join("report")).unwrap_or_default();
        check(
            is_whole(&report, as_text, was_terminated, jobs),
            format!("no whole report: {} bytes", report.len()),
        );
    }
    check(!was_terminated || sent.iter().any(is_ending), "terminated by nothing".to_owned());
    check(!run.stderr.contains("panic"), "it panics".to_owned());
    let is_expected = |name: &&String| {
        ["report", "f", "g"].contains(&name.as_str()) || name.ends_with(".log") || name.ends_with("run.txt")
    };
    let left: Vec<&String> = names.iter().filter(|name| !is_expected(name)).collect();
    check(left.is_empty() && !dir.beside("buffer").exists(), format!("it leaves {left:?} or its buffer"));
    check(segments_of(pid, &before).is_empty(), "it leaves shared memory".to_owned());
    if !wrong.is_empty() {
        wrong.push(format!("seed {seed}, {sent:?} to {job:?}: {}", run.stderr));
    }
    wrong
}

/// True for a report with all jobs. JSON has all of them in any case; text lacks those that a signal kept from beginning.
fn is_whole(report: &str, as_text: bool, was_terminated: bool, jobs: usize) -> bool {
    if as_text && was_terminated && !report.contains("(groupid=") {
        return report.starts_with("fio-3") || report.contains("Starting ");
    }
    if as_text && was_terminated {
        return report.contains("Run status group 0") && report.ends_with('\n');
    }
    if as_text {
        return report.matches("(groupid=").count() >= jobs && report.contains("Run status group 0");
    }
    // SIGUSR1 adds documents of the run so far.
    let documents: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(report).into_iter().collect();
    documents.is_ok_and(|all| all.last().is_some_and(|last| last["jobs"].as_array().unwrap().len() == jobs))
}

#[test]
fn a_run_ends_in_order_whenever_signals_come() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let count = number("FERRIO_SIGNALS").map_or(SAMPLE, |count| count as usize);
    let first = number("FERRIO_SEED").unwrap_or(17) * 1_000_000;
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    at_once(&[(); 4], |()| {
        loop {
            let at = next.fetch_add(1, Relaxed);
            if at >= count {
                return;
            }
            let found = trial(first + at as u64);
            if !found.is_empty() {
                let _ = writeln!(std::io::stderr(), "{}", found.join("; "));
                wrong.lock().unwrap().push(found.join("; "));
            }
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {count} runs:\n{}", wrong.len(), wrong.join("\n"));
}
