//! Files and devices that go away while a job uses them.

use std::fs::{self, File};
use std::process::Command;

use nix::errno::Errno;

use super::job;
use crate::support::{Place, Run, installed, number, skipped};

const ENGINES: [&str; 8] =
    ["psync", "sync", "pvsync", "pvsync2", "libaio", "io_uring", "tokio_uring", "mmap"];

/// Runs an endless job on `file` and calls `change` once it does I/O; the run ends by itself, or it lasts `runtime`.
fn changed(place: &Place, file: &str, words: &[&str], change: impl FnOnce()) -> Run {
    let intervals = format!("--interval-report=50ms:{}", place.beside("intervals").display());
    let file = format!("--filename={file}");
    let own = ["--output-format=json", &intervals, "--name=j", &file, "--size=1m", "--bs=4k"];
    let mut run = place.ferrio(&[&own[..], words].concat()).start();
    run.until("the first interval", || {
        fs::metadata(place.beside("intervals")).is_ok_and(|metadata| metadata.len() > 0)
    });
    change();
    run.wait()
}

#[test]
fn a_file_that_is_removed_is_used_as_long_as_it_is_open() {
    let place = Place::new();
    let remove = || fs::remove_file(place.work().join("f")).unwrap();
    let run = changed(&place, "f", &["--rw=randread", "--time_based", "--runtime=500ms"], remove).succeeded();
    assert_eq!(number(&job(&run), "/error"), 0);
    assert!(place.files().is_empty());
}

#[test]
fn a_further_pass_does_not_find_a_file_that_was_removed() {
    for engine in ENGINES {
        let place = Place::new();
        let remove = || fs::remove_file(place.work().join("f")).unwrap();
        let engine_word = format!("--ioengine={engine}");
        let run =
            changed(&place, "f", &[&engine_word, "--rw=read", "--loops=1000000", "--runtime=60"], remove)
                .ended_with(1);
        let job = job(&run);
        assert_eq!(number(&job, "/error"), Errno::ENOENT as u64, "{engine}");
        assert!(number(&job, "/read/total_ios") > 0, "{engine}");
        assert!(run.stderr.contains("func=open(f)"), "{engine}: {}", run.stderr);
    }
}

#[test]
fn a_further_pass_makes_a_file_again_that_was_removed_if_it_writes() {
    let place = Place::new();
    let remove = || fs::remove_file(place.work().join("f")).unwrap();
    let run = changed(&place, "f", &["--rw=write", "--loops=1000000", "--runtime=500ms"], remove).succeeded();
    assert_eq!(number(&job(&run), "/error"), 0);
    assert!(place.work().join("f").exists());
}

#[test]
fn a_file_that_is_truncated_grows_again_under_a_job_that_writes() {
    for engine in ["psync", "libaio", "io_uring", "tokio_uring"] {
        let place = Place::new();
        let truncate =
            || File::options().write(true).open(place.work().join("f")).unwrap().set_len(0).unwrap();
        let engine_word = format!("--ioengine={engine}");
        let words = [&*engine_word, "--rw=write", "--time_based", "--runtime=500ms"];
        let run = changed(&place, "f", &words, truncate).succeeded();
        assert_eq!(number(&job(&run), "/error"), 0, "{engine}");
    }
}

/// A loop device on a file, detached in the end.
struct LoopDevice {
    node: String,
}

impl LoopDevice {
    /// `None` where there are no loop devices for the test.
    fn on(path: &std::path::Path) -> Option<Self> {
        let made = Command::new(installed("losetup")).args(["-f", "--show"]).arg(path).output().ok()?;
        let node = String::from_utf8(made.stdout).ok()?.trim().to_owned();
        (made.status.success() && !node.is_empty()).then_some(LoopDevice { node })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new(installed("losetup")).args(["-d", &self.node]).status();
    }
}

#[test]
fn a_device_that_loses_its_medium_fails_its_job() {
    for engine in ENGINES {
        let place = Place::new();
        let medium = place.beside("medium");
        File::create(&medium).unwrap().set_len(1 << 20).unwrap();
        let Some(device) = LoopDevice::on(&medium) else {
            return skipped("a removed device", "this machine does not let the test make one");
        };
        let shorten = || File::options().write(true).open(&medium).unwrap().set_len(0).unwrap();
        let engine_word = format!("--ioengine={engine}");
        let words = [&*engine_word, "--rw=randread", "--loops=1000000", "--direct=1", "--runtime=60"];
        let run = changed(&place, &device.node, &words, shorten).ended_with(1);
        let job = job(&run);
        assert_eq!(
            (run.signal, number(&job, "/error")),
            (None, Errno::EIO as u64),
            "{engine}: {}",
            run.stderr
        );
        assert!(number(&job, "/read/total_ios") > 0, "{engine}");
        for part in [&*device.node, "read offset=", "Input/output error"] {
            assert!(run.stderr.contains(part), "{engine}: no `{part}` in {}", run.stderr);
        }
    }
}
