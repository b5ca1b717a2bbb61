//! CPUs that were too busy to wait for a device.

use ferrio_job::{ClockSource, JobSpec};
use ferrio_stats::TickSource;

use super::cache::{buffered_writes, cached_reads, sparse_reads};
use super::run_view::{Finding, RunView};

/// A worker this busy does not wait for a device, percent. The rest to 100 is its start and the clock's granularity.
const BUSY_WORKER: f64 = 95.0;
/// CPUs this busy on average have no time to spare, percent.
const BUSY_CPUS: f64 = 95.0;
/// Other programs that use this much of the machine, percent, have a warning of their own.
pub(super) const OTHERS: f64 = 50.0;

/// A worker on a device never waits for it.
pub(super) fn worker_saturated(run: &RunView<'_>) -> Vec<Finding> {
    let mut most = 0.0_f64;
    let mut jobs = Vec::new();
    // Where memory is measured only the CPU can be the limit, and those jobs have a warning already.
    let explained: Vec<usize> = [cached_reads, buffered_writes, sparse_reads]
        .iter()
        .flat_map(|find| find(run))
        .flat_map(|found| found.jobs)
        .collect();
    for (index, spec, result) in run.reported().filter(|(index, _, _)| !explained.contains(index)) {
        let stats = &result.stats;
        let used = 100.0 * (stats.usage.user_us + stats.usage.system_us) as f64
            / (stats.job_runtime_ms.max(1) * 1000) as f64;
        let judged = stats.job_runtime_ms >= 1000 && stats.total_ios() > 0 && run.is_on_device(index);
        if judged && !polls(spec) && used >= BUSY_WORKER {
            most = most.max(used);
            jobs.push(index);
        }
    }
    if jobs.is_empty() {
        return Vec::new();
    }
    let (workers, each) = if jobs.len() == 1 { ("worker", "") } else { ("workers", " each") };
    let message = format!("the {workers} of {} used {:.0} % of a CPU{each}", run.who(&jobs), most.min(100.0));
    let help = "the CPU is the limit, not the device: use more jobs, larger blocks, \
         or an engine that costs less per I/O";
    vec![Finding { jobs, message, help }]
}

/// Engines that poll for completions keep a CPU busy whatever the device does.
fn polls(spec: &JobSpec) -> bool {
    spec.engine_options.hipri || spec.depth.complete_min == 0 || !spec.think.spin.is_zero()
}

/// The run kept all CPUs of the machine busy.
pub(super) fn cpus_saturated(run: &RunView<'_>) -> Vec<Finding> {
    let cpu = run.cpu;
    let (busy, others) = (cpu.share(cpu.busy_us), cpu.share(cpu.others_us()));
    let device = run.jobs().any(|(index, _, job)| job.stats.total_ios() > 0 && run.is_on_device(index));
    if !run.is_long_enough() || !device || busy < BUSY_CPUS || others >= OTHERS {
        return Vec::new();
    }
    let message = format!("the machine's CPUs were busy for {busy:.0} % of the run");
    let help = "jobs waited for CPUs, not for the device: use fewer jobs, larger blocks, \
         or an engine that costs less per I/O";
    vec![Finding { jobs: Vec::new(), message, help }]
}

/// The time stamp counter cannot be used although nobody asked for another clock.
pub(super) fn clock_not_invariant(run: &RunView<'_>) -> Vec<Finding> {
    let fallback = run.plan.clock != ClockSource::Kernel && run.result.clock == TickSource::Monotonic;
    let measured = run.jobs().any(|(_, _, job)| job.stats.total_ios() > 0);
    if !fallback || !measured {
        return Vec::new();
    }
    let message = "the CPU has no reliable time stamp counter: each time stamp takes a call of clock_gettime";
    let help = "latencies of a few microseconds include the time of that call; \
         /sys/devices/system/clocksource/clocksource0 lists the kernel's clocks";
    vec![Finding { jobs: Vec::new(), message: message.to_owned(), help }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warnings::testing::{TestRun, disk, reading};
    use ferrio_job::{EngineKind, JobSpec};
    use ferrio_machine::CpuUse;
    use ferrio_stats::JobStats;

    fn working(percent: u64) -> JobStats {
        let mut stats = reading(10_000, 10_000);
        stats.usage.system_us = percent * 100_000;
        stats
    }

    #[test]
    fn a_worker_that_never_waits_for_its_device_has_a_warning() {
        let case = |percent| TestRun::new().disk(disk(40 << 20, 0)).on_disk("a", working(percent), |_| {});
        let found = case(99).warnings("worker-saturated");
        assert_eq!(found[0].message, "the worker of a used 99 % of a CPU");
        assert!(case(90).warnings("worker-saturated").is_empty());
        let without_device = TestRun::new().job("a", working(100));
        assert!(without_device.warnings("worker-saturated").is_empty(), "that engine measures the CPU");
    }

    #[test]
    fn where_the_page_cache_is_measured_the_processor_has_no_second_warning() {
        let buffered = |spec: &mut JobSpec| (spec.engine, spec.direct) = (EngineKind::Psync, false);
        let case = |from_disk| TestRun::new().disk(disk(from_disk, 0)).on_disk("a", working(99), buffered);
        assert_eq!(case(0).warnings("cached-reads").len(), 1);
        assert!(case(0).warnings("worker-saturated").is_empty());
        assert_eq!(case(40 << 20).warnings("worker-saturated").len(), 1);
    }

    #[test]
    fn polling_is_no_saturation() {
        let polling = |spec: &mut JobSpec| spec.engine_options.hipri = true;
        let case = TestRun::new().on_disk("a", working(100), polling);
        assert!(case.warnings("worker-saturated").is_empty());
    }

    #[test]
    fn cpus_that_the_run_kept_busy_have_a_warning() {
        let case = |busy_us, own_us| {
            let mut case = TestRun::new().on_disk("a", reading(10_000, 10_000), |_| {});
            case.cpu = CpuUse { all_us: 1000, busy_us, own_us, ..CpuUse::default() };
            case.warnings("cpus-saturated").len()
        };
        assert_eq!((case(960, 900), case(900, 900), case(1000, 100)), (1, 0, 0));
    }

    #[test]
    fn a_fallback_has_a_warning_and_a_choice_has_none() {
        let case = |wanted, used| {
            let mut case = TestRun::new().job("a", reading(1000, 5000));
            (case.plan.clock, case.result.clock) = (wanted, used);
            case.warnings("clock-not-invariant").len()
        };
        assert_eq!(case(ClockSource::Best, TickSource::Monotonic), 1);
        assert_eq!(case(ClockSource::Cpu, TickSource::Monotonic), 1);
        assert_eq!(case(ClockSource::Kernel, TickSource::Monotonic), 0);
        assert_eq!(case(ClockSource::Best, TickSource::Tsc), 0);
    }
}
