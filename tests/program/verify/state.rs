//! Verify states: the files that verifying jobs leave behind, and what a later run makes of them.

use std::fs;

use nix::sys::signal::Signal;

use crate::support::{Run, TestDir, number};

const WRITER: [&str; 6] =
    ["--name=w", "--filename=f", "--bs=4k", "--ioengine=psync", "--verify=crc32c", "--output-format=json"];
const STATE: &str = "local-w-0-verify.state";

fn run(dir: &TestDir, words: &[&str]) -> Run {
    dir.ferrio(&[&WRITER[..], words].concat()).run()
}

fn reads(run: &Run) -> u64 {
    number(&run.json(), "/jobs/0/read/total_ios")
}

fn word(state: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(state[at..at + 8].try_into().unwrap())
}

/// The number of writes that a state in the work directory covers.
fn covered(dir: &TestDir, name: &str) -> u64 {
    word(&fs::read(dir.work().join(name)).unwrap(), 32)
}

fn has(dir: &TestDir, name: &str) -> bool {
    dir.work().join(name).exists()
}

/// Whether this block of the file has been written.
fn begins_with_a_header(dir: &TestDir, block: usize) -> bool {
    let written = |data: Vec<u8>| data.get(block * 4096..)?.starts_with(&[0xca, 0xac]).then_some(());
    fs::read(dir.work().join("f")).ok().and_then(written).is_some()
}

#[test]
fn fio_saves_states_by_default_and_ferrio_when_asked_to() {
    let job = ["--size=16k", "--rw=write"];
    for (words, saved) in [
        (&["--as=fio"][..], true),
        (&["--as=fio", "--verify_state_save=0"], false),
        (&[], false),
        (&["--verify_state_save=1"], true),
        (&["--as=fio", "--verify=0"], false),
    ] {
        let dir = TestDir::new();
        run(&dir, &[words, &job[..]].concat()).succeeded();
        assert_eq!(has(&dir, STATE), saved, "{words:?}");
    }
    let dir = TestDir::new();
    run(&dir, &["--as=fio", "--size=16k", "--rw=read", "--verify=null"]).succeeded();
    assert!(!has(&dir, STATE), "a job that writes nothing");
}

#[test]
fn a_state_is_176_bytes_for_a_queue_of_one_with_name_index_and_number() {
    let dir = TestDir::new();
    run(&dir, &["--verify_state_save=1", "--size=64k", "--rw=randwrite"]).succeeded();
    let state = fs::read(dir.work().join(STATE)).unwrap();
    assert_eq!((state.len(), word(&state, 0), word(&state, 8)), (176, 7, 152));
    assert_eq!((word(&state, 24), word(&state, 32), word(&state, 40)), (1, 16, 0));
    assert_eq!((&state[104..107], word(&state, 168)), (&b"w\0\0"[..], u64::MAX));
}

#[test]
fn the_second_job_and_a_name_with_slashes_have_names_of_their_own_below_the_aux_path() {
    let dir = TestDir::new();
    fs::create_dir(dir.work().join("aux")).unwrap();
    let words = ["--aux-path=aux", "--ioengine=null", "--size=4k", "--rw=write", "--verify=md5"];
    let jobs = ["--verify_state_save=1", "--name=first", "--name=a/b", "--iodepth=3"];
    dir.ferrio(&[&words[..], &jobs[..]].concat()).run().succeeded();
    let states = ["aux/local-first-0-verify.state", "aux/local-a.b-1-verify.state"];
    assert_eq!(states.map(|name| has(&dir, name)), [true; 2]);
    let second = fs::read(dir.work().join(states[1])).unwrap();
    assert_eq!((word(&second, 40), &second[104..108]), (1, &b"a/b\0"[..]));
}

#[test]
fn an_interrupted_writer_leaves_a_state_at_which_a_reader_stops() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        interrupted_by(signal);
    }
}

fn interrupted_by(signal: Signal) {
    let dir = TestDir::new();
    let words = ["--verify_state_save=1", "--size=4m", "--rw=write", "--rate_iops=400"];
    let mut running = dir.ferrio(&[&WRITER[..], &words[..]].concat()).start();
    running.until("its tenth write", || begins_with_a_header(&dir, 9));
    running.signal(signal);
    let written = number(&running.wait().json(), "/jobs/0/write/total_ios");
    assert!((10..1024).contains(&written), "{written}");
    assert_eq!(covered(&dir, STATE), written);
    let read = run(&dir, &["--verify_state_load=1", "--size=4m", "--rw=read"]).succeeded();
    assert_eq!(reads(&read), written);
    let stopped = format!("Stop verify because seq {written} >= {written}\n");
    assert!(read.stderr.contains(&stopped), "{}", read.stderr);
    run(&dir, &["--size=4m", "--rw=read"]).ended_with(1);
}

#[test]
fn the_state_of_an_earlier_run_goes_before_what_it_is_about_changes() {
    let dir = TestDir::new();
    let save = ["--verify_state_save=1", "--size=4m", "--rw=write"];
    run(&dir, &save).succeeded();
    let only = [&save[..], &["--verify_only"]].concat();
    run(&dir, &only).succeeded();
    assert!(has(&dir, STATE), "a check writes nothing");
    // One that is killed saves no state.
    let mut running = dir.ferrio(&[&WRITER[..], &save[..], &["--rate_iops=400"]].concat()).start();
    running.until("its first write", || !has(&dir, STATE));
    running.signal(Signal::SIGKILL);
    running.wait();
    assert!(!has(&dir, STATE));
    // A layout makes it untrue, too.
    for (character, stays) in [("--as=ferrio", false), ("--as=fio", true)] {
        run(&dir, &save).succeeded();
        fs::remove_file(dir.work().join("f")).unwrap();
        run(&dir, &[&save[..], &[character, "--create_only=1"]].concat()).succeeded();
        assert_eq!(has(&dir, STATE), stays, "{character}");
    }
}

#[test]
fn a_state_that_is_older_than_the_files_is_warned_of() {
    let dir = TestDir::new();
    run(&dir, &["--verify_state_save=1", "--size=16k", "--rw=write"]).succeeded();
    let load = |words: &[&str]| run(&dir, &[&["--verify_state_load=1", "--size=16k"], words].concat());
    let (anew, missing) = ("this job writes its files again", "are missing or too short");
    assert!(load(&["--rw=write"]).succeeded().stderr.contains(anew));
    let checked = load(&["--rw=write", "--verify_only"]).succeeded().stderr;
    assert!(!checked.contains(anew) && !checked.contains(missing), "{checked}");
    fs::remove_file(dir.work().join("f")).unwrap();
    assert!(load(&["--rw=read"]).ended_with(1).stderr.contains(missing));
    fs::remove_file(dir.work().join("f")).unwrap();
    let like_fio = load(&["--as=fio", "--rw=read"]).ended_with(1).stderr;
    assert!(!like_fio.contains(missing), "{like_fio}");
}

#[test]
fn a_state_limits_the_reads_after_writing_too() {
    let dir = TestDir::new();
    run(&dir, &["--verify_state_save=1", "--size=8k", "--rw=write"]).succeeded();
    let again = run(&dir, &["--verify_state_load=1", "--size=32k", "--rw=write", "--loops=2"]).succeeded();
    assert_eq!(number(&again.json(), "/jobs/0/write/total_ios"), 16);
    assert_eq!(reads(&again), 2, "the second loop begins at write 8");
}

#[test]
fn writes_that_failed_are_passed_over_and_those_in_flight_stop_the_reads() {
    let dir = TestDir::new();
    run(&dir, &["--verify_state_save=1", "--size=16k", "--rw=write"]).succeeded();
    let (file, state) = (dir.work().join("f"), dir.work().join(STATE));
    let damaged = |block: usize| {
        let mut data = fs::read(&file).unwrap();
        data[block * 4096..][..64].fill(0);
        fs::write(&file, data).unwrap();
    };
    let mut bytes = fs::read(&state).unwrap();
    damaged(2);
    bytes.extend_from_slice(&2_u64.to_le_bytes());
    (bytes[8], bytes[24]) = (160, 2);
    let sealed = |mut bytes: Vec<u8>| {
        let sum = u64::from(crc32c(&bytes[24..]));
        bytes[16..24].copy_from_slice(&sum.to_le_bytes());
        fs::write(&state, bytes).unwrap();
    };
    sealed(bytes.clone());
    let read = ["--verify_state_load=1", "--size=16k", "--rw=read"];
    assert_eq!(reads(&run(&dir, &read).succeeded()), 4);
    bytes[168..176].copy_from_slice(&1_u64.to_le_bytes());
    sealed(bytes);
    let stopped = run(&dir, &read).succeeded();
    assert_eq!(reads(&stopped), 1);
    assert!(
        stopped.stderr.contains("Stop verify because seq 1 was an inflight write\n"),
        "{}",
        stopped.stderr
    );
}

/// The checksum of states, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| (sum >> 1) ^ (0x82f6_3b78 * (sum & 1)))
    })
}

#[test]
fn failed_writes_of_a_queue_are_listed_behind_its_slots() {
    let dir = TestDir::new();
    let job = ["--name=w", "--filename=/dev/full", "--size=16k", "--rw=write", "--verify=md5"];
    let queue = ["--ioengine=io_uring", "--iodepth=2", "--verify_state_save=1"];
    let goes_on = ["--continue_on_error=write", "--ignore_error=,ENOSPC"];
    dir.ferrio(&[&job[..], &queue[..], &goes_on[..]].concat()).run().succeeded();
    let state = fs::read(dir.work().join(STATE)).unwrap();
    let slots: Vec<u64> = state[168..].chunks(8).map(|slot| word(slot, 0)).collect();
    assert_eq!((slots.len(), &slots[..2], word(&state, 32)), (6, &[u64::MAX; 2][..], 4));
    let mut failed = slots[2..].to_vec();
    failed.sort_unstable();
    assert_eq!(failed, [0, 1, 2, 3]);
}

#[test]
fn a_state_of_an_earlier_run_is_gone_when_the_first_save_of_the_next_run_fails() {
    let dir = TestDir::new();
    let words = ["--verify_policy=fsynced", "--fsync=4", "--size=64k", "--rw=write", "--verify_state_save=1"];
    run(&dir, &words).succeeded();
    assert!(has(&dir, STATE));
    let in_the_way = dir.work().join(STATE).with_extension("state.new");
    fs::create_dir(&in_the_way).unwrap();
    let again = run(&dir, &[&words[..], &["--number_ios=3"]].concat()).ended_with(1);
    assert!(again.stderr.contains("open state file: Is a directory"), "{}", again.stderr);
    assert!(!has(&dir, STATE), "it is about blocks that are not there any more");
}

#[test]
fn what_no_sync_covered_is_neither_read_back_nor_in_the_state() {
    for (syncs, covered_writes) in
        [(&["--fsync=5"][..], 15), (&["--fdatasync=6"], 12), (&[], 0), (&["--end_fsync=1"], 16)]
    {
        let dir = TestDir::new();
        let words = ["--verify_policy=fsynced", "--size=64k", "--rw=write"];
        let words = [&words[..], syncs].concat();
        let saved = run(&dir, &[&words[..], &["--verify_state_save=1"]].concat()).succeeded();
        assert_eq!((reads(&saved), covered(&dir, STATE)), (covered_writes, covered_writes), "{syncs:?}");
        assert_eq!(reads(&run(&dir, &words).succeeded()), covered_writes, "{syncs:?} without a file");
    }
}

#[test]
fn a_state_that_cannot_be_loaded_fails_the_job_before_it_does_anything() {
    let dir = TestDir::new();
    run(&dir, &["--verify_state_save=1", "--size=16k", "--rw=write"]).succeeded();
    let state = dir.work().join(STATE);
    let good = fs::read(&state).unwrap();
    let other_version = [&[3], &good[1..]].concat();
    let flipped = [&good[..170], &[good[170] ^ 1], &good[171..]].concat();
    let cases: [(Option<&[u8]>, &str); 5] = [
        (None, "open state file: No such file or directory"),
        (Some(&good[..20]), "failed reading verify state header"),
        (Some(&other_version), "unsupported (3) version in verify state header"),
        (Some(&good[..100]), "failed reading verity state"),
        (Some(&flipped), "verify state is corrupt"),
    ];
    for (bytes, message) in cases {
        match bytes {
            Some(bytes) => fs::write(&state, bytes).unwrap(),
            None => fs::remove_file(&state).unwrap(),
        }
        for (character, advised) in [("--as=fio", false), ("--as=ferrio", true)] {
            let words = [character, "--filename=new", "--verify_state_load=1", "--size=16k", "--rw=read"];
            let failed = run(&dir, &words).ended_with(1);
            let first: Vec<&str> = failed.stderr.lines().take(2).collect();
            let file = format!("{STATE} (for_write=0)");
            assert!(first[0].ends_with(message) && first[1].ends_with(&file), "{}", failed.stderr);
            assert_eq!(failed.stderr.contains("verify_state_save=1"), advised, "{}", failed.stderr);
            assert_eq!(reads(&failed), 0);
            assert!(!has(&dir, "new"), "{message}: its file is laid out");
        }
    }
}

#[test]
fn a_state_that_cannot_be_saved_is_reported_and_fails_no_job() {
    for (character, status) in [("--as=ferrio", 1), ("--as=fio", 0)] {
        let dir = TestDir::new();
        let words = [character, "--aux-path=nowhere", "--verify_state_save=1", "--size=16k", "--rw=write"];
        let run = run(&dir, &words).ended_with(status);
        assert_eq!((reads(&run), number(&run.json(), "/jobs/0/error")), (4, 0));
        assert!(run.stderr.contains("nowhere/local-w-0-verify.state (for_write=1)"), "{}", run.stderr);
    }
}

/// Starts a writer and a reader that end by a trigger only, whose command copies the writer's state.
fn triggered(dir: &TestDir, words: &[&str]) -> Run {
    let endless = ["--size=1m", "--time_based", "--runtime=60", "--rate_iops=500", "--trigger-file=now"];
    let jobs = [
        "--trigger=cp local-w-0-verify.state at-the-trigger",
        "--name=w",
        "--rw=write",
        "--filename=f",
        "--verify=md5",
        "--name=r",
        "--rw=read",
        "--filename=g",
        "--iodepth=2",
    ];
    let mut running = dir.ferrio(&[words, &endless[..], &jobs[..]].concat()).start();
    running.until("its first write", || begins_with_a_header(dir, 0));
    fs::write(dir.work().join("now"), "").unwrap();
    running.wait().succeeded()
}

#[test]
fn a_trigger_saves_the_state_of_every_job_as_fio_and_of_those_that_ask_as_ferrio() {
    let dir = TestDir::new();
    triggered(&dir, &["--as=fio", "--verify_state_save=0"]);
    let saved = fs::read(dir.work().join("at-the-trigger")).unwrap();
    assert!(word(&saved, 32) >= 1);
    assert_eq!(saved, fs::read(dir.work().join(STATE)).unwrap(), "the end of the job leaves it alone");
    let reader = fs::read(dir.work().join("local-r-1-verify.state")).unwrap();
    assert_eq!((reader.len(), word(&reader, 32), word(&reader, 40)), (184, 0, 1));

    let dir = TestDir::new();
    triggered(&dir, &["--verify_state_save=1"]);
    assert!(has(&dir, "at-the-trigger") && !has(&dir, "local-r-1-verify.state"));

    let dir = TestDir::new();
    let run = triggered(&dir, &[]);
    assert!(!has(&dir, STATE));
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("w: no verify state is saved"), "{}", run.stderr);
    assert!(run.stderr.contains("set verify_state_save=1"), "{}", run.stderr);
}

#[test]
fn verify_only_reads_what_a_state_covers_and_changes_nothing() {
    let dir = TestDir::new();
    let order = ["--size=64k", "--rw=randwrite"];
    run(&dir, &[&order[..], &["--number_ios=5", "--verify_state_save=1"]].concat()).succeeded();
    let before = fs::read(dir.work().join("f")).unwrap();
    let state = fs::read(dir.work().join(STATE)).unwrap();
    let words = ["--verify_only", "--verify_state_load=1", "--verify_state_save=1"];
    let only = run(&dir, &[&order[..], &words].concat()).succeeded();
    assert_eq!(fs::read(dir.work().join(STATE)).unwrap(), state, "the state of the job that wrote is kept");
    assert!(only.stderr.contains("`verify_state_save` saves nothing with `verify_only`"), "{}", only.stderr);
    assert_eq!((reads(&only), number(&only.json(), "/jobs/0/write/total_ios")), (5, 5));
    assert_eq!(number(&only.json(), "/jobs/0/write/runtime"), 0);
    assert_eq!(only.stderr.matches("Stop verify because seq 5 >= 5\n").count(), 1, "{}", only.stderr);
    assert_eq!(fs::read(dir.work().join("f")).unwrap(), before);
    run(&dir, &[&order[..], &["--verify_only"]].concat()).ended_with(1);
    let shorter = ["--size=64k", "--rw=randwrite", "--verify_only", "--number_ios=3"];
    run(&dir, &[&shorter[..], &["--verify_state_save=1", "--as=fio"]].concat()).succeeded();
    assert_eq!(covered(&dir, STATE), 3, "called fio, a check saves its state");
}
