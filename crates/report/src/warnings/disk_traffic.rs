//! Data moved by jobs compared with data moved by the disks below them.

use ferrio_job::{Direction, JobSpec, OpenSync};
use ferrio_machine::Place;
use ferrio_runner::{DiskUsage, JobResult};

use super::run_view::RunView;

/// Sectors of disk statistics, bytes.
const SECTOR: u64 = 512;

/// One disk and the jobs that use it and no other.
pub(super) struct DiskTraffic<'a> {
    pub(super) usage: &'a DiskUsage,
    pub(super) users: Vec<DiskUser<'a>>,
    /// Types of the file systems that the users' files are in.
    pub(super) file_systems: Vec<&'a str>,
}

/// A job on a disk.
pub(super) struct DiskUser<'a> {
    pub(super) index: usize,
    pub(super) spec: &'a JobSpec,
    pub(super) result: &'a JobResult,
}

impl DiskUser<'_> {
    /// Bytes that the job moved.
    pub(super) fn bytes(&self, direction: Direction) -> u64 {
        self.result.stats.directions[direction as usize].bytes
    }

    /// The job does I/O in this direction, moved bytes, and is in the report.
    pub(super) fn is_measured(&self, direction: Direction) -> bool {
        self.spec.measure.reported && self.spec.rw.does(direction) && self.bytes(direction) > 0
    }

    /// Its writes are on the device by the time it ends.
    pub(super) fn is_durable(&self) -> bool {
        let durability = &self.spec.durability;
        let at_the_end = durability.end_fsync || durability.end_syncfs || durability.fsync_on_close;
        // A job may be over before its first sync is due.
        let synced = self.spec.open_sync != OpenSync::None || self.result.stats.sync.ios > 0;
        self.spec.is_durable() && (at_the_end || synced)
    }

    /// Its I/O in this direction goes through the page cache.
    pub(super) fn is_cached(&self, direction: Direction) -> bool {
        self.spec.is_buffered() && self.bytes(direction) > 0
    }
}

impl DiskTraffic<'_> {
    /// Bytes that the disk read or wrote.
    pub(super) fn disk_bytes(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.usage.sectors[0].saturating_mul(SECTOR),
            Direction::Write => self.usage.sectors[1].saturating_mul(SECTOR),
            Direction::Trim => 0,
        }
    }

    /// Bytes moved by the jobs that `count`.
    pub(super) fn job_bytes(&self, direction: Direction, count: impl Fn(&DiskUser<'_>) -> bool) -> u64 {
        self.users.iter().filter(|user| count(user)).map(|user| user.bytes(direction)).sum()
    }
}

/// Name of a disk without usable counters: the kernel does not count there, or the file system may bypass it (DAX).
pub(super) fn uncounted(place: &Place) -> Option<&str> {
    let device = place.device.as_ref()?;
    (device.uncounted || device.disk_name.starts_with("pmem")).then_some(device.disk_name.as_str())
}

/// All disks whose jobs use no other disk: how much data a job moves on each of several disks is not known.
pub(super) fn disk_traffic<'a>(run: &RunView<'a>) -> Vec<DiskTraffic<'a>> {
    let disk_of = |place: usize| Some(run.environment.places.get(place)?.device.as_ref()?.disk_name.as_str());
    let mut all: Vec<DiskTraffic<'a>> = run
        .result
        .disks
        .iter()
        .map(|usage| DiskTraffic { usage, users: Vec::new(), file_systems: Vec::new() })
        .collect();
    let mut unusable: Vec<&str> = Vec::new();
    unusable.extend(run.environment.places.iter().filter_map(uncounted));
    for (index, spec, result) in run.jobs() {
        let places = run.environment.of_job(index);
        let mut disks: Vec<Option<&str>> = places.iter().map(|&place| disk_of(place)).collect();
        disks.dedup();
        match disks.as_slice() {
            [] => {}
            &[Some(name)] => {
                let Some(disk) = all.iter_mut().find(|disk| disk.usage.name == name) else {
                    continue;
                };
                disk.users.push(DiskUser { index, spec, result });
                let kinds =
                    places.iter().filter_map(|&place| run.environment.places[place].file_system.as_deref());
                disk.file_systems.extend(kinds);
            }
            several => unusable.extend(several.iter().flatten()),
        }
    }
    all.retain(|disk| !disk.users.is_empty() && !unusable.contains(&disk.usage.name.as_str()));
    all
}
