//! The outcome of a run, and the exit status that reflects it.

use ferrio_job::{Plan, strerror};
use ferrio_report::RunReport;
use ferrio_results::RunResult;
use ferrio_thresholds::Judgement;

/// Failed jobs are counted up to this in the exit status, to which a signal that ended the run adds [`SIGNALLED`].
pub const MAX_FAILED: usize = 127;

/// What the exit status of a run has in addition if a signal ended it.
pub const SIGNALLED: u8 = 128;

/// Exit status of a run that exceeds a threshold; the same as that of `ferrio compare --fail-on-regression`.
pub const THRESHOLD_EXCEEDED_STATUS: u8 = 3;

/// The results of a run, its main report, and everything else that determines the exit status.
#[derive(Debug)]
pub struct RunOutcome {
    pub result: RunResult,
    /// The main report.
    pub report: RunReport,
    /// True if another file of the run than its report is missing or incomplete, which makes the exit status nonzero. As in fio, lost logs
    /// and verify states do not count if the program is called `fio`.
    pub lost_file: bool,
    /// True if the profile's verdict is that the devices failed, which makes the exit status nonzero. Always false if the program is called
    /// `fio`.
    pub verdict_failed: bool,
    /// One for each threshold.
    pub thresholds: Vec<Judgement>,
    /// A threshold has ended the run.
    pub was_aborted: bool,
}

/// The exit status of a run: the number of failed jobs, plus 128 if a signal ended it. It is at least 1 if the run failed as a whole
/// ([`failures_of_run`]) or a threshold cannot be judged, and 3 if all went well but a threshold is exceeded. Unless the program is called
/// `fio`, a job that found damaged blocks has failed even if it continued to check the others.
#[must_use]
pub fn status(plan: &Plan, outcome: &RunOutcome) -> u8 {
    let RunOutcome { result, thresholds, was_aborted, .. } = outcome;
    let has_failed = |at: &usize| failure_of_job(plan, result, *at).is_some();
    let failed = (0..plan.jobs.len()).filter(has_failed).count().min(MAX_FAILED);
    let status = failed + if result.signal.is_some() { usize::from(SIGNALLED) } else { 0 };
    // After an abort, thresholds may be unjudged because jobs never began their I/O: that is no failure.
    let is_unjudged = !was_aborted && thresholds.iter().any(Judgement::is_unjudged);
    let failed = !failures_of_run(plan, outcome).is_empty() || is_unjudged;
    let status = u8::try_from(status).unwrap_or(u8::MAX).max(u8::from(failed));
    match thresholds.iter().any(Judgement::is_exceeded) {
        true if status == 0 => THRESHOLD_EXCEEDED_STATUS,
        _ => status,
    }
}

/// The failures of the run as a whole, each of which makes the exit status at least 1: the code of a message and its text.
#[must_use]
pub fn failures_of_run(plan: &Plan, outcome: &RunOutcome) -> Vec<(&'static str, &'static str)> {
    let skips_lines = plan.compat().bad_lines_fail_run
        && plan.diagnostics.iter().any(|diagnostic| diagnostic.code == "bad-iolog-line");
    let failures = [
        (outcome.lost_file, "lost-file", "a file of the run is missing or incomplete: stderr names it"),
        (outcome.verdict_failed, "profile-failed", "the devices failed the test of the profile act"),
        (skips_lines, "bad-iolog-line", "invalid lines of a replayed log were skipped: stderr names them"),
    ];
    failures.into_iter().filter(|(failed, ..)| *failed).map(|(_, code, message)| (code, message)).collect()
}

/// The reason why the job with this index failed; `None` if it did not.
#[must_use]
pub fn failure_of_job(plan: &Plan, result: &RunResult, job_index: usize) -> Option<String> {
    let planned = plan.jobs.get(job_index);
    if let Some(error) = planned.and_then(|job| job.setup_error.as_ref()) {
        return Some(error.message.clone());
    }
    let job = result.jobs.get(job_index)?;
    if let Some(error) = &job.error {
        return Some(format!("{}: {}", error.func, strerror(error.errno)));
    }
    let reports_damage = planned.is_some_and(|job| job.spec.compat.damage_fails_jobs);
    let damaged: u64 = job.damage.counts.values().sum();
    (reports_damage && !job.damage.counts.is_empty())
        .then(|| format!("blocks that failed their check: {damaged}"))
}

#[cfg(test)]
mod tests {
    use ferrio_job::{Compat, CompatRules, SetupError};
    use ferrio_plan::testing::{default_job, plan};
    use ferrio_results::{DamageKind, JobError, JobResult};

    use super::*;

    fn run(errors: &[Option<i32>], signal: Option<i32>) -> (Plan, RunOutcome) {
        let result = |errno: &Option<i32>| JobResult {
            error: errno.map(|errno| JobError::new(errno, "io_u error")),
            ..JobResult::default()
        };
        let result = RunResult { jobs: errors.iter().map(result).collect(), signal, ..RunResult::default() };
        let outcome = RunOutcome {
            result,
            report: RunReport::default(),
            lost_file: false,
            verdict_failed: false,
            thresholds: Vec::new(),
            was_aborted: false,
        };
        (plan(errors.iter().map(|_| default_job("a"))), outcome)
    }

    #[test]
    fn the_status_counts_failed_jobs_and_does_not_wrap() {
        let status_of = |errors: &[Option<i32>], signal| {
            let (plan, outcome) = run(errors, signal);
            status(&plan, &outcome)
        };
        assert_eq!(status_of(&[None, None], None), 0);
        assert_eq!(status_of(&[Some(5), None, Some(0)], None), 2);
        assert_eq!(status_of(&[None], Some(2)), 128);
        assert_eq!(status_of(&[Some(5), Some(5)], Some(15)), 130);
        assert_eq!(status_of(&vec![Some(5); 256], None), 127);
        assert_eq!(status_of(&vec![Some(5); 256], Some(2)), 255);
    }

    #[test]
    fn an_incomplete_file_and_a_failed_verdict_are_failures() {
        let (plan, outcome) = run(&[None], None);
        assert_eq!(status(&plan, &RunOutcome { lost_file: true, ..outcome }), 1);
        let (plan, outcome) = run(&[None], None);
        assert_eq!(status(&plan, &RunOutcome { verdict_failed: true, ..outcome }), 1);
        let (plan, outcome) = run(&[Some(5), Some(5)], None);
        assert_eq!(status(&plan, &RunOutcome { verdict_failed: true, ..outcome }), 2);
    }

    #[test]
    fn damaged_blocks_are_a_failure_except_for_fio() {
        let (mut plan, mut outcome) = run(&[None, Some(84), None], None);
        for job in [0, 1] {
            outcome.result.jobs[job].damage.counts.insert(DamageKind::Zeros, 7);
        }
        assert_eq!(status(&plan, &outcome), 2);
        plan.jobs.iter_mut().for_each(|job| job.spec.compat = CompatRules::of(Compat::Fio));
        assert_eq!(status(&plan, &outcome), 1);
    }

    #[test]
    fn a_job_that_could_not_be_set_up_has_failed() {
        let (mut plan, outcome) = run(&[None, None], None);
        let error = SetupError::new(0, "total_file_size", "you need to specify valid offset=");
        plan.jobs[1].setup_error = Some(error);
        assert_eq!(status(&plan, &outcome), 1);
    }
}
