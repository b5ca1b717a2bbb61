//! Latencies that a job must keep: `latency_target` and `max_latency`.

use std::time::Duration;

use ferrio_job::{JobSpec, LatencyTarget, PerDirection};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, refuse};
use crate::findings::Findings;
use crate::inert::inert;
use crate::measure;

inert! {
    LatencyWindow LatencyPercentile LatencyRun:
        |job| !asks(job, Opt::LatencyTarget); "nothing is searched for without `latency_target`";
}

/// Rules about the job as written: a latency that is not measured cannot be limited.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if measure::measure(job, JobSpec::with_defaults("").measure).lat {
        return;
    }
    for opt in [Opt::MaxLatency, Opt::LatencyTarget] {
        if asks(job, opt) {
            let message = format!("{} needs the latencies of I/Os, which are not measured", opt.row().name);
            let help = "remove `disable_lat` or `gtod_reduce`";
            refuse(findings, job, &[opt], "latency-limit-without-latencies", message, help);
        }
    }
}

/// The search for a depth that keeps a latency, and the latencies that end the job.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    spec.latency_target = LatencyTarget {
        target: options.value(Opt::LatencyTarget),
        window: options.value(Opt::LatencyWindow),
        percentile: options.value(Opt::LatencyPercentile),
        goes_on: options.value(Opt::LatencyRun),
    };
    let longest = options.rwt(Opt::MaxLatency);
    spec.max_latency = PerDirection(longest.map(|us| Duration::from_micros(us.unwrap_or(0))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{null, plan_of, spec_of, wrong};
    use ferrio_job::MaxLatency;

    fn spec(options: &str) -> JobSpec {
        spec_of(&format!("[a]\nioengine=null\nsize=1m\n{options}"))
    }

    #[test]
    fn plain_times_are_microseconds() {
        let target = spec("latency_target=2500\nlatency_window=1500us\n").latency_target;
        let want = LatencyTarget {
            target: Duration::from_micros(2500),
            window: Duration::from_micros(1500),
            ..LatencyTarget::default()
        };
        assert_eq!(target, want);
        assert!(target.is_sought() && !spec("").latency_target.is_sought());
        let target = spec("latency_target=1ms\nlatency_percentile=99.5\nlatency_run=1\n").latency_target;
        assert_eq!((target.percentile, target.goes_on), (99.5, true));
    }

    #[test]
    fn directions_have_latencies_of_their_own() {
        let us = Duration::from_micros;
        assert_eq!(spec("max_latency=1ms,5\n").max_latency.0, [us(1000), us(5), us(5)]);
        assert_eq!(spec("max_latency=,5\n").max_latency.0, [us(0), us(5), us(5)]);
        assert_eq!(spec("").max_latency, MaxLatency::default());
    }

    #[test]
    fn latencies_that_are_not_measured_cannot_be_limited() {
        let refused = |opt| [format!("{opt} needs the latencies of I/Os, which are not measured")];
        assert_eq!(wrong("max_latency=5\ngtod_reduce=1\n"), refused("max_latency"));
        assert_eq!(wrong("latency_target=5\ndisable_lat=1\n"), refused("latency_target"));
        assert!(plan_of(&null("max_latency=5\ngtod_reduce=1\ndisable_lat=0\n")).is_ok());
        assert!(plan_of(&null("latency_target=0\ngtod_reduce=1\n")).is_ok());
    }
}
