//! A signal ends the run early and in order: jobs stop, the report is complete, the status is 128.

use std::io::{BufRead as _, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

use nix::sys::signal::Signal;

use crate::support::{FERRIO, TestDir, number};

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
    let dir = TestDir::new();
    let mut running = dir.ferrio_in_foreground(words).start();
    running.until("its first write", || dir.is_written("f"));
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

/// A client takes any text on standard error for a failure.
#[test]
fn called_fio_a_document_has_the_signal_among_its_notes_and_standard_error_is_empty() {
    let dir = TestDir::new();
    let mut running = dir.ferrio(&[&["--as=fio"], &ENDLESS[..]].concat()).start();
    running.until("its first write", || dir.is_written("f"));
    running.signal(Signal::SIGINT);
    let run = running.wait().ended_with(128);
    assert_eq!(run.stderr, "");
    let notes = &run.json()["ferrio"]["notes"];
    assert_eq!(
        (&notes[0]["code"], &notes[0]["message"]),
        (&"terminating".into(), &"terminating on signal 2".into())
    );
}

#[test]
fn a_polite_kill_does_the_same() {
    let report = interrupted(&ENDLESS, Signal::SIGTERM);
    assert!(number(&report, "/jobs/0/write/total_ios") > 0);
}

#[test]
fn the_soft_limit_of_cpu_time_does_the_same() {
    let report = interrupted(&ENDLESS, Signal::SIGXCPU);
    assert_eq!(report["jobs"][0]["error"], 0);
}

/// Interrupts 60 jobs that report to a pipe, of which only the first byte is read.
fn interrupted_while_blocked(words: &[&str]) {
    let dir = TestDir::new();
    let pipe = dir.work().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let jobs = ["--output-format=json", "--output=pipe", "--name=a", "--ioengine=null", "--numjobs=60"];
    let running = dir.ferrio(&[&jobs[..], words].concat()).start();
    let mut reader = std::fs::File::open(&pipe).unwrap();
    // The report is being written, and the pipe has no room for the rest.
    reader.read_exact(&mut [0]).unwrap();
    running.signal(Signal::SIGINT);
    let run = running.wait().ended_with(1);
    assert!(run.stderr.contains("while an output was blocked"), "{}", run.stderr);
    drop(reader);
}

#[test]
fn signals_end_a_program_whose_report_nobody_takes() {
    interrupted_while_blocked(&["--size=4k"]);
}

#[test]
fn signals_end_a_program_that_a_report_during_the_run_has_blocked() {
    let endless = ["--size=4k", "--thinktime=1s", "--time_based", "--runtime=1h"];
    interrupted_while_blocked(&[&endless[..], &["--status-interval=100ms"]].concat());
}

/// The thread of the job, which has its name, ends; the program waits for its output.
#[test]
fn jobs_stop_at_once_although_nobody_takes_the_report() {
    for fio in [false, true] {
        let dir = TestDir::new();
        let pipe = dir.work().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let words = "--output-format=json --output=pipe --status-interval=100ms --name=endless --ioengine=null --size=1m \
                     --time_based --runtime=1h --numjobs=30";
        let called = if fio { &["--as=fio"][..] } else { &[] };
        let words: Vec<&str> = called.iter().copied().chain(words.split_whitespace()).collect();
        let mut running = dir.ferrio(&words).start();
        // Called fio, the program opens its output twice; a pipe that is open for writing as well has no end in between.
        let mut reader = std::fs::File::options().read(true).write(true).open(&pipe).unwrap();
        reader.read_exact(&mut [0]).unwrap();
        running.signal(Signal::SIGINT);
        let tasks = std::path::PathBuf::from(format!("/proc/{}/task", running.pid()));
        let names = || {
            let threads = std::fs::read_dir(&tasks).into_iter().flatten().map_while(Result::ok);
            threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok())
        };
        // While the output is blocked, the program itself stays for ten seconds, called fio for ever.
        running.until("the end of all jobs", || !names().any(|name| name.starts_with("endless")));
        assert!(names().next().is_some(), "the program has ended before its jobs");
        running.kill();
    }
}

#[test]
fn signals_end_a_program_that_waits_for_a_blocked_message_of_a_worker() {
    let dir = TestDir::new();
    let pipe = dir.work().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let jobs = ["--debug=io", "--name=a", "--ioengine=null", "--size=4k", "--time_based", "--runtime=1h"];
    let words = [&["-c", "exec \"$0\" \"$@\" 2>pipe", FERRIO][..], &jobs].concat();
    let running = dir.program("sh", &words).start();
    let mut lines = std::io::BufReader::new(std::fs::File::open(&pipe).unwrap()).lines();
    // Signals are waited for before any job begins.
    assert!(lines.any(|line| line.unwrap().contains("complete: ")));
    // Not even one byte has room afterwards, so the next message blocks whoever writes it.
    let mut writer = std::fs::File::options().write(true).custom_flags(libc::O_NONBLOCK).open(&pipe).unwrap();
    while writer.write(b"\n").is_ok() {}
    running.signal(Signal::SIGINT);
    let run = running.wait().ended_with(1);
    assert!(!run.stdout.contains("read: IOPS"), "{}", run.stdout);
    drop(lines);
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
    let dir = TestDir::new();
    let words =
        ["--output-format=json", "--name=a", "--filename=f", "--rw=read", "--size=16g", "--fallocate=none"];
    let mut running = dir.ferrio(&words).start();
    running.until("layout", || dir.is_written("f"));
    running.signal(Signal::SIGINT);
    let report = running.wait().ended_with(128).json();
    assert_eq!(number(&report, "/jobs/0/read/total_ios"), 0);
    assert_eq!(dir.files(), []);
}

#[test]
fn a_signal_during_layout_leaves_a_file_that_may_not_be_created() {
    let dir = TestDir::new();
    std::fs::write(dir.work().join("f"), "the only copy").unwrap();
    let words = ["--output-format=json", "--name=a", "--filename=f", "--rw=read", "--size=16g"];
    let allowed = ["--fallocate=none", "--allow_file_create=0", "--allow_layout_overwrite=1"];
    let mut running = dir.ferrio(&[&words[..], &allowed].concat()).start();
    let file = dir.work().join("f");
    running.until("layout", || std::fs::metadata(&file).is_ok_and(|found| found.blocks() > 8));
    running.signal(Signal::SIGINT);
    running.wait().ended_with(128);
    let size = dir.files()[0].1;
    assert!(size > 4096 && size < 16 << 30, "{size}");
}

/// The report comes after the command; without the signal it would take an hour.
#[test]
fn a_signal_ends_the_command_after_a_job() {
    let dir = TestDir::new();
    let words = ["--name=a", "--ioengine=null", "--size=4k", "--exec_postrun=echo > begun; sleep 3600; :"];
    let mut running = dir.ferrio(&words).start();
    running.until("its command", || dir.is_written("begun"));
    running.signal(Signal::SIGTERM);
    let run = running.wait().ended_with(128);
    assert!(
        run.stderr.contains("exec_postrun was stopped; its output is in a.postrun.txt"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_command_after_an_interrupted_job_runs_until_the_second_signal() {
    let dir = TestDir::new();
    let begun = "--exec_postrun=echo > begun; for i in $(seq 6000); do test -e go && break; sleep 0.01; done; echo > ended";
    let mut running = dir.ferrio(&[&ENDLESS[..], &[begun]].concat()).start();
    running.until("its first write", || dir.is_written("f"));
    running.signal(Signal::SIGINT);
    running.until("its command", || dir.is_written("begun"));
    std::fs::write(dir.work().join("go"), "").unwrap();
    running.wait().ended_with(128);
    assert!(dir.is_written("ended"));

    let dir = TestDir::new();
    let endless = "--exec_postrun=echo > begun; sleep 3600; :";
    let mut running = dir.ferrio(&[&ENDLESS[..], &[endless]].concat()).start();
    running.until("its first write", || dir.is_written("f"));
    running.signal(Signal::SIGINT);
    running.until("its command", || dir.is_written("begun"));
    running.signal(Signal::SIGINT);
    running.wait().ended_with(128);
}

#[test]
fn what_would_kill_the_program_ends_the_run_unless_it_is_ignored() {
    for signal in [Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGUSR2] {
        let report = interrupted(&ENDLESS, signal);
        assert!(number(&report, "/jobs/0/write/total_ios") > 0, "{signal}");
    }
    let dir = TestDir::new();
    let script = "trap '' HUP QUIT; exec \"$0\" \"$@\"";
    let words = [&["--default-signal", "bash", "-c", script, FERRIO], &ENDLESS[..]].concat();
    let mut running = dir.program("env", &words).start();
    running.until("its first write", || dir.is_written("f"));
    running.signal(Signal::SIGHUP);
    running.signal(Signal::SIGQUIT);
    running.signal(Signal::SIGUSR2);
    let run = running.wait().ended_with(128);
    let line = format!("terminating on signal {}", Signal::SIGUSR2 as i32);
    assert!(run.stderr.contains(&line), "nohup keeps the others away: {}", run.stderr);
}

#[test]
fn a_run_that_was_stopped_and_continued_says_so_and_succeeds() {
    for (character, is_told) in [("--as=ferrio", true), ("--as=fio", false)] {
        let dir = TestDir::new();
        let mut running = dir.ferrio(&[&ENDLESS[..], &[character]].concat()).start();
        running.until("its first write", || dir.is_written("f"));
        let pid = running.pid();
        running.signal(Signal::SIGSTOP);
        running.until("its stop", || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            stat.rsplit(") ").next().unwrap().starts_with('T')
        });
        running.signal(Signal::SIGCONT);
        let stderr = running.stderr_path();
        running.until("a message", || {
            !is_told || std::fs::read_to_string(&stderr).unwrap().contains("has been continued")
        });
        running.signal(Signal::SIGINT);
        let run = running.wait().ended_with(128);
        assert_eq!(run.stderr.matches("has been continued").count(), usize::from(is_told), "{}", run.stderr);
        let report = run.json();
        assert_eq!(report["jobs"][0]["error"], 0);
        let notes = report["ferrio"]["notes"].to_string();
        assert_eq!(notes.contains("process-continued"), is_told, "{notes}");
    }
}
