//! The life of a job among the others: the jobs it waits for and the jobs it ends, the commands before and after it, and the
//! errors that do not end it.

use ferrio_job::{ContinueOnError, Direction, JobSpec, LifeCycle, PlannedJob, PlannedSection, Tolerance};
use ferrio_jobfile::{Job, Opt, Options, Value};

use crate::as_written::{chooses, inert, lacks, verifies};
use crate::direction::{changes_data, rw};

inert! {
    ErrorDump:
        |job| chooses(job, Opt::ContinueOnError, ContinueOnError::None) && lacks(job, Opt::IgnoreError);
        "the job ends at its first error without `continue_on_error`";
    ContinueOnError:
        |job| is_without_use(classes(&job.options), job); "the job has no operation of the kinds that it lists";
    IgnoreError:
        |job| is_without_use(classes_with_errors(&job.options), job); "the job has no operation of the kinds that it lists";
}

/// Everything that does not depend on other jobs.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    // A command that is only blanks does not count.
    let command = |opt| options.text(opt).filter(|text| !text.trim().is_empty()).map(str::to_owned);
    spec.life = LifeCycle {
        wait_for: 0..0,
        exitall: options.value(Opt::Exitall),
        exitall_on_error: options.value(Opt::ExitallOnError),
        exit_what: options.choice(Opt::ExitWhat),
        ends_with_others: options.value(Opt::ExitOnIoDone),
        exec_prerun: command(Opt::ExecPrerun),
        exec_postrun: command(Opt::ExecPostrun),
        fails_after_first_io: job.fails_after_first_io,
    };
    spec.tolerance = tolerance(options);
}

/// Finds the jobs that those of the last section wait for: all clones of a section, and with the sessions of a database its jobs in the
/// background. The rules have refused names that no earlier section or several have.
pub(crate) fn resolve_wait(jobs: &mut [PlannedJob], sections: &[PlannedSection], first: usize, job: &Job) {
    let Some(name) = job.options.text(Opt::WaitFor) else { return };
    let load =
        |section: &PlannedSection| jobs[section.jobs.start].spec.events.as_ref().map(|part| part.load.id);
    let mut earlier = sections.iter().skip_while(|section| section.name != name);
    let Some(awaited) = earlier.next() else { return };
    let background = earlier.take_while(|section| load(awaited).is_some() && load(section) == load(awaited));
    let end = background.last().unwrap_or(awaited).jobs.end;
    let range = awaited.jobs.start..end;
    for waiting in &mut jobs[first..] {
        waiting.spec.life.wait_for = range.clone();
    }
}

/// The errors that a class tolerates by default.
const USUAL: [i32; 2] = [libc::EIO, libc::EILSEQ];

/// The classes that `continue_on_error` names: reads, writes, checks of data.
fn classes(options: &Options) -> [bool; 3] {
    match options.choice(Opt::ContinueOnError) {
        ContinueOnError::None => [false; 3],
        ContinueOnError::Read => [true, false, false],
        ContinueOnError::Write => [false, true, false],
        ContinueOnError::Io => [true, true, false],
        ContinueOnError::Verify => [false, false, true],
        ContinueOnError::All => [true; 3],
    }
}

/// The lists of errors of all `ignore_error`, in the order given.
fn ignored(options: &Options) -> impl Iterator<Item = &[Vec<i32>; 3]> {
    options.all().filter(|given| given.opt == Opt::IgnoreError).filter_map(|given| match &given.value {
        Value::Errors(lists) => Some(lists),
        _ => None,
    })
}

/// The classes that `ignore_error` has errors of.
fn classes_with_errors(options: &Options) -> [bool; 3] {
    ignored(options).fold([false; 3], |named, lists| {
        std::array::from_fn(|class| named[class] || !lists[class].is_empty())
    })
}

/// True when classes of errors are named, and the job does nothing that can fail with one.
fn is_without_use(named: [bool; 3], job: &Job) -> bool {
    let replays = job.options.is_given(Opt::ReadIolog);
    let reads = replays || verifies(job) || rw(job).does(Direction::Read);
    let writes = replays || changes_data(rw(job));
    let possible = [reads, writes, verifies(job)];
    named.contains(&true) && !named.iter().zip(possible).any(|(&named, possible)| named && possible)
}

/// A list in `ignore_error` replaces the default errors of its class and enables the class; an empty list changes nothing.
fn tolerance(options: &Options) -> Tolerance {
    let mut classes = classes(options).map(|on| if on { USUAL.to_vec() } else { Vec::new() });
    for lists in ignored(options) {
        for (class, list) in classes.iter_mut().zip(lists).filter(|(_, list)| !list.is_empty()) {
            class.clone_from(list);
        }
    }
    let [read, write, verify] = classes;
    Tolerance { read, write, verify, reports_each: options.value(Opt::ErrorDump) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{null, plan_of, refusals, spec_of};
    use ferrio_job::ExitWhat;

    fn life(options: &str) -> LifeCycle {
        spec_of(&null(options)).life
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

    fn tolerance(options: &str) -> Tolerance {
        spec_of(&null(options)).tolerance
    }

    #[test]
    fn every_error_ends_a_job_that_says_nothing() {
        for options in ["", "continue_on_error=none\n", "continue_on_error=0\n", "ignore_error=\n"] {
            let tolerance = tolerance(options);
            assert!(!tolerance.tolerates_any() && !tolerance.tolerates(libc::EIO, true), "{options:?}");
        }
    }

    #[test]
    fn a_class_tolerates_the_usual_errors_and_no_others() {
        let tolerates = |options: &str| {
            let tolerance = tolerance(options);
            assert!(!tolerance.tolerates(libc::ENOSPC, false), "{options:?}");
            let errors = [(libc::EIO, true), (libc::EIO, false), (libc::EILSEQ, true)];
            errors.map(|(errno, is_read)| tolerance.tolerates(errno, is_read))
        };
        assert_eq!(tolerates("continue_on_error=read\n"), [true, false, false]);
        assert_eq!(tolerates("continue_on_error=write\n"), [false, true, false]);
        assert_eq!(tolerates("continue_on_error=io\n"), [true, true, false]);
        assert_eq!(tolerates("continue_on_error=verify\n"), [false, false, true]);
        assert_eq!(tolerates("continue_on_error=all\n"), [true; 3]);
        assert_eq!(tolerates("continue_on_error=1\n"), [true; 3]);
    }

    #[test]
    fn a_list_replaces_the_usual_errors_of_its_class_and_switches_it_on() {
        let tolerance = tolerance("ignore_error=EAGAIN:0x5,ENOSPC\ncontinue_on_error=all\nerror_dump=1\n");
        assert_eq!(tolerance.read, [libc::EAGAIN, libc::EIO]);
        assert_eq!(tolerance.write, [libc::ENOSPC]);
        assert_eq!(tolerance.verify, [libc::EIO, libc::EILSEQ]);
        assert!(tolerance.reports_each);
    }

    #[test]
    fn lists_of_different_classes_add_up() {
        let text = "[global]\nioengine=null\nsize=4k\nignore_error=EIO\n[a]\nignore_error=,28\n";
        let tolerance = spec_of(text).tolerance;
        assert_eq!((tolerance.read, tolerance.write), (vec![libc::EIO], vec![libc::ENOSPC]));
    }
}
