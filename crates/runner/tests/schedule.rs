//! Whole runs of small plans: which jobs start when, and what a failing one does to the others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use ferrio_plan::{
    EngineKind, ExitWhat, FileKind, FileSpec, JobSpec, Plan, PlannedJob, ReadWrite, SetupError,
};
use ferrio_runner::{Event, JobResult, RunOptions, RunResult, run};
use tempfile::TempDir;

const SIZE: u64 = 1 << 20;

fn file(path: &Path, kind: FileKind, size: u64) -> FileSpec {
    FileSpec {
        path: path.to_path_buf(),
        kind,
        offset: 0,
        size,
        real_size: size,
        found: None,
        extend: kind == FileKind::Regular,
    }
}

/// A job that reads 1 MiB of nothing.
fn null(name: &str) -> JobSpec {
    let mut spec = JobSpec::bare(name);
    spec.engine = EngineKind::Null;
    spec.limits.size = SIZE;
    spec.files = vec![file(Path::new(name), FileKind::Pretend, SIZE)];
    spec
}

/// A job that does nothing for so long.
fn timed(name: &str, ms: u64) -> JobSpec {
    let mut spec = null(name);
    spec.limits.time_based = true;
    spec.limits.runtime = Duration::from_millis(ms);
    spec
}

/// A job on a file of 16 KiB.
fn disk(name: &str, rw: ReadWrite, path: &Path) -> JobSpec {
    let mut spec = JobSpec::bare(name);
    spec.rw = rw;
    spec.overwrite = rw == ReadWrite::Read;
    spec.limits.size = 16384;
    spec.files = vec![file(path, FileKind::Regular, 16384)];
    spec
}

fn plan(specs: Vec<JobSpec>) -> Plan {
    let number = |(index, spec)| JobSpec { number: index as u32 + 1, ..spec };
    let planned = |spec| PlannedJob { spec, setup_error: None };
    Plan { jobs: specs.into_iter().enumerate().map(number).map(planned).collect(), ..Plan::default() }
}

/// Runs the plan; also the events that a user would read.
fn told(plan: &Plan) -> (RunResult, Vec<String>) {
    let mut lines = Vec::new();
    let result = run(plan, &RunOptions::default(), &mut |event| match event {
        Event::Starting { threads, processes } => {
            lines.push(format!("{threads} threads, {processes} processes"))
        }
        Event::LayingOut { job, files, bytes } => lines.push(format!("{job}: {files} files, {bytes} bytes")),
        Event::JobFailed { job, pid, error } => {
            lines.push(format!("{job} failed{}: {}", if pid == 0 { " early" } else { "" }, error.errno));
        }
        _ => {}
    });
    (result, lines)
}

fn run_all(specs: Vec<JobSpec>) -> RunResult {
    told(&plan(specs)).0
}

fn bytes(job: &JobResult) -> u64 {
    job.stats.directions.iter().map(|d| d.bytes).sum()
}

fn end_ms(job: &JobResult) -> u64 {
    job.start_ms + job.stats.job_runtime_ms
}

/// ms from the start of the run to the start of the job.
fn started_after(result: &RunResult, job: usize) -> u64 {
    let started = result.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
    result.jobs[job].start_ms - started
}

#[test]
fn clones_all_do_their_work_in_one_wave() {
    let result = run_all(vec![null("a"), null("a"), null("a")]);
    for job in &result.jobs {
        assert_eq!((bytes(job), job.error.as_ref()), (SIZE, None));
        assert_eq!(job.stats.directions[0].ios, SIZE / 4096);
        assert!(job.pid > 0 && job.start_ms > 0);
    }
    assert_eq!(result.signal, None);
}

#[test]
fn jobs_without_a_wall_run_together() {
    let result = run_all(vec![timed("a", 150), timed("b", 150)]);
    let [a, b] = &result.jobs[..] else { panic!("two jobs") };
    assert!(a.start_ms < end_ms(b) && b.start_ms < end_ms(a));
}

#[test]
fn a_stonewall_waits_for_all_jobs_before_it_and_holds_back_all_behind_it() {
    let mut wall = timed("wall", 100);
    wall.stonewall = true;
    let result = run_all(vec![timed("a", 60), null("b"), wall, null("behind")]);
    let [a, _, wall, behind] = &result.jobs[..] else { panic!("four jobs") };
    assert!(wall.start_ms >= end_ms(a), "{} {}", wall.start_ms, end_ms(a));
    assert!(behind.start_ms >= end_ms(a));
    assert!(behind.start_ms < end_ms(wall), "it runs beside the job with the wall");
    assert_eq!(bytes(behind), SIZE);
}

#[test]
fn walls_one_after_the_other_make_groups_that_run_in_order() {
    let walled = |name| JobSpec { stonewall: true, ..timed(name, 20) };
    let result = run_all(vec![walled("a"), walled("b"), walled("c")]);
    for pair in result.jobs.windows(2) {
        assert!(pair[1].start_ms >= end_ms(&pair[0]));
    }
}

#[test]
fn a_start_delay_holds_back_its_own_job_only() {
    let mut late = null("late");
    let delay = Duration::from_millis(100);
    late.limits.startdelay = (delay, delay);
    let result = run_all(vec![late, null("b")]);
    assert!(started_after(&result, 0) >= 99, "{}", started_after(&result, 0));
    assert!(result.jobs[1].start_ms < result.jobs[0].start_ms);
    assert!(result.jobs.iter().all(|job| bytes(job) == SIZE));
}

#[test]
fn a_wall_waits_for_a_job_that_is_still_delayed() {
    let mut late = null("late");
    let delay = Duration::from_millis(50);
    late.limits.startdelay = (delay, delay);
    let wall = JobSpec { stonewall: true, ..null("wall") };
    let result = run_all(vec![late, wall]);
    assert!(result.jobs[1].start_ms >= end_ms(&result.jobs[0]));
}

#[test]
fn a_job_that_waits_for_another_starts_after_all_its_clones_and_holds_nobody_back() {
    let mut waiting = null("waiting");
    waiting.life.wait_for = 0..2;
    let result = run_all(vec![timed("a", 40), timed("a", 80), waiting, null("other")]);
    let [first, second, waiting, other] = &result.jobs[..] else { panic!("four jobs") };
    assert!(waiting.start_ms >= end_ms(first) && waiting.start_ms >= end_ms(second));
    assert!(other.start_ms <= waiting.start_ms);
    assert!(result.jobs.iter().all(|job| job.error.is_none() && bytes(job) >= SIZE));
}

#[test]
fn a_wall_waits_for_a_job_that_waits_for_another() {
    let mut waiting = timed("waiting", 20);
    waiting.life.wait_for = 0..1;
    let wall = JobSpec { stonewall: true, ..null("wall") };
    let result = run_all(vec![timed("a", 20), waiting, wall]);
    assert!(result.jobs[1].start_ms >= end_ms(&result.jobs[0]));
    assert!(result.jobs[2].start_ms >= end_ms(&result.jobs[1]));
}

#[test]
fn a_job_that_could_not_be_set_up_is_not_waited_for() {
    let mut waiting = null("waiting");
    waiting.life.wait_for = 0..1;
    let mut plan = plan(vec![null("refused"), waiting]);
    plan.jobs[0].setup_error = Some(SetupError {
        errno: 22,
        func: "total_file_size",
        message: "refused: you need to specify size=".into(),
    });
    assert_eq!(bytes(&told(&plan).0.jobs[1]), SIZE);
}

/// A job that would run for an hour.
fn endless(name: &str) -> JobSpec {
    timed(name, 3_600_000)
}

fn ending(exit_what: ExitWhat) -> JobSpec {
    let mut spec = timed("ending", 30);
    spec.life.exitall = true;
    spec.life.exit_what = exit_what;
    spec
}

/// Bytes of each job; none has an error.
fn done(result: &RunResult) -> Vec<u64> {
    assert!(result.jobs.iter().all(|job| job.error.is_none()));
    result.jobs.iter().map(bytes).collect()
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

#[test]
fn a_failing_job_leaves_the_others_alone() {
    let directory = TempDir::new().unwrap();
    let mut broken = disk("broken", ReadWrite::Write, directory.path());
    broken.files[0].extend = false;
    let refused = JobSpec { stonewall: true, ..null("refused") };
    let wall = JobSpec { stonewall: true, ..null("wall") };
    let mut plan = plan(vec![null("a"), broken, null("b"), refused, wall]);
    plan.jobs[3].setup_error = Some(SetupError {
        errno: 22,
        func: "total_file_size",
        message: "refused: you need to specify size=".into(),
    });
    let (result, lines) = told(&plan);
    assert_eq!(lines, ["0 threads, 5 processes", "refused failed early: 22", "broken failed: 21"]);
    let errors: Vec<Option<i32>> = result.jobs.iter().map(|j| j.error.as_ref().map(|e| e.errno)).collect();
    assert_eq!(errors, [None, Some(libc::EISDIR), None, Some(22), None]);
    assert_eq!(result.jobs.iter().map(bytes).collect::<Vec<_>>(), [SIZE, 0, SIZE, 0, SIZE]);
    assert_eq!(result.jobs[3].pid, 0);
}

#[test]
fn a_file_is_laid_out_once_and_shared_by_the_jobs_that_name_it() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("f");
    let mut second = disk("second", ReadWrite::Read, &path);
    second.files[0].extend = false;
    let (result, lines) = told(&plan(vec![disk("first", ReadWrite::Read, &path), second]));
    assert_eq!(lines, ["0 threads, 2 processes", "first: 1 files, 16384 bytes"]);
    assert!(result.jobs.iter().all(|job| job.error.is_none() && bytes(job) == 16384));
}

#[test]
fn files_are_removed_at_the_end_when_asked_even_after_set_up_alone() {
    let directory = TempDir::new().unwrap();
    for create_only in [false, true] {
        let mut spec = disk("a", ReadWrite::Read, &directory.path().join("f"));
        spec.unlink = true;
        spec.create_only = create_only;
        let result = run_all(vec![spec.clone()]);
        assert_eq!(result.jobs[0].error, None);
        assert_eq!(bytes(&result.jobs[0]), if create_only { 0 } else { 16384 });
        assert!(!spec.files[0].path.exists(), "create_only={create_only}");
    }
}

#[test]
fn loops_and_final_syncs_do_every_pass() {
    let directory = TempDir::new().unwrap();
    for engine in [EngineKind::Psync, EngineKind::IoUring, EngineKind::Libaio] {
        let mut spec = disk("a", ReadWrite::Write, &directory.path().join("f"));
        spec.engine = engine;
        spec.limits.loops = 3;
        spec.durability.end_fsync = true;
        spec.depth.iodepth = if spec.is_sync() { 1 } else { 4 };
        spec.depth.low = spec.depth.iodepth;
        let job = &run_all(vec![spec]).jobs[0];
        assert_eq!((job.error.as_ref(), bytes(job), job.stats.directions[1].ios), (None, 3 * 16384, 12));
    }
}

#[test]
fn a_ramp_is_not_measured() {
    let mut spec = timed("a", 30);
    spec.limits.ramp_time = Duration::from_millis(60);
    let result = run_all(vec![spec]);
    let job = &result.jobs[0];
    let (started, measured) = (started_after(&result, 0), job.stats.job_runtime_ms);
    assert!(started >= 59 && measured >= 30, "{started} {measured}");
    assert!(u128::from(measured) + 59 <= result.elapsed.as_millis());
    let read = &job.stats.directions[0];
    assert_eq!((read.bytes, read.clat.as_ref().unwrap().count()), (read.ios * 4096, read.ios));
}

#[test]
fn a_rate_does_not_outlast_the_run_time() {
    let mut spec = timed("a", 50);
    spec.rates.iops.0[0] = 1;
    let result = run_all(vec![spec]);
    assert_eq!(result.jobs[0].stats.directions[0].ios, 1);
    assert!(result.elapsed < Duration::from_millis(900), "{:?}", result.elapsed);
}

#[test]
fn an_observer_that_panics_does_not_hang_the_run() {
    let directory = TempDir::new().unwrap();
    let mut spec = disk("a", ReadWrite::Read, &directory.path().join("f"));
    spec.create_serialize = false;
    spec.readonly = true;
    let plan = plan(vec![spec, null("b")]);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        run(&plan, &RunOptions::default(), &mut |event| {
            // The note that the file is not laid out comes while main waits for both jobs to be ready.
            if let Event::Note(line) = event {
                std::panic::resume_unwind(Box::new(line));
            }
        })
    }));
    assert!(outcome.is_err());
}
