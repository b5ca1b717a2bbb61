//! The tests of sysbench as plans: the same resolved jobs as those of job files, one for each thread, that share a load.
//!
//! The options of a test are plain data here: the front end reads the command line and reports what is wrong with it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ferrio_job::{
    BlockSizes, Depth, EngineKind, EventKind, EventLoad, EventPart, EventWork, ExitWhat, Fadvise, Fallocate,
    FileSpec, Fileio, FileioMode, JobSpec, OpenSync, Origin, PerDirection, Plan, PlannedJob, PlannedSection,
    ReadWrite, Seeding, Sessions, Tuning,
};
use ferrio_jobfile::{Builder, Environment};
use ferrio_machine::Machine;

use crate::PlanOptions;
use crate::findings::Findings;
use crate::resolve::resolve;
use crate::work;

/// The options that all tests of sysbench share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SysbenchRun {
    /// `--threads`, at least 1.
    pub threads: u32,
    /// `--events`; `None` without a limit.
    pub events: Option<u64>,
    /// `--time`, zero without a limit.
    pub time: Duration,
    /// `--rate`: mean events per second; `None` if each thread begins an event when it has ended the one before.
    pub rate: Option<f64>,
    /// `--rand-seed`; `None` for another one in each run.
    pub seed: Option<u64>,
    /// Percentiles are computed, and each event takes a random number for that.
    pub has_percentile: bool,
}

/// `--file-test-mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileTest {
    /// `seqwr`: writes new files.
    SequentialCreate,
    /// `seqrewr`
    SequentialRewrite,
    /// `seqrd`
    SequentialRead,
    /// `rndrd`
    RandomRead,
    /// `rndwr`
    RandomWrite,
    /// `rndrw`
    RandomMix,
}

/// `--file-io-mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileIoMode {
    /// `sync`
    Sync,
    /// `async`
    Async {
        /// `--file-async-backlog`, at least 1.
        backlog: u32,
    },
    /// `mmap`
    Mmap,
}

/// The test `fileio` as its options ask for it, with every value in range.
#[derive(Clone, Debug, PartialEq)]
pub struct SysbenchFileio {
    /// The options of all tests.
    pub run: SysbenchRun,
    /// `--file-test-mode`
    pub test: FileTest,
    /// `--file-io-mode`
    pub io_mode: FileIoMode,
    /// `--file-num`, at least 1.
    pub files: u32,
    /// `--file-total-size` in bytes, at least one for each file.
    pub total_size: u64,
    /// `--file-block-size` in bytes, at least 1 and below 4 GiB.
    pub block: u64,
    /// `--file-merged-requests`; with the size of a block at most 4 GiB - 1.
    pub merged_requests: u32,
    /// `--file-rw-ratio`
    pub rw_ratio: f64,
    /// `--file-fsync-freq`
    pub fsync_freq: u64,
    /// `--file-fsync-all`
    pub fsync_all: bool,
    /// `--file-fsync-end`
    pub fsync_end: bool,
    /// `--file-fsync-mode=fdatasync`
    pub fdatasync: bool,
    /// `--validate`
    pub validate: bool,
    /// `--file-extra-flags`
    pub flags: OpenFlags,
}

/// Flags that files are opened with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFlags {
    /// `sync`
    pub sync: bool,
    /// `dsync`
    pub dsync: bool,
    /// `direct`
    pub direct: bool,
}

impl OpenFlags {
    /// The stronger of `sync` and `dsync`.
    #[must_use]
    pub fn open_sync(self) -> OpenSync {
        match self {
            OpenFlags { sync: true, .. } => OpenSync::Sync,
            OpenFlags { dsync: true, .. } => OpenSync::Dsync,
            _ => OpenSync::None,
        }
    }
}

impl SysbenchFileio {
    /// Bytes of each file that the test uses.
    #[must_use]
    pub fn file_size(&self) -> u64 {
        self.total_size / u64::from(self.files.max(1))
    }

    /// Path of file number `index`.
    #[must_use]
    pub fn file_name(index: u32) -> PathBuf {
        PathBuf::from(format!("test_file.{index}"))
    }
}

/// The plan of the test `fileio`: a job for each thread, all in one group.
#[must_use]
pub fn plan(asked: &SysbenchFileio) -> Plan {
    let kind = EventKind::Fileio(load_of(asked));
    plan_of("fileio", fileio_job(asked), &asked.run, kind)
}

/// The plan of a test whose events are work without I/O.
#[must_use]
pub fn plan_work(name: &str, run: &SysbenchRun, work: EventWork) -> Plan {
    plan_of(name, job_without_io(), run, EventKind::Work(work))
}

/// The plan of a test whose events the front end performs itself.
#[must_use]
pub fn plan_sessions(name: &str, run: &SysbenchRun, sessions: Sessions) -> Plan {
    plan_of(name, job_without_io(), run, EventKind::Sessions(sessions))
}

fn job_without_io() -> JobSpec {
    let mut spec = default_spec();
    spec.engine = EngineKind::Cpuio;
    work::leave_out_io(&mut spec);
    spec
}

/// A job for each thread of a test, like `job`, that does its part of the events of `kind`.
fn plan_of(name: &str, job: JobSpec, run: &SysbenchRun, kind: EventKind) -> Plan {
    let SysbenchRun { threads, events, time, rate, seed, .. } = *run;
    let load = Arc::new(EventLoad { id: 0, limit: events, rate, seed, kind });
    let jobs: Vec<PlannedJob> = (0..threads)
        .map(|thread| {
            let mut spec = JobSpec {
                name: name.to_owned(),
                number: thread + 1,
                clone: thread,
                clones: threads,
                group_reporting: true,
                thread: true,
                events: Some(EventPart { load: Arc::clone(&load), thread }),
                ..job.clone()
            };
            spec.limits.runtime = time;
            // A thread that fails ends the test.
            spec.life.exitall_on_error = true;
            spec.life.exit_what = ExitWhat::All;
            PlannedJob { spec, setup_error: None }
        })
        .collect();
    let section = PlannedSection {
        name: name.to_owned(),
        origin: Origin::Builtin,
        jobs: 0..jobs.len(),
        group: 0,
        phase: 1,
    };
    Plan { jobs, sections: vec![section], ..Plan::default() }
}

/// The requests and syncs.
fn load_of(asked: &SysbenchFileio) -> Fileio {
    let mode = match asked.test {
        FileTest::SequentialCreate | FileTest::SequentialRewrite => FileioMode::SequentialWrite,
        FileTest::SequentialRead => FileioMode::SequentialRead,
        FileTest::RandomRead => FileioMode::RandomRead,
        FileTest::RandomWrite => FileioMode::RandomWrite,
        FileTest::RandomMix => FileioMode::RandomMix,
    };
    let load = Fileio {
        mode,
        block: asked.block,
        sequential_block: asked.block.saturating_mul(u64::from(asked.merged_requests.max(1))),
        files: asked.files,
        file_size: asked.file_size(),
        total_size: asked.total_size,
        rw_ratio: asked.rw_ratio,
        sync_every: 0,
        sync_each_write: false,
        sync_at_end: false,
        sync_data_only: asked.fdatasync,
        validate: asked.validate,
        creates: asked.test == FileTest::SequentialCreate,
        extra_draw: asked.run.has_percentile,
    };
    // A sync after each write makes all others unnecessary, and what only reads has nothing to sync.
    match (load.writes(), asked.fsync_all) {
        (false, _) => load,
        (true, true) => Fileio { sync_each_write: true, ..load },
        (true, false) => Fileio { sync_every: asked.fsync_freq, sync_at_end: asked.fsync_end, ..load },
    }
}

/// The job of a thread, without its number and load.
fn fileio_job(asked: &SysbenchFileio) -> JobSpec {
    let file_size = asked.file_size();
    let file = |index| FileSpec {
        path: SysbenchFileio::file_name(index),
        size: file_size,
        real_size: file_size,
        ..FileSpec::default()
    };
    let (engine, backlog) = match asked.io_mode {
        FileIoMode::Sync => (EngineKind::Psync, 1),
        FileIoMode::Async { backlog } => (EngineKind::Libaio, backlog),
        FileIoMode::Mmap => (EngineKind::Mmap, 1),
    };
    let longest = load_of(asked).largest_request();
    let block = BlockSizes { min: longest, max: longest, align: longest };
    let mut spec = default_spec();
    spec.rw = match asked.test {
        FileTest::SequentialCreate | FileTest::SequentialRewrite => ReadWrite::Write,
        FileTest::SequentialRead => ReadWrite::Read,
        FileTest::RandomRead => ReadWrite::RandRead,
        FileTest::RandomWrite => ReadWrite::RandWrite,
        FileTest::RandomMix => ReadWrite::RandMixed,
    };
    spec.block = PerDirection([block.clone(), block.clone(), block]);
    spec.random_map = false;
    spec.files = (0..asked.files).map(file).collect();
    spec.layout.files_are_named = true;
    spec.opening.openfiles = asked.files;
    spec.limits.size = file_size.saturating_mul(u64::from(asked.files));
    spec.engine = engine;
    spec.engine_options.libaio.userspace_reap = false;
    spec.engine_options.libaio.blocking_syncs = true;
    spec.engine_options.mmap.invalidating_syncs = true;
    spec.depth = Depth { iodepth: backlog, batch: 1, complete_min: 1, complete_max: backlog, low: backlog };
    spec.opening.direct = asked.flags.direct;
    spec.opening.open_sync = asked.flags.open_sync();
    spec.opening.invalidate = false;
    spec.opening.fadvise = Fadvise::None;
    spec.layout.fallocate = Fallocate::None;
    spec.layout.allow_file_create = false;
    // Blocks with checksums are filled with random bytes, all others are zeros or what was read last.
    spec.buffer.zero = !asked.validate;
    spec.buffer.refill = asked.validate;
    spec.buffer.scramble = false;
    spec.seeding = Seeding::FromSystem;
    spec.memory.align = 4096;
    // As sysbench does.
    spec.tuning = Tuning::Fio;
    spec.memory.transparent_huge = false;
    // Blocks with checksums must stay as they are until they are written or compared.
    spec.memory.one_for_all = !asked.validate;
    // An event has its own latency; that of its I/O is the other one that is reported.
    spec.measure.slat = false;
    spec.measure.lat = false;
    spec
}

/// A job without options.
fn default_spec() -> JobSpec {
    let mut builder = Builder::new(Environment::default());
    builder.file("sysbench", b"[sysbench]\n");
    let set = builder.finish().ok();
    let job = set.as_ref().and_then(|set| set.jobs.first());
    let resolved =
        |job| resolve(job, &Machine::ask(), &PlanOptions::default(), None, &mut Findings::default());
    job.and_then(resolved).map(|draft| draft.spec).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(test: FileTest) -> SysbenchFileio {
        SysbenchFileio {
            run: SysbenchRun { threads: 2, events: Some(9), has_percentile: true, ..SysbenchRun::default() },
            test,
            io_mode: FileIoMode::Sync,
            files: 3,
            total_size: 100 << 10,
            block: 16384,
            merged_requests: 2,
            rw_ratio: 1.5,
            fsync_freq: 100,
            fsync_all: false,
            fsync_end: true,
            fdatasync: false,
            validate: false,
            flags: OpenFlags::default(),
        }
    }

    fn fileio_of(plan: &Plan) -> Fileio {
        match &plan.jobs[0].spec.events.as_ref().unwrap().load.kind {
            EventKind::Fileio(fileio) => fileio.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn threads_share_a_load_and_all_files() {
        let plan = plan(&asked(FileTest::RandomMix));
        assert_eq!((plan.jobs.len(), plan.sections[0].jobs.clone()), (2, 0..2));
        let part = |job: usize| plan.jobs[job].spec.events.clone().unwrap();
        assert!(Arc::ptr_eq(&part(0).load, &part(1).load));
        assert_eq!((part(0).thread, part(1).thread, part(0).load.limit), (0, 1, Some(9)));
        let files = &plan.jobs[1].spec.files;
        assert_eq!(files.len(), 3);
        assert_eq!(
            (files[2].path.to_str(), files[2].size, files[2].extend),
            (Some("test_file.2"), 34133, false)
        );
        assert!(!plan.jobs[0].spec.opens_on_demand());
    }

    #[test]
    fn merged_requests_lengthen_sequential_ones_only() {
        let longest = |test| plan(&asked(test)).jobs[0].spec.max_buffer();
        assert_eq!(longest(FileTest::SequentialRead), 32768);
        assert_eq!(longest(FileTest::RandomRead), 16384);
    }

    #[test]
    fn a_sync_after_each_write_replaces_the_others_and_readers_have_none() {
        let syncs = |asked: &SysbenchFileio| {
            let load = fileio_of(&plan(asked));
            (load.sync_every, load.sync_each_write, load.sync_at_end)
        };
        assert_eq!(syncs(&asked(FileTest::RandomWrite)), (100, false, true));
        let all = SysbenchFileio { fsync_all: true, ..asked(FileTest::RandomWrite) };
        assert_eq!(syncs(&all), (0, true, false));
        assert_eq!(syncs(&asked(FileTest::RandomRead)), (0, false, false));
        assert_eq!(
            syncs(&SysbenchFileio { fsync_all: true, ..asked(FileTest::SequentialRead) }),
            (0, false, false)
        );
    }

    #[test]
    fn the_backlog_is_the_depth_of_the_queue_and_each_event_submits() {
        let asynchronous =
            SysbenchFileio { io_mode: FileIoMode::Async { backlog: 7 }, ..asked(FileTest::RandomRead) };
        let spec = plan(&asynchronous).jobs.remove(0).spec;
        assert_eq!((spec.engine, spec.units()), (EngineKind::Libaio, 7));
        assert_eq!((spec.depth.batch, spec.depth.complete_min, spec.depth.complete_max), (1, 1, 7));
    }
}
