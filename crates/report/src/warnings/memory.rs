//! Figures that measure memory instead of a device: the page cache, or files and devices in memory.

use ferrio_job::{Direction, JobSpec};
use ferrio_machine::StorageLocation;

use crate::database::{is_database_job, is_session};

use super::database::unsynced_logs;
use super::run_view::{DiskTraffic, DiskUser, Finding, RunView, bytes, disk_traffic, uncounted};

/// Less data is not evaluated: the file system itself may read as much.
const MIN_BYTES: u64 = 1 << 20;
/// Minimum percentage of the data that a device must move to count as measured: with a quarter of the data from memory, the figures are a
/// third too high.
const MIN_DEVICE_PERCENT: u64 = 75;
/// Data that is read at least this often comes from memory, if the device cannot be watched.
const MIN_REPEATED_READS: u64 = 2;

/// File systems that may compress data, so that their devices move less of it.
const COMPRESSING_FILE_SYSTEMS: [&str; 6] = ["btrfs", "zfs", "bcachefs", "f2fs", "erofs", "squashfs"];
/// Percentage of dirty memory at which Linux starts background writes (vm.dirty_background_ratio).
const BACKGROUND_DIRTY_PERCENT: u64 = 10;
/// Age in s at which Linux writes dirty data (vm.dirty_expire_centisecs).
const DIRTY_EXPIRE_SECONDS: u64 = 30;

/// Warns about buffered reads that mostly did not reach the device.
pub(super) fn cached_reads(run: &RunView<'_>) -> Vec<Finding> {
    let help = |jobs: &[usize]| match maps(run, jobs) {
        false => "the job measures the page cache: use direct=1, or read more data than fits into memory",
        true => {
            "mmap measures the page cache: read more data than fits into memory, or use another engine with direct=1"
        }
    };
    let reads = |user: &DiskUser<'_>| user.is_cached(Direction::Read) && user.is_measured(Direction::Read);
    let watched = disk_traffic(run);
    let found = watched.iter().filter_map(|disk| {
        let MissedTraffic { jobs, moved, seen } = missed_traffic(disk, Direction::Read, reads)?;
        let message = format!("{} read {moved} through the page cache, but only {seen}", run.who(&jobs));
        Some(Finding { help: help(&jobs), jobs, message })
    });
    found
        .chain(read_again(run).map(|(job, moved, data)| {
            let jobs = vec![job];
            let message = format!(
                "{} read {} from {} of files, which fit into memory",
                run.who(&jobs),
                bytes(moved),
                bytes(data)
            );
            Finding { help: help(&jobs), jobs, message }
        }))
        .collect()
}

/// Warns about buffered writes that were still in memory when the run ended.
pub(super) fn buffered_writes(run: &RunView<'_>) -> Vec<Finding> {
    if !run.is_over() {
        return Vec::new();
    }
    let help = |jobs: &[usize]| {
        if jobs.iter().any(|&job| is_database_job(&run.plan.jobs[job].spec)) {
            "nothing has synced pages that were written back: run longer, set checkpoint_interval or checkpoint_log, \
             or use write_back_sync or direct=1"
        } else if maps(run, jobs) {
            "memory is measured, not a device: use end_fsync=1 or fsync"
        } else {
            "memory is measured, not a device: use end_fsync=1, fsync, sync or direct=1"
        }
    };
    let writes = |user: &DiskUser<'_>| {
        let is_cached = user.is_cached(Direction::Write) && user.is_measured(Direction::Write);
        is_cached && !user.is_durable() && !is_session(user.spec)
    };
    let watched = disk_traffic(run);
    let found = watched.iter().filter_map(|disk| {
        let MissedTraffic { jobs, moved, seen } = missed_traffic(disk, Direction::Write, writes)?;
        let message = format!("{} wrote {moved}, but only {seen} at the end", run.who(&jobs));
        Some(Finding { help: help(&jobs), jobs, message })
    });
    let limit = run.environment.host.memory_bytes.unwrap_or(0) / 100 * BACKGROUND_DIRTY_PERCENT;
    let kept = |user: &DiskUser<'_>| {
        let moved = user.bytes(Direction::Write);
        writes(user)
            && moved >= MIN_BYTES
            && moved < limit
            && run.result.elapsed.as_secs() < DIRTY_EXPIRE_SECONDS
    };
    let unwatched = unwatched(run).filter(kept).map(|user| {
        let jobs = vec![user.index];
        let moved = bytes(user.bytes(Direction::Write));
        let message = format!(
            "{} wrote {moved}, which may still be in memory: nothing forced it to a device before the end",
            run.who(&jobs)
        );
        Finding { help: help(&jobs), jobs, message }
    });
    found.chain(unwatched).chain(unsynced_logs(run)).collect()
}

/// True if one of the jobs maps its files, which cannot bypass the page cache.
fn maps(run: &RunView<'_>, jobs: &[usize]) -> bool {
    jobs.iter().any(|&job| run.plan.jobs[job].spec.engine.maps_files())
}

/// Warns about direct reads that mostly did not reach the device: file systems return zeros for blocks that were never written.
pub(super) fn sparse_reads(run: &RunView<'_>) -> Vec<Finding> {
    let help = "reads of holes and of blocks never written do not reach a device: remove the file, and ferrio creates one full of data";
    let reads = |user: &DiskUser<'_>| !user.is_cached(Direction::Read) && user.is_measured(Direction::Read);
    let watched = disk_traffic(run);
    // All reads of a device that is used directly reach it.
    let stored = watched.iter().filter(|disk| !disk.file_systems.is_empty());
    let found = stored.filter_map(|disk| {
        let MissedTraffic { jobs, moved, seen } = missed_traffic(disk, Direction::Read, reads)?;
        let message = format!("{} read {moved} with direct I/O, but only {seen}", run.who(&jobs));
        Some(Finding { jobs, message, help })
    });
    found.collect()
}

/// Data that mostly did not reach its disk.
struct MissedTraffic {
    /// Indices of the jobs that moved the data.
    jobs: Vec<usize>,
    /// The amount of data.
    moved: String,
    /// The part that the disk moved: `1024KiB of it came from vda`.
    seen: String,
}

/// The data of the jobs for which `counts` holds, if the disk moved too little of it.
fn missed_traffic(
    disk: &DiskTraffic<'_>,
    direction: Direction,
    counts: impl Fn(&DiskUser<'_>) -> bool,
) -> Option<MissedTraffic> {
    if disk.file_systems.iter().any(|kind| COMPRESSING_FILE_SYSTEMS.contains(kind)) {
        return None;
    }
    let moved = disk.job_bytes(direction, &counts);
    let of_others = disk.job_bytes(direction, |user| !counts(user));
    let on_disk = disk.disk_bytes(direction).saturating_sub(of_others);
    if moved < MIN_BYTES || on_disk >= moved / 100 * MIN_DEVICE_PERCENT {
        return None;
    }
    let to = if direction == Direction::Read { "of it came from" } else { "of it had reached" };
    Some(MissedTraffic {
        jobs: disk.users.iter().filter(|user| counts(user)).map(|user| user.index).collect(),
        moved: bytes(moved),
        seen: format!("{} {to} {}", bytes(on_disk), disk.usage.name),
    })
}

/// Jobs with files on disks that cannot be watched, or on none, and not in memory.
fn unwatched<'a>(run: &RunView<'a>) -> impl Iterator<Item = DiskUser<'a>> {
    let (environment, disks) = (run.environment, &run.result.disks);
    let is_unwatched = |place: &usize| {
        let place = &environment.places[*place];
        let is_watched =
            |name: &str| disks.iter().any(|disk| disk.name == name) && uncounted(place).is_none();
        !place.is_in_memory() && !place.device.as_ref().is_some_and(|device| is_watched(&device.disk_name))
    };
    run.jobs().map(|(index, spec, result)| DiskUser { index, spec, result }).filter(move |user| {
        let places = environment.of_job(user.index);
        !places.is_empty() && places.iter().all(is_unwatched)
    })
}

/// Jobs without a watched disk that read their files repeatedly, with all files fitting into memory.
fn read_again<'a>(run: &RunView<'a>) -> impl Iterator<Item = (usize, u64, u64)> {
    let memory = run.environment.host.memory_bytes.unwrap_or(0);
    unwatched(run).filter_map(move |user| {
        let moved = user.bytes(Direction::Read);
        let data: u64 = user.spec.files.iter().map(|file| file.size).sum();
        let again = user.is_cached(Direction::Read)
            && user.is_measured(Direction::Read)
            && moved >= MIN_BYTES
            && moved / MIN_REPEATED_READS >= data
            && data < memory;
        again.then_some((user.index, moved, data))
    })
}

/// A mount point that is known to be in memory.
const TMPFS_MOUNT: &str = "/dev/shm";

/// Warns if a job works in memory although its file names do not show that, or although it asks for direct I/O.
pub(super) fn memory_device(run: &RunView<'_>) -> Vec<Finding> {
    let surprises = |spec: &JobSpec, place: &StorageLocation| {
        let plain = place.mount_point.as_ref().is_none_or(|point| point.starts_with(TMPFS_MOUNT));
        place.is_in_memory() && (!plain || (spec.opening.direct && place.device.is_none()))
    };
    let Some((jobs, place)) = jobs_on(run, surprises) else { return Vec::new() };
    let point = place.mount_point.as_ref().map(|point| point.display().to_string()).unwrap_or_default();
    let what = match &place.device {
        Some(device) => format!("{point} is on {}", device.disk_name),
        None => format!("{point} is a {}", place.file_system.as_deref().unwrap_or_default()),
    };
    let message = format!("{}: {what}, which is memory", run.who(&jobs));
    vec![Finding { jobs, message, help: "to measure a disk, use a file on a disk" }]
}

/// Warns if a job works on a loop device that uses the page cache of another file.
pub(super) fn cached_device(run: &RunView<'_>) -> Vec<Finding> {
    let cached = |place: &StorageLocation| {
        place.device.as_ref().and_then(|device| device.cached_file.as_ref()).is_some()
    };
    let Some((jobs, place)) = jobs_on(run, |_, place| cached(place)) else { return Vec::new() };
    let Some(device) = &place.device else { return Vec::new() };
    let file = device.cached_file.as_deref().unwrap_or_default();
    let message = format!(
        "{}: {} reads and writes {file} through the page cache, even with direct=1",
        run.who(&jobs),
        device.disk_name
    );
    vec![Finding { jobs, message, help: "set up the loop device with losetup --direct-io=on" }]
}

/// Jobs with I/O on a place for which `kind` holds, and the first such place.
fn jobs_on<'a>(
    run: &RunView<'a>,
    kind: impl Fn(&JobSpec, &StorageLocation) -> bool,
) -> Option<(Vec<usize>, &'a StorageLocation)> {
    let mut jobs = Vec::new();
    let mut first = None;
    for (index, spec, result) in run.reported() {
        let places =
            run.environment.of_job(index).iter().filter_map(|&place| run.environment.places.get(place));
        let Some(place) = places.into_iter().find(|place| kind(spec, place)) else { continue };
        if result.stats.total_ios() > 0 {
            jobs.push(index);
            first.get_or_insert(place);
        }
    }
    Some((jobs, first?))
}

#[cfg(test)]
mod tests {
    use crate::warnings::testing::{TestRun, disk, moving, reading};
    use ferrio_job::{EngineKind, JobSpec, ReadWrite};
    use ferrio_machine::{BlockDevice, StorageLocation};

    const MIB: u64 = 1 << 20;

    fn buffered(spec: &mut JobSpec) {
        (spec.engine, spec.opening.direct) = (EngineKind::Psync, false);
    }

    fn writing(spec: &mut JobSpec) {
        buffered(spec);
        spec.rw = ReadWrite::RandWrite;
    }

    #[test]
    fn buffered_reads_that_do_not_reach_the_disk_have_a_warning() {
        let case =
            |from_disk| TestRun::new().disk(disk(from_disk, 0)).on_disk("a", moving(64 * MIB, 0), buffered);
        let found = case(MIB).warnings("cached-reads");
        assert_eq!(
            found[0].message,
            "a read 64.0MiB through the page cache, but only 1024KiB of it came from vda"
        );
        assert_eq!(case(47 * MIB).warnings("cached-reads").len(), 1);
        assert!(case(48 * MIB).warnings("cached-reads").is_empty());
        let direct = |spec: &mut JobSpec| (spec.engine, spec.opening.direct) = (EngineKind::Psync, true);
        let direct = TestRun::new().disk(disk(0, 0)).on_disk("a", moving(64 * MIB, 0), direct);
        assert!(direct.warnings("cached-reads").is_empty());
    }

    #[test]
    fn jobs_that_map_their_files_are_not_sent_to_direct_io() {
        let advice = |spec: fn(&mut JobSpec), code| {
            let case = TestRun::new().disk(disk(MIB, MIB)).on_disk("a", moving(64 * MIB, 64 * MIB), spec);
            case.warnings(code)[0].help.clone()
        };
        let mapped = |spec: &mut JobSpec| (spec.engine, spec.opening.direct) = (EngineKind::Mmap, false);
        assert!(advice(mapped, "cached-reads").contains("another engine with direct=1"));
        assert!(advice(buffered, "cached-reads").contains("use direct=1"));
        let mapped = |spec: &mut JobSpec| {
            (spec.engine, spec.opening.direct, spec.rw) = (EngineKind::Mmap, false, ReadWrite::RandWrite);
        };
        assert!(!advice(mapped, "buffered-writes").contains("direct"));
        assert!(advice(writing, "buffered-writes").contains("direct=1"));
    }

    #[test]
    fn disks_without_counters_cause_no_warning() {
        let once = |spec: &mut JobSpec| {
            buffered(spec);
            spec.files = vec![crate::warnings::testing::file(64 * MIB)];
        };
        let mut case = TestRun::new().disk(disk(0, 0)).on_disk("a", moving(64 * MIB, 0), once);
        assert_eq!(case.warnings("cached-reads").len(), 1);
        case.environment.places[0].device.as_mut().unwrap().uncounted = true;
        assert!(case.warnings("cached-reads").is_empty());
    }

    #[test]
    fn figures_that_are_not_shown_have_no_warning() {
        let unreported = |spec: &mut JobSpec| {
            buffered(spec);
            spec.measure.reported = false;
        };
        let case = TestRun::new().disk(disk(0, 0)).on_disk("warm-up", moving(64 * MIB, 0), unreported);
        assert!(case.warnings("cached-reads").is_empty());
    }

    #[test]
    fn direct_reads_that_no_device_sees_have_a_warning() {
        let direct = |spec: &mut JobSpec| (spec.engine, spec.opening.direct) = (EngineKind::Psync, true);
        let case =
            |from_disk| TestRun::new().disk(disk(from_disk, 0)).on_disk("a", moving(64 * MIB, 0), direct);
        let found = case(MIB).warnings("sparse-reads");
        assert_eq!(found[0].message, "a read 64.0MiB with direct I/O, but only 1024KiB of it came from vda");
        assert!(case(64 * MIB).warnings("sparse-reads").is_empty());
        let mut device = case(0);
        device.environment.places[0].file_system = None;
        assert!(device.warnings("sparse-reads").is_empty(), "a device has no holes");
    }

    #[test]
    fn syncs_that_never_came_made_nothing_durable() {
        let found = |syncs| {
            let mut stats = moving(0, 64 * MIB);
            stats.sync.ios = syncs;
            let rarely = |spec: &mut JobSpec| {
                writing(spec);
                spec.durability.fsync = 1_000_000;
            };
            TestRun::new().disk(disk(0, MIB)).on_disk("a", stats, rarely).warnings("buffered-writes").len()
        };
        assert_eq!((found(0), found(1)), (1, 0));
    }

    #[test]
    fn where_no_disk_is_watched_writes_that_fit_into_memory_have_a_warning() {
        let found =
            |written| TestRun::new().on_disk("a", moving(0, written), writing).warnings("buffered-writes");
        let want =
            "a wrote 64.0MiB, which may still be in memory: nothing forced it to a device before the end";
        assert_eq!(found(64 * MIB)[0].message, want);
        assert!(found(1024 * MIB).is_empty(), "that is more than the kernel keeps of 8 GiB");
        let running = TestRun::new().on_disk("a", moving(0, 64 * MIB), writing).running();
        assert!(running.warnings("buffered-writes").is_empty(), "it may yet be written");
    }

    #[test]
    fn ios_that_move_no_data_are_not_missing_on_the_disk() {
        let engine = |spec: &mut JobSpec| (spec.engine, spec.opening.direct) = (EngineKind::Filestat, false);
        let case = TestRun::new().disk(disk(0, 0)).on_disk("a", moving(64 * MIB, 0), engine);
        assert_eq!(case.all_warnings(), []);
    }

    #[test]
    fn reads_of_direct_jobs_do_not_count_for_buffered_ones() {
        let direct = |spec: &mut JobSpec| (spec.engine, spec.opening.direct) = (EngineKind::Psync, true);
        let case = TestRun::new().disk(disk(64 * MIB, 0)).on_disk("direct", moving(64 * MIB, 0), direct);
        let found = case.on_disk("cached", moving(64 * MIB, 0), buffered).warnings("cached-reads");
        assert_eq!(found[0].jobs, ["cached"]);
    }

    #[test]
    fn buffered_writes_that_are_in_memory_at_the_end_have_a_warning_unless_they_are_made_durable() {
        let found = TestRun::new().disk(disk(0, MIB)).on_disk("a", moving(0, 64 * MIB), writing);
        let found = found.warnings("buffered-writes");
        assert_eq!(found[0].message, "a wrote 64.0MiB, but only 1024KiB of it had reached vda at the end");
        let durable = |spec: &mut JobSpec| {
            writing(spec);
            spec.durability.end_fsync = true;
        };
        let durable = TestRun::new().disk(disk(0, MIB)).on_disk("a", moving(0, 64 * MIB), durable);
        assert!(durable.warnings("buffered-writes").is_empty());
    }

    #[test]
    fn a_job_that_only_verifies_leaves_no_writes_in_memory() {
        let verifying = |spec: &mut JobSpec| {
            writing(spec);
            spec.verify = ferrio_plan::testing::spec_of(
                "[a]\nsize=4k\nrw=write\nioengine=null\nverify=crc32c\nverify_only\n",
            )
            .verify;
            assert!(spec.only_verifies());
        };
        let run = || TestRun::new().on_disk("a", moving(0, 64 * MIB), verifying);
        assert!(run().warnings("buffered-writes").is_empty());
        assert!(run().disk(disk(0, MIB)).warnings("buffered-writes").is_empty());
    }

    #[test]
    fn where_no_disk_is_watched_reading_again_and_again_has_a_warning() {
        let case = |moved| {
            let small = |spec: &mut JobSpec| {
                buffered(spec);
                spec.files = vec![crate::warnings::testing::file(16 * MIB)];
            };
            TestRun::new().on_disk("a", moving(moved, 0), small).warnings("cached-reads")
        };
        assert_eq!(case(64 * MIB)[0].message, "a read 64.0MiB from 16.0MiB of files, which fit into memory");
        assert!(case(16 * MIB).is_empty());
    }

    fn found(code: &str, direct: bool, place: StorageLocation) -> Vec<String> {
        let mut case = TestRun::new().on_disk("a", reading(1000, 5000), |spec| {
            (spec.engine, spec.opening.direct) = (EngineKind::Psync, direct);
        });
        case.environment.places = vec![place];
        case.warnings(code).into_iter().map(|warning| warning.message).collect()
    }

    fn on(point: &str, kind: &str, device: Option<&str>) -> StorageLocation {
        let of = |name: &str| BlockDevice { disk_name: name.to_owned(), ..BlockDevice::default() };
        StorageLocation {
            mount_point: Some(point.into()),
            file_system: Some(kind.to_owned()),
            device: device.map(of),
            ..StorageLocation::default()
        }
    }

    #[test]
    fn files_in_memory_have_a_warning_unless_their_names_show_it() {
        let found = |direct, place| found("memory-device", direct, place);
        assert_eq!(found(false, on("/tmp", "tmpfs", None)), ["a: /tmp is a tmpfs, which is memory"]);
        let zram = on("/data", "ext4", Some("zram0"));
        assert_eq!(found(true, zram.clone()), ["a: /data is on zram0, which is memory"]);
        assert_eq!(found(false, on("/dev/shm", "tmpfs", None)), Vec::<String>::new());
        assert_eq!(found(true, on("/dev/shm", "tmpfs", None)).len(), 1, "direct I/O to memory is none");
        assert!(found(true, StorageLocation { mount_point: None, file_system: None, ..zram }).is_empty());
        assert!(found(true, on("/data", "ext4", Some("vda"))).is_empty());
    }

    #[test]
    fn loop_devices_that_go_through_the_page_cache_have_a_warning() {
        let mut place = on("/data", "ext4", Some("loop0"));
        assert!(found("cached-device", true, place.clone()).is_empty());
        place.device.as_mut().unwrap().cached_file = Some("/srv/image".to_owned());
        let want = "a: loop0 reads and writes /srv/image through the page cache, even with direct=1";
        assert_eq!(found("cached-device", true, place), [want]);
    }
}
