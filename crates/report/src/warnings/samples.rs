//! Runs that are too short, and percentiles of too few samples.

use ferrio_job::{JobSpec, counted};
use ferrio_results::JobResult;

use super::run_view::{Finding, RunView};
use crate::database::{is_database_job, is_session};
use crate::messages::report_name;
use crate::model::{DATABASE_PERCENTILES, DirectionReport, JobReport, Percentiles};

/// Lowest percentile that is evaluated: lower ones have ten times as many samples above them.
const MIN_HIGH_PERCENTILE: f64 = 99.9;
/// A high percentile with few samples.
struct SparsePercentile {
    samples: u64,
    what: &'static str,
    /// The highest percentile printed.
    percent: f64,
}

impl SparsePercentile {
    /// Minimum number of samples for one to be above the percentile; with fewer, the printed value is the largest sample. 10,000 for 99.99.
    fn needed(&self) -> u64 {
        // The maximum needs one sample. The quotient is inexact, as 99.9 is not a binary fraction.
        if self.percent >= 100.0 { 1 } else { (100.0 / (100.0 - self.percent)).round() as u64 }
    }

    fn is_sparse(&self) -> bool {
        self.samples < self.needed()
    }
}

/// True if the job measures speed. A failed job has an error already, a verifying job checks data, and a job without data measures no
/// device.
fn is_measurement(spec: &JobSpec, result: &JobResult) -> bool {
    result.error.is_none() && spec.verify.is_none() && spec.engine.moves_data()
}

/// Warns if a high percentile with too few samples is printed.
pub(super) fn few_ios(run: &RunView<'_>) -> Vec<Finding> {
    if !run.is_over() {
        return Vec::new();
    }
    let mut worst: Option<(SparsePercentile, String)> = None;
    let mut jobs = Vec::new();
    let mut next = 0;
    for entry in run.entries {
        // Jobs that are not reported have no entry.
        let named = |job: &usize| run.plan.jobs[*job].spec.name.starts_with(&entry.jobname);
        let first = (next..run.plan.jobs.len()).find(named).unwrap_or(next);
        next = (first + entry.text.jobs).min(run.plan.jobs.len());
        let Some(sparse) = sparsest(entry) else { continue };
        // There are more I/Os than transactions, which are evaluated below.
        if run.plan.jobs.get(first).is_some_and(|job| is_database_job(&job.spec)) {
            continue;
        }
        let matters = |job: &usize| {
            let result = run.result.jobs.get(*job);
            result.is_some_and(|result| is_measurement(&run.plan.jobs[*job].spec, result))
        };
        if !(first..next).any(|job| matters(&job)) {
            continue;
        }
        jobs.extend(first..next);
        if worst.as_ref().is_none_or(|(worst, _)| sparse.samples < worst.samples) {
            worst = Some((sparse, entry.jobname.clone()));
        }
    }
    for load in run.reported_databases() {
        let spec = load.first().spec;
        let failed = load.jobs.iter().any(|job| job.result.error.is_some());
        let samples = load.measured().latency.count();
        let listed = spec.measure.percentiles.last().copied().filter(|_| spec.measure.any_percentiles());
        let percent = DATABASE_PERCENTILES.into_iter().chain(listed).fold(0.0, f64::max);
        let sparse = SparsePercentile { samples, what: "transaction", percent };
        if samples == 0 || failed || !sparse.is_sparse() {
            continue;
        }
        jobs.extend(load.session_indices());
        if worst.as_ref().is_none_or(|(worst, _)| sparse.samples < worst.samples) {
            worst = Some((sparse, report_name(spec).to_owned()));
        }
    }
    let Some((worst, whose)) = worst else { return Vec::new() };
    let needed = worst.needed();
    let SparsePercentile { samples, what, percent } = worst;
    let who = run.who(&jobs);
    let samples = counted(samples, "sample");
    let message = if run.names(&jobs).len() == 1 {
        format!(
            "{who}: the {percent}th percentile of {what} latencies is based on {samples} and needs {needed}"
        )
    } else {
        format!(
            "{who}: percentiles up to the {percent}th need {needed} samples; those of the {what} latencies of {whose} are based on {samples}"
        )
    };
    let help = run.help_for(
        &jobs,
        "with fewer samples it is little more than the largest one: run longer or raise `transactions`",
        "with fewer samples it is little more than the largest one: use more I/Os, or end percentile_list lower",
    );
    vec![Finding { jobs, message, help }]
}

/// The latency with the fewest samples of those with a high percentile.
fn sparsest(entry: &JobReport) -> Option<SparsePercentile> {
    let directions = entry.shown_directions().into_iter().filter_map(|(name, direction)| {
        let (samples, percent) = shown(direction)?;
        Some(SparsePercentile { samples, what: name, percent })
    });
    let syncs = highest(&entry.text.sync_percentiles)
        .zip(entry.syncs())
        .map(|(percent, syncs)| SparsePercentile { samples: syncs.lat_ns.samples, what: "sync", percent });
    directions.chain(syncs).filter(SparsePercentile::is_sparse).min_by_key(|sparse| sparse.samples)
}

/// Number of samples, and highest percentile, of any latency of a direction; all have the same number.
fn shown(direction: &DirectionReport) -> Option<(u64, f64)> {
    let latencies = [&direction.clat_ns, &direction.lat_ns, &direction.slat_ns];
    let shown =
        |latency: &&crate::model::LatencyReport| Some((latency.samples, highest(&latency.percentile)?));
    latencies.iter().find_map(shown).or_else(|| shown(&direction.response_ns.as_ref()?))
}

fn highest(percentiles: &Percentiles) -> Option<f64> {
    percentiles.0.last().map(|&(percent, _)| percent).filter(|&percent| percent >= MIN_HIGH_PERCENTILE)
}

/// Shorter runs consist to more than a percent of starts and ends of jobs, and have hardly a bandwidth sample (500 ms).
const MIN_RUN_MS: u64 = 1000;

/// Warns if a job did I/O for less than a second.
pub(super) fn short_run(run: &RunView<'_>) -> Vec<Finding> {
    if !run.is_over() {
        return Vec::new();
    }
    let judged = run.reported().filter(|(_, spec, job)| {
        let in_background = is_database_job(spec) && !is_session(spec);
        job.stats.total_ios() > 0 && is_measurement(spec, job) && !in_background
    });
    let ran = judged.map(|(index, _, job)| {
        // The time of the job is rounded down, those of its directions up.
        let directions = job.stats.directions.iter().map(|direction| direction.runtime_ms);
        (directions.fold(job.stats.job_runtime_ms, u64::max), index)
    });
    let short: Vec<(u64, usize)> = ran.filter(|&(ms, _)| ms < MIN_RUN_MS).collect();
    let Some(&(ms, _)) = short.iter().min() else { return Vec::new() };
    let jobs: Vec<usize> = short.into_iter().map(|(_, index)| index).collect();
    let who = run.who(&jobs);
    let message = if jobs.len() == 1 {
        format!("{who} ran for only {ms} ms")
    } else {
        format!("{who} ran for less than a second, the shortest for {ms} ms")
    };
    let help = run.help_for(
        &jobs,
        "results of less than a second vary a lot: run longer or raise `transactions`",
        "results of less than a second vary a lot: use time_based with a runtime of seconds, or more data",
    );
    vec![Finding { jobs, message, help }]
}

#[cfg(test)]
mod tests {
    use crate::warnings::testing::{TestRun, reading, verifying};

    #[test]
    fn a_high_percentile_with_no_sample_above_it_has_a_warning() {
        let found = TestRun::new().job("a", reading(9999, 5000)).warnings("few-ios");
        let want = "a: the 99.99th percentile of read latencies is based on 9999 samples and needs 10000";
        assert_eq!(found[0].message, want);
        assert!(TestRun::new().job("a", reading(10_000, 5000)).warnings("few-ios").is_empty());
        for (percent, needed) in [(99.9, 1000), (99.95, 2000), (99.999, 100_000), (100.0, 1)] {
            let list = |spec: &mut ferrio_job::JobSpec| spec.measure.percentiles = vec![percent];
            let found =
                |ios| TestRun::new().job_with("a", reading(ios, 5000), list).warnings("few-ios").len();
            assert_eq!((found(needed - 1), found(needed)), (usize::from(needed > 1), 0), "{percent}");
        }
    }

    #[test]
    fn percentiles_that_are_not_printed_do_not_matter() {
        let lower = |spec: &mut ferrio_job::JobSpec| spec.measure.percentiles = vec![50.0, 99.0];
        assert!(TestRun::new().job_with("a", reading(10, 5000), lower).warnings("few-ios").is_empty());
        let none = |spec: &mut ferrio_job::JobSpec| spec.measure.clat_percentiles = false;
        assert!(TestRun::new().job_with("a", reading(10, 5000), none).warnings("few-ios").is_empty());
    }

    #[test]
    fn of_several_jobs_the_one_with_the_fewest_samples_is_named() {
        let found =
            TestRun::new().job("a", reading(900, 5000)).job("b", reading(30, 5000)).warnings("few-ios");
        let want = "2 jobs (a, b): percentiles up to the 99.99th need 10000 samples; \
             those of the read latencies of b are based on 30 samples";
        assert_eq!((found.len(), found[0].message.as_str()), (1, want));
    }

    #[test]
    fn only_jobs_whose_latencies_matter_have_a_warning() {
        assert!(TestRun::new().job_with("a", reading(10, 5000), verifying).warnings("few-ios").is_empty());
        let few = || TestRun::new().job("a", reading(10, 5000));
        let mut failed = few();
        failed.result.jobs[0].error = Some(ferrio_results::JobError::new(5, "io_u error"));
        assert!(failed.warnings("few-ios").is_empty());
        assert!(few().running().warnings("few-ios").is_empty(), "more are to come");
    }

    #[test]
    fn jobs_that_report_as_one_have_their_samples_together() {
        let grouped = |spec: &mut ferrio_job::JobSpec| spec.group_reporting = true;
        let case = || TestRun::new().job_with("a", reading(5000, 5000), grouped);
        assert!(case().job_with("a", reading(5000, 5000), grouped).warnings("few-ios").is_empty());
        let found = case().job_with("a", reading(4000, 5000), grouped).warnings("few-ios");
        assert_eq!((found.len(), found[0].count), (1, 2));
    }

    #[test]
    fn a_job_of_less_than_a_second_has_a_warning_and_one_of_a_second_has_none() {
        let found = TestRun::new().job("a", reading(1000, 999)).warnings("short-run");
        assert_eq!(found[0].message, "a ran for only 999 ms");
        assert_eq!((found[0].jobs.as_slice(), found[0].count), (["a".to_owned()].as_slice(), 1));
        let mut rounded_down = reading(1000, 1000);
        rounded_down.job_runtime_ms = 999;
        assert!(TestRun::new().job("a", rounded_down).warnings("short-run").is_empty());
        assert!(TestRun::new().job("idle", reading(0, 1)).warnings("short-run").is_empty());
    }

    #[test]
    fn only_jobs_whose_speed_matters_have_a_warning() {
        let found = |case: TestRun| case.warnings("short-run").len();
        let short = || TestRun::new().job("a", reading(1000, 500));
        assert_eq!(found(short()), 1);
        let unreported = |spec: &mut ferrio_job::JobSpec| spec.measure.reported = false;
        assert_eq!(found(TestRun::new().job_with("warm-up", reading(1000, 500), unreported)), 0);
        assert_eq!(found(TestRun::new().job_with("check", reading(1000, 500), verifying)), 0);
        let mut failed = short();
        failed.result.jobs[0].error = Some(ferrio_results::JobError::new(5, "io_u error"));
        assert_eq!(found(failed), 0);
        assert_eq!(found(short().running()), 0, "it may yet run for a second");
        let without_data = |spec: &mut ferrio_job::JobSpec| spec.engine = ferrio_job::EngineKind::Null;
        let null = TestRun::new().job_with("a", reading(10, 500), without_data);
        assert_eq!((null.warnings("few-ios").len(), found(null)), (0, 0));
    }

    #[test]
    fn clones_share_a_warning() {
        let case = (0..64).fold(TestRun::new(), |case, at| case.job("a", reading(10, 900 - at)));
        let found = case.job("b", reading(10, 850)).warnings("short-run");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message, "65 jobs (a, b) ran for less than a second, the shortest for 837 ms");
        assert_eq!((found[0].jobs.len(), found[0].count), (2, 65));
    }
}
