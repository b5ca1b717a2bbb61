//! A disk that does not answer: signals end the run, with a report of what was done.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::filesystem::{Call, Fault, Rule, When};
use super::{BLOCK, SIZE, faulty_file, fuse_is_available};
use crate::support::{FERRIO, TestDir, installed, number, text, until};

#[test]
fn a_job_whose_io_never_returns_does_not_keep_the_report() {
    if !fuse_is_available() {
        return;
    }
    for (engine, depth) in [("psync", 1), ("io_uring", 4), ("libaio", 2)] {
        let dir = TestDir::new();
        let never = Rule { call: Call::Read, when: When::At(8 * BLOCK), fault: Fault::Never };
        let file = faulty_file(&dir, SIZE, &[never]);
        let job = format!(
            "[global]\nbs=4k\n[stuck]\nioengine={engine}\niodepth={depth}\nrw=read\nsize={SIZE}\nfilename={}\nwrite_lat_log=x\n\
             [other]\nioengine=null\nrw=read\nsize=1m\ntime_based\nruntime=1h\n",
            file.path()
        );
        let words = ["--output-format=json", "--output=r.json", &dir.job(&job)];
        let mut running = dir.ferrio(&words).start();
        running.until("the read that never ends", || file.hanging() > 0);
        running.signal(Signal::SIGINT);
        let stderr = running.stderr_path();
        running.until("a message", || {
            fs::read_to_string(&stderr)
                .unwrap()
                .contains("Another signal ends the run without waiting for it")
        });
        running.signal(Signal::SIGTERM);
        // The kernel lets go of the process when the call ends; the report is there before.
        running.until("the report", || dir.is_written("r.json"));
        drop(file);
        let run = running.wait().ended_with(129);
        let document = crate::support::json_file(&dir.work().join("r.json"));
        assert_eq!(text(&document, "/jobs/0/jobname"), "stuck");
        assert_eq!(number(&document, "/jobs/0/error"), 110, "ETIMEDOUT of {engine}: {}", run.stderr);
        let done = number(&document, "/jobs/0/read/total_ios");
        assert!((1..=SIZE / BLOCK).contains(&done), "{engine}: {done} I/Os");
        assert_eq!(number(&document, "/jobs/1/error"), 0);
        assert!(number(&document, "/jobs/1/read/total_ios") > 0, "{engine}");
        assert!(run.stderr.contains("waiting for the end of the job"), "{}", run.stderr);
        assert!(
            run.stderr.contains("the logs of jobs that did not end lack their last rows"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn quick_removes_its_file_although_its_io_never_returns() {
    needs!("strace");
    let dir = TestDir::new();
    let directory = dir.work().join("measured");
    fs::create_dir(&directory).unwrap();
    // The layout is over by then. The delay is longer than any test.
    let strace = ["-f", "-qq", "-o", "trace", "-e", "trace=io_submit"];
    let delay = ["-e", "inject=io_submit:delay_enter=3600s:when=50+"];
    let quick = [FERRIO, "quick", "measured", "--size=4m"];
    let mut running = dir.program(installed("strace"), &[&strace[..], &delay, &quick].concat()).start();
    let children = format!("/proc/{0}/task/{0}/children", running.pid());
    let child = || -> Option<i32> { fs::read_to_string(&children).ok()?.trim().parse().ok() };
    // strace writes a call, with the number of its thread first, before it delays it.
    running.until("the call that never returns", || {
        let calls = fs::read_to_string(dir.work().join("trace")).unwrap_or_default();
        let threads: Vec<_> = calls.lines().filter_map(|line| line.split_once(' ')).collect();
        threads
            .last()
            .is_some_and(|(last, _)| threads.iter().filter(|(thread, _)| thread == last).count() == 50)
    });
    let quick = Pid::from_raw(child().unwrap());
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1, "the file that is measured");
    let stderr = running.stderr_path();
    kill(quick, Signal::SIGINT).unwrap();
    running
        .until("a message", || fs::read_to_string(&stderr).unwrap().contains("Another signal ends the run"));
    kill(quick, Signal::SIGTERM).unwrap();
    running.until("an empty directory", || fs::read_dir(&directory).unwrap().count() == 0);
    // It would hold the thread until the delay is over.
    running.signal(Signal::SIGKILL);
    until("end of the run", || kill(quick, None).is_err());
    let run = running.wait();
    assert_eq!(run.signal, Some(Signal::SIGKILL as i32));
    assert!(run.stderr.contains("err=110"), "ETIMEDOUT: {}", run.stderr);
}
