//! Sequences recorded from fio, each as the job that makes it. RandomOffsets and lengths are in blocks of 4 KiB.

use ferrio_job::{
    BlockShare, Direction, Durability, Generator, JobSpec, PerDirection, ReadWrite, RwPostfix, Seeding,
    Sequencer, SyncFileRange, Zones,
};

use crate::tests::support::{cksum, job, notation, regions, run, set_block, steps};
use crate::{Content, Region, Step, Workload};

fn sized(rw: ReadWrite, kib: u64) -> JobSpec {
    let mut spec = job();
    spec.rw = rw;
    spec.limits.size = kib << 10;
    spec
}

fn random(kib: u64) -> JobSpec {
    sized(ReadWrite::RandRead, kib)
}

/// The first `count` steps over `files` files.
fn first(spec: &JobSpec, files: u64, count: usize) -> String {
    let mut workload = Workload::new(spec, &regions(spec, files), [0; 24]).unwrap();
    let mut all = steps(spec, &mut workload);
    all.truncate(count);
    notation(&all, 4096)
}

#[test]
fn random_reads_visit_each_block_once() {
    assert_eq!(run(&random(64)), "r15 13 10 8 9 0 1 3 5 14 11 12 2 6 4 7");
}

#[test]
fn random_reads_without_a_map_repeat_blocks() {
    let mut spec = random(64);
    spec.random_map = false;
    assert_eq!(run(&spec), "r15 13 10 8 9 15 0 3 5 13 10 9 15 6 0 11");
}

#[test]
fn the_wide_generator_has_its_own_order() {
    let mut spec = random(64);
    spec.generator = Generator::Tausworthe64;
    assert_eq!(run(&spec), "r5 2 11 8 13 6 15 14 7 0 3 1 4 9 10 12");
}

#[test]
fn a_seed_of_ones_own_changes_the_order() {
    let mut spec = random(64);
    spec.seeding = Seeding::Fixed(42);
    assert_eq!(run(&spec), "r14 15 1 2 3 5 12 4 13 0 6 11 7 8 9 10");
}

#[test]
fn clones_differ_by_their_number() {
    let mut spec = random(64);
    spec.number = 3;
    assert_eq!(first(&spec, 1, 5), "r14 15 3 4 5");
    spec.number = 2;
    assert_eq!(first(&spec, 1, 5), "r3 2 4 6 13");
}

#[test]
fn a_random_mix_draws_one_offset_stream() {
    let spec = sized(ReadWrite::RandMixed, 64);
    assert_eq!(run(&spec), "r15 13 10 w8 r9 0 w1 3 5 r14 w11 r12 w2 r6 4 7");
}

#[test]
fn a_sequential_mix_has_a_position_per_direction() {
    let mut spec = sized(ReadWrite::Mixed, 64);
    spec.rwmixread = 70;
    assert_eq!(run(&spec), "r0 1 2 w0 r3 4 w1 r5 6 7 w2 r8 w3 r9 10 11");
}

#[test]
fn a_mix_keeps_the_share_asked_for() {
    let mut spec = sized(ReadWrite::RandMixed, 80 << 10);
    spec.random_map = false;
    spec.rwmixread = 30;
    let all = crate::tests::support::sequence(&spec);
    let reads = all.iter().filter(|io| io.direction == Direction::Read).count();
    assert_eq!(all.len(), 20_480);
    assert!((29.5..30.5).contains(&(reads as f64 / 204.80)), "{reads}");
}

#[test]
fn every_fourth_offset_is_random() {
    let mut spec = random(64);
    spec.rw_postfix = RwPostfix::Every(4);
    assert_eq!(run(&spec), "r15 13 14 15 10 11 12 13 8 9 10 11 9 10 11 12");
    spec.sequencer = Sequencer::Identical;
    assert_eq!(run(&spec), "r15 15 15 15 13 13 13 13 10 10 10 10 8 8 8 8");
}

#[test]
fn every_third_offset_is_random_and_the_count_runs_on_over_passes() {
    let mut spec = random(64);
    spec.seeding = Seeding::Fixed(137);
    spec.limits.loops = 3;
    spec.rw_postfix = RwPostfix::Every(3);
    let expected = "r15 13 14 10 11 12 8 9 10 9 10 11 0 1 2 1 2 3 3 4 5 5 6 7 13 14 15 11 12 13 12 13 14 2 3 4 6 7 8 4 5 6 14 15 7 \
                    7 8 9";
    assert_eq!(run(&spec), expected);
}

#[test]
fn a_walk_that_leaves_the_region_finishes_the_file() {
    let mut spec = random(64);
    spec.seeding = Seeding::Fixed(137);
    spec.random_map = false;
    spec.rw_postfix = RwPostfix::Every(4);
    spec.limits.loops = 2;
    let region = Region { offset: 0, size: 64 << 10, real_size: 128 << 10 };
    let mut workload = Workload::new(&spec, &[region], [0; 24]).unwrap();
    assert_eq!(notation(&steps(&spec, &mut workload), 4096), "r15 0 1 13 14 15");
}

#[test]
fn a_range_of_lengths_is_drawn() {
    let mut spec = sized(ReadWrite::Read, 128);
    set_block(&mut spec, 4096, 16384);
    assert_eq!(run(&spec), "r0 1+3 4+4 8+2 10+4 14 15+4 19 20 21 22 23+2 25 26 27 28+3 31");
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
        shares
            .iter()
            .map(|share| all.iter().filter(|io| u64::from(io.len) == share.0).count())
            .collect::<Vec<_>>()
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
        .map(|io| (io.offset + u64::from(io.len)) as f64 / 4096.0)
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

#[test]
fn random_lengths_may_cross_the_end_of_their_zone() {
    let mut spec = zoned(ReadWrite::RandRead, 16, 8, 0);
    spec.limits.size = 32 << 10;
    set_block(&mut spec, 1024, 4096);
    let mut workload = Workload::new(&spec, &regions(&spec, 1), [0; 24]).unwrap();
    let expected = "r7 6 5 4 0+4 7 0+4 4 5 6 13 12 15 11 8 14 9+2 11+4 15+4";
    assert_eq!(notation(&steps(&spec, &mut workload), 1024), expected);
}

/// A job of 64 KiB in zones of `size`, `range` and `skip` KiB.
fn zoned(rw: ReadWrite, size: u64, range: u64, skip: u64) -> JobSpec {
    let mut spec = sized(rw, 64);
    spec.seeding = Seeding::Fixed(137);
    spec.zones = Some(Zones { size: size << 10, range: range << 10, skip: skip << 10 });
    spec
}

#[test]
fn a_walk_does_zone_by_zone_and_round_again() {
    let mut spec = zoned(ReadWrite::Read, 8, 16, 16);
    spec.limits.size = 128 << 10;
    assert_eq!(run(&spec), format!("r{}", ["0 1 8 9 16 17 24 25"; 4].join(" ")));
    let walk = |size, range, skip| run(&zoned(ReadWrite::Read, size, range, skip));
    assert_eq!(walk(8, 8, 0), "r0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
    assert_eq!(walk(10, 16, 0), "r0 1 2 4 5 6 8 9 10 12 13 14 0 1 2 4");
    assert_eq!(walk(4, 128, 0), "r0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
    assert_eq!(walk(16, 20, 8), "r0 1 2 3 7 8 9 10 14 15", "the file ends in its last zone");
    spec.limits.size = 96 << 10;
    spec.zones = Some(Zones { size: 48 << 10, range: 32 << 10, skip: 0 });
    assert_eq!(run(&spec), "r0 1 2 3 4 5 6 7 0 1 2 3 8 9 10 11 12 13 14 15 8 9 10 11");
}

#[test]
fn random_choices_stay_in_their_zone() {
    let spec = zoned(ReadWrite::RandRead, 16, 32, 0);
    assert_eq!(run(&spec), "r7 6 5 4 12 15 8 9 2 6 5 4 15 11 8 13");
    let mut free = spec.clone();
    free.random_map = false;
    free.limits.io_size = Some(96 << 10);
    assert_eq!(run(&free), "r7 6 5 4 12 15 8 9 2 6 5 4 15 11 8 13 6 3 6 4 9 11 10 12");
    let mut spec = zoned(ReadWrite::RandRead, 24, 32, 0);
    spec.limits.size = 96 << 10;
    let expected = "r7 6 5 4 0 1 8 9 10 14 13 12 23 19 16 21 22 20 6 4 1 3 2 5";
    assert_eq!(run(&spec), expected);
    spec.zones = Some(Zones { size: 48 << 10, range: 32 << 10, skip: 0 });
    let expected = "r7 6 5 4 0 1 2 3 2 6 5 4 15 11 8 13 14 12 9 10 9 11 10 12";
    assert_eq!(run(&spec), expected);
    spec = zoned(ReadWrite::RandRead, 8, 16, 4);
    spec.limits.size = 40 << 10;
    assert_eq!(run(&spec), "r3 0 7 8 2 3 5 6 1 3");
}

#[test]
fn zones_go_on_beyond_the_region_to_the_end_of_the_file() {
    let run = |rw| {
        let spec = zoned(rw, 16, 32, 0);
        let region = Region { offset: 64 << 10, size: 64 << 10, real_size: 192 << 10 };
        let mut workload = Workload::new(&spec, &[region], [0; 24]).unwrap();
        notation(&steps(&spec, &mut workload), 4096)
    };
    assert_eq!(run(ReadWrite::Read), "r16 17 18 19 24 25 26 27 32 33 34 35 40 41 42 43");
    assert_eq!(run(ReadWrite::RandRead), "r23 22 21 20 28 31 24 25 34 38 37 36 47 43 40 45");
}

#[test]
fn files_walk_their_zones_by_a_common_count() {
    let files = |rw, kib: u64, zone, range, files| {
        let mut spec = zoned(rw, zone, range, 0);
        spec.limits.size = kib << 10;
        first(&spec, files, 100)
    };
    let expected = "r0 1:0 1 1:1 0 1:2 1 1:3 0 1:4 1 1:5 0 1:6 1 1:7";
    assert_eq!(files(ReadWrite::Read, 64, 16, 32, 2), expected);
    let expected = "r0 1:0 1 1:4 2 1:5 4 1:6 5 1:8 6 1:9 8 1:10 9 1:12 10 1:13 12 1:14 13 1:0 14 1:1 0 1:2 1 1:4 2 1:5 4 1:6";
    assert_eq!(files(ReadWrite::Read, 128, 12, 16, 2), expected);
    let expected = "r3 1:3 2 1:6 0 1:7 4 1:4 5 1:11 6 1:10 11 1:9 8 1:14 9 1:13 15 1:15 12 1:1 13 1:2 1 1:0 3 1:4 0 1:5 7 1:6";
    assert_eq!(files(ReadWrite::RandRead, 128, 12, 16, 2), expected);
}

#[test]
fn directions_and_passes_share_zones() {
    assert_eq!(run(&zoned(ReadWrite::RandMixed, 16, 32, 0)), "r7 6 5 w4 r12 15 w8 9 2 r6 w5 r4 w15 r11 8 13");
    assert_eq!(run(&zoned(ReadWrite::Mixed, 16, 32, 0)), "r0 1 2 w0 r8 9 w8 9 0 r0 w1 r1 w8 r8 9 10");
    let mut spec = zoned(ReadWrite::Read, 8, 12, 0);
    spec.limits.loops = 2;
    assert_eq!(run(&spec), format!("r{}", ["0 1 3 4 6 7 9 10 12 13 15"; 2].join(" ")));
    let mut spec = zoned(ReadWrite::Read, 16, 24, 0);
    set_block(&mut spec, 4096, 16384);
    assert_eq!(run(&spec), "r0 1+3 6+4 12+2 14 15 0 1 2 3+2");
    spec.limits.io_size = Some(128 << 10);
    let region = Region { offset: 0, size: 64 << 10, real_size: 70 << 10 };
    let mut workload = Workload::new(&spec, &[region], [0; 24]).unwrap();
    let expected = "r0 1+3 6+4 12+2 14 15 0 1 2 3+2 6 7 8 9+3 12+3 15+2 0+4";
    assert_eq!(notation(&steps(&spec, &mut workload), 4096), expected);
    let mut spec = zoned(ReadWrite::RandRead, 16, 32, 0);
    set_block(&mut spec, 4096, 16384);
    spec.limits.io_size = Some(32 << 10);
    assert_eq!(run(&spec), "r7 6 5 4 12+4");
}

#[test]
fn holes_are_skipped_and_wrap() {
    let walk = |bytes| {
        let mut spec = sized(ReadWrite::Read, 64);
        spec.rw_postfix = RwPostfix::Hole(bytes);
        run(&spec)
    };
    assert_eq!(walk(8192), "r0 3 6 9 12 15");
    assert_eq!(walk(4096), "r0 2 4 6 8 10 12 14 0 2 4 6 8 10 12 14");
    assert_eq!(walk(-8192), "r0 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0");
}

#[test]
fn a_time_based_job_begins_a_new_round_when_the_map_is_full() {
    let mut spec = random(64);
    spec.limits.time_based = true;
    let expected = "r15 13 10 8 9 0 1 3 5 14 11 12 2 6 4 7 7 12 9 2 8 5 10 11 0 13 3 14 1 15 6 4";
    assert_eq!(first(&spec, 1, 32), expected);
    spec.rw = ReadWrite::RandMixed;
    spec.rwmixread = 100;
    assert_eq!(first(&spec, 1, 32), expected);
}

#[test]
fn each_trim_is_followed_by_its_write() {
    assert_eq!(run(&sized(ReadWrite::TrimWrite, 16)), "t0 w0 t1 w1 t2 w2 t3 w3");
    assert_eq!(run(&sized(ReadWrite::RandTrimWrite, 16)), "t3 w3 t0 w0 t2 w2 t1 w1");
}

#[test]
fn trims_twice_as_large_wait_for_the_writes() {
    let mut spec = sized(ReadWrite::TrimWrite, 32);
    spec.block.0[2] = ferrio_job::BlockSizes { min: 8192, max: 8192, align: 8192 };
    assert_eq!(run(&spec), "t0+2 w0 t2+2 w1 2 t4+2 w3 4 t6+2 w5 6");
}

#[test]
fn writes_larger_than_trims_leave_them_behind() {
    let mut spec = sized(ReadWrite::TrimWrite, 32);
    spec.block.0[1] = ferrio_job::BlockSizes { min: 8192, max: 8192, align: 8192 };
    assert_eq!(run(&spec), "t0 w0+2 t1 w2+2 4+2 6+2");
}

#[test]
fn a_write_follows_a_trim_of_the_same_block_again() {
    let mut spec = sized(ReadWrite::TrimWrite, 12);
    spec.rw_postfix = RwPostfix::Hole(-4096);
    assert_eq!(run(&spec), "t0 w0 t0 w0 t0 w0");
}

#[test]
fn syncs_come_after_every_n_writes_but_never_last() {
    let mut spec = sized(ReadWrite::Write, 48);
    spec.durability.fsync = 4;
    assert_eq!(run(&spec), "w0 1 2 3 sync w4 5 6 7 sync w8 9 10 11");
    let mut spec = sized(ReadWrite::Write, 32);
    spec.durability = Durability { fsync: 4, fdatasync: 2, ..Durability::default() };
    assert_eq!(run(&spec), "w0 1 datasync w2 3 sync w4 5 datasync w6 7");
    let mut spec = sized(ReadWrite::Write, 12);
    spec.durability = Durability { fsync: 1, end_fsync: true, ..Durability::default() };
    assert_eq!(run(&spec), "w0 sync w1 sync w2");
}

#[test]
fn writes_are_counted_on_over_passes() {
    let mut spec = sized(ReadWrite::Write, 16);
    spec.limits.loops = 2;
    spec.durability.fsync = 2;
    assert_eq!(run(&spec), "w0 1 sync w2 3 sync w0 1 sync w2 3");
}

#[test]
fn a_range_sync_covers_what_was_written_since_the_last() {
    let mut spec = sized(ReadWrite::Write, 32);
    spec.durability.sync_file_range = SyncFileRange { flags: 2, every: 3 };
    assert_eq!(run(&spec), "w0 1 2 range0+3 w3 4 5 range3+3 w6 7");
}

#[test]
fn readers_never_sync() {
    let mut spec = sized(ReadWrite::Read, 16);
    spec.durability.fsync = 1;
    assert_eq!(run(&spec), "r0 1 2 3");
}

#[test]
fn files_take_turns() {
    let spec = sized(ReadWrite::Read, 32);
    assert_eq!(first(&spec, 4, 100), "r0 1:0 2:0 3:0 1 1:1 2:1 3:1");
}

#[test]
fn a_sync_takes_the_turn_of_its_file() {
    let mut spec = sized(ReadWrite::Write, 96);
    spec.durability.fsync = 2;
    let mut workload = Workload::new(&spec, &regions(&spec, 3), [0; 24]).unwrap();
    let all = steps(&spec, &mut workload);
    let syncs: Vec<u32> =
        all.iter().filter_map(|s| if let Step::Sync { file, .. } = s { Some(*file) } else { None }).collect();
    assert_eq!(syncs, [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
    let writes: Vec<Step> = all.into_iter().filter(|s| matches!(s, Step::Io(_))).collect();
    let expected = "w0 1:0 1 1:1 2 1:2 3 1:3 4 1:4 5 1:5 6 1:6 7 1:7 2:0 2:1 2:2 2:3 2:4 2:5 2:6 2:7";
    assert_eq!(notation(&writes, 4096), expected);
}

#[test]
fn files_of_different_sizes_finish_one_by_one_and_the_turn_goes_on_in_the_next_pass() {
    let mut spec = sized(ReadWrite::Read, 26 * 4);
    spec.limits.loops = 2;
    let regions = [15, 2, 9].map(|n| Region { offset: 0, size: n * 4096, real_size: n * 4096 });
    let mut workload = Workload::new(&spec, &regions, [0; 24]).unwrap();
    let expected = "r0 1:0 2:0 1 1:1 2:1 2 2:2 3 2:3 4 2:4 5 2:5 6 2:6 7 2:7 8 2:8 9 10 11 12 13 14 \
                    1:0 2:0 0 1:1 2:1 1 2:2 2 2:3 3 2:4 4 2:5 5 2:6 6 2:7 7 2:8 8 9 10 11 12 13 14";
    assert_eq!(notation(&steps(&spec, &mut workload), 4096), expected);
}

#[test]
fn an_alignment_of_its_own_spreads_offsets() {
    let mut spec = random(64);
    spec.random_map = false;
    spec.block = PerDirection([(); 3].map(|()| ferrio_job::BlockSizes { min: 4096, max: 4096, align: 512 }));
    let region = Region { offset: 64 << 10, size: 64 << 10, real_size: 128 << 10 };
    let mut workload = Workload::new(&spec, &[region], [0; 24]).unwrap();
    let offsets: Vec<u64> = steps(&spec, &mut workload)
        .iter()
        .map(|s| if let Step::Io(io) = s { io.offset / 512 } else { 0 })
        .collect();
    assert_eq!(offsets, [246, 232, 207, 190, 200, 246, 129, 155, 167, 229, 209, 196, 243, 174, 129, 218]);
}

/// A 32 KiB file written in order by one unit, as its checksum by cksum(1).
fn written(spec: &JobSpec) -> u32 {
    let mut content = Content::new(spec, [0; 24]).unwrap();
    let mut unit = [0; 4096];
    content.fill_initial(&mut unit);
    let mut file = Vec::new();
    for block in 0..8 {
        content.before_write(&mut unit, block * 4096, 1);
        file.extend_from_slice(&unit);
    }
    cksum(&file)
}

#[test]
fn refilled_buffers_have_fios_bytes() {
    let mut spec = sized(ReadWrite::Write, 32);
    spec.buffer.refill = true;
    assert_eq!(written(&spec), 946_140_731);
}

#[test]
fn buffers_filled_once_have_fios_bytes() {
    let mut spec = sized(ReadWrite::Write, 32);
    spec.buffer.scramble = false;
    assert_eq!(written(&spec), 1_380_393_711);
}
