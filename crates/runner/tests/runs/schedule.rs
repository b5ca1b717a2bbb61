//! Whole runs of small plans: which jobs start when, and what a failing one does to the others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use ferrio_job::{ClockSource, EngineKind, JobSpec, Plan, ReadWrite, SetupError};
use ferrio_results::RunEvent;
use ferrio_runner::{RunOptions, run};
use tempfile::TempDir;

use crate::support::{SIZE, bytes, disk, end_ms, null, plan, run_all, started_after, timed, told};

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
fn any_clock_measures_a_run() {
    for clock in [None, Some(ClockSource::Cpu), Some(ClockSource::Kernel)] {
        let plan = Plan { clock, ..plan(vec![timed("a", 20)]) };
        let job = &told(&plan).0.jobs[0];
        assert!(job.stats.job_runtime_ms >= 20 && job.stats.directions[0].clat.is_some(), "{clock:?}");
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
    plan.jobs[0].setup_error = Some(SetupError::new(22, "total_file_size", "you need to specify size="));
    assert_eq!(bytes(&told(&plan).0.jobs[1]), SIZE);
}

#[test]
fn a_failing_job_leaves_the_others_alone() {
    let directory = TempDir::new().unwrap();
    let mut broken = disk("broken", ReadWrite::Write, directory.path());
    broken.files[0].extend = false;
    let refused = JobSpec { stonewall: true, ..null("refused") };
    let wall = JobSpec { stonewall: true, ..null("wall") };
    let mut plan = plan(vec![null("a"), broken, null("b"), refused, wall]);
    plan.jobs[3].setup_error = Some(SetupError::new(22, "total_file_size", "you need to specify size="));
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
        spec.layout.unlink = true;
        spec.layout.create_only = create_only;
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
    spec.layout.create_serialize = false;
    spec.opening.readonly = true;
    let plan = plan(vec![spec, null("b")]);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        run(Box::leak(Box::new(plan)), &RunOptions::default(), &mut |event| {
            // The note that the file is not laid out comes while main waits for both jobs to be ready.
            if let RunEvent::Diagnostic(note) = event {
                std::panic::resume_unwind(Box::new(note));
            }
        })
    }));
    assert!(outcome.is_err());
}
