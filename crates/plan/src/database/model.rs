//! The model of a database from its options, and what is wrong with it.

use std::time::Duration;

use ferrio_job::{
    Checkpoint, Choice as _, Commit, CommitSync, Database, DatabaseLog, DatabaseModel, Diagnostic,
    Distribution, EngineKind, FileSpec, JobSpec, PageReads, PageWriteBack, TableWriteBack, WriteBack,
    WriteBackSync, counted, exact_bytes, short_bytes,
};
use ferrio_jobfile::{Amount, Job, Opt, OptionScope, OptionValue};

use super::{BACKGROUND_BUFFERS, most_in_flight};
use crate::as_written::{name, note, refuse};
use crate::findings::Findings;

/// Engines whose jobs can share the files of a database.
const ENGINES: [EngineKind; 6] = [
    EngineKind::Psync,
    EngineKind::Pvsync,
    EngineKind::Pvsync2,
    EngineKind::Libaio,
    EngineKind::IoUring,
    EngineKind::Posixaio,
];
/// The largest page in bytes.
const MAX_PAGE: u64 = 16 << 20;
/// The largest I/O of the write-back in bytes.
const MAX_BATCH: u64 = 256 << 20;
/// Direct I/O is in units of at least this many bytes.
const SECTOR: u64 = 512;
/// Tables that a store has at least: merges read several and write several.
const MIN_TABLES: u64 = 4;

/// What the options say, as long as the files are not known.
pub(crate) struct Parameters {
    /// Without figures of the files.
    database: Database,
    /// Transactions over all sessions.
    pub(super) transactions: Option<u64>,
    /// Arrivals per second over all sessions.
    pub(super) rate: Option<f64>,
    /// Bytes of the buffer pool, which holds at most all pages.
    pool: Option<u64>,
    /// `table_size`, of a store of tables.
    pub(super) table: Option<u64>,
    /// Bytes of the double-write area, if there is one.
    pub(super) double_write: Option<u64>,
}

impl Parameters {
    /// The parameters of a job with the defaults of its model. What is wrong is reported.
    pub(crate) fn of(job: &Job, model: DatabaseModel, spec: &JobSpec, findings: &mut Findings) -> Self {
        check_options(job, model, findings);
        check_engine(job, spec, findings);
        check_end(job, spec, findings);
        let page = page(job, spec, findings);
        let pool = value::<u64>(job, Opt::BufferPool);
        let touched = number(job, Opt::PagesUsed);
        let reads = match pool {
            Some(bytes) => {
                pool_or_reads(job, findings);
                PageReads::Pool { pages: (bytes / u64::from(page)).max(1), touched }
            }
            None => PageReads::Count(number(job, Opt::PageReads)),
        };
        let log = DatabaseLog {
            block: number(job, Opt::LogBlock),
            appends: number(job, Opt::LogAppends),
            size: value(job, Opt::LogSize).unwrap_or(0),
            full_pages: value(job, Opt::FullPageWrites).unwrap_or(false),
            direct: value(job, Opt::LogDirect).unwrap_or(false),
        };
        let commit = Commit {
            sync: job.options.chosen(Opt::CommitSync).unwrap_or(CommitSync::None),
            group: number(job, Opt::GroupCommit),
        };
        let sync = job.options.chosen(Opt::WriteBackSync).unwrap_or(WriteBackSync::None);
        let batch: u32 = number(job, Opt::WriteBackBatch);
        let write_back = if model == DatabaseModel::Rocksdb {
            WriteBack::Tables(TableWriteBack {
                table: value(job, Opt::TableSize).unwrap_or(0),
                block: page.saturating_mul(batch),
                amplification: value(job, Opt::WriteAmplification).unwrap_or(1.0),
                sync,
                most_waiting: number(job, Opt::WaitingTables),
            })
        } else {
            let changed = number(job, Opt::PagesChanged);
            let is_doubled = changed > 0 && value(job, Opt::DoubleWrite).unwrap_or(false);
            WriteBack::Pages(PageWriteBack {
                changed,
                most_dirty: number(job, Opt::DirtyPages),
                batch,
                double_write: value(job, Opt::DoubleWriteSize).filter(|_| is_doubled),
                sync,
                interval: value(job, Opt::WriteBackInterval).unwrap_or_default(),
                checkpoint: checkpoint(job, log.size, findings),
            })
        };
        let database = Database {
            model,
            sessions: number::<u32>(job, Opt::Numjobs).max(1),
            page,
            data_files: 1,
            pages_per_file: 1,
            direct: spec.opening.direct,
            reads,
            skew: match spec.distribution {
                Distribution::Skewed(skew) => Some(skew),
                _ => None,
            },
            log,
            commit,
            write_back,
        };
        check_model(job, &database, findings);
        let double_write = match &database.write_back {
            WriteBack::Pages(pages) => pages.double_write,
            WriteBack::Tables(_) => None,
        };
        let table = match &database.write_back {
            WriteBack::Pages(_) => None,
            WriteBack::Tables(tables) => Some(tables.table),
        };
        Parameters {
            database,
            transactions: value(job, Opt::Transactions),
            rate: value::<f64>(job, Opt::TransactionRate).filter(|&rate| rate > 0.0),
            pool,
            table,
            double_write,
        }
    }

    /// The model as far as it is known.
    pub(super) fn model(&self) -> &Database {
        &self.database
    }

    /// The whole model.
    pub(super) fn database(&self, files: &DatabaseFiles) -> Database {
        Database {
            data_files: files.data_files,
            pages_per_file: files.pages_per_file,
            ..self.database.clone()
        }
    }
}

/// The files that all jobs of a database have, in order: data, log, double-write area.
pub(crate) struct DatabaseFiles {
    pub(crate) files: Vec<FileSpec>,
    /// The first so many have the data.
    pub(super) data_files: u32,
    /// Pages in each of them.
    pub(super) pages_per_file: u64,
    /// The smallest unit of direct I/O where the data is, if that is known.
    pub(super) direct_block: Option<u64>,
    /// The same where the log is.
    pub(super) log_direct_block: Option<u64>,
}

/// The rules about the model and its files.
pub(crate) fn check_resolved(
    job: &Job,
    parameters: &Parameters,
    files: &DatabaseFiles,
    findings: &mut Findings,
) {
    let database = parameters.database(files);
    check_depth(job, &database, findings);
    let data = database.data_size();
    if let Some(pool) = parameters.pool.filter(|&pool| pool > data) {
        let message = format!(
            "buffer_pool={} is more than the {} of data: nothing would be read",
            short_bytes(pool),
            short_bytes(data)
        );
        let help = "set a smaller `buffer_pool` or a larger `size`; page_reads=0 reads nothing";
        refuse(findings, job, &[Opt::BufferPool, Opt::Size], CONFLICT, message, help);
    }
    if parameters.table.is_some() && u64::from(files.data_files) < MIN_TABLES {
        let message = format!(
            "size={} has room for {}, and merging needs at least {MIN_TABLES}",
            exact_bytes(data),
            counted(files.data_files.into(), "table")
        );
        let help =
            format!("set `size` to at least {MIN_TABLES} times `table_size`, or a smaller `table_size`");
        refuse(findings, job, &[Opt::Size, Opt::TableSize], CONFLICT, message, &help);
    }
    if let Some(block) = files.log_direct_block
        && database.log.direct
        && u64::from(database.log.block) % block != 0
    {
        let message = format!(
            "direct I/O on the device of the log is in blocks of {}, and log_block={} is no multiple of that",
            exact_bytes(block),
            database.log.block
        );
        let help = "set a larger `log_block`, or log_direct=0";
        refuse(findings, job, &[Opt::LogBlock, Opt::LogDirect], CONFLICT, message, help);
    }
    if let Some(block) = files.log_direct_block
        && database.log.direct
        && database.log.full_pages
        && u64::from(database.page) % block != 0
    {
        let message = format!(
            "direct I/O on the device of the log is in blocks of {}, and bs={} of whole pages in it is no multiple of that",
            exact_bytes(block),
            database.page
        );
        let help = "set a larger `bs`, full_page_writes=0 or log_direct=0";
        refuse(findings, job, &[Opt::Bs, Opt::FullPageWrites, Opt::LogDirect], CONFLICT, message, help);
    }
    if let Some(block) = files.direct_block
        && parameters.database.direct
        && u64::from(database.page) % block != 0
    {
        let message = format!(
            "direct I/O on the device of {} is in blocks of {}, and bs={} is no multiple of that",
            files.files.first().map_or_else(String::new, |file| file.path.display().to_string()),
            exact_bytes(block),
            database.page
        );
        refuse(findings, job, &[Opt::Bs, Opt::Direct], CONFLICT, message, "set a larger `bs`, or direct=0");
    }
}

/// Says if `iodepth` is more than the buffers of the cleaner have room for.
fn check_depth(job: &Job, database: &Database, findings: &mut Findings) {
    let Some(asked) = job.options.if_given::<u32>(Opt::Iodepth) else { return };
    let is_sync = EngineKind::from_word(job.options.engine()).is_none_or(|engine| engine.is_sync(asked));
    let most = most_in_flight(database);
    if !is_sync && most < asked.min(database.batch()) {
        let message = format!(
            "iodepth={asked} needs more than {} of buffers: the cleaner has {most} I/Os in flight, each with room for a batch of {} pages",
            exact_bytes(BACKGROUND_BUFFERS),
            database.batch()
        );
        let note = note(job, &[Opt::Iodepth], "cleaner-buffers", message);
        findings.note(note.help("set a smaller `write_back_batch` for more I/Os in flight"));
    }
}

const CONFLICT: &str = "database-options-conflict";

fn value<T: OptionValue>(job: &Job, opt: Opt) -> Option<T> {
    job.options.if_given(opt)
}

/// A number that the defaults of the model or the job give, else 0.
fn number<T: OptionValue>(job: &Job, opt: Opt) -> T {
    value(job, opt).unwrap_or_default()
}

/// Options that the model lacks.
fn check_options(job: &Job, model: DatabaseModel, findings: &mut Findings) {
    for given in job.options.all().filter(|given| given.opt.row().scope == OptionScope::Database) {
        let opt = given.opt;
        let lacks = match model {
            DatabaseModel::Rocksdb => opt == Opt::DoubleWriteFilename,
            _ => false,
        } || (ferrio_jobfile::preset_options().any(|other| other == opt)
            && opt.preset(model).is_none());
        if !lacks {
            continue;
        }
        let having = DatabaseModel::ALL.iter().filter(|other| opt.preset(**other).is_some());
        let having: Vec<_> = having.map(|other| format!("workload={other}")).collect();
        let option = opt.row().name;
        let message = format!("workload={model} has no `{option}`");
        let problem = Diagnostic::error(message, given.origin.clone()).code("option-of-other-database");
        let problem = problem.label("remove the option").job(name(job));
        findings.refuse(match having.is_empty() {
            true => problem,
            false => problem.help(format!("it belongs to {}", having.join(", "))),
        });
    }
}

fn check_engine(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if ENGINES.contains(&spec.engine) {
        return;
    }
    let engine = spec.engine.word();
    let message = format!("ioengine={engine} cannot share the files of a database between jobs");
    let names: Vec<_> = ENGINES.iter().map(|engine| engine.word()).collect();
    let help = format!("use one of {}", names.join(", "));
    refuse(findings, job, &[Opt::Ioengine], "engine-without-shared-files", message, &help);
}

fn check_end(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.limits.runtime.is_zero() && !job.options.is_given(Opt::Transactions) && !spec.layout.create_only {
        let message = "nothing ends the transactions of this job";
        refuse(
            findings,
            job,
            &[Opt::Workload],
            "database-without-end",
            message,
            "set `runtime`, `transactions` or both",
        );
    }
}

fn pool_or_reads(job: &Job, findings: &mut Findings) {
    let given = |opt: Opt| job.options.given(opt).filter(|given| given.origin != job.origin);
    if given(Opt::PageReads).is_some() {
        let message = "buffer_pool and page_reads both say what a transaction reads";
        let help =
            "remove one: with `buffer_pool`, `pages_used` is the number of pages that a transaction uses";
        refuse(findings, job, &[Opt::PageReads, Opt::BufferPool], CONFLICT, message, help);
    }
}

/// Bytes of a page.
fn page(job: &Job, spec: &JobSpec, findings: &mut Findings) -> u32 {
    let [read, write, _] = &spec.block.0;
    if read.min != write.min {
        let [read, write] = [read.min, write.min].map(exact_bytes);
        let message = format!("bs gives reads {read} and writes {write}, but pages have one size");
        let help = "give one size, such as bs=16k; `log_block` is that of appends to the log";
        refuse(findings, job, &[Opt::Bs], CONFLICT, message, help);
    }
    let page = read.min;
    if page == 0 || page > MAX_PAGE {
        let message = format!("bs={page} is no size of a page");
        let help = format!("set 1 byte to {}", exact_bytes(MAX_PAGE));
        refuse(findings, job, &[Opt::Bs], CONFLICT, message, &help);
    }
    u32::try_from(page.clamp(1, MAX_PAGE)).unwrap_or(u32::MAX)
}

/// When there is a checkpoint.
fn checkpoint(job: &Job, log_size: u64, findings: &mut Findings) -> Checkpoint {
    let log = match value(job, Opt::CheckpointLog) {
        Some(Amount::Bytes(bytes)) => bytes,
        Some(Amount::Percent(percent)) => (u128::from(log_size) * u128::from(percent) / 100) as u64,
        Some(Amount::Zones(_)) => {
            let message = "checkpoint_log is in zones, which a log does not have";
            refuse(
                findings,
                job,
                &[Opt::CheckpointLog],
                CONFLICT,
                message,
                "give bytes or percent of `log_size`",
            );
            0
        }
        None => 0,
    };
    if log > log_size {
        let message = format!(
            "checkpoint_log={} is more than log_size={}: the log is full before the checkpoint",
            exact_bytes(log),
            exact_bytes(log_size)
        );
        refuse(
            findings,
            job,
            &[Opt::CheckpointLog, Opt::LogSize],
            CONFLICT,
            message,
            "set at most the size of the log",
        );
    }
    let interval = value::<Duration>(job, Opt::CheckpointInterval).filter(|interval| !interval.is_zero());
    Checkpoint { log: Some(log).filter(|&log| log > 0), interval }
}

/// The rules about a model.
fn check_model(job: &Job, database: &Database, findings: &mut Findings) {
    let mut wrong =
        |opts: &[Opt], message: String, help: &str| refuse(findings, job, opts, CONFLICT, message, help);
    let page = u64::from(database.page);
    if database.direct && page % SECTOR != 0 {
        let message = format!("direct I/O is in multiples of {SECTOR} bytes, and bs={page} is none");
        wrong(&[Opt::Bs, Opt::Direct], message, "set another `bs`, or direct=0");
    }
    let DatabaseLog { block, appends, size, full_pages, direct } = database.log;
    let longest = if full_pages { page.max(block.into()) } else { block.into() };
    if size < longest {
        let message =
            format!("log_size={} has no room for an append of {}", exact_bytes(size), exact_bytes(longest));
        wrong(&[Opt::LogSize, Opt::LogBlock, Opt::Bs], message, "set a larger `log_size`");
    }
    let aligned = u64::from(block) % SECTOR == 0 && (!full_pages || page % SECTOR == 0);
    if direct && !aligned {
        let message = format!(
            "log_direct=1 needs appends of a multiple of {SECTOR} bytes, and log_block={block} is none"
        );
        wrong(&[Opt::LogBlock, Opt::LogDirect], message, "set another `log_block`, or log_direct=0");
    }
    if size >= longest && database.full_log().is_some() {
        check_full_log(database, &mut wrong);
    }
    if appends == 0 && database.commit.sync != CommitSync::None {
        let message = "log_appends=0 leaves a commit nothing to make durable".to_owned();
        wrong(&[Opt::LogAppends], message, "add commit_sync=none, or set `log_appends` to at least 1");
    }
    match &database.write_back {
        WriteBack::Pages(pages) => check_pages(page, pages, &mut wrong),
        WriteBack::Tables(tables) => check_tables(page, size, tables, &mut wrong),
    }
}

/// The log protects changes that are not written back.
fn check_full_log(database: &Database, wrong: &mut Wrong<'_>) {
    let (size, appended) = (database.log.size, database.most_appended());
    // A transaction and the block of a checkpoint are in the half that is kept free.
    if size / 2 < appended.saturating_add(database.log.block.into()) {
        let message = format!(
            "log_size={} is less than twice the {} that a transaction and a checkpoint append: changes would be overwritten",
            exact_bytes(size),
            exact_bytes(appended.saturating_add(database.log.block.into())),
        );
        let help = "set a larger `log_size`; without checkpoints (checkpoint_log=0 and checkpoint_interval=0) the log protects nothing";
        wrong(&[Opt::LogSize, Opt::LogAppends, Opt::LogBlock], message, help);
    }
}

type Wrong<'a> = dyn FnMut(&[Opt], String, &str) + 'a;

fn check_pages(page: u64, pages: &PageWriteBack, wrong: &mut Wrong<'_>) {
    let batch = page.saturating_mul(pages.batch.into());
    if batch > MAX_BATCH {
        let message = format!(
            "write_back_batch={} has {}, and at most {} are written back together",
            pages.batch,
            exact_bytes(batch),
            exact_bytes(MAX_BATCH)
        );
        wrong(&[Opt::WriteBackBatch, Opt::Bs], message, "set a smaller `write_back_batch`");
    }
    if let Some(area) = pages.double_write.filter(|&area| area < batch) {
        let message = format!(
            "double_write_size={} has no room for a batch of {} (write_back_batch={})",
            exact_bytes(area),
            exact_bytes(batch),
            pages.batch
        );
        let help = "set a larger `double_write_size` or a smaller `write_back_batch`";
        wrong(&[Opt::DoubleWriteSize, Opt::WriteBackBatch, Opt::Bs], message, help);
    }
    // Transactions wait once one page more is changed, and the cleaner then begins with what there is.
    let most_changed = u64::from(pages.most_dirty) + 1;
    if pages.interval.is_zero() && most_changed < u64::from(pages.batch) {
        let pages_changed = counted(most_changed, "page");
        let are = if most_changed == 1 { "is" } else { "are" };
        let message = format!(
            "a batch of {} never fills: transactions already wait when {pages_changed} {are} changed",
            pages.batch
        );
        let help = "set `dirty_pages` to at least `write_back_batch`, or a smaller `write_back_batch`";
        wrong(&[Opt::DirtyPages, Opt::WriteBackBatch], message, help);
    }
}

fn check_tables(page: u64, log_size: u64, tables: &TableWriteBack, wrong: &mut Wrong<'_>) {
    let (table, block) = (tables.table, u64::from(tables.block));
    if table % page != 0 || table == 0 {
        let message = format!("table_size={} is no multiple of bs={}", exact_bytes(table), exact_bytes(page));
        wrong(&[Opt::TableSize, Opt::Bs], message, "set a multiple of the size of a page");
    }
    if block > table {
        let message = format!(
            "write_back_batch gives I/Os of {}, more than table_size={}",
            exact_bytes(block),
            exact_bytes(table)
        );
        wrong(&[Opt::WriteBackBatch, Opt::TableSize], message, "set a smaller `write_back_batch`");
    }
    let most = u64::from(tables.most_waiting).saturating_add(1);
    if log_size < table.saturating_mul(most) {
        let message = format!(
            "log_size={} is less than the {most} tables of {} that may wait: the log of the oldest would be lost",
            exact_bytes(log_size),
            exact_bytes(table)
        );
        let help = "set a larger `log_size`, or a smaller `table_size` or `waiting_tables`";
        wrong(&[Opt::LogSize, Opt::TableSize, Opt::WaitingTables], message, help);
    }
}
