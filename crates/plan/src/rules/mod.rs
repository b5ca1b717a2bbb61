//! Options that change or exclude each other once a whole job is known: one small function per rule, by subject.
//!
//! Rules on the job as written ([`check`]) hold whatever the engine and whether or not all options are implemented; rules on the
//! resolved job ([`apply`]) also fix it up, in the order they apply; [`Together`] compares the jobs of a run with each other.

mod access;
mod contents;
mod fill;
mod groups;
mod iolog;
mod latencies;
mod memory;
#[cfg(test)]
mod places;
mod random;
mod rates;
mod sizes;
mod steadystate;
mod verify;
mod zones;

use ferrio_jobfile::Job;

use crate::findings::Findings;
use crate::sizes::Sizing;
use crate::{Machine, files, logs, measure};
use ferrio_job::JobSpec;

pub(crate) use contents::{global_duplicates_need_known_seeds, working_set_fits_the_memory};
pub(crate) use fill::{INERT as INERT_FILL, is_unlimited};
pub(crate) use groups::Together;
pub(crate) use iolog::stdin_has_one_user;

/// Refusals and warnings that need nothing but the job's options.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    zones::check(job, findings);
    random::check(job, findings);
    rates::check(job, findings);
    latencies::check(job, findings);
    sizes::check(job, findings);
    contents::check(job, findings);
    memory::check(job, findings);
    iolog::check(job, findings);
    files::note_idle_argument(job, findings);
    steadystate::check(job, findings);
    access::check(job, findings);
}

/// Applies all rules to a resolved job.
pub(crate) fn apply(
    job: &Job,
    spec: &mut JobSpec,
    sizing: &Sizing,
    machine: &Machine,
    findings: &mut Findings,
) {
    access::apply(job, spec, machine, findings);
    sizes::apply(job, spec, sizing, machine, findings);
    random::apply(job, spec, findings);
    fill::apply(job, spec, findings);
    verify::apply(job, spec, findings);
    measure::drop_unmeasured_percentiles(&mut spec.measure);
    measure::tell_cut_percentiles(job, findings);
    logs::join_intervals(job, &mut spec.measure, &mut spec.logs);
    logs::empty_disabled_bandwidth_log(job, &mut spec.logs, findings);
    logs::tell_limits_of_histograms(job, spec, findings);
}

#[cfg(test)]
mod tests {
    use ferrio_jobfile::JobSet;

    use super::*;
    use crate::PlanOptions;
    use crate::resolve::resolve;
    use crate::status::{self, InertOptions};
    use crate::testing::{MACHINE, jobs_of, refusals};

    /// A job of the engine that does nothing.
    pub(super) fn null(options: &str) -> String {
        format!("[a]\nioengine=null\nsize=64k\n{options}")
    }

    /// What is told first about such a job: rules come before what is missing.
    pub(super) fn first_refusal(options: &str) -> String {
        refusals(&null(options)).into_iter().next().unwrap_or_default()
    }

    /// What the rules say about jobs, whatever this program has of their options.
    fn findings(set: &JobSet) -> Findings {
        let mut findings = Findings::default();
        let mut together = Together::default();
        for job in &set.jobs {
            check(job, &mut findings);
            let draft = resolve(job, &MACHINE, &PlanOptions::default(), &mut findings);
            together.check(job, draft.as_ref().map(|draft| &draft.spec), &mut findings);
        }
        findings
    }

    fn messages(findings: Findings) -> Vec<String> {
        let mut problems: Vec<_> =
            findings.into_problems().into_iter().map(|problem| problem.message).collect();
        problems.retain(|message| !message.ends_with("not implemented yet"));
        problems
    }

    /// All refusals of rules of one job.
    pub(super) fn wrong(options: &str) -> Vec<String> {
        messages(findings(&jobs_of(&null(options))))
    }

    /// All refusals of rules of several jobs, which share what stands before the first.
    pub(super) fn wrong_in(jobs: &str) -> Vec<String> {
        messages(findings(&jobs_of(&format!("[global]\nioengine=null\nsize=64k\n{jobs}"))))
    }

    /// Notes of rules about one job.
    pub(super) fn notes_of(options: &str) -> Vec<String> {
        findings(&jobs_of(&null(options))).into_notes().into_iter().map(|note| note.message).collect()
    }

    /// A job as fixed up, even if this program lacks some of its options.
    pub(super) fn fixed(options: &str) -> JobSpec {
        let set = jobs_of(&null(options));
        resolve(&set.jobs[0], &MACHINE, &PlanOptions::default(), &mut Findings::default()).unwrap().spec
    }

    #[test]
    fn what_is_wrong_is_told_before_what_is_missing_and_all_in_one_go() {
        let set = jobs_of(&null("thinktime=5\nlockmem=1m\nzonesize=64k\nrate=1m\nrate_iops=9\n"));
        let mut told = Findings::default();
        status::check(&set.jobs[0], &mut InertOptions::default(), &mut told);
        let missing = told.into_problems();
        let refused = refusals(&null("thinktime=5\nlockmem=1m\nzonesize=64k\nrate=1m\nrate_iops=9\n"));
        let want = [
            "--zonemode=none and --zonesize are not compatible",
            "rate and rate_iops are mutually exclusive",
        ];
        assert_eq!(refused[..2], want);
        assert_eq!(refused.len(), 2 + missing.len());
        assert!(!missing.is_empty());
    }
}
