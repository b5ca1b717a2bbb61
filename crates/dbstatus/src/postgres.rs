//! What the settings and statistics of PostgreSQL say about the I/O of a transaction.

use crate::counters::Counters;
use crate::error::StatusError;
use crate::model_job::{GivenFigures, ModelJob, mean, microseconds, size};
use crate::snapshot::Snapshot;

/// Statements that print all that is needed. A release lacks some of the tables: those statements fail, which does no harm.
pub const QUERIES: [&str; 7] = [
    "SELECT name, setting, unit FROM pg_settings",
    "SELECT * FROM pg_stat_bgwriter",
    "SELECT * FROM pg_stat_checkpointer",
    "SELECT * FROM pg_stat_wal",
    "SELECT * FROM pg_stat_io",
    "SELECT * FROM pg_stat_database",
    "SELECT extract(epoch FROM now()) AS now_s, extract(epoch FROM pg_postmaster_start_time()) AS start_s, (SELECT sum(pg_database_size(oid)) FROM pg_database) AS data_bytes",
];

const QUERY: &str = "`psql -X --csv` with the statements of `ferrio import postgres-status --help`";

const BGWRITER: &str = "checkpoints_timed";
/// The table without the columns about checkpoints, from PostgreSQL 17 on.
const CHECKPOINTER: &str = "num_timed";
const WAL: &str = "wal_records";
const IO: &str = "backend_type";
const DATABASES: &str = "datid";
const TIMES: &str = "now_s";

/// The job of a server, from what it said once, or at two times under its usual load.
///
/// # Errors
/// A counter is missing or no number, or there was no transaction.
pub fn postgres_job(
    before: Option<&Snapshot>,
    after: &Snapshot,
    given: &GivenFigures,
) -> Result<ModelJob, StatusError> {
    let server = Postgres::of(Counters { before, after, query: QUERY })?;
    let mut job = ModelJob::of("postgres");
    server.about(&mut job);
    job.set("workload", "postgres", "the model");
    server.sessions(given, &mut job)?;
    server.data(given, &mut job)?;
    server.log(&mut job)?;
    server.write_back(&mut job)?;
    job.set("runtime", given.seconds(), "seconds");
    if let Some(rate) = server.per_second() {
        let source =
            "the transactions per second of the server; remove the semicolon to run the job at this rate";
        job.offer("transaction_rate", mean(rate), source);
    }
    server.left_out(&mut job);
    Ok(job)
}

struct Postgres<'a> {
    counters: Counters<'a>,
    transactions: u64,
    seconds: Option<f64>,
    /// Bytes of a page.
    page: u64,
}

impl<'a> Postgres<'a> {
    fn of(counters: Counters<'a>) -> Result<Self, StatusError> {
        if counters.value("block_size").is_none() && counters.after.rows(DATABASES).is_empty() {
            return Err(StatusError::Nothing { query: QUERY });
        }
        let of = |column: &str| counters.column(DATABASES, column, |_| true);
        let committed =
            of("xact_commit")?.ok_or_else(|| counters.missing("xact_commit of pg_stat_database"))?;
        let transactions = committed + of("xact_rollback")?.unwrap_or(0);
        if transactions == 0 {
            return Err(StatusError::NoTransactions {
                names: "xact_commit, xact_rollback of pg_stat_database",
            });
        }
        let time = |snapshot: &Snapshot, column: &str| {
            snapshot.rows(TIMES).first()?.get(column)?.parse::<f64>().ok()
        };
        let began = match counters.before {
            Some(before) => time(before, "now_s"),
            None => time(counters.after, "start_s"),
        };
        let seconds = time(counters.after, "now_s").zip(began).map(|(now, began)| now - began);
        let page = counters.needed_number("block_size")?.max(1);
        Ok(Postgres { counters, transactions, seconds: seconds.filter(|&seconds| seconds > 0.0), page })
    }

    fn per_transaction(&self, count: u64) -> f64 {
        count as f64 / self.transactions as f64
    }

    fn per_second(&self) -> Option<f64> {
        self.seconds.map(|seconds| self.transactions as f64 / seconds)
    }

    /// A setting in its unit: `8kB`, `MB`, `s` and the like become bytes, or stay seconds.
    fn setting(&self, name: &str) -> Result<u64, StatusError> {
        let number = self.counters.needed_number(name)?;
        let unit = self.counters.after.unit(name).unwrap_or_default();
        let (count, unit) = unit.split_at(unit.bytes().take_while(u8::is_ascii_digit).count());
        let count = count.parse::<u64>().unwrap_or(1);
        let power = match unit {
            "kB" => 10,
            "MB" => 20,
            "GB" => 30,
            _ => 0,
        };
        Ok(number.saturating_mul(count) << power)
    }

    fn about(&self, job: &mut ModelJob) {
        let version = self.counters.value("server_version").unwrap_or("of an unknown version");
        let time =
            self.seconds.map_or_else(|| "an unknown time".to_owned(), |seconds| format!("{seconds:.1} s"));
        let when = match self.counters.before {
            Some(_) => "between the two snapshots",
            None => "since its start",
        };
        let rate = self.per_second().map_or_else(String::new, |rate| format!(", {} per second", mean(rate)));
        job.about.push(format!("The I/O of a server, PostgreSQL {version}: {} transactions (xact_commit + xact_rollback) in {time} {when}{rate}.", self.transactions));
        job.about.push("tx is the number of these transactions. Made by `ferrio import postgres-status`; docs/database.md describes the model.".to_owned());
        if self.counters.before.is_none() {
            job.remarks.push("there is one snapshot: its counters include loading, warming up and idle time since the start of the server; make two snapshots under the usual load instead".to_owned());
        }
    }

    fn sessions(&self, given: &GivenFigures, job: &mut ModelJob) -> Result<(), StatusError> {
        if let Some(sessions) = given.sessions {
            job.set("numjobs", sessions, "sessions, as given");
            return Ok(());
        }
        let of = |column: &str| self.counters.column(DATABASES, column, |_| true);
        let ms = of("active_time")?
            .map(|active| Ok(active + of("idle_in_transaction_time")?.unwrap_or(0)))
            .transpose()?;
        let sessions = ms.zip(self.seconds).map(|(ms, seconds)| ms as f64 / 1e3 / seconds).map(f64::round);
        let Some(sessions) = sessions.filter(|&sessions| sessions >= 1.0) else {
            job.remarks.push(
                "the counters show no session at work: numjobs=1 is a guess; --sessions sets the number"
                    .to_owned(),
            );
            job.set("numjobs", 1, "sessions: a guess");
            return Ok(());
        };
        job.set("numjobs", sessions, "(active_time + idle_in_transaction_time) of pg_stat_database / time: sessions in a transaction, on average");
        Ok(())
    }

    fn data(&self, given: &GivenFigures, job: &mut ModelJob) -> Result<(), StatusError> {
        let buffers = self.setting("shared_buffers")?;
        let row = self.counters.after.rows(TIMES).first();
        let measured = row.and_then(|row| row.get("data_bytes")?.parse::<u64>().ok());
        let (bytes, source) = match (given.data_bytes, measured) {
            (Some(bytes), _) => (bytes, "size of the data, as given"),
            (None, Some(bytes)) => (bytes, "data_bytes: the sum of pg_database_size() over all databases"),
            (None, None) => {
                job.remarks.push("the counters do not say how large the data is: twice shared_buffers is a guess; --size sets it".to_owned());
                (buffers.saturating_mul(2), "a guess: twice shared_buffers")
            }
        };
        job.set("size", size(bytes.div_ceil(1 << 20).max(1) << 20), source);
        job.set("bs", size(self.page), "block_size");
        let counters = &self.counters;
        let read = counters.column(DATABASES, "blks_read", |_| true)?;
        let read = read.ok_or_else(|| counters.missing("blks_read of pg_stat_database"))?;
        job.set("page_reads", mean(self.per_transaction(read)), format!("blks_read of pg_stat_database / tx: {read}; the page cache served some of them, as it may serve reads of the model"));
        let measured = counters.cpu().map(|cpu| cpu.div_f64(self.transactions as f64));
        match (given.transaction_cpu, measured) {
            (Some(cpu), _) => {
                job.set("transaction_cpu", microseconds(cpu), "CPU time of a transaction, as given")
            }
            (None, Some(cpu)) => job.set(
                "transaction_cpu",
                microseconds(cpu),
                "CPU time of the server's processes / tx, from /proc/PID/stat",
            ),
            (None, None) => {
                job.remarks.push("the CPU time of the server is unknown, so the job shows what the disk alone would allow: append the lines of /proc/PID/stat of all processes of the server to both snapshots, or give --transaction-cpu".to_owned());
                job.offer("transaction_cpu", "1ms", "CPU time of a transaction: unknown");
            }
        }
        Ok(())
    }

    fn log(&self, job: &mut ModelJob) -> Result<(), StatusError> {
        let counters = &self.counters;
        let all = |_: &dyn Fn(&str) -> String| true;
        let of_wal = |cell: &dyn Fn(&str) -> String| cell("object") == "wal";
        let bytes = counters
            .column(WAL, "wal_bytes", all)?
            .ok_or_else(|| counters.missing("wal_bytes of pg_stat_wal"))?;
        // From PostgreSQL 18 on, writes and syncs of the log are in pg_stat_io.
        let either = |column: &str, of_io: &str| match counters.column(WAL, column, all)? {
            Some(count) => Ok(Some(count)),
            None => counters.column(IO, of_io, of_wal),
        };
        let (writes, syncs) = (either("wal_write", "writes")?, either("wal_sync", "fsyncs")?);
        let per_transaction = writes.map(|writes| self.per_transaction(writes));
        let appends = per_transaction.unwrap_or(1.0).round().max(1.0);
        let block = (self.per_transaction(bytes) / appends).round().max(1.0);
        let measured = per_transaction.map_or_else(|| "unknown".to_owned(), mean);
        job.set(
            "log_appends",
            appends,
            format!("wal_write of pg_stat_wal, or writes of pg_stat_io with object = wal, / tx: {measured}"),
        );
        job.set("log_block", block, "wal_bytes of pg_stat_wal / tx / log_appends");
        job.set("log_size", size(self.setting("max_wal_size")?), "max_wal_size");
        job.set("full_page_writes", 0, "wal_bytes has the whole pages in it");
        let method = counters.value("wal_sync_method").unwrap_or("fdatasync");
        let commit = counters.value("synchronous_commit").unwrap_or("on");
        let sync = match (commit, method) {
            ("off", _) => "none",
            _ if counters.value("fsync") == Some("off") => "none",
            (_, "open_datasync" | "open_sync") => "dsync",
            (_, "fsync" | "fsync_writethrough") => "fsync",
            _ => "fdatasync",
        };
        let fsync = counters.value("fsync").unwrap_or("on");
        job.set(
            "commit_sync",
            sync,
            format!("fsync={fsync}, synchronous_commit={commit}, wal_sync_method={method}"),
        );
        if matches!(sync, "fsync" | "fdatasync") {
            let measured = syncs
                .map_or_else(|| "an unknown number".to_owned(), |syncs| mean(self.per_transaction(syncs)));
            job.set(
                "group_commit",
                0,
                format!("commits that wait share a sync: the server has {measured} per tx"),
            );
        }
        Ok(())
    }

    fn write_back(&self, job: &mut ModelJob) -> Result<(), StatusError> {
        let counters = &self.counters;
        let all = |_: &dyn Fn(&str) -> String| true;
        let of_background = |column: &str| counters.column(BGWRITER, column, all);
        let (written, source) = match of_background("buffers_checkpoint")? {
            Some(of_checkpoints) => {
                let others = of_background("buffers_clean")?.unwrap_or(0)
                    + of_background("buffers_backend")?.unwrap_or(0);
                (
                    of_checkpoints + others,
                    "buffers_checkpoint + buffers_clean + buffers_backend of pg_stat_bgwriter",
                )
            }
            None => {
                let of_relations = |cell: &dyn Fn(&str) -> String| cell("object") == "relation";
                let written = counters.column(IO, "writes", of_relations)?;
                let names = "buffers_checkpoint of pg_stat_bgwriter, or writes of pg_stat_io";
                (
                    written.ok_or_else(|| counters.missing(names))?,
                    "writes of pg_stat_io with object = relation",
                )
            }
        };
        job.set("pages_changed", mean(self.per_transaction(written)), format!("{source}, / tx: {written}"));
        if written == 0 {
            return Ok(());
        }
        let pages = (self.setting("shared_buffers")? / self.page).clamp(64, u64::from(u32::MAX));
        job.set("dirty_pages", pages, "pages of shared_buffers");
        let target = counters
            .value("checkpoint_completion_target")
            .and_then(|text| text.parse::<f64>().ok())
            .unwrap_or(0.9);
        let percent = (100.0 / (1.0 + target.clamp(0.0, 1.0))).round();
        job.set(
            "checkpoint_log",
            format!("{percent}%"),
            "1 / (1 + checkpoint_completion_target) of max_wal_size",
        );
        job.set(
            "checkpoint_interval",
            format!("{}s", self.setting("checkpoint_timeout")?),
            "checkpoint_timeout",
        );
        let requested = match counters.column(BGWRITER, "checkpoints_req", all)? {
            Some(requested) => Some(requested),
            None => counters.column(CHECKPOINTER, "num_requested", all)?,
        };
        if let Some(requested) = requested.filter(|&requested| requested > 0) {
            job.about.push(format!(
                "{requested} checkpoints in this time began because of the length of the log."
            ));
        }
        Ok(())
    }

    fn left_out(&self, job: &mut ModelJob) {
        let value = |name| self.counters.value(name).unwrap_or("unknown");
        job.left_out.push("locks; waits for the client between statements; the network".to_owned());
        job.left_out.push(format!("pages that sessions write themselves, and the background writer (bgwriter_lru_maxpages={}): one job writes all pages back", value("bgwriter_lru_maxpages")));
        job.left_out.push(format!(
            "checkpoints that are spread over time (checkpoint_completion_target={})",
            value("checkpoint_completion_target")
        ));
        job.left_out
            .push(format!("autovacuum (autovacuum={}), replication, temporary files", value("autovacuum")));
        job.left_out.push("that some pages are used more often than others: the counters have only reads of pages that were not in shared_buffers".to_owned());
    }
}

#[cfg(test)]
mod tests;
