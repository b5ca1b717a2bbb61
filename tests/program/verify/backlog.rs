//! What verifying jobs do with written blocks while they still write: `verify_backlog`, trims, and the jobs that do without a list of blocks.

use std::fs;
use std::os::unix::fs::FileExt;

use ferrio_job::VerifyMethod;

use crate::engines::moving_at_depths;
use crate::loop_device::LoopDevice;
use crate::support::{TestDir, number, same};

/// The I/Os of a job in the order of its log, with offsets in KiB.
fn order(dir: &TestDir) -> String {
    let log = dir.read("log");
    let ios = log.lines().filter_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
        [_, _, action, offset, _] if action != "sync" => {
            Some(format!("{}{}", &action[..1], offset.parse::<u64>().ok()? / 1024))
        }
        [_, _, "sync", ..] => Some("sync".to_owned()),
        _ => None,
    });
    ios.collect::<Vec<_>>().join(" ")
}

fn orders(words: &[&str]) -> [String; 2] {
    let common = [
        "--name=v",
        "--filename=f",
        "--bs=4k",
        "--ioengine=psync",
        "--write_iolog=log",
        "--verify_state_save=0",
    ];
    [true, false].map(|fio| {
        let dir = TestDir::new();
        let words = [&common[..], &["--verify=crc32c"], words].concat();
        if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().succeeded();
        order(&dir)
    })
}

#[test]
fn blocks_are_read_back_between_the_writes_where_fio_reads_them() {
    needs!("fio");
    for words in [
        &["--rw=write", "--size=64k", "--verify_backlog=4"][..],
        &["--rw=write", "--size=64k", "--verify_backlog=4", "--verify_backlog_batch=2", "--fsync=3"],
        &["--rw=write", "--size=24k", "--verify_backlog=4", "--verify_backlog_batch=6", "--loops=2"],
        &["--rw=write", "--size=16k", "--verify_backlog=4", "--verify_backlog_batch=6", "--loops=2"],
        &["--rw=rw", "--size=128k", "--verify_backlog=3", "--rwmixread=30"],
        &["--rw=write", "--size=64k", "--verify_backlog=4", "--do_verify=0"],
    ] {
        let [fio, ferrio] = orders(words);
        same!("fio": fio, "ferrio": ferrio, "the I/Os of {words:?}");
    }
}

#[test]
fn every_method_checks_every_block_with_a_backlog_on_every_engine() {
    let jobs = [
        "rw=write\nverify_backlog=8\n",
        "rw=randwrite\nbsrange=4k-16k\nverify_backlog=5\nverify_backlog_batch=9\n",
        "rw=randrw\nverify_backlog=4\n",
        "rw=randwrite\nnorandommap\nbsrange=4k-8k\nverify_backlog=3\n",
        "rw=randwrite\nverify_backlog=16\nloops=2\nnrfiles=3\nopenfiles=1\n",
        "rw=trimwrite\nverify_backlog=4\nioengine=null\n",
        "rw=write\nexperimental_verify=1\nrandseed=7\nloops=2\n",
    ];
    let methods = VerifyMethod::ALL;
    let dir = TestDir::new();
    let mut file = "[global]\nsize=256k\nbs=4k\nverify_pattern=0xab%o\n".to_owned();
    let mut count = 0;
    for (at, (engine, depth)) in moving_at_depths().enumerate() {
        for (which, job) in jobs.iter().enumerate() {
            let method = methods[(at * jobs.len() + which) % methods.len()];
            file += &format!(
                "[e{at}-{which}]\nioengine={engine}\niodepth={depth}\nverify={}\n{job}",
                method.word()
            );
            count += 1;
        }
    }
    let job = dir.job(&file);
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    for at in 0..count {
        let of = |what: &str| number(&report, &format!("/jobs/{at}/{what}"));
        let (name, which) = (&report["jobs"][at]["jobname"], at % jobs.len());
        assert_eq!(of("error"), 0, "{name}");
        match which {
            0 | 1 | 4 | 5 | 6 => assert_eq!(of("read/io_bytes"), of("write/io_bytes"), "{name}"),
            _ => assert!(of("read/io_bytes") > 0 && of("write/io_bytes") > 0, "{name}"),
        }
    }
}

#[test]
fn a_job_that_runs_for_a_time_checks_its_blocks_meanwhile() {
    let dir = TestDir::new();
    for more in
        [&["--bs=4k"][..], &["--bsrange=4k-16k", "--rw=randwrite"], &["--ioengine=libaio", "--iodepth=8"]]
    {
        let words =
            [&["--name=v", "--size=128k", "--rw=write", "--verify=crc32c", "--verify_backlog=7"][..], more]
                .concat();
        let timed = ["--time_based", "--runtime=300ms", "--output-format=json"];
        let run = dir.ferrio(&[&words[..], &timed].concat()).run().succeeded();
        assert!(number(&run.json(), "/jobs/0/read/total_ios") > 64, "{more:?}");
        assert!(!run.stderr.contains("never start"), "{}", run.stderr);
    }
}

#[test]
fn seeds_are_compared_unless_the_block_was_written_again_meanwhile() {
    let dir = TestDir::new();
    let common =
        ["--name=v", "--filename=f", "--bs=4k", "--ioengine=psync", "--verify=crc32c", "--time_based"];
    let more = ["--runtime=300ms", "--verify_header_seed=1", "--output-format=json"];
    // Batches of one and a half times the file, and of half of it.
    for backlog in ["--verify_backlog=96", "--verify_backlog=32"] {
        for kind in ["--rw=write", "--rw=randwrite"] {
            let words = [&common[..], &more, &["--size=256k", backlog, kind]].concat();
            let report = dir.ferrio(&words).run().succeeded().json();
            assert!(number(&report, "/jobs/0/read/total_ios") > 96, "{backlog} {kind}");
        }
    }
}

#[test]
fn trimmed_blocks_are_zeroes_and_the_others_as_written() {
    let dir = TestDir::new();
    let Some(device) = LoopDevice::of(&dir, 1 << 20) else { return };
    let name = format!("--filename={}", device.node());
    let common = ["--name=t", &name, "--bs=4k", "--size=64k", "--verify=crc32c", "--output-format=json"];
    for more in [
        &["--rw=write", "--trim_percentage=50", "--trim_backlog=1"][..],
        &["--rw=write", "--trim_percentage=50", "--trim_backlog=1", "--trim_verify_zero=0"],
        &["--rw=randwrite", "--trim_percentage=90", "--trim_backlog=3", "--verify_backlog=8"],
        &["--rw=randwrite", "--trim_percentage=50", "--trim_backlog=2", "--ioengine=io_uring", "--iodepth=4"],
        &[
            "--rw=randwrite",
            "--norandommap",
            "--trim_percentage=50",
            "--trim_backlog=2",
            "--ioengine=libaio",
            "--iodepth=4",
        ],
        &["--rw=trimwrite", "--ioengine=libaio", "--iodepth=8"],
    ] {
        let report = dir.ferrio(&[&common[..], more].concat()).run().succeeded().json();
        assert!(number(&report, "/jobs/0/trim/total_ios") > 0, "{more:?}");
        assert_eq!(number(&report, "/jobs/0/write/total_ios"), 16, "{more:?}");
        let data = fs::read(device.node()).unwrap();
        let blocks = || data[..65536].chunks(4096);
        assert!(
            blocks().all(|block| block.starts_with(&[0xca, 0xac]) || block.iter().all(|&byte| byte == 0))
        );
        assert!(more[0] == "--rw=trimwrite" || blocks().any(|block| block[0] == 0), "{more:?}");
    }
}

#[test]
fn blocks_that_are_marked_and_not_trimmed_are_counted() {
    let dir = TestDir::new();
    let words =
        ["--name=t", "--size=16k", "--bs=4k", "--rw=write", "--verify=crc32c", "--trim_percentage=100"];
    let run = dir.ferrio(&words).run().succeeded();
    assert!(run.stderr.contains("4 trim entries leaked?"), "{}", run.stderr);
    let refused =
        dir.ferrio(&[&words[..], &["--trim_backlog=2", "--ioengine=psync"]].concat()).run().ended_with(1);
    assert!(refused.messages().contains("Inappropriate ioctl"), "{}", refused.stderr);
}

#[test]
fn checking_a_file_that_is_too_short_fails_and_keeps_its_data() {
    for (engine, name) in [("psync", "ferrio"), ("libaio", "fio"), ("mmap", "fio")] {
        let dir = TestDir::new();
        let common = ["--name=v", "--filename=f", "--bs=4k", "--verify=md5", "--verify_state_save=0"];
        dir.ferrio(&[&common[..], &["--rw=write", "--size=16k"]].concat()).run().succeeded();
        let before = fs::read(dir.work().join("f")).unwrap();
        let (engine, name) = (format!("--ioengine={engine}"), format!("--as={name}"));
        let longer = [&common[..], &["--rw=read", "--size=64k", &engine, &name]].concat();
        let run = dir.ferrio(&longer).run().ended_with(1);
        assert!(run.stderr.contains("bad magic header 0"), "{}", run.stderr);
        assert_eq!(fs::read(dir.work().join("f")).unwrap()[..16384], before);
    }
}

#[test]
fn unaligned_blocks_are_one_interval_each_and_a_changed_byte_is_found() {
    let dir = TestDir::new();
    let common =
        ["--name=v", "--filename=f", "--size=64k", "--bsrange=1k-8k", "--bs_unaligned", "--verify=crc32c"];
    let write = [&common[..], &["--rw=randwrite", "--verify_backlog=3"]].concat();
    dir.ferrio(&write).run().succeeded();
    let read = [&common[..], &["--rw=randread"]].concat();
    dir.ferrio(&read).run().succeeded();
    let file = fs::OpenOptions::new().read(true).write(true).open(dir.work().join("f")).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, 40_000).unwrap();
    file.write_all_at(&[byte[0] ^ 1], 40_000).unwrap();
    let damaged = dir.ferrio(&read).run().ended_with(1);
    assert!(damaged.stderr.contains("file offset 40000"), "{}", damaged.stderr);
}

#[test]
fn choices_that_are_made_again_find_the_blocks_of_a_pass() {
    let dir = TestDir::new();
    for words in [
        &["--rw=randwrite", "--randseed=5", "--loops=2"][..],
        &["--rw=randwrite", "--randrepeat=0", "--bsrange=4k-16k"],
        &["--rw=randrw", "--rwmixread=40"],
        &["--rw=randwrite", "--norandommap", "--ioengine=libaio", "--iodepth=4"],
        &["--rw=randwrite", "--norandommap", "--ioengine=psync"],
        &["--rw=write", "--io_size=256k", "--ioengine=psync"],
        &["--rw=write", "--nrfiles=4", "--verify_only"],
    ] {
        let common =
            ["--name=v", "--size=128k", "--verify=md5", "--experimental_verify=1", "--output-format=json"];
        let words = [&common[..], words].concat();
        if words.contains(&"--verify_only") {
            dir.ferrio(&words[..words.len() - 1]).run().succeeded();
        }
        let report = dir.ferrio(&words).run().succeeded().json();
        let [reads, writes] =
            ["read", "write"].map(|kind| number(&report, &format!("/jobs/0/{kind}/io_bytes")));
        assert!(reads >= writes && writes > 0, "{words:?}");
    }
    let twice = ["--rw=write", "--size=128k", "--io_size=256k", "--verify_header_seed=1"];
    let job = ["--name=v", "--verify=md5", "--experimental_verify=1"];
    let run = dir.ferrio(&[&job[..], &twice].concat()).run().ended_with(1);
    assert!(run.stderr.contains("does not know which write to a place was the last"), "{}", run.stderr);
}

#[test]
fn a_job_that_will_verify_nothing_says_so_unless_it_is_called_fio() {
    let dir = TestDir::new();
    let job = ["--name=v", "--size=128k", "--verify=md5"];
    for (words, why) in [
        (
            &["--rw=randrw", "--time_based", "--runtime=100ms"][..],
            "Remove `time_based`, or add `verify_backlog`",
        ),
        (&["--rw=write", "--verify_policy=fsynced"], "Add `fsync`, `fdatasync` or `end_fsync`"),
    ] {
        let words = [&job[..], words].concat();
        let run = dir.ferrio(&words).run().succeeded();
        assert!(run.stderr.contains("nothing is verified: ") && run.stderr.contains(why), "{}", run.stderr);
        let run = dir.ferrio(&[&words[..], &["--as=fio"]].concat()).run().succeeded();
        assert!(!run.stderr.contains("verified") && !run.stdout.contains("is verified"), "{}", run.stderr);
    }
}

/// A shift register begins a block at each place once, but longer ones reach into others: what is there has a header of its own.
#[test]
fn every_block_of_a_shift_register_is_checked_whatever_its_size() {
    for (sizes, more) in [
        ("--bsrange=4k-256k", "--verify_backlog=64"),
        ("--bsrange=4k-256k", "--verify_backlog=0"),
        ("--bssplit=8k/40:24k/30:128k/30", "--verify_async=2"),
        ("--bsrange=4k-64k", "--experimental_verify=1"),
        ("--bsrange=4k-64k", "--loops=2"),
    ] {
        for character in ["--as=ferrio", "--as=fio"] {
            let dir = TestDir::new();
            let words = [
                character,
                "--name=v",
                "--filename=f",
                "--size=16m",
                "--io_size=8m",
                "--rw=randwrite",
                "--random_generator=lfsr",
            ];
            let engine =
                ["--verify=crc32c", "--ioengine=libaio", "--iodepth=16", "--output-format=json", sizes, more];
            let words = [&words[..], &engine].concat();
            let run = dir.ferrio(&words).run().succeeded();
            let report = run.json();
            let ios = |direction| number(&report, &format!("/jobs/0/{direction}/total_ios"));
            assert_eq!(ios("read"), ios("write"), "{sizes} {more}");
            assert!(ios("write") > 40 && !run.stderr.contains("norandommap"), "{}", run.stderr);
        }
    }
}
