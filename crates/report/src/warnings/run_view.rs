//! The input of warnings: jobs, the places they work on, and the data that they moved compared with that of their disks.

use ferrio_job::{Direction, JobSpec, OpenSync, Plan};
use ferrio_machine::{CpuThrottling, CpuUse, StorageLocation};
use ferrio_results::{DiskUsage, JobResult, RunResult};

use crate::database::{DatabaseModelRun, databases, is_database_job};
use crate::environment::RunEnvironment;
use crate::messages::job_names;
use crate::model::JobReport;
use crate::num::{NumberUnit, Prefixes, num};

/// The input of warnings.
pub(crate) struct RunView<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) result: &'a RunResult,
    pub(crate) environment: &'a RunEnvironment,
    pub(crate) cpu: CpuUse,
    pub(crate) throttling: CpuThrottling,
    /// The entries of the report.
    pub(crate) entries: &'a [JobReport],
}

/// A case of a warning.
pub(super) struct Finding {
    /// Plan indices of the affected jobs; empty for the whole run.
    pub(super) jobs: Vec<usize>,
    pub(super) message: String,
    pub(super) help: &'static str,
}

/// Load from others is not evaluated in shorter runs.
const MIN_OBSERVED_MS: u128 = 1000;

impl<'a> RunView<'a> {
    /// All jobs with their results.
    pub(super) fn jobs(&self) -> impl Iterator<Item = (usize, &'a JobSpec, &'a JobResult)> {
        let specs = self.plan.jobs.iter().map(|job| &job.spec);
        specs.zip(&self.result.jobs).enumerate().map(|(index, (spec, result))| (index, spec, result))
    }

    /// The jobs whose figures the report shows.
    pub(super) fn reported(&self) -> impl Iterator<Item = (usize, &'a JobSpec, &'a JobResult)> {
        self.jobs().filter(|(_, spec, _)| spec.measure.reported)
    }

    /// The advice for these jobs: `for_databases` if all of them belong to database models.
    pub(super) fn help_for(
        &self,
        jobs: &[usize],
        for_databases: &'static str,
        for_others: &'static str,
    ) -> &'static str {
        let is_database = |&job: &usize| is_database_job(&self.plan.jobs[job].spec);
        if jobs.iter().all(is_database) { for_databases } else { for_others }
    }

    /// The database models that the report has.
    pub(super) fn reported_databases(&self) -> impl Iterator<Item = DatabaseModelRun<'a>> {
        databases(self.plan, self.result).into_iter().filter(DatabaseModelRun::is_reported)
    }

    /// True if the run is over, so that its figures are final.
    pub(super) fn is_over(&self) -> bool {
        self.result.progress.is_none()
    }

    /// True if a job has files on a block device.
    pub(super) fn is_on_device(&self, job: usize) -> bool {
        let has_device =
            |&place: &usize| self.environment.places.get(place).is_some_and(|place| place.device.is_some());
        self.environment.of_job(job).iter().any(has_device)
    }

    /// True if the run is long enough to evaluate load from others.
    pub(super) fn is_long_enough(&self) -> bool {
        self.result.elapsed.as_millis() >= MIN_OBSERVED_MS
    }

    /// Names of jobs in order, without duplicates.
    pub(super) fn names(&self, jobs: &[usize]) -> Vec<String> {
        job_names(self.plan, jobs.iter().copied())
    }

    /// Jobs as the subject of a message: `a`, or `64 jobs (a)`.
    pub(super) fn who(&self, jobs: &[usize]) -> String {
        const SHOWN: usize = 3;
        let names = self.names(jobs);
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        let shown = names[..names.len().min(SHOWN)].join(", ");
        if jobs.len() == 1 { shown } else { format!("{} jobs ({shown}{more})", jobs.len()) }
    }
}

/// Formats bytes for people.
pub(super) fn bytes(bytes: u64) -> String {
    num(bytes, 4, Prefixes::Binary, NumberUnit::Bytes)
}

/// Sector size of disk statistics, in bytes.
const SECTOR_BYTES: u64 = 512;

/// A disk with the jobs that use only this disk.
pub(super) struct DiskTraffic<'a> {
    pub(super) usage: &'a DiskUsage,
    pub(super) users: Vec<DiskUser<'a>>,
    /// Types of the file systems of the users' files.
    pub(super) file_systems: Vec<&'a str>,
}

/// A job on a disk.
pub(super) struct DiskUser<'a> {
    pub(super) index: usize,
    pub(super) spec: &'a JobSpec,
    pub(super) result: &'a JobResult,
}

impl DiskUser<'_> {
    /// Bytes that the job moved. I/Os that do something else to a file, and writes that a job skips because it only verifies, are counted
    /// as I/Os but move nothing.
    pub(super) fn bytes(&self, direction: Direction) -> u64 {
        let only_counted = direction == Direction::Write && self.spec.only_verifies();
        if only_counted || !self.spec.engine.moves_data() {
            return 0;
        }
        self.result.stats.directions[direction as usize].bytes
    }

    /// True if the job does I/O in this direction, moved bytes, and is in the report.
    pub(super) fn is_measured(&self, direction: Direction) -> bool {
        self.spec.measure.reported && self.spec.rw.does(direction) && self.bytes(direction) > 0
    }

    /// True if the job's writes are on the device when it ends.
    pub(super) fn is_durable(&self) -> bool {
        let has_synced = self.result.stats.sync.ios > 0;
        // The jobs of a database sync when its model says so.
        if self.spec.database().is_some() {
            return has_synced;
        }
        let durability = &self.spec.durability;
        let at_the_end = durability.end_fsync || durability.end_syncfs || durability.fsync_on_close;
        // A job may be over before its first sync is due.
        let synced = self.spec.opening.open_sync != OpenSync::None || has_synced;
        self.spec.is_durable() && (at_the_end || synced)
    }

    /// True if the job's I/O in this direction uses the page cache.
    pub(super) fn is_cached(&self, direction: Direction) -> bool {
        self.spec.is_buffered() && self.bytes(direction) > 0
    }
}

impl DiskTraffic<'_> {
    /// Bytes that the disk read or wrote.
    pub(super) fn disk_bytes(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.usage.sectors[0].saturating_mul(SECTOR_BYTES),
            Direction::Write => self.usage.sectors[1].saturating_mul(SECTOR_BYTES),
            Direction::Trim => 0,
        }
    }

    /// Bytes moved by the jobs for which `count` holds.
    pub(super) fn job_bytes(&self, direction: Direction, count: impl Fn(&DiskUser<'_>) -> bool) -> u64 {
        self.users.iter().filter(|user| count(user)).map(|user| user.bytes(direction)).sum()
    }
}

/// Name of a disk without usable counters: the kernel does not count there, or the file system may bypass it (DAX).
pub(super) fn uncounted(place: &StorageLocation) -> Option<&str> {
    let device = place.device.as_ref()?;
    (device.uncounted || device.disk_name.starts_with("pmem")).then_some(device.disk_name.as_str())
}

/// All disks whose jobs use no other disk: the distribution of a job's data over several disks is unknown.
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
