//! Rate limits and the minimum rates below them.

use ferrio_jobfile::{Job, Opt};

use crate::findings::Findings;
use crate::written::{asks, refuse};

/// All rules about rates.
pub(super) fn check(job: &Job, findings: &mut Findings) {
    a_rate_is_in_bytes_or_in_ios(job, findings);
    a_minimum_is_below_its_rate(job, findings);
}

fn a_rate_is_in_bytes_or_in_ios(job: &Job, findings: &mut Findings) {
    for (bytes, ios) in [(Opt::Rate, Opt::RateIops), (Opt::RateMin, Opt::RateIopsMin)] {
        if asks(job, bytes) && asks(job, ios) {
            let help = format!("take `{}` or `{}` out", bytes.row().name, ios.row().name);
            let message = "rate and rate_iops are mutually exclusive";
            refuse(findings, job, &[bytes, ios], "rate-in-bytes-and-ios", message, &help);
        }
    }
}

fn a_minimum_is_below_its_rate(job: &Job, findings: &mut Findings) {
    for (most, least) in [(Opt::Rate, Opt::RateMin), (Opt::RateIops, Opt::RateIopsMin)] {
        let (rates, minimums) = (job.options.rwt(most), job.options.rwt(least));
        for (direction, (rate, minimum)) in rates.into_iter().zip(minimums).enumerate() {
            let (rate, minimum) = (rate.unwrap_or(0), minimum.unwrap_or(0));
            if rate > 0 && rate < minimum {
                let message = format!("minimum rate exceeds rate, ddir {direction}");
                let help =
                    format!("`{}` is {minimum} and `{}` {rate} a second", least.row().name, most.row().name);
                refuse(findings, job, &[most, least], "minimum-above-rate", message, &help);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::tests::{first_refusal, null, wrong};
    use crate::testing::plan_of;

    #[test]
    fn two_kinds_of_rate_are_refused() {
        let want = "rate and rate_iops are mutually exclusive";
        assert_eq!(first_refusal("rate=1m\nrate_iops=9\n"), want);
        assert_eq!(first_refusal("rate_min=1\nrate_iops_min=9\n"), want);
        assert!(plan_of(&null("rate=1m\nrate_iops=0\n")).is_ok());
    }

    #[test]
    fn a_minimum_above_its_rate_is_refused_for_each_direction() {
        let want = "minimum rate exceeds rate, ddir ";
        assert_eq!(first_refusal("rate=1m\nrate_min=2m\n"), format!("{want}0"));
        assert_eq!(first_refusal("rate_iops=10,30\nrate_iops_min=,40\n"), format!("{want}1"));
        assert!(wrong("rate=1m,3m\nrate_min=,2m\n").is_empty(), "each is compared with its own");
        assert!(wrong("rate_min=1\n").is_empty(), "a minimum needs no rate");
    }
}
