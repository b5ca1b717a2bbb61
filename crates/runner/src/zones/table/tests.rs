use ferrio_plan::testing::spec_of;

use super::*;

const K: u64 = 1 << 10;
const M: u64 = 1 << 20;

/// A table of four empty zones of 1 MiB with `capacity`, and a job on it.
fn table(capacity: u64, max_open: u32, options: &str) -> (ZoneTable, ZoneRules) {
    let mut table = ZoneTable::emulated(M, capacity, 4 * M, max_open);
    let rules = join(&mut table, options);
    (table, rules)
}

fn join(table: &mut ZoneTable, options: &str) -> ZoneRules {
    let job = format!(
        "[a]\nioengine=null\nzonemode=zbd\nzonesize=1m\nsize=4m\nmax_open_zones=4\nbs=64k\n{options}"
    );
    table.join(&spec_of(&job), 0)
}

fn ready(placed: ZonePlacement) -> (u64, u64) {
    match placed {
        ZonePlacement::Ready(place) => (place.offset / K, place.len / K),
        other => panic!("{other:?}"),
    }
}

/// Places a write, resets its zone if it must be, and completes it. Returns offset and length in KiB, and the resets.
fn write(table: &mut ZoneTable, rules: &mut ZoneRules, offset: u64, len: u64) -> (u64, u64, u32) {
    let mut resets = 0;
    loop {
        match table.place_write(rules, offset * K, len * K) {
            ZonePlacement::Reset(zone) => {
                table.was_reset(rules, zone, true);
                resets += 1;
            }
            ZonePlacement::Ready(place) => {
                let held = ZoneIo::Write { len: place.len, end: place.offset + place.len };
                if let Some(zone) = place.zone {
                    table.ended(rules, zone, held, true);
                }
                return (place.offset / K, place.len / K, resets);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_write_goes_to_the_pointer_of_its_zone() {
    let (mut table, mut rules) = table(M, 0, "rw=randwrite\n");
    assert_eq!(write(&mut table, &mut rules, 1500, 64), (1024, 64, 0));
    assert_eq!(write(&mut table, &mut rules, 1024, 64), (1088, 64, 0));
    assert_eq!(write(&mut table, &mut rules, 0, 64), (0, 64, 0));
    assert_eq!(table.members[0].1, 192 * K);
}

#[test]
fn a_write_is_cut_at_the_capacity_in_whole_blocks() {
    let (mut table, mut rules) = table(200 * K, 0, "rw=randwrite\nbsrange=16k-128k\n");
    assert_eq!(write(&mut table, &mut rules, 0, 128), (0, 128, 0));
    assert_eq!(write(&mut table, &mut rules, 0, 128), (128, 64, 0), "72 KiB are left");
    assert_eq!(write(&mut table, &mut rules, 0, 16), (0, 16, 1), "8 KiB are no block");
}

#[test]
fn a_sequential_job_goes_on_behind_a_full_zone() {
    let (mut table, mut rules) = table(160 * K, 0, "rw=write\n");
    let mut next = |offset| match table.place_write(&mut rules, offset, 64 * K) {
        ZonePlacement::Ready(place) => place.next / K,
        other => panic!("{other:?}"),
    };
    assert_eq!((next(0), next(64 * K)), (64, 1024), "32 KiB are left and no block");
}

#[test]
fn a_zone_that_a_job_leaves_out_is_skipped_and_the_last_is_followed_by_the_first() {
    let (table, rules) = table(M, 0, "rw=write\nzoneskip=1m\n");
    assert_eq!([0, 1, 2, 3].map(|zone| table.after(&rules, zone) / M), [2, 3, 0, 0]);
}

#[test]
fn the_last_block_of_a_zone_may_be_short_on_request() {
    let (mut table, mut rules) = table(160 * K, 0, "rw=randwrite\nwrite_zone_remainder=1\n");
    let writes: Vec<_> = (0..4).map(|_| write(&mut table, &mut rules, 0, 64)).collect();
    assert_eq!(writes, [(0, 64, 0), (64, 64, 0), (128, 32, 0), (0, 64, 1)]);
}

#[test]
fn what_is_left_of_a_zone_is_finished_when_its_writes_have_ended() {
    let (mut table, mut rules) = table(160 * K, 0, "rw=randwrite\n");
    let writes = [0, 1].map(|_| ready(table.place_write(&mut rules, 0, 64 * K)).0 * K);
    let held = writes.map(|at| ZoneIo::Write { len: 64 * K, end: at + 64 * K });
    assert!(table.zone(0).open);
    assert!(!table.ended(&rules, 0, held[1], true), "one is in flight");
    assert!(table.ended(&rules, 0, held[0], true));
    assert!(!table.zone(0).open);
}

#[test]
fn open_zones_are_shared_out_by_offset() {
    let (mut table, mut rules) = table(M, 2, "rw=randwrite\n");
    assert_eq!(write(&mut table, &mut rules, 0, 64).0, 0);
    assert_eq!(write(&mut table, &mut rules, 2048, 64).0, 2048);
    assert_eq!(write(&mut table, &mut rules, 1100, 64).0, 64, "the first half of all offsets");
    assert_eq!(write(&mut table, &mut rules, 3900, 64).0, 2112, "the second half");
    // A zone that is full is open no more.
    for at in 0..14 {
        assert_eq!(write(&mut table, &mut rules, 2048, 64).0, 2176 + 64 * at);
    }
    assert_eq!(table.open.iter().map(|&(zone, _)| zone).collect::<Vec<_>>(), [0]);
    assert_eq!(write(&mut table, &mut rules, 3900, 64).0, 3072);
}

#[test]
fn a_job_has_a_limit_of_its_own() {
    let (mut table, mut first) = table(M, 3, "rw=randwrite\njob_max_open_zones=1\n");
    let mut second = join(&mut table, "rw=randwrite\njob_max_open_zones=1\n");
    second.job = 2;
    assert_eq!(write(&mut table, &mut first, 0, 64).0, 0);
    assert_eq!(write(&mut table, &mut second, 3072, 64).0, 3072);
    assert_eq!(write(&mut table, &mut first, 3072, 64).0, 3136, "open, whoever has opened it");
    assert_eq!(write(&mut table, &mut first, 2048, 64).0, 64);
    assert_eq!(write(&mut table, &mut second, 0, 64).0, 128);
}

#[test]
fn no_zone_is_left_for_a_job_whose_zones_others_keep_closed() {
    let (mut table, mut first) = table(M, 1, "rw=randwrite\nsize=2m\n");
    let mut second = join(&mut table, "rw=randwrite\nsize=2m\noffset=2m\n");
    second.job = 2;
    assert_eq!(write(&mut table, &mut first, 0, 64).0, 0);
    assert_eq!(table.place_write(&mut second, 2 * M, 64 * K), ZonePlacement::Nothing);
}

#[test]
fn jobs_take_turns_in_a_zone() {
    let (mut table, mut first) = table(M, 0, "rw=randwrite\n");
    let mut second = join(&mut table, "rw=randwrite\n");
    second.job = 2;
    assert_eq!(ready(table.place_write(&mut first, 0, 64 * K)), (0, 64));
    assert_eq!(ready(table.place_write(&mut first, 0, 64 * K)), (64, 64), "several of one job");
    assert_eq!(table.place_write(&mut second, 0, 64 * K), ZonePlacement::Wait);
    for end in [64 * K, 128 * K] {
        table.ended(&first, 0, ZoneIo::Write { len: 64 * K, end }, true);
    }
    assert_eq!(ready(table.place_write(&mut second, 0, 64 * K)), (128, 64));
}

#[test]
fn a_zone_in_use_is_not_reset() {
    let (mut table, mut rules) = table(64 * K, 0, "rw=randrw\n");
    write(&mut table, &mut rules, 0, 64);
    assert_eq!(ready(table.place_read(&rules, 0, 64 * K)), (0, 64));
    assert_eq!(table.place_write(&mut rules, 0, 64 * K), ZonePlacement::Wait);
    assert_eq!(table.place_trim(&rules, 0, M), ZonePlacement::Wait);
    table.ended(&rules, 0, ZoneIo::Read, true);
    assert_eq!(table.place_write(&mut rules, 0, 64 * K), ZonePlacement::Reset(0));
    assert_eq!(table.place_write(&mut rules, 0, 64 * K), ZonePlacement::Wait, "it is being reset");
    table.was_reset(&mut rules, 0, true);
    assert_eq!(ready(table.place_write(&mut rules, 0, 64 * K)), (0, 64));
}

#[test]
fn full_zones_stay_as_they_are_until_they_were_verified() {
    let (mut table, mut rules) = table(64 * K, 0, "rw=randwrite\nverify=crc32c\n");
    let mut places = [3072, 3072, 0, 0].map(|offset| write(&mut table, &mut rules, offset, 64).0);
    places.sort_unstable();
    assert_eq!(places, [0, 1024, 2048, 3072]);
    assert_eq!(table.place_write(&mut rules, 0, 64 * K), ZonePlacement::Nothing);
    assert_eq!(table.used_zones(&rules), [0, 1, 2, 3]);
}

#[test]
fn a_failed_write_gives_its_place_back_unless_another_follows() {
    let (mut table, mut rules) = table(M, 0, "rw=randwrite\n");
    let held = |end| ZoneIo::Write { len: 64 * K, end };
    let placed = [0, 1, 2].map(|_| ready(table.place_write(&mut rules, 0, 64 * K)).0);
    assert_eq!(placed, [0, 64, 128]);
    table.ended(&rules, 0, held(64 * K), false);
    assert_eq!(table.zone(0).written, 192 * K);
    table.ended(&rules, 0, held(192 * K), false);
    assert_eq!(table.zone(0).written, 128 * K);
}

#[test]
fn random_reads_stay_in_what_is_written_of_the_nearest_zone() {
    let (mut table, rules) = table(M, 0, "rw=randread\n");
    assert_eq!(table.place_read(&rules, 0, 64 * K), ZonePlacement::Nothing);
    table.set_written(0, 64 * K);
    table.set_written(2, 320 * K);
    let read = |table: &mut ZoneTable, offset: u64| ready(table.place_read(&rules, offset * K, 64 * K));
    assert_eq!(read(&mut table, 512), (0, 64));
    assert_eq!(read(&mut table, 1024 + 128), (2048 + 128, 64), "of two, the later one");
    assert_eq!(read(&mut table, 2048 + 256), (2048, 64), "256 modulo 320 - 64");
    assert_eq!(read(&mut table, 3072 + 700), (2048 + 128, 64), "700 modulo 256, rounded down to a block");
}

#[test]
fn sequential_reads_go_from_one_written_part_to_the_next() {
    let (mut table, rules) = table(M, 0, "rw=read\nbsrange=32k-64k\n");
    table.set_written(1, 96 * K);
    table.set_written(3, 32 * K);
    let mut read = |offset: u64| table.place_read(&rules, offset * K, 64 * K);
    assert_eq!(ready(read(0)), (1024, 64));
    assert_eq!(ready(read(1088)), (1088, 32), "cut at the pointer");
    assert_eq!(ready(read(1120)), (3072, 32));
    assert_eq!(read(3104), ZonePlacement::Nothing);
}

#[test]
fn reads_go_anywhere_on_request() {
    let (mut table, rules) = table(M, 0, "rw=randread\nread_beyond_wp=1\n");
    assert_eq!(ready(table.place_read(&rules, 3000 * K, 64 * K)), (3000, 64));
    assert!(!table.has_nothing_to_read(&rules));
}

#[test]
fn random_trims_skip_empty_zones_and_sequential_ones_do_not() {
    let (mut table, rules) = table(M, 0, "rw=randtrim\nbs=1m\n");
    assert_eq!(table.place_trim(&rules, 0, M), ZonePlacement::Nothing);
    table.set_written(3, 64 * K);
    assert_eq!(ready(table.place_trim(&rules, M, M)), (3072, 1024));
    table.ended(&rules, 3, ZoneIo::Trim, true);
    assert_eq!(table.zone(3).written, 0);
    let sequential = join(&mut table, "rw=trim\nbs=1m\n");
    assert_eq!(ready(table.place_trim(&sequential, M, M)), (1024, 1024));
}

#[test]
fn writes_reset_their_zone_by_turns_once_enough_is_written() {
    let options = "rw=randwrite\nzone_reset_threshold=0.0625\nzone_reset_frequency=0.5\n";
    let (mut table, mut rules) = table(M, 0, options);
    let resets: Vec<u32> = (0..8).map(|_| write(&mut table, &mut rules, 0, 64).2).collect();
    assert_eq!(
        resets,
        [0, 0, 0, 0, 0, 1, 0, 0],
        "from 256 KiB on every second, as long as so much is written"
    );
}

#[test]
fn conventional_zones_take_io_anywhere_and_others_none_at_all() {
    let mut zones: Vec<Zone> = (0..4).map(|index| Zone::empty(index * M, M)).collect();
    zones[0].sequential = false;
    zones[0].written = M;
    zones[1].writable = false;
    (zones[2].writable, zones[2].readable) = (false, false);
    let mut table = ZoneTable::new(M, zones, 0);
    let mut rules = join(&mut table, "rw=randrw\n");
    assert_eq!(write(&mut table, &mut rules, 512, 64), (512, 64, 0));
    assert_eq!(
        write(&mut table, &mut rules, 1000, 64),
        (960, 64, 0),
        "no block is left before the next zone"
    );
    assert_eq!(write(&mut table, &mut rules, 1024, 64), (3072, 64, 0), "a zone that can be written");
    assert_eq!(write(&mut table, &mut rules, 2048, 64), (3136, 64, 0));
    assert_eq!(ready(table.place_read(&rules, 512 * K, 64 * K)), (512, 64));
    assert_eq!(table.used_zones(&rules), [3]);
    assert!(!table.has_nothing_to_read(&rules));
}
