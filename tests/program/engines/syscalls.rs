//! The system calls of a run, counted by strace: those that each I/O needs, and a constant number around them.

use ferrio_job::EngineKind;

use crate::engines::moving;
use crate::support::{FERRIO, Run, TestDir, installed};

/// Calls of each kind that a run of these arguments makes in all its threads.
fn calls(names: &[&str], words: &[&str]) -> Vec<u64> {
    let dir = TestDir::new();
    let summary = dir.beside("summary");
    let traced = format!("--trace={}", names.join(","));
    let output = summary.to_str().unwrap();
    let words: Vec<&str> = ["-f", "-c", "-o", output, &traced, FERRIO].iter().chain(words).copied().collect();
    let _: Run = dir.program(installed("strace"), &words).run().succeeded();
    let summary = std::fs::read_to_string(&summary).unwrap();
    names.iter().map(|name| count(&summary, name)).collect()
}

/// A line of strace's table: % time, seconds, usecs/call, calls, perhaps errors, name.
fn count(summary: &str, name: &str) -> u64 {
    let line = summary.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = line.into_iter().find(|words| words.last() == Some(&name));
    line.map_or(0, |words| words[3].parse().unwrap_or_else(|_| panic!("{words:?} in\n{summary}")))
}

/// How many more calls a run of 1024 blocks makes than one of 256.
fn growth(name: &str, more: &[&str]) -> u64 {
    let with = |size: &str| {
        let size = format!("--size={size}");
        let words: Vec<&str> = ["--name=a", "--rw=randread", "--bs=4k", "--filename=f", &size]
            .iter()
            .chain(more)
            .copied()
            .collect();
        calls(&[name], &words)[0]
    };
    with("4m") - with("1m")
}

#[test]
fn a_block_costs_psync_one_pread() {
    needs!("strace");
    assert_eq!(growth("pread64", &["--ioengine=psync"]), 768);
}

#[test]
fn a_block_costs_psync_no_other_call() {
    needs!("strace");
    let with = |size: &str| {
        let size = format!("--size={size}");
        let others = ["futex", "lseek", "clock_gettime", "mmap", "fstat", "newfstatat", "read", "pwrite64"];
        let words =
            ["--name=a", "--rw=randread", "--filename=f", "--ioengine=psync", "--fallocate=none", &size];
        calls(&others, &words).iter().sum::<u64>()
    };
    let (small, large) = (with("1m"), with("4m"));
    assert!(large < small + 50, "{small} other calls for 256 blocks, {large} for 1024");
}

#[test]
fn each_kind_of_sync_is_its_own_call() {
    needs!("strace");
    let own_call = |engine: &EngineKind| engine.is_sync(1) && !engine.maps_files();
    for engine in moving().filter(own_call) {
        let engine_word = format!("--ioengine={engine}");
        let own = ["--rw=write", "--size=64k", "--fallocate=none", &engine_word];
        let jobs =
            ["--name=a", "--fsync=4", "--name=b", "--fdatasync=4", "--name=c", "--sync_file_range=write:4"];
        let counts = calls(&["fsync", "fdatasync", "sync_file_range"], &[&own[..], &jobs].concat());
        assert_eq!(counts, [3, 3, 3], "{engine}");
    }
}

#[test]
fn a_block_costs_posixaio_one_pread_and_each_sync_is_an_fsync() {
    needs!("strace");
    assert_eq!(growth("pread64", &["--ioengine=posixaio", "--iodepth=8"]), 768);
    for option in ["--fsync=4", "--fdatasync=4", "--sync_file_range=write:4"] {
        let words = ["--name=a", "--rw=write", "--filename=f", "--size=64k", "--ioengine=posixaio", option];
        assert_eq!(calls(&["fsync", "fdatasync", "sync_file_range"], &words), [3, 0, 0], "{option}");
    }
}

/// Calls that an engine makes for 1024 random reads, in all.
fn calls_of_reads(name: &str, engine: &str, more: &[&str]) -> u64 {
    let engine = format!("--ioengine={engine}");
    let job = ["--name=a", "--rw=randread", "--filename=f", "--size=4m", &engine];
    calls(&[name], &[&job[..], more].concat())[0]
}

#[test]
fn batches_of_16_cost_io_uring_one_enter_each() {
    needs!("strace");
    let batches = ["--direct=1", "--iodepth=32", "--iodepth_batch=16", "--iodepth_batch_complete_min=16"];
    let enters = calls_of_reads("io_uring_enter", "io_uring", &batches);
    // 1024 blocks are 64 batches; now and then one more call waits for completions.
    assert!((64..=128).contains(&enters), "{enters} calls for 64 batches");
}

#[test]
fn libaio_asks_the_kernel_for_completions_only_to_wait() {
    needs!("strace");
    // Buffered reads complete while they are submitted: all are there when they are asked for.
    let cached = ["--iodepth=32", "--pre_read=1"];
    assert_eq!(calls_of_reads("io_submit", "libaio", &cached), 1024);
    assert_eq!(calls_of_reads("io_getevents", "libaio", &cached), 0);
    let waits = calls_of_reads("io_getevents", "libaio", &[&cached[..], &["--userspace_reap=0"]].concat());
    assert!(waits >= 900, "{waits}");
    let waits = calls_of_reads("io_getevents", "libaio", &["--iodepth=32", "--direct=1"]);
    assert!(waits <= 1024, "{waits} waits for 1024 I/Os");
}

#[test]
fn a_polled_ring_is_looked_at_without_calls() {
    needs!("strace");
    let polled = ["--direct=1", "--iodepth=1", "--iodepth_batch_complete_min=0"];
    let enters = calls_of_reads("io_uring_enter", "io_uring", &polled);
    // One call submits an I/O, one more runs its completion.
    assert!((1024..=2 * 1024 + 8).contains(&enters), "{enters} calls for 1024 I/Os");
}

#[test]
fn adjacent_ios_of_a_batch_cost_vsync_one_call() {
    needs!("strace");
    let words =
        |more| ["--name=a", "--filename=f", "--size=64k", "--bs=4k", "--ioengine=vsync", "--iodepth=4", more];
    let merged = |words: &[&str]| calls(&["writev", "lseek"], words)[0];
    assert_eq!(merged(&[&words("--rw=write")[..], &["--iodepth_batch=4"]].concat()), 4);
    assert_eq!(merged(&[&words("--rw=write")[..], &["--iodepth_batch=4", "--fsync=2"]].concat()), 8);
    assert_eq!(merged(&words("--rw=write")), 16, "each batch has one");
    let random = merged(&[&words("--rw=randwrite")[..], &["--iodepth_batch=4"]].concat());
    assert!((9..=16).contains(&random), "few blocks continue the one before: {random} calls");
}

#[test]
fn a_mapped_file_is_read_without_calls() {
    needs!("strace");
    assert!(growth("pread64", &["--ioengine=mmap"]) < 8);
}

#[test]
fn a_file_is_synced_once_when_it_closes_or_the_pass_ends() {
    needs!("strace");
    let syncs = |more: &[&str]| {
        let words = ["--name=a", "--rw=write", "--size=64k", "--nrfiles=4", "--ioengine=psync"];
        calls(&["fsync", "syncfs"], &[&words[..], more].concat())
    };
    assert_eq!(syncs(&["--fsync_on_close=1"]), [4, 0]);
    assert_eq!(syncs(&["--fsync_on_close=1", "--openfiles=2"]), [4, 0]);
    assert_eq!(syncs(&["--fsync_on_close=1", "--openfiles=2", "--loops=2", "--end_fsync=1"]), [8, 0]);
    assert_eq!(syncs(&["--end_fsync=1", "--openfiles=1", "--file_service_type=random"]), [4, 0]);
    assert_eq!(syncs(&["--end_syncfs=1", "--end_fsync=1"]), [0, 1]);
    assert_eq!(syncs(&["--end_syncfs=1", "--openfiles=1", "--loops=2"]), [0, 2]);
    // No sync follows the last write by itself.
    assert_eq!(syncs(&["--end_syncfs=1", "--fsync=1", "--nrfiles=1"])[1], 1);
}

#[test]
fn a_new_file_is_looked_at_twice_and_opened_twice() {
    needs!("strace");
    let with = |files: &str| {
        let words = [
            "--name=a",
            "--rw=write",
            "--bs=4k",
            "--filesize=4k",
            "--openfiles=8",
            "--ioengine=psync",
            files,
        ];
        calls(&["statx", "openat", "fallocate", "pwrite64"], &words)
    };
    let (few, many) = (with("--nrfiles=100"), with("--nrfiles=300"));
    let each: Vec<u64> = many.iter().zip(&few).map(|(many, few)| (many - few) / 200).collect();
    // Planning and layout look whether it is there; layout and the job open it.
    assert_eq!(each, [2, 2, 1, 1]);
}

#[test]
fn a_file_operation_is_one_call() {
    needs!("strace");
    let each = |engine: &str, call: &str, more: &[&str]| {
        let with = |files: &str| {
            let engine = format!("--ioengine={engine}");
            let words = ["--name=a", "--filesize=4k", "--openfiles=1", "--directory=.", files, &engine];
            calls(&[call], &[&words, more].concat())[0]
        };
        (with("--nrfiles=110") - with("--nrfiles=10")) / 100
    };
    assert_eq!(each("filecreate", "openat", &[]), 1);
    assert_eq!(each("filecreate", "close", &[]), 1);
    assert_eq!(each("filecreate", "fsync", &["--rw=write", "--fsync_on_close=1"]), 1);
    assert_eq!(each("filecreate", "fsync", &["--rw=write", "--end_fsync=1"]), 1);
    assert_eq!(each("filedelete", "unlink", &[]), 1);
    assert_eq!(each("filestat", "newfstatat", &[]) + each("filestat", "stat", &[]), 1);
    assert_eq!(each("dircreate", "mkdir", &[]), 1);
    assert_eq!(each("dirdelete", "unlinkat", &[]) + each("dirdelete", "rmdir", &[]), 1);
    // One look of the planner and one of the layout at each file.
    assert_eq!(each("filestat", "statx", &["--stat_type=statx"]), 3);
    assert_eq!(each("filestat", "readlink", &["--stat_type=statx"]), 0);
}

#[test]
fn every_state_of_a_job_that_saves_at_syncs_is_synced_with_its_directory() {
    needs!("strace");
    let own = ["--name=a", "--filename=f", "--rw=write", "--size=64k", "--fallocate=none", "--fdatasync=5"];
    let verify = ["--verify=crc32c", "--verify_policy=fsynced", "--verify_state_save=1", "--do_verify=0"];
    let counts = calls(&["fdatasync", "rename", "fsync"], &[&own[..], &verify].concat());
    // One when the job begins, one after each sync, and one when it ends.
    assert_eq!(counts, [3, 5, 10]);
}

#[test]
fn a_start_lists_no_directories_of_time_zones() {
    needs!("strace");
    // Called `fio`, no counters of heat are read, whose directory is listed.
    let job = ["--as=fio", "--name=a", "--ioengine=null", "--size=4k"];
    assert_eq!(calls(&["getdents64"], &job), [0]);
}
