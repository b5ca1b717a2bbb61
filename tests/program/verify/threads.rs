//! `verify_async`: threads check what a job reads. They find what the job itself would find, and nothing is left unchecked.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::engines::moving_at_depths;
use crate::support::{Run, TestDir, number};

const JOB: [&str; 4] = ["--name=j", "--filename=f", "--bs=4k", "--output-format=json"];

fn run(dir: &TestDir, words: &[&str]) -> Run {
    dir.ferrio(&[&JOB[..], words].concat()).run()
}

/// Changes a bit in each of these blocks of 4 KiB.
fn damage(dir: &TestDir, blocks: &[usize]) {
    let path = dir.work().join("f");
    let mut data = fs::read(&path).unwrap();
    blocks.iter().for_each(|block| data[block * 4096 + 3000] ^= 1);
    fs::write(&path, data).unwrap();
}

fn reads(run: &Run) -> u64 {
    number(&run.json(), "/jobs/0/read/total_ios")
}

fn failures(run: &Run) -> usize {
    run.stderr.matches("crc32c: verify failed at file f offset ").count()
}

#[test]
fn every_engine_has_its_blocks_checked_by_threads() {
    for (engine, depth) in moving_at_depths() {
        let dir = TestDir::new();
        let (engine_word, depth_word) = (format!("--ioengine={engine}"), format!("--iodepth={depth}"));
        let common = ["--size=512k", "--verify=crc32c", "--verify_async=3", &*engine_word, &*depth_word];
        let with = |words: &[&str]| run(&dir, &[&common[..], words].concat());
        let clean = with(&["--rw=randwrite", "--loops=2"]).succeeded();
        assert_eq!(reads(&clean), 256, "{engine} at {depth}: everything is read back in both passes");
        assert_eq!(reads(&with(&["--rw=randread"]).succeeded()), 128, "{engine} at {depth}");
        damage(&dir, &[3, 77, 127]);
        let all = with(&["--rw=randread", "--continue_on_error=verify"]).ended_with(1);
        assert_eq!((reads(&all), failures(&all)), (128, 3), "{engine} at {depth}: {}", all.stderr);
        let total = &all.json()["jobs"][0]["total_err"];
        assert_eq!((total, &all.json()["jobs"][0]["error"]), (&3.into(), &84.into()), "{engine}");
        assert!(
            all.stderr.contains("requested block: offset=315392, length=4096, flags=4)"),
            "{}",
            all.stderr
        );
        let failed = with(&["--rw=read"]).ended_with(1);
        assert!(
            failures(&failed) >= 1 && failed.json()["jobs"][0]["error"] == 84,
            "{engine}: {}",
            failed.stderr
        );
    }
}

#[test]
fn a_bad_block_ends_the_job_in_the_threads_name() {
    let dir = TestDir::new();
    run(&dir, &["--size=256k", "--rw=write", "--verify=crc32c", "--do_verify=0"]).succeeded();
    damage(&dir, &[16]);
    let read = ["--size=256k", "--rw=read", "--verify=crc32c", "--verify_async=2", "--output-format=normal"];
    let failed = run(&dir, &read).ended_with(1);
    assert!(failed.stdout.contains("func=async_verify, error=Invalid or incomplete"), "{}", failed.stdout);
    assert_eq!(failures(&failed), 1, "{}", failed.stderr);
}

#[test]
fn blocks_read_back_after_writing_have_the_flags_of_fio() {
    // Both jobs write the same blocks: each finds those of the other, with other numbers.
    let dir = TestDir::new();
    run(&dir, &["--size=64k", "--rw=write", "--verify=crc32c"]).succeeded();
    damage(&dir, &[5]);
    let only = ["--size=64k", "--rw=write", "--verify=crc32c", "--verify_only", "--verify_async=1"];
    let failed = run(&dir, &only).ended_with(1);
    assert!(failed.stderr.contains("offset=20480, length=4096, flags=84)"), "{}", failed.stderr);
}

#[test]
fn dumps_are_those_of_the_block_that_the_thread_checked() {
    for engine in ["psync", "io_uring"] {
        let dir = TestDir::new();
        let engine_word = format!("--ioengine={engine}");
        let common = ["--size=256k", "--verify=md5", "--verify_offset=1k", "--iodepth=8", &*engine_word];
        run(&dir, &[&common[..], &["--rw=write", "--do_verify=0"]].concat()).succeeded();
        let good = fs::read(dir.work().join("f")).unwrap();
        damage(&dir, &[9, 40]);
        let read = ["--rw=randread", "--verify_async=4", "--verify_dump=1", "--continue_on_error=verify"];
        run(&dir, &[&common[..], &read[..]].concat()).ended_with(1);
        for block in [9, 40] {
            let offset = block * 4096;
            let dumped = fs::read(dir.work().join(format!("f.{offset}.expected"))).unwrap();
            assert_eq!(dumped, good[offset..offset + 4096], "{engine}: block {block}");
        }
    }
}

#[test]
fn other_features_of_verification_work_with_threads() {
    for words in [
        &["--rw=randwrite", "--bsrange=1k-64k", "--bs_is_seq_rand=0"][..],
        &["--rw=randwrite", "--norandommap", "--ioengine=io_uring", "--iodepth=16"],
        &["--rw=randrw", "--ioengine=libaio", "--iodepth=8", "--iodepth_batch_complete_min=4"],
        &["--rw=write", "--nrfiles=7", "--openfiles=2", "--ioengine=io_uring", "--iodepth=8"],
        &["--rw=write", "--fsync=3", "--verify_policy=fsynced", "--verify_state_save=1"],
        &[
            "--rw=randwrite",
            "--ioengine=io_uring",
            "--iodepth=8",
            "--latency_target=10s",
            "--latency_window=1s",
        ],
        &["--rw=write", "--thinktime=10", "--thinktime_blocks=4"],
        &["--rw=write", "--io_submit_mode=offload", "--iodepth=4"],
        &["--rw=write", "--verify_interval=512", "--verify_async_cpus=0"],
        &["--rw=write", "--verify=null"],
        &["--rw=write", "--ioengine=null"],
    ] {
        let dir = TestDir::new();
        let common =
            ["--name=j", "--size=512k", "--verify=xxhash", "--verify_async=2", "--output-format=json"];
        let report = dir.ferrio(&[&common[..], words].concat()).run().succeeded().json();
        assert!(number(&report, "/jobs/0/read/total_ios") > 0, "{words:?}");
    }
}

#[test]
fn the_state_of_a_synchronous_job_has_as_many_slots_as_without_threads() {
    let dir = TestDir::new();
    let words = ["--size=64k", "--rw=write", "--verify=md5", "--verify_async=3", "--verify_state_save=1"];
    run(&dir, &words).succeeded();
    assert_eq!(fs::metadata(dir.work().join("local-j-0-verify.state")).unwrap().len(), 176);
}

#[test]
fn a_signal_ends_the_job_when_all_that_was_read_is_checked() {
    let dir = TestDir::new();
    for engine in ["psync", "io_uring"] {
        let engine_word = format!("--ioengine={engine}");
        let common = ["--size=1m", "--verify=sha512", "--iodepth=8", &*engine_word];
        run(&dir, &[&common[..], &["--rw=write", "--do_verify=0"]].concat()).succeeded();
        let prerun = format!("--exec_prerun=touch {engine}.began");
        let endless = ["--rw=read", "--verify_async=2", "--time_based", "--runtime=60", &prerun];
        let mut running = dir.ferrio(&[&JOB[..], &common[..], &endless[..]].concat()).start();
        let began = dir.work().join(format!("{engine}.began"));
        running.until("its start", || began.exists());
        running.signal(Signal::SIGINT);
        let ended = running.wait();
        assert_eq!(ended.json()["jobs"][0]["error"], Value::from(0), "{engine}: {}", ended.stderr);
    }
}

#[test]
fn the_time_of_the_threads_is_that_of_the_job() {
    let dir = TestDir::new();
    let common = ["--size=2m", "--bs=64k", "--verify=sha3-512"];
    run(&dir, &[&common[..], &["--rw=write", "--do_verify=0"]].concat()).succeeded();
    let busy = |words: &[&str]| {
        let report = run(&dir, &[&common[..], &["--rw=read"], words].concat()).succeeded().json();
        let job = &report["jobs"][0];
        let share = job["usr_cpu"].as_f64().unwrap() + job["sys_cpu"].as_f64().unwrap();
        share * job["job_runtime"].as_f64().unwrap()
    };
    let (alone, with_threads) = (busy(&[]), busy(&["--verify_async=2"]));
    assert!(with_threads > alone / 2.0, "{with_threads} of {alone}");
}

#[test]
fn cpus_that_do_not_exist_are_refused() {
    let dir = TestDir::new();
    let words = ["--size=64k", "--rw=write", "--verify=md5", "--verify_async=2", "--verify_async_cpus=1000"];
    let refused = run(&dir, &words).ended_with(1);
    assert!(refused.stderr.contains("CPU 1000 too large (max="), "{}", refused.stderr);
    let inert = ["--size=64k", "--rw=write", "--verify=md5", "--verify_async_cpus=0"];
    let noted = run(&dir, &inert).succeeded();
    assert!(noted.stderr.contains("`verify_async_cpus` has no effect"), "{}", noted.stderr);
}

#[test]
fn threads_that_cannot_be_started_are_counted() {
    let dir = TestDir::new();
    let words =
        ["--name=j", "--filename=f", "--size=64k", "--rw=write", "--verify=md5", "--verify_async=200000"];
    let limited = format!("ulimit -v 4000000; exec {} \"$@\"", env!("CARGO_BIN_EXE_ferrio"));
    let arguments: Vec<&str> = ["-c", &limited, "sh"].into_iter().chain(words).collect();
    let failed = dir.program("sh", &arguments).run().ended_with(1);
    assert!(failed.stderr.contains(" verify threads started, exiting\n"), "{}", failed.stderr);
}
