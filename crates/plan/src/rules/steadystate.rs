//! The window of a steady state, and settings that all jobs of a run or of a group share.

use ferrio_jobfile::{Job, Opt, whole_number};

use crate::findings::Findings;
use crate::resolve::kb_base;
use crate::written::{asks, refuse};

/// µs between two checks unless given.
const INTERVAL: u64 = 1_000_000;
const STEADYSTATE: [Opt; 4] =
    [Opt::Steadystate, Opt::SteadystateDuration, Opt::SteadystateRampTime, Opt::SteadystateCheckInterval];

/// All rules about one job.
pub(super) fn check(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::SteadystateDuration) {
        an_interval_is_a_second_at_least(job, findings);
        a_window_is_some_intervals_long(job, findings);
    }
}

fn an_interval_is_a_second_at_least(job: &Job, findings: &mut Findings) {
    if interval(job) < INTERVAL {
        let message = "ss_check_interval must be at least 1s";
        refuse(
            findings,
            job,
            &[Opt::SteadystateCheckInterval],
            "steadystate-interval-too-short",
            message,
            "give 1s or more",
        );
    }
}

fn a_window_is_some_intervals_long(job: &Job, findings: &mut Findings) {
    let (duration, interval) = (job.options.time_us(Opt::SteadystateDuration).unwrap_or(0), interval(job));
    if interval >= INTERVAL && (duration <= interval || !duration.is_multiple_of(interval)) {
        let message = format!("ss_duration {duration}us must be multiple of ss_check_interval {interval}us");
        let help = "give at least twice the interval";
        let opts = [Opt::SteadystateDuration, Opt::SteadystateCheckInterval];
        refuse(findings, job, &opts, "steadystate-duration-not-of-intervals", message, help);
    }
}

/// µs between two checks.
fn interval(job: &Job) -> u64 {
    job.options.time_us(Opt::SteadystateCheckInterval).unwrap_or(INTERVAL)
}

/// One ticker looks at all jobs of the run, whether they have a steady state or not.
pub(super) fn checks_have_one_interval(first: &Job, job: &Job, findings: &mut Findings) {
    let (before, here) = (interval(first), interval(job));
    if before != here {
        let message = format!("conflicting ss_check_interval: {before} and {here}, must be globally equal");
        let blamed = if job.options.is_given(Opt::SteadystateCheckInterval) { job } else { first };
        let help = "give `steadystate_check_interval` once, in [global]";
        refuse(
            findings,
            blamed,
            &[Opt::SteadystateCheckInterval],
            "steadystate-interval-differs",
            message,
            help,
        );
    }
}

/// What jobs of one group must have in common; `None` without a steady state.
#[derive(Debug, PartialEq)]
pub(super) struct Settings {
    criterion: String,
    limit: String,
    duration: u64,
    ramp: u64,
}

impl Settings {
    pub(super) fn of(job: &Job) -> Option<Settings> {
        if !asks(job, Opt::SteadystateDuration) {
            return None;
        }
        let time = |opt| job.options.time_us(opt).unwrap_or(0);
        let choice = job.options.word(Opt::Steadystate);
        let limit = choice.and_then(|choice| choice.argument).unwrap_or("0.01%");
        Some(Settings {
            criterion: choice.map_or("iops_slope", |choice| choice.word).to_owned(),
            limit: comparable(job, limit.trim()),
            duration: time(Opt::SteadystateDuration),
            ramp: time(Opt::SteadystateRampTime),
        })
    }
}

/// A limit such that equal ones are equal texts: `10%` and `10.0%`, `1m` and `1024k`.
fn comparable(job: &Job, limit: &str) -> String {
    let (number, unit) = limit.strip_suffix('%').map_or((limit, ""), |number| (number, "%"));
    if let Ok(number) = number.parse::<f64>() {
        return format!("{number}{unit}");
    }
    whole_number(Opt::Rate, limit, kb_base(&job.options))
        .map_or_else(|| limit.to_owned(), |bytes| bytes.to_string())
}

/// One window is kept for a whole group.
pub(super) fn groups_share_their_settings(
    first: &Option<Settings>,
    job: &Job,
    here: &Option<Settings>,
    findings: &mut Findings,
) {
    if first != here {
        let message = "job rejected: steadystate options must be consistent within reporting groups";
        let help = "give them once in [global], or begin a group with `new_group`";
        refuse(findings, job, &STEADYSTATE, "steadystate-differs-in-group", message, help);
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::tests::{first_refusal, wrong, wrong_in};

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
