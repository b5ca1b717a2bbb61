//! System calls that fail: strace lets the calls on one file fail, and the run must say what failed and end with a status that is not 0.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::loop_device::LoopDevice;
use crate::support::{FERRIO, Run, TestDir, installed, json_file, number};

/// A job that writes and reads a file.
const JOB: &str = "[a]\nioengine=psync\nrw=randrw\nsize=64k\nbs=4k\nfilename=f\n";

/// Runs ferrio with the calls `call` on `path` failing with `error`, from number `when` of each thread on.
fn with_fault(dir: &TestDir, call: &str, path: &str, error: &str, when: u32, words: &[&str]) -> Run {
    let inject = format!("inject={call}:error={error}:when={when}+");
    let whole = dir.work().join(path).display().to_string();
    let strace = ["-f", "-qq", "-o", "trace", "-P", path, "-P", &whole, "-e"];
    let trace = format!("trace={call}");
    let rest = [trace.as_str(), "-e", &inject, FERRIO];
    let run = dir.program(installed("strace"), &[&strace[..], &rest, words].concat()).run();
    assert!(dir.read("trace").contains("(INJECTED)"), "no {call} on {path}:\n{}", dir.read("trace"));
    run
}

#[test]
fn a_file_that_cannot_be_closed_or_removed_fails_its_job() {
    needs!("strace");
    for (call, options, function) in [
        ("close", "", "close(f)"),
        ("close", "create_only=1\n", "close(f)"),
        ("unlink", "unlink=1\n", "unlink"),
        ("unlink", "unlink=1\ncreate_only=1\n", "unlink"),
        ("unlink", "unlink_each_loop=1\nloops=2\n", "unlink"),
    ] {
        let dir = TestDir::new();
        let job = dir.job(&format!("{JOB}{options}"));
        let run = with_fault(&dir, call, "f", "EIO", 1, &["--output-format=json", &job]).ended_with(1);
        assert!(run.stderr.contains(function) && run.stderr.contains("Input/output error"), "{}", run.stderr);
        assert_eq!(run.json()["jobs"][0]["error"], 5, "{call} {options}");
    }
}

#[test]
fn a_directory_that_cannot_be_read_or_closed_loses_no_file_without_a_word() {
    needs!("strace");
    let check = ["check", "opens.fio"];
    let compare = ["compare", "results", "results"];
    let unreadable = "cannot read tree/sub: Input/output error";
    let empty = "results has no files that end with .json";
    for (call, directory, words, status, message) in [
        ("getdents64", "tree/sub", &check[..], 1, unreadable),
        ("getdents64", "results", &compare, 1, "cannot read results: Input/output error"),
        ("close", "tree/sub", &check, 0, ""),
        ("close", "results", &compare, 1, empty),
        ("statx", "tree/sub/f", &check, 1, "cannot read tree/sub/f: Input/output error"),
        ("statx", "results", &compare, 1, "cannot read results: Input/output error"),
    ] {
        let dir = TestDir::new();
        for directory in ["tree/sub", "results"] {
            fs::create_dir_all(dir.work().join(directory)).unwrap();
        }
        fs::write(dir.work().join("tree/sub/f"), [1; 4096]).unwrap();
        fs::write(dir.work().join("opens.fio"), "[a]\nrw=read\nopendir=tree\n").unwrap();
        let run = with_fault(&dir, call, directory, "EIO", 1, words).ended_with(status);
        assert!(run.stderr.contains(message), "{call} {words:?}: {}", run.stderr);
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    }
}

#[test]
fn a_log_of_ios_that_cannot_be_closed_fails_its_job() {
    needs!("strace");
    let words = ["--name=a", "--ioengine=null", "--size=64k", "--write_iolog=il"];
    let run = with_fault(&TestDir::new(), "close", "il", "ENOSPC", 1, &words).ended_with(1);
    assert!(run.stderr.contains("cannot close the I/O log il"), "{}", run.stderr);
}

#[test]
fn outputs_that_cannot_be_closed_are_lost() {
    needs!("strace");
    let job = ["--name=a", "--ioengine=null", "--size=64k", "--runtime=50ms", "--time_based"];
    for (file, option, message) in [
        ("i", "--interval-report=100ms:i", "cannot write the interval report to i: Disk quota exceeded"),
        ("x_lat.log", "--write_lat_log=x", "cannot write x_lat.log"),
    ] {
        let words = [&job[..], &["--per_job_logs=0", "--log_avg_msec=10", option]].concat();
        let run = with_fault(&TestDir::new(), "close", file, "EDQUOT", 1, &words).ended_with(1);
        assert!(run.stderr.contains(message), "{}", run.stderr);
    }
}

#[test]
fn a_mounted_device_is_not_written_to_where_mounts_are_unknown() {
    needs!("strace");
    let dir = TestDir::new();
    let Some(device) = LoopDevice::of(&dir, 1 << 20) else { return };
    let file = format!("--filename={}", device.node());
    let words = ["--name=a", "--rw=write", "--size=64k", &file];
    let strace = [
        "-f",
        "-qq",
        "-o",
        "trace",
        "-P",
        "/proc/self/mountinfo",
        "-e",
        "inject=openat:error=EMFILE",
        FERRIO,
    ];
    for words in [&words[..], &["quick", device.node(), "--destroy"]] {
        let run = dir.program(installed("strace"), &[&strace[..], words].concat()).run().ended_with(1);
        assert!(
            run.stderr.contains("/proc/self/mountinfo cannot be read: Too many open files"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn buffers_in_a_file_that_cannot_be_removed_fail_their_job() {
    needs!("strace");
    let dir = TestDir::new();
    let words = ["--name=a", "--ioengine=null", "--size=64k", "--mem=mmap:buffers"];
    let run = with_fault(&dir, "unlink", "buffers", "EIO", 1, &words).ended_with(1);
    assert!(run.stderr.contains("unlink(buffers)"), "{}", run.stderr);
    assert!(run.stderr.contains("remove it by hand"), "{}", run.stderr);
}

#[test]
fn a_layout_that_can_be_neither_written_nor_cut_says_that_the_file_stays() {
    needs!("strace");
    let dir = TestDir::new();
    let file = dir.work().join("f").display().to_string();
    let strace = ["-f", "-qq", "-o", "trace", "-P", &file, "-e", "trace=write,ftruncate"];
    let inject = ["-e", "inject=write:error=EIO:when=3+", "-e", "inject=ftruncate:error=EIO:when=2+", FERRIO];
    let job = ["--name=a", "--rw=read", "--size=1m", "--filename=f"];
    let words = [&strace[..], &inject, &job].concat();
    let run = dir.program(installed("strace"), &words).run().ended_with(1);
    assert!(run.stderr.contains("f has its full size, but its layout failed"), "{}", run.stderr);
}

#[test]
fn a_kernel_that_cannot_wait_for_signals_leaves_them_to_end_the_program() {
    needs!("strace");
    let dir = TestDir::new();
    let strace = ["-f", "-qq", "-o", "trace", "-e", "inject=rt_sigtimedwait:error=ENOSYS"];
    let job = [FERRIO, "--name=a", "--ioengine=null", "--size=1m"];
    let run = dir.program(installed("strace"), &[&strace[..], &job].concat()).run().succeeded();
    assert!(run.stderr.contains("signals cannot be watched (Function not implemented)"), "{}", run.stderr);
}

#[test]
fn a_kernel_that_always_answers_eintr_fails_the_job() {
    needs!("strace");
    for (call, engine, rw) in [
        ("write", "psync", "read"),
        ("fdatasync", "psync", "write"),
        ("io_uring_enter", "io_uring", "write"),
        ("io_submit", "libaio", "write"),
    ] {
        let dir = TestDir::new();
        let (inject, trace) = (format!("inject={call}:error=EINTR:when=1+"), format!("trace={call}"));
        let strace = ["-f", "-qq", "-o", "trace", "-e", &inject, "-e", &trace];
        let file = dir.work().join("f").display().to_string();
        let only = if call.starts_with("io_") { &[][..] } else { &["-P", &file] };
        let (engine, rw) = (format!("--ioengine={engine}"), format!("--rw={rw}"));
        let job = ["--name=a", &engine, &rw, "--size=16k", "--filename=f", "--fdatasync=1"];
        let ferrio = [FERRIO, "--output-format=json"];
        let words = [&strace[..], only, &ferrio, &job].concat();
        let run = dir.program(installed("strace"), &words).run().ended_with(1);
        assert_eq!(run.json()["jobs"][0]["error"], 4, "{call}: {}", run.stderr);
    }
}

#[test]
fn a_kernel_that_always_answers_eintr_to_open_is_no_reason_to_hang() {
    needs!("strace");
    let dir = TestDir::new();
    for path in ["local-a-0-verify.state", "r.json"] {
        let strace =
            ["-f", "-qq", "-o", "trace", "-e", "inject=openat:error=EINTR:when=1+", "-e", "trace=openat"];
        let job = [
            "--name=a",
            "--rw=write",
            "--size=16k",
            "--filename=f",
            "--verify=crc32c",
            "--verify_state_save=1",
        ];
        let words =
            [&strace[..], &["-P", path, FERRIO, "--output-format=json", "--output=r.json"], &job].concat();
        let run = dir.program(installed("strace"), &words).run().ended_with(1);
        assert!(run.stderr.contains("Interrupted system call"), "{path}: {}", run.stderr);
        if path != "r.json" {
            let report = json_file(&dir.work().join("r.json"));
            assert_eq!(
                number(&report, "/jobs/0/write/io_bytes"),
                16 << 10,
                "the run goes on without the state"
            );
        }
    }
}

/// EINTR on every open, read and write: of the job file, of files of the kernel, of messages.
#[test]
fn a_kernel_that_only_answers_eintr_ends_the_run() {
    needs!("strace");
    let dir = TestDir::new();
    let job =
        dir.job("[a]\nioengine=psync\nrw=randrw\nsize=64k\nfilename=f\nexec_prerun=true\nwrite_lat_log=x\n");
    let traced = |call: &str, options: &[&str]| {
        let (inject, trace) = (format!("inject={call}:error=EINTR:{}", options[0]), format!("trace={call}"));
        let strace = ["-f", "-qq", "-o", "trace", "-e", &inject, "-e", &trace];
        let ferrio = [FERRIO, "--output-format=json", "--output=r.json", &job];
        let run = dir.program(installed("strace"), &[&strace[..], &options[1..], &ferrio].concat()).run();
        assert!(dir.read("trace").contains("(INJECTED)"), "{call} {options:?}:\n{}", dir.read("trace"));
        run
    };
    for call in ["openat", "read"] {
        let run = traced(call, &["when=1+", "-P", &job]).ended_with(1);
        assert!(run.stderr.contains("job file: Interrupted system call"), "{call}: {}", run.stderr);
    }
    // Not those of the dynamic loader. strace compares paths as they are written.
    let work = dir.work().display().to_string();
    let names =
        ["f", "x_lat.1.log", "r.json"].map(|name| [name.to_owned(), format!("{work}/{name}")]).concat();
    let kernel = [
        "/etc/localtime",
        "/proc/self/mountinfo",
        "/proc/meminfo",
        "/proc/stat",
        "/dev/urandom",
        "/dev/null",
    ];
    let paths: Vec<&str> = names.iter().map(String::as_str).chain(kernel).collect();
    let chosen = paths.iter().flat_map(|path| ["-P", path]);
    let all = [&["when=1+"], &chosen.collect::<Vec<_>>()[..]].concat();
    let run = traced("openat", &all).ended_with(1);
    assert!(run.stderr.contains("Interrupted system call"), "{}", run.stderr);
    // The job needs nothing that cannot be read.
    traced("read", &all).ended_with(0);
    let report = json_file(&dir.work().join("r.json"));
    let bytes = |direction| number(&report, &format!("/jobs/0/{direction}/io_bytes"));
    assert_eq!(bytes("read") + bytes("write"), 64 << 10);
    traced("write", &["when=1+"]).ended_with(1);
    let run = traced("wait4", &["when=1+"]).ended_with(1);
    assert!(
        run.stderr.contains("exec_prerun") && run.stderr.contains("Interrupted system call"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_report_that_is_not_stored_is_an_error_and_an_older_one_stays() {
    needs!("strace");
    let dir = TestDir::new();
    let job = dir.job("[a]\nioengine=null\nsize=4k\n");
    fs::write(dir.work().join("r.json"), "old").unwrap();
    let words = ["--output-format=json", "--output=r.json", &job];
    let run = with_fault(&dir, "renameat", "r.json", "EIO", 1, &words).ended_with(1);
    assert!(run.stderr.contains("error: cannot write to r.json: Input/output error"), "{}", run.stderr);
    assert_eq!(dir.read("r.json"), "old");
}

#[test]
fn a_report_appears_whole_at_the_end_or_when_it_is_asked_for() {
    let dir = TestDir::new();
    fs::write(dir.work().join("r.txt"), "old").unwrap();
    let words =
        ["--output=r.txt", "--name=w", "--ioengine=null", "--size=4k", "--time_based", "--runtime=1h"];
    let mut running = dir.ferrio(&words).start();
    let pid = running.pid();
    running.until("the jobs", || running_threads(pid) > 1);
    assert_eq!(dir.read("r.txt"), "old", "the last report stays while the next one is made");
    running.until("a report of the run so far", || {
        // A job that has not begun is not in the report.
        kill(pid, Signal::SIGUSR1).unwrap();
        dir.read("r.txt").contains("w: (groupid=0")
    });
    running.signal(Signal::SIGINT);
    running.wait().ended_with(128);
    assert!(dir.read("r.txt").matches("w: (groupid=0").count() >= 2, "{}", dir.read("r.txt"));
    let names: Vec<String> = dir.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["r.txt"], "nothing else is left");
}

fn running_threads(pid: Pid) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}
