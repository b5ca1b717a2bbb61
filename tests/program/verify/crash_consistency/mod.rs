//! A program that is killed, on a disk that loses what was not synced: a later run finds every acknowledged write, and those that the disk
//! has lost, and accuses it of no other.

mod filesystem;

use std::collections::BTreeSet;
use std::fs;

use crate::support::{Run, TestDir, skipped};
use filesystem::{Disk, Habits};

const BLOCKS: usize = 256;
const STATE: &str = "local-j-0-verify.state";

/// A job that is killed in the middle, and what a check finds after the power cut.
struct Crash {
    disk: Disk,
    dir: TestDir,
    words: Vec<String>,
}

/// Runs a job with these words until the disk kills it, and cuts the power. `None` where FUSE is not available.
fn crash(words: &[&str], habits: Habits) -> Option<Crash> {
    let dir = TestDir::new();
    let disk = match Disk::mount(&dir.beside(""), BLOCKS * 4096, habits) {
        Ok(disk) => disk,
        Err(error) => {
            skipped("crashes", &format!("FUSE cannot mount a file system: {error}"));
            return None;
        }
    };
    let common =
        ["--name=j", "--bs=4k", "--direct=1", "--verify=crc32c", &format!("--size={}", BLOCKS * 4096)]
            .map(str::to_owned);
    let words: Vec<String> = common
        .into_iter()
        .chain([format!("--filename={}", disk.path())])
        .chain(words.iter().map(ToString::to_string))
        .collect();
    let own = ["--verify_state_save=1", "--verify_policy=fsynced", "--do_verify=0"].map(str::to_owned);
    let running = dir.ferrio(&[&words[..], &own].concat()).start();
    disk.kills(running.pid());
    let killed = running.wait();
    assert_eq!(killed.status, None, "{}", killed.stderr);
    disk.lose_power();
    Some(Crash { disk, dir, words })
}

impl Crash {
    /// Checks what must have survived.
    fn check(&self) -> Run {
        let words = ["--verify_only", "--verify_state_load=1", "--continue_on_error=verify"];
        self.dir.ferrio(&[&self.words[..], &words.map(str::to_owned)].concat()).run()
    }

    /// Where the check found lost blocks.
    fn reported(&self) -> BTreeSet<u64> {
        let run = self.check();
        let offset = |line: &str| {
            let rest = line.strip_prefix("verify: bad magic header 0, wanted acca at file ")?;
            rest.split(" offset ").nth(1)?.split(',').next()?.parse().ok()
        };
        let found: BTreeSet<u64> = run.stderr.lines().filter_map(offset).collect();
        let run = run.ended_with(i32::from(!found.is_empty()));
        assert!(run.stderr.contains("Stop verify because seq"), "{}", run.stderr);
        found
    }

    /// The writes that the state covers.
    fn covered(&self) -> BTreeSet<u64> {
        let state = fs::read(self.dir.work().join(STATE)).unwrap();
        let word = |at: usize| u64::from_le_bytes(state[at..at + 8].try_into().unwrap());
        let iodepth = if self.words.iter().any(|word| word == "--iodepth=8") { 8 } else { 1 };
        let skipped: BTreeSet<u64> = (168 + iodepth * 8..state.len()).step_by(8).map(word).collect();
        (0..word(32)).filter(|number| !skipped.contains(number)).collect()
    }
}

/// Engines and orders with the words of a sync.
const JOBS: [&[&str]; 6] = [
    &["--ioengine=psync", "--rw=write", "--fsync=5"],
    &["--ioengine=psync", "--rw=randwrite", "--fdatasync=1"],
    &["--ioengine=io_uring", "--iodepth=8", "--rw=write", "--fsync=5"],
    &["--ioengine=io_uring", "--iodepth=8", "--rw=randwrite", "--fdatasync=4"],
    &["--ioengine=libaio", "--iodepth=8", "--rw=randwrite", "--fsync=9"],
    &["--ioengine=posixaio", "--iodepth=8", "--rw=write", "--fsync=7"],
];

#[test]
fn a_disk_that_keeps_what_it_synced_is_found_in_order() {
    for words in JOBS {
        for kills_after in [1, 60, 200] {
            let habits = Habits { kills_after, ..Habits::default() };
            let Some(crash) = crash(words, habits) else { return };
            assert_eq!(crash.reported(), BTreeSet::new(), "{words:?} {kills_after}");
            let synced: BTreeSet<u64> = crash.disk.synced().into_keys().collect();
            let covered = crash.covered();
            assert!(covered.is_subset(&synced), "{words:?}: {covered:?} of {synced:?}");
            if words.contains(&"--ioengine=psync") {
                assert_eq!(covered, synced, "{words:?}: every acknowledged write is checked");
            }
            // A queue goes on while one of its syncs is late, and that one holds back all that overlap it: only the first blocks are certain.
            if kills_after == 200 {
                assert!(covered.contains(&0), "{words:?}: {covered:?} of {synced:?}");
            }
        }
    }
}

#[test]
fn exactly_the_acknowledged_writes_that_a_disk_loses_are_reported() {
    for words in JOBS {
        let drops = BTreeSet::from([0, 8, 33, 34, 61, 140]);
        let habits = Habits { kills_after: 200, drops: drops.clone() };
        let Some(crash) = crash(words, habits) else { return };
        // How late the last syncs are depends on the machine: a queue full of them has not covered the last block by the time of the kill.
        let acknowledged: BTreeSet<u64> = crash.covered().intersection(&drops).copied().collect();
        assert!(acknowledged.contains(&0) && acknowledged.contains(&8), "{words:?}: {acknowledged:?}");
        let synced = crash.disk.synced();
        let lost: BTreeSet<u64> = acknowledged.iter().map(|number| synced[number]).collect();
        assert_eq!(crash.reported(), lost, "{words:?}");
    }
}

#[test]
fn a_job_that_is_killed_before_its_first_sync_covers_nothing_although_an_older_run_left_a_state() {
    let habits = Habits { kills_after: 20, ..Habits::default() };
    let Some(crash) = crash(&["--ioengine=psync", "--rw=write", "--fsync=50"], habits) else { return };
    assert_eq!(crash.covered(), BTreeSet::new());
    assert_eq!(crash.reported(), BTreeSet::new());
}

#[test]
fn a_state_that_cannot_be_kept_is_reported_once_and_the_job_goes_on() {
    let dir = TestDir::new();
    let words = ["--name=j", "--filename=f", "--size=64k", "--rw=write", "--fsync=2", "--verify=crc32c"];
    let own = ["--verify_state_save=1", "--verify_policy=fsynced", "--aux-path=nowhere"];
    let run = dir.ferrio(&[&words[..], &own[..]].concat()).run().ended_with(1);
    let lines = run.stderr.matches("state file: nowhere/local-j-0-verify.state (for_write=1)").count();
    // When the job begins and when it ends.
    assert_eq!(lines, 2, "{}", run.stderr);
}

#[test]
fn called_fio_the_state_is_saved_at_the_end_only() {
    let dir = TestDir::new();
    let words = ["--name=j", "--filename=f", "--size=64k", "--rw=write", "--fsync=2", "--verify=crc32c"];
    let own = ["--as=fio", "--verify_policy=fsynced", "--verify_state_save=1", "--aux-path=nowhere"];
    let run = dir.ferrio(&[&words[..], &own[..]].concat()).run().succeeded();
    assert_eq!(run.stderr.matches("(for_write=1)").count(), 1, "{}", run.stderr);
}

#[test]
fn a_sync_of_one_file_covers_no_write_to_another() {
    let dir = TestDir::new();
    let words = ["--name=j", "--nrfiles=2", "--size=64k", "--rw=write", "--verify=crc32c", "--do_verify=0"];
    let own =
        ["--verify_state_save=1", "--verify_policy=fsynced", "--fsync=5", "--file_service_type=roundrobin"];
    dir.ferrio(&[&words[..], &own[..]].concat()).run().succeeded();
    let state = fs::read(dir.work().join(STATE)).unwrap();
    let word = |at: usize| u64::from_le_bytes(state[at..at + 8].try_into().unwrap());
    let open: Vec<u64> = (176..state.len()).step_by(8).map(word).collect();
    // All three syncs are of the second file. These are the writes to the first one.
    assert_eq!((word(32), open), (15, vec![0, 2, 4, 5, 7, 9, 10, 12]));
}
