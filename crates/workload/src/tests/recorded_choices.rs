//! Sequences of jobs whose random offsets are not all alike, recorded from fio. Offsets and lengths are in blocks of 4 KiB.

use ferrio_job::{
    AccessZone, Direction, Distribution, FileKind, FileSpec, Generator, JobSpec, PerDirection, RandomOrder,
    ReadWrite, RwPostfix, Seeding, Skew, SkewShape, Zones,
};

use crate::Workload;
use crate::tests::support::{job, notation, regions, steps};

/// Random reads of this many KiB.
fn random(kib: u64) -> JobSpec {
    let mut spec = job();
    spec.rw = ReadWrite::RandRead;
    spec.limits.size = kib << 10;
    spec
}

/// Runs a job over files with fio's names.
fn run_files(spec: &JobSpec, files: u64) -> String {
    let mut spec = spec.clone();
    let regions = regions(&spec, files);
    let file = |(number, region): (usize, &crate::Region)| FileSpec {
        path: format!("a.0.{number}").into(),
        kind: FileKind::Pretend,
        offset: region.offset,
        size: region.size,
        real_size: region.real_size,
        found: None,
        extend: false,
        missing_device: false,
        run: None,
    };
    spec.files = regions.iter().enumerate().map(file).collect();
    let mut workload = Workload::new(&spec, &regions, [0; 24]).unwrap();
    notation(&steps(&spec, &mut workload), 4096)
}

fn run(spec: &JobSpec) -> String {
    run_files(spec, 1)
}

fn skewed(kib: u64, shape: SkewShape) -> JobSpec {
    let mut spec = random(kib);
    spec.random_map = false;
    spec.distribution = Distribution::Skewed(Skew { shape, center: None });
    spec
}

#[test]
fn popular_blocks_of_zipf_are_spread_over_the_file() {
    assert_eq!(run(&skewed(64, SkewShape::Zipf(1.2))), "r7 10 5 10 15 0 5 15 5 15 1 6 15 2 15 15");
}

#[test]
fn pareto_and_normal_have_their_own_blocks() {
    assert_eq!(run(&skewed(64, SkewShape::Pareto(0.3))), "r2 15 10 10 15 0 5 15 5 15 12 6 15 13 15 15");
    assert_eq!(run(&skewed(64, SkewShape::Normal(20.0))), "r9 2 3 8 13 13 8 14 7 8 8 8 2 4 8 13");
}

#[test]
fn files_and_clones_have_popular_blocks_of_their_own() {
    let mut spec = skewed(128, SkewShape::Zipf(1.2));
    spec.limits.number_ios = 16;
    let expected = "r7 1:9 10 1:9 5 1:9 10 1:5 15 1:10 0 1:10 5 1:10 15 1:0";
    assert_eq!(run_files(&spec, 2), expected);
    let mut spec = skewed(64, SkewShape::Zipf(1.2));
    spec.number = 2;
    assert_eq!(run(&spec), "r5 2 2 14 2 2 2 13 8 13 13 13 5 13 2 13");
}

#[test]
fn zipf_runs_on_from_pass_to_pass() {
    let mut spec = skewed(32, SkewShape::Zipf(1.2));
    spec.limits.loops = 2;
    assert_eq!(run(&spec), "r6 2 2 2 7 5 2 7 2 7 0 0 7 6 7 7");
}

fn zones(pairs: &[(u32, u64)]) -> Vec<AccessZone> {
    pairs.iter().map(|&(accesses, size)| AccessZone { accesses, size }).collect()
}

#[test]
fn zones_get_their_shares() {
    let mut spec = random(400);
    spec.random_map = false;
    spec.limits.number_ios = 16;
    let list = zones(&[(50, 5), (30, 15), (20, 80)]);
    spec.distribution = Distribution::Zoned(PerDirection([list.clone(), list.clone(), list.clone()]));
    assert_eq!(run(&spec), "r4 4 3 61 68 4 5 1 9 86 73 2 4 1 5 3");
    let halves = zones(&[(50, 50), (50, 50)]);
    spec.distribution = Distribution::Zoned(PerDirection([list, halves.clone(), halves]));
    spec.rw = ReadWrite::RandMixed;
    spec.limits.number_ios = 20;
    assert_eq!(run(&spec), "r4 4 3 w75 r68 4 w50 11 66 r86 w83 r2 w47 r1 5 3 w40 24 r3 2");
}

#[test]
fn a_zone_in_bytes_that_ends_beyond_the_file_ends_the_pass() {
    let mut spec = random(400);
    spec.random_map = false;
    spec.limits.number_ios = 16;
    let list = zones(&[(90, 40 << 10), (10, 360 << 10)]);
    spec.distribution = Distribution::ZonedAbs(PerDirection([(); 3].map(|()| list.clone())));
    assert_eq!(run(&spec), "r9 8 6 56 6 9 0 2 3 85 70 5 9 3 0 7");
    let list = zones(&[(50, 20 << 10), (50, 40 << 10)]);
    spec.distribution = Distribution::ZonedAbs(PerDirection([(); 3].map(|()| list.clone())));
    spec.limits.size = 40 << 10;
    spec.limits.number_ios = 0;
    spec.limits.loops = 2;
    assert_eq!(run(&spec), "r4 4 3 4 4 3");
}

#[test]
fn a_sequence_repeats_or_strides_and_counts_each_direction() {
    let mut spec = random(64);
    spec.random_map = false;
    spec.limits.number_ios = 7;
    let blocks = vec![2, 0, 1];
    spec.distribution = Distribution::Sequence { blocks: blocks.clone(), stride: false };
    assert_eq!(run(&spec), "r2 0 1 2 0 1 2");
    spec.distribution = Distribution::Sequence { blocks: blocks.clone(), stride: true };
    assert_eq!(run(&spec), "r2 0 1 5 3 4 8");
    spec.rw = ReadWrite::RandMixed;
    let mut both = [Vec::new(), Vec::new()];
    let mut workload = Workload::new(&spec, &regions(&spec, 1), [0; 24]).unwrap();
    for step in steps(&spec, &mut workload) {
        let crate::Step::Io(io) = step else { panic!("a sync") };
        both[io.direction as usize].push(io.offset / 4096);
    }
    for issued in both {
        assert!(issued.len() > 1 && [2, 0, 1, 5, 3, 4, 8].starts_with(&issued), "{issued:?}");
    }
}

fn lfsr(kib: u64) -> JobSpec {
    let mut spec = random(kib);
    spec.random_map = false;
    spec.random_order = RandomOrder::Lfsr;
    spec
}

#[test]
fn a_shift_register_visits_each_block_once() {
    let expected = "r14 23 13 3 8 20 26 29 7 12 22 27 11 9 2 17 4 18 25 6 19 10 21 5 1 0 16 24 28 30 31 15";
    assert_eq!(run(&lfsr(128)), expected);
}

#[test]
fn a_shift_register_begins_at_its_start_in_each_pass_whose_first_block_may_differ() {
    let mut spec = lfsr(100);
    spec.limits.loops = 2;
    spec.seeding = Seeding::Fixed(7);
    let first = "15 23 11 21 9 20 14 3 17 24 8 0 4 6 7 19 10 1 16 12 2 5 18 13 22";
    // The second pass takes one step, not two, to its first block.
    let second = "22 15 23 11 21 9 20 14 3 17 24 8 0 4 6 7 19 10 1 16 12 2 5 18 13";
    assert_eq!(run(&spec), format!("r{first} {second}"));
}

#[test]
fn each_file_has_a_shift_register_and_each_zone_is_one_round_of_it() {
    let expected = "r11 1:11 9 1:9 14 1:14 3 1:3 8 1:8 0 1:0 4 1:4 6 1:6 7 1:7 10 1:10 1 1:1 12 1:12 2 1:2 5 1:5 13 1:13 15 \
                    1:15";
    assert_eq!(run_files(&lfsr(128), 2), expected);
    let mut spec = lfsr(128);
    spec.zones = Some(Zones { size: 64 << 10, range: 64 << 10, skip: 0 });
    let expected = "r11 9 14 3 8 0 4 6 7 10 1 12 2 5 13 15 27 25 30 19 24 16 20 22 23 26 17 28 18 21 29 31";
    assert_eq!(run(&spec), expected);
}

#[test]
fn a_shift_register_visits_each_block_of_a_small_file_once() {
    // The default seed has all bits of so small a register set.
    assert_eq!(run(&lfsr(60)), "r3 9 12 2 5 10 1 8 0 4 6 7 11 13 14");
}

#[test]
fn a_share_of_the_offsets_goes_on_where_the_last_one_ended() {
    let mut spec = random(64);
    spec.percentage_random = PerDirection([30; 3]);
    assert_eq!(run(&spec), "r15 13 14 10 11 8 9 9 10 0 1 2 3 4 5 6");
}

#[test]
fn shares_differ_by_direction_and_begin_anew_with_each_pass() {
    let mut spec = random(64);
    spec.rw = ReadWrite::RandMixed;
    spec.random_map = false;
    spec.limits.loops = 2;
    spec.percentage_random = PerDirection([30, 70, 70]);
    let expected =
        "r15 13 14 w10 r8 9 w9 15 0 r3 w5 r4 w13 r10 11 9 w15 6 r0 1 w11 12 7 12 r2 w13 r3 w9 10 2 7 r4";
    assert_eq!(run(&spec), expected);
}

#[test]
fn a_share_counts_only_where_every_nth_offset_is_due() {
    let mut spec = lfsr(64);
    spec.rw_postfix = RwPostfix::Every(3);
    spec.percentage_random = PerDirection([50; 3]);
    assert_eq!(run(&spec), "r11 12 13 14 15 9 10 11 12 14 15 3 4 5 6 8");
}

#[test]
fn after_a_walk_that_found_no_place_one_offset_is_not_marked() {
    let mut spec = random(64);
    spec.rw_postfix = RwPostfix::Every(2);
    spec.limits.loops = 3;
    spec.seeding = Seeding::Fixed(12);
    let expected = "r13 14 7 8 2 3 15 4 3 4 12 13 10 11 1 2 4 5 5 6 6 7 8 9 0 1 9 10 11 12 14 15 0 15 13 7 8 13 14 9 10 1 2 2 3 8 \
                    9 12";
    assert_eq!(run(&spec), expected);
}

#[test]
fn lengths_go_by_kind_of_offset() {
    let mut spec = random(1024);
    spec.limits.number_ios = 60;
    spec.random_map = false;
    spec.bs_is_seq_rand = true;
    spec.percentage_random = PerDirection([50; 3]);
    for (direction, size) in [(Direction::Read, 4096), (Direction::Write, 8192)] {
        let block = &mut spec.block[direction];
        (block.min, block.max, block.align) = (size, size, size);
    }
    let mut workload = Workload::new(&spec, &regions(&spec, 1), [0; 24]).unwrap();
    let mut end = None;
    let mut lengths = [0, 0];
    for step in steps(&spec, &mut workload) {
        let crate::Step::Io(io) = step else { panic!("a sync") };
        lengths[usize::from(io.len == 8192)] += 1;
        assert!(io.len == 8192 || end == Some(io.offset), "{io:?} does not follow {end:?}");
        end = Some(io.offset + io.len);
    }
    assert!(lengths.iter().all(|&count| count > 0), "{lengths:?}");
    spec.rw = ReadWrite::Write;
    let sequential = run(&spec);
    assert!(sequential.starts_with("w0 1 2 3"), "{sequential}");
}

#[test]
fn a_job_with_too_many_blocks_for_32_bits_draws_offsets_and_nothing_else_with_64() {
    let mut spec = random(64);
    spec.wide_offsets = true;
    assert_eq!(run(&spec), "r5 2 11 8 13 6 15 14 7 0 3 1 4 9 10 12");
    let lengths = |wide: bool, generator| {
        let mut spec = random(4096);
        crate::tests::support::set_block(&mut spec, 4096, 65536);
        (spec.wide_offsets, spec.generator) = (wide, generator);
        // A length that does not fit at its offset is drawn again: a few I/Os are enough.
        (spec.random_map, spec.limits.number_ios) = (false, 6);
        crate::tests::support::sequence(&spec).iter().map(|io| io.len).collect::<Vec<_>>()
    };
    let narrow = lengths(false, Generator::Tausworthe32);
    assert_eq!(lengths(true, Generator::Tausworthe32), narrow);
    assert_ne!(lengths(false, Generator::Tausworthe64), narrow);
}
