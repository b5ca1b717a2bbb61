//! CPU throttling: a CPU limit of the control group, and heat.

use std::time::Duration;

use super::run_view::{Finding, RunView};
use crate::Unit;

/// Minimum throttled time that is worth a warning, as a percentage of the run. At 1 %, throttling alone can determine the 99th percentile
/// of a latency.
const MIN_THROTTLED_PERCENT: f64 = 1.0;

/// Minimum number of events per second that is worth a warning, if the kernel does not report how long heat slowed down the CPUs.
const MIN_EVENTS_PER_SECOND: f64 = 1.0;

/// Warns if a CPU limit of the control group noticeably throttled the jobs.
pub(super) fn cpu_limit(run: &RunView<'_>) -> Vec<Finding> {
    let (us, watched) = (run.throttling.cgroup_us, run.throttling.watched);
    if !is_worth_checking(run) || !is_significant(us, watched) {
        return Vec::new();
    }
    let message = format!(
        "the CPU limit of the cgroup stopped threads for {} in {} of run, added over CPUs",
        format_us(us),
        format_time(watched)
    );
    let help = "the figures are those of the limit, not of the device: raise the limit (cpu.max or cpu.cfs_quota_us of the cgroup \
         and of those above it; the CPUs of a container), or use fewer jobs";
    vec![Finding { jobs: Vec::new(), message, help }]
}

/// Warns if heat noticeably slowed down the CPUs.
pub(super) fn cpu_heat(run: &RunView<'_>) -> Vec<Finding> {
    let throttling = &run.throttling;
    let watched = throttling.watched;
    let is_hot = match throttling.heat_us {
        Some(us) => is_significant(us, watched),
        None => throttling.heat_events as f64 >= MIN_EVENTS_PER_SECOND * watched.as_secs_f64(),
    };
    if !is_worth_checking(run) || throttling.heat_events == 0 || !is_hot {
        return Vec::new();
    }
    let how = match throttling.heat_us {
        Some(us) => format!("for {}", format_us(us)),
        None if throttling.heat_events == 1 => "once".to_owned(),
        None => format!("{} times", throttling.heat_events),
    };
    let message = format!("heat slowed down the CPUs {how} in {} of run", format_time(watched));
    let help = "latencies and CPU times are those of slower CPUs, and the next run may differ: cool the machine better, \
         or wait until it is cool, and measure again";
    vec![Finding { jobs: Vec::new(), message, help }]
}

/// True if the run is long enough to evaluate and reports I/O.
fn is_worth_checking(run: &RunView<'_>) -> bool {
    run.is_long_enough() && run.reported().any(|(_, _, job)| job.stats.total_ios() > 0)
}

fn is_significant(us: u64, watched: Duration) -> bool {
    us > 0 && us as f64 * 100.0 >= watched.as_micros() as f64 * MIN_THROTTLED_PERCENT
}

fn format_us(us: u64) -> String {
    format_time(Duration::from_micros(us))
}

fn format_time(time: Duration) -> String {
    Unit::Nanoseconds.text(time.as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use crate::model::Warning;
    use crate::warnings::testing::{TestRun, reading};
    use ferrio_machine::CpuThrottling;
    use ferrio_stats::JobStats;
    use std::time::Duration;

    fn warnings(code: &str, stats: JobStats, throttling: CpuThrottling) -> Vec<Warning> {
        let mut case = TestRun::new().job("a", stats);
        case.throttling = CpuThrottling { watched: Duration::from_secs(10), ..throttling };
        case.warnings(code)
    }

    #[test]
    fn a_limit_that_took_a_hundredth_of_the_run_has_a_warning() {
        let case = |cgroup_us| {
            let throttling = CpuThrottling { cgroup_us, ..CpuThrottling::default() };
            warnings("cpu-limit", reading(10_000, 10_000), throttling)
        };
        let want =
            "the CPU limit of the cgroup stopped threads for 2.100 s in 10.00 s of run, added over CPUs";
        assert_eq!(case(2_100_000)[0].message, want);
        assert_eq!((case(0).len(), case(99_999).len(), case(100_000).len()), (0, 0, 1));
    }

    #[test]
    fn a_run_without_io_or_of_less_than_a_second_is_not_judged() {
        let throttling = CpuThrottling { cgroup_us: 5_000_000, heat_events: 500, ..CpuThrottling::default() };
        for code in ["cpu-limit", "cpu-heat"] {
            assert!(warnings(code, JobStats::default(), throttling).is_empty());
            let mut short = TestRun::new().job("a", reading(10_000, 900));
            (short.throttling, short.result.elapsed) = (throttling, Duration::from_millis(900));
            assert!(short.warnings(code).is_empty());
        }
    }

    #[test]
    fn heat_counts_by_its_time_or_else_by_its_events() {
        let case = |heat_events, heat_us| {
            let throttling = CpuThrottling { heat_events, heat_us, ..CpuThrottling::default() };
            let found = warnings("cpu-heat", reading(10_000, 10_000), throttling);
            found.into_iter().map(|warning| warning.message).collect::<Vec<_>>()
        };
        assert_eq!(case(3, Some(250_000)), ["heat slowed down the CPUs for 250.0 ms in 10.00 s of run"]);
        assert_eq!(case(214, None), ["heat slowed down the CPUs 214 times in 10.00 s of run"]);
        assert_eq!((case(900, Some(99_999)), case(9, None), case(0, Some(0))), (vec![], vec![], vec![]));
    }
}
