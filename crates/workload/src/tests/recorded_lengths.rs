//! Sequences recorded from fio of jobs with blocks of several sizes. Offsets and lengths are in blocks of 4 KiB.

use ferrio_job::{BlockShare, Direction, Generator, JobSpec, PerDirection, ReadWrite, Seeding};

use super::recorded::{random, sized};
use crate::Step;
use crate::tests::support::{notation, run, set_block};

#[test]
fn a_range_of_lengths_is_drawn() {
    let mut spec = sized(ReadWrite::Read, 128);
    set_block(&mut spec, 4096, 16384);
    assert_eq!(run(&spec), "r0 1+3 4+4 8+2 10+4 14 15+4 19 20 21 22 23+2 25 26 27 28+3 31");
}

#[test]
fn a_range_reaches_beyond_4_gib() {
    let mut spec = random(800 << 20);
    spec.rw = ReadWrite::RandTrim;
    spec.random_map = false;
    spec.limits.number_ios = 8;
    set_block(&mut spec, 4096, 20 << 30);
    let lengths: Vec<u64> = crate::tests::support::sequence(&spec).iter().map(|io| io.len / 4096).collect();
    let expected = [2_465_597, 4_891_028, 4_550_730, 744_461, 3_094_060, 3_113_574, 5_127_174, 1_006_458];
    assert_eq!(lengths, expected);
}

#[test]
fn random_lengths_end_before_taken_blocks() {
    let mut spec = random(128);
    set_block(&mut spec, 4096, 16384);
    let expected = "r31 27+3 21+4 16+2 19+2 0 1+4 7 10 26 25 18 30 12 5 6 8+2 15 11 13+2";
    assert_eq!(run(&spec), expected);
}

/// Reads of all three sizes by share, ascending.
fn split(spec: &mut JobSpec, shares: &[(u64, u32)]) {
    let bytes = || shares.iter().map(|share| share.0);
    set_block(spec, bytes().min().unwrap(), bytes().max().unwrap());
    let shares: Vec<_> = shares.iter().map(|&(bytes, percent)| BlockShare { bytes, percent }).collect();
    spec.split = PerDirection([(); 3].map(|()| shares.clone()));
}

const THIRDS: [(u64, u32); 3] = [(65536, 20), (16384, 30), (4096, 50)];

#[test]
fn lengths_are_split_by_share() {
    let mut spec = sized(ReadWrite::Read, 256);
    split(&mut spec, &THIRDS);
    assert_eq!(run(&spec), "r0+16 16 17 18+4 22 23+16 39 40+16 56+4 60+4");
    spec.generator = Generator::Tausworthe64;
    let expected = "r0+4 4+4 8 9+4 13+16 29 30 31 32+4 36+4 40+4 44 45+16 61 62 63";
    assert_eq!(run(&spec), expected);
}

#[test]
fn split_lengths_end_before_taken_blocks() {
    let mut spec = random(512);
    split(&mut spec, &THIRDS);
    let expected = "r125 110 84 66+4 77 126 1 28+16 44+4 107+3 86+4 72+4 121+4 48+16 2+16 95 102 64 98 76 23 65 70+2 78 79+4 18+5 \
                    111+4 24+4 103 83 127 85 90 119+2 0 91 92 93+2 115+4 96+2 99 100 101 104 105+2";
    assert_eq!(run(&spec), expected);
}

#[test]
fn shares_beyond_all_cut_the_last_one() {
    let mut spec = random(128);
    split(&mut spec, &[(4096, 60), (8192, 60)]);
    let expected = "r31 27+2 21+2 16 19+2 0 1+2 7 10 26 23 18 30 12 3 24+2 29 15 4+2 6 8 17 11 9 14 13";
    assert_eq!(run(&spec), expected);
}

#[test]
fn split_lengths_come_in_fios_numbers() {
    let counts = |shares: &[(u64, u32)]| {
        let mut spec = sized(ReadWrite::Read, 4096);
        split(&mut spec, shares);
        let all = crate::tests::support::sequence(&spec);
        shares.iter().map(|share| all.iter().filter(|io| io.len == share.0).count()).collect::<Vec<_>>()
    };
    assert_eq!(counts(&[(8192, 25), (16384, 25), (4096, 50)]), [139, 129, 230]);
    assert_eq!(counts(&[(4096, 20), (8192, 20)]), [138, 443]);
    assert_eq!(counts(&[(8192, 50), (4096, 50)]), [355, 314]);
    assert_eq!(counts(&[(3072, 50), (4096, 50)]), [1365, 0]);
}

#[test]
fn trims_and_writes_of_a_split_are_pairs() {
    let mut spec = sized(ReadWrite::RandTrimWrite, 128);
    split(&mut spec, &[(4096, 50), (16384, 50)]);
    let all = crate::tests::support::sequence(&spec);
    let writes: Vec<Step> =
        all.iter().copied().filter(|io| io.direction == Direction::Write).map(Step::Io).collect();
    let expected = "w31 27 21 16+4 20 0 1+4 7 10+4 26 22+4 28 30 14 5 29 6 15 8+2";
    assert_eq!(notation(&writes, 4096), expected);
    assert!(all.chunks(2).all(|pair| (pair[0].offset, pair[0].len) == (pair[1].offset, pair[1].len)));
}

#[test]
fn unaligned_lengths_are_any_number_of_bytes() {
    let mut spec = sized(ReadWrite::Read, 64);
    set_block(&mut spec, 4096, 16384);
    spec.bs_unaligned = true;
    let ends: Vec<f64> = crate::tests::support::sequence(&spec)
        .iter()
        .map(|io| (io.offset + io.len) as f64 / 4096.0)
        .map(|blocks| (blocks * 1e4).round() / 1e4)
        .collect();
    assert_eq!(ends, [1.5676, 5.2031, 9.2031, 11.4612, 15.4612]);
    spec.rw = ReadWrite::RandRead;
    let expected =
        [(15, 4096), (13, 8192), (10, 7167), (8, 8192), (12, 4096), (0, 16384), (4, 6057), (6, 8192)];
    let drawn = crate::tests::support::sequence(&spec);
    assert_eq!(drawn.iter().map(|io| (io.offset / 4096, io.len)).collect::<Vec<_>>(), expected);
}

#[test]
fn a_random_length_may_reach_into_what_is_less_than_a_block() {
    let mut spec = random(11);
    spec.seeding = Seeding::Fixed(5);
    set_block(&mut spec, 2048, 5120);
    spec.bs_unaligned = true;
    let drawn = crate::tests::support::sequence(&spec);
    assert_eq!(
        drawn.iter().map(|io| (io.offset / 2048, io.len)).collect::<Vec<_>>(),
        [(0, 5120), (4, 2229), (3, 2048)]
    );
}
