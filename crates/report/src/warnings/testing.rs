//! Hand-made runs: ten seconds on a machine of 8 GiB with one disk, `vda`.

use std::path::PathBuf;
use std::time::Duration;

use ferrio_job::{FileKind, FileSpec, JobSpec, Plan};
use ferrio_machine::{BlockDevice, CpuThrottling, CpuUse, StorageLocation};
use ferrio_plan::testing::{self, default_job};
use ferrio_results::{DiskUsage, JobResult, Progress, RunResult};
use ferrio_stats::{DirectionRecorder, JobStats, TickSource};
use jiff::{Timestamp, tz::TimeZone};

use crate::model::Warning;
use crate::{Formats, ReportOptions, RunEnvironment, RunReport, TerseVersion};

/// A run under construction.
pub(super) struct TestRun {
    pub(super) plan: Plan,
    pub(super) result: RunResult,
    pub(super) environment: RunEnvironment,
    pub(super) cpu: CpuUse,
    pub(super) throttling: CpuThrottling,
}

impl TestRun {
    /// A run without jobs on an idle machine.
    pub(super) fn new() -> Self {
        let device = BlockDevice { disk_name: "vda".to_owned(), ..BlockDevice::default() };
        let place = StorageLocation {
            mount_point: Some(PathBuf::from("/data")),
            file_system: Some("ext4".to_owned()),
            device: Some(device),
            ..StorageLocation::default()
        };
        let mut environment = RunEnvironment { places: vec![place], ..RunEnvironment::default() };
        environment.host.memory_bytes = Some(8 << 30);
        TestRun {
            plan: Plan::default(),
            result: RunResult {
                elapsed: Duration::from_secs(10),
                clock: TickSource::Tsc,
                ..RunResult::default()
            },
            environment,
            cpu: CpuUse { all_us: 20_000_000, busy_us: 1_000_000, own_us: 900_000, ..CpuUse::default() },
            throttling: CpuThrottling { watched: Duration::from_secs(10), ..CpuThrottling::default() },
        }
    }

    /// Adds a job without files.
    pub(super) fn job(self, name: &str, stats: JobStats) -> Self {
        self.job_with(name, stats, |_| {})
    }

    /// Adds a job without files, changed by `change`.
    pub(super) fn job_with(self, name: &str, stats: JobStats, change: impl Fn(&mut JobSpec)) -> Self {
        self.add(name, stats, change, Vec::new())
    }

    /// Adds a job with files on the disk.
    pub(super) fn on_disk(self, name: &str, stats: JobStats, change: impl Fn(&mut JobSpec)) -> Self {
        self.add(name, stats, change, vec![0])
    }

    /// Sets the activity of a disk.
    pub(super) fn disk(mut self, usage: DiskUsage) -> Self {
        self.result.disks.push(usage);
        self
    }

    /// Marks the run as still running.
    pub(super) fn running(mut self) -> Self {
        self.result.progress = Some(Progress { elapsed: self.result.elapsed, jobs: Vec::new() });
        self
    }

    fn add(mut self, name: &str, stats: JobStats, change: impl Fn(&mut JobSpec), places: Vec<usize>) -> Self {
        let mut spec = default_job(name);
        change(&mut spec);
        self.plan.jobs.extend(testing::plan([spec]).jobs);
        self.result.jobs.push(JobResult { start_ms: 1, stats, ..JobResult::default() });
        self.environment.places_of.push(places);
        self
    }

    /// All warnings about the run.
    pub(super) fn all_warnings(&self) -> Vec<Warning> {
        let options = ReportOptions {
            time: Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC),
            environment: self.environment.clone(),
            cpu: self.cpu,
            throttling: self.throttling,
            ..ReportOptions::new(Formats::default(), TerseVersion::default(), "")
        };
        RunReport::new(&self.plan, &self.result, &options).warnings().to_vec()
    }

    /// The warnings with this code.
    pub(super) fn warnings(&self, code: &str) -> Vec<Warning> {
        self.all_warnings().into_iter().filter(|warning| warning.code == code).collect()
    }
}

/// `ios` reads of 4 KiB in `runtime_ms`.
pub(super) fn reading(ios: u64, runtime_ms: u64) -> JobStats {
    let mut stats = JobStats::default();
    let mut read = DirectionRecorder::new(true, true, true, true);
    (read.ios, read.bytes) = (ios, ios * 4096);
    (0..ios).for_each(|at| read.record_synchronous(1000 + at));
    stats.directions[0] = read.finish(runtime_ms);
    stats.job_runtime_ms = runtime_ms;
    stats
}

/// Ten seconds of reading and writing this many bytes.
pub(super) fn moving(read: u64, written: u64) -> JobStats {
    let mut stats = reading(read / 4096, 10_000);
    let mut write = DirectionRecorder::new(true, true, true, true);
    (write.ios, write.bytes) = (written / 4096, written);
    stats.directions[1] = write.finish(10_000);
    stats.job_runtime_ms = 10_000;
    stats
}

/// `vda` after reading and writing this many bytes.
pub(super) fn disk(read: u64, written: u64) -> DiskUsage {
    DiskUsage { name: "vda".to_owned(), sectors: [read / 512, written / 512], ..DiskUsage::default() }
}

/// Lets a job verify what it writes.
pub(super) fn verifying(spec: &mut JobSpec) {
    spec.verify = Some(testing::verify_of("verify=crc32c\n"));
}

/// A file of this many bytes.
pub(super) fn file(size: u64) -> FileSpec {
    FileSpec { found: Some(size), extend: false, ..testing::file("/data/f", FileKind::Regular, size) }
}

#[test]
fn ten_seconds_of_direct_random_reads_have_no_warning() {
    let direct = |spec: &mut JobSpec| {
        (spec.engine, spec.opening.direct) = (ferrio_job::EngineKind::Psync, true);
        spec.rw = ferrio_job::ReadWrite::RandRead;
    };
    let case = TestRun::new().disk(disk(40 << 20, 64 << 10)).on_disk("a", moving(40 << 20, 0), direct);
    assert_eq!(case.all_warnings(), []);
}
