//! Options about files that act outside the I/O itself: locks, reading ahead, removal between passes, permission to create files, the type
//! that files must have, hints about data.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::beside_fio::work::compare;
use crate::support::{FERRIO, Run, TestDir, installed, number};

/// The system calls that name or hold the file `f` while a job runs, one a line.
fn calls_on_f(dir: &TestDir, trace: &str, words: &[&str]) -> Vec<String> {
    let lines = trace_of_f(dir, trace, words);
    let about_f = lines.lines().filter(|line| line.contains("\"f\"") || line.contains("/f>"));
    about_f.map(|line| line.split_once(' ').unwrap().1.trim_start().to_owned()).collect()
}

/// What strace tells of a job on the file `f`.
fn trace_of_f(dir: &TestDir, trace: &str, words: &[&str]) -> String {
    let output = dir.beside("trace");
    let trace = format!("--trace={trace}");
    let own = [
        "-f",
        "-y",
        "-o",
        output.to_str().unwrap(),
        &trace,
        FERRIO,
        "--name=a",
        "--filename=f",
        "--ioengine=psync",
    ];
    let words: Vec<&str> = own.iter().chain(words).copied().collect();
    let _: Run = dir.program(installed("strace"), &words).run().succeeded();
    fs::read_to_string(output).unwrap()
}

fn those<'a>(calls: &'a [String], name: &str) -> Vec<&'a str> {
    calls.iter().map(String::as_str).filter(|call| call.starts_with(name)).collect()
}

#[test]
fn jobs_that_lock_their_file_do_the_same_work() {
    needs!("fio");
    compare(
        "[global]\nfilename=f\nsize=64k\nbs=4k\nrw=randrw\n[a]\nlockfile=exclusive\nnumjobs=2\n\
         [b]\nlockfile=readwrite\nnumjobs=2\nthread\n",
    );
    for engine in ["libaio", "io_uring", "mmap", "sync", "psync --io_submit_mode=offload"] {
        let dir = TestDir::new();
        let job = format!(
            "--name=a --numjobs=2 --filename=f --size=256k --rw=randrw --iodepth=8 --lockfile=exclusive --fsync=4 \
             --output-format=json --ioengine={engine}"
        );
        let report = dir.ferrio(&job.split_whitespace().collect::<Vec<_>>()).run().succeeded().json();
        for job in [0, 1] {
            let bytes = |direction: &str| number(&report, &format!("/jobs/{job}/{direction}/io_bytes"));
            assert_eq!(bytes("read") + bytes("write"), 256 << 10, "{engine}");
        }
    }
}

#[test]
fn one_writer_at_a_time_holds_an_exclusive_lock() {
    needs!("strace");
    let dir = TestDir::new();
    let words = "--numjobs=4 --thread --rw=write --bs=64k --size=1m --lockfile=exclusive --direct=1";
    let words: Vec<&str> = words.split_whitespace().collect();
    let most = |words: &[&str]| {
        let (mut now, mut most, mut writes) = (0_u32, 0, 0);
        for line in trace_of_f(&dir, "pwrite64", words).lines() {
            let (begins, ends) = (line.contains("pwrite64("), !line.contains("unfinished"));
            now += u32::from(begins);
            most = most.max(now);
            if line.contains("pwrite64") && ends {
                (now, writes) = (now - 1, writes + 1);
            }
        }
        (writes, most)
    };
    assert_eq!(most(&words), (64, 1));
}

#[test]
fn files_are_read_ahead_before_the_clock_starts_and_stay_cached() {
    needs!("strace");
    let dir = TestDir::new();
    fs::write(dir.work().join("f"), [1; 65536]).unwrap();
    let words = ["--rw=randread", "--bs=4k", "--pre_read=1", "--offset=8k", "--size=32k"];
    let calls = calls_on_f(&dir, "openat,lseek,read,pread64,fadvise64", &words);
    assert_eq!(those(&calls, "read(").len(), 8, "{calls:?}");
    assert!(those(&calls, "lseek(")[0].contains("8192, SEEK_SET"), "{calls:?}");
    assert!(calls.iter().all(|call| !call.contains("DONTNEED")), "{calls:?}");
    let first = calls.iter().position(|call| call.starts_with("pread64")).unwrap();
    assert!(calls[first..].iter().all(|call| !call.starts_with("read(")), "{calls:?}");
}

#[test]
fn what_is_read_ahead_is_no_part_of_the_figures_and_may_be_missing() {
    let dir = TestDir::new();
    let words = [
        "--output-format=json",
        "--name=a",
        "--rw=write",
        "--size=32k",
        "--pre_read=1",
        "--create_on_open=1",
    ];
    let report = dir.ferrio(&words).run().succeeded().json();
    assert_eq!(
        (number(&report, "/jobs/0/read/total_ios"), number(&report, "/jobs/0/write/io_bytes")),
        (0, 32768)
    );
}

#[test]
fn a_command_before_the_job_runs_before_its_files_are_read_ahead() {
    needs!("strace");
    let dir = TestDir::new();
    fs::write(dir.work().join("f"), [1; 8192]).unwrap();
    let words = ["--rw=read", "--bs=4k", "--size=8k", "--pre_read=1", "--exec_prerun=stat f"];
    let calls = calls_on_f(&dir, "statx,newfstatat,read", &words);
    let command = calls.iter().rposition(|call| call.contains("stat")).unwrap();
    let read = calls.iter().position(|call| call.starts_with("read(")).unwrap();
    assert!(command < read, "{calls:?}");
}

#[test]
fn files_are_removed_before_each_pass_but_the_first() {
    needs!("strace");
    let dir = TestDir::new();
    let words = ["--rw=write", "--bs=4k", "--size=8k", "--loops=3", "--unlink_each_loop=1"];
    let calls = calls_on_f(&dir, "openat,unlink,unlinkat,pwrite64", &words);
    assert_eq!((those(&calls, "unlink").len(), those(&calls, "pwrite64").len()), (2, 6), "{calls:?}");
    assert_eq!(dir.files(), [("f".to_owned(), 8192)]);
    compare("[a]\nrw=write\nsize=64k\nnrfiles=4\nloops=3\nunlink_each_loop=1\n");
}

#[test]
fn called_fio_a_reader_finds_no_file_in_its_second_pass_once_the_first_removed_it() {
    needs!("fio");
    let dir = TestDir::new();
    let words = ["--name=a", "--filename=f", "--rw=read", "--size=8k", "--loops=2", "--unlink_each_loop=1"];
    let fio = dir.beside("fio");
    std::os::unix::fs::symlink(FERRIO, &fio).unwrap();
    for program in [fio, installed("fio")] {
        dir.program(program, &words).run().ended_with(1);
        assert!(dir.files().is_empty());
    }
}

#[test]
fn files_that_are_removed_before_a_pass_are_laid_out_again_for_jobs_that_need_their_data() {
    /// I/Os of all passes.
    const IOS: u64 = 3 * 16;
    for more in [
        &["--rw=read"][..],
        &["--rw=randread", "--pre_read=1"],
        &["--rw=read", "--ioengine=mmap"],
        &["--rw=write", "--ioengine=mmap"],
        &["--rw=write", "--overwrite=1"],
        &["--rw=randread", "--nrfiles=4", "--openfiles=1"],
        &["--rw=read", "--numjobs=3", "--filename=shared"],
        &["--rw=randrw", "--ioengine=libaio", "--verify=crc32c", "--do_verify=0"],
    ] {
        let dir = TestDir::new();
        let words = [
            &["--name=a", "--size=64k", "--bs=4k", "--loops=3", "--unlink_each_loop=1", "--group_reporting"],
            &["--output-format=json"][..],
            more,
        ]
        .concat();
        let report = dir.ferrio(&words).run().ended_with(0).json();
        let ios = ["read", "write"].map(|of| number(&report, &format!("/jobs/0/{of}/total_ios")));
        if !more.contains(&"--verify=crc32c") {
            let jobs = if more.contains(&"--numjobs=3") { 3 } else { 1 };
            assert_eq!(ios[0] + ios[1], jobs * IOS, "{more:?}");
        }
        let whole = dir.files().into_iter().map(|(_, size)| size).sum::<u64>();
        assert_eq!(whole, 64 << 10, "{more:?}");
    }
}

#[test]
fn a_layout_between_two_passes_has_the_data_of_the_first() {
    let dir = TestDir::new();
    let words = ["--name=a", "--filename=f", "--rw=read", "--size=64k", "--buffer_pattern=0x5a"];
    let again = [&words[..], &["--loops=3", "--unlink_each_loop=1"]].concat();
    dir.ferrio(&again).run().ended_with(0);
    assert_eq!(fs::read(dir.work().join("f")).unwrap(), vec![0x5a; 64 << 10]);
}

#[test]
fn no_file_is_created_without_permission() {
    for more in [&["--rw=read"][..], &["--rw=write"], &["--rw=write", "--create_on_open=1"]] {
        let dir = TestDir::new();
        let words = [&["--name=a", "--filename=f", "--size=8k", "--allow_file_create=0"][..], more].concat();
        let run = dir.ferrio(&words).run().ended_with(1);
        assert!(dir.files().is_empty(), "{more:?}");
        let disallowed =
            run.stderr.contains("file creation disallowed by allow_file_create=0: there is no f");
        assert!(disallowed || run.stderr.contains("open(f)"), "{}", run.stderr);
    }
}

#[test]
fn a_file_that_may_not_be_created_is_extended_where_it_is() {
    let dir = TestDir::new();
    let path = dir.work().join("a.0.0");
    fs::write(&path, [1; 4096]).unwrap();
    let before = fs::metadata(&path).unwrap().ino();
    dir.ferrio(&["--name=a", "--size=8k", "--rw=read", "--allow_file_create=0"]).run().succeeded();
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.ino(), after.len()), (before, 8192));
}

#[test]
fn files_must_be_of_the_type_that_the_job_asks_for() {
    let dir = TestDir::new();
    fs::write(dir.work().join("f"), [1; 8192]).unwrap();
    let run = |more: &[&str]| dir.ferrio(&[&["--name=a", "--rw=read", "--size=8k"][..], more].concat()).run();
    run(&["--filename=f", "--filetype=file"]).succeeded();
    // Only its first bytes are used, whatever its size.
    run(&["--filename=f", "--filetype=char"]).succeeded();
    let refused = run(&["--filename=f", "--filetype=block"]).ended_with(1);
    assert!(
        refused.stderr.contains("f is a regular file, but the job has filetype=block"),
        "{}",
        refused.stderr
    );
    let missing = run(&["--filename=typo", "--filetype=block"]).ended_with(1);
    assert!(missing.stderr.contains("failed opening blockdev typo for size check"), "{}", missing.stderr);
    let node = run(&["--filename=/dev/zero", "--filetype=file"]).ended_with(1);
    assert!(
        node.stderr.contains("/dev/zero is a character device, but the job has filetype=file"),
        "{}",
        node.stderr
    );
    assert_eq!(dir.files(), [("f".to_owned(), 8192)]);
}

#[test]
fn the_lifetime_of_data_is_told_to_the_kernel_after_each_open() {
    needs!("strace");
    let dir = TestDir::new();
    let hints = |words: &[&str]| {
        let calls = calls_on_f(&dir, "fcntl", words);
        calls.iter().filter(|call| call.contains("0x40c") || call.contains("RW_HINT")).count()
    };
    let words = ["--rw=write", "--size=8k", "--loops=2", "--write_hint=long"];
    assert_eq!(hints(&words), 2);
    assert_eq!(hints(&words[..3]), 0);
    let direct = ["--rw=write", "--size=8k", "--direct=1", "--write_hint=short"];
    assert!((1..=2).contains(&hints(&direct)), "the descriptor's own hint, or that of the file");
}
