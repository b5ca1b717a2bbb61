//! Models of databases: several workers that share a load, each on a thread of its own.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use ferrio_engine_psync::Psync;
use ferrio_engine_uring::Uring;
use ferrio_job::{
    BlockSizes, Checkpoint, Commit, CommitSync, Database, DatabaseFile, DatabaseLog, DatabaseModel,
    DatabaseRole, EventKind, EventLoad, EventPart, PageReads, PageWriteBack, TableWriteBack, TransactionStep,
    WriteBack, WriteBackSync,
};
use ferrio_results::{DatabaseFigures, DatabaseIo};
use ferrio_stats::Latency;
use nix::time::{ClockId, clock_gettime};

use super::*;

const PAGE: u32 = 4096;

/// Two sessions on 64 pages; each transaction reads three, appends once and changes one.
fn database() -> Database {
    Database {
        model: DatabaseModel::Innodb,
        sessions: 2,
        page: PAGE,
        data_files: 2,
        pages_per_file: 32,
        direct: false,
        reads: PageReads::Count(3.0),
        cpu: Duration::ZERO,
        skew: None,
        log: DatabaseLog { block: 512, appends: 1, size: 64 << 10, full_pages: false, direct: false },
        commit: Commit { sync: CommitSync::Fdatasync, group: 1 },
        write_back: WriteBack::Pages(page_write_back()),
    }
}

fn page_write_back() -> PageWriteBack {
    PageWriteBack {
        changed: 1.0,
        most_dirty: 16,
        batch: 4,
        double_write: Some(32 << 10),
        sync: WriteBackSync::Fsync,
        interval: Duration::ZERO,
        checkpoint: Checkpoint { log: None, interval: None },
    }
}

/// The jobs of a model in this directory.
fn jobs_of(database: &Database, limit: Option<u64>, directory: &Path) -> Vec<JobSpec> {
    let kind = EventKind::Database(Box::new(database.clone()));
    let load = Arc::new(EventLoad { id: 1, limit, rate: None, seed: Some(1), kind });
    let sized =
        |name: String, size| FileSpec { extend: true, ..file(directory.join(name), FileKind::Regular, size) };
    let data_size = u64::from(database.page) * database.pages_per_file;
    let mut files: Vec<_> = (0..database.data_files).map(|n| sized(format!("data.{n}"), data_size)).collect();
    files.push(sized("log".to_owned(), database.log.size));
    if let WriteBack::Pages(PageWriteBack { double_write: Some(size), .. }) = database.write_back {
        files.push(sized("doublewrite".to_owned(), size));
    }
    let job = |(thread, role)| {
        let longest = database.largest_io(role);
        let block = BlockSizes { min: longest, max: longest, align: longest };
        let mut spec = job_on(files[0].clone(), "database", ReadWrite::RandMixed);
        spec.engine = EngineKind::Psync;
        spec.files = files.clone();
        spec.block = PerDirection([block.clone(), block.clone(), block]);
        spec.random_map = false;
        spec.opening.openfiles = files.len() as u32;
        spec.layout.create_serialize = true;
        spec.events = Some(EventPart { load: Arc::clone(&load), thread });
        spec
    };
    (0..).zip(database.roles()).map(job).collect()
}

/// What the driver of the tests does when it hears from a job.
type OnStart<'a> = &'a (dyn Fn(&[JobControl]) + Sync);

/// Runs the workers of a load together, each with a loop of its own.
fn work_together<E: Engine>(specs: &[JobSpec], during: OnStart<'_>) -> Vec<JobResult> {
    let (sender, messages) = sync_channel(1024);
    let gate = Arc::new(Gate::default());
    gate.expect(specs.len());
    let plan = plan(specs.iter().cloned());
    let cgroups = Cgroups::of(&plan);
    let groups = EventGroups::new(&plan, 0);
    let mut content = LayoutContent::new(&specs[0], [0; SEEDS]).unwrap();
    FileLayout { spec: &specs[0], content: &mut content, stop: &|| false, note: &mut |_| {} }
        .lay_out()
        .unwrap();
    let controls: Vec<JobControl> = specs.iter().map(|_| JobControl::default()).collect();
    let controls: &'static [JobControl] = controls.leak();
    let mut results: Vec<Option<JobResult>> = specs.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for (index, spec) in specs.iter().enumerate() {
            groups.open_files(index, spec, &mut |_| {}).unwrap();
            let (gate, sender) = (Arc::clone(&gate), sender.clone());
            let bare = bare_context(&cgroups, (index, spec), &controls[index], gate, sender);
            let context = Context { events: groups.of(index), ..bare };
            scope.spawn(move || run(context, E::open));
        }
        during(controls);
        while results.iter().any(Option::is_none) {
            if let Message::Ended { index, result, .. } = messages.recv().unwrap() {
                groups.ended(index, &specs[index], result.error.is_some());
                results[index] = Some(*result);
            }
        }
    });
    results.into_iter().flatten().collect()
}

/// What all jobs of a load have come to.
#[derive(Debug, Default)]
struct Totals {
    transactions: u64,
    latency: Latency,
    database: DatabaseFigures,
}

impl Totals {
    fn of(results: &[JobResult]) -> Self {
        let mut totals = Totals::default();
        for result in results {
            assert_eq!(result.error, None);
            let events = result.events.as_deref().unwrap();
            totals.transactions += events.latency.count();
            totals.latency.merge(&events.latency);
            let (all, one) = (&mut totals.database, events.database.as_ref().unwrap());
            all.steps.iter_mut().zip(&one.steps).for_each(|(all, one)| all.merge(one));
            for (all, one) in all.files.iter_mut().zip(&one.files) {
                all.reads += one.reads;
                all.read_bytes += one.read_bytes;
                all.writes += one.writes;
                all.written_bytes += one.written_bytes;
                all.syncs += one.syncs;
            }
            all.pool_hits += one.pool_hits;
            all.full_pages += one.full_pages;
            all.written_back += one.written_back;
            all.checkpoints += one.checkpoints;
        }
        totals
    }

    fn io(&self, file: DatabaseFile) -> DatabaseIo {
        self.database.files[file as usize]
    }
}

/// What the jobs of a model come to that do so many transactions.
fn totals(database: &Database, transactions: u64) -> Totals {
    let directory = TempDir::new().unwrap();
    let jobs = jobs_of(database, Some(transactions), directory.path());
    let totals = Totals::of(&work_together::<Psync>(&jobs, &|_| {}));
    assert_eq!(totals.transactions, transactions);
    totals
}

#[test]
fn the_ios_of_transactions_are_those_of_the_formulae() {
    let totals = totals(&database(), 200);
    let io = |reads, writes, written_bytes, syncs| DatabaseIo {
        reads,
        read_bytes: reads * u64::from(PAGE),
        writes,
        written_bytes,
        syncs,
    };
    let data = totals.io(DatabaseFile::Data);
    assert_eq!(data, io(600, 200, 200 * 4096, data.syncs));
    assert_eq!(totals.io(DatabaseFile::Log), io(0, 200, 200 * 512, 200), "each commit has a sync of its own");
    assert_eq!(totals.io(DatabaseFile::DoubleWrite).written_bytes, 200 * 4096);
    assert_eq!(totals.database.written_back, 200);
    let batches = totals.io(DatabaseFile::DoubleWrite).writes;
    assert!((50..=51).contains(&batches), "full ones, and what was left at the end: {batches}");
    assert_eq!(totals.io(DatabaseFile::DoubleWrite).syncs, batches);
    assert!(
        (batches..=2 * batches).contains(&data.syncs),
        "each of the files that were written to: {data:?}"
    );
}

#[test]
fn the_times_of_the_steps_add_up_to_the_latency_of_transactions() {
    let totals = totals(&database(), 300);
    assert!(totals.database.steps.iter().all(|step| step.count() == 300));
    let steps: u128 = totals.database.steps.iter().map(Latency::sum).sum();
    let all = totals.latency.sum();
    assert!(steps <= all && all - steps < all / 10, "{steps} of {all} ns");
    assert!(totals.database.steps[TransactionStep::Sync as usize].min() > 0);
}

#[test]
fn a_transaction_uses_the_cpu_for_as_long_as_it_is_told() {
    let cpu = Duration::from_micros(300);
    let began = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap();
    let totals = totals(&Database { cpu, ..database() }, 200);
    let used = Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap() - began);
    assert!(used >= 200 * cpu, "{used:?}");
    let computed = &totals.database.steps[TransactionStep::Compute as usize];
    assert_eq!(computed.count(), 200);
    // I/O uses a part of the CPU time, also that of the cleaner.
    let sum = computed.sum();
    assert!(sum > 200 * 10_000 && sum < totals.latency.sum(), "{sum} ns");
}

#[test]
fn one_sync_serves_all_that_wait_for_it() {
    let grouped = Database {
        sessions: 8,
        reads: PageReads::Count(0.0),
        commit: Commit { sync: CommitSync::Fsync, group: 0 },
        ..database()
    };
    let totals = totals(&grouped, 800);
    let syncs = totals.io(DatabaseFile::Log).syncs;
    assert!((100..=800).contains(&syncs), "{syncs} for 800 commits of 8 sessions");
}

#[test]
fn a_log_that_needs_no_sync_gets_none() {
    for sync in [CommitSync::Dsync, CommitSync::None] {
        let unsynced = Database { commit: Commit { sync, group: 1 }, ..database() };
        assert_eq!(totals(&unsynced, 50).io(DatabaseFile::Log).syncs, 0);
    }
}

#[test]
fn the_log_is_open_with_o_dsync_if_that_makes_it_durable_and_each_kind_of_file_with_its_own_flags() {
    let directory = TempDir::new().unwrap();
    let mut durable = database();
    durable.commit.sync = CommitSync::Dsync;
    durable.log.direct = true;
    let jobs = jobs_of(&durable, Some(1), directory.path());
    let groups = EventGroups::new(&plan(jobs.iter().cloned()), 0);
    jobs[0].files.iter().for_each(|file| std::fs::write(&file.path, vec![0; file.size as usize]).unwrap());
    groups.open_files(0, &jobs[0], &mut |_| {}).unwrap();
    let files = Arc::clone(groups.of(0).unwrap().files().unwrap());
    let flags = |file: &ferrio_engine::OpenFile| {
        let fd = file.fd.as_deref().unwrap();
        nix::fcntl::fcntl(fd, nix::fcntl::FcntlArg::F_GETFL).unwrap() & (libc::O_DIRECT | libc::O_DSYNC)
    };
    let all: Vec<_> = files.files.iter().map(flags).collect();
    assert_eq!(all, [0, 0, libc::O_DIRECT | libc::O_DSYNC, 0]);
}

#[test]
fn an_asynchronous_engine_does_the_same_with_several_pages_in_flight() {
    let directory = TempDir::new().unwrap();
    let mut jobs = jobs_of(&database(), Some(100), directory.path());
    for spec in &mut jobs {
        spec.engine = EngineKind::IoUring;
    }
    jobs[2].depth = ferrio_job::Depth { iodepth: 4, batch: 4, complete_min: 1, complete_max: 4, low: 4 };
    let results = work_together::<Uring>(&jobs, &|_| {});
    let totals = Totals::of(&results);
    assert_eq!((totals.io(DatabaseFile::Data).reads, totals.io(DatabaseFile::Data).writes), (300, 100));
    assert_eq!((totals.io(DatabaseFile::Log).writes, totals.io(DatabaseFile::Log).syncs), (100, 100));
    let depths = &results[2].stats.depth;
    assert!(depths.0[2] > 0, "{depths:?}");
}

#[test]
fn what_is_read_with_a_pool_is_what_it_does_not_hold() {
    let pooled = Database { reads: PageReads::Pool { pages: 32, touched: 10 }, ..database() };
    let totals = totals(&pooled, 100);
    assert_eq!(totals.io(DatabaseFile::Data).reads + totals.database.pool_hits, 1000);
    assert!(
        (350..650).contains(&totals.database.pool_hits),
        "half of the pages: {}",
        totals.database.pool_hits
    );
}

/// A store with four tables of 16 KiB.
fn store() -> Database {
    let write_back = TableWriteBack {
        table: 16 << 10,
        block: 8 << 10,
        amplification: 3.0,
        sync: WriteBackSync::Fdatasync,
        most_waiting: 1,
    };
    Database {
        model: DatabaseModel::Rocksdb,
        data_files: 4,
        pages_per_file: 4,
        write_back: WriteBack::Tables(write_back),
        ..database()
    }
}

#[test]
fn a_store_writes_its_tables_as_often_as_its_amplification_says() {
    let totals = totals(&store(), 320);
    let data = totals.io(DatabaseFile::Data);
    assert_eq!(totals.database.written_back, 10, "320 appends of 512 bytes are ten tables");
    assert_eq!(data.written_bytes, 10 * 3 * (16 << 10));
    assert_eq!(
        data.read_bytes,
        320 * 3 * u64::from(PAGE) + 10 * 2 * (16 << 10),
        "merges read what they write"
    );
    assert_eq!(data.syncs, 30, "one for each table");
}

#[test]
fn checkpoints_and_whole_pages_are_counted() {
    let mut logged = database();
    logged.log.full_pages = true;
    logged.write_back = WriteBack::Pages(PageWriteBack {
        checkpoint: Checkpoint { log: Some(20 << 10), interval: None },
        ..page_write_back()
    });
    let totals = totals(&logged, 200);
    let (log, counts) = (totals.io(DatabaseFile::Log), &totals.database);
    assert!(counts.checkpoints > 2, "{counts:?}");
    assert_eq!(log.writes, 200 + counts.full_pages + counts.checkpoints);
    let whole_pages = counts.full_pages * u64::from(PAGE);
    assert_eq!(log.written_bytes, (200 + counts.checkpoints) * 512 + whole_pages);
    assert_eq!(log.syncs, 200 + counts.checkpoints);
}

/// Syncs that are left until they fail, by file.
static GOOD_SYNCS: [AtomicU64; 4] = [const { AtomicU64::new(u64::MAX) }; 4];

/// The engine psync, whose syncs fail when [`GOOD_SYNCS`] says so.
struct SometimesUnsynced(Psync);

impl Engine for SometimesUnsynced {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        Ok(SometimesUnsynced(Psync::open(spec, buffers)?))
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.0.attach(files)
    }

    fn submit(&mut self, request: &Request) -> Submit {
        let is_sync = !request.op.moves_data();
        if is_sync && GOOD_SYNCS[request.file as usize].fetch_sub(1, SeqCst) == 0 {
            return Submit::Done(-i64::from(libc::EIO));
        }
        self.0.submit(request)
    }
}

#[test]
fn a_sync_that_fails_ends_all_jobs_and_only_the_one_that_did_it_failed() {
    for (file, role) in [(2, DatabaseRole::Session), (3, DatabaseRole::Cleaner)] {
        let directory = TempDir::new().unwrap();
        let waiting = Database { sessions: 6, ..database() };
        let mut jobs = jobs_of(&waiting, None, directory.path());
        for spec in &mut jobs {
            spec.tolerance.write = vec![libc::EIO];
        }
        GOOD_SYNCS[file].store(20, SeqCst);
        let results = work_together::<SometimesUnsynced>(&jobs, &|_| {});
        GOOD_SYNCS[file].store(u64::MAX, SeqCst);
        let failed: Vec<_> = (0..results.len()).filter(|&index| results[index].error.is_some()).collect();
        assert_eq!((failed.len(), errno(&results[failed[0]])), (1, Some(libc::EIO)));
        let part = jobs[failed[0]].events.as_ref().unwrap();
        assert_eq!(part.database().unwrap().1, role);
    }
}

#[test]
fn a_session_that_never_begins_ends_the_load() {
    let directory = TempDir::new().unwrap();
    let mut jobs = jobs_of(&database(), None, directory.path());
    let needed = jobs[1].max_buffer();
    jobs[1].block.0.iter_mut().for_each(|block| block.max = needed - 512);
    jobs[1].block.0.iter_mut().for_each(|block| block.min = needed - 512);
    let results = work_together::<Psync>(&jobs, &|_| {});
    let errors: Vec<_> = results.iter().map(errno).collect();
    assert_eq!(errors, [None, Some(libc::EINVAL), None], "its buffers are too short for a page");
}

/// The sessions of a model without a cleaner: after their first transactions all wait.
fn stuck(directory: &Path) -> Vec<JobSpec> {
    let write_back = PageWriteBack { most_dirty: 2, ..page_write_back() };
    let database = Database { write_back: WriteBack::Pages(write_back), sessions: 3, ..database() };
    let mut jobs = jobs_of(&database, None, directory);
    jobs.truncate(3);
    jobs
}

#[test]
fn jobs_that_wait_are_stopped() {
    let directory = TempDir::new().unwrap();
    let jobs = stuck(directory.path());
    let results = work_together::<Psync>(&jobs, &|controls| {
        let writes = || controls.iter().map(|control| control.live.ios()[1]).sum::<u64>();
        while writes() < 3 {
            std::thread::yield_now();
        }
        controls.iter().for_each(JobControl::request_stop);
    });
    assert!(results.iter().all(|result| result.error.is_none()));
}

#[test]
fn jobs_that_wait_end_when_the_time_is_up() {
    let directory = TempDir::new().unwrap();
    let mut jobs = stuck(directory.path());
    for spec in &mut jobs {
        spec.limits.runtime = Duration::from_millis(60);
    }
    let results = work_together::<Psync>(&jobs, &|_| {});
    assert!(results.iter().all(|result| result.error.is_none()));
}

#[test]
fn the_figures_begin_again_at_the_end_of_the_ramp() {
    let directory = TempDir::new().unwrap();
    let mut jobs = jobs_of(&database(), None, directory.path());
    for spec in &mut jobs {
        spec.limits.ramp_time = Duration::from_millis(150);
        spec.limits.runtime = Duration::from_millis(50);
    }
    let results = work_together::<Psync>(&jobs, &|_| {});
    let totals = Totals::of(&results);
    let data = totals.io(DatabaseFile::Data);
    let [reads, writes] = [0, 1]
        .map(|direction| results.iter().map(|result| result.stats.directions[direction].ios).sum::<u64>());
    // What was in flight when a job began again is counted in one place only.
    assert!(data.reads.abs_diff(reads) <= 3, "{data:?}, {reads} reads");
    let written: u64 = totals.database.files.iter().map(|io| io.writes).sum();
    assert!(written.abs_diff(writes) <= 6, "{written} of {writes}");
    assert!(totals.database.steps.iter().all(|step| step.count() == totals.transactions));
    assert!(totals.transactions <= data.reads / 3 + 2 && totals.database.written_back <= data.writes + 4);
}
