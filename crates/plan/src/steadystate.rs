//! The steady state that ends a job: `steadystate` and the options below it, which jobs of a run or of a group share.

use std::time::Duration;

use ferrio_job::{JobSpec, SteadyFigure, SteadyState, SteadyTest};
use ferrio_jobfile::{Job, Opt, SteadyLimit};

use crate::as_written::{asks, inert, refuse};
use crate::findings::Findings;

inert! {
    Steadystate SteadystateRampTime SteadystateCheckInterval:
        |job| !asks(job, Opt::SteadystateDuration);
        "steady state detection is off without `steadystate_duration`";
}

/// Most checks in a window: the figures of all of them are kept and reported.
const MAX_CHECKS: usize = 1_000_000;

/// Shortest time between two checks.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

const STEADYSTATE: [Opt; 4] =
    [Opt::Steadystate, Opt::SteadystateDuration, Opt::SteadystateRampTime, Opt::SteadystateCheckInterval];

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::SteadystateDuration) {
        check_times(job, findings);
    }
}

/// The steady state; there is none without a duration.
fn state(job: &Job) -> Option<SteadyState> {
    let options = &job.options;
    let duration: Duration = options.value(Opt::SteadystateDuration);
    let test = options.choice::<SteadyTest>(Opt::Steadystate);
    let SteadyLimit { limit, percent } = options.value(Opt::Steadystate);
    (!duration.is_zero()).then(|| SteadyState {
        figure: test.figure(),
        slope: test.is_slope(),
        limit,
        percent,
        duration,
        ramp: options.value(Opt::SteadystateRampTime),
        interval: interval(job),
    })
}

/// The steady state, which needs the latencies that it is about.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let Some(state) = state(job) else { return };
    if state.figure == SteadyFigure::Latency && !spec.measure.clat {
        let test = job.options.choice::<SteadyTest>(Opt::Steadystate);
        let message = format!("steadystate={test} needs the completion latencies, which are not measured");
        let help = "remove `disable_clat` or `gtod_reduce`, or choose `iops` or `bw`";
        refuse(findings, job, &[Opt::Steadystate], "steadystate-without-latencies", message, help);
    }
    if state.checks() > MAX_CHECKS {
        let message = format!("a steady state window of more than {MAX_CHECKS} checks is too long");
        let help = "use a shorter `steadystate_duration` or a longer `steadystate_check_interval`";
        refuse(findings, job, &[Opt::SteadystateDuration], "steadystate-duration-too-long", message, help);
    }
    spec.steadystate = Some(state);
}

/// The interval has a second at least, and the window is several intervals long.
fn check_times(job: &Job, findings: &mut Findings) {
    let interval = interval(job).as_micros();
    let duration = job.options.value::<Duration>(Opt::SteadystateDuration).as_micros();
    if interval < MIN_INTERVAL.as_micros() {
        let message = "ss_check_interval must be at least 1s";
        let opts = [Opt::SteadystateCheckInterval];
        refuse(findings, job, &opts, "steadystate-interval-too-short", message, "use 1s or more");
    } else if duration <= interval || !duration.is_multiple_of(interval) {
        let message = format!("ss_duration {duration}us must be multiple of ss_check_interval {interval}us");
        let help = "use at least twice the interval";
        let opts = [Opt::SteadystateDuration, Opt::SteadystateCheckInterval];
        refuse(findings, job, &opts, "steadystate-duration-not-of-intervals", message, help);
    }
}

/// Time between two checks.
fn interval(job: &Job) -> Duration {
    job.options.value(Opt::SteadystateCheckInterval)
}

/// One ticker checks all jobs of the run, including those without a steady state.
pub(crate) fn checks_have_one_interval(first: &Job, job: &Job, findings: &mut Findings) {
    let (before, here) = (interval(first).as_micros(), interval(job).as_micros());
    if before != here {
        let message = format!("conflicting ss_check_interval: {before} and {here}, must be globally equal");
        let blamed = if job.options.is_given(Opt::SteadystateCheckInterval) { job } else { first };
        let help = "set `steadystate_check_interval` once, in [global]";
        let opts = [Opt::SteadystateCheckInterval];
        refuse(findings, blamed, &opts, "steadystate-interval-differs", message, help);
    }
}

/// The steady state that the jobs of a group share, because one window is kept for all of them: without the interval, in which all jobs of a run agree.
pub(crate) fn in_group(job: &Job) -> Option<SteadyState> {
    state(job).map(|state| SteadyState { interval: Duration::ZERO, ..state })
}

/// Refuses a job whose steady state is not that of its group.
pub(crate) fn refuse_difference_in_group(job: &Job, findings: &mut Findings) {
    let message = "job rejected: steadystate options must be consistent within reporting groups";
    let help = "set them once in [global], or begin a new group with `new_group`";
    refuse(findings, job, &STEADYSTATE, "steadystate-differs-in-group", message, help);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{first_refusal, refusals, spec_of, wrong, wrong_in};

    fn state(options: &str) -> Option<SteadyState> {
        spec_of(&format!("[a]\nioengine=null\nsize=64k\n{options}")).steadystate
    }

    /// Criterion, limit, and whether that is a percentage.
    fn criterion(text: &str) -> (SteadyFigure, bool, f64, bool) {
        let state = state(&format!("ss={text}\nss_dur=4\n")).unwrap();
        (state.figure, state.slope, state.limit, state.percent)
    }

    #[test]
    fn without_a_duration_there_is_no_steady_state() {
        assert_eq!(state("ss=iops:10%\nss_ramp=1\n"), None);
    }

    #[test]
    fn the_default_is_an_iops_slope_of_a_hundredth_percent_checked_every_second() {
        let state = state("ss_dur=2m\nss_ramp=1500ms\n").unwrap();
        assert_eq!(
            (state.figure, state.slope, state.limit, state.percent),
            (SteadyFigure::Iops, true, 0.01, true)
        );
        let seconds = (state.duration.as_secs_f64(), state.ramp.as_secs_f64(), state.interval.as_secs_f64());
        assert_eq!(seconds, (120.0, 1.5, 1.0));
    }

    #[test]
    fn limits_are_percentages_or_of_the_kind_of_the_figure() {
        assert_eq!(criterion("iops:12.5"), (SteadyFigure::Iops, false, 12.5, false));
        assert_eq!(criterion("iops_slope:3%"), (SteadyFigure::Iops, true, 3.0, true));
        assert_eq!(criterion("bw:2m"), (SteadyFigure::Bandwidth, false, 2_097_152.0, false));
        assert_eq!(criterion("bw_slope:0.5%"), (SteadyFigure::Bandwidth, true, 0.5, true));
        assert_eq!(criterion("lat:5ms"), (SteadyFigure::Latency, false, 5e6, false));
        assert_eq!(criterion("lat_slope:100"), (SteadyFigure::Latency, true, 100e3, false));
    }

    #[test]
    fn a_steady_latency_needs_latencies() {
        let text = "[a]\nioengine=null\nsize=4k\nss=lat:10%\nss_dur=4\ngtod_reduce=1\n";
        assert_eq!(
            refusals(text),
            ["steadystate=lat needs the completion latencies, which are not measured"]
        );
    }

    #[test]
    fn a_window_has_a_size_that_can_be_kept() {
        let text = "[a]\nioengine=null\nsize=4k\nss_dur=1000001\n";
        assert_eq!(refusals(text), ["a steady state window of more than 1000000 checks is too long"]);
    }

    #[test]
    fn a_window_is_a_larger_multiple_of_an_interval_of_a_second_or_more() {
        let want = "ss_duration 10000000us must be multiple of ss_check_interval 3000000us";
        assert_eq!(first_refusal("ss=iops:10%\nss_dur=10\nss_interval=3\n"), want);
        let want = "ss_duration 1000000us must be multiple of ss_check_interval 1000000us";
        assert_eq!(first_refusal("ss_dur=1\n"), want);
        let want = "ss_check_interval must be at least 1s";
        assert_eq!(first_refusal("ss_dur=10\nss_interval=500ms\n"), want);
        assert!(wrong("ss_dur=9\nss_interval=3\n").is_empty());
        assert!(wrong("ss=iops:10%\nss_interval=500ms\n").is_empty(), "off without a duration");
    }

    #[test]
    fn all_jobs_check_at_one_interval() {
        let want = ["conflicting ss_check_interval: 1000000 and 2000000, must be globally equal"];
        assert_eq!(wrong_in("[a]\n[b]\nss_interval=2\n"), want);
        assert_eq!(wrong_in("[a]\nstonewall\n[b]\nstonewall\nss_interval=2\n"), want);
        assert!(wrong_in("ss_interval=2\n[a]\n[b]\n").is_empty());
    }

    #[test]
    fn a_group_has_one_steady_state() {
        let want = ["job rejected: steadystate options must be consistent within reporting groups"];
        let two = |a: &str, b: &str| wrong_in(&format!("[a]\n{a}\n[b]\n{b}\n"));
        assert_eq!(two("ss=iops:10%\nss_dur=4", "ss=iops:20%\nss_dur=4"), want);
        assert_eq!(two("ss=iops:10%\nss_dur=4", ""), want);
        assert_eq!(two("", "ss=iops:10%\nss_dur=4"), want);
        assert_eq!(two("ss_dur=4", "ss_dur=4\nss_ramp=1"), want);
        assert!(two("ss=iops:10%\nss_dur=4", "ss=iops:10.0%\nss_dur=4").is_empty());
        assert!(two("ss=bw:1m\nss_dur=4", "ss=bw:1024k\nss_dur=4").is_empty());
        assert!(two("ss=iops:10%", "ss=iops:20%").is_empty(), "off without a duration");
        assert!(two("ss=iops:10%\nss_dur=4", "new_group\nss=iops:20%\nss_dur=4").is_empty());
    }
}
