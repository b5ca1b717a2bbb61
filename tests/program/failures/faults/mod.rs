//! Faults of a real file system: every engine reports the right error with its place, counts what was done, and ends.

mod calls;
mod databases;
mod delays;
mod filesystem;
mod full;
mod mapped;
mod matrix;
mod stuck;
mod surroundings;
mod vanished;

use std::fs::File;
use std::sync::LazyLock;
use std::time::Duration;

use ferrio_job::EngineKind;
use nix::errno::Errno;
use serde_json::Value;

use crate::engines::{calls_for_each_io, moving, moving_at_depths};
use crate::support::{Run, TestDir, number, skipped};
use filesystem::{Call, Fault, FaultyFile, Rule, When};

const BLOCK: u64 = 4096;
const SIZE: u64 = 64 * BLOCK;

/// Engines whose every I/O is a call of its own to the file system, with the queue depths to use.
fn calling() -> impl Iterator<Item = (EngineKind, u32)> {
    moving_at_depths().filter(|&(engine, _)| calls_for_each_io(engine) && fuse_is_available())
}

/// False, with a line that the test harness does not hide, where FUSE file systems cannot be mounted, as in most containers.
fn fuse_is_available() -> bool {
    static TRIAL: LazyLock<bool> = LazyLock::new(|| {
        let dir = TestDir::new();
        let mounted = FaultyFile::mount(&dir.beside(""), Vec::new(), &[]);
        if let Err(error) = &mounted {
            skipped("faults of a file system", &format!("FUSE cannot mount one: {error}"));
        }
        mounted.is_ok()
    });
    *TRIAL
}

/// Runs one sequential job on a file with these faults.
fn run_with(rules: &[Rule], words: &[&str]) -> Run {
    let dir = TestDir::new();
    let file = faulty_file(&dir, SIZE, rules);
    dir.ferrio(&[&arguments_for(&file, SIZE).each_ref().map(String::as_str), words].concat()).run()
}

fn faulty_file(dir: &TestDir, size: u64, rules: &[Rule]) -> FaultyFile {
    FaultyFile::mount(&dir.beside(""), vec![0x5a; size as usize], rules).expect("FUSE is available")
}

/// Options that all jobs on a file of this size share.
fn arguments_for(file: &FaultyFile, size: u64) -> [String; 6] {
    [
        "--output-format=json".to_owned(),
        "--name=j".to_owned(),
        format!("--filename={}", file.path()),
        "--bs=4k".to_owned(),
        format!("--size={size}"),
        "--direct=1".to_owned(),
    ]
}

fn job(run: &Run) -> Value {
    run.json()["jobs"][0].clone()
}

/// For each engine: runs with one fault and returns the run and what to call it.
fn with_each_engine(rule: Rule, words: &[&str], check: impl Fn(&Run, EngineKind, u32)) {
    for (engine, depth) in calling() {
        let (engine_word, depth_word) = (format!("--ioengine={engine}"), format!("--iodepth={depth}"));
        let words: Vec<&str> =
            [&*engine_word, &*depth_word].into_iter().chain(words.iter().copied()).collect();
        check(&run_with(&[rule], &words), engine, depth);
    }
}

const AT: u64 = 9 * BLOCK;

#[test]
fn a_failed_read_or_write_ends_the_job_with_its_error_and_place() {
    for (call, rw, error, text) in [
        (Call::Read, "read", Errno::EIO, "Input/output error"),
        (Call::Write, "write", Errno::ENOSPC, "No space left on device"),
    ] {
        let rule = Rule { call, when: When::At(AT), fault: Fault::Error(error) };
        with_each_engine(rule, &[&format!("--rw={rw}")], |run, engine, depth| {
            assert_eq!((run.status, run.signal), (Some(1), None), "{engine}: {}", run.stderr);
            let job = job(run);
            assert_eq!(number(&job, "/error"), error as u64, "{engine}");
            let done = number(&job, &format!("/{rw}/io_bytes")) / BLOCK;
            // A queue goes on until it hears of the failure.
            let all_before = if depth == 1 { done == 9 } else { (9..SIZE / BLOCK).contains(&done) };
            assert!(all_before, "{engine}: {done} blocks");
            for part in [text, &format!("offset={AT}"), &format!("buflen={BLOCK}"), "/faulty/file", rw] {
                assert!(run.stderr.contains(part), "{engine}: no `{part}` in {}", run.stderr);
            }
        });
    }
}

#[test]
fn threads_that_submit_for_a_job_report_its_error_and_place() {
    let rule = Rule { call: Call::Read, when: When::At(AT), fault: Fault::Error(Errno::EIO) };
    let can_offload = |engine: &EngineKind| calls_for_each_io(*engine) && !engine.needs_one_thread();
    for engine in moving().filter(can_offload).filter(|_| fuse_is_available()) {
        let engine_word = format!("--ioengine={engine}");
        let words = ["--rw=read", "--io_submit_mode=offload", "--iodepth=4", &engine_word];
        let run = run_with(&[rule], &words);
        assert_eq!((run.status, run.signal), (Some(1), None), "{engine}: {}", run.stderr);
        let job = job(&run);
        assert_eq!(number(&job, "/error"), Errno::EIO as u64, "{engine}");
        let done = number(&job, "/read/io_bytes") / BLOCK;
        assert!((6..SIZE / BLOCK).contains(&done), "{engine}: {done} blocks");
        let message = format!("/faulty/file: Input/output error: read offset={AT}, buflen={BLOCK}");
        assert!(run.stderr.contains(&message), "{engine}: {}", run.stderr);
    }
}

#[test]
fn a_tolerated_error_is_counted_and_the_job_goes_on() {
    let rule = Rule { call: Call::Write, when: When::At(AT), fault: Fault::Error(Errno::EIO) };
    with_each_engine(rule, &["--rw=write", "--continue_on_error=write"], |run, engine, _| {
        assert_eq!((run.status, run.signal), (Some(0), None), "{engine}: {}", run.stderr);
        let job = job(run);
        assert_eq!(
            (number(&job, "/total_err"), number(&job, "/first_error")),
            (1, Errno::EIO as u64),
            "{engine}"
        );
        assert_eq!(number(&job, "/write/io_bytes"), SIZE - BLOCK, "{engine}");
    });
}

#[test]
fn a_call_that_would_block_is_an_error_that_can_be_ignored() {
    for (call, rw) in [(Call::Read, "read"), (Call::Write, "write")] {
        let rule = Rule { call, when: When::At(AT), fault: Fault::Error(Errno::EAGAIN) };
        let direction = format!("--rw={rw}");
        with_each_engine(rule, &[&direction], |run, engine, _| {
            assert_eq!((run.status, run.signal), (Some(1), None), "{engine}: {}", run.stderr);
            assert_eq!(number(&job(run), "/error"), Errno::EAGAIN as u64, "{engine}");
            let message = format!("Resource temporarily unavailable: {rw} offset={AT}, buflen={BLOCK}");
            assert!(run.stderr.contains(&message), "{engine}: {}", run.stderr);
        });
        with_each_engine(rule, &[&direction, "--ignore_error=EAGAIN,EAGAIN"], |run, engine, _| {
            assert_eq!((run.status, run.signal), (Some(0), None), "{engine}: {}", run.stderr);
            let job = job(run);
            assert_eq!(number(&job, "/total_err"), 1, "{engine}");
            assert_eq!(number(&job, &format!("/{rw}/io_bytes")), SIZE - BLOCK, "{engine}");
        });
    }
}

#[test]
fn the_rest_of_a_short_transfer_is_transferred() {
    for (call, rw) in [(Call::Read, "read"), (Call::Write, "write")] {
        let rule = Rule { call, when: When::OnceAt(AT), fault: Fault::Short(1024) };
        with_each_engine(rule, &[&format!("--rw={rw}")], |run, engine, _| {
            assert_eq!((run.status, run.signal), (Some(0), None), "{engine}: {}", run.stderr);
            let job = job(run);
            assert_eq!(number(&job, &format!("/{rw}/io_bytes")), SIZE, "{engine}");
            // For io_uring the kernel itself transfers the rest; splice does it within the I/O, which is of several pieces anyway.
            let within = engine.is_on_io_uring() || engine.is_stream();
            assert_eq!(number(&job, &format!("/{rw}/short_ios")), u64::from(!within), "{engine}");
        });
    }
}

#[test]
fn a_read_of_nothing_is_an_error() {
    let rule = Rule { call: Call::Read, when: When::At(AT), fault: Fault::Short(0) };
    with_each_engine(rule, &["--rw=read"], |run, engine, _| {
        assert_eq!((run.status, run.signal), (Some(1), None), "{engine}: {}", run.stderr);
        assert_eq!(number(&job(run), "/error"), Errno::EIO as u64, "{engine}");
        let message = format!("nothing to transfer at offset {AT}");
        assert!(run.stderr.contains(&message), "{engine}: {}", run.stderr);
    });
}

#[test]
fn a_flipped_bit_is_found_by_verification() {
    let rule = Rule { call: Call::Read, when: When::At(AT), fault: Fault::FlippedBit { at: AT, bit: 3 } };
    with_each_engine(rule, &["--rw=write", "--verify=crc32c"], |run, engine, _| {
        assert_eq!((run.status, run.signal), (Some(1), None), "{engine}: {}", run.stderr);
        assert_eq!(number(&job(run), "/error"), Errno::EILSEQ as u64, "{engine}");
        assert!(run.stderr.contains(&AT.to_string()), "{engine}: {}", run.stderr);
    });
}

/// The message of a job about the block at `AT`, which it writes twice, if a fault hits the second write.
fn looks_like(fault: Fault) -> Value {
    let on_time = Fault::Late(Duration::ZERO);
    let rules = [
        Rule { call: Call::Write, when: When::OnceAt(AT), fault: on_time },
        Rule { call: Call::Write, when: When::At(AT), fault },
    ];
    let words =
        ["--ioengine=psync", "--rw=write", "--io_size=512k", "--verify=crc32c", "--continue_on_error=verify"];
    let run = run_with(&rules, &words);
    let blocks = run.json()["ferrio"]["verify"][0]["blocks"].clone();
    let at = |block: &&Value| number(block, "/offset") == AT;
    blocks
        .as_array()
        .and_then(|blocks| blocks.iter().find(at))
        .unwrap_or_else(|| panic!("{}", run.stderr))
        .clone()
}

#[test]
fn a_lost_write_and_a_torn_one_leave_an_older_version() {
    if !fuse_is_available() {
        return;
    }
    let lost = looks_like(Fault::Torn(0));
    assert_eq!((&lost["kind"], number(&lost, "/found_number")), (&"older-version".into(), 9), "{lost}");
    assert_eq!((number(&lost, "/wanted_number"), number(&lost, "/damage_length")), (64 + 9, BLOCK));
    let torn = looks_like(Fault::Torn(1024));
    assert_eq!((&torn["kind"], number(&torn, "/found_number")), (&"torn-write".into(), 9), "{torn}");
    assert_eq!((number(&torn, "/damage_start"), number(&torn, "/damage_length")), (1024, BLOCK - 1024));
    let elsewhere = looks_like(Fault::Misdirected(3 * BLOCK));
    assert_eq!(elsewhere["kind"], "older-version", "{elsewhere}");
}

#[test]
fn a_misdirected_write_says_where_its_data_belongs() {
    if !fuse_is_available() {
        return;
    }
    let rule = Rule { call: Call::Write, when: When::At(AT), fault: Fault::Misdirected(3 * BLOCK) };
    let words = ["--ioengine=psync", "--rw=write", "--verify=md5", "--continue_on_error=verify"];
    let run = run_with(&[rule], &words);
    let verify = run.json()["ferrio"]["verify"][0].clone();
    assert_eq!(number(&verify, "/damaged_blocks"), 2, "{}", run.stderr);
    let hit = &verify["blocks"][0];
    assert_eq!((number(hit, "/offset"), &hit["kind"]), (3 * BLOCK, &"other-block".into()));
    assert_eq!((number(hit, "/found_offset"), number(hit, "/found_number")), (AT, 9));
    let missed = &verify["blocks"][1];
    assert_eq!((number(missed, "/offset"), &missed["kind"]), (AT, &"other-fill".into()));
}

#[test]
fn a_failed_fsync_ends_the_job_with_its_error() {
    let rule = Rule { call: Call::Fsync, when: When::Always, fault: Fault::Error(Errno::EIO) };
    with_each_engine(rule, &["--rw=write", "--fsync=8"], |run, engine, depth| {
        assert_eq!((run.status, run.signal), (Some(1), None), "{engine}: {}", run.stderr);
        let job = job(run);
        assert_eq!(number(&job, "/error"), Errno::EIO as u64, "{engine}");
        // A queue goes on until it hears of the failure, and that may be when all is written.
        let done = number(&job, "/write/io_bytes") / BLOCK;
        assert!(
            if depth == 1 { done == 8 } else { (8..=SIZE / BLOCK).contains(&done) },
            "{engine}: {done} blocks"
        );
        let message = "/faulty/file: Input/output error: sync offset=0";
        assert!(run.stderr.contains(message), "{engine}: {}", run.stderr);
    });
}

#[test]
fn a_file_that_is_truncated_during_the_run_fails_its_job_and_no_other() {
    for engine in moving() {
        let dir = TestDir::new();
        let file = File::create(dir.work().join("f")).unwrap();
        file.set_len(1 << 20).unwrap();
        let job = dir.job(&format!(
            "[global]\ntime_based\n[victim]\nfilename=f\nsize=1m\nrw=randread\nioengine={engine}\nruntime=60\n\
             exitall_on_error\n[other]\nioengine=null\nsize=1g\nruntime=60\n"
        ));
        let intervals = format!("--interval-report=50ms:{}", dir.work().join("intervals").display());
        let mut run = dir.ferrio(&["--output-format=json", &intervals, &job]).start();
        run.until("the first interval", || dir.is_written("intervals"));
        file.set_len(4096).unwrap();
        let run = run.wait().ended_with(1);
        let report = run.json();
        let errors = [0, 1].map(|job| number(&report, &format!("/jobs/{job}/error")));
        assert_eq!(errors, [Errno::EIO as u64, 0], "{engine}");
        assert!(
            number(&report, "/jobs/0/read/total_ios") > 0 && number(&report, "/jobs/1/read/total_ios") > 0
        );
        assert!(run.stderr.contains("f is shorter than the job expects"), "{engine}: {}", run.stderr);
    }
}

/// A layout whose data may not be stored must not pass for one that is complete in the next run.
#[test]
fn a_layout_that_cannot_be_synced_leaves_no_file_of_full_size() {
    if !fuse_is_available() {
        return;
    }
    let dir = TestDir::new();
    let failing = Rule { call: Call::Fsync, when: When::Always, fault: Fault::Error(Errno::EIO) };
    let file = FaultyFile::mount(&dir.beside(""), vec![0x5a; 4096], &[failing]).unwrap();
    let name = format!("--filename={}", file.path());
    let words = ["--name=j", &name, "--size=64k", "--rw=read", "--allow_layout_overwrite=1"];
    dir.ferrio(&[&words[..], &["--allow_file_create=0"]].concat()).run().ended_with(1);
    assert_eq!(std::fs::metadata(file.path()).unwrap().len(), 0);
}
