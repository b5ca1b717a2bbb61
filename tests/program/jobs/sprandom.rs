//! `sprandom` from outside: which blocks are written, in which order and how often, by the log of the job; what a check and
//! `--debug=sprandom` say of it; and which jobs are refused.

use std::collections::HashMap;

use crate::support::{FERRIO, TestDir, number};

/// 32 MiB in blocks of 4 KiB: 8192 blocks, with 15 % of spare space 9420.
const SIZE: &str = "size=32m";
const BLOCKS: u64 = 8192;
/// In 8 regions.
const REGION: usize = 1177;
/// Their invalid shares by the model, computed apart from the program, in 1/10000.
const SHARES: [u64; 8] = [2479, 2167, 1842, 1503, 1150, 782, 399, 0];

/// The job; it writes its log to `log`.
fn job(more: &str) -> String {
    format!("[p]\nfilename=f\n{SIZE}\nrw=randwrite\nsprandom=1\nspr_num_regions=8\nwrite_iolog=log\n{more}\n")
}

/// The blocks written by a job, in order.
fn writes(dir: &TestDir) -> Vec<u64> {
    let block = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, _, "write", offset, "4096"] = words[..] else { return None };
        Some(offset.parse::<u64>().unwrap() / 4096)
    };
    dir.read("log").lines().filter_map(block).collect()
}

/// Runs the job and returns the blocks it writes; `true` for those that were written before.
fn run(more: &str) -> Vec<(u64, bool)> {
    let dir = TestDir::new();
    let path = dir.job(&job(more));
    let report = dir.ferrio(&["--output-format=json", &path]).run().succeeded().json();
    let mut times = HashMap::new();
    let writes: Vec<_> = writes(&dir)
        .into_iter()
        .map(|block| {
            let times = times.entry(block).or_insert(0);
            *times += 1;
            (block, *times > 1)
        })
        .collect();
    assert_eq!(number(&report["jobs"][0], "/write/total_ios"), writes.len() as u64);
    assert_eq!(number(&report["jobs"][0], "/write/io_bytes"), writes.len() as u64 * 4096);
    assert_eq!(times.len() as u64, BLOCKS, "each block is written");
    assert!(times.keys().all(|&block| block < BLOCKS));
    writes
}

/// True if a number of `draws` with this probability, in 1/10000, is within four standard deviations.
fn is_likely(number: usize, draws: usize, share: u64) -> bool {
    let (draws, share) = (draws as f64, share as f64 / 10_000.0);
    (number as f64 - draws * share).abs() <= 4.0 * (draws * share * (1.0 - share)).sqrt()
}

#[test]
fn a_pass_writes_each_block_and_the_shares_of_the_model_again() {
    for more in ["ioengine=null", "ioengine=psync\nrandseed=4711", "ioengine=io_uring\niodepth=1\ndirect=1"] {
        let writes = run(more);
        let beyond = writes.len().abs_diff(9420);
        assert!(beyond < REGION, "{more}: {beyond} blocks more or less than the capacity");
        let regions: Vec<_> = writes.chunks(REGION).collect();
        assert!(regions[0].iter().all(|&(_, again)| !again));
        // What chance leaves to the end is less than a region, and new.
        assert!(regions[8..].iter().all(|rest| rest.iter().all(|(_, again)| !again)), "{more}");
        for (at, region) in regions.iter().enumerate().take(8).skip(1) {
            let again = region.iter().filter(|(_, again)| *again).count();
            assert!(is_likely(again, REGION, SHARES[at - 1]), "{more}: {again} repetitions in region {at}");
            assert!(region[..again].iter().all(|(_, again)| *again), "{more}: they begin region {at}");
            let last: Vec<u64> = regions[at - 1].iter().map(|&(block, _)| block).collect();
            let mut before =
                region[..again].iter().map(|(block, _)| last.iter().position(|one| one == block));
            assert!(before.all(|block| block.is_some()), "{more}: region {at} repeats the one before");
        }
    }
}

#[test]
fn with_a_cache_repetitions_come_a_region_later() {
    let writes = run("ioengine=null\nspr_cs=4m");
    let regions: Vec<_> = writes.chunks(REGION).collect();
    for (at, region) in regions.iter().enumerate().take(7).skip(1) {
        let again = region.iter().filter(|(_, again)| *again).count();
        assert!(is_likely(again, REGION, SHARES[at - 1]), "{again} repetitions in region {at}");
        assert!(region[REGION - again..].iter().all(|(_, again)| *again), "they end region {at}");
    }
    let mut last = HashMap::new();
    for (at, (block, _)) in writes.iter().enumerate() {
        if let Some(before) = last.insert(block, at) {
            assert!((at - before) * 4096 >= 4 << 20, "block {block} is still in the cache");
        }
    }
}

#[test]
fn what_was_written_verifies() {
    for more in ["ioengine=psync", "ioengine=io_uring\niodepth=16"] {
        let dir = TestDir::new();
        let path = dir.job(&job(&format!("verify=crc32c\n{more}")));
        let report = dir.ferrio(&["--output-format=json", &path]).run().succeeded().json();
        let job = &report["jobs"][0];
        assert!(number(job, "/write/total_ios") > BLOCKS, "{more}");
        assert!(number(job, "/read/total_ios") >= BLOCKS, "{more}: each block is read back");
    }
}

#[test]
fn syncs_between_writes_change_nothing() {
    assert_eq!(run("ioengine=null\nfsync=100"), run("ioengine=null"));
}

#[test]
fn one_job_with_one_seed_writes_the_same() {
    let [first, second] = ["", ""].map(|_| run("ioengine=null\nrandseed=12"));
    assert_eq!(first, second);
    assert_ne!(first, run("ioengine=null\nrandseed=13"));
}

#[test]
fn less_than_the_file_can_be_prepared() {
    let dir = TestDir::new();
    let path = dir.job(&job("ioengine=null\nio_size=8m"));
    dir.ferrio(&[&path]).run().succeeded();
    let mut blocks = writes(&dir);
    assert!(blocks.iter().max() > Some(&(BLOCKS * 9 / 10)), "offsets are in the whole file");
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len(), 2048);
}

#[test]
fn what_it_sets_is_in_the_output_of_fio() {
    let dir = TestDir::new();
    let path = dir.job(&job("ioengine=null"));
    let run = dir.ferrio(&["--as=fio", &path]).run().succeeded();
    let want = "fio: sprandom sets random_generator=lfsr\nfio: sprandom sets norandommap=1\n";
    assert!(run.stdout.contains(want), "{}", run.stdout);
}

#[test]
fn debug_lines_have_the_distribution_and_each_write() {
    let dir = TestDir::new();
    let path = dir.job(&job("ioengine=null"));
    let run = dir.ferrio(&["--debug=sprandom", &path]).run().succeeded();
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("sprandom ")).collect();
    let has = |text: &str| lines.iter().any(|line| line.ends_with(text));
    assert!(has(
        "8192 blocks of 4096 bytes, 9420 with spare space (spr_op=0.15), in 8 regions of 1177 blocks"
    ));
    assert!(has("region 1: 21.67% are written again"), "{}", run.stderr);
    let offset = |line: &&str| {
        let (_, offset) = line.split_once(" at 0x")?;
        u64::from_str_radix(offset.split_once(',')?.0, 16).ok()
    };
    let reported: Vec<u64> = lines.iter().filter_map(offset).map(|offset| offset / 4096).collect();
    assert_eq!(reported, writes(&dir));
    let of = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!(of(", new"), 8192);
    assert_eq!(of(", again"), reported.len() - 8192);
}

#[test]
fn a_check_says_what_is_written() {
    let dir = TestDir::new();
    let path = dir.job(&job("ioengine=null"));
    let report = dir.ferrio(&["check", "--output-format=json", &path]).run().succeeded().json();
    let pass = &report["jobs"][0]["preconditioning"];
    assert_eq!(number(pass, "/logical_bytes"), 32 << 20);
    assert_eq!(number(pass, "/physical_bytes"), 9420 << 12);
    assert_eq!((number(pass, "/regions"), number(pass, "/region_bytes")), (8, 1177 << 12));
    // 1177 blocks, times the sum of the shares.
    let repeated = 1177 * SHARES.iter().sum::<u64>() / 10_000;
    assert_eq!(number(pass, "/repeated_bytes"), repeated << 12);
    assert!((pass["write_amplification"].as_f64().unwrap() - 4.0333).abs() < 0.0001);
    assert_eq!(number(&report["jobs"][0], "/volume/write"), (BLOCKS + repeated) << 12);
    let text = dir.ferrio(&["check", &path]).run().succeeded().stdout;
    assert!(
        text.contains("8 regions of 4.6MiB, share written again: 24.79% (first) to 0.00% (last)"),
        "{text}"
    );
}

#[test]
fn a_device_is_prepared_in_parts() {
    let dir = TestDir::new();
    let path = dir.job(&job("ioengine=psync\nsize=16m\nnumjobs=2\noffset_increment=16m\ngroup_reporting=1"));
    let report = dir.ferrio(&["--output-format=json", &path]).run().succeeded().json();
    let written = number(&report["jobs"][0], "/write/total_ios");
    assert!((9000..=9420).contains(&written), "{written}");
    assert_eq!(dir.files()[0], ("f".to_owned(), 32 << 20));
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (more, want) in [
        ("rw=write", "sprandom requires random write, random_generator=lfsr, norandommap=1"),
        ("random_generator=tausworthe64", "sprandom requires random_generator=lfsr"),
        ("norandommap=0", "sprandom requires norandommap=1"),
        ("spr_op=0", "spr_op=0 is out of range"),
        ("spr_op=1.2", "spr_op=1.2 is out of range"),
        ("spr_num_regions=0", "spr_num_regions=0 is out of range"),
        ("spr_num_regions=9421", "sprandom cannot divide 9420 blocks of 4096 bytes into 9421 regions"),
        ("spr_cs=8m", "with this cache there can be at most 4 regions"),
        ("filename=f:g", "sprandom requires one file, but the job has 3"),
        ("loops=2", "sprandom makes one pass over the device"),
        ("time_based=1\nruntime=9", "sprandom makes one pass over the device"),
        ("bsrange=4k-8k", "sprandom requires one block size"),
        ("random_distribution=zipf:1.1", "sprandom chooses the offsets itself"),
        ("numjobs=2", "several clones of a job with sprandom write the same part of f"),
    ] {
        let dir = TestDir::new();
        let path = dir.job(&job(&format!("ioengine=psync\n{more}")));
        let run = dir.ferrio(&[&path]).run().ended_with(1);
        assert!(run.stderr.contains(want), "{more}: {}", run.stderr);
        assert!(run.stderr.contains("= help: "), "{more}: {}", run.stderr);
        assert!(!dir.is_written("f"), "{more}: nothing is laid out");
        dir.program(FERRIO, &["--as=fio", &path]).run().ended_with(1);
    }
}
