//! Estimates the remaining time of a run in whole seconds, as fio does.

use std::collections::BTreeMap;
use std::time::Duration;

use ferrio_job::{Compat, Direction, EventLoad, JobSpec, Plan, ReadWrite};
use ferrio_results::{JobProgress, JobState, Progress};

/// fio gives no estimate before this time.
pub(crate) const ETA_AFTER_SECONDS: u64 = 3;
/// Progress is reported at whole seconds. A report up to this late counts as on time: rounding up a fraction of a millisecond would put the
/// clock of the line one second ahead.
const MAX_DELAY: Duration = Duration::from_millis(100);

/// Seconds since the start, rounded up; at least 1 if any time has passed.
pub(crate) fn seconds(elapsed: Duration) -> u64 {
    let ms = elapsed.saturating_sub(MAX_DELAY).as_millis();
    u64::try_from(ms.div_ceil(1000)).unwrap_or(u64::MAX).max(u64::from(!elapsed.is_zero()))
}

/// Seconds until the last job ends, or the first one with `exitall`. fio has no estimate in the first seconds of a run, and extends the run
/// time of running jobs by that of ended jobs.
pub(crate) fn remaining(plan: &Plan, progress: &Progress, compat: Compat) -> Option<u64> {
    let is_fio = compat == Compat::Fio;
    if is_fio && seconds(progress.elapsed) < ETA_AFTER_SECONDS {
        return None;
    }
    let ended = progress.jobs.iter().filter(|job| is_fio && has_ended(job.state));
    let ended: u64 = ended.map(|job| job.elapsed.as_secs()).sum();
    let (mut longest, mut shortest, mut waiting) = (0, None, 0u64);
    for ((spec, job), eta) in jobs(plan, progress).zip(each_remaining(plan, progress, ended)) {
        if job.state == JobState::NotCreated && spec.stonewall {
            waiting = waiting.saturating_add(eta);
        } else {
            longest = longest.max(eta);
            // 0 means that a job has ended or that its end is unknown.
            shortest = shortest.into_iter().chain((eta > 0).then_some(eta)).min();
        }
    }
    let together = plan.jobs.iter().any(|job| job.spec.life.exitall);
    let running = shortest.filter(|_| together).unwrap_or(longest);
    Some(running.saturating_add(waiting))
}

/// Seconds until each job ends; 0 if unknown. `ended` seconds are added to all run times.
pub(crate) fn each_remaining<'a>(
    plan: &'a Plan,
    progress: &'a Progress,
    ended: u64,
) -> impl Iterator<Item = u64> + 'a {
    let transactions = transactions(jobs(plan, progress));
    jobs(plan, progress).map(move |(spec, job)| {
        let done = database_of(spec)
            .map_or_else(|| share_done(spec, job), |load| share_of_limit(load, &transactions));
        job_remaining(spec, job, done, ended)
    })
}

/// The jobs with their progress.
pub(crate) fn jobs<'a>(
    plan: &'a Plan,
    progress: &'a Progress,
) -> impl Iterator<Item = (&'a JobSpec, &'a JobProgress)> {
    plan.jobs.iter().map(|job| &job.spec).zip(&progress.jobs)
}

/// True for states that a job never leaves.
pub(crate) const fn has_ended(state: JobState) -> bool {
    matches!(state, JobState::Reaped | JobState::Failed)
}

/// The load of a job of a database model.
fn database_of(spec: &JobSpec) -> Option<&EventLoad> {
    let part = spec.events.as_ref()?;
    part.database().map(|_| &*part.load)
}

/// Number of completed transactions by load.
fn transactions<'a>(jobs: impl Iterator<Item = (&'a JobSpec, &'a JobProgress)>) -> BTreeMap<u32, u64> {
    let mut done = BTreeMap::new();
    for (load, job) in jobs.filter_map(|(spec, job)| Some((database_of(spec)?, job))) {
        *done.entry(load.id).or_default() += job.transactions;
    }
    done
}

/// The share of its transactions that a database model has completed; 0 without a limit, when only the run time ends it.
fn share_of_limit(load: &EventLoad, transactions: &BTreeMap<u32, u64>) -> f64 {
    let done = transactions.get(&load.id).copied().unwrap_or_default();
    load.limit.map_or(0.0, |limit| (done as f64 / limit.max(1) as f64).min(1.0))
}

/// The share of its bytes that a job has moved.
fn share_done(spec: &JobSpec, job: &JobProgress) -> f64 {
    let moved: u64 = job.bytes.iter().sum();
    match expected_bytes(spec) {
        0 => 1.0,
        expected => (moved as f64 / expected as f64).min(1.0),
    }
}

fn job_remaining(spec: &JobSpec, job: &JobProgress, done: f64, ended: u64) -> u64 {
    let elapsed = seconds(job.elapsed);
    match job.state {
        JobState::Running | JobState::Verifying => running_remaining(spec, job, done, ended),
        JobState::Ramp => not_running_remaining(spec).saturating_sub(elapsed),
        JobState::NotCreated | JobState::Initialized | JobState::SettingUp | JobState::PreReading => {
            not_running_remaining(spec)
        }
        JobState::Fsyncing | JobState::Finishing | JobState::Reaped | JobState::Failed => 0,
    }
}

/// Estimated from the share done so far, and limited by the run time plus, in fio, the time of ended jobs. The run time begins after the
/// ramp; bytes moved in the ramp count for the size.
fn running_remaining(spec: &JobSpec, job: &JobProgress, done: f64, ended: u64) -> u64 {
    let runtime = spec.limits.runtime.as_secs();
    let (elapsed, measured) = (seconds(job.elapsed), seconds(job.measured));
    let mut eta = if done == 0.0 {
        runtime
    } else {
        // The small addition keeps rounding errors from losing a second.
        ((elapsed as f64 / done + 1e-6) as u64).saturating_sub(elapsed)
    };
    if spec.limits.time_based && database_of(spec).is_none_or(|load| load.limit.is_none()) {
        eta = eta.max(runtime.saturating_sub(measured));
    }
    if runtime == 0 { eta } else { eta.min((runtime + ended).saturating_sub(measured)) }
}

/// Estimated from the options: the run time, or the time for all bytes at the limited rate, whichever is shorter.
fn not_running_remaining(spec: &JobSpec) -> u64 {
    let limits = &spec.limits;
    let delay = limits.startdelay.1.as_secs();
    let by_time = (limits.runtime > Duration::ZERO)
        .then(|| limits.runtime.as_secs() + limits.ramp_time.as_secs() + delay);
    let rate: u64 =
        Direction::ALL.into_iter().filter(|&d| spec.rw.does(d)).map(|d| spec.rates.bytes[d]).sum();
    let by_rate = expected_bytes(spec).checked_div(rate).map(|seconds| seconds.saturating_add(delay));
    by_time.into_iter().chain(by_rate).min().unwrap_or(0)
}

/// Bytes that the job will move, including those read back for verification.
fn expected_bytes(spec: &JobSpec) -> u64 {
    let limits = &spec.limits;
    let once = limits.io_size.unwrap_or(limits.size).saturating_mul(u64::from(limits.loops));
    let reads_back = spec.verify.as_ref().is_some_and(|verify| verify.read_back);
    let written_percent = match spec.rw {
        ReadWrite::Write | ReadWrite::RandWrite => 100,
        ReadWrite::Mixed | ReadWrite::RandMixed => 100 - spec.rwmixread.min(100),
        _ => 0,
    };
    if !reads_back {
        return once;
    }
    let again = u128::from(once) * u128::from(written_percent) / 100;
    once.saturating_add(u64::try_from(again).unwrap_or(u64::MAX))
}

/// Formats seconds as `00m:02s`, with hours and days if there are any.
#[must_use]
pub fn clock_text(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let mut text = String::new();
    if days > 0 {
        text.push_str(&format!("{days:02}d:"));
    }
    if days > 0 || hours > 0 {
        text.push_str(&format!("{hours:02}h:"));
    }
    text.push_str(&format!("{:02}m:{:02}s", seconds / 60 % 60, seconds % 60));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_plan::testing::{default_job, plan, verify_of};

    fn job(state: JobState, seconds: u64, bytes: u64) -> JobProgress {
        JobProgress {
            state,
            elapsed: Duration::from_secs(seconds),
            measured: Duration::from_secs(seconds),
            bytes: [bytes, 0, 0],
            ios: [0; 3],
            transactions: 0,
            open_files: 1,
        }
    }

    fn spec(size: u64, runtime: u64) -> JobSpec {
        let mut spec = default_job("a");
        spec.limits.size = size;
        spec.limits.runtime = Duration::from_secs(runtime);
        spec
    }

    fn remaining_of(specs: &[JobSpec], elapsed: u64, jobs: &[JobProgress]) -> Option<u64> {
        let plan = plan(specs.iter().cloned());
        remaining(
            &plan,
            &Progress { elapsed: Duration::from_secs(elapsed), jobs: jobs.to_vec() },
            Compat::Fio,
        )
    }

    #[test]
    fn nothing_is_known_for_three_seconds() {
        let running = |seconds| [job(JobState::Running, seconds, 1)];
        assert_eq!(remaining_of(&[spec(4, 0)], 2, &running(2)), None);
        assert_eq!(remaining_of(&[spec(4, 0)], 3, &running(3)), Some(9));
    }

    #[test]
    fn a_look_a_little_late_does_not_count_as_a_second() {
        assert_eq!(
            [2000, 2060, 2100, 2102, 3050].map(|ms| seconds(Duration::from_millis(ms))),
            [2, 2, 2, 3, 3]
        );
    }

    #[test]
    fn a_job_that_has_just_begun_is_not_at_its_end() {
        assert_eq!([0, 1, 99, 101].map(|ms| seconds(Duration::from_millis(ms))), [0, 1, 1, 1]);
        let (elapsed, measured) = (Duration::from_millis(50), Duration::from_millis(50));
        let begun = JobProgress { elapsed, measured, ..job(JobState::Running, 0, 100) };
        assert_eq!(remaining_of(&[spec(400, 0)], 5, &[begun]), Some(3));
    }

    #[test]
    fn the_share_done_decides_within_the_run_time() {
        assert_eq!(remaining_of(&[spec(400, 0)], 4, &[job(JobState::Running, 4, 300)]), Some(1));
        assert_eq!(remaining_of(&[spec(1 << 40, 10)], 4, &[job(JobState::Running, 4, 300)]), Some(6));
        assert_eq!(remaining_of(&[spec(1 << 40, 10)], 4, &[job(JobState::Running, 4, 0)]), Some(6));
        assert_eq!(remaining_of(&[spec(100, 0)], 4, &[job(JobState::Running, 4, 500)]), Some(0));
    }

    #[test]
    fn a_time_based_job_runs_its_time_even_when_its_size_is_done() {
        let mut timed = spec(100, 10);
        timed.limits.time_based = true;
        assert_eq!(remaining_of(&[timed.clone()], 4, &[job(JobState::Running, 4, 900)]), Some(6));
        for runtime in 3..200 {
            timed.limits.runtime = Duration::from_secs(runtime);
            for elapsed in 3..=runtime {
                let left = remaining_of(&[timed.clone()], elapsed, &[job(JobState::Running, elapsed, 900)]);
                assert_eq!(left, Some(runtime - elapsed), "{elapsed} of {runtime} s");
            }
        }
    }

    #[test]
    fn waiting_groups_add_up_and_parallel_jobs_do_not() {
        let mut second = spec(1 << 40, 4);
        second.stonewall = true;
        let jobs =
            [job(JobState::Running, 3, 9), job(JobState::Running, 3, 9), job(JobState::NotCreated, 0, 0)];
        assert_eq!(remaining_of(&[spec(1 << 40, 4), spec(1 << 40, 5), second], 3, &jobs), Some(2 + 4));
    }

    #[test]
    fn with_exitall_the_first_job_to_end_decides() {
        let (mut first, second) = (spec(1 << 40, 4), spec(1 << 40, 9));
        first.life.exitall = true;
        let jobs = [job(JobState::Running, 3, 9), job(JobState::Running, 3, 9)];
        assert_eq!(remaining_of(&[first, second], 3, &jobs), Some(1));
    }

    #[test]
    fn ramp_and_delay_count_before_the_job_runs() {
        let mut spec = spec(1 << 40, 10);
        spec.limits.ramp_time = Duration::from_secs(5);
        assert_eq!(remaining_of(std::slice::from_ref(&spec), 3, &[job(JobState::Ramp, 3, 9)]), Some(12));
        spec.limits.startdelay = (Duration::from_secs(7), Duration::from_secs(7));
        assert_eq!(remaining_of(&[spec], 3, &[job(JobState::Initialized, 0, 0)]), Some(22));
    }

    #[test]
    fn the_run_time_begins_after_the_ramp() {
        let mut spec = spec(1 << 40, 10);
        spec.limits.time_based = true;
        let measured = Duration::from_secs(2);
        let job = JobProgress { measured, ..job(JobState::Running, 6, 9) };
        assert_eq!(remaining_of(std::slice::from_ref(&spec), 6, &[job]), Some(8));
        spec.limits.size = 18;
        assert_eq!(remaining_of(std::slice::from_ref(&spec), 6, &[job]), Some(8));
        spec.limits.time_based = false;
        spec.limits.runtime = Duration::ZERO;
        assert_eq!(remaining_of(&[spec], 6, &[job]), Some(6), "half of it in all six seconds");
    }

    #[test]
    fn what_is_written_is_read_back_by_a_job_that_verifies() {
        let left = |rw, rwmixread, read_back| {
            let mut spec = spec(400, 0);
            (spec.rw, spec.rwmixread) = (rw, rwmixread);
            let options = if read_back { "verify=null\n" } else { "verify=null\ndo_verify=0\n" };
            spec.verify = Some(verify_of(options));
            remaining_of(&[spec], 4, &[job(JobState::Running, 4, 200)]).unwrap()
        };
        assert_eq!(left(ReadWrite::Write, 50, true), 12);
        assert_eq!(left(ReadWrite::RandMixed, 75, true), 6);
        assert_eq!(left(ReadWrite::Read, 50, true), 4);
        assert_eq!(left(ReadWrite::RandWrite, 50, false), 4);
    }

    #[test]
    fn a_rate_limit_estimates_how_long_a_waiting_job_will_take() {
        let mut limited = spec(1000, 0);
        limited.rates.bytes.0 = [50, 70, 0];
        assert_eq!(remaining_of(&[limited], 3, &[job(JobState::Initialized, 0, 0)]), Some(20));
    }

    #[test]
    fn the_transactions_that_are_done_or_the_run_time_end_a_model_of_a_database() {
        use crate::database::testing::{change_load, database_plan, innodb};
        let left = |limit, runtime, transactions: [u64; 2]| {
            let mut plan = database_plan("bank", &innodb());
            change_load(&mut plan, |load| load.limit = limit);
            for job in &mut plan.jobs {
                job.spec.limits.size = 1 << 30;
                job.spec.limits.runtime = Duration::from_secs(runtime);
                job.spec.limits.time_based = runtime > 0;
            }
            let running = |transactions| JobProgress { transactions, ..job(JobState::Running, 4, 2 << 30) };
            let jobs = [running(transactions[0]), running(transactions[1]), running(0)];
            remaining(
                &plan,
                &Progress { elapsed: Duration::from_secs(4), jobs: jobs.to_vec() },
                Compat::Ferrio,
            )
        };
        assert_eq!(left(Some(400), 0, [70, 30]), Some(12));
        assert_eq!(left(Some(400), 10, [70, 30]), Some(6), "the time is up before");
        assert_eq!(left(Some(400), 60, [70, 30]), Some(12));
        assert_eq!(left(Some(400), 60, [300, 100]), Some(0));
        assert_eq!(left(None, 10, [70, 30]), Some(6));
    }

    #[test]
    fn hours_and_days_show_only_when_there_are_any() {
        let texts = [2, 61, 3600, 90_061].map(clock_text);
        assert_eq!(texts, ["00m:02s", "01m:01s", "01h:00m:00s", "01d:01h:01m:01s"]);
    }
}
