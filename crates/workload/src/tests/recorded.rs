//! Sequences recorded from fio, each as the job that makes it: order, mixes, trims, syncs, files and contents. Offsets and lengths are in
//! blocks of 4 KiB.

use ferrio_job::{
    Direction, Durability, Generator, JobSpec, PerDirection, ReadWrite, RwPostfix, Seeding, Sequencer,
    SyncFileRange,
};

use crate::tests::support::{cksum, job, notation, regions, run, steps};
use crate::{BufferContents, Region, Step, Workload};

/// A job over so many KiB.
pub(super) fn sized(rw: ReadWrite, kib: u64) -> JobSpec {
    let mut spec = job();
    spec.rw = rw;
    spec.limits.size = kib << 10;
    spec
}

/// Random reads over so many KiB.
pub(super) fn random(kib: u64) -> JobSpec {
    sized(ReadWrite::RandRead, kib)
}

/// The first `count` steps over `files` files.
pub(super) fn first(spec: &JobSpec, files: u64, count: usize) -> String {
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
    let mut content = BufferContents::new(spec, [0; 24]).unwrap();
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
