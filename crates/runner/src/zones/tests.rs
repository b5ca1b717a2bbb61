pub(super) mod listed;

use std::fs;
use std::time::{Duration, Instant};

use ferrio_engine::zones::{ZoneCondition, ZoneReport};
use ferrio_job::{FileZones, ZoneModel};
use ferrio_plan::testing::{plan_of, spec_of};

use self::listed::ListedZones;
use super::source::ZoneSource;
use super::*;

const K: u64 = 1 << 10;
const M: u64 = 1 << 20;

/// What `blkzone report` prints of a device with zones of 1 MiB, of which 768 KiB can be written: a conventional zone, an empty one, one
/// with 64 KiB, a full one, a read-only one, an offline one.
const REPORT: &str = "\
  start: 0x000000000, len 0x000800, cap 0x000800, wptr 0x000000 reset:0 non-seq:0, zcond: 0(nw) [type: 1(CONVENTIONAL)]
  start: 0x000000800, len 0x000800, cap 0x000600, wptr 0x000000 reset:0 non-seq:0, zcond: 1(em) [type: 2(SEQ_WRITE_REQUIRED)]
  start: 0x000001000, len 0x000800, cap 0x000600, wptr 0x000080 reset:0 non-seq:0, zcond: 2(oi) [type: 2(SEQ_WRITE_REQUIRED)]
  start: 0x000001800, len 0x000800, cap 0x000600, wptr 0x000800 reset:0 non-seq:0, zcond:14(fu) [type: 2(SEQ_WRITE_REQUIRED)]
  start: 0x000002000, len 0x000800, cap 0x000600, wptr 0x000000 reset:0 non-seq:0, zcond:13(ro) [type: 2(SEQ_WRITE_REQUIRED)]
  start: 0x000002800, len 0x000800, cap 0x000600, wptr 0x000000 reset:0 non-seq:0, zcond:15(ol) [type: 2(SEQ_WRITE_REQUIRED)]
";

/// A list of zones, and a job of 6 MiB on them.
struct Listed {
    dir: tempfile::TempDir,
    zones: JobZones,
}

impl Listed {
    fn new(report: &str, options: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("zones"), report).unwrap();
        let spec =
            spec_of(&format!("[a]\nioengine=null\nzonemode=zbd\nzonesize=1m\nsize=6m\nbs=64k\n{options}"));
        let zones = FileZones { model: ZoneModel::HostManaged, size: M, capacity: M, max_open: 0 };
        let source = ZoneSource::Listed(ListedZones(dir.path().join("zones")));
        let file = ZonedFile::of(source, &spec.files[0], zones, 6 * M).unwrap();
        Listed { zones: JobZones::new(&spec, vec![Arc::new(file)]), dir }
    }

    fn report(&self) -> Vec<ZoneReport> {
        ListedZones(self.dir.path().join("zones")).read().unwrap()
    }

    /// Does an I/O as the loop does, without the I/O. Returns offset and length in KiB, and the resets.
    fn io(&mut self, direction: Direction, offset: u64, len: u64) -> Option<(u64, u64, u32)> {
        let chosen = Io { direction, file: 0, offset: offset * K, len: len * K };
        let mut resets = 0;
        loop {
            match self.zones.place(&chosen) {
                ZonePlacement::Reset(zone) => {
                    self.zones.reset(0, zone).unwrap();
                    resets += 1;
                }
                ZonePlacement::Ready(place) => {
                    self.zones.issued(0, &chosen, &place);
                    if direction == Direction::Trim {
                        self.zones.trim(0, place.offset, place.len).unwrap();
                    }
                    self.zones.ended(0, true).unwrap();
                    return Some((place.offset / K, place.len / K, resets));
                }
                ZonePlacement::Nothing => return None,
                ZonePlacement::Wait => panic!("nothing is in flight"),
            }
        }
    }
}

#[test]
fn a_device_reports_zones_of_all_kinds() {
    let listed = Listed::new(REPORT, "rw=randwrite\n");
    let table = listed.zones.files[0].0.table();
    let zones = [0, 1, 2, 3, 4, 5].map(|index| {
        let zone = table.zone(index);
        (zone.written / K, zone.capacity / K, zone.sequential, zone.writable)
    });
    let want = [
        (1024, 1024, false, true),
        (0, 768, true, true),
        (64, 768, true, true),
        (768, 768, true, true),
        (0, 768, true, false),
        (0, 768, true, false),
    ];
    assert_eq!(zones, want);
}

#[test]
fn zones_that_are_no_table_are_refused() {
    let refused = |report: &str| {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("zones"), report).unwrap();
        let source = ZoneSource::Listed(ListedZones(dir.path().join("zones")));
        source.zones().unwrap_err().to_string()
    };
    assert_eq!(refused(""), "the device reports no zones");
    let want = "the zones of the device differ in size, or are not one after the other";
    let shorter = REPORT.replacen("start: 0x000001000, len 0x000800", "start: 0x000001000, len 0x000400", 1);
    assert_eq!(refused(&shorter), want);
}

#[test]
fn writes_go_where_a_device_takes_them() {
    let mut listed = Listed::new(REPORT, "rw=randwrite\n");
    let mut write = |offset| listed.io(Direction::Write, offset, 64);
    assert_eq!(write(320), Some((320, 64, 0)), "a conventional zone");
    assert_eq!(write(1500), Some((1024, 64, 0)));
    assert_eq!(write(2048), Some((2112, 64, 0)), "behind what is written");
    assert_eq!(write(3500), Some((3072, 64, 1)), "a full zone is reset");
    assert_eq!(write(4096), Some((1088, 64, 0)), "no read-only zone, and no offline one, but the next");
    let full = &listed.report()[3];
    assert_eq!((full.write_pointer, full.condition), (3 * M, ZoneCondition::Empty), "the device was told");
}

#[test]
fn a_zone_with_no_room_for_a_block_is_finished() {
    let mut listed = Listed::new(REPORT, "rw=write\nbs=500k\noffset=1m\nsize=1m\n");
    assert_eq!(listed.io(Direction::Write, 1024, 500), Some((1024, 500, 0)));
    let zone = listed.report()[1];
    assert_eq!((zone.write_pointer, zone.condition), (2 * M, ZoneCondition::Full));
    let mut listed = Listed::new(REPORT, "rw=write\nbs=500k\noffset=1m\nsize=1m\nwrite_zone_remainder=1\n");
    assert_eq!(listed.io(Direction::Write, 1024, 500), Some((1024, 500, 0)));
    assert_eq!(
        listed.report()[1].condition,
        ZoneCondition::Empty,
        "the last write has filled it: no command"
    );
    assert_eq!(listed.io(Direction::Write, 1524, 500), Some((1524, 268, 0)));
}

#[test]
fn a_trim_resets_its_zone() {
    let mut listed = Listed::new(REPORT, "rw=randtrim\nbs=1m\n");
    assert_eq!(
        listed.io(Direction::Trim, 5 * 1024, 1024),
        Some((3072, 1024, 0)),
        "the nearest that has something"
    );
    assert_eq!(listed.report()[3].condition, ZoneCondition::Empty);
    assert_eq!(listed.io(Direction::Trim, 2048, 1024), Some((2048, 1024, 0)));
    assert_eq!(listed.report()[2].write_pointer, 2 * M);
}

#[test]
fn reads_stay_below_the_pointers() {
    let mut listed = Listed::new(REPORT, "rw=randread\n");
    let mut read = |offset| listed.io(Direction::Read, offset, 64);
    assert_eq!(read(960), Some((960, 64, 0)), "all of a conventional zone");
    assert_eq!(read(2500), Some((2048, 64, 0)));
    assert_eq!(
        read(5000),
        Some((3264, 64, 0)),
        "of the zone before it: 904 modulo 768 - 64, rounded down to a block"
    );
}

#[test]
fn all_zones_are_emptied_for_a_pass_that_verifies() {
    let mut listed = Listed::new(REPORT, "rw=write\nverify=crc32c\n");
    assert_eq!(listed.zones.empty_all(&|| false).unwrap(), 2, "one in part, one full");
    let empty = listed.report().iter().filter(|zone| zone.condition == ZoneCondition::Empty).count();
    assert_eq!(empty, 3);
    assert_eq!(listed.zones.empty_all(&|| false).unwrap(), 0);
}

#[test]
fn a_device_that_refuses_a_reset_keeps_its_zone() {
    let mut listed = Listed::new(REPORT, "rw=randwrite\n");
    let path = listed.dir.path().join("zones");
    fs::write(&path, REPORT.replace("14(fu)", "13(ro)")).unwrap();
    let chosen = Io { direction: Direction::Write, file: 0, offset: 3 * M, len: 65536 };
    let ZonePlacement::Reset(zone) = listed.zones.place(&chosen) else { panic!("a full zone") };
    assert_eq!(listed.zones.reset(0, zone).unwrap_err().raw_os_error(), Some(libc::EIO));
    assert_eq!(listed.zones.files[0].0.table().zone(3).written, 768 * K);
    assert!(matches!(listed.zones.place(&chosen), ZonePlacement::Reset(_)), "nobody holds it");
}

#[test]
fn a_job_that_dies_frees_its_zones() {
    let spec = spec_of("[a]\nioengine=null\nzonemode=zbd\nzonesize=1m\nsize=2m\nrw=write\nbs=64k\n");
    let plan = plan_of("[a]\nioengine=null\nzonemode=zbd\nzonesize=1m\nsize=2m\nrw=write\nbs=64k\nfilename=f\n[b]\nioengine=null\nzonemode=zbd\nsize=2m\nrw=write\nbs=64k\nfilename=f\n").unwrap();
    let mut files = ZonedFiles::of(&plan);
    let mut of = |index: usize| files.of_job(&plan.jobs[index].spec).unwrap().unwrap();
    let (mut first, mut second) = (of(0), of(1));
    assert!(Arc::ptr_eq(&first.files[0].0, &second.files[0].0), "one file, one table");
    let io = Io { direction: Direction::Write, file: 0, offset: 0, len: 65536 };
    let ZonePlacement::Ready(place) = first.place(&io) else { panic!("an empty zone") };
    first.issued(0, &io, &place);
    assert_eq!(second.place(&io), ZonePlacement::Wait);
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(first));
        while second.place(&io) == ZonePlacement::Wait && began.elapsed() < Duration::from_secs(60) {
            second.wait(0);
        }
    });
    // What the first job wrote was never completed: its place is free.
    assert!(second.files[0].0.table().zone(0).written >= 65536);
    assert!(ZonedFiles::default().of_job(&JobSpec { zbd: None, ..spec }).unwrap().is_none());
}
