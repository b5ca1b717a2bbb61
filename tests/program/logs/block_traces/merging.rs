//! `merge_blktrace_file`: several block traces as one.

use std::fs;
use std::os::unix::fs::symlink;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::records::{COMPLETE, FLUSH, Form, READ, Record, USUAL, WRITE, in_form, queued, trace};
use crate::support::{Run, TestDir, number};

/// The words that merge `a` and `b` into `merged` and replay it.
const MERGE: [&str; 6] = [
    "--name=r",
    "--ioengine=null",
    "--read_iolog=a:b",
    "--merge_blktrace_file=merged",
    "--replay_redirect=data",
    "--output-format=json",
];

fn put(dir: &TestDir, name: &str, bytes: &[u8]) {
    fs::write(dir.work().join(name), bytes).unwrap();
}

/// Writes in `a` and, in the other byte order, reads in `b`.
fn dir_with_traces() -> TestDir {
    let dir = TestDir::new();
    let mut writes: Vec<_> = [1, 4, 5].map(|time| queued(time, 8 * time, 4096, WRITE)).into();
    writes.push(Record { action: COMPLETE, ..queued(10, 0, 4096, WRITE) });
    put(&dir, "a", &trace(&writes));
    let reads = [2, 3, 6].map(|time| Record { payload: b"payload", ..queued(time, 8 * time, 4096, READ) });
    let flush = queued(7, 0, 0, WRITE | FLUSH);
    put(&dir, "b", &in_form(Form { big_endian: true, ..USUAL }, &[&reads[..], &[flush]].concat()));
    dir
}

fn merge(dir: &TestDir, words: &[&str]) -> Run {
    dir.ferrio(&[&MERGE[..], words].concat()).run()
}

/// The times and the sectors of the merged trace, whose records have 48 bytes each.
fn merged(dir: &TestDir) -> Vec<(u64, u64)> {
    let bytes = fs::read(dir.work().join("merged")).unwrap();
    assert_eq!(bytes.len() % 48, 0);
    let number = |record: &[u8], at: usize| u64::from_ne_bytes(record[at..at + 8].try_into().unwrap());
    bytes.chunks(48).map(|record| (number(record, 8) / 1000, number(record, 16))).collect()
}

#[test]
fn requests_are_merged_in_the_order_of_time_and_replayed() {
    let dir = dir_with_traces();
    let run = merge(&dir, &[]).succeeded();
    assert_eq!(merged(&dir), [(1, 8), (2, 16), (3, 24), (4, 32), (5, 40), (6, 48)]);
    let ios = |kind: &str| number(&run.json(), &format!("/jobs/0/{kind}/total_ios"));
    assert_eq!([ios("read"), ios("write"), ios("sync")], [3, 3, 0]);
    let scaled = ["--merge_blktrace_scalars=50:100", "--merge_blktrace_iters=2:1", "--merge-blktrace-only"];
    let run = merge(&dir, &scaled).succeeded();
    assert!(!run.stdout.contains("\"jobs\""), "{}", run.stdout);
    let want = [(0, 8), (2, 32), (2, 16), (2, 40), (3, 24), (5, 8), (6, 48), (7, 32), (7, 40)];
    assert_eq!(merged(&dir), want);
}

#[test]
fn merging_needs_no_devices_and_the_result_can_be_merged_again() {
    let dir = dir_with_traces();
    let words = ["--name=r", "--read_iolog=a:b", "--merge_blktrace_file=merged", "--merge-blktrace-only"];
    dir.ferrio(&words).run().succeeded();
    fs::rename(dir.work().join("merged"), dir.work().join("once")).unwrap();
    let words =
        ["--name=r", "--read_iolog=once:once", "--merge_blktrace_file=merged", "--merge-blktrace-only"];
    dir.ferrio(&words).run().succeeded();
    assert_eq!(merged(&dir).len(), 12);
}

#[test]
fn clones_replay_the_merged_trace_and_a_description_writes_none() {
    let dir = dir_with_traces();
    let run = dir.ferrio(&[&["check"], &MERGE[..5]].concat()).run();
    assert!(!dir.is_written("merged"), "{}", run.stdout);
    assert!(run.stdout.matches("12KiB").count() >= 2, "{}{}", run.stdout, run.stderr);
    let run = merge(&dir, &["--numjobs=2"]).succeeded();
    for job in 0..2 {
        assert_eq!(number(&run.json(), &format!("/jobs/{job}/write/total_ios")), 3);
    }
}

#[test]
fn traces_that_cannot_be_merged_are_named_and_nothing_is_left() {
    for only in [&[][..], &["--merge-blktrace-only"]] {
        let dir = dir_with_traces();
        let refused = |words: &[&str], why: &str| {
            let run = merge(&dir, &[words, only].concat()).ended_with(1);
            assert!(run.stderr.contains(why), "{why}: {}", run.stderr);
            assert!(!dir.is_written("merged"), "{why}");
        };
        put(&dir, "text", b"fio version 3 iolog\n1 f add\n");
        let mut damaged = fs::read(dir.work().join("a")).unwrap();
        damaged.extend([0x55; 48]);
        put(&dir, "damaged", &damaged);
        refused(&["--read_iolog=a:missing"], "could not open file: missing: No such file or directory");
        refused(&["--read_iolog=a:text"], "file is not a blktrace: text");
        refused(
            &["--read_iolog=damaged:b"],
            "bad magic in blktrace data: 55555555 (record 5, at byte 192): damaged",
        );
        refused(&["--merge_blktrace_scalars=50:50:50"], "merge_blktrace_scalars(3) != nr_logs(2)");
        refused(&["--merge_blktrace_iters=1"], "merge_blktrace_iters(1) != nr_logs(2)");
        refused(
            &["--merge_blktrace_iters=1:1.5"],
            "has the value 1.5, but a whole number from 1 is expected",
        );
        refused(&["--merge_blktrace_scalars=0:1"], "has the value 0, but a percentage above 0 is expected");
        let before = fs::read(dir.work().join("a")).unwrap();
        refused(&["--merge_blktrace_file=a"], "merge_blktrace_file=a would overwrite the trace a");
        assert_eq!(fs::read(dir.work().join("a")).unwrap(), before);
    }
}

#[test]
fn a_trace_on_standard_input_is_not_overwritten_either() {
    let dir = dir_with_traces();
    let before = fs::read(dir.work().join("a")).unwrap();
    let words =
        [&MERGE[..], &["--read_iolog=-", "--merge_blktrace_file=a", "--merge-blktrace-only"]].concat();
    let run = dir.ferrio(&words).input_file(&dir.work().join("a")).run().ended_with(1);
    assert!(run.stderr.contains("would overwrite the trace"), "{}", run.stderr);
    assert_eq!(fs::read(dir.work().join("a")).unwrap(), before);
}

#[test]
fn a_merge_that_fails_removes_the_file_that_it_writes_and_nothing_else() {
    let dir = dir_with_traces();
    let work = dir.work();
    let mut damaged = fs::read(work.join("a")).unwrap();
    damaged.extend([0x55; 48]);
    put(&dir, "damaged", &damaged);
    symlink("/dev/null", work.join("null")).unwrap();
    symlink("written", work.join("link")).unwrap();
    mkfifo(&work.join("pipe"), Mode::S_IRWXU).unwrap();
    let fails = |to: &str| {
        let to = format!("--merge_blktrace_file={to}");
        let run = merge(&dir, &["--read_iolog=damaged:b", &to]).ended_with(1);
        assert!(run.stderr.contains("bad magic in blktrace data"), "{to}: {}", run.stderr);
    };
    fails("null");
    fails("link");
    // Open for both, a pipe needs nobody at its other end.
    let pipe = fs::File::options().read(true).write(true).open(work.join("pipe")).unwrap();
    fails("pipe");
    drop(pipe);
    let left = ["null", "link", "pipe"].map(|name| fs::symlink_metadata(work.join(name)).is_ok());
    assert_eq!((left, dir.is_written("written")), ([true; 3], false));
}

#[test]
fn a_merged_trace_that_cannot_be_written_or_read_again_is_an_error() {
    let dir = dir_with_traces();
    for (device, why) in [
        ("full", "could not write file: full: No space left on device"),
        (
            "null",
            "merge_blktrace_file=null is not a regular file and cannot be replayed: add `--merge-blktrace-only`",
        ),
    ] {
        symlink(format!("/dev/{device}"), dir.work().join(device)).unwrap();
        let to = format!("--merge_blktrace_file={device}");
        let run = merge(&dir, &[&to]).ended_with(1);
        assert!(run.stderr.contains(why), "{}", run.stderr);
    }
    merge(&dir, &["--merge_blktrace_file=null", "--merge-blktrace-only"]).succeeded();
}

#[test]
fn a_trace_that_is_not_in_the_order_of_time_is_noted_and_repeated_after_its_latest_record() {
    let dir = dir_with_traces();
    put(&dir, "a", &trace(&[1, 9, 4].map(|time| queued(time, 8 * time, 4096, WRITE))));
    let run = merge(&dir, &["--merge_blktrace_iters=2:1", "--merge-blktrace-only"]).succeeded();
    let times: Vec<u64> = merged(&dir).into_iter().map(|(time, _)| time).collect();
    assert_eq!(times, [1, 2, 3, 6, 9, 4, 10, 18, 13]);
    let note = "block trace a: 1 request with an earlier time than the one before, so merged is not sorted by time either";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    assert!(!run.stderr.contains("block trace b"), "{}", run.stderr);
}
