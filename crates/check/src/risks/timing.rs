//! Jobs that run or measure for less, or more, time than intended.

use ferrio_job::{Direction, counted};
use ferrio_jobfile::Opt;

use super::{Info, Observation, RiskContext, RiskRule, Section, Warning};
use crate::database;
use crate::model::{Certainty, CheckedJob, Volume};
use crate::section::{CheckedSection, JobWork};
use crate::units::{bytes, time};
use crate::volume;

pub(super) const RULES: &[RiskRule] = &[
    ("time-based-without-runtime", Warning, Section(time_based_without_runtime)),
    ("ramp-outlasts-work", Warning, Section(ramp_outlasts_work)),
    ("verify-never-runs", Warning, Section(verify_never_runs)),
    ("startdelay-over", Warning, Section(startdelay_over)),
    ("runtime-unreached", Info, Section(runtime_unreached)),
    ("short-run", Warning, Section(short_run)),
    ("few-ios", Info, Section(few_ios)),
    ("long-run", Info, Section(long_run)),
    ("never-starts", Warning, Section(never_starts)),
];

/// Fewest I/Os for which more than the mean is meaningful.
const MIN_MEANINGFUL_IOS: u64 = 1000;
/// Rates that almost every device exceeds, per second.
const SLOW_BYTES: f64 = 50.0 * 1024.0 * 1024.0;
const SLOW_IOS: f64 = 2000.0;
/// Seconds from which a job is surprisingly long.
const LONG_RUN_SECONDS: f64 = 86_400.0;

/// `time_based` has no effect without `runtime`.
fn time_based_without_runtime(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let alone = section.switch(Opt::TimeBased) && section.spec().limits.runtime.is_zero();
    alone.then(|| {
        let message = "time_based without runtime has no effect: the job ends when its size is done";
        Observation::new(message, "add runtime", &[Opt::TimeBased])
    })
}

/// A job that ends by its size may end during its ramp: then nothing is measured.
fn ramp_outlasts_work(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.running().next()?;
    if spec.limits.time_based || !spec.works() {
        return None;
    }
    let advice = "I/O during the ramp is not measured: add time_based and runtime";
    let ramp_size = spec.limits.ramp_size;
    if ramp_size > 0 {
        let Volume { read, write, trim, .. } = section.instances.first().map(volume::of)?;
        let moved = read?.saturating_add(write?).saturating_add(trim?);
        return (moved <= ramp_size && !spec.group_reporting).then(|| {
            let message = format!("the job ends before its ramp_size of {} is transferred", bytes(ramp_size));
            Observation::new(message, advice, &[Opt::RampSize])
        });
    }
    let ramp = spec.limits.ramp_time.as_secs_f64();
    (ramp > 0.0 && volume::least_seconds(spec) < ramp).then(|| {
        let message = format!("the job may end before its ramp_time of {} is over", time(ramp));
        Observation::new(message, advice, &[Opt::RampTime])
    })
}

/// A job that only writes for a fixed time has none left to read back.
fn verify_never_runs(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.running().next()?;
    let verifies = spec.verify.as_ref().is_some_and(|verify| verify.read_back);
    let only_writes = spec.does(Direction::Write) && !spec.does(Direction::Read);
    (verifies && only_writes && spec.limits.time_based).then(|| {
        let message = "verify with time_based reads nothing back: writing uses all of runtime";
        Observation::new(message, "remove time_based", &[Opt::Verify])
    })
}

/// A delay counts from the start of the run and is over when an earlier phase ends.
fn startdelay_over(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let delay = section.spec().limits.startdelay.1.as_secs_f64();
    let start = run.phase_start(section);
    (delay > 0.0 && delay <= start).then(|| {
        let message = format!("startdelay of {} is over before its phase begins", time(delay));
        let advice = format!(
            "startdelay counts from the start of the run, and the phase begins after {} or later",
            time(start)
        );
        Observation::new(message, advice, &[Opt::Startdelay])
    })
}

/// The job ends by its size, on almost any device long before `runtime`.
fn runtime_unreached(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    if run.job(section).never_starts {
        return None;
    }
    let job = section.instances.iter().find(|job| job.setup_error.is_none())?;
    let (spec, runtime) = (&job.spec, job.spec.limits.runtime.as_secs_f64());
    let ends_by_size =
        spec.works() && !spec.limits.time_based && runtime >= 1.0 && spec.steadystate.is_none();
    let volume = volume::of(job);
    let moved = [volume.read, volume.write, volume.trim].into_iter().flatten().fold(0, u64::saturating_add);
    let (bytes_needed, ios_needed) = (moved as f64 / runtime, volume::least_ios(spec) as f64 / runtime);
    let slow = bytes_needed < SLOW_BYTES && ios_needed < SLOW_IOS;
    (ends_by_size && slow && moved > 0 && volume::least_seconds(spec) < runtime / 2.0).then(|| {
        let message = format!(
            "the job ends when {} is done: at {}/s, that is before its runtime of {}",
            bytes(moved),
            bytes(bytes_needed.ceil() as u64),
            time(runtime)
        );
        let advice = "runtime is only an upper limit: add time_based to run for all of it";
        Observation::new(message, advice, &[Opt::Runtime])
    })
}

/// Start and end dominate a run of less than a second.
fn short_run(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.running().next()?;
    let runtime = spec.limits.runtime.as_secs_f64();
    let in_background = database::background_of(section).is_some();
    let too_short =
        !in_background && spec.works() && spec.engine.moves_data() && runtime > 0.0 && runtime < 1.0;
    too_short.then(|| {
        let message = format!("runs for only {}", time(runtime));
        let advice = "figures vary strongly in less than a second: use a runtime of several seconds";
        Observation::new(message, advice, &[Opt::Runtime])
    })
}

/// High percentiles of few I/Os are single values.
fn few_ios(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.running().next()?;
    let job = run.job(section);
    if spec.database().is_some() {
        return few_transactions(job);
    }
    if job.volume.certainty == Certainty::Unknown || !spec.works() || !spec.engine.moves_data() {
        return None;
    }
    let ios = volume::most_ios(spec, &job.volume).unwrap_or(0);
    if ios == 0 || ios >= MIN_MEANINGFUL_IOS {
        return None;
    }
    let moved = [job.volume.read, job.volume.write, job.volume.trim].into_iter().flatten().sum();
    let all = if spec.clones > 1 { " by all instances" } else { "" };
    let message = format!("at most {ios} I/Os ({}){all}", bytes(moved));
    let advice = "high percentiles depend on a handful of values: use a larger size, loops, or time_based with runtime";
    Some(Observation::new(message, advice, &[Opt::NumberIos, Opt::IoSize, Opt::Size]))
}

/// High percentiles of few transactions are single values. Background jobs have no transactions.
fn few_transactions(job: &CheckedJob) -> Option<Observation> {
    let volume = job.database.as_ref()?.volume;
    (volume.is_expected && volume.transactions < MIN_MEANINGFUL_IOS).then(|| {
        let message = format!("at most {}", counted(volume.transactions, "transaction"));
        let advice = "high percentiles depend on a handful of values: run longer or raise `transactions`";
        Observation::new(message, advice, &[Opt::Transactions, Opt::TransactionRate, Opt::Runtime])
    })
}

/// The job runs for at least a day.
fn long_run(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let least = run.job(section).time.least_seconds;
    (least >= LONG_RUN_SECONDS).then(|| {
        let message = format!("runs for at least {}", time(least));
        Observation::new(message, "check rate, size and runtime", &[Opt::Runtime, Opt::Rate, Opt::RateIops])
    })
}

/// Another job or the trigger ends the job before it can start.
fn never_starts(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    if !run.job(section).never_starts {
        return None;
    }
    let timeout = run.report.trigger.as_ref().and_then(|trigger| trigger.timeout_seconds);
    let own = section.spec().limits.startdelay.0.as_secs_f64();
    let start = run.phase_start(section).max(own);
    let (message, advice) = match timeout.filter(|&timeout| start >= timeout) {
        Some(timeout) => (
            format!("never starts: the trigger ends the run after {}", time(timeout)),
            "use a longer --trigger-timeout, or shorten the jobs before this one",
        ),
        None => (
            "never starts: a job that ends earlier also ends this one (exitall)".to_owned(),
            "remove exitall, use exit_what=stonewall, or start all jobs together",
        ),
    };
    let blame = &[Opt::WaitFor, Opt::Startdelay, Opt::Stonewall, Opt::Exitall, Opt::ExitWhat];
    Some(Observation::new(message, advice, blame))
}

#[cfg(test)]
mod tests {
    use crate::testing::{has, report, risks};

    fn null(options: &str) -> String {
        format!("[a]\nioengine=null\nsize=1g\n{options}")
    }

    fn psync(options: &str) -> String {
        null(options).replace("ioengine=null", "ioengine=psync")
    }

    #[test]
    fn a_phase_begins_when_those_before_it_have_lasted_as_long_as_they_must() {
        let phase = |name: &str, delay: u32| {
            format!(
                "[{name}]\nioengine=null\nsize=1g\ntime_based\nruntime=2\nstonewall\nstartdelay={delay}\n"
            )
        };
        let text: String = (0..2000).map(|at| phase(&format!("j{at}"), 2 * at)).collect();
        let report = report(&text);
        // Some are told together, because their times read alike. The first has no delay.
        let told: usize = risks(&report, "startdelay-over").iter().map(|risk| risk.jobs.len()).sum();
        assert_eq!(told, 1999);
        let late: String = (0..3).map(|at| phase(&format!("j{at}"), 10 * at + 1)).collect();
        assert!(!has("startdelay-over", &late));
    }

    #[test]
    fn time_based_without_runtime_is_reported() {
        let report = report(&null("time_based\n"));
        assert_eq!(risks(&report, "time-based-without-runtime")[0].origins[0].line, Some(4));
        assert!(report.notes.is_empty(), "the planner's note says the same: {:?}", report.notes);
        assert!(!has("time-based-without-runtime", &null("time_based\nruntime=9\n")));
    }

    #[test]
    fn a_ramp_longer_than_the_work_is_reported() {
        assert!(has("ramp-outlasts-work", &null("ramp_time=2\n")));
        assert!(has("ramp-outlasts-work", &null("ramp_time=2\nruntime=9\n")));
        assert!(!has("ramp-outlasts-work", &null("ramp_time=2\nruntime=9\ntime_based\n")));
        assert!(!has("ramp-outlasts-work", &null("ramp_time=2\nrate=1m\n")));
        assert!(has("ramp-outlasts-work", &null("ramp_size=1g\n")));
        assert!(!has("ramp-outlasts-work", &null("ramp_size=1m\n")));
        assert!(!has("ramp-outlasts-work", &null("ramp_size=1g\nruntime=9\ntime_based\n")));
    }

    #[test]
    fn timed_writing_leaves_no_time_to_verify() {
        assert!(has("verify-never-runs", &null("rw=write\nverify=md5\ntime_based\nruntime=9\n")));
        assert!(!has("verify-never-runs", &null("rw=write\nverify=md5\nruntime=9\n")));
    }

    #[test]
    fn runs_below_a_second_and_beyond_a_day_are_reported() {
        assert!(has("short-run", &psync("runtime=900ms\n")) && !has("short-run", &psync("runtime=1s\n")));
        assert!(!has("short-run", &psync("")) && !has("short-run", &null("runtime=900ms\n")));
        assert!(has("long-run", &null("rate=1k\n")) && !has("long-run", &null("rate=1m\n")));
    }

    #[test]
    fn a_delay_that_is_over_before_its_phase_is_reported() {
        let second = |delay: &str| {
            let job = null("time_based\nruntime=9\n");
            format!("{job}[b]\nstonewall\nioengine=null\nsize=1g\nstartdelay={delay}\n")
        };
        assert!(has("startdelay-over", &second("9")) && !has("startdelay-over", &second("10")));
        assert!(!has("startdelay-over", &null("startdelay=1\n")));
    }

    #[test]
    fn a_runtime_that_the_job_does_not_reach_is_reported() {
        let has = |options: &str| has("runtime-unreached", &null(&format!("bs=1m\n{options}")));
        assert!(has("runtime=60\n") && has("runtime=60\nrate=100m\n"));
        assert!(
            !has("")
                && !has("runtime=60\ntime_based\n")
                && !has("runtime=10\n")
                && !has("runtime=60\nrate=20m\n")
        );
        assert!(!has("runtime=60\nbs=4k\n"), "a slow disk needs all of it");
    }

    #[test]
    fn few_ios_are_counted_over_all_clones() {
        let report = report(&psync("size=64k\nnumjobs=3\n"));
        assert_eq!(risks(&report, "few-ios")[0].message, "at most 48 I/Os (192KiB) by all instances");
        assert!(!has("few-ios", &psync("")) && !has("few-ios", &psync("size=64k\ntime_based\nruntime=2\n")));
        assert!(has("few-ios", &psync("number_ios=10\n")) && !has("few-ios", &null("number_ios=10\n")));
    }

    #[test]
    fn a_job_that_is_ended_before_it_starts_is_reported() {
        let text = "[global]\nioengine=null\nsize=1g\nexitall\n[a]\n[b]\nwait_for=a\n";
        let report = report(text);
        let found = risks(&report, "never-starts");
        assert_eq!(
            (found[0].jobs.as_slice(), found[0].origins[0].text.as_str()),
            (&["b".to_owned()][..], "wait_for=a")
        );
        assert_eq!(report.jobs[1].volume.read, Some(0));
        assert!(!has("never-starts", &text.replace("exitall", "exitall\nexit_what=stonewall")));
        assert!(!has("never-starts", &text.replace("exitall\n", "")));
    }
}
