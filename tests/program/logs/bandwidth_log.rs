//! `--bandwidth-log`: the bandwidth of all jobs together, a file for each direction.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{FERRIO, TestDir};

/// A job that moves 400 KiB/s for a second.
const STEADY: [&str; 6] =
    ["--name=a", "--ioengine=null", "--size=1g", "--rate_iops=100", "--time_based", "--runtime=1100ms"];

fn rows(dir: &TestDir, name: &str) -> Vec<[u64; 5]> {
    let numbers = |row: Vec<String>| row.iter().map(|n| n.parse().unwrap()).collect::<Vec<u64>>();
    dir.rows(name).into_iter().map(|row| numbers(row).try_into().unwrap()).collect()
}

#[test]
fn there_is_a_row_in_each_file_at_each_tick_even_if_nothing_moved() {
    let dir = TestDir::new();
    dir.ferrio(&[&["--bandwidth-log=all", "--bwavgtime=250"], &STEADY[..]].concat()).run().succeeded();
    let [read, write, trim] = ["read", "write", "trim"].map(|word| rows(&dir, &format!("all-{word}_bw.log")));
    assert!(read.len() >= 2, "{read:?}");
    let times = |rows: &[[u64; 5]]| rows.iter().map(|row| row[0]).collect::<Vec<_>>();
    // At most one in each tick; a busy machine may leave some out.
    assert!(times(&read)[0] >= 250, "{read:?}");
    assert!(times(&read).windows(2).all(|pair| pair[0] / 250 < pair[1] / 250), "{read:?}");
    assert_eq!((times(&write), times(&trim)), (times(&read), times(&read)));
    assert!(read.iter().any(|row| row[1] > 0) && read.iter().all(|row| row[2..] == [0, 0, 0]), "{read:?}");
    assert!(write.iter().all(|row| row[1..] == [0, 1, 0, 0]), "{write:?}");
    assert!(trim.iter().all(|row| row[1..] == [0, 2, 0, 0]), "{trim:?}");
    // KiB/s times ms, over all rows, is what had been read by then; each row loses less than a KiB/s.
    let mut before = 0;
    let moved: u64 = read.iter().map(|row| row[1] * (row[0] - std::mem::replace(&mut before, row[0]))).sum();
    let most = 440 * 1000;
    assert!(moved <= most + 4000 && moved + read.len() as u64 * 1000 >= before * 4 / 10, "{moved}: {read:?}");
}

#[test]
fn rows_add_all_jobs_up_and_have_none_of_a_ramp() {
    let dir = TestDir::new();
    let words = ["--bandwidth-log", "--bwavgtime=100", "--ramp_time=600ms", "--numjobs=2"];
    dir.ferrio(&[&words[..], &STEADY].concat()).run().succeeded();
    let read = rows(&dir, "agg-read_bw.log");
    assert!(!read.is_empty() && read.iter().all(|row| row[0] >= 600), "{read:?}");
    assert!(read.iter().any(|row| row[1] > 500), "800 KiB/s are read: {read:?}");
}

#[test]
fn the_interval_is_the_smallest_of_all_jobs_and_earlier_rows_are_gone() {
    let dir = TestDir::new();
    fs::write(dir.work().join("agg-read_bw.log"), "old\n").unwrap();
    let second = ["--name=b", "--ioengine=null", "--size=4k", "--bwavgtime=250"];
    dir.ferrio(&[&["-b"], &STEADY[..], &["--bwavgtime=10000"], &second].concat()).run().succeeded();
    assert!(rows(&dir, "agg-read_bw.log").len() >= 2);
    dir.ferrio(&[&["-b"], &STEADY[..], &["--bwavgtime=10000"]].concat()).run().succeeded();
    assert_eq!(rows(&dir, "agg-read_bw.log").len(), 0, "its interval never passed");
}

#[test]
fn files_that_cannot_be_written_are_told_and_the_run_goes_on() {
    let dir = TestDir::new();
    let words = ["--bandwidth-log=no/x", "--name=a", "--ioengine=null", "--size=4k"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert_eq!(
        run.stderr.matches("fopen log: No such file or directory: no/x-").count(),
        3,
        "{}",
        run.stderr
    );
    symlink("/dev/full", dir.work().join("agg-read_bw.log")).unwrap();
    let run = dir.ferrio(&[&["-b", "--bwavgtime=100"], &STEADY[..]].concat()).run().ended_with(1);
    let told = run.stderr.matches("cannot write agg-read_bw.log: No space left on device").count();
    assert_eq!(told, 1, "{}", run.stderr);
    assert!(!rows(&dir, "agg-write_bw.log").is_empty());
}

#[test]
fn hosts_have_a_file_each_in_the_directory_of_the_coordinator() {
    let dir = TestDir::new();
    let path = format!("--ferrio-path={FERRIO}");
    let job =
        dir.job("[a]\nioengine=null\nsize=1g\nrate_iops=100\ntime_based\nruntime=1100ms\nbwavgtime=250\n");
    fs::create_dir(dir.work().join("logs")).unwrap();
    // Each host is in a directory of its own, and writes nothing there.
    let via = "--via=mkdir -p {host} && cd {host} && exec env H={host}";
    let words = ["--hosts=one,two", via, &path, "--bandwidth-log=logs/all", "--output=report", &job];
    dir.ferrio(&words).run().succeeded();
    for host in ["one", "two"] {
        let read = rows(&dir, &format!("logs/all-read_bw.log.{host}"));
        assert!(read.len() >= 2 && read.iter().any(|row| row[1] > 0), "{host}: {read:?}");
        assert!(rows(&dir, &format!("logs/all-write_bw.log.{host}")).iter().all(|row| row[1] == 0));
        assert_eq!(fs::read_dir(dir.work().join(host)).unwrap().count(), 0, "{host}");
    }
}
