//! The I/O of a database per transaction, by the formulas of its model.

use ferrio_job::{
    Checkpoint, CommitSync, Database, DatabaseFile, DatabaseRole, EventLoad, JobSpec, PageReads,
    PageWriteBack, TableWriteBack, WriteBack, WriteBackSync,
};

use crate::model::{
    BackPressure, Certainty, CheckedCheckpoints, CheckedDatabase, CheckedDatabaseFiles, DatabaseVolume,
    ReadShare, TransactionIo, Volume,
};
use crate::section::CheckedSection;

/// Number of transactions whose volume is reported if the real number is unknown.
const SAMPLE_TRANSACTIONS: u64 = 1000;

/// The database of which a job is a session.
pub(crate) fn of(spec: &JobSpec) -> Option<CheckedDatabase> {
    let (load, database) = load_of(spec, |role| role == DatabaseRole::Session)?;
    let per_transaction = per_transaction(database);
    let log_bytes = f64::from(database.log.block) * f64::from(database.log.appends);
    let per_log = |bytes: u64| Some(bytes as f64 / log_bytes).filter(|_| log_bytes > 0.0);
    let expected = expected_transactions(spec, load);
    let transactions = expected.unwrap_or(SAMPLE_TRANSACTIONS);
    let moved = |reads: bool| {
        let bytes = sum(per_transaction.iter().filter(|io| io.reads == reads).map(|io| io.bytes));
        (bytes * transactions as f64).round() as u64
    };
    Some(CheckedDatabase {
        model: database.model.word(),
        sessions: database.sessions,
        transactions: load.limit,
        transactions_per_second: load.rate,
        page_bytes: database.page,
        pages: database.pages_per_file.saturating_mul(database.data_files.into()),
        files: files(spec, database),
        read_share: read_share(&per_transaction),
        transactions_per_log_lap: per_log(database.log.size),
        back_pressure: back_pressure(database),
        checkpoints: checkpoints_of(database).map(|checkpoint| {
            let log_bytes = checkpoint.log.into_iter().chain(database.full_log()).min();
            CheckedCheckpoints {
                log_bytes,
                transactions: log_bytes.and_then(per_log),
                seconds: checkpoint.interval.map(|interval| interval.as_secs_f64()),
            }
        }),
        volume: DatabaseVolume {
            transactions,
            is_expected: expected.is_some(),
            read: moved(true),
            read_bound: bound_of(&per_transaction, true, |io| io.bytes_bound),
            write: moved(false),
            write_bound: bound_of(&per_transaction, false, |io| io.bytes_bound),
        },
        per_transaction,
    })
}

/// The time of checkpoints, if there are any.
fn checkpoints_of(database: &Database) -> Option<Checkpoint> {
    let WriteBack::Pages(PageWriteBack { checkpoint, .. }) = database.write_back else { return None };
    (checkpoint.log.is_some() || checkpoint.interval.is_some()).then_some(checkpoint)
}

/// The job whose database a section serves in the background.
pub(crate) fn background_of<'a>(section: &CheckedSection<'a>) -> Option<&'a ferrio_jobfile::Job> {
    load_of(section.spec(), |role| role != DatabaseRole::Session).map(|_| section.job)
}

/// The volume of an instance of a database, if it is one.
pub(crate) fn volume(spec: &JobSpec) -> Option<Volume> {
    let (load, database) = load_of(spec, |_| true)?;
    let in_session = spec.database()?.1 == DatabaseRole::Session;
    let all = per_transaction(database);
    let mine = all.iter().filter(|io| io.in_session == in_session && is_of_role(io, spec));
    let Some(transactions) = expected_transactions(spec, load) else {
        let unknown = |reads: bool| {
            if mine.clone().any(|io| io.reads == reads && io.bytes > 0.0) { None } else { Some(0) }
        };
        let certainty = Certainty::Unknown;
        return Some(Volume { read: unknown(true), write: unknown(false), certainty, ..Volume::NOTHING });
    };
    // The remainder of the division is done by the first sessions.
    let sessions = u64::from(database.sessions.max(1));
    let share = match in_session {
        true => transactions / sessions + u64::from(u64::from(spec.clone) < transactions % sessions),
        false => transactions,
    };
    let is_at_most = load.limit.is_some() && !spec.limits.runtime.is_zero();
    // At most, each changed page is in the log too.
    let full_pages = match &database.write_back {
        WriteBack::Pages(pages) if is_at_most && in_session && database.log.full_pages => {
            pages.changed * f64::from(database.page)
        }
        _ => 0.0,
    };
    let moved = |reads: bool| {
        let bytes = sum(mine.clone().filter(|io| io.reads == reads).map(|io| io.bytes));
        let bytes = if reads { bytes } else { bytes + full_pages };
        Some((bytes * share as f64).round() as u64)
    };
    let certainty = match load.limit {
        Some(_) if is_at_most => Certainty::AtMost,
        Some(_) if mine.clone().all(|io| io.bytes_bound == Certainty::Exact || io.bytes == 0.0) => {
            Certainty::Exact
        }
        _ => Certainty::About,
    };
    Some(Volume { read: moved(true), write: moved(false), certainty, ..Volume::NOTHING })
}

/// Separates background I/Os of the flusher from those of the compactor.
fn is_of_role(io: &TransactionIo, spec: &JobSpec) -> bool {
    match spec.database() {
        Some((_, DatabaseRole::Flusher)) => io.what == NEW_TABLES,
        Some((_, DatabaseRole::Compactor)) => io.what != NEW_TABLES,
        _ => true,
    }
}

const NEW_TABLES: &str = "table writes";

fn load_of(spec: &JobSpec, wanted: fn(DatabaseRole) -> bool) -> Option<(&EventLoad, &Database)> {
    let part = spec.events.as_ref()?;
    let (database, role) = part.database()?;
    wanted(role).then_some((&*part.load, database))
}

/// The expected number of transactions, if it is known.
fn expected_transactions(spec: &JobSpec, load: &EventLoad) -> Option<u64> {
    let arriving = load.rate.map(|rate| (rate * spec.limits.runtime.as_secs_f64()).round() as u64);
    match (load.limit, arriving.filter(|&count| count > 0)) {
        (Some(limit), Some(arriving)) => Some(limit.min(arriving)),
        (Some(limit), None) => Some(limit),
        (None, arriving) => arriving,
    }
}

fn files(spec: &JobSpec, database: &Database) -> Vec<CheckedDatabaseFiles> {
    let dsync = database.commit.sync == CommitSync::Dsync;
    let of = |kind: DatabaseFile| {
        let sizes: Vec<u64> = (0..)
            .zip(&spec.files)
            .filter(|(index, _)| database.file_kind(*index) == kind)
            .map(|(_, file)| file.size)
            .collect();
        let (name, direct, dsync) = match kind {
            DatabaseFile::Data => ("data", database.direct, false),
            DatabaseFile::Log => ("log", database.log.direct, dsync),
            DatabaseFile::DoubleWrite => ("double-write", database.direct, false),
        };
        let files = u32::try_from(sizes.len()).unwrap_or(u32::MAX);
        CheckedDatabaseFiles { kind: name, files, bytes: sizes.iter().sum(), direct, dsync }
    };
    DatabaseFile::ALL.into_iter().map(of).filter(|kind| kind.files > 0).collect()
}

/// The certainty of a number of pages per transaction: a fraction is a mean, which some transactions exceed.
fn mean_certainty(pages: f64) -> Certainty {
    if pages.fract() == 0.0 { Certainty::Exact } else { Certainty::About }
}

/// The I/Os of a transaction.
fn per_transaction(database: &Database) -> Vec<TransactionIo> {
    let page = f64::from(database.page);
    let log_bytes = f64::from(database.log.block) * f64::from(database.log.appends);
    let (reads, bound, formula) = match database.reads {
        PageReads::Count(reads) => (reads, mean_certainty(reads), "r"),
        PageReads::Pool { pages, touched } => {
            let data = (database.pages_per_file.saturating_mul(database.data_files.into())).max(1);
            let missing = 1.0 - (pages as f64 / data as f64).min(1.0);
            // Popular pages are more often in the pool than others.
            let bound = if database.skew.is_some() { Certainty::AtMost } else { Certainty::About };
            (f64::from(touched) * missing, bound, "pages_used x (1 - buffer_pool/size)")
        }
    };
    let io = |what, ios, bytes, bound, formula| TransactionIo {
        in_session: true,
        ..background(what, ios, bytes, bound, formula)
    };
    let (full, appends) = match database.log.full_pages {
        true => (Certainty::AtLeast, "l, and a page at its first change after a checkpoint"),
        false => (Certainty::Exact, "l"),
    };
    let mut all = vec![
        TransactionIo { reads: true, ..io("page reads", reads, reads * page, bound, formula) },
        io("log writes", database.log.appends.into(), log_bytes, full, appends),
    ];
    if database.log.appends > 0 && matches!(database.commit.sync, CommitSync::Fsync | CommitSync::Fdatasync) {
        // At most as many transactions wait for a sync as there are sessions.
        let sessions = database.sessions.max(1);
        let (together, formula) = match database.commit.group {
            0 => (sessions, "1/T, all that wait share a sync"),
            group if group > sessions => (sessions, "1/min(g, T)"),
            group => (group, "1/g"),
        };
        let bound = if together == 1 { Certainty::Exact } else { Certainty::AtLeast };
        all.push(io("log syncs", 1.0 / f64::from(together), 0.0, bound, formula));
    }
    let in_background = match &database.write_back {
        WriteBack::Pages(pages) => pages_io(database, pages),
        WriteBack::Tables(tables) => tables_io(log_bytes, tables),
    };
    all.extend(in_background);
    all.retain(|io| io.ios > 0.0);
    all
}

/// Writes or syncs of a transaction that are done in the background.
fn background(
    what: &'static str,
    ios: f64,
    bytes: f64,
    bound: Certainty,
    formula: &'static str,
) -> TransactionIo {
    TransactionIo { what, ios, bytes, bound, bytes_bound: bound, formula, reads: false, in_session: false }
}

/// The background I/O for a transaction that changes pages.
fn pages_io(database: &Database, pages: &PageWriteBack) -> Vec<TransactionIo> {
    let changed = pages.changed;
    let bytes = changed * f64::from(database.page);
    let batch = f64::from(pages.batch.max(1));
    // Batches are full unless a time or a checkpoint ends them, and a pool merges changes of a waiting page.
    let merges = matches!(database.reads, PageReads::Pool { .. });
    let written = if merges { Certainty::AtMost } else { mean_certainty(changed) };
    let are_full = pages.interval.is_zero() && (pages.batch <= 1 || checkpoints_of(database).is_none());
    let bound = match (are_full, merges) {
        (true, _) => written,
        (false, false) => Certainty::AtLeast,
        (false, true) => Certainty::About,
    };
    let syncs = pages.sync != WriteBackSync::None;
    let mut all = Vec::new();
    if pages.double_write.is_some() {
        // Whether batches are full or not, each page is in one.
        let writes = background("double writes", changed / batch, bytes, bound, "p/b");
        all.push(TransactionIo { bytes_bound: written, ..writes });
        if syncs {
            all.push(background("double-write syncs", changed / batch, 0.0, bound, "p/b"));
        }
    }
    let formula = if merges { "p, less what the pool merges" } else { "p" };
    all.push(background("page writes", changed, bytes, written, formula));
    if syncs {
        let files = f64::from(database.data_files);
        // The number of files with at least one page of a batch.
        let touched = files * (1.0 - (1.0 - 1.0 / files).powf(batch));
        let together = pages.interval.is_zero() || pages.double_write.is_some();
        all.push(match (together, database.data_files) {
            (true, 1) => background("data syncs", changed / batch, 0.0, bound, "p/b"),
            (true, _) => background(
                "data syncs",
                changed / batch * touched,
                0.0,
                Certainty::About,
                "p/b x files of a batch",
            ),
            (false, _) => {
                background("data syncs", changed, 0.0, Certainty::AtMost, "one for each file and interval")
            }
        });
    }
    all
}

/// The background I/O for the bytes that a transaction appends to the log.
fn tables_io(log_bytes: f64, tables: &TableWriteBack) -> Vec<TransactionIo> {
    let block = f64::from(tables.block.max(1));
    let merged = log_bytes * (tables.amplification - 1.0);
    let io = |what, bytes: f64, reads, formula| TransactionIo {
        reads,
        ..background(what, bytes / block, bytes, Certainty::About, formula)
    };
    let mut all = vec![
        io(NEW_TABLES, log_bytes, false, "bytes of the log / block"),
        io("merge reads", merged, true, "bytes of the log x (amplification - 1) / block"),
        io("merge writes", merged, false, "bytes of the log x (amplification - 1) / block"),
    ];
    if tables.sync != WriteBackSync::None {
        let ios = log_bytes * tables.amplification / tables.table.max(1) as f64;
        let formula = "bytes of the log x amplification / table";
        all.push(TransactionIo { ios, ..io("table syncs", 0.0, false, formula) });
    }
    all
}

fn read_share(all: &[TransactionIo]) -> ReadShare {
    let moving = || all.iter().filter(|io| io.bytes > 0.0);
    let share = |figure: fn(&TransactionIo) -> f64| {
        let reads = sum(moving().filter(|io| io.reads).map(figure));
        let all = sum(moving().map(figure));
        if all > 0.0 { reads / all } else { 0.0 }
    };
    let bound = match (bound_of(all, true, |io| io.bound), bound_of(all, false, |io| io.bound)) {
        _ if moving().all(|io| !io.reads) => Certainty::Exact,
        (Certainty::Exact, Certainty::Exact) => Certainty::Exact,
        (Certainty::Exact | Certainty::AtMost, Certainty::Exact | Certainty::AtLeast) => Certainty::AtMost,
        (Certainty::Exact | Certainty::AtLeast, Certainty::Exact | Certainty::AtMost) => Certainty::AtLeast,
        _ => Certainty::About,
    };
    ReadShare { ios: share(|io| io.ios), bytes: share(|io| io.bytes), bound }
}

/// The certainty of reads, or of writes.
fn bound_of(all: &[TransactionIo], reads: bool, bound: fn(&TransactionIo) -> Certainty) -> Certainty {
    let moving = all.iter().filter(|io| io.reads == reads && io.bytes > 0.0);
    moving.map(bound).fold(Certainty::Exact, |sum, bound| match (sum, bound) {
        (Certainty::Exact, bound) => bound,
        (sum, Certainty::Exact) => sum,
        (sum, bound) if sum == bound => sum,
        _ => Certainty::About,
    })
}

/// A sum that is 0 without numbers: that of `Iterator::sum` is -0.
fn sum(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |sum, number| sum + number)
}

fn back_pressure(database: &Database) -> Option<BackPressure> {
    Some(match &database.write_back {
        WriteBack::Pages(pages) if pages.changed <= 0.0 => return None,
        WriteBack::Pages(pages) => BackPressure {
            dirty_pages: Some(pages.most_dirty),
            waiting_tables: None,
            bytes: u64::from(pages.most_dirty) * u64::from(database.page),
        },
        WriteBack::Tables(tables) => BackPressure {
            dirty_pages: None,
            waiting_tables: Some(tables.most_waiting),
            bytes: tables.table.saturating_mul(tables.most_waiting.into()),
        },
    })
}

#[cfg(test)]
mod tests;
