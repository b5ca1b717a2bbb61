//! Faults around a run: io_uring that is forbidden, standard streams that are closed, and a reader that does not read.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

use crate::engines::moving;
use crate::support::{FERRIO, Run, TestDir, installed, number, skipped, until};

/// What a program started in a thread may not do: set up an io_uring. `kernel.io_uring_disabled` fails the call in the same way, but
/// holds for the whole machine.
fn without_io_uring() -> BpfProgram {
    let refused = SeccompAction::Errno(Errno::EPERM as u32);
    let calls = BTreeMap::from([(libc::SYS_io_uring_setup, Vec::new())]);
    let arch = std::env::consts::ARCH.try_into().unwrap();
    SeccompFilter::new(calls, SeccompAction::Allow, refused, arch).unwrap().try_into().unwrap()
}

const JOB: [&str; 5] = ["--output-format=json", "--name=j", "--filename=f", "--size=64k", "--rw=write"];

/// The result of `run` where io_uring is forbidden.
fn where_io_uring_is_forbidden(run: impl FnOnce(&TestDir) -> Run + Send) -> Run {
    let filter = without_io_uring();
    // A filter belongs to a thread, and what that thread starts inherits it.
    thread::scope(|scope| {
        let run = scope.spawn(|| {
            apply_filter(&filter).unwrap();
            run(&TestDir::new())
        });
        run.join().unwrap()
    })
}

/// Runs a job where io_uring is forbidden.
fn run_without_io_uring(words: &[&str]) -> Run {
    where_io_uring_is_forbidden(|dir| dir.ferrio(&[&JOB[..], words].concat()).run())
}

/// Runs a job or a check of it where the sysctl says that io_uring is forbidden, and a filter does what the kernel would do then. `None`
/// without the privilege to hide the machine's own sysctl from the program.
fn run_with_sysctl(sysctl: &'static str, words: &[&str]) -> Option<Run> {
    const FILE: &str = "/proc/sys/kernel/io_uring_disabled";
    let dir = TestDir::new();
    let mounts = dir.program(installed("unshare"), &["-rm", "test", "-e", FILE]).run().status == Some(0);
    if !mounts {
        skipped("the sysctl of io_uring", "this machine does not let the test mount a file over it");
        return None;
    }
    let script =
        format!("echo {sysctl} >../sysctl && mount --bind ../sysctl {FILE} || exit 99; exec \"$0\" \"$@\"");
    let words = [&["-rm", "bash", "-c", &script, FERRIO][..], words].concat();
    Some(where_io_uring_is_forbidden(|dir| dir.program(installed("unshare"), &words).run()))
}

#[test]
fn where_io_uring_is_forbidden_its_jobs_fail_with_advice_and_others_run() {
    for (name, status) in [("ferrio", 1), ("fio", 1)] {
        let character = format!("--as={name}");
        let run = run_without_io_uring(&["--ioengine=io_uring", &character]).ended_with(status);
        let report = run.json();
        assert_eq!(number(&report, "/jobs/0/error"), Errno::EPERM as u64, "{name}");
        assert_eq!(number(&report, "/jobs/0/write/total_ios"), 0, "{name}");
        assert!(run.stderr.contains("Operation not permitted"), "{name}: {}", run.stderr);
        assert!(run.stderr.contains("not by the sysctl kernel.io_uring_disabled"), "{name}: {}", run.stderr);
        assert!(run.stderr.contains("seccomp") && run.stderr.contains("libaio"), "{name}: {}", run.stderr);
    }
    for engine in moving().filter(|engine| !engine.is_on_io_uring()) {
        let report = run_without_io_uring(&[&format!("--ioengine={engine}")]).succeeded().json();
        assert_eq!(number(&report, "/jobs/0/write/io_bytes"), 65536, "{engine}");
    }
}

#[test]
fn a_runtime_on_io_uring_fails_in_the_same_way_where_that_is_forbidden() {
    let run = run_without_io_uring(&["--ioengine=tokio_uring"]).ended_with(1);
    assert_eq!(number(&run.json(), "/jobs/0/error"), Errno::EPERM as u64);
    assert!(run.stderr.contains("Operation not permitted"), "{}", run.stderr);
}

#[test]
fn a_sysctl_that_forbids_io_uring_is_named_by_the_run_and_by_the_check() {
    needs!("unshare");
    for (sysctl, words) in [("2", "io_uring_disabled is 2"), ("1", "io_uring_disabled is 1")] {
        for engine in ["io_uring", "tokio_uring", "libaio"] {
            let engine_word = format!("--ioengine={engine}");
            let own: &[&str] = if engine == "libaio" { &["--libaio_backend=io_uring"] } else { &[] };
            let job = [&JOB[..], &[&engine_word], own].concat();
            let Some(run) = run_with_sysctl(sysctl, &job) else { return };
            let run = run.ended_with(1);
            assert_eq!(number(&run.json(), "/jobs/0/error"), Errno::EPERM as u64, "{engine}");
            for part in [words, "sysctl kernel.io_uring_disabled=0"] {
                assert!(run.stderr.contains(part), "{engine}: no `{part}` in {}", run.stderr);
            }
            let Some(check) = run_with_sysctl(sysctl, &[&["check"], &job[..]].concat()) else { return };
            let report = check.ended_with(1).json();
            let risks = report["risks"].as_array().unwrap();
            let risk = risks.iter().find(|risk| risk["code"] == "io-uring-forbidden").unwrap();
            assert_eq!(
                (&report["status"], &risk["severity"]),
                (&"errors".into(), &"error".into()),
                "{engine}"
            );
            assert!(risk["message"].as_str().unwrap().contains(words), "{engine}: {risk}");
        }
    }
    let Some(check) = run_with_sysctl("0", &[&["check"], &JOB[..], &["--ioengine=io_uring"]].concat()) else {
        return;
    };
    check.succeeded();
}

#[test]
fn closed_standard_streams_are_no_files_of_the_job() {
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        for engine in moving() {
            let dir = TestDir::new();
            let words =
                format!("--name=j --filename=f --size=64k --rw=write --verify=crc32c --ioengine={engine}");
            let script = format!("exec \"$0\" {words} --output=report --output-format=json {closed}");
            dir.program("sh", &["-c", &script, FERRIO]).run().succeeded();
            let report = crate::support::json_file(&dir.work().join("report"));
            assert_eq!(number(&report, "/jobs/0/error"), 0, "{engine} {closed}");
            assert_eq!(number(&report, "/jobs/0/read/io_bytes"), 65536, "{engine} {closed}");
            assert_eq!(fs::metadata(dir.work().join("f")).unwrap().len(), 65536, "{engine} {closed}");
        }
    }
}

#[test]
fn a_report_waits_for_a_reader_that_does_not_read() {
    let dir = TestDir::new();
    let mut child = Command::new(FERRIO)
        .args(["--name=a", "--ioengine=null", "--size=4k", "--numjobs=50", "--output-format=json"])
        .current_dir(dir.work())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = child.stdout.take().unwrap();
    // The report is larger than this, so the program waits in a write.
    fcntl(&pipe, FcntlArg::F_SETPIPE_SZ(4096)).unwrap();
    let waits_in = format!("/proc/{}/wchan", child.id());
    until("write that waits", || fs::read_to_string(&waits_in).unwrap().contains("pipe_write"));
    let mut text = String::new();
    pipe.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["jobs"].as_array().unwrap().len(), 50);
}
