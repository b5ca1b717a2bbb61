//! Rules that compare jobs: those of a report group, those that wait for each other, and all of a run.

use std::collections::{HashMap, HashSet};

use ferrio_job::{Diagnostic, JobSpec, Prefix, SteadyState, Units};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{name, note, place, refuse};
use crate::findings::Findings;
use crate::groups::begins_a_group;
use crate::steadystate;

/// Walks the jobs in order and compares each with those before it.
#[derive(Debug, Default)]
pub(crate) struct GroupRules<'a> {
    first: Option<&'a Job>,
    /// Number of jobs with each name so far; clones count as one.
    named: HashMap<&'a str, usize>,
    /// Names of jobs of other hosts so far.
    elsewhere: HashSet<&'a str>,
    group: Option<GroupSettings>,
}

/// The settings that the jobs of the current group must agree on.
#[derive(Debug)]
struct GroupSettings {
    steadystate: Option<SteadyState>,
    /// Bytes, 0 for none.
    ramp_size: u64,
    /// `lat_percentiles` and the units of the first job with group reporting.
    reported: Option<(bool, Units)>,
}

impl<'a> GroupRules<'a> {
    /// Compares a job with those before it; `spec` is the resolved job, if it could be resolved.
    pub(crate) fn check(&mut self, job: &'a Job, spec: Option<&JobSpec>, findings: &mut Findings) {
        steadystate::checks_have_one_interval(self.first.get_or_insert(job), job, findings);
        self.waiting(job, findings);
        if begins_a_group(job) {
            self.group = None;
        }
        let steadystate = steadystate::in_group(job);
        let Some(group) = &mut self.group else {
            self.group = Some(GroupSettings {
                steadystate,
                ramp_size: ramp_size(job),
                reported: spec.filter(|spec| spec.group_reporting).map(reported),
            });
            return;
        };
        if group.steadystate != steadystate {
            steadystate::refuse_difference_in_group(job, findings);
        }
        group.one_ramp_size(job, findings);
        if let Some(spec) = spec.filter(|spec| spec.group_reporting) {
            group.one_report(job, spec, findings);
        }
    }

    /// A job of other hosts.
    pub(crate) fn pass_over(&mut self, job: &'a Job) {
        self.elsewhere.insert(name(job));
        if begins_a_group(job) {
            self.group = None;
        }
    }

    /// Only jobs before this one can be waited for.
    fn waiting(&mut self, job: &'a Job, findings: &mut Findings) {
        let name = name(job);
        if let Some(other) = job.options.text(Opt::WaitFor) {
            let mut refuse = |code, message: String, help: &str| {
                let problem = Diagnostic::error(message, place(job, &[Opt::WaitFor])).code(code).help(help);
                findings.refuse(problem.job(name).prefix(Prefix::None));
            };
            match self.named.get(other).copied().unwrap_or(0) {
                _ if other == name => refuse(
                    "waits-for-itself",
                    format!("{name}: a job cannot wait for itself (wait_for={other})."),
                    "name another job, or remove `wait_for`",
                ),
                0 if self.elsewhere.contains(other) => refuse(
                    "waits-for-other-host",
                    format!("{name}: waitee job {other} is one of other hosts."),
                    "jobs of all hosts wait for each other with `stonewall`",
                ),
                0 => refuse(
                    "waits-for-unknown-job",
                    format!("{name}: waitee job {other} unknown."),
                    "name a job that is defined before this one",
                ),
                1 => {}
                _ => refuse(
                    "waits-for-ambiguous-name",
                    format!("{name}: multiple waitees {other} found"),
                    "give the jobs different names",
                ),
            }
        }
        *self.named.entry(name).or_default() += 1;
    }
}

impl GroupSettings {
    /// The statistics of a group start at one point. (fio overlooks a later job without `ramp_size`.)
    fn one_ramp_size(&self, job: &Job, findings: &mut Findings) {
        if ramp_size(job) != self.ramp_size {
            let message = "job rejected: inconsistent ramp_size within reporting group";
            let help = "give `ramp_size` once in [global], or begin a group with `new_group`";
            refuse(findings, job, &[Opt::RampSize], "ramp-size-differs-in-group", message, help);
        }
    }

    /// Jobs that report as one have percentiles of the same latency. If their units differ, those of the first job are used.
    fn one_report(&mut self, job: &Job, spec: &JobSpec, findings: &mut Findings) {
        let (lat_percentiles, units) = *self.reported.get_or_insert_with(|| reported(spec));
        if lat_percentiles != spec.measure.lat_percentiles {
            let message = format!("lat_percentiles in job: {} differs from group", job.name);
            let help = "give `lat_percentiles` once in [global], or begin a group with `new_group`";
            refuse(findings, job, &[Opt::LatPercentiles], "percentiles-differ-in-group", message, help);
        }
        for (opt, here, first) in [
            (Opt::KbBase, spec.units.kb_base, units.kb_base),
            (Opt::UnitBase, spec.units.unit_base, units.unit_base),
        ] {
            if here != first {
                let name = opt.row().name;
                let text = format!("{name} differs for jobs in group, using {first} as the base");
                findings.note(note(job, &[opt], "units-differ-in-group", text));
            }
        }
    }
}

fn reported(spec: &JobSpec) -> (bool, Units) {
    (spec.measure.lat_percentiles, spec.units)
}

fn ramp_size(job: &Job) -> u64 {
    job.options.value(Opt::RampSize)
}

#[cfg(test)]
mod tests {
    use crate::testing::{plan_of, texts, wrong_in};

    #[test]
    fn a_job_waits_for_one_other_job_before_it() {
        let refused = |text: &str| wrong_in(text).first().cloned().unwrap_or_default();
        assert_eq!(refused("[a]\nwait_for=a\n"), "a: a job cannot wait for itself (wait_for=a).");
        assert_eq!(refused("[a]\nwait_for=b\n[b]\n"), "a: waitee job b unknown.");
        assert_eq!(refused("[a]\n[a]\n[b]\nwait_for=a\n"), "b: multiple waitees a found");
        assert_eq!(refused("[a]\nname=q\n[b]\nwait_for=a\n"), "b: waitee job a unknown.");
        assert_eq!(refused("[a]\nname=q\n[b]\nwait_for=q\n"), "");
        assert_eq!(refused("[a]\nnumjobs=3\n[b]\nwait_for=a\n"), "", "clones count as one");
    }

    #[test]
    fn a_group_has_one_ramp_size() {
        let want = ["job rejected: inconsistent ramp_size within reporting group"];
        assert_eq!(wrong_in("[a]\nramp_size=4k\n[b]\nramp_size=8k\n"), want);
        assert_eq!(wrong_in("[a]\n[b]\nramp_size=8k\n"), want);
        assert_eq!(wrong_in("[a]\nramp_size=4k\n[b]\n"), want, "whatever the order");
        assert!(wrong_in("ramp_size=4k\n[a]\n[b]\n").is_empty());
        assert!(wrong_in("[a]\nramp_size=4k\n[b]\nnew_group\nramp_size=8k\n").is_empty());
    }

    #[test]
    fn a_group_that_reports_as_one_agrees_on_lat_percentiles() {
        let text = "group_reporting\n[a]\n[b]\nlat_percentiles=1\n";
        assert_eq!(wrong_in(text), ["lat_percentiles in job: b differs from group"]);
        assert!(wrong_in(&text.replace("[b]\n", "[b]\nnew_group\n")).is_empty());
        assert!(wrong_in(&text.replace("group_reporting\n", "")).is_empty());
    }

    #[test]
    fn a_group_that_reports_as_one_has_the_units_of_its_first_job() {
        let text = "[global]\nioengine=null\nsize=4k\ngroup_reporting\n[a]\nkb_base=1000\n[b]\n[c]\nunit_base=1\nkb_base=1000\n";
        let want = [
            "kb_base differs for jobs in group, using 1000 as the base",
            "unit_base differs for jobs in group, using 8 as the base",
        ];
        assert_eq!(texts(&plan_of(text).unwrap().diagnostics), want);
    }
}
