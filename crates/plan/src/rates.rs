//! Limits of the rate of a job, and the minimums it must reach.

use std::time::Duration;

use ferrio_job::{Direction, JobSpec, PerDirection, RateProcess, Rates};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, chooses, refuse};
use crate::findings::Findings;
use crate::inert::inert;

inert! {
    RateCycle:
        |job| !asks(job, Opt::RateMin) && !asks(job, Opt::RateIopsMin);
        "there is no minimum rate (`rate_min`, `rate_iops_min`) to look at";
    RateProcess RateIgnoreThinktime:
        |job| !asks(job, Opt::Rate) && !asks(job, Opt::RateIops);
        "the job has no rate limit (`rate`, `rate_iops`)";
    RateIgnoreThinktime:
        |job| !asks(job, Opt::Thinktime); "there are no pauses without `thinktime`";
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    a_rate_is_in_bytes_or_in_ios(job, findings);
    a_minimum_is_below_its_rate(job, findings);
}

/// `rate`, `rate_iops` and the options below them.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let options = &job.options;
    spec.rates = Rates {
        bytes: options.value(Opt::Rate),
        iops: options.value(Opt::RateIops),
        poisson: chooses(job, Opt::RateProcess, RateProcess::Poisson),
        min_bytes: options.value(Opt::RateMin),
        min_iops: options.value(Opt::RateIopsMin),
        cycle: Duration::from_millis(options.value(Opt::RateCycle)),
        ignore_thinktime: options.value(Opt::RateIgnoreThinktime),
    };
    random_arrivals_need_a_rate(job, spec, findings);
}

fn a_rate_is_in_bytes_or_in_ios(job: &Job, findings: &mut Findings) {
    for (bytes, ios) in [(Opt::Rate, Opt::RateIops), (Opt::RateMin, Opt::RateIopsMin)] {
        if asks(job, bytes) && asks(job, ios) {
            let help = format!("remove `{}` or `{}`", bytes.row().name, ios.row().name);
            let message = "rate and rate_iops are mutually exclusive";
            refuse(findings, job, &[bytes, ios], "rate-in-bytes-and-ios", message, &help);
        }
    }
}

fn a_minimum_is_below_its_rate(job: &Job, findings: &mut Findings) {
    for (most, least) in [(Opt::Rate, Opt::RateMin), (Opt::RateIops, Opt::RateIopsMin)] {
        let rates: PerDirection<u64> = job.options.value(most);
        let minimums: PerDirection<u64> = job.options.value(least);
        for (direction, (rate, minimum)) in rates.0.into_iter().zip(minimums.0).enumerate() {
            if rate > 0 && rate < minimum {
                let message = format!("minimum rate exceeds rate, ddir {direction}");
                let help =
                    format!("`{}` is {minimum} and `{}` {rate} a second", least.row().name, most.row().name);
                refuse(findings, job, &[most, least], "minimum-above-rate", message, &help);
            }
        }
    }
}

fn random_arrivals_need_a_rate(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let rates = &spec.rates;
    let slow = |&d: &Direction| spec.rw.does(d) && rates.iops[d] == 0 && rates.bytes[d] < spec.block[d].min;
    if rates.poisson
        && rates.any()
        && let Some(direction) = Direction::ALL.into_iter().find(slow)
    {
        let direction = direction.name();
        let message =
            format!("rate_process=poisson needs a rate of at least one block a second for {direction}s");
        let help = "set a rate for each direction of the job";
        refuse(findings, job, &[Opt::RateProcess], "poisson-without-rate", message, help);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::testing::{first_refusal, null, plan_of, refusals, spec_of, wrong};

    #[test]
    fn minimums_are_checked_every_second_unless_told_otherwise() {
        let rates = |options: &str| spec_of(&format!("[a]\nioengine=null\nsize=1m\n{options}")).rates;
        let minimum = rates("rate_min=1m,2k\n");
        assert_eq!((minimum.min_bytes.0, minimum.cycle), ([1 << 20, 2048, 2048], Duration::from_secs(1)));
        let minimum = rates("rate_iops_min=9\nrate_cycle=20\n");
        assert_eq!((minimum.min_iops.0, minimum.cycle), ([9; 3], Duration::from_millis(20)));
        assert!(!minimum.any(), "a minimum is no limit");
    }

    #[test]
    fn random_arrivals_need_a_rate_in_each_direction() {
        let job = "[a]\nioengine=null\nsize=1m\nrw=rw\nrate_process=poisson\n";
        assert!(plan_of(job).is_ok(), "nothing is limited");
        assert!(plan_of(&format!("{job}rate_iops=1\n")).is_ok());
        let want = |direction| {
            format!("rate_process=poisson needs a rate of at least one block a second for {direction}s")
        };
        assert_eq!(refusals(&format!("{job}rate=4k,1k\n")), [want("write")]);
        assert_eq!(refusals(&format!("{job}rate_iops=,5\n")), [want("read")]);
    }

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
