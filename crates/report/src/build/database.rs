//! Converts the totals of a database model into its part of the `ferrio` object, or of a line of the interval report.

use std::time::Duration;

use ferrio_job::{DatabaseModel, JobSpec, PageReads, Plan, TransactionStep};
use ferrio_results::RunResult;
use ferrio_stats::Latency;
use serde::{Deserialize, Serialize};

use super::direction::{HistogramOptions, latency_report};
use crate::database::{DatabaseIoKind, DatabaseModelRun, DatabaseTotals, IoTotal, databases};
use crate::messages::report_name;
use crate::model::{
    DATABASE_PERCENTILES, DatabaseIoReport, DatabaseIoReports, DatabaseReport, EtcdReport, LatencyReport,
    StepReport, StepReports, TransactionReport,
};
use crate::num::{finite, percent, whole_ms};

/// The limit in etcd's documentation for the 99th percentile of log syncs, in ns.
const ETCD_LIMIT_NS: u64 = 10_000_000;

/// What the report on a model is made from: an agent sends it, and those of the same model add up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DatabaseRecord {
    /// `jobname` of the entry of its sessions.
    pub(crate) jobname: String,
    /// `groupid` of the entry of its sessions.
    pub(crate) groupid: u32,
    pub(crate) sessions: u32,
    /// Transactions that arrive per second.
    pub(crate) rate: Option<f64>,
    pub(crate) settings: DatabaseSettings,
    pub(crate) totals: DatabaseTotals,
}

/// The settings of a model that its figures depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DatabaseSettings {
    pub(crate) model: DatabaseModel,
    pub(crate) has_pool: bool,
    pub(crate) percentiles: Vec<f64>,
}

impl DatabaseSettings {
    pub(crate) fn of(load: &DatabaseModelRun<'_>) -> Self {
        DatabaseSettings {
            model: load.database.model,
            has_pool: matches!(load.database.reads, PageReads::Pool { .. }),
            percentiles: percentiles(load.first().spec),
        }
    }
}

/// The models whose sessions have an entry.
pub(crate) fn database_records(plan: &Plan, result: &RunResult) -> Vec<DatabaseRecord> {
    let record = |load: &DatabaseModelRun<'_>| DatabaseRecord {
        jobname: report_name(load.first().spec).to_owned(),
        groupid: load.first().spec.group,
        sessions: load.database.sessions,
        rate: load.load.rate,
        settings: DatabaseSettings::of(load),
        totals: load.measured(),
    };
    databases(plan, result).iter().filter(|load| load.is_reported()).map(record).collect()
}

/// The report on a model.
pub(crate) fn database_report(record: &DatabaseRecord, histograms: HistogramOptions<'_>) -> DatabaseReport {
    let DatabaseRecord { jobname, groupid, sessions, rate, settings, totals } = record;
    DatabaseReport {
        jobname: jobname.clone(),
        groupid: *groupid,
        model: settings.model.word().to_owned(),
        sessions: *sessions,
        runtime: totals.runtime_ms,
        transaction_rate: *rate,
        figures: transaction_report(settings, totals, None, histograms),
        written_back_after: Some(whole_ms(totals.background_tail())).filter(|&ms| ms > 0),
        etcd: etcd_report(settings.model, totals, histograms),
    }
}

/// The figures of a part of a run that took `time`. Without `time`, rates use the run time of each job.
pub(crate) fn transaction_report(
    settings: &DatabaseSettings,
    totals: &DatabaseTotals,
    time: Option<Duration>,
    histograms: HistogramOptions<'_>,
) -> TransactionReport {
    // Jobs that did not answer are missing from the latencies and I/Os of the latest transactions.
    let (transactions, told) = (totals.transactions, totals.latency.count());
    let latency = |latency: &Latency| latency_report(latency, &settings.percentiles, true, histograms);
    let step = |step| step_report(&totals.steps[step as usize], totals, &latency);
    let computes = totals.steps[TransactionStep::Compute as usize].sum() > 0;
    let steps = StepReports {
        read: step(TransactionStep::Read),
        log_write: step(TransactionStep::LogWrite),
        sync: step(TransactionStep::Sync),
        write_back_wait: step(TransactionStep::WriteBackWait),
        compute: computes.then(|| step(TransactionStep::Compute)),
    };
    let io = |kind| io_report(totals.io(kind), told, time);
    let sum = |kinds: &[DatabaseIoKind], figure: fn(&IoTotal) -> u64| -> u64 {
        kinds.iter().map(|&kind| figure(totals.io(kind))).sum()
    };
    let reads = |figure| sum(&[DatabaseIoKind::DataRead, DatabaseIoKind::MergeRead], figure);
    let writes = |figure| {
        let kinds = [DatabaseIoKind::LogWrite, DatabaseIoKind::DoubleWrite, DatabaseIoKind::DataWrite];
        sum(&kinds, figure)
    };
    let share = |part: u64, rest: u64| (part + rest > 0).then(|| percent(part, part + rest));
    let data_reads = totals.io(DatabaseIoKind::DataRead).count();
    TransactionReport {
        transactions,
        tps: per_second(transactions, time.unwrap_or(Duration::from_millis(totals.runtime_ms))),
        lat_ns: latency(&totals.latency),
        steps,
        io: DatabaseIoReports {
            data_reads: io(DatabaseIoKind::DataRead),
            merge_reads: io(DatabaseIoKind::MergeRead),
            log_writes: io(DatabaseIoKind::LogWrite),
            log_syncs: io(DatabaseIoKind::LogSync),
            double_writes: io(DatabaseIoKind::DoubleWrite),
            double_write_syncs: io(DatabaseIoKind::DoubleWriteSync),
            data_writes: io(DatabaseIoKind::DataWrite),
            data_syncs: io(DatabaseIoKind::DataSync),
        },
        read_ios_share: share(reads(IoTotal::count), writes(IoTotal::count)),
        read_bytes_share: share(reads(IoTotal::bytes), writes(IoTotal::bytes)),
        pool_hits: totals.pool_hits,
        pool_hit_share: share(totals.pool_hits, data_reads).filter(|_| settings.has_pool),
        commits_per_sync: (totals.commit_syncs() > 0).then(|| ratio(told, totals.commit_syncs())),
        full_pages: totals.full_pages,
        written_back: totals.written_back,
        checkpoints: totals.checkpoints,
    }
}

/// The percentiles of the job, and those that database reports always have.
fn percentiles(spec: &JobSpec) -> Vec<f64> {
    let mut list = DATABASE_PERCENTILES.to_vec();
    if spec.measure.any_percentiles() {
        list.extend(&spec.measure.percentiles);
    }
    list.sort_by(f64::total_cmp);
    list.dedup();
    list
}

fn step_report(
    step: &Latency,
    totals: &DatabaseTotals,
    latency: &impl Fn(&Latency) -> LatencyReport,
) -> StepReport {
    let all = totals.latency.sum();
    let share = if all == 0 { 0.0 } else { 100.0 * step.sum() as f64 / all as f64 };
    StepReport { share: finite(share).min(100.0), lat_ns: latency(step) }
}

fn io_report(io: &IoTotal, transactions: u64, time: Option<Duration>) -> DatabaseIoReport {
    let (iops, bandwidth) = match time {
        Some(time) => (per_second(io.count(), time), per_second(io.bytes(), time)),
        None => (io.iops(), io.bandwidth()),
    };
    DatabaseIoReport {
        total_ios: io.count(),
        io_bytes: io.bytes(),
        per_transaction: ratio(io.count(), transactions),
        iops: finite(iops),
        bw_bytes: bandwidth as u64,
    }
}

fn etcd_report(
    model: DatabaseModel,
    totals: &DatabaseTotals,
    histograms: HistogramOptions<'_>,
) -> Option<EtcdReport> {
    if model != DatabaseModel::Etcd {
        return None;
    }
    let &(_, sync_p99_ns) = totals.commit_sync_calls.percentiles(histograms.buckets, &[99.0]).first()?;
    Some(EtcdReport { sync_p99_ns, limit_ns: ETCD_LIMIT_NS, is_below: sync_p99_ns < ETCD_LIMIT_NS })
}

fn per_second(count: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { finite(count as f64 / time.as_secs_f64()) }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests;
