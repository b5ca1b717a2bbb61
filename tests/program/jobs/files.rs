//! Jobs over many files: which one is served, how many are open, and what each costs.

use std::fs;

use crate::beside_fio::work::compare_all;
use crate::engines::{moving, moving_at_depths};
use crate::support::{FERRIO, Run, TestDir, installed, skipped};

/// A job under a limit of open files (`-S` for one that the program may raise) below the shell's own.
fn limited(ulimit: &str, more: &str) -> Run {
    let dir = TestDir::new();
    let script = format!("ulimit {ulimit}; exec \"$0\" --name=a --rw=write --size=400k --nrfiles=100 {more}");
    dir.program("/bin/sh", &["-c", &script, FERRIO]).run()
}

#[test]
fn a_limit_of_open_files_that_may_be_raised_is_raised() {
    let run = limited("-S -n 40", "--ioengine=psync").succeeded();
    assert!(run.stdout.contains("issued rwts: total=0,100,0,0"), "{}", run.stdout);
}

#[test]
fn more_files_than_may_be_open_need_openfiles() {
    let failed = limited("-n 40", "--ioengine=psync");
    assert_eq!(failed.status, Some(1));
    assert!(failed.stderr.contains("try reducing/setting openfiles (failed at "), "{}", failed.stderr);
    for (engine, depth) in moving_at_depths() {
        let words = format!("--ioengine={engine} --iodepth={depth} --openfiles=8 --fsync_on_close=1");
        limited("-n 40", &words).succeeded();
    }
}

#[test]
fn what_is_written_through_few_descriptors_is_read_back() {
    let registered = "io_uring --registerfiles=1".to_owned();
    for engine in moving().map(|engine| engine.to_string()).chain([registered]) {
        let dir = TestDir::new();
        let job = format!(
            "--name=a --rw=randwrite --bs=4k --size=640k --nrfiles=20 --openfiles=3 --file_service_type=random:2 \
             --verify=crc32c --iodepth=8 --ioengine={engine}"
        );
        dir.ferrio(&job.split_whitespace().collect::<Vec<_>>()).run().succeeded();
        assert_eq!(dir.files().len(), 20, "{engine}");
    }
}

#[test]
fn random_jobs_use_all_their_files_however_few_may_be_open_except_as_fio() {
    let jobs = [
        "time_based=1 runtime=1 rate_iops=100 openfiles=1",
        "time_based=1 runtime=1 rate_iops=100 openfiles=1 file_service_type=random",
        "time_based=1 runtime=1 rate_iops=100 openfiles=1 file_service_type=zipf:0.5",
        "time_based=1 runtime=1 rate_iops=100 openfiles=1 norandommap=1",
        "time_based=1 runtime=1 rate_iops=100 file_service_type=sequential",
        "io_size=48m norandommap=1 openfiles=1",
        "io_size=48m norandommap=1 openfiles=1 file_service_type=roundrobin:2",
        "io_size=48m norandommap=1 openfiles=1 file_service_type=random:2",
        "io_size=48m norandommap=1 openfiles=1 file_service_type=sequential",
        "io_size=48m norandommap=1 openfiles=1 file_service_type=pareto:0.4",
        "io_size=48m norandommap=1 openfiles=1 file_service_type=normal:20",
        "io_size=48m random_distribution=pareto:0.4 openfiles=1",
        "io_size=48m random_distribution=zipf:1.2 file_service_type=sequential",
    ];
    let mut text = String::from("[global]\nioengine=null\nrw=randwrite\nbs=1m\nnrfiles=2\nfilesize=3m\n");
    for (number, options) in jobs.iter().enumerate() {
        text += &format!("[j{number}]\nwrite_iolog=j{number}.log\n{}\n", options.replace(' ', "\n"));
    }
    let shares = |character| {
        let dir = TestDir::new();
        dir.ferrio(&[character, "--output=report", &dir.job(&text)]).run().succeeded();
        (0..jobs.len())
            .map(|number| {
                let log = dir.read(&format!("j{number}.log"));
                let ios = |file| log.lines().filter(|line| line.contains(&format!(".{file} write "))).count();
                [ios(0), ios(1)]
            })
            .collect::<Vec<_>>()
    };
    for (options, [one, other]) in jobs.iter().zip(shares("--as=ferrio")) {
        let popular =
            ["zipf:0.5", "pareto:0.4", "normal"].iter().any(|word| options.contains(&format!("type={word}")));
        // A share is 3 I/Os, and the last one may have just begun.
        assert!(
            if popular { one.min(other) >= 3 } else { one.abs_diff(other) <= 3 },
            "{options}: {one} and {other}"
        );
    }
    for (options, [one, other]) in jobs.iter().zip(shares("--as=fio")) {
        // The last I/O of a run time, which is never done, may be one of the other file.
        assert!(one.min(other) <= 1, "{options}: {one} and {other}");
    }
}

#[test]
fn files_lists_and_trees_are_served_as_by_fio() {
    needs!("fio");
    compare_all(&[
        "[random]\nioengine=null\nrw=randread\nsize=640k\nnrfiles=5\nfile_service_type=random:3\n",
        "[sequential]\nioengine=null\nrw=rw\nsize=640k\nnrfiles=5\nopenfiles=2\nfile_service_type=sequential\n",
        "[zipf]\nioengine=null\nrw=write\nsize=640k\nnrfiles=5\nfile_service_type=zipf:1.2\nloops=2\n",
        "[roundrobin]\nrw=write\nfilename=x:y:z\nsize=96k\nopenfiles=1\nfile_service_type=roundrobin:3\n",
    ]);
}

#[test]
fn all_files_below_a_directory_are_used() {
    let dir = TestDir::new();
    fs::create_dir_all(dir.work().join("tree/deep")).unwrap();
    for (name, size) in [("tree/a", 8192), ("tree/deep/b", 4096), ("tree/deep/c", 12288)] {
        fs::write(dir.work().join(name), vec![1; size]).unwrap();
    }
    let words = ["--name=a", "--opendir=tree", "--rw=read", "--openfiles=1", "--output-format=json"];
    let report = dir.ferrio(&words).run().succeeded().json();
    assert_eq!(report["jobs"][0]["read"]["io_bytes"], 8192 + 4096 + 12288);
}

/// The most memory that a job of the null engine ever had, in bytes.
fn peak(files: u32) -> u64 {
    let dir = TestDir::new();
    let files = format!("--nrfiles={files}");
    let asks = "--exec_postrun=grep VmHWM /proc/$PPID/status";
    let words =
        ["--name=a", "--ioengine=null", "--rw=randread", "--size=400m", "--number_ios=10", &files, asks];
    dir.ferrio(&words).run().succeeded();
    let told = dir.read("a.postrun.txt");
    let kib = told.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok());
    kib.unwrap_or_else(|| panic!("no figure in {told:?}")) * 1024
}

#[test]
fn a_file_with_a_random_map_costs_less_than_400_bytes() {
    let each = (peak(100_000) - peak(1)) / 100_000;
    assert!(each < 400, "{each} bytes");
}

/// A shell script for a directory on a file system of 2 MiB that is gone when the script ends.
const ON_A_SMALL_DISK: &str = "mount -t tmpfs -o size=2m small . && cd \"$PWD\" || exit 99\n\
     \"$0\" \"$@\" >report; echo $?; stat -c '%n %s' f g";

#[test]
fn a_layout_that_fills_the_disk_leaves_no_file_that_looks_laid_out() {
    needs!("unshare");
    let dir = TestDir::new();
    if dir.program(installed("unshare"), &["-rm", "true"]).run().status != Some(0) {
        return skipped("a layout on a small disk", "this machine does not let the test mount one");
    }
    let job = ["--output-format=json", "--name=a", "--rw=read", "--filename=f:g", "--size=3m", "--bs=4k"];
    let words = [&["-rm", "bash", "-c", ON_A_SMALL_DISK, FERRIO][..], &job].concat();
    let run = dir.program(installed("unshare"), &words).run().succeeded();
    let [status, first, second] = run.stdout.lines().collect::<Vec<_>>()[..] else { panic!("{run:?}") };
    assert_eq!((status, first), ("1", "f 1572864"), "{}", run.stderr);
    let written: u64 = second.strip_prefix("g ").unwrap().parse().unwrap();
    assert!((1..1_572_864).contains(&written), "what was written stays, but not more: {second}");
    assert!(run.stderr.contains("ENOSPC on laying out file"), "{}", run.stderr);
}
