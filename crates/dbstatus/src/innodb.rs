//! What the variables and counters of MariaDB and MySQL say about the I/O of a transaction on InnoDB.

use std::time::Duration;

use crate::counters::Counters;
use crate::error::StatusError;
use crate::model_job::{GivenFigures, ModelJob, mean, microseconds, size};
use crate::snapshot::Snapshot;

/// The command that prints the variables and counters.
pub const QUERY: &str = "`mariadb -e 'SHOW GLOBAL VARIABLES; SHOW GLOBAL STATUS'` (or `mysql -e …`)";

/// Bytes to which writes of a log are rounded that bypass the page cache, if no variable says so.
const LOG_SECTOR: u64 = 4096;
/// Pages that are written back together if no counter says so.
const DEFAULT_BATCH: f64 = 64.0;
/// Most pages in a batch of the model.
const MAX_BATCH: f64 = 4096.0;
/// Most data files that are made of the number of syncs.
const MAX_FILES: f64 = 64.0;
/// The size of the data as a multiple of that of the buffer pool, if nothing says how large it is.
const ASSUMED_POOLS: u64 = 2;

/// The job of a server, from what it said once, or at two times under its usual load.
///
/// # Errors
/// A counter is missing or no number, or there was no transaction.
pub fn innodb_job(
    before: Option<&Snapshot>,
    after: &Snapshot,
    given: &GivenFigures,
) -> Result<ModelJob, StatusError> {
    let server = Innodb::of(Counters { before, after, query: QUERY })?;
    let mut job = ModelJob::of("innodb");
    server.about(&mut job);
    job.set("workload", "innodb", "the model");
    server.sessions(given, &mut job)?;
    server.data(given, &mut job)?;
    server.transactions(given, &mut job)?;
    server.log(&mut job)?;
    server.write_back(&mut job)?;
    job.set("runtime", given.seconds(), "seconds");
    let rate = "the transactions per second of the server; remove the semicolon to run the job at this rate";
    job.offer("transaction_rate", mean(server.per_second()), rate);
    server.left_out(&mut job);
    Ok(job)
}

/// A server with the figures that several options need.
struct Innodb<'a> {
    counters: Counters<'a>,
    transactions: u64,
    /// The counters of the transactions.
    transaction_names: &'static str,
    seconds: u64,
    page: u64,
}

impl<'a> Innodb<'a> {
    fn of(counters: Counters<'a>) -> Result<Self, StatusError> {
        if counters.value("innodb_page_size").is_none() && counters.value("Innodb_pages_read").is_none() {
            return Err(StatusError::Nothing { query: QUERY });
        }
        let seconds = counters.needed_increase("Uptime")?;
        let of_commands =
            counters.needed_increase("Com_commit")? + counters.increase("Com_rollback")?.unwrap_or(0);
        // Without BEGIN and COMMIT, each statement is a transaction.
        let (transactions, transaction_names) = match of_commands {
            0 => (counters.needed_increase("Handler_commit")?, "Handler_commit"),
            commands => (commands, "Com_commit + Com_rollback"),
        };
        if transactions == 0 {
            return Err(StatusError::NoTransactions { names: "Com_commit, Com_rollback, Handler_commit" });
        }
        let page = counters.needed_number("innodb_page_size")?.max(1);
        Ok(Innodb { counters, transactions, transaction_names, seconds, page })
    }

    fn per_transaction(&self, count: u64) -> f64 {
        count as f64 / self.transactions as f64
    }

    fn per_second(&self) -> f64 {
        self.transactions as f64 / self.seconds.max(1) as f64
    }

    fn about(&self, job: &mut ModelJob) {
        let version = self.counters.value("version").unwrap_or("of an unknown version");
        let comment = self.counters.value("version_comment").unwrap_or_default();
        let when = match self.counters.before {
            Some(_) => "between the two snapshots",
            None => "since its start",
        };
        job.about.push(format!(
            "The I/O of a server, {version} ({comment}): {} transactions ({}) in {} s {when}, {} per second.",
            self.transactions,
            self.transaction_names,
            self.seconds,
            mean(self.per_second())
        ));
        job.about.push("tx is the number of these transactions. Made by `ferrio import innodb-status`; docs/database.md describes the model.".to_owned());
        if self.counters.before.is_none() {
            job.remarks.push("there is one snapshot: its counters include loading, warming up and idle time since the start of the server; make two snapshots under the usual load instead".to_owned());
        }
    }

    fn sessions(&self, given: &GivenFigures, job: &mut ModelJob) -> Result<(), StatusError> {
        if let Some(sessions) = given.sessions {
            job.set("numjobs", sessions, "sessions, as given");
            return Ok(());
        }
        let of = |snapshot: Option<&Snapshot>| {
            snapshot.and_then(|one| one.value("Threads_running")?.parse::<f64>().ok())
        };
        let running: Vec<f64> =
            [of(self.counters.before), of(Some(self.counters.after))].into_iter().flatten().collect();
        if running.is_empty() {
            return Err(self.counters.missing("Threads_running"));
        }
        // One of them is the session that asks.
        let sessions = (running.iter().sum::<f64>() / running.len() as f64 - 1.0).round();
        if sessions < 1.0 {
            job.remarks.push("Threads_running shows no session at work when the counters were read: numjobs=1 is a guess; --sessions sets the number".to_owned());
        }
        job.set("numjobs", sessions.max(1.0), "Threads_running - 1, which is the session that asks");
        Ok(())
    }

    fn data(&self, given: &GivenFigures, job: &mut ModelJob) -> Result<(), StatusError> {
        let counters = &self.counters;
        let pool = counters.needed_number("innodb_buffer_pool_size")?;
        let (bytes, source) = match (given.data_bytes, counters.number("data_bytes")?) {
            (Some(bytes), _) => (bytes, "size of the data, as given".to_owned()),
            (None, Some(bytes)) => (bytes, "data_bytes".to_owned()),
            (None, None) => {
                job.remarks.push(format!(
                    "the counters do not say how large the data is: {ASSUMED_POOLS} times the buffer pool is a guess; --size sets it"
                ));
                (
                    pool.saturating_mul(ASSUMED_POOLS),
                    format!("a guess: {ASSUMED_POOLS} times innodb_buffer_pool_size, {}", size(pool)),
                )
            }
        };
        job.set("size", size(bytes.div_ceil(1 << 20).max(1) << 20), source);
        job.set("bs", size(self.page), "innodb_page_size");
        let method = counters.value("innodb_flush_method").unwrap_or_default();
        // MariaDB 11 has a variable for data files alone.
        let is_direct = method.to_ascii_uppercase().contains("DIRECT")
            || counters
                .value("innodb_data_file_buffering")
                .is_some_and(|_| !counters.is_on("innodb_data_file_buffering"));
        job.set("direct", u8::from(is_direct), format!("innodb_flush_method={method}"));
        let is_async = counters.is_on("innodb_use_native_aio");
        let engine = if is_async { "libaio" } else { "psync" };
        job.set(
            "ioengine",
            engine,
            "innodb_use_native_aio: whether pages are written back with asynchronous I/O",
        );
        if is_async {
            job.set("sync_sessions", 1, "sessions read pages and write the log with pread and pwrite");
        }
        Ok(())
    }

    fn transactions(&self, given: &GivenFigures, job: &mut ModelJob) -> Result<(), StatusError> {
        let counters = &self.counters;
        let read = counters.needed_increase("Innodb_pages_read")?;
        let ahead = counters.increase("Innodb_buffer_pool_read_ahead")?.unwrap_or(0);
        let ahead = match ahead {
            0 => String::new(),
            ahead => format!(
                "; {:.1} % of them by read-ahead, which the model reads one by one",
                100.0 * ahead as f64 / read.max(1) as f64
            ),
        };
        job.set(
            "page_reads",
            mean(self.per_transaction(read)),
            format!("Innodb_pages_read / tx: {read}{ahead}"),
        );
        let measured = counters.cpu().map(|cpu| cpu.div_f64(self.transactions as f64));
        let user_statistics = || -> Option<Duration> {
            let seconds = |snapshot: &Snapshot| snapshot.value("Cpu_time")?.parse::<f64>().ok();
            let before = counters.before.map_or(Some(0.0), seconds)?;
            let used = seconds(counters.after)? - before;
            Duration::try_from_secs_f64(used / self.transactions as f64).ok().filter(|cpu| !cpu.is_zero())
        };
        let (cpu, source) = match (given.transaction_cpu, measured, user_statistics()) {
            (Some(cpu), ..) => (cpu, "CPU time of a transaction, as given"),
            (None, Some(cpu), _) => (cpu, "CPU time of the server's process / tx, from /proc/PID/stat"),
            (None, None, Some(cpu)) => (cpu, "Cpu_time / tx, which userstat=1 counts"),
            (None, None, None) => {
                job.remarks.push("the CPU time of the server is unknown, so the job shows what the disk alone would allow: append the line of /proc/PID/stat of the server to both snapshots, or give --transaction-cpu".to_owned());
                job.offer("transaction_cpu", "1ms", "CPU time of a transaction: unknown");
                return Ok(());
            }
        };
        job.set("transaction_cpu", microseconds(cpu), source);
        Ok(())
    }

    fn log(&self, job: &mut ModelJob) -> Result<(), StatusError> {
        let counters = &self.counters;
        let written = counters.needed_increase("Innodb_os_log_written")?;
        let writes = counters.needed_increase("Innodb_log_writes")?;
        let is_direct = self.log_is_direct();
        let bytes = self.per_transaction(written);
        let unit = match counters.number("innodb_log_write_ahead_size")? {
            Some(unit) if self.is_mariadb() => unit.max(512),
            _ => LOG_SECTOR,
        };
        let block = if is_direct {
            (bytes as u64).div_ceil(unit).max(1) * unit
        } else {
            (bytes.round() as u64).max(1)
        };
        job.set("log_appends", 1, format!(
            "the model writes the log once per transaction; the server writes it for several together: Innodb_log_writes / tx is {}",
            mean(self.per_transaction(writes))
        ));
        let rounded = if is_direct { format!(", in blocks of {}", size(unit)) } else { String::new() };
        job.set("log_block", size(block), format!("Innodb_os_log_written / tx: {bytes:.0} bytes{rounded}"));
        let file = counters.number("innodb_log_file_size")?;
        let files = counters.number("innodb_log_files_in_group")?.unwrap_or(1).max(1);
        let (log, source) = match (counters.number("innodb_redo_log_capacity")?, file) {
            (Some(capacity), _) => (capacity, "innodb_redo_log_capacity"),
            (None, Some(file)) => (
                file.saturating_mul(files),
                "innodb_log_file_size x innodb_log_files_in_group (1 where it is missing)",
            ),
            (None, None) => return Err(counters.missing("innodb_log_file_size or innodb_redo_log_capacity")),
        };
        job.set("log_size", size(log), source);
        job.set(
            "log_direct",
            u8::from(is_direct),
            "innodb_log_file_buffering, or innodb_flush_method where it is missing",
        );
        let at_commit = counters.needed_number("innodb_flush_log_at_trx_commit")?;
        let method = counters.value("innodb_flush_method").unwrap_or_default().to_ascii_uppercase();
        let sync = match at_commit {
            1 | 3 if method == "O_DSYNC" => "dsync",
            1 | 3 if self.is_mariadb() || counters.is_on("innodb_use_fdatasync") => "fdatasync",
            1 | 3 => "fsync",
            _ => "none",
        };
        job.set("commit_sync", sync, format!("innodb_flush_log_at_trx_commit={at_commit}"));
        if matches!(sync, "fsync" | "fdatasync") {
            let syncs = self.log_syncs(writes)?;
            job.set(
                "group_commit",
                0,
                format!(
                    "commits that wait share a sync: the server has {} per tx",
                    mean(self.per_transaction(syncs))
                ),
            );
        }
        Ok(())
    }

    /// Syncs of the log. MariaDB from 10.8 on does not count them, but it syncs the log after each write of it.
    fn log_syncs(&self, writes: u64) -> Result<u64, StatusError> {
        Ok(self.counters.increase("Innodb_os_log_fsyncs")?.unwrap_or(writes))
    }

    fn is_mariadb(&self) -> bool {
        ["version", "version_comment"].iter().any(|name| {
            self.counters.value(name).is_some_and(|value| value.to_ascii_lowercase().contains("mariadb"))
        })
    }

    fn log_is_direct(&self) -> bool {
        match self.counters.value("innodb_log_file_buffering") {
            Some(_) => !self.counters.is_on("innodb_log_file_buffering"),
            None => self
                .counters
                .value("innodb_flush_method")
                .is_some_and(|method| method.eq_ignore_ascii_case("ALL_O_DIRECT")),
        }
    }

    fn write_back(&self, job: &mut ModelJob) -> Result<(), StatusError> {
        let counters = &self.counters;
        let written = counters.needed_increase("Innodb_pages_written")?;
        job.set("pages_changed", mean(self.per_transaction(written)), format!("Innodb_pages_written / tx: {written}; a page that is changed several times before it is written counts once"));
        if written == 0 {
            return Ok(());
        }
        let doubled = counters
            .value("innodb_doublewrite")
            .is_some_and(|value| !matches!(value.to_ascii_uppercase().as_str(), "OFF" | "0" | "DETECT_ONLY"));
        job.set("double_write", u8::from(doubled), "innodb_doublewrite");
        let (pages, batches) = (
            counters.increase("Innodb_dblwr_pages_written")?.unwrap_or(0),
            counters.increase("Innodb_dblwr_writes")?.unwrap_or(0),
        );
        let (batch, source) = match batches {
            0 => (DEFAULT_BATCH, "a guess: no counter says how many pages are written together".to_owned()),
            batches => (
                (pages as f64 / batches as f64).round(),
                "Innodb_dblwr_pages_written / Innodb_dblwr_writes".to_owned(),
            ),
        };
        let batch = batch.clamp(1.0, MAX_BATCH);
        job.set("write_back_batch", batch, source);
        if doubled {
            let area = (2 * batch as u64 * self.page).next_multiple_of(1 << 20).max(2 << 20);
            job.set("double_write_size", size(area), "room for two batches");
        }
        self.files(batches, doubled, job)?;
        let pool = counters.needed_number("innodb_buffer_pool_size")? / self.page;
        let percent = counters
            .value("innodb_max_dirty_pages_pct")
            .and_then(|text| text.parse::<f64>().ok())
            .unwrap_or(90.0);
        let most =
            (pool as f64 * percent.clamp(1.0, 100.0) / 100.0).round().clamp(2.0 * batch, f64::from(u32::MAX));
        job.set(
            "dirty_pages",
            most,
            format!("{percent} % of the pages of the buffer pool (innodb_max_dirty_pages_pct)"),
        );
        let age = counters.number("Innodb_checkpoint_max_age")?.zip(counters.number("innodb_log_file_size")?);
        let percent = age.filter(|&(age, log)| age > 0 && log > age).map_or(80, |(age, log)| age * 100 / log);
        job.set(
            "checkpoint_log",
            format!("{}%", percent.max(1)),
            "Innodb_checkpoint_max_age: pages are written back in any case before the log is full",
        );
        Ok(())
    }

    /// The number of data files, from the syncs after each batch: InnoDB syncs the double-write area and each file with a page of the batch.
    fn files(&self, batches: u64, doubled: bool, job: &mut ModelJob) -> Result<(), StatusError> {
        let counters = &self.counters;
        let Some(all) = counters.increase("Innodb_data_fsyncs")?.filter(|_| batches > 0) else {
            return Ok(());
        };
        let writes = counters.needed_increase("Innodb_log_writes")?;
        let syncs_commits = counters.number("innodb_flush_log_at_trx_commit")? == Some(1);
        // What the server counts as a sync of data includes those of the log.
        let of_log = if syncs_commits { self.log_syncs(writes)? } else { 0 };
        let of_data = all.saturating_sub(of_log) as f64 / batches as f64 - f64::from(u8::from(doubled));
        let files = of_data.round().clamp(1.0, MAX_FILES);
        job.set("nrfiles", files, format!("(Innodb_data_fsyncs - syncs of the log) / Innodb_dblwr_writes - 1: {} files are synced after a batch", mean(of_data)));
        Ok(())
    }

    fn left_out(&self, job: &mut ModelJob) {
        let counters = &self.counters;
        let value = |name| counters.value(name).unwrap_or("unknown");
        job.left_out.push("locks; waits for the client between statements; the network".to_owned());
        if counters.is_on("log_bin") {
            job.left_out.push(format!("the binary log (log_bin=ON, sync_binlog={}): one more write and perhaps one more sync per group of commits", value("sync_binlog")));
        }
        job.left_out.push(format!(
            "limits of write-back: innodb_io_capacity={}, innodb_io_capacity_max={}",
            value("innodb_io_capacity"),
            value("innodb_io_capacity_max")
        ));
        job.left_out.push(format!("threads of the server (innodb_read_io_threads={}, innodb_write_io_threads={}): sessions read for themselves, and one job writes back", value("innodb_read_io_threads"), value("innodb_write_io_threads")));
        job.left_out.push("log writes that serve several transactions; undo, purge and change buffer, except for the pages that they read and write".to_owned());
        job.left_out.push("that some pages are used more often than others: the counters have only reads of pages that were not in the pool".to_owned());
    }
}

#[cfg(test)]
mod tests;
