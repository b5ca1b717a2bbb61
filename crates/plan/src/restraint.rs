//! Latencies that a job must keep, and its flow group.

use std::time::Duration;

use ferrio_jobfile::{Opt, Options};

use ferrio_job::{Flow, LatencyTarget, MaxLatency, PerDirection};

/// The search for a depth, if one is asked for.
pub(crate) fn latency_target(options: &Options) -> LatencyTarget {
    let time = |opt| Duration::from_micros(options.time_us(opt).unwrap_or(0));
    let default = LatencyTarget::default();
    LatencyTarget {
        target: time(Opt::LatencyTarget),
        window: time(Opt::LatencyWindow),
        percentile: options
            .floats(Opt::LatencyPercentile)
            .and_then(|list| list.first().copied())
            .unwrap_or(default.percentile),
        goes_on: options.switch(Opt::LatencyRun).unwrap_or(false),
    }
}

/// Latencies that end the job.
pub(crate) fn max_latency(options: &Options) -> MaxLatency {
    PerDirection(options.rwt(Opt::MaxLatency).map(|us| Duration::from_micros(us.unwrap_or(0))))
}

/// The flow group, if the job is in one.
pub(crate) fn flow(options: &Options) -> Option<Flow> {
    let number = |opt| options.int(opt).map_or(0, |n| u32::try_from(n.max(0)).unwrap_or(u32::MAX));
    let weight = number(Opt::Flow);
    (weight > 0).then(|| Flow {
        id: number(Opt::FlowId),
        weight,
        sleep: Duration::from_micros(u64::from(number(Opt::FlowSleep))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::spec_of;

    fn spec(options: &str) -> ferrio_job::JobSpec {
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
    fn a_weight_makes_a_member_of_a_flow_group() {
        let flow = spec("flow=3\nflow_id=7\nflow_sleep=50\n").flow;
        assert_eq!(flow, Some(Flow { id: 7, weight: 3, sleep: Duration::from_micros(50) }));
        assert_eq!(spec("flow_id=7\nflow=0\n").flow, None);
    }
}
