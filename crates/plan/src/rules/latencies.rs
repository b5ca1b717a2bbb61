//! Limits of latencies.

use ferrio_jobfile::{Job, Opt};

use crate::findings::Findings;
use crate::measure;
use crate::written::{asks, refuse};
use ferrio_job::JobSpec;

/// What is not measured cannot be limited.
pub(super) fn check(job: &Job, findings: &mut Findings) {
    if measure::measure(job, JobSpec::bare("").measure).lat {
        return;
    }
    for opt in [Opt::MaxLatency, Opt::LatencyTarget] {
        if asks(job, opt) {
            let message = format!("{} needs the latencies of I/Os, which are not measured", opt.row().name);
            let help = "take disable_lat or gtod_reduce out";
            refuse(findings, job, &[opt], "latency-limit-without-latencies", message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::tests::{null, wrong};
    use crate::testing::plan_of;

    #[test]
    fn latencies_that_are_not_measured_cannot_be_limited() {
        let refused = |opt| [format!("{opt} needs the latencies of I/Os, which are not measured")];
        assert_eq!(wrong("max_latency=5\ngtod_reduce=1\n"), refused("max_latency"));
        assert_eq!(wrong("latency_target=5\ndisable_lat=1\n"), refused("latency_target"));
        assert!(plan_of(&null("max_latency=5\ngtod_reduce=1\ndisable_lat=0\n")).is_ok());
        assert!(plan_of(&null("latency_target=0\ngtod_reduce=1\n")).is_ok());
    }
}
