//! `fio-dedupe`: duplicate blocks of files.

use std::fs;

use super::called;
use crate::support::{TestDir, installed, same};

const PROGRAM: &str = "fio-dedupe";

/// A block of bytes that do not compress, a different one for each number.
fn block(number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    std::iter::repeat_with(word).take(512).flat_map(u64::to_le_bytes).collect()
}

/// 700 blocks: 40 different ones many times, 20 once, and a rest.
fn write_data(dir: &TestDir) {
    let mut data: Vec<u8> = (0..680).flat_map(|at| block(at * at % 79)).collect();
    data.extend((1000..1020).flat_map(block));
    data.extend_from_slice(&[7; 100]);
    fs::write(dir.work().join("data"), data).unwrap();
}

#[test]
fn exact_counts_are_those_of_fio() {
    needs!("fio-dedupe");
    let dir = TestDir::new();
    write_data(&dir);
    for words in [
        &["-B", "0"][..],
        &["-B", "0", "-b", "512", "-t", "3"],
        &["-B", "0", "-b", "8192", "-o", "1"],
        &["-B", "0", "-b", "1048576", "-t", "1"],
        &["-B", "0", "-c", "1", "-t", "1"],
    ] {
        let words = [&["-p", "0"], words, &["data"]].concat();
        let ours = called(&dir, PROGRAM, &words).succeeded();
        let fios = dir.program(installed(PROGRAM), &words).run().succeeded();
        same!("fio": fios.stdout, "ferrio": ours.stdout, "{words:?}");
    }
}

#[test]
fn the_bloom_filter_and_the_list_agree_with_the_exact_count() {
    let dir = TestDir::new();
    write_data(&dir);
    let of = |words: &[&str]| dir.ferrio(&[&["dedupe"], words, &["data"]].concat()).run().succeeded().stdout;
    let exact = of(&["-B", "0", "-C", "1"]);
    assert!(exact.contains("Extents=700, Unique extents=60 Duplicated extents=40\n"), "{exact}");
    assert!(exact.ends_with("dedupe_percentage=91\nUnique capacity 240KB\n"), "{exact}");
    let bloom = of(&[]);
    assert!(bloom.contains("Extents=700, Unique extents=60\nDe-dupe ratio: 1:10.67\nFio setting"), "{bloom}");
    let list = of(&["-d", "1"]);
    assert_eq!(list.matches("c hash ").count(), 60);
    assert_eq!(list.matches("\toffset ").count(), 700);
    assert!(list.contains(", count 1\n\toffset 2785280\n"), "{list}");
}

#[test]
fn what_cannot_be_checked_is_refused() {
    let dir = TestDir::new();
    fs::write(dir.work().join("data"), [1; 4000]).unwrap();
    for (words, part) in [
        (&["data"][..], "data: it is shorter than a block of 4096 bytes"),
        (&["-o", "1", "-b", "100", "data"], "O_DIRECT needs blocks of a multiple of 512 bytes, not of 100"),
        (&["."], ".: it is neither a file nor a block device"),
        (&["missing"], "missing: No such file or directory"),
        (&["-b", "0", "data"], "invalid value '0'"),
        (&[], "required arguments were not provided"),
    ] {
        let run = called(&dir, PROGRAM, words).ended_with(1);
        assert!(run.stderr.contains(part) && run.stdout.is_empty(), "{words:?}: {}", run.stderr);
    }
}
