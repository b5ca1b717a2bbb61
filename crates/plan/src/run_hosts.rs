//! `hosts` and `ranks`: the sections of a job file that some hosts of a run have, and others have not.

use std::collections::HashSet;

use ferrio_hosts::host_names;
use ferrio_job::{Diagnostic, Origin, RunHost};
use ferrio_jobfile::{GivenOption, Job, JobSet, Opt, Problems};

use crate::as_written::name;
use crate::findings::Findings;

/// Refuses sections for hosts that are not among those of the run, which have these addresses.
///
/// # Errors
/// All such sections.
pub fn check_hosts(set: &JobSet, addresses: &[String]) -> Result<(), Problems> {
    let hosts: HashSet<&str> = addresses.iter().map(|address| RunHost::name_of(address)).collect();
    let mut findings = Findings::default();
    set.jobs.iter().for_each(|job| hosts_are_in_run(job, &hosts, &mut findings));
    if findings.is_fine() {
        return Ok(());
    }
    Err(Problems { diagnostics: findings.into_problems(), sources: set.sources.clone() })
}

fn hosts_are_in_run(job: &Job, hosts: &HashSet<&str>, findings: &mut Findings) {
    let Some((given, Ok(wanted))) = hosts_of(job) else { return };
    let Some(missing) = wanted.iter().find(|wanted| !hosts.contains(wanted.as_str())) else { return };
    let alone = hosts.iter().next().filter(|_| hosts.len() == 1);
    let alone = alone.map(|host| format!(", which is on `{host}` alone")).unwrap_or_default();
    let message = format!("`{missing}` is not a host of this run{alone}");
    let help = format!("name it in --hosts, or let all hosts run the section: --set hosts={EVERY_HOST}");
    findings.refuse(problem(job, given, message, "host-not-in-run").help(help));
}

fn ranks_are_in_run(job: &Job, ranks: u32, findings: &mut Findings) {
    let Some((given, Ok(ranges))) = ranks_of(job) else { return };
    let highest = ranges.iter().map(|range| range.last.unwrap_or(range.first));
    let Some(missing) = highest.filter(|&rank| rank >= ranks).min() else { return };
    let run = match ranks {
        1 => "one host, which has rank 0".to_owned(),
        _ => format!("{ranks} hosts, which have the ranks 0 to {}", ranks - 1),
    };
    let message = format!("there is no rank {missing} in this run of {run}");
    let help = "name more hosts in --hosts, or let all hosts run the section: --set ranks=0-";
    findings.refuse(problem(job, given, message, "rank-not-in-run").help(help));
}

/// The default of `hosts`.
const EVERY_HOST: &str = "all";

/// Whether this host has the section. Refuses values that are no lists and, unless the coordinator has done so, hosts that the run lacks.
/// Jobs that were read for no run in particular are for all hosts.
pub(crate) fn is_here(job: &Job, host: Option<&RunHost>, findings: &mut Findings) -> bool {
    let Some(host) = host else { return true };
    if host.ranks == 1 {
        hosts_are_in_run(job, &HashSet::from([host.name.as_str()]), findings);
    }
    ranks_are_in_run(job, host.ranks, findings);
    let mut is_here = true;
    match hosts_of(job) {
        None => {}
        Some((_, Ok(names))) => is_here &= names.contains(&host.name),
        Some((given, Err(error))) => findings.refuse(invalid(job, given, error)),
    }
    match ranks_of(job) {
        None => {}
        Some((_, Ok(ranges))) => is_here &= ranges.iter().any(|range| range.has(host.rank)),
        Some((given, Err(error))) => findings.refuse(invalid(job, given, error)),
    }
    is_here
}

/// The hosts of a section, if it is not for all.
fn hosts_of(job: &Job) -> Option<(&GivenOption, Result<Vec<String>, String>)> {
    let given = job.options.given(Opt::Hosts).filter(|given| given.text != EVERY_HOST)?;
    Some((given, host_names(&given.text).map_err(|error| error.to_string())))
}

/// The ranks of a section, if it says which.
fn ranks_of(job: &Job) -> Option<(&GivenOption, Result<Vec<RankRange>, String>)> {
    let given = job.options.given(Opt::Ranks)?;
    Some((given, given.text.split(',').map(RankRange::read).collect()))
}

/// `3`, `0-3`, or `1-` for all from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RankRange {
    first: u32,
    /// `None` for the last of the run.
    last: Option<u32>,
}

impl RankRange {
    fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse::<u32>().ok()).flatten()
        };
        let range = match text.split_once('-') {
            None => number(text).map(|rank| (rank, Some(rank))),
            Some((first, "")) => number(first).map(|first| (first, None)),
            Some((first, last)) => number(first).zip(number(last)).map(|(first, last)| (first, Some(last))),
        };
        match range {
            None => Err(format!("`{text}` is no rank and no range of ranks such as 0-3 or 1-")),
            Some((first, Some(last))) if first > last => Err(format!("the range `{text}` runs backwards")),
            Some((first, last)) => Ok(RankRange { first, last }),
        }
    }

    fn has(self, rank: u32) -> bool {
        self.first <= rank && self.last.is_none_or(|last| rank <= last)
    }
}

fn invalid(job: &Job, given: &GivenOption, error: String) -> Diagnostic {
    let message = format!("invalid value `{}` for option `{}`: {error}", given.text, given.opt.row().name);
    problem(job, given, message, "invalid-value")
}

fn problem(job: &Job, given: &GivenOption, message: String, code: &'static str) -> Diagnostic {
    let origin: Origin = given.value_origin.clone();
    Diagnostic::error(message, origin).code(code).job(name(job))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ferrio_job::Plan;

    use super::*;
    use crate::testing::{host_jobs_of, plan_of_jobs};

    const GLOBAL: &str = "[global]\nioengine=null\nsize=64k\n";

    fn plan(text: &str, rank: u32) -> Plan {
        let set = host_jobs_of(&format!("{GLOBAL}{text}"), RunHost::of_address(&format!("n{rank}"), rank, 3));
        plan_of_jobs(&set).unwrap_or_else(|problems| panic!("{}", problems.render(false)))
    }

    /// `(name, phase, group, stonewall)` of the sections of a host.
    fn sections(plan: &Plan) -> Vec<(&str, usize, u32, bool)> {
        let row = |section: &'_ ferrio_job::PlannedSection| {
            (section.phase, section.group, plan.jobs[section.jobs.start].spec.stonewall)
        };
        let sections = plan.sections.iter();
        sections
            .map(|one| (one.name.as_str(), row(one)))
            .map(|(name, row)| (name, row.0, row.1, row.2))
            .collect()
    }

    fn refusals(text: &str, host: RunHost) -> Vec<String> {
        let problems = plan_of_jobs(&host_jobs_of(&format!("{GLOBAL}{text}"), host)).unwrap_err();
        problems.diagnostics.into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn jobs_know_the_number_of_their_host_which_seeds_their_choices() {
        assert_eq!([0, 2].map(|rank| plan("[a]\n", rank).jobs[0].spec.rank), [0, 2]);
    }

    #[test]
    fn phases_and_groups_have_the_same_numbers_on_all_hosts() {
        let text = "[fill]\nhosts=n0\n[all]\nstonewall\n[a]\nstonewall\nhosts=n[0-1]\n[b]\nranks=1-\n\
                    [c]\nstonewall\nranks=0,2\n[d]\nnew_group\n";
        let plans: Vec<_> = (0..3).map(|rank| plan(text, rank)).collect();
        let (fill, all) = (("fill", 1, 0, false), ("all", 2, 1, true));
        let (a, c, d) = (("a", 3, 2, true), ("c", 4, 3, true), ("d", 4, 4, false));
        assert_eq!(sections(&plans[0]), [fill, all, a, c, d]);
        assert_eq!(sections(&plans[1]), [all, a, ("b", 3, 2, false), ("d", 4, 4, true)]);
        assert_eq!(sections(&plans[2]), [all, ("b", 3, 2, true), c, d]);
        assert!(plans.iter().all(|plan| plan.phases == 4));
    }

    #[test]
    fn a_host_without_jobs_has_the_phases_of_the_others() {
        let plan = plan("[a]\nranks=0\n[b]\nstonewall\nhosts=n1\n", 2);
        assert_eq!((plan.jobs.len(), plan.phases), (0, 2));
    }

    #[test]
    fn values_differ_by_host() {
        let offsets: BTreeMap<u32, u64> = (0..3)
            .map(|rank| (rank, plan("[a]\noffset=$rank*1k+4k\nsize=8k\nbs=1k\n", rank)))
            .map(|(rank, plan)| (rank, plan.jobs[0].spec.files[0].offset))
            .collect();
        assert_eq!(offsets, BTreeMap::from([(0, 4096), (1, 5120), (2, 6144)]));
    }

    #[test]
    fn hosts_and_ranks_are_those_of_the_run() {
        let alone = || RunHost::alone("n0");
        let of_three = |rank| RunHost::of_address("n0", rank, 3);
        assert_eq!(
            refusals("[a]\nhosts=n[0-1]\n", alone()),
            ["`n1` is not a host of this run, which is on `n0` alone"]
        );
        assert_eq!(
            refusals("[a]\nranks=0\n[b]\nranks=1-\n", alone()),
            ["there is no rank 1 in this run of one host, which has rank 0"]
        );
        let three = "there is no rank 3 in this run of 3 hosts, which have the ranks 0 to 2";
        assert_eq!(refusals("[a]\nranks=0-3\n", of_three(1)), [three]);
        assert_eq!(
            refusals("[a]\nhosts=n[\nranks=x\n", of_three(1)),
            [
                "invalid value `n[` for option `hosts`: a bracket has no other half in `n[`",
                "invalid value `x` for option `ranks`: `x` is no rank and no range of ranks such as 0-3 or 1-"
            ]
        );
        let set = host_jobs_of(&format!("{GLOBAL}[a]\nhosts=n1,n7\n[b]\nhosts=all\n"), alone());
        let check = |hosts: [&str; 2]| check_hosts(&set, &hosts.map(str::to_owned));
        assert!(check(["n7", "user@n1"]).is_ok());
        let missing = check(["n1", "n2"]).unwrap_err().diagnostics;
        assert_eq!(missing[0].message, "`n7` is not a host of this run");
    }

    #[test]
    fn a_job_cannot_wait_for_one_of_other_hosts() {
        let text = "[a]\nhosts=n0\n[b]\nwait_for=a\n";
        assert_eq!(
            refusals(text, RunHost::of_address("n1", 1, 2)),
            ["b: waitee job a is one of other hosts."]
        );
        assert_eq!(plan(text, 0).jobs[1].spec.life.wait_for, 0..1);
    }

    #[test]
    fn ranks_are_numbers_and_ranges() {
        let read = |text: &str| text.split(',').map(RankRange::read).collect::<Result<Vec<_>, _>>();
        let ranks = |text: &str| {
            let ranges = read(text).unwrap();
            (0..6).filter(|&rank| ranges.iter().any(|range| range.has(rank))).collect::<Vec<_>>()
        };
        assert_eq!(ranks("0-1, 4"), [0, 1, 4]);
        assert_eq!(ranks("3-"), [3, 4, 5]);
        for (text, said) in [
            ("", "`` is no rank and no range of ranks such as 0-3 or 1-"),
            ("0,", "`` is no rank and no range of ranks such as 0-3 or 1-"),
            ("-1", "`-1` is no rank and no range of ranks such as 0-3 or 1-"),
            ("+1", "`+1` is no rank and no range of ranks such as 0-3 or 1-"),
            ("even", "`even` is no rank and no range of ranks such as 0-3 or 1-"),
            ("4294967296", "`4294967296` is no rank and no range of ranks such as 0-3 or 1-"),
            ("3-1", "the range `3-1` runs backwards"),
        ] {
            assert_eq!(read(text).unwrap_err(), said, "{text}");
        }
    }
}
