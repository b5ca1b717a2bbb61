//! The life of a job among the others: the job it waits for, the jobs it ends, the commands before and after it.

use ferrio_job::{JobSpec, LifeCycle, PlannedJob};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::lacks;
use crate::inert::inert;

inert! {
    CgroupNodelete CgroupWeight:
        |job| lacks(job, Opt::Cgroup); "the job joins no `cgroup`";
}

/// Everything that does not depend on other jobs.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    // A command of blanks only is none.
    let command = |opt| options.text(opt).filter(|text| !text.trim().is_empty()).map(str::to_owned);
    spec.life = LifeCycle {
        wait_for: 0..0,
        exitall: options.value(Opt::Exitall),
        exitall_on_error: options.value(Opt::ExitallOnError),
        exit_what: options.choice(Opt::ExitWhat),
        exec_prerun: command(Opt::ExecPrerun),
        exec_postrun: command(Opt::ExecPostrun),
    };
}

/// Finds the instances that the clones of `job`, which begin at index `first` of the plan, wait for. Names that nothing
/// before bears were refused by the rules.
pub(crate) fn resolve_wait(jobs: &mut [PlannedJob], first: usize, job: &Job) {
    let Some(name) = job.options.text(Opt::WaitFor) else { return };
    let (earlier, clones) = jobs.split_at_mut(first.min(jobs.len()));
    let named = |planned: &&PlannedJob| planned.spec.name == name;
    let begin = earlier.iter().take_while(|planned| !named(planned)).count();
    let count = earlier[begin..].iter().take_while(named).count();
    for clone in clones {
        clone.spec.life.wait_for = begin..begin + count;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{plan_of, refusals, spec_of};
    use ferrio_job::{ExitWhat, LifeCycle};

    fn life(options: &str) -> LifeCycle {
        spec_of(&format!("[a]\nioengine=null\nsize=4k\n{options}")).life
    }

    #[test]
    fn ending_other_jobs_is_off_unless_switched_on() {
        assert_eq!(life(""), LifeCycle::default());
        assert!(life("exitall\n").exitall && !life("exitall=0\n").exitall);
        assert!(life("exitall_on_error\n").exitall_on_error && !life("exitall\n").exitall_on_error);
        assert_eq!(life("exit_what=stonewall\n").exit_what, ExitWhat::Stonewall);
        assert_eq!(life("exit_what=all\n").exit_what, ExitWhat::All);
        assert_eq!(life("exit_what=group\n").exit_what, ExitWhat::Group);
    }

    #[test]
    fn commands_are_taken_as_they_are() {
        let life = life("exec_prerun=echo 1 && echo \"2\"\nexec_postrun=false\n");
        assert_eq!(life.exec_prerun.as_deref(), Some("echo 1 && echo \"2\""));
        assert_eq!(life.exec_postrun.as_deref(), Some("false"));
        assert!(life.runs_commands());
    }

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
