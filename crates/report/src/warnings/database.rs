//! Limits of the transactions of database models; and, for all jobs, syncs that reach no device, which matter most there.

use ferrio_job::{CommitSync, DatabaseRole, Direction, JobSpec, TransactionStep};
use ferrio_results::JobResult;

use super::run_view::{DiskUser, Finding, RunView, bytes, uncounted};

/// Minimum time in ns of a device for a write and the sync that waits for it: the final interrupt alone takes about a microsecond, and the
/// fastest media 6 µs.
const MIN_SYNC_NS: u64 = 3000;
/// Fewer syncs are not evaluated.
const MIN_SYNCS: u64 = 100;

/// Warns about syncs of data in the page cache that return before a device can have received any of it.
pub(super) fn cheap_syncs(run: &RunView<'_>) -> Vec<Finding> {
    let mut jobs = Vec::new();
    let (mut least, mut syncs) = (u64::MAX, 0);
    for (index, spec, result) in run.reported() {
        let Some(calls) = &result.stats.sync.latency else { continue };
        let median = calls.percentiles(ferrio_stats::Buckets::Hdr, &[50.0]).first().map_or(0, |&(_, ns)| ns);
        let cheap = calls.count() >= MIN_SYNCS && median < MIN_SYNC_NS;
        if cheap && syncs_cached_writes(spec, result, index) && is_stored(run, index) {
            jobs.push(index);
            (least, syncs) = (least.min(median), syncs + calls.count());
        }
    }
    if jobs.is_empty() {
        return Vec::new();
    }
    let message = format!(
        "half of the {syncs} syncs of {} took {least} ns or less: they wrote nothing to a device",
        run.who(&jobs)
    );
    let help = "something ignores syncs, such as an overlay mounted with volatile, sync=disabled of ZFS, or eatmydata: \
         nothing that was written is durable";
    vec![Finding { jobs, message, help }]
}

/// True if each sync of the job follows a write to the page cache.
fn syncs_cached_writes(spec: &JobSpec, result: &JobResult, index: usize) -> bool {
    match spec.database() {
        Some((database, role)) => role == DatabaseRole::Session && !database.log.direct,
        // sync_file_range may only start a write.
        None => {
            spec.durability.sync_file_range.every == 0
                && DiskUser { index, spec, result }.is_cached(Direction::Write)
        }
    }
}

/// True if the files of the job are neither in memory nor on persistent memory.
fn is_stored(run: &RunView<'_>, job: usize) -> bool {
    let places = run.environment.of_job(job).iter().filter_map(|&place| run.environment.places.get(place));
    let mut places = places.peekable();
    places.peek().is_some() && places.all(|place| !place.is_in_memory() && uncounted(place).is_none())
}

/// Minimum percentage of transaction time spent waiting for write-back that counts as the limit.
const MIN_WAIT_PERCENT: f64 = 50.0;

/// Warns if sessions waited most of the time for write-back by other jobs.
pub(super) fn write_back_limits(run: &RunView<'_>) -> Vec<Finding> {
    if !run.is_long_enough() {
        return Vec::new();
    }
    let found = run.reported_databases().filter_map(|load| {
        let totals = load.measured();
        let waits = totals.steps[TransactionStep::WriteBackWait as usize].sum() as f64;
        let share = 100.0 * waits / (totals.latency.sum() as f64).max(1.0);
        if share < MIN_WAIT_PERCENT {
            return None;
        }
        let jobs = load.session_indices();
        let message = format!("transactions of {} waited for write-back for {share:.0} % of their time", run.who(&jobs));
        let help = "the job that writes back is the limit, not the sessions: larger batches, or an asynchronous engine with \
             iodepth, let it write more at once, and a larger log_size makes checkpoints rarer";
        Some(Finding { jobs, message, help })
    });
    found.collect()
}

/// Warns about models that did no transaction in the measured time.
pub(super) fn no_transactions(run: &RunView<'_>) -> Vec<Finding> {
    let found = run.reported_databases().filter_map(|load| {
        let has_begun = load.jobs.iter().all(|job| job.result.start_ms > 0 && job.result.error.is_none());
        if load.measured().transactions > 0 || !has_begun {
            return None;
        }
        let jobs = load.session_indices();
        let message = format!("no transaction of {} ended in the time that counts", run.who(&jobs));
        let help = match load.first().spec.limits.ramp_time.is_zero() {
            true => "let it run longer",
            false => "those of the ramp do not count, but are among `transactions`: shorten `ramp_time`, or raise `transactions`",
        };
        Some(Finding { jobs, message, help })
    });
    found.collect()
}

/// Minimum duration of write-back after the last transaction, as a percentage of the transactions' time.
const MIN_WRITE_BACK_PERCENT: u32 = 10;

/// Warns about models that left much of their work to be done after the last transaction.
pub(super) fn write_back_afterwards(run: &RunView<'_>) -> Vec<Finding> {
    let found = run.reported_databases().filter_map(|load| {
        let totals = load.measured();
        let after = totals.background_tail();
        let is_short = after.as_millis() == 0 || after * 100 < totals.session_time * MIN_WRITE_BACK_PERCENT;
        if is_short || totals.transactions == 0 {
            return None;
        }
        let jobs = load.session_indices();
        let all = (totals.session_time + after).as_secs_f64();
        let message = format!(
            "transactions of {} took {:.1} s, and writing back what they changed {:.1} s more: with that, {:.1} transactions per second",
            run.who(&jobs),
            totals.session_time.as_secs_f64(),
            after.as_secs_f64(),
            totals.transactions as f64 / all.max(f64::MIN_POSITIVE)
        );
        let help = "do more transactions, so that the changes that may wait (`dirty_pages`, `waiting_tables`) are few of all";
        Some(Finding { jobs, message, help })
    });
    found.collect()
}

/// Warns about databases whose commits do not sync a log in the page cache.
pub(super) fn unsynced_logs(run: &RunView<'_>) -> Vec<Finding> {
    let found = run.reported_databases().filter_map(|load| {
        let database = load.database;
        let first = load.first().index;
        let is_unsynced = database.commit.sync == CommitSync::None && !database.log.direct;
        // Sessions write only the log, which is in memory once.
        let writes = load.sessions().map(|job| job.result.stats.directions[Direction::Write as usize].bytes);
        let written = writes.sum::<u64>().min(database.log.size);
        if !is_unsynced || written == 0 || !is_stored(run, first) {
            return None;
        }
        let jobs = load.session_indices();
        let message = format!(
            "commits of {} do not sync the log: {} of log writes may still be in memory",
            run.who(&jobs),
            bytes(written)
        );
        let help = "to make commits durable, use commit_sync=fdatasync";
        Some(Finding { jobs, message, help })
    });
    found.collect()
}

#[cfg(test)]
mod tests;
