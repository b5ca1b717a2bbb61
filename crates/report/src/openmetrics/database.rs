//! Families about database models.

use super::exposition::{
    Family, Labels, MetricPoint, each, families, latency, latency_stddev, maybe, one, ratio, seconds_of_ms,
    seconds_of_ns,
};
use crate::model::{DatabaseReport, LatencyReport, RunReport, StepReport};

/// Families about one database model.
pub(super) const DATABASES: &[Family<DatabaseReport>] = families! {
    Gauge "ferrio_database_info", "Always 1; the database that is modelled, as a label",
        |database| vec![MetricPoint { labels: vec![("model", database.model.clone())], value: 1_u64.into() }];
    Gauge "ferrio_database_sessions", "Number of sessions",
        |database| one(u64::from(database.sessions));
    Gauge "ferrio_database_runtime_seconds", "Longest time of a session",
        |database| one(seconds_of_ms(database.runtime));
    Gauge "ferrio_database_transaction_rate", "Transactions that arrive per second, with transaction_rate",
        |database| maybe(database.transaction_rate);
    Counter "ferrio_database_transactions", "Transactions that ended",
        |database| one(database.figures.transactions);
    Gauge "ferrio_database_tps", "Transactions per second over the longest time of a session",
        |database| one(database.figures.tps);
    Summary "ferrio_database_transaction_seconds", "Latency of transactions",
        |database| latency(&database.figures.lat_ns);
    Gauge "ferrio_database_transaction_stddev_seconds", "Standard deviation of the latency of transactions",
        |database| latency_stddev(&database.figures.lat_ns);
    Summary "ferrio_database_step_seconds", "Latency of the steps of transactions",
        |database| of_steps(database, latency);
    Gauge "ferrio_database_step_stddev_seconds",
        "Standard deviation of the latency of the steps of transactions",
        |database| of_steps(database, latency_stddev);
    Gauge "ferrio_database_step_ratio", "Share of the steps in the time of transactions",
        |database| {
            let steps = database.figures.steps.all();
            each("step", steps.map(|(name, step)| (word(name), ratio(step.share))))
        };
    Counter "ferrio_database_ios", "I/Os and syncs by what they are for",
        |database| each("kind", database.figures.io.all().map(|(kind, io)| (kind, io.total_ios)));
    Counter "ferrio_database_io_bytes", "Bytes moved by what they are for",
        |database| {
            let ios = database.figures.io.all().into_iter().filter(|(kind, _)| !kind.ends_with("_syncs"));
            each("kind", ios.map(|(kind, io)| (kind, io.io_bytes)))
        };
    Gauge "ferrio_database_read_ratio", "Share of reads in all reads and writes",
        |database| {
            let figures = &database.figures;
            let shares = [("ios", figures.read_ios_share), ("bytes", figures.read_bytes_share)];
            each("of", shares.into_iter().filter_map(|(of, share)| Some((of, ratio(share?)))))
        };
    Counter "ferrio_database_pool_hits", "Pages that transactions used and found in the buffer pool",
        |database| one(database.figures.pool_hits);
    Gauge "ferrio_database_pool_hit_ratio",
        "Share of the pages that transactions used and found in the buffer pool",
        |database| maybe(database.figures.pool_hit_share.map(ratio));
    Gauge "ferrio_database_commits_per_sync", "Transactions for each sync of the log by a session",
        |database| maybe(database.figures.commits_per_sync);
    Counter "ferrio_database_full_pages", "Whole pages that were put into the log",
        |database| one(database.figures.full_pages);
    Counter "ferrio_database_written_back", "Pages or tables that were written back",
        |database| one(database.figures.written_back);
    Counter "ferrio_database_checkpoints", "Checkpoints",
        |database| one(database.figures.checkpoints);
    Gauge "ferrio_database_etcd_sync_p99_seconds", "The 99th percentile of syncs of the log, for etcd",
        |database| maybe(database.etcd.map(|etcd| seconds_of_ns(etcd.sync_p99_ns)));
};

/// The database models of the report.
pub(super) fn databases(report: &RunReport) -> Vec<(Labels, &DatabaseReport)> {
    let databases = report.ferrio.iter().flat_map(|ferrio| &ferrio.databases).enumerate();
    let labels = |at: usize, database: &DatabaseReport| {
        vec![
            ("database", at.to_string()),
            ("jobname", database.jobname.clone()),
            ("group", database.groupid.to_string()),
        ]
    };
    databases.map(|(at, database)| (labels(at, database), database)).collect()
}

/// The word of a step in labels, as in the JSON document.
fn word(name: &str) -> String {
    name.replace([' ', '-'], "_")
}

fn of_steps(database: &DatabaseReport, points: fn(&LatencyReport) -> Vec<MetricPoint>) -> Vec<MetricPoint> {
    let steps = database.figures.steps.all();
    let of_step = |(name, step): (&str, &StepReport)| {
        points(&step.lat_ns)
            .into_iter()
            .map(move |mut point| {
                point.labels.push(("step", word(name)));
                point
            })
            .collect::<Vec<_>>()
    };
    steps.flat_map(of_step).collect()
}
