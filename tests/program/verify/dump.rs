//! `verify_dump`: what was read of a bad block, and what should have been there, in files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::engines::moving;
use crate::support::{Run, TestDir};

const JOB: [&str; 4] = ["--name=j", "--filename=f", "--bs=4k", "--size=32k"];

fn run(dir: &TestDir, words: &[&str]) -> Run {
    dir.ferrio(&[&JOB[..], words].concat()).run()
}

/// A file written with these options, and its content.
fn written(words: &[&str]) -> (TestDir, Vec<u8>) {
    let dir = TestDir::new();
    run(&dir, &[&["--rw=write", "--do_verify=0"], words].concat()).succeeded();
    let data = fs::read(dir.work().join("f")).unwrap();
    (dir, data)
}

/// Changes a bit of each of these bytes. Returns the new content.
fn damaged(dir: &TestDir, good: &[u8], places: &[usize]) -> Vec<u8> {
    let mut data = good.to_vec();
    places.iter().for_each(|&at| data[at] ^= 4);
    fs::write(dir.work().join("f"), &data).unwrap();
    data
}

/// The dumps in a directory, by name.
fn dumps_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.starts_with("f."));
    names.sort();
    names
}

fn dumps(dir: &TestDir) -> Vec<String> {
    dumps_in(&dir.work())
}

fn dump(dir: &TestDir, name: &str) -> Vec<u8> {
    fs::read(dir.work().join(name)).unwrap()
}

#[test]
fn a_bad_block_is_dumped_as_read_and_exactly_as_it_was_written() {
    for words in [
        &["--verify=crc32c"][..],
        &["--verify=sha512", "--verify_interval=1024"],
        &["--verify=md5", "--verify_offset=512"],
        &["--verify=md5", "--buffer_compress_percentage=40"],
        &["--verify=xxhash", "--bs=8k", "--verify_interval=4k", "--randseed=7", "--rw=randwrite"],
        &["--verify=meta", "--verify_pattern=0x1234%o"],
        &["--verify=pattern", "--verify_pattern=\"ferrio\"%o"],
    ] {
        let (dir, good) = written(words);
        let bad = damaged(&dir, &good, &[5 * 4096 + 900]);
        let read = [words, &["--rw=read", "--verify_dump=1"]].concat();
        let failed = run(&dir, &read).ended_with(1);
        let interval = if words.contains(&"--verify_interval=1024") { 1024 } else { 4096 };
        let range = 20480..20480 + interval;
        assert_eq!(dumps(&dir), ["f.20480.expected", "f.20480.received"], "{words:?}: {}", failed.stderr);
        assert_eq!(dump(&dir, "f.20480.expected"), good[range.clone()], "{words:?}");
        if words.contains(&"--verify_offset=512") {
            assert_eq!(dump(&dir, "f.20480.received")[..2], [0xca, 0xac], "the header is in front");
        } else {
            assert_eq!(dump(&dir, "f.20480.received"), bad[range], "{words:?}");
        }
        let lines = "       received data dumped as f.20480.received\n       expected data dumped as f.20480.expected\n";
        assert!(failed.stderr.contains(lines), "{words:?}: {}", failed.stderr);
        let mode = fs::metadata(dir.work().join("f.20480.received")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644);
    }
}

#[test]
fn every_bad_block_and_interval_has_its_dumps_in_the_aux_path() {
    let words = ["--verify=crc32c", "--verify_interval=1024"];
    let (dir, good) = written(&words);
    let bad = damaged(&dir, &good, &[100, 1500, 4096 + 2048, 12288 + 4000]);
    fs::create_dir(dir.work().join("aux")).unwrap();
    fs::write(dir.work().join("aux/f.0.received"), [0; 9000]).unwrap();
    let read = ["--rw=read", "--verify_dump=1", "--continue_on_error=verify", "--aux-path=aux"];
    let failed = run(&dir, &[&words[..], &read[..]].concat()).ended_with(1);
    let want = [
        "f.0.expected",
        "f.0.received",
        "f.1024.expected",
        "f.1024.received",
        "f.15360.expected",
        "f.15360.received",
        "f.6144.hdr_fail",
    ];
    assert_eq!(dumps_in(&dir.work().join("aux")), want, "{}", failed.stderr);
    assert_eq!(dumps(&dir), [""; 0]);
    assert_eq!(dump(&dir, "aux/f.0.received"), bad[..1024], "it replaces the old one");
    assert_eq!(dump(&dir, "aux/f.1024.expected"), good[1024..2048]);
    assert_eq!(dump(&dir, "aux/f.6144.hdr_fail"), bad[6144..7168]);
    assert!(failed.stderr.contains("       hdr_fail data dumped as f.6144.hdr_fail\n"), "{}", failed.stderr);
}

#[test]
fn blocks_of_a_pattern_are_dumped_by_their_intervals() {
    let words = ["--verify=pattern", "--verify_pattern=0xa5%o", "--verify_interval=1024"];
    let (dir, good) = written(&words);
    let bad = damaged(&dir, &good, &[4096 + 3 * 1024 + 7]);
    run(&dir, &[&words[..], &["--rw=read", "--verify_dump=1"]].concat()).ended_with(1);
    assert_eq!(dumps(&dir), ["f.7168.expected", "f.7168.received"]);
    assert_eq!(dump(&dir, "f.7168.expected"), good[7168..8192]);
    assert_eq!(dump(&dir, "f.7168.received"), bad[7168..8192]);
}

#[test]
fn a_dump_that_cannot_be_written_is_named_and_changes_nothing_else() {
    let words = ["--verify=crc32c"];
    let (dir, good) = written(&words);
    damaged(&dir, &good, &[5000]);
    for character in ["--as=fio", "--as=ferrio"] {
        let read = [character, "--verify=crc32c", "--rw=read", "--verify_dump=1", "--output-format=json"];
        let plain = run(&dir, &read).ended_with(1);
        let failed = run(&dir, &[&read[..], &["--aux-path=/nowhere"]].concat()).ended_with(1);
        for kind in ["received", "expected"] {
            let line = format!(
                "verify_dump: cannot write the {kind} data to /nowhere/f.4096.{kind}: No such file or directory\n"
            );
            assert!(failed.stderr.contains(&line), "{}", failed.stderr);
        }
        assert_eq!(failed.json()["jobs"][0]["error"], plain.json()["jobs"][0]["error"]);
        assert_eq!(plain.json()["jobs"][0]["error"], 84);
    }
}

#[test]
fn every_engine_dumps_what_it_read_back_of_its_own_blocks() {
    for engine in moving() {
        let words = ["--verify=crc32c"];
        let (dir, good) = written(&words);
        let bad = damaged(&dir, &good, &[2 * 4096 + 100, 6 * 4096 + 100]);
        let engine_word = format!("--ioengine={engine}");
        let read = ["--rw=randread", "--iodepth=4", "--verify_dump=1", "--continue_on_error=verify"];
        run(&dir, &[&words[..], &read[..], &[&engine_word]].concat()).ended_with(1);
        let want = ["f.24576.expected", "f.24576.received", "f.8192.expected", "f.8192.received"];
        assert_eq!(dumps(&dir), want, "{engine}");
        assert_eq!(dump(&dir, "f.24576.expected"), good[24576..28672], "{engine}");
        assert_eq!(dump(&dir, "f.8192.received"), bad[8192..12288], "{engine}");
    }
}
