//! Faults of a file that a job maps into memory: the kernel reads and writes its pages, and the engine must learn what failed.

use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::Signal;

use super::filesystem::{Call, Fault, FaultyFile, Rule, When};
use super::{AT, BLOCK, SIZE, arguments_for, fuse_is_available, job};
use crate::support::{Run, TestDir, number};

/// Runs one job that maps a file with these faults.
fn mapping(dir: &TestDir, rules: &[Rule], words: &[&str]) -> (Run, FaultyFile) {
    let file = FaultyFile::mount_cached(&dir.beside(""), vec![0x5a; SIZE as usize], rules).unwrap();
    (run_on(dir, &file, &[&["--ioengine=mmap"], words].concat()), file)
}

fn run_on(dir: &TestDir, file: &FaultyFile, words: &[&str]) -> Run {
    dir.ferrio(&[&arguments_for(file, SIZE).each_ref().map(String::as_str), words].concat()).run()
}

#[test]
fn a_page_that_cannot_be_read_ends_the_job_with_its_place() {
    if !fuse_is_available() {
        return;
    }
    let rule = Rule { call: Call::Read, when: When::At(AT), fault: Fault::Error(Errno::EIO) };
    for (rw, mut parts) in [("read", vec!["read"]), ("write", vec!["write"])] {
        let (run, _file) = mapping(&TestDir::new(), &[rule], &[&format!("--rw={rw}")]);
        assert_eq!((run.status, run.signal), (Some(1), None), "{rw}: {}", run.stderr);
        let job = job(&run);
        assert_eq!(number(&job, "/error"), Errno::EIO as u64, "{rw}");
        assert_eq!(number(&job, &format!("/{rw}/io_bytes")), AT, "{rw}: all before it and no more");
        let place = format!("offset={AT}, buflen={BLOCK}");
        parts.extend(["/faulty/file", "Input/output error", &*place]);
        for part in parts {
            assert!(run.stderr.contains(part), "{rw}: no `{part}` in {}", run.stderr);
        }
    }
}

#[test]
fn buffers_in_a_file_that_is_cut_fail_their_job_and_no_other() {
    for kind in ["mmapshared", "mmap"] {
        let dir = TestDir::new();
        let job = format!(
            "[global]\nsize=1m\nbs=64k\ntime_based\nruntime=1h\n\
             [cut]\nioengine=psync\nrw=write\nrefill_buffers\nfilename=d\nmem={kind}:{}\n[other]\nioengine=null\nrw=read\n",
            dir.work().join("buffers").display()
        );
        let mut running = dir.ferrio(&["--output-format=json", &dir.job(&job)]).start();
        let length = |name: &str| std::fs::metadata(dir.work().join(name)).map_or(0, |about| about.len());
        running.until("writes from the file", || length("buffers") > 0 && length("d") > 0);
        std::fs::File::create(dir.work().join("buffers")).unwrap();
        let stderr = running.stderr_path();
        running.until("the failure", || std::fs::read_to_string(&stderr).unwrap().contains("err=14"));
        running.signal(Signal::SIGINT);
        let run = running.wait().ended_with(129);
        let jobs = &run.json()["jobs"];
        assert_eq!([number(&jobs[0], "/error"), number(&jobs[1], "/error")], [14, 0], "{}", run.stderr);
        assert!(number(&jobs[1], "/read/total_ios") > 0);
        assert!(!dir.work().join("buffers").exists(), "{kind}");
    }
}

#[test]
fn a_page_that_cannot_be_read_is_tolerated_if_the_job_says_so() {
    if !fuse_is_available() {
        return;
    }
    let rule = Rule { call: Call::Read, when: When::At(AT), fault: Fault::Error(Errno::EIO) };
    let (run, _file) = mapping(&TestDir::new(), &[rule], &["--rw=read", "--continue_on_error=read"]);
    assert_eq!((run.status, run.signal), (Some(0), None), "{}", run.stderr);
    let job = job(&run);
    let errors = (number(&job, "/total_err"), number(&job, "/first_error"));
    assert_eq!((errors, number(&job, "/read/io_bytes")), ((1, Errno::EIO as u64), SIZE - BLOCK));
}

#[test]
fn a_page_that_cannot_be_written_fails_the_sync_or_with_direct_the_write() {
    if !fuse_is_available() {
        return;
    }
    for error in [Errno::EIO, Errno::ENOSPC] {
        let rule = Rule { call: Call::Write, when: When::Always, fault: Fault::Error(error) };
        for (direct, part) in [("--direct=0", "sync"), ("--direct=1", "write offset=0, buflen=4096")] {
            let (run, _file) = mapping(&TestDir::new(), &[rule], &["--rw=write", "--fsync=8", direct]);
            assert_eq!((run.status, run.signal), (Some(1), None), "{error}: {}", run.stderr);
            assert_eq!(number(&job(&run), "/error"), error as u64, "{direct}: {}", run.stderr);
            assert!(run.stderr.contains(part), "{direct}: no `{part}` in {}", run.stderr);
        }
    }
}

#[test]
fn a_bit_that_flips_in_a_mapped_page_is_found_by_verification() {
    if !fuse_is_available() {
        return;
    }
    let rule = Rule { call: Call::Read, when: When::At(AT), fault: Fault::FlippedBit { at: AT, bit: 3 } };
    let dir = TestDir::new();
    let verify = ["--rw=write", "--verify=crc32c"];
    // Written past the cache of pages, so that the mapping has to read what it verifies.
    let (written, file) =
        mapping(&dir, &[rule], &[&verify[..], &["--ioengine=psync", "--do_verify=0"]].concat());
    written.succeeded();
    let run = run_on(&dir, &file, &[&verify[..], &["--ioengine=mmap", "--verify_only=1"]].concat());
    assert_eq!((run.status, run.signal), (Some(1), None), "{}", run.stderr);
    assert_eq!(number(&job(&run), "/error"), Errno::EILSEQ as u64);
    assert!(run.stderr.contains(&AT.to_string()), "{}", run.stderr);
}

#[test]
fn a_page_that_is_late_is_in_the_maximum() {
    const STALL: Duration = Duration::from_millis(200);
    if !fuse_is_available() {
        return;
    }
    let rule = Rule { call: Call::Read, when: When::OnceAt(AT), fault: Fault::Late(STALL) };
    // No page is read ahead of a random access.
    let (run, file) = mapping(&TestDir::new(), &[rule], &["--rw=randread"]);
    let job = job(&run.succeeded());
    let max = job.pointer("/read/lat_ns/max").and_then(serde_json::Value::as_f64).unwrap();
    let took = file.reads().iter().map(|read| read.took()).max().unwrap();
    assert!(took >= STALL && max >= took.as_nanos() as f64, "{took:?} in {job:#}");
    assert_eq!(number(&job, "/read/io_bytes"), SIZE);
}
