//! `write_iolog`: I/O logs of whole runs beside those of real fio, and what becomes of a log that cannot be written. That jobs of all
//! kinds have the same lines is tested in `same_io`.

use crate::support::{TestDir, same};

/// Lines of a log in the work directory.
fn lines(dir: &TestDir, name: &str) -> Vec<String> {
    dir.read(name).lines().map(str::to_owned).collect()
}

fn without_times(lines: &[String]) -> Vec<String> {
    let without = |line: &String| match line.split_once(' ') {
        Some((time, rest)) if time.parse::<u64>().is_ok() => rest.to_owned(),
        _ => line.clone(),
    };
    lines.iter().map(without).collect()
}

/// The log of a job under both programs.
fn both(words: &[&str]) -> [Vec<String>; 2] {
    [true, false].map(|fio| {
        let dir = TestDir::new();
        let words = [&["--write_iolog=log", "--verify_state_save=0"], words].concat();
        if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().succeeded();
        without_times(&lines(&dir, "log"))
    })
}

#[test]
fn opens_closes_syncs_and_read_backs_are_in_the_log_as_with_fio() {
    needs!("fio");
    let jobs: [(&str, &[&str]); 6] = [
        ("verified", &["--rw=write", "--verify=crc32c", "--loops=2"]),
        ("synced", &["--rw=write", "--fsync=3", "--fdatasync=2"]),
        ("ranges", &["--rw=write", "--sync_file_range=write:3"]),
        ("at-the-end", &["--rw=write", "--end_fsync=1"]),
        ("mix", &["--rw=rw", "--rwmixread=30", "--loops=3", "--verify=md5"]),
        ("reads", &["--rw=read", "--io_size=64k"]),
    ];
    let job = |&(name, more): &(&str, &[&str])| {
        let own =
            [format!("--name={name}"), format!("--filename={name}.f"), format!("--write_iolog={name}.log")];
        let all = ["--size=32k", "--bs=4k", "--ioengine=psync", "--verify_state_save=0"];
        own.into_iter().chain(all.iter().chain(more).map(|&word| word.to_owned())).collect::<Vec<_>>()
    };
    let words: Vec<String> = jobs.iter().flat_map(job).collect();
    let [fio, ferrio] = [true, false].map(|fio| {
        let dir = TestDir::new();
        if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().succeeded();
        jobs.map(|(name, _)| without_times(&lines(&dir, &format!("{name}.log"))))
    });
    for ((fio, ferrio), (name, more)) in fio.iter().zip(&ferrio).zip(jobs) {
        assert!(fio.len() > 4, "the log of {name} has only {fio:#?}");
        same!("fio": fio, "ferrio": ferrio, "the log of {more:?}");
    }
}

#[test]
fn clones_append_to_one_log_as_with_fio() {
    needs!("fio");
    let words = ["--name=a", "--ioengine=null", "--rw=randwrite", "--size=32k", "--bs=4k", "--numjobs=3"];
    let [fio, ferrio] = both(&[&words[..], &["--randrepeat=0", "--randseed=7"]].concat()).map(|mut lines| {
        lines.sort();
        lines
    });
    same!("fio": fio, "ferrio": ferrio, "lines of all clones");
}

/// With fio such lines are torn where its buffers end.
#[test]
fn clones_do_not_tear_lines() {
    let dir = TestDir::new();
    let words = ["--name=a", "--ioengine=null", "--rw=write", "--size=1m", "--bs=512", "--numjobs=3"];
    dir.ferrio(&[&words[..], &["--write_iolog=log"]].concat()).run().succeeded();
    let all = without_times(&lines(&dir, "log"));
    assert_eq!(all.iter().filter(|line| *line == "fio version 3 iolog").count(), 3);
    for clone in 0..3 {
        let name = format!("a.{clone}.0 ");
        let own: Vec<_> = all.iter().filter_map(|line| line.strip_prefix(&name)).collect();
        assert_eq!((own[0], own[1], *own.last().unwrap()), ("add", "open", "close"));
        let writes: Vec<_> = (0..2048).map(|at| format!("write {} 512", at * 512)).collect();
        assert!(own[2..own.len() - 1] == writes, "clone {clone} has {} lines", own.len());
    }
    assert_eq!(all.len(), 3 * (1 + 3 + 2048));
}

#[test]
fn version_2_has_the_same_lines_without_times() {
    let logs = ["2", "3"].map(|version| {
        let dir = TestDir::new();
        let version = format!("--write_iolog_version={version}");
        let words =
            ["--name=a", "--ioengine=null", "--rw=randrw", "--size=64k", "--fsync=2", "--write_iolog=log"];
        for _ in 0..2 {
            dir.ferrio(&[&words[..], &[&version]].concat()).run().succeeded();
        }
        lines(&dir, "log")
    });
    let [two, three] = logs;
    assert_eq!(two.iter().filter(|line| *line == "fio version 2 iolog").count(), 2);
    let renamed: Vec<_> =
        without_times(&three).iter().map(|line| line.replace("version 3", "version 2")).collect();
    same!("version 2": two, "version 3 without times": renamed, "the two versions");
}

#[test]
fn times_count_from_the_start_of_the_job_and_say_when_each_io_was_issued() {
    let dir = TestDir::new();
    let words = ["--name=a", "--ioengine=null", "--rw=read", "--size=40k", "--bs=4k", "--rate_iops=1000"];
    dir.ferrio(&[&words[..], &["--write_iolog=log"]].concat()).run().succeeded();
    let lines = lines(&dir, "log");
    let time = |line: &String| line.split(' ').next().unwrap().parse::<u64>().unwrap();
    let all: Vec<u64> = lines[1..].iter().map(time).collect();
    assert!(all.is_sorted(), "{all:?}");
    let ios: Vec<u64> = lines.iter().filter(|line| line.contains(" read ")).map(time).collect();
    // The schedule begins after the log was opened.
    for (at, io) in ios.iter().enumerate() {
        assert!(*io >= 1000 * at as u64, "I/O {at} was issued after {io} us");
    }
    assert_eq!(ios.len(), 10);
}

#[test]
fn an_io_that_has_to_wait_for_room_is_in_the_log_once() {
    let dir = TestDir::new();
    let words = ["--name=a", "--ioengine=null", "--rw=read", "--size=16k", "--bs=4k", "--iodepth=4"];
    dir.ferrio(&[&words[..], &["--write_iolog=log"]].concat()).run().succeeded();
    let ios: Vec<_> = without_times(&lines(&dir, "log"));
    let reads: Vec<_> = ios.iter().filter(|line| line.contains(" read ")).collect();
    assert_eq!(
        reads,
        ["a.0.0 read 0 4096", "a.0.0 read 4096 4096", "a.0.0 read 8192 4096", "a.0.0 read 12288 4096"]
    );
}

#[test]
fn a_log_that_cannot_be_opened_or_written_is_the_jobs_error() {
    for (log, doing, why) in [
        ("/nowhere/at/all", "open", "No such file or directory"),
        (".", "open", "Is a directory"),
        ("/dev/full", "write", "No space left on device"),
    ] {
        let dir = TestDir::new();
        let log_option = format!("--write_iolog={log}");
        let words = ["--name=a", "--ioengine=null", "--rw=read", "--size=16k", &log_option];
        let run = dir.ferrio(&words).run().ended_with(1);
        let line = format!("cannot {doing} the I/O log {log}: {why}");
        assert!(run.stderr.contains(&line), "{}", run.stderr);
        assert!(run.stderr.contains("func=write_iolog"), "{}", run.stderr);
    }
}

#[test]
fn a_version_that_does_not_exist_is_refused() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["--name=a", "--write_iolog=log", "--write_iolog_version=4"]).run().ended_with(1);
    assert!(run.stderr.contains("the maximum is 3"), "{}", run.stderr);
}
