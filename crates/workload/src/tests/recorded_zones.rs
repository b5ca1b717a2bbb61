//! Sequences recorded from fio of jobs with `zonesize`, `zonerange` and `zoneskip`. Offsets and lengths are in blocks of 4 KiB.

use ferrio_job::{JobSpec, ReadWrite, Seeding, Zones};

use super::recorded::{first, sized};
use crate::tests::support::{notation, regions, run, set_block, steps};
use crate::{Region, Workload};

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
