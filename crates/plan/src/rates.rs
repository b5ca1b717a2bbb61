//! How fast a job goes: limits of its rate and the minimums it must reach, pauses, latencies that it must keep, and groups of jobs
//! that do their I/Os in fixed proportions (`flow`).

use std::time::Duration;

use ferrio_job::{
    Direction, Flow, JobSpec, LatencyTarget, PerDirection, RateProcess, Rates, Think, ThinktimeBlocksType,
};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, chooses, inert, refuse};
use crate::findings::Findings;
use crate::measure;

inert! {
    RateCycle:
        |job| !asks(job, Opt::RateMin) && !asks(job, Opt::RateIopsMin);
        "there is no minimum rate (`rate_min`, `rate_iops_min`) to check";
    RateProcess RateIgnoreThinktime:
        |job| !asks(job, Opt::Rate) && !asks(job, Opt::RateIops);
        "the job has no rate limit (`rate`, `rate_iops`)";
    RateIgnoreThinktime ThinktimeSpin ThinktimeBlocks ThinktimeBlocksType ThinktimeIotime:
        |job| !asks(job, Opt::Thinktime); "there are no pauses without `thinktime`";
    LatencyWindow LatencyPercentile LatencyRun:
        |job| !asks(job, Opt::LatencyTarget); "nothing is searched for without `latency_target`";
    FlowId FlowSleep:
        |job| !asks(job, Opt::Flow); "the job is in no flow group without `flow`";
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    a_rate_is_in_bytes_or_in_ios(job, findings);
    a_minimum_is_below_its_rate(job, findings);
    limited_latencies_are_measured(job, findings);
}

/// The options about the pace of a job.
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
    spec.think = think(job);
    spec.latency_target = LatencyTarget {
        target: options.value(Opt::LatencyTarget),
        window: options.value(Opt::LatencyWindow),
        percentile: options.value(Opt::LatencyPercentile),
        goes_on: options.value(Opt::LatencyRun),
    };
    let longest = options.per_direction(Opt::MaxLatency);
    spec.max_latency = PerDirection(longest.map(|us| Duration::from_micros(us.unwrap_or(0))));
    let weight = options.value(Opt::Flow);
    spec.flow = (weight > 0).then(|| Flow {
        id: options.value(Opt::FlowId),
        weight,
        sleep: Duration::from_micros(options.value(Opt::FlowSleep)),
    });
}

/// Pauses. With `thinktime_iotime`, the default of `thinktime_blocks` does not apply.
fn think(job: &Job) -> Think {
    let options = &job.options;
    let (time, iotime) = (options.value(Opt::Thinktime), options.value::<Duration>(Opt::ThinktimeIotime));
    let blocks = if iotime.is_zero() {
        Some(options.value(Opt::ThinktimeBlocks))
    } else {
        options.if_given(Opt::ThinktimeBlocks)
    };
    Think {
        time,
        spin: options.value::<Duration>(Opt::ThinktimeSpin).min(time),
        blocks,
        at_issue: chooses(job, Opt::ThinktimeBlocksType, ThinktimeBlocksType::Issue),
        iotime,
        cycles: options.value(Opt::Thinkcycles),
    }
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

/// A latency that is not measured cannot be limited.
fn limited_latencies_are_measured(job: &Job, findings: &mut Findings) {
    if measure::measure(job).lat {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{first_refusal, null, plan_of, refusals, spec_of, wrong};
    use ferrio_job::MaxLatency;

    #[test]
    fn minimums_are_checked_every_second_unless_rate_cycle_is_given() {
        let rates = |options: &str| spec(options).rates;
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

    fn think_of(options: &str) -> Think {
        spec(options).think
    }

    #[test]
    fn a_pause_follows_each_io_unless_thinktime_blocks_is_given() {
        let think = Think { time: Duration::from_micros(500), blocks: Some(1), ..Think::default() };
        assert_eq!(think_of("thinktime=500\n"), think);
        let issue =
            think_of("thinktime=500\nthinktime_blocks=7\nthinktime_blocks_type=issue\nthinkcycles=9\n");
        assert_eq!(issue, Think { blocks: Some(7), at_issue: true, cycles: 9, ..think });
    }

    #[test]
    fn a_time_between_pauses_replaces_the_default_count_only() {
        assert_eq!(think_of("thinktime=1\nthinktime_iotime=2\n").iotime, Duration::from_secs(2));
        assert_eq!(think_of("thinktime=1\nthinktime_iotime=2\n").blocks, None);
        assert_eq!(think_of("thinktime=1\nthinktime_iotime=2\nthinktime_blocks=1\n").blocks, Some(1));
    }

    #[test]
    fn no_more_than_the_whole_pause_is_spun() {
        assert_eq!(think_of("thinktime=5ms\nthinktime_spin=2ms\n").spin, Duration::from_millis(2));
        assert_eq!(think_of("thinktime=5ms\nthinktime_spin=7ms\n").spin, Duration::from_millis(5));
    }

    fn spec(options: &str) -> JobSpec {
        spec_of(&null(options))
    }

    #[test]
    fn plain_times_are_microseconds() {
        let target = spec("latency_target=2500\nlatency_window=1500us\n").latency_target;
        let want = LatencyTarget {
            target: Duration::from_micros(2500),
            window: Duration::from_micros(1500),
            percentile: 100.0,
            goes_on: false,
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

    #[test]
    fn a_weight_makes_a_member_of_a_flow_group() {
        let flow_of = |options: &str| spec(options).flow;
        let flow = flow_of("flow=3\nflow_id=7\nflow_sleep=50\n");
        assert_eq!(flow, Some(Flow { id: 7, weight: 3, sleep: Duration::from_micros(50) }));
        assert_eq!(flow_of("flow_id=7\nflow=0\n"), None);
    }
}
