//! Files and devices that go away while a job uses them.

use std::fs::{self, File};
use std::process::Command;

use nix::errno::Errno;
use nix::sys::signal::Signal;

use super::job;
use crate::engines::moving;
use crate::loop_device::LoopDevice;
use crate::support::{Run, Running, TestDir, installed, number, skipped, until};

/// Runs an endless job on `file` and calls `change` once it does I/O; the run ends by itself, or it lasts `runtime`.
fn changed(dir: &TestDir, file: &str, words: &[&str], change: impl FnOnce(&Running)) -> Run {
    let intervals = format!("--interval-report=50ms:{}", dir.beside("intervals").display());
    let file = format!("--filename={file}");
    let own = ["--output-format=json", &intervals, "--name=j", &file, "--size=1m", "--bs=4k"];
    let mut run = dir.ferrio(&[&own[..], words].concat()).start();
    run.until("the first interval", || {
        fs::metadata(dir.beside("intervals")).is_ok_and(|metadata| metadata.len() > 0)
    });
    change(&run);
    run.wait()
}

#[test]
fn a_file_that_is_removed_is_used_as_long_as_it_is_open() {
    let dir = TestDir::new();
    let remove = |_: &Running| fs::remove_file(dir.work().join("f")).unwrap();
    let run = changed(&dir, "f", &["--rw=randread", "--time_based", "--runtime=500ms"], remove).succeeded();
    assert_eq!(number(&job(&run), "/error"), 0);
    assert!(dir.files().is_empty());
}

#[test]
fn a_further_pass_does_not_find_a_file_that_was_removed() {
    for engine in moving() {
        let dir = TestDir::new();
        let remove = |_: &Running| fs::remove_file(dir.work().join("f")).unwrap();
        let engine_word = format!("--ioengine={engine}");
        let run = changed(&dir, "f", &[&engine_word, "--rw=read", "--loops=1000000", "--runtime=60"], remove)
            .ended_with(1);
        let job = job(&run);
        assert_eq!(number(&job, "/error"), Errno::ENOENT as u64, "{engine}");
        assert!(number(&job, "/read/total_ios") > 0, "{engine}");
        assert!(run.stderr.contains("func=open(f)"), "{engine}: {}", run.stderr);
    }
}

#[test]
fn a_further_pass_makes_a_file_again_that_was_removed_if_it_writes() {
    let dir = TestDir::new();
    let remove = |_: &Running| fs::remove_file(dir.work().join("f")).unwrap();
    let run = changed(&dir, "f", &["--rw=write", "--loops=1000000", "--runtime=500ms"], remove).succeeded();
    assert_eq!(number(&job(&run), "/error"), 0);
    assert!(dir.work().join("f").exists());
}

#[test]
fn a_file_that_is_truncated_grows_again_under_a_job_that_writes() {
    for engine in moving().filter(|engine| !engine.cannot_extend()) {
        let dir = TestDir::new();
        let truncate =
            |_: &Running| File::options().write(true).open(dir.work().join("f")).unwrap().set_len(0).unwrap();
        let engine_word = format!("--ioengine={engine}");
        let words = [&*engine_word, "--rw=write", "--time_based", "--runtime=500ms"];
        let run = changed(&dir, "f", &words, truncate).succeeded();
        assert_eq!(number(&job(&run), "/error"), 0, "{engine}");
    }
}

/// Takes the backing file away from a device that the program has open. False where this machine does not let the test do that.
fn detached(run: &Running, device: &LoopDevice) -> bool {
    let pid = run.pid().to_string();
    let arguments = ["-c", include_str!("detach.py"), &pid, device.node()];
    let detached = Command::new(installed("python3")).args(arguments).output().unwrap();
    match detached.status.code() {
        Some(0) => true,
        Some(3) => false,
        _ => panic!("{}", String::from_utf8_lossy(&detached.stderr)),
    }
}

#[test]
fn a_device_that_is_detached_while_it_is_open_fails_its_job() {
    needs!("python3");
    for (engine, direction) in moving().flat_map(|engine| [(engine, "read"), (engine, "write")]) {
        let dir = TestDir::new();
        let Some(device) = LoopDevice::of(&dir, 256 << 20) else { return };
        let words = [
            &format!("--ioengine={engine}"),
            &format!("--rw=rand{direction}"),
            "--direct=1",
            // One pass lasts longer than the test: a further one would open the device again, and with mmap find it cached.
            "--size=256m",
            "--rate_iops=1000",
        ];
        let mut is_detached = false;
        let run = changed(&dir, device.node(), &words, |run| {
            is_detached = detached(run, &device);
            if !is_detached {
                run.signal(Signal::SIGINT);
            }
        });
        if !is_detached {
            return skipped("a detached device", "this machine does not let the test detach it");
        }
        assert_eq!((run.status, run.signal), (Some(1), None), "{engine}: {}", run.stderr);
        let job = job(&run);
        assert_eq!(number(&job, "/error"), Errno::EIO as u64, "{engine} {direction}");
        assert!(number(&job, &format!("/{direction}/total_ios")) > 0, "{engine}");
        for part in [device.node(), &format!("{direction} offset="), "Input/output error"] {
            assert!(run.stderr.contains(part), "{engine}: no `{part}` in {}", run.stderr);
        }
    }
}

/// The kernel keeps a loop device alive until nobody has it open any more.
#[test]
fn a_device_that_is_detached_by_losetup_is_used_to_the_end_of_the_run() {
    let dir = TestDir::new();
    let Some(device) = LoopDevice::of(&dir, 1 << 20) else { return };
    let words = ["--rw=randread", "--time_based", "--direct=1", "--runtime=500ms"];
    let run = changed(&dir, device.node(), &words, |_| assert!(device.detach())).succeeded();
    assert_eq!(number(&job(&run), "/error"), 0);
    until("device without medium", || !device.is_attached());
}

#[test]
fn a_device_that_loses_its_medium_fails_its_job() {
    for engine in moving() {
        let dir = TestDir::new();
        let Some(device) = LoopDevice::of(&dir, 1 << 20) else { return };
        let shorten =
            |_: &Running| File::options().write(true).open(device.medium()).unwrap().set_len(0).unwrap();
        let engine_word = format!("--ioengine={engine}");
        let words = [&*engine_word, "--rw=randread", "--loops=1000000", "--direct=1", "--runtime=60"];
        let run = changed(&dir, device.node(), &words, shorten).ended_with(1);
        let job = job(&run);
        assert_eq!(
            (run.signal, number(&job, "/error")),
            (None, Errno::EIO as u64),
            "{engine}: {}",
            run.stderr
        );
        assert!(number(&job, "/read/total_ios") > 0, "{engine}");
        for part in [device.node(), "read offset=", "Input/output error"] {
            assert!(run.stderr.contains(part), "{engine}: no `{part}` in {}", run.stderr);
        }
    }
}
