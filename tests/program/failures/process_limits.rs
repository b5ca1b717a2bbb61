//! Limits of the process (setrlimit(2)): whatever a job needs and may not have, the run ends with an error that names the limit, with
//! the status of a failed job, and with a whole document.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use ferrio_job::EngineKind;
use nix::unistd::getuid;

use crate::engines::moving;
use crate::support::{FERRIO, Invocation, Run, TestDir};

/// A directory that every user may use.
pub fn dir_for_all() -> TestDir {
    let dir = TestDir::new();
    for directory in [dir.work(), dir.beside("")] {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
    }
    dir
}

/// A program under limits of the shell (`-n 12`); as an ordinary user if there is no other way to be limited.
pub fn under<'a>(
    dir: &'a TestDir,
    ulimit: &str,
    ordinary_user: bool,
    program: &str,
    options: &[&str],
) -> Invocation<'a> {
    let drop = if ordinary_user && getuid().is_root() {
        "setpriv --reuid=65534 --regid=65534 --clear-groups "
    } else {
        ""
    };
    let script = format!("ulimit {ulimit}; exec {drop}\"$0\" \"$@\"");
    dir.program("sh", &[&["-c", &script, program][..], options].concat())
}

/// Runs a job that writes, under a limit.
fn limited(ulimit: &str, ordinary_user: bool, engine: EngineKind, options: &[&str]) -> Run {
    let engine = format!("--ioengine={engine}");
    let job = ["--output-format=json", "--name=a", "--rw=write", &engine];
    under(&dir_for_all(), ulimit, ordinary_user, FERRIO, &[&job, options].concat()).run()
}

/// The job failed with `errno`, the status is 1, and the messages have this text.
#[track_caller]
fn fails(run: Run, errno: i32, text: &str) {
    let run = run.ended_with(1);
    assert!(run.stderr.contains(text), "{text}:\n{}", run.stderr);
    assert_eq!(run.json()["jobs"][0]["error"], errno, "{}", run.stderr);
}

#[test]
fn a_job_with_more_files_than_may_be_open_says_so() {
    for engine in moving() {
        let options = ["--nrfiles=100", "--size=400k"];
        // The job takes 11 at most, and main needs one now and then, to read the counters of the disks.
        let run = limited("-n 13", false, engine, &options);
        fails(run, libc::EMFILE, "or raise the limit of open files (ulimit -n)");
        let few = limited("-n 13", false, engine, &[&options[..], &["--openfiles=2"]].concat());
        assert_eq!(few.succeeded().json()["jobs"][0]["write"]["io_bytes"], 400 << 10, "{engine}");
    }
}

#[test]
fn memory_that_may_not_be_locked_fails_the_job() {
    for engine in moving() {
        let run = limited("-l 64", true, engine, &["--size=64k", "--lockmem=1m"]);
        fails(run, libc::ENOMEM, "raise the limit of locked memory (`ulimit -l unlimited`)");
        // The kernel counts rings as locked memory, and nothing of the other engines.
        let run = limited("-l 0", true, engine, &["--size=64k", "--iodepth=16"]);
        if engine.is_on_io_uring() {
            fails(run, libc::ENOMEM, "raise the limit of locked memory (ulimit -l) or lower iodepth");
        } else {
            assert_eq!(run.succeeded().json()["jobs"][0]["write"]["io_bytes"], 64 << 10, "{engine}");
        }
    }
}

#[test]
fn buffers_and_mappings_beyond_the_address_space_fail_the_job() {
    for engine in moving() {
        let job = ["--bs=512m", "--size=512m", "--iodepth=4", "--fallocate=none", "--create_on_open=1"];
        fails(limited("-v 400000", false, engine, &job), libc::ENOMEM, "(RLIMIT_AS, `ulimit -v`");
    }
}

#[test]
fn jobs_beyond_the_address_space_fail_and_the_others_run() {
    // Of the engines that complete I/O in the call, a mapping is what needs more than one.
    let different =
        |engine: &EngineKind| !engine.is_sync(4) || engine.maps_files() || *engine == EngineKind::Psync;
    for engine in moving().filter(different) {
        let run = limited("-v 300000", false, engine, &["--filename=f", "--size=4k", "--numjobs=500"]);
        assert!(run.status.is_some_and(|status| status > 0), "{:?}: {}", run.status, run.stderr);
        assert!(run.stderr.contains("RLIMIT_AS"), "{}", run.stderr);
        let report = run.json();
        let jobs = report["jobs"].as_array().unwrap();
        let ran = jobs.iter().filter(|job| job["error"] == 0 && job["write"]["io_bytes"] == 4096).count();
        let failed = jobs.iter().filter(|job| job["error"] == libc::ENOMEM).count();
        assert!(jobs.len() == 500 && ran > 0 && ran + failed == 500, "{engine}: {ran} ran, {failed} failed");
    }
}
