//! Jobs that end others.

use std::time::Duration;

use ferrio_plan::{ExitWhat, JobSpec, ReadWrite};
use tempfile::TempDir;

use crate::support::{SIZE, disk, done, endless, null, run_all, timed};

fn ending(exit_what: ExitWhat) -> JobSpec {
    let mut spec = timed("ending", 30);
    spec.life.exitall = true;
    spec.life.exit_what = exit_what;
    spec
}

#[test]
fn exitall_ends_the_jobs_of_the_group_and_cancels_those_that_did_not_start() {
    let mut late = endless("late");
    late.limits.startdelay = (Duration::from_secs(3600), Duration::from_secs(3600));
    let other_group = JobSpec { group: 1, ..timed("other", 60) };
    let behind = JobSpec { group: 2, stonewall: true, ..null("behind") };
    let jobs = vec![ending(ExitWhat::Group), endless("endless"), late, other_group, behind];
    let result = run_all(jobs);
    let done = done(&result);
    assert!(done[1] > 0 && done[3] > 0, "both ran");
    assert_eq!((done[2], done[4]), (0, SIZE));
    assert!(result.jobs[3].stats.job_runtime_ms >= 60, "a job of another group is left alone");
}

#[test]
fn exitall_of_one_job_holds_for_all() {
    let quick = timed("quick", 20);
    let mut slow = endless("slow");
    slow.life.exitall = true;
    assert!(done(&run_all(vec![quick, slow]))[1] > 0);
}

#[test]
fn exitall_up_to_the_next_stonewall_ends_what_runs_and_nothing_else() {
    let other_group = JobSpec { group: 1, ..endless("other") };
    let behind = JobSpec { group: 2, stonewall: true, ..null("behind") };
    let done = done(&run_all(vec![ending(ExitWhat::Stonewall), other_group, behind]));
    assert!(done[1] > 0);
    assert_eq!(done[2], SIZE);
}

#[test]
fn exitall_of_everything_ends_the_run() {
    let other_group = JobSpec { group: 1, ..endless("other") };
    let behind = JobSpec { group: 2, stonewall: true, ..endless("behind") };
    let done = done(&run_all(vec![ending(ExitWhat::All), other_group, behind]));
    assert!(done[1] > 0);
    assert_eq!(done[2], 0);
}

#[test]
fn exitall_on_error_needs_an_error_that_is_not_one_of_set_up() {
    let directory = TempDir::new().unwrap();
    let mut broken = disk("broken", ReadWrite::Write, directory.path());
    broken.files[0].extend = false;
    broken.life.exitall_on_error = true;
    let result = run_all(vec![broken.clone(), endless("endless")]);
    assert_eq!(result.jobs[0].error.as_ref().map(|error| error.errno), Some(libc::EISDIR));
    assert_eq!(result.jobs[1].error, None);

    // Laying out a directory fails before the job begins.
    broken.files[0].extend = true;
    let mut fine = timed("fine", 40);
    fine.life.exitall_on_error = true;
    let result = run_all(vec![broken, fine, timed("other", 80)]);
    assert!(result.jobs[0].error.is_some());
    assert!(result.jobs[2].stats.job_runtime_ms >= 80, "{}", result.jobs[2].stats.job_runtime_ms);
}
