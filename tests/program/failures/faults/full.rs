//! A file system without room: layout, reserving, writing and filling, for every engine. Nothing but the file of the job is on it.

use std::fs;

use ferrio_job::EngineKind;
use nix::errno::Errno;

use super::job;
use crate::command_line::protection::keeps_attributes;
use crate::engines::moving;
use crate::support::{FERRIO, Run, TestDir, installed, json_file, number, skipped};

/// Bytes of the file system.
const ROOM: u64 = 2 << 20;
/// Bytes of the job's file.
const WANTED: u64 = 4 << 20;
const BLOCK: u64 = 64 << 10;
const DEPTH: u32 = 4;

/// Mounts the file system over the working directory, runs the program there, and tells the size of its file.
const ON_A_SMALL_DISK: &str = "mount -t tmpfs -o size=2m small . && cd \"$PWD\" || exit 99\n\
     if test \"$SPARSE\"; then truncate -s 4m f; fi\n\
     \"$0\" \"$@\"; status=$?; stat -c 'size %s' f >&2; exit $status";

/// Runs a job on a file of 4 MiB where there is room for 2; a file that is there before has no blocks. `None` where that needs a
/// privilege that the test does not have.
fn run(engine: EngineKind, sparse: bool, words: &[&str]) -> Option<Run> {
    let script = if sparse { format!("SPARSE=1\n{ON_A_SMALL_DISK}") } else { ON_A_SMALL_DISK.to_owned() };
    run_in(&TestDir::new(), &script, engine, words)
}

/// Runs a script with the arguments of the job.
fn run_in(dir: &TestDir, script: &str, engine: EngineKind, words: &[&str]) -> Option<Run> {
    if dir.program(installed("unshare"), &["-rm", "true"]).run().status != Some(0) {
        skipped("a full disk", "this machine does not let the test mount one");
        return None;
    }
    let (engine, depth) = (format!("--ioengine={engine}"), format!("--iodepth={DEPTH}"));
    let own = ["--output-format=json", "--name=j", "--filename=f", "--size=4m", "--bs=64k", &depth, &engine];
    let words = [&["-rm", "bash", "-c", script, FERRIO][..], &own, words].concat();
    Some(dir.program(installed("unshare"), &words).run())
}

/// The size that the script found the file to have.
fn size_of_file(run: &Run) -> u64 {
    let line = run.stderr.lines().find_map(|line| line.strip_prefix("size "));
    line.unwrap_or_else(|| panic!("no size in {}", run.stderr)).parse().unwrap()
}

fn facts(run: &Run) -> (Option<i32>, u64, u64) {
    let job = job(run);
    (run.status, number(&job, "/error"), number(&job, "/write/io_bytes"))
}

const ENOSPC: u64 = Errno::ENOSPC as u64;

#[test]
fn a_layout_keeps_what_was_written() {
    needs!("unshare");
    for engine in moving() {
        for more in ["--fallocate=native", "--fallocate=none", "--fallocate=posix"] {
            let Some(run) = run(engine, false, &["--rw=read", more]) else { return };
            assert_eq!(facts(&run), (Some(1), ENOSPC, 0), "{engine} {more}");
            assert_eq!(size_of_file(&run), ROOM, "{engine} {more}");
            assert!(run.stderr.contains("ENOSPC on laying out file, stopping"), "{engine}: {}", run.stderr);
        }
    }
}

#[test]
fn reserving_more_than_there_is_room_for_fails_the_job_with_keep_only() {
    needs!("unshare");
    for engine in moving() {
        let Some(run) = run(engine, false, &["--rw=write", "--fallocate=keep"]) else { return };
        assert_eq!(facts(&run), (Some(1), ENOSPC, 0), "{engine}");
        assert!(run.stderr.contains("func=fallocate"), "{engine}: {}", run.stderr);
    }
    let Some(run) = run(EngineKind::Psync, false, &["--rw=write", "--fallocate=posix", "--io_size=1m"])
    else {
        return;
    };
    assert_eq!(facts(&run), (Some(0), 0, 1 << 20));
    assert!(run.stderr.contains("posix_fallocate fails: No space left on device"), "{}", run.stderr);
}

#[test]
fn a_write_beyond_the_room_fails_with_its_place() {
    needs!("unshare");
    for engine in moving() {
        let Some(run) = run(engine, engine.maps_files(), &["--rw=write"]) else { return };
        // A mapping does not say why a page is missing.
        let error = if engine.maps_files() { Errno::EIO as u64 } else { ENOSPC };
        assert_eq!(facts(&run), (Some(1), error, ROOM), "{engine}");
        let most = if engine.is_sync(DEPTH) { 1 } else { u64::from(DEPTH) };
        let tried = number(&job(&run), "/write/total_ios") - ROOM / BLOCK;
        assert!((1..=most).contains(&tried), "{engine}: {tried} failed writes");
        let place = format!("write offset={ROOM}, buflen={BLOCK}");
        assert!(run.stderr.contains(&place), "{engine}: {}", run.stderr);
    }
}

#[test]
fn filling_the_disk_is_no_error() {
    needs!("unshare");
    for engine in moving().filter(|engine| !engine.cannot_extend()) {
        let Some(run) = run(engine, false, &["--rw=write", "--fill_device=1"]) else { return };
        assert_eq!(facts(&run), (Some(0), 0, ROOM), "{engine}");
        assert_eq!(size_of_file(&run), ROOM, "{engine}");
        assert!(run.stderr.contains("No space left on device"), "{engine}: {}", run.stderr);
    }
}

/// Runs the program, makes room and runs it again, with the file and the errors of both.
const AGAIN_WITH_ROOM: &str = "mount -t tmpfs -o size=2m small . && cd \"$PWD\" || exit 99\n\
     \"$0\" \"$@\" >../first; first=$?; stat -c 'size %s' f >../first.size\n\
     mount -o remount,size=8m . || exit 98\n\
     \"$0\" \"$@\"; status=$?; stat -c 'size %s' f >&2; echo \"first $first\" >&2; exit $status";

#[test]
fn a_file_that_did_not_fit_is_laid_out_again_by_the_next_run() {
    needs!("unshare");
    for engine in moving() {
        // Called `ferrio`, the second run knows the file as its own by an attribute, which not every tmpfs has.
        for character in ["--as=fio", "--as=ferrio"]
            .into_iter()
            .filter(|&word| word == "--as=fio" || keeps_attributes("/dev/shm".as_ref()))
        {
            let dir = TestDir::new();
            let Some(run) = run_in(&dir, AGAIN_WITH_ROOM, engine, &["--rw=read", character]) else {
                return;
            };
            let first = json_file(&dir.beside("first"));
            assert_eq!(number(&first, "/jobs/0/error"), ENOSPC, "{engine} {character}");
            assert!(run.stderr.contains("first 1"), "{engine} {character}: {}", run.stderr);
            assert_eq!(fs::read_to_string(dir.beside("first.size")).unwrap(), format!("size {ROOM}\n"));
            let job = job(&run);
            assert_eq!(
                (run.status, number(&job, "/error")),
                (Some(0), 0),
                "{engine} {character}: {}",
                run.stderr
            );
            assert_eq!(number(&job, "/read/io_bytes"), WANTED, "{engine} {character}");
            assert_eq!(size_of_file(&run), WANTED, "{engine} {character}");
        }
    }
}
