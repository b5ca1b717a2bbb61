//! Jobs that were over before their figures could settle.

use super::{Look, Told};

/// Start and end of a job weigh more than a percent in a run of less, and bandwidth samples of 500 ms are hardly taken.
const LEAST_MS: u64 = 1000;

/// A job did I/O for less than a second.
pub(super) fn short_run(look: &Look<'_>) -> Vec<Told> {
    if !look.is_over() {
        return Vec::new();
    }
    // A job that failed has told so, and one that verifies is there for the data and not for its speed.
    let judged = look
        .reported()
        .filter(|(_, spec, job)| job.stats.total_ios() > 0 && job.error.is_none() && spec.verify.is_none());
    let ran = judged.map(|(index, _, job)| {
        // The time of the job is rounded down, those of its directions up.
        let directions = job.stats.directions.iter().map(|direction| direction.runtime_ms);
        (directions.fold(job.stats.job_runtime_ms, u64::max), index)
    });
    let short: Vec<(u64, usize)> = ran.filter(|&(ms, _)| ms < LEAST_MS).collect();
    let Some(&(ms, _)) = short.iter().min() else { return Vec::new() };
    let jobs: Vec<usize> = short.into_iter().map(|(_, index)| index).collect();
    let who = look.who(&jobs);
    let message = if jobs.len() == 1 {
        format!("{who} ran for {ms} ms only")
    } else {
        format!("{who} ran for less than a second, the shortest for {ms} ms")
    };
    let help = "figures of less than a second swing: use time_based with a runtime of seconds, or more data";
    vec![Told { jobs, message, help }]
}

#[cfg(test)]
mod tests {
    use crate::doubts::testing::{Case, reading, verifying};

    #[test]
    fn a_job_of_less_than_a_second_is_told_and_one_of_a_second_is_not() {
        let told = Case::new().job("a", reading(1000, 999)).warnings("short-run");
        assert_eq!(told[0].message, "a ran for 999 ms only");
        assert_eq!((told[0].jobs.as_slice(), told[0].count), (["a".to_owned()].as_slice(), 1));
        let mut rounded_down = reading(1000, 1000);
        rounded_down.job_runtime_ms = 999;
        assert!(Case::new().job("a", rounded_down).warnings("short-run").is_empty());
        assert!(Case::new().job("idle", reading(0, 1)).warnings("short-run").is_empty());
    }

    #[test]
    fn only_jobs_whose_speed_matters_are_told() {
        let told = |case: Case| case.warnings("short-run").len();
        let short = || Case::new().job("a", reading(1000, 500));
        assert_eq!(told(short()), 1);
        let unreported = |spec: &mut ferrio_job::JobSpec| spec.measure.reported = false;
        assert_eq!(told(Case::new().job_with("warm-up", reading(1000, 500), unreported)), 0);
        assert_eq!(told(Case::new().job_with("check", reading(1000, 500), verifying)), 0);
        let mut failed = short();
        failed.result.jobs[0].error = Some(ferrio_runner::JobError::new(5, "io_u error"));
        assert_eq!(told(failed), 0);
        assert_eq!(told(short().running()), 0, "it may yet run for a second");
    }

    #[test]
    fn clones_are_told_together() {
        let case = (0..64).fold(Case::new(), |case, at| case.job("a", reading(10, 900 - at)));
        let told = case.job("b", reading(10, 850)).warnings("short-run");
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].message, "65 jobs (a, b) ran for less than a second, the shortest for 837 ms");
        assert_eq!((told[0].jobs.len(), told[0].count), (2, 65));
    }
}
