//! Options about the life of a job among the others: whom it waits for.

use ferrio_jobfile::{Diagnostic, Job, Opt};

use crate::findings::Findings;
use crate::resolve::value_origin;
use crate::spec::PlannedJob;

/// Finds the instances that the clones of `job`, which begin at index `first` of the plan, wait for. A name means the jobs before.
pub(crate) fn resolve_wait(jobs: &mut [PlannedJob], first: usize, job: &Job, findings: &mut Findings) {
    let Some(name) = job.options.text(Opt::WaitFor) else { return };
    let (earlier, clones) = jobs.split_at_mut(first.min(jobs.len()));
    let named = |planned: &&PlannedJob| planned.spec.name == name;
    let begin = earlier.iter().take_while(|planned| !named(planned)).count();
    let count = earlier[begin..].iter().take_while(named).count();
    if count == 0 {
        let message = format!("{}: waitee job {name} unknown.", job.name);
        let problem = Diagnostic::error(message, value_origin(&job.options, Opt::WaitFor));
        findings.refuse(problem.help("name a job that is defined before this one"));
    }
    for clone in clones {
        clone.spec.life.wait_for = begin..begin + count;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{plan_of, refusals};

    #[test]
    fn a_job_waits_for_all_clones_of_the_named_one_and_stays_in_its_group() {
        let plan = plan_of(
            "[global]\nioengine=null\nsize=4k\n[x]\n[a]\nnumjobs=3\n[b]\nwait_for=a\nnumjobs=2\n[c]\nwait_for=b\n",
        );
        let plan = plan.unwrap();
        let waits: Vec<_> =
            plan.jobs.iter().map(|job| (job.spec.life.wait_for.clone(), job.spec.group)).collect();
        assert_eq!(waits[..4], vec![(0..0, 0); 4]);
        assert_eq!(waits[4..], [(1..4, 0), (1..4, 0), (4..6, 0)]);
    }

    #[test]
    fn the_name_that_is_printed_is_the_one_to_wait_for() {
        let plan =
            plan_of("[global]\nioengine=null\nsize=4k\n[a]\nname=first\n[b]\nwait_for=first\n").unwrap();
        assert_eq!(plan.jobs[1].spec.life.wait_for, 0..1);
    }

    #[test]
    fn a_job_that_is_not_defined_before_cannot_be_waited_for() {
        let text = "[global]\nioengine=null\nsize=4k\n[b]\nwait_for=a\n[a]\n";
        assert_eq!(refusals(text), ["b: waitee job a unknown."]);
    }
}
