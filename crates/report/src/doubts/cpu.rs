//! Processors that had no time to wait for a device.

use ferrio_job::JobSpec;

use super::cache::{buffered_writes, cached_reads, sparse_reads};
use super::{Look, Told};

/// A worker that works so much of its time waits for no device, percent. What is missing to 100 is the start and the clock's grain.
const BUSY_WORKER: f64 = 95.0;
/// All processors so busy have no time to spare, percent.
const BUSY_CPUS: f64 = 95.0;
/// Others than the run use so much of the machine, percent: then they are the doubt.
pub(super) const OTHERS: f64 = 50.0;

/// A worker on a device never waits for it.
pub(super) fn worker_saturated(look: &Look<'_>) -> Vec<Told> {
    let mut most = 0.0_f64;
    let mut jobs = Vec::new();
    // Where memory is measured the processor is all that can be the limit, and that is told already.
    let explained: Vec<usize> = [cached_reads, buffered_writes, sparse_reads]
        .iter()
        .flat_map(|doubt| doubt(look))
        .flat_map(|told| told.jobs)
        .collect();
    for (index, spec, result) in look.reported().filter(|(index, _, _)| !explained.contains(index)) {
        let stats = &result.stats;
        let used = 100.0 * (stats.usage.user_us + stats.usage.system_us) as f64
            / (stats.job_runtime_ms.max(1) * 1000) as f64;
        let judged = stats.job_runtime_ms >= 1000 && stats.total_ios() > 0 && look.is_on_device(index);
        if judged && !polls(spec) && used >= BUSY_WORKER {
            most = most.max(used);
            jobs.push(index);
        }
    }
    if jobs.is_empty() {
        return Vec::new();
    }
    let (its, their) = if jobs.len() == 1 { ("its worker", "") } else { ("their workers", " each") };
    let message = format!("{}: {its} used {:.0} % of a processor{their}", look.who(&jobs), most.min(100.0));
    let help = "the processor is the limit, not the device: use more jobs, larger blocks, \
         or an engine that costs less per I/O";
    vec![Told { jobs, message, help }]
}

/// Engines that ask again and again whether an I/O is done use a processor whatever the device does.
fn polls(spec: &JobSpec) -> bool {
    spec.engine_options.hipri || spec.depth.complete_min == 0 || !spec.think.spin.is_zero()
}

/// The run had all processors of the machine, and that was not enough.
pub(super) fn cpus_saturated(look: &Look<'_>) -> Vec<Told> {
    let cpu = look.cpu;
    let (busy, others) = (cpu.share(cpu.busy_us), cpu.share(cpu.others_us()));
    let device = look.jobs().any(|(index, _, job)| job.stats.total_ios() > 0 && look.is_on_device(index));
    if !look.is_long_enough() || !device || busy < BUSY_CPUS || others >= OTHERS {
        return Vec::new();
    }
    let message = format!("the processors of the machine were busy for {busy:.0} % of the run");
    let help = "jobs waited for processors and not for the device: use fewer jobs, larger blocks, \
         or an engine that costs less per I/O";
    vec![Told { jobs: Vec::new(), message, help }]
}

#[cfg(test)]
mod tests {
    use crate::doubts::testing::{Case, disk, reading};
    use ferrio_job::{EngineKind, JobSpec};
    use ferrio_machine::CpuUse;
    use ferrio_stats::JobStats;

    fn working(percent: u64) -> JobStats {
        let mut stats = reading(10_000, 10_000);
        stats.usage.system_us = percent * 100_000;
        stats
    }

    #[test]
    fn a_worker_that_never_waits_for_its_device_is_told() {
        let case = |percent| Case::new().disk(disk(40 << 20, 0)).on_disk("a", working(percent), |_| {});
        let told = case(99).warnings("worker-saturated");
        assert_eq!(told[0].message, "a: its worker used 99 % of a processor");
        assert!(case(90).warnings("worker-saturated").is_empty());
        let without_device = Case::new().job("a", working(100));
        assert!(without_device.warnings("worker-saturated").is_empty(), "that engine measures processors");
    }

    #[test]
    fn where_the_page_cache_is_measured_the_processor_is_no_second_doubt() {
        let buffered = |spec: &mut JobSpec| (spec.engine, spec.direct) = (EngineKind::Psync, false);
        let case = |from_disk| Case::new().disk(disk(from_disk, 0)).on_disk("a", working(99), buffered);
        assert_eq!(case(0).warnings("cached-reads").len(), 1);
        assert!(case(0).warnings("worker-saturated").is_empty());
        assert_eq!(case(40 << 20).warnings("worker-saturated").len(), 1);
    }

    #[test]
    fn polling_is_no_doubt() {
        let polling = |spec: &mut JobSpec| spec.engine_options.hipri = true;
        let case = Case::new().on_disk("a", working(100), polling);
        assert!(case.warnings("worker-saturated").is_empty());
    }

    #[test]
    fn processors_that_the_run_kept_busy_are_told() {
        let case = |busy_us, own_us| {
            let mut case = Case::new().on_disk("a", reading(10_000, 10_000), |_| {});
            case.cpu = CpuUse { all_us: 1000, busy_us, own_us, ..CpuUse::default() };
            case.warnings("cpus-saturated").len()
        };
        assert_eq!((case(960, 900), case(900, 900), case(1000, 100)), (1, 0, 0));
    }
}
