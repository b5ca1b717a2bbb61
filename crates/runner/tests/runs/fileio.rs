//! sysbench's test `fileio`: what its threads do together, and what it leaves behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use ferrio_job::Plan;
use ferrio_plan::sysbench::{FileIoMode, FileTest, OpenFlags, SysbenchFileio, SysbenchRun, plan};
use ferrio_results::{EventFailure, RunResult};
use ferrio_runner::{RunOptions, run};
use ferrio_verify::{InvalidBlock, add_checksum, check_checksum};
use tempfile::TempDir;

const BLOCK: usize = 16384;
/// Of each of four files.
const FILE: usize = 2 << 20;

/// 400 events of four threads on four files of 2 MiB, which are synced after each 10 requests.
fn asked(test: FileTest) -> SysbenchFileio {
    SysbenchFileio {
        run: SysbenchRun {
            threads: 4,
            events: Some(400),
            time: Duration::ZERO,
            rate: None,
            seed: Some(1),
            has_percentile: true,
        },
        test,
        io_mode: FileIoMode::Sync,
        files: 4,
        total_size: 4 * FILE as u64,
        block: BLOCK as u64,
        merged_requests: 0,
        rw_ratio: 1.5,
        fsync_freq: 10,
        fsync_all: false,
        fsync_end: true,
        fdatasync: false,
        validate: false,
        flags: OpenFlags::default(),
    }
}

fn plan_in(directory: &Path, asked: &SysbenchFileio) -> Plan {
    let mut plan = plan(asked);
    let files = plan.jobs.iter_mut().flat_map(|job| &mut job.spec.files);
    files.for_each(|file| file.path = directory.join(&file.path));
    plan
}

fn run_in(directory: &Path, asked: &SysbenchFileio) -> RunResult {
    run(Box::leak(Box::new(plan_in(directory, asked))), &RunOptions::default(), &mut |_| ())
}

/// A directory with the files of the test, of this byte.
fn prepared(byte: u8) -> TempDir {
    let directory = TempDir::new().unwrap();
    for file in 0..4 {
        fs::write(directory.path().join(format!("test_file.{file}")), vec![byte; FILE]).unwrap();
    }
    directory
}

fn bytes_of(directory: &TempDir, file: u32) -> Vec<u8> {
    fs::read(directory.path().join(format!("test_file.{file}"))).unwrap()
}

/// Events, reads, writes and syncs of all threads.
fn counts(result: &RunResult) -> [u64; 4] {
    let mut counts = [0; 4];
    for job in &result.jobs {
        assert_eq!(job.error, None);
        let events = job.events.as_ref().unwrap().latency.count();
        let [read, write, _] = &job.stats.directions;
        assert_eq!((read.bytes, write.bytes), (read.ios * BLOCK as u64, write.ios * BLOCK as u64));
        for (sum, count) in counts.iter_mut().zip([events, read.ios, write.ios, job.stats.sync.ios]) {
            *sum += count;
        }
    }
    counts
}

fn failure_of(result: &RunResult) -> EventFailure {
    let errors = result.jobs.iter().filter_map(|job| job.error.as_ref());
    *errors.filter_map(|error| error.event.clone()).next().expect("a thread failed")
}

#[test]
fn periodic_syncs_are_events_and_those_of_the_end_are_not() {
    let directory = prepared(0xaa);
    assert_eq!(counts(&run_in(directory.path(), &asked(FileTest::RandomWrite))), [400, 0, 288, 112 + 16]);
    let all = SysbenchFileio { fsync_all: true, ..asked(FileTest::RandomWrite) };
    assert_eq!(counts(&run_in(directory.path(), &all)), [400, 0, 400, 400]);
    assert_eq!(counts(&run_in(directory.path(), &asked(FileTest::RandomRead))), [400, 400, 0, 0]);
}

#[test]
fn each_way_of_doing_io_makes_the_same_requests() {
    for io_mode in [FileIoMode::Sync, FileIoMode::Async { backlog: 4 }, FileIoMode::Mmap] {
        let directory = prepared(0xaa);
        let asked = SysbenchFileio { io_mode, ..asked(FileTest::RandomWrite) };
        assert_eq!(counts(&run_in(directory.path(), &asked)), [400, 0, 288, 128], "{io_mode:?}");
        let blocks: Vec<Vec<u8>> = (0..4).map(|file| bytes_of(&directory, file)).collect();
        let zeros =
            blocks.iter().flat_map(|file| file.chunks(BLOCK)).filter(|block| block == &[0; BLOCK]).count();
        let untouched =
            blocks.iter().flat_map(|file| file.chunks(BLOCK)).filter(|block| block == &[0xaa; BLOCK]).count();
        assert!(zeros > 100 && zeros + untouched == 512, "{io_mode:?}: {zeros} and {untouched}");
    }
}

#[test]
fn asynchronous_requests_are_all_reaped_and_their_completion_is_timed_apart() {
    let directory = prepared(0);
    let asked = SysbenchFileio { io_mode: FileIoMode::Async { backlog: 5 }, ..asked(FileTest::RandomMix) };
    let result = run_in(directory.path(), &asked);
    let [events, reads, writes, _] = counts(&result);
    assert_eq!(events, 400);
    let completions = |direction: usize| {
        result
            .jobs
            .iter()
            .filter_map(|job| job.stats.directions[direction].clat.as_ref())
            .map(|clat| clat.count())
            .sum::<u64>()
    };
    assert_eq!([completions(0), completions(1)], [reads, writes]);
}

#[test]
fn new_files_replace_old_ones_and_grow_by_what_is_written() {
    let directory = prepared(0xaa);
    let one = SysbenchRun { threads: 1, events: Some(520), ..asked(FileTest::SequentialCreate).run };
    let asked = SysbenchFileio { run: one, fsync_freq: 100, ..asked(FileTest::SequentialCreate) };
    assert_eq!(counts(&run_in(directory.path(), &asked)), [520, 0, 500, 24]);
    let sizes = [0, 1, 2, 3].map(|file| bytes_of(&directory, file).len());
    assert_eq!(sizes, [FILE, FILE, FILE, 1_900_544]);
    let mode = fs::metadata(directory.path().join("test_file.0")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mapped = SysbenchFileio { io_mode: FileIoMode::Mmap, ..asked };
    run_in(directory.path(), &mapped);
    assert_eq!(
        [0, 1, 2, 3].map(|file| bytes_of(&directory, file).len()),
        [FILE; 4],
        "a mapping does not grow"
    );
}

#[test]
fn a_missing_or_short_file_fails_all_threads_before_they_begin() {
    let directory = prepared(0);
    let path = directory.path().join("test_file.3");
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1000).unwrap();
    let result = run_in(directory.path(), &asked(FileTest::RandomRead));
    assert!(result.jobs.iter().all(|job| job.error.is_some() && job.stats.total_ios() == 0));
    assert_eq!(
        failure_of(&result),
        EventFailure::TooShort { path: path.clone(), size: 1000, expected: FILE as u64 }
    );
    fs::remove_file(&path).unwrap();
    let result = run_in(directory.path(), &asked(FileTest::RandomRead));
    assert_eq!(failure_of(&result), EventFailure::Open { path, errno: libc::ENOENT });
}

#[test]
fn blocks_with_checksums_stay_valid_and_damage_is_found() {
    let directory = prepared(0);
    for file in 0..4 {
        let mut bytes = bytes_of(&directory, file);
        bytes.chunks_mut(BLOCK).enumerate().for_each(|(at, block)| add_checksum(block, (at * BLOCK) as u64));
        fs::write(directory.path().join(format!("test_file.{file}")), bytes).unwrap();
    }
    for io_mode in [FileIoMode::Sync, FileIoMode::Async { backlog: 8 }] {
        let asked = SysbenchFileio { validate: true, io_mode, ..asked(FileTest::RandomMix) };
        let [events, reads, writes, _] = counts(&run_in(directory.path(), &asked));
        assert!(events == 400 && reads > 100 && writes > 50, "{io_mode:?}");
    }
    let mut bytes = bytes_of(&directory, 1);
    let written = bytes.chunks(BLOCK).filter(|block| block[..64] != [0; 64]).count();
    assert!(written > 10, "writes carry random bytes");
    assert!(
        bytes.chunks(BLOCK).enumerate().all(|(at, block)| check_checksum(block, (at * BLOCK) as u64).is_ok())
    );
    bytes[32768 + 77] ^= 1;
    fs::write(directory.path().join("test_file.1"), bytes).unwrap();
    let merged = SysbenchFileio { validate: true, merged_requests: 3, ..asked(FileTest::SequentialRead) };
    let result = run_in(directory.path(), &merged);
    let failure = failure_of(&result);
    assert!(
        matches!(
            failure,
            EventFailure::Block { file: 1, offset: 32768, problem: InvalidBlock::Checksum { .. } }
        ),
        "{failure:?}"
    );
}

#[test]
fn a_thread_that_fails_ends_an_endless_test() {
    let directory = prepared(0);
    let endless = SysbenchRun { events: None, ..asked(FileTest::RandomMix).run };
    let asked = SysbenchFileio { run: endless, validate: true, ..asked(FileTest::RandomMix) };
    let result = run_in(directory.path(), &asked);
    assert!(matches!(failure_of(&result), EventFailure::Block { .. }), "no block has a checksum");
}
