//! Requested rates that were not reached.

use ferrio_job::{Direction, JobSpec};
use ferrio_stats::DirectionStats;

use super::run_view::{Finding, RunView};

/// Tolerated shortfall in percent.
const MAX_SHORTFALL_PERCENT: f64 = 1.0;
/// Number of I/Os that may be missing at any rate: the first is due at once, the last may be in flight.
const MAX_MISSING_IOS: f64 = 2.0;
/// Tolerated deviation in standard deviations. That of the number of arrivals of a Poisson process is its square root.
const MAX_DEVIATIONS: f64 = 4.0;

/// Warns if a direction of a job is slower than its `rate` or `rate_iops` by more than a percent.
pub(super) fn rate_not_held(run: &RunView<'_>) -> Vec<Finding> {
    let mut jobs = Vec::new();
    // The percentage that was reached, and the figures.
    let mut worst: Option<(f64, String)> = None;
    for (index, spec, result) in run.reported() {
        let directions = Direction::ALL.into_iter().zip(&result.stats.directions);
        let missed = directions.filter_map(|(direction, stats)| shortfall(spec, direction, stats));
        let Some(missed) = missed.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        jobs.push(index);
        if worst.as_ref().is_none_or(|worst| missed.0 < worst.0) {
            worst = Some(missed);
        }
    }
    let mut found = transaction_rates_not_held(run);
    let Some((reached, figures)) = worst else { return found };
    let at_worst = if jobs.len() > 1 { "at worst " } else { "" };
    let message = format!("{} did not hold the rate: {at_worst}{figures} ({reached:.1} %)", run.who(&jobs));
    let help =
        "the latencies are those of an overloaded job: use a lower rate, a larger iodepth or more jobs";
    found.insert(0, Finding { jobs, message, help });
    found
}

/// Warns about database models whose sessions did fewer transactions than arrived.
fn transaction_rates_not_held(run: &RunView<'_>) -> Vec<Finding> {
    let missed = run.reported_databases().filter_map(|load| {
        let (rate, totals) = (load.load.rate?, load.measured());
        let seconds = totals.runtime_ms as f64 / 1000.0;
        let (due, done) = (rate * seconds, totals.transactions as f64);
        // Tolerates transactions in progress at the end, and chance.
        let edges = f64::from(load.database.sessions) + MAX_DEVIATIONS * due.sqrt();
        let missing = due - done;
        let is_short = missing > due * MAX_SHORTFALL_PERCENT / 100.0 && missing > edges;
        if done == 0.0 || !is_short {
            return None;
        }
        let jobs = load.session_indices();
        let (tps, reached) = (done / seconds, 100.0 * done / due);
        let message = format!(
            "{} did not hold the rate: {tps:.0} of {rate:.0} transactions per second ({reached:.1} %)",
            run.who(&jobs)
        );
        let help = "transactions wait for a session, and the longer the run the longer they wait: \
             lower `transaction_rate` or raise `numjobs`";
        Some(Finding { jobs, message, help })
    });
    missed.collect()
}

/// The percentage that was reached, and the figures; `None` without a rate or if it was reached.
fn shortfall(spec: &JobSpec, direction: Direction, stats: &DirectionStats) -> Option<(f64, String)> {
    let seconds = stats.runtime_ms as f64 / 1000.0;
    let rates = &spec.rates;
    let (wanted, moved, of_one, unit) = match (rates.bytes[direction], rates.iops[direction]) {
        (0, 0) => return None,
        (0, iops) => (iops, stats.ios, 1.0, "IOPS"),
        (bytes, _) => (bytes, stats.bytes, spec.block[direction].max as f64, "bytes/s"),
    };
    // Blocks that are read back for verification have no rate.
    if stats.ios == 0 || seconds == 0.0 || !spec.rw.does(direction) {
        return None;
    }
    let due = wanted as f64 * seconds;
    let missing = due - moved as f64;
    let swing = if rates.poisson { MAX_DEVIATIONS * (due / of_one).sqrt() } else { 0.0 };
    let is_short =
        missing > due * MAX_SHORTFALL_PERCENT / 100.0 && missing > (MAX_MISSING_IOS + swing) * of_one;
    let per_second = moved as f64 / seconds;
    let name = direction.name();
    is_short.then(|| (100.0 * moved as f64 / due, format!("{name} at {per_second:.0} of {wanted} {unit}")))
}

#[cfg(test)]
mod tests {
    use crate::warnings::testing::{TestRun, reading};
    use ferrio_job::JobSpec;

    fn at(iops: u64, ios: u64, poisson: bool) -> Vec<String> {
        let rated = |spec: &mut JobSpec| {
            spec.rates.iops.0[0] = iops;
            spec.rates.poisson = poisson;
        };
        let found = TestRun::new().job_with("a", reading(ios, 10_000), rated).warnings("rate-not-held");
        found.into_iter().map(|warning| warning.message).collect()
    }

    #[test]
    fn a_rate_missed_by_more_than_a_percent_has_a_warning_with_the_figures() {
        let found = at(1000, 9000, false);
        let want = "a did not hold the rate: read at 900 of 1000 IOPS (90.0 %)";
        assert_eq!(found, [want]);
        assert!(at(1000, 9900, false).is_empty() && at(1000, 10_001, false).is_empty());
        assert!(at(0, 9000, false).is_empty());
    }

    #[test]
    fn a_few_ios_at_the_edges_do_not_count() {
        assert!(at(10, 98, false).is_empty());
        assert_eq!(at(10, 97, false).len(), 1);
    }

    #[test]
    fn random_arrivals_may_swing() {
        assert!(at(100, 900, true).is_empty(), "100 missing of 1000 are three swings and some");
        assert_eq!(at(100, 860, true).len(), 1);
    }

    #[test]
    fn bytes_are_judged_as_bytes() {
        let rated = |spec: &mut JobSpec| spec.rates.bytes.0[0] = 1 << 20;
        let found = TestRun::new().job_with("a", reading(1280, 10_000), rated).warnings("rate-not-held");
        assert!(found[0].message.contains("read at 524288 of 1048576 bytes/s"), "{found:?}");
    }
}
