//! Rules about a database: its options, its model, and the model together with the files.

use std::fmt::Display;

use ferrio_job::{
    Choice as _, CommitSync, Database, DatabaseLog, DatabaseModel, Diagnostic, EngineKind, JobSpec,
    PageWriteBack, TableWriteBack, WriteBack, counted, exact_bytes, short_bytes,
};
use ferrio_jobfile::{Amount, Job, Opt, OptionScope, preset_options};

use super::files::DatabaseFiles;
use super::{BACKGROUND_BUFFERS, most_in_flight};
use crate::as_written::{name, note, refuse};
use crate::findings::Findings;

const CONFLICT: &str = "database-options-conflict";

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
pub(super) const MAX_PAGE_BYTES: u64 = 16 << 20;
/// The largest I/O of the write-back in bytes.
const MAX_BATCH_BYTES: u64 = 256 << 20;
/// Direct I/O is in units of at least this many bytes.
const SECTOR: u64 = 512;
/// An LSM tree (`rocksdb`) has at least this many tables, because merges read several and write several.
const MIN_TABLES: u64 = 4;

/// Reports a conflict between options: the options, the message, and what to do.
type ReportConflict<'a> = dyn FnMut(&[Opt], String, &str) + 'a;

/// Rules about the options as written.
pub(super) fn check_options(job: &Job, model: DatabaseModel, spec: &JobSpec, findings: &mut Findings) {
    refuse_options_of_other_models(job, model, findings);
    if !ENGINES.contains(&spec.engine) {
        let engine = spec.engine.word();
        let message = format!("ioengine={engine} cannot share the files of a database between jobs");
        let help = format!("use one of {}", ENGINES.map(EngineKind::word).join(", "));
        refuse(findings, job, &[Opt::Ioengine], "engine-without-shared-files", message, &help);
    }
    if spec.limits.runtime.is_zero() && !job.options.is_given(Opt::Transactions) && !spec.layout.create_only {
        let message = "nothing ends the transactions of this job";
        let help = "set `runtime`, `transactions` or both";
        refuse(findings, job, &[Opt::Workload], "database-without-end", message, help);
    }
    let mut report =
        |opts: &[Opt], message: String, help: &str| refuse(findings, job, opts, CONFLICT, message, help);
    let [read, write, _] = spec.block.0.each_ref().map(|block| block.min);
    if read != write {
        let [read, write] = [read, write].map(exact_bytes);
        let message = format!("bs gives reads {read} and writes {write}, but pages have one size");
        let help = "give one size, such as bs=16k; `log_block` is that of appends to the log";
        report(&[Opt::Bs], message, help);
    }
    if read == 0 || read > MAX_PAGE_BYTES {
        let help = format!("set 1 byte to {}", exact_bytes(MAX_PAGE_BYTES));
        report(&[Opt::Bs], format!("bs={read} is no size of a page"), &help);
    }
    let page_reads = job.options.given(Opt::PageReads).filter(|given| given.origin != job.origin);
    if page_reads.is_some() && job.options.is_given(Opt::BufferPool) {
        let message = "buffer_pool and page_reads both say what a transaction reads".to_owned();
        let help =
            "remove one: with `buffer_pool`, `pages_used` is the number of pages that a transaction uses";
        report(&[Opt::PageReads, Opt::BufferPool], message, help);
    }
}

fn refuse_options_of_other_models(job: &Job, model: DatabaseModel, findings: &mut Findings) {
    for given in job.options.all().filter(|given| given.opt.row().scope == OptionScope::Database) {
        let opt = given.opt;
        let has_presets = preset_options().any(|other| other == opt);
        let is_lacking = has_presets && opt.preset(model).is_none();
        if !is_lacking && (model != DatabaseModel::Rocksdb || opt != Opt::DoubleWriteFilename) {
            continue;
        }
        let having = DatabaseModel::ALL.iter().filter(|other| opt.preset(**other).is_some());
        let having: Vec<_> = having.map(|other| format!("workload={other}")).collect();
        let message = format!("workload={model} has no `{}`", opt.row().name);
        let problem = Diagnostic::error(message, given.origin.clone()).code("option-of-other-database");
        let problem = problem.label("remove the option").job(name(job));
        findings.refuse(match having.is_empty() {
            true => problem,
            false => problem.help(format!("it belongs to {}", having.join(", "))),
        });
    }
}

/// Rules about the model.
pub(super) fn check_model(job: &Job, database: &Database, findings: &mut Findings) {
    let mut report =
        |opts: &[Opt], message: String, help: &str| refuse(findings, job, opts, CONFLICT, message, help);
    if let WriteBack::Pages(pages) = &database.write_back {
        check_checkpoint(job, pages, database.log.size, &mut report);
    }
    let page = u64::from(database.page);
    if database.direct && page % SECTOR != 0 {
        let message = format!("direct I/O is in multiples of {SECTOR} bytes, and bs={page} is none");
        report(&[Opt::Bs, Opt::Direct], message, "set another `bs`, or direct=0");
    }
    let DatabaseLog { block, appends, size, full_pages, direct } = database.log;
    let longest = if full_pages { page.max(block.into()) } else { block.into() };
    if size < longest {
        let message =
            format!("log_size={} has no room for an append of {}", exact_bytes(size), exact_bytes(longest));
        report(&[Opt::LogSize, Opt::LogBlock, Opt::Bs], message, "set a larger `log_size`");
    }
    let aligned = u64::from(block) % SECTOR == 0 && (!full_pages || page % SECTOR == 0);
    if direct && !aligned {
        let message = format!(
            "log_direct=1 needs appends of a multiple of {SECTOR} bytes, and log_block={block} is none"
        );
        report(&[Opt::LogBlock, Opt::LogDirect], message, "set another `log_block`, or log_direct=0");
    }
    if size >= longest && database.full_log().is_some() {
        check_full_log(database, &mut report);
    }
    if appends == 0 && database.commit.sync != CommitSync::None {
        let message = "log_appends=0 leaves a commit nothing to make durable".to_owned();
        report(&[Opt::LogAppends], message, "add commit_sync=none, or set `log_appends` to at least 1");
    }
    match &database.write_back {
        WriteBack::Pages(pages) => check_pages(page, pages, &mut report),
        WriteBack::Tables(tables) => check_tables(page, size, tables, &mut report),
    }
}

fn check_checkpoint(job: &Job, pages: &PageWriteBack, log_size: u64, report: &mut ReportConflict<'_>) {
    if let Some(Amount::Zones(_)) = job.options.if_given(Opt::CheckpointLog) {
        let message = "checkpoint_log is in zones, which a log does not have".to_owned();
        report(&[Opt::CheckpointLog], message, "give bytes or percent of `log_size`");
    }
    if let Some(log) = pages.checkpoint.log.filter(|&log| log > log_size) {
        let message = format!(
            "checkpoint_log={} is more than log_size={}: the log is full before the checkpoint",
            exact_bytes(log),
            exact_bytes(log_size)
        );
        report(&[Opt::CheckpointLog, Opt::LogSize], message, "set at most the size of the log");
    }
}

/// Refuses a log that is too small for what a transaction and a checkpoint append.
fn check_full_log(database: &Database, report: &mut ReportConflict<'_>) {
    let (size, block) = (database.log.size, u64::from(database.log.block));
    let needed = database.most_appended().saturating_add(block);
    // Up to half of the log is kept free for a transaction and the block of a checkpoint.
    if size / 2 < needed {
        let message = format!(
            "log_size={} is less than twice the {} that a transaction and a checkpoint append: changes would be overwritten",
            exact_bytes(size),
            exact_bytes(needed),
        );
        let help = "set a larger `log_size`; without checkpoints (checkpoint_log=0 and checkpoint_interval=0) the log protects nothing";
        report(&[Opt::LogSize, Opt::LogAppends, Opt::LogBlock], message, help);
    }
}

fn check_pages(page: u64, pages: &PageWriteBack, report: &mut ReportConflict<'_>) {
    let batch = page.saturating_mul(pages.batch.into());
    if batch > MAX_BATCH_BYTES {
        let message = format!(
            "write_back_batch={} has {}, and at most {} are written back together",
            pages.batch,
            exact_bytes(batch),
            exact_bytes(MAX_BATCH_BYTES)
        );
        report(&[Opt::WriteBackBatch, Opt::Bs], message, "set a smaller `write_back_batch`");
    }
    if let Some(area) = pages.double_write.filter(|&area| area < batch) {
        let message = format!(
            "double_write_size={} has no room for a batch of {} (write_back_batch={})",
            exact_bytes(area),
            exact_bytes(batch),
            pages.batch
        );
        let help = "set a larger `double_write_size` or a smaller `write_back_batch`";
        report(&[Opt::DoubleWriteSize, Opt::WriteBackBatch, Opt::Bs], message, help);
    }
    // Transactions wait when `most_dirty` + 1 pages are changed. That also starts the cleaner, with a batch that is not full.
    let most_changed = u64::from(pages.most_dirty) + 1;
    if pages.interval.is_zero() && most_changed < u64::from(pages.batch) {
        let pages_changed = counted(most_changed, "page");
        let are = if most_changed == 1 { "is" } else { "are" };
        let message = format!(
            "a batch of {} never fills: transactions already wait when {pages_changed} {are} changed",
            pages.batch
        );
        let help = "set `dirty_pages` to at least `write_back_batch`, or a smaller `write_back_batch`";
        report(&[Opt::DirtyPages, Opt::WriteBackBatch], message, help);
    }
}

fn check_tables(page: u64, log_size: u64, tables: &TableWriteBack, report: &mut ReportConflict<'_>) {
    let (table, block) = (tables.table, u64::from(tables.block));
    if table % page != 0 || table == 0 {
        let message = format!("table_size={} is no multiple of bs={}", exact_bytes(table), exact_bytes(page));
        report(&[Opt::TableSize, Opt::Bs], message, "set a multiple of the size of a page");
    }
    if block > table {
        let message = format!(
            "write_back_batch gives I/Os of {}, more than table_size={}",
            exact_bytes(block),
            exact_bytes(table)
        );
        report(&[Opt::WriteBackBatch, Opt::TableSize], message, "set a smaller `write_back_batch`");
    }
    let most = u64::from(tables.most_waiting).saturating_add(1);
    if log_size < table.saturating_mul(most) {
        let message = format!(
            "log_size={} is less than the {most} tables of {} that may wait: the log of the oldest would be lost",
            exact_bytes(log_size),
            exact_bytes(table)
        );
        let help = "set a larger `log_size`, or a smaller `table_size` or `waiting_tables`";
        report(&[Opt::LogSize, Opt::TableSize, Opt::WaitingTables], message, help);
    }
}

/// Rules about the model and its files.
pub(crate) fn check_files(job: &Job, database: &Database, files: &DatabaseFiles, findings: &mut Findings) {
    note_depth(job, database, findings);
    let mut report =
        |opts: &[Opt], message: String, help: &str| refuse(findings, job, opts, CONFLICT, message, help);
    let data = database.data_size();
    if let Some(pool) = job.options.if_given(Opt::BufferPool).filter(|&pool| pool > data) {
        let message = format!(
            "buffer_pool={} is more than the {} of data: nothing would be read",
            short_bytes(pool),
            short_bytes(data)
        );
        let help = "set a smaller `buffer_pool` or a larger `size`; page_reads=0 reads nothing";
        report(&[Opt::BufferPool, Opt::Size], message, help);
    }
    let tables = u64::from(database.data_files);
    if database.table_size().is_some() && tables < MIN_TABLES {
        let message = format!(
            "size={} has room for {}, and merging needs at least {MIN_TABLES}",
            exact_bytes(data),
            counted(tables, "table")
        );
        let help =
            format!("set `size` to at least {MIN_TABLES} times `table_size`, or a smaller `table_size`");
        report(&[Opt::Size, Opt::TableSize], message, &help);
    }
    let mut in_blocks = |device: Option<u64>,
                         bytes: u32,
                         of: &dyn Display,
                         what: &str,
                         opts: &[Opt],
                         help| {
        if let Some(block) = device.filter(|&block| u64::from(bytes) % block != 0) {
            let blocks = exact_bytes(block);
            let message = format!(
                "direct I/O on the device of {of} is in blocks of {blocks}, and {what} is no multiple of that"
            );
            report(opts, message, help);
        }
    };
    let (page, log) = (database.page, &database.log);
    let log_device = files.log_direct_block.filter(|_| log.direct);
    let what = format!("log_block={}", log.block);
    let help = "set a larger `log_block`, or log_direct=0";
    in_blocks(log_device, log.block, &"the log", &what, &[Opt::LogBlock, Opt::LogDirect], help);
    let opts = [Opt::Bs, Opt::FullPageWrites, Opt::LogDirect];
    let what = format!("bs={page} of whole pages in it");
    let help = "set a larger `bs`, full_page_writes=0 or log_direct=0";
    in_blocks(log_device.filter(|_| log.full_pages), page, &"the log", &what, &opts, help);
    let device = files.direct_block.filter(|_| database.direct);
    let path = files.files.first().map_or_else(String::new, |file| file.path.display().to_string());
    let help = "set a larger `bs`, or direct=0";
    in_blocks(device, page, &path, &format!("bs={page}"), &[Opt::Bs, Opt::Direct], help);
}

/// Notes that `iodepth` is more than the buffers of the cleaner have room for.
fn note_depth(job: &Job, database: &Database, findings: &mut Findings) {
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
