//! Commands before and after a job's I/O.

use std::fs;
use std::path::Path;

use ferrio_job::{Compat, JobSpec, ReadWrite};
use ferrio_results::{RunEvent, RunResult};
use ferrio_runner::{RunOptions, run};
use tempfile::TempDir;

use crate::support::{SIZE, bytes, disk, end_ms, null, plan, timed};

/// A job whose name, and thus the names of its command's output, is a path with a blank in it.
fn named(directory: &Path, spec: JobSpec) -> JobSpec {
    JobSpec { name: directory.join("a b").to_str().unwrap().to_owned(), ..spec }
}

/// Runs the jobs; what a user would read besides the report, without directories.
fn noted(directory: &Path, specs: Vec<JobSpec>) -> (RunResult, Vec<String>) {
    let mut lines = Vec::new();
    let prefix = format!("{}/", directory.display());
    let result = run(Box::leak(Box::new(plan(specs))), &RunOptions::default(), &mut |event| {
        if let RunEvent::Diagnostic(note) = event {
            lines.push(note.line(Compat::Fio).replace(&prefix, ""));
        }
    });
    (result, lines)
}

#[test]
fn commands_run_around_the_io_and_what_they_say_is_saved() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("f");
    let mut spec = named(directory.path(), disk("a", ReadWrite::Write, &file));
    spec.layout.unlink = true;
    spec.life.exec_prerun = Some("echo before; echo too >&2".into());
    spec.life.exec_postrun = Some(format!("stat -c %s {}", file.display()));
    let (result, lines) = noted(directory.path(), vec![spec]);
    assert_eq!((result.jobs[0].error.as_ref(), bytes(&result.jobs[0])), (None, 16384));
    assert_eq!(
        lines,
        [
            "a b : Saving output of prerun in a b.prerun.txt",
            "a b : Saving output of postrun in a b.postrun.txt"
        ]
    );
    assert_eq!(fs::read_to_string(directory.path().join("a b.prerun.txt")).unwrap(), "before\ntoo\n");
    assert_eq!(
        fs::read_to_string(directory.path().join("a b.postrun.txt")).unwrap(),
        "16384\n",
        "the files are still there"
    );
    assert!(!file.exists());
}

#[test]
fn a_file_that_the_command_replaces_is_the_one_that_is_read() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("f");
    fs::write(&file, [0; 16384]).unwrap();
    let mut spec = named(directory.path(), disk("a", ReadWrite::Read, &file));
    spec.files[0].extend = false;
    spec.life.exec_prerun = Some(format!("rm {0}; truncate -s 6k {0}", file.display()));
    let job = &noted(directory.path(), vec![spec]).0.jobs[0];
    let error = job.error.as_ref().unwrap();
    assert_eq!(
        (error.errno, error.func.as_str(), job.stats.directions[0].short),
        (libc::EIO, "full resid", 1)
    );
}

#[test]
fn a_failing_prerun_fails_its_job_and_no_other() {
    let directory = TempDir::new().unwrap();
    let mut failing = named(directory.path(), null("a"));
    failing.life.exec_prerun = Some("echo oh dear; exit 3".into());
    failing.life.exec_postrun = Some("echo never".into());
    let (result, lines) = noted(directory.path(), vec![failing, null("other")]);
    let [failed, other] = &result.jobs[..] else { panic!("two jobs") };
    let error = failed.error.as_ref().unwrap();
    assert_eq!((error.errno, error.func.as_str(), bytes(failed)), (libc::ECANCELED, "exec_prerun", 0));
    assert_eq!((other.error.as_ref(), bytes(other)), (None, SIZE));
    assert_eq!(
        lines[1],
        "a b: exec_prerun ended with status 3, the job does no I/O; its output is in a b.prerun.txt"
    );
    assert_eq!(lines.len(), 2);
    assert!(!directory.path().join("a b.postrun.txt").exists());
}

#[test]
fn a_failing_postrun_is_told_only() {
    let directory = TempDir::new().unwrap();
    let mut spec = named(directory.path(), null("a"));
    spec.life.exec_postrun = Some("kill -9 $$".into());
    let (result, lines) = noted(directory.path(), vec![spec]);
    assert_eq!((result.jobs[0].error.as_ref(), bytes(&result.jobs[0])), (None, SIZE));
    assert_eq!(lines[1], "a b: exec_postrun was killed by signal 9; its output is in a b.postrun.txt");
}

#[test]
fn a_prerun_whose_output_cannot_be_saved_is_not_run() {
    let directory = TempDir::new().unwrap();
    let mark = directory.path().join("mark");
    let mut spec =
        JobSpec { name: directory.path().join("missing/a").to_str().unwrap().to_owned(), ..null("a") };
    spec.life.exec_prerun = Some(format!("touch {}", mark.display()));
    let (result, lines) = noted(directory.path(), vec![spec]);
    assert_eq!(result.jobs[0].error.as_ref().unwrap().errno, libc::ENOENT);
    assert!(lines[1].contains("cannot be run with its output in missing/a.prerun.txt"), "{}", lines[1]);
    assert!(!mark.exists());
}

#[test]
fn a_job_that_only_lays_out_runs_its_commands() {
    let directory = TempDir::new().unwrap();
    let mut spec = named(directory.path(), null("a"));
    spec.layout.create_only = true;
    spec.life.exec_prerun = Some("echo before".into());
    spec.life.exec_postrun = Some("echo after".into());
    assert_eq!(noted(directory.path(), vec![spec]).1.len(), 2);
    assert_eq!(fs::read_to_string(directory.path().join("a b.postrun.txt")).unwrap(), "after\n");
}

#[test]
fn a_prerun_delays_its_own_job_only_and_is_no_part_of_its_time() {
    let directory = TempDir::new().unwrap();
    let mut slow = named(directory.path(), null("slow"));
    // Until the other job is over.
    let mark = directory.path().join("mark");
    slow.life.exec_prerun = Some(format!("while ! test -e {}; do sleep 0.01; done", mark.display()));
    let mut other =
        JobSpec { name: directory.path().join("o").to_str().unwrap().to_owned(), ..timed("o", 60) };
    other.life.exec_postrun = Some(format!("touch {}", mark.display()));
    let (result, _) = noted(directory.path(), vec![slow, other]);
    assert!(result.jobs[0].start_ms >= end_ms(&result.jobs[1]));
    assert!(result.jobs[0].stats.job_runtime_ms < 60);
}

#[test]
fn a_job_that_is_ended_in_its_prerun_does_no_io_and_has_no_error() {
    let directory = TempDir::new().unwrap();
    let mut waiting = named(directory.path(), null("a"));
    waiting.life.exec_prerun = Some("sleep 3600".into());
    let mut ending = timed("ending", 20);
    ending.life.exitall = true;
    let (result, _) = noted(directory.path(), vec![waiting, ending]);
    assert_eq!((result.jobs[0].error.as_ref(), bytes(&result.jobs[0])), (None, 0));
}
