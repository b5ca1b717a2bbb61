//! What ends jobs early: other jobs, a trigger.

use std::fs;
use std::time::Duration;

use ferrio_job::{ExitWhat, JobSpec, ReadWrite};
use ferrio_plan::testing::verify_of;
use ferrio_results::{RunEvent, RunResult};
use ferrio_runner::{RunOptions, Trigger, run};
use tempfile::TempDir;

use crate::support::{SIZE, disk, done, endless, null, plan, run_all, timed};

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

fn triggered(specs: Vec<JobSpec>, trigger: Trigger) -> (RunResult, Vec<String>) {
    let mut lines = Vec::new();
    let options = RunOptions { trigger: Some(trigger), ..RunOptions::default() };
    let result = run(Box::leak(Box::new(plan(specs))), &options, &mut |event| {
        if let RunEvent::Diagnostic(note) = event {
            lines.push(note.message);
        }
    });
    (result, lines)
}

#[test]
fn a_trigger_file_ends_all_jobs_is_deleted_and_its_command_runs_when_they_have_ended() {
    let directory = TempDir::new().unwrap();
    let [now, mark] = ["now", "mark"].map(|name| directory.path().join(name));
    fs::write(&now, "").unwrap();
    let mut first = endless("first");
    // Ends after the trigger was seen, and before its command runs.
    first.name = directory.path().join("first").to_str().unwrap().to_owned();
    first.life.exec_postrun = Some("echo over".into());
    let behind = JobSpec { group: 1, stonewall: true, ..endless("behind") };
    let command = format!("cat {0}/first.postrun.txt > {1}", directory.path().display(), mark.display());
    let trigger = Trigger { file: Some(now.clone()), command: Some(command), ..Trigger::default() };
    let (result, lines) = triggered(vec![first, behind], trigger);
    assert_eq!((done(&result)[1], result.signal), (0, None));
    assert!(!now.exists());
    assert_eq!(fs::read_to_string(mark).unwrap(), "over\n");
    assert_eq!(lines[0], format!("trigger file {} found: all jobs end", now.display()));
}

#[test]
fn a_trigger_timeout_ends_all_jobs() {
    let trigger = Trigger { timeout: Some(Duration::from_millis(60)), ..Trigger::default() };
    let mut verifying = endless("verifying");
    verifying.rw = ReadWrite::Write;
    verifying.verify = Some(verify_of("verify=crc32c\n"));
    let (result, lines) = triggered(vec![verifying], trigger);
    assert!(done(&result)[0] > 0 && result.elapsed >= Duration::from_millis(60));
    assert_eq!(lines[0], "trigger timeout of 0.06s expired: all jobs end");
    assert!(lines[1].starts_with("no verify state is saved"), "{lines:?}");
}

#[test]
fn a_trigger_that_does_not_go_off_runs_no_command_and_one_that_fails_is_told() {
    let command = Some("exit 7".to_owned());
    let waiting =
        Trigger { file: Some("/nonexistent/now".into()), command: command.clone(), ..Trigger::default() };
    let (result, lines) = triggered(vec![null("a")], waiting);
    assert_eq!((done(&result)[0], lines.len()), (SIZE, 0));
    let (_, lines) = triggered(
        vec![endless("a")],
        Trigger { timeout: Some(Duration::ZERO), command, ..Trigger::default() },
    );
    assert_eq!(lines[1], "trigger command `exit 7` ended with status 7");
}
