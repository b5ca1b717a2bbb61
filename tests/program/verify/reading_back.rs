//! Verification: what was written is read back and checked, and a changed byte is found and named.

use std::os::unix::fs::FileExt;

use nix::errno::Errno;

use crate::engines::moving;
use crate::support::{TestDir, number};

/// Methods of `verify` with a digest of the data.
pub const DIGESTS: [&str; 15] = [
    "md5",
    "crc64",
    "crc32",
    "crc32c",
    "crc32c-intel",
    "crc16",
    "crc7",
    "sha1",
    "sha256",
    "sha512",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "xxhash",
];

#[test]
fn a_job_that_another_ends_says_what_it_did_not_verify() {
    let dir = TestDir::new();
    let job = dir.job(
        "[a]\nioengine=null\nrw=read\nsize=4k\ntime_based\nruntime=300ms\nexitall\n\
         [b]\nrw=write\nbs=4k\nsize=2m\nrate=100k\nverify=crc32c\nfilename=f\n",
    );
    let run = dir.ferrio(&[&job]).run().succeeded();
    assert!(
        run.stderr.contains("b: another job, a steady state or a limit ended the job early: "),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("not read back and checked"), "{}", run.stderr);
}

fn flip_a_byte(dir: &TestDir, name: &str, offset: u64) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(dir.work().join(name)).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 1], offset).unwrap();
}

#[test]
fn every_method_finds_its_own_blocks_intact_and_one_changed_bit() {
    for method in DIGESTS {
        let dir = TestDir::new();
        let verify = format!("--verify={method}");
        let write =
            ["--output-format=json", "--name=v", "--filename=f", "--size=256k", "--rw=randwrite", &verify];
        let report = dir.ferrio(&write).run().succeeded().json();
        assert_eq!(number(&report, "/jobs/0/write/total_ios"), 64, "{method}");
        assert_eq!(number(&report, "/jobs/0/read/total_ios"), 64, "{method}");
        let read = ["--output-format=json", "--name=v", "--filename=f", "--size=256k", "--rw=read", &verify];
        dir.ferrio(&read).run().succeeded();
        flip_a_byte(&dir, "f", 5 * 4096 + 3000);
        let run = dir.ferrio(&read).run().ended_with(1);
        assert_eq!(run.json()["jobs"][0]["error"], Errno::EILSEQ as i32, "{method}");
        assert!(run.stderr.contains("at file f offset 20480, length 4096"), "{method}: {}", run.stderr);
    }
}

#[test]
fn verify_only_reads_back_what_a_mix_wrote_and_nothing_else() {
    let dir = TestDir::new();
    let words = [
        "--output-format=json",
        "--name=v",
        "--rw=randrw",
        "--rwmixwrite=90",
        "--bsrange=2k-7k",
        "--size=201k",
        "--verify=md5",
    ];
    let written = dir.ferrio(&words).run().succeeded().json();
    let checked = dir.ferrio(&[&words[..], &["--verify_only"]].concat()).run().succeeded().json();
    let writes = number(&written, "/jobs/0/write/total_ios");
    assert!(writes > 0);
    assert_eq!(number(&checked, "/jobs/0/write/total_ios"), writes);
    assert_eq!(number(&checked, "/jobs/0/read/total_ios"), writes);
}

#[test]
fn blocks_that_are_written_again_in_one_pass_are_read_back_as_written_last() {
    let again = [
        &["--rw=write", "--nrfiles=3", "--file_service_type=zipf:1.2"][..],
        &["--rw=randrw", "--nrfiles=3", "--file_service_type=normal:20"],
        &["--rw=randwrite", "--zonemode=strided", "--zonesize=32k", "--zonerange=16k"],
    ];
    for words in again {
        let dir = TestDir::new();
        let common = ["--name=v", "--ioengine=psync", "--size=256k", "--verify=md5", "--do_verify=1"];
        dir.ferrio(&[&common[..], words].concat()).run().succeeded();
    }
}

#[test]
fn every_engine_verifies_at_depth() {
    for engine in moving() {
        let dir = TestDir::new();
        let engine = format!("--ioengine={engine}");
        let words = [
            "--output-format=json",
            "--name=v",
            "--size=1m",
            "--bsrange=4k-64k",
            "--rw=randwrite",
            "--iodepth=8",
            "--verify=crc32c",
            "--loops=2",
            &engine,
        ];
        let report = dir.ferrio(&words).run().succeeded().json();
        assert_eq!(number(&report, "/jobs/0/error"), 0);
        let written = number(&report, "/jobs/0/write/io_bytes");
        assert_eq!(number(&report, "/jobs/0/read/io_bytes"), written, "{engine}: everything is read back");
    }
}

#[test]
fn do_verify_0_leaves_the_read_back_out() {
    let dir = TestDir::new();
    let words =
        ["--output-format=json", "--name=v", "--size=64k", "--rw=write", "--verify=md5", "--do_verify=0"];
    let report = dir.ferrio(&words).run().succeeded().json();
    assert_eq!(number(&report, "/jobs/0/read/total_ios"), 0);
}

/// A pattern has no header, so the two programs can check each other's files whatever their releases.
#[test]
fn a_pattern_written_by_one_program_verifies_under_the_other() {
    needs!("fio");
    let dir = TestDir::new();
    let words = |rw: &'static str| {
        [
            "--name=v",
            "--filename=f",
            "--size=64k",
            "--verify=pattern",
            "--verify_pattern=0xdeadbeef%o\"ferrio\"",
            rw,
        ]
    };
    dir.ferrio(&words("--rw=write")).run().succeeded();
    dir.fio(&words("--rw=read")).run().succeeded();
    std::fs::remove_file(dir.work().join("f")).unwrap();
    dir.fio(&words("--rw=write")).run().succeeded();
    dir.ferrio(&words("--rw=read")).run().succeeded();
}

#[test]
fn several_writers_of_one_file_are_warned_about() {
    let dir = TestDir::new();
    let words =
        ["--name=v", "--filename=f", "--size=64k", "--rw=write", "--verify=md5", "--numjobs=2", "--thread"];
    let run = dir.ferrio(&words).run();
    assert!(run.stderr.contains("multiple writers may overwrite blocks"), "{}", run.stderr);
    let strict: Vec<&str> = ["--warnings-fatal"].iter().chain(&words).copied().collect();
    dir.ferrio(&strict).run().ended_with(1);
}

#[test]
fn verify_only_checks_an_earlier_run_in_any_order_and_engine_without_a_write() {
    let dir = TestDir::new();
    let common = ["--output-format=json", "--name=v", "--filename=f", "--size=64k", "--verify=crc32c"];
    let run = |words: &[&str]| dir.ferrio(&[&common[..], words].concat()).run();
    run(&["--rw=randwrite", "--do_verify=0"]).succeeded();
    let before = std::fs::read(dir.work().join("f")).unwrap();
    for words in [
        &["--rw=write"][..],
        &["--rw=randwrite", "--verify_write_sequence=1", "--verify_header_seed=1"],
        &["--rw=write", "--ioengine=io_uring", "--iodepth=4", "--fsync=3", "--end_fsync=1"],
        &["--rw=write", "--ioengine=libaio", "--iodepth=4", "--loops=2"],
        &["--rw=write", "--ioengine=mmap"],
        &["--rw=write", "--ioengine=tokio_uring", "--iodepth=4"],
    ] {
        let report = run(&[words, &["--verify_only"]].concat()).succeeded().json();
        let passes = if words.contains(&"--loops=2") { 2 } else { 1 };
        let done = ["read", "write"].map(|kind| number(&report, &format!("/jobs/0/{kind}/total_ios")));
        assert_eq!(done, [16 * passes; 2], "{words:?}");
    }
    assert_eq!(std::fs::read(dir.work().join("f")).unwrap(), before);
    run(&["--rw=write", "--verify_only", "--verify_write_sequence=1"]).ended_with(1);
    flip_a_byte(&dir, "f", 9 * 4096 + 3000);
    run(&["--rw=write", "--verify_only"]).ended_with(1);
}

#[test]
fn the_run_time_also_ends_the_choices_of_verify_only() {
    let dir = TestDir::new();
    let common =
        ["--name=j", "--filename=f", "--size=64k", "--rw=randwrite", "--norandommap", "--verify=crc32c"];
    dir.ferrio(&common).run().succeeded();
    let endless =
        [&common[..], &["--verify_only", "--io_size=1p", "--runtime=1", "--output-format=json"]].concat();
    let run = dir.ferrio(&endless).run().succeeded();
    assert!(number(&run.json(), "/jobs/0/write/total_ios") > 16);
    assert!(run.stderr.contains("not read back and checked"), "{}", run.stderr);
}

#[test]
fn verify_only_keeps_the_data_of_a_file_that_is_too_short() {
    let dir = TestDir::new();
    let common = ["--name=v", "--filename=f", "--rw=write", "--verify=md5"];
    dir.ferrio(&[&common[..], &["--size=16k"]].concat()).run().succeeded();
    let before = std::fs::read(dir.work().join("f")).unwrap();
    let longer = dir.ferrio(&[&common[..], &["--size=32k", "--verify_only"]].concat()).run().ended_with(1);
    assert!(longer.stderr.contains("bad magic header 0"), "{}", longer.stderr);
    assert_eq!(std::fs::read(dir.work().join("f")).unwrap()[..16384], before);
    let endless = [&common[..], &["--size=16k", "--verify_only", "--time_based", "--runtime=1"]].concat();
    let refused = dir.ferrio(&endless).run().ended_with(1);
    assert!(refused.stderr.contains("would never begin to verify"), "{}", refused.stderr);
}

#[test]
fn blocks_that_the_run_time_keeps_from_their_check_are_noted() {
    let dir = TestDir::new();
    let job = ["--name=v", "--filename=f", "--size=64k", "--rw=write", "--verify=crc32c", "--runtime=200ms"];
    // The second block would be due after a second.
    let slow = [&job[..], &["--rate_iops=1"]].concat();
    let cut = dir.ferrio(&slow).run().succeeded();
    let note = "`runtime` is over: 1 block that the job wrote was not read back and checked";
    assert!(cut.stderr.contains(note), "{}", cut.stderr);
    let as_fio = dir.ferrio(&[&["--as=fio"], &slow[..]].concat()).run().succeeded();
    assert!(!as_fio.stderr.contains("read back"), "{}", as_fio.stderr);
    let whole = dir.ferrio(&[&job[..5], &["--runtime=60"]].concat()).run().succeeded();
    assert!(!whole.stderr.contains("read back"), "{}", whole.stderr);
}

/// CRC-32C without the inversion at the end, as headers have it.
fn crc32c(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}

#[test]
fn the_method_in_a_header_matters_only_where_the_digest_differs() {
    let dir = TestDir::new();
    let words = |name: &str, method: &str, more: &[&str]| {
        let own = [format!("--filename={name}"), format!("--verify={method}")];
        let common = ["--name=v", "--size=64k", "--ioengine=psync", "--verify_state_save=0"];
        [&common.map(str::to_owned)[..], &own, &more.iter().map(ToString::to_string).collect::<Vec<_>>()]
            .concat()
    };
    for (name, method) in [("f", "crc32c"), ("md5", "md5")] {
        dir.ferrio(&words(name, method, &["--rw=write", "--do_verify=0"])).run().succeeded();
    }
    let path = |name: &str| dir.work().join(name);
    let mut blocks = std::fs::read(path("f")).unwrap();
    // Another method in a sound header, whose checksum of the data is that of the job's method.
    let header = &mut blocks[5 * 4096..][..48];
    assert_eq!(std::mem::replace(&mut header[3], 4), 5);
    let crc = crc32c(&header[..44]);
    header[44..].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(path("f"), &blocks).unwrap();
    let read = words("f", "crc32c", &["--rw=read", "--continue_on_error=verify"]);
    let run = dir.ferrio(&read).run().succeeded();
    assert!(!run.stderr.contains("verify"), "{}", run.stderr);
    // A whole block of another method.
    let foreign = std::fs::read(path("md5")).unwrap();
    blocks[2 * 4096..3 * 4096].copy_from_slice(&foreign[2 * 4096..3 * 4096]);
    std::fs::write(path("f"), &blocks).unwrap();
    let run = dir.ferrio(&read).run();
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.contains("verify")).collect();
    let place_of_it = "file f offset 8192, length 4096 (requested block: offset=8192, length=4096, flags=8)";
    assert!(lines[0].ends_with(&format!("crc32c: verify failed at {place_of_it}")), "{}", run.stderr);
    assert!(lines.contains(&"ferrio: verify type mismatch (2 media, 5 given)"), "{}", run.stderr);
    assert_eq!(run.stderr.matches("verify failed at").count(), 1, "{}", run.stderr);
    assert_eq!(run.stderr.matches("verify type mismatch").count(), 1, "{}", run.stderr);
}
