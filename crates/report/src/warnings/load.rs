//! Load: CPUs too busy to wait for a device, other programs and machines, and the clock.

use ferrio_job::{ClockSource, Direction, JobSpec};
use ferrio_stats::TickSource;

use crate::database::is_database_job;

use super::memory::{buffered_writes, cached_reads, sparse_reads};
use super::run_view::{DiskTraffic, Finding, RunView, bytes, disk_traffic};

/// CPU usage in percent from which a worker does not wait for a device. The rest is its start and the clock's granularity.
const BUSY_WORKER_PERCENT: f64 = 95.0;
/// Mean CPU usage in percent from which CPUs have no time to spare.
const BUSY_CPUS_PERCENT: f64 = 95.0;
/// Other programs with at least this percentage of the machine have their own warning.
const MIN_OTHERS_PERCENT: f64 = 50.0;

/// Warns if a worker on a device never waits for it.
pub(super) fn worker_saturated(run: &RunView<'_>) -> Vec<Finding> {
    let mut most = 0.0_f64;
    let mut jobs = Vec::new();
    // A job that measures memory is limited by the CPU, and has a warning already.
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
        if judged && !polls(spec) && used >= BUSY_WORKER_PERCENT {
            most = most.max(used);
            jobs.push(index);
        }
    }
    if jobs.is_empty() {
        return Vec::new();
    }
    let (workers, each) = if jobs.len() == 1 { ("worker", "") } else { ("workers", " each") };
    let message = format!("the {workers} of {} used {:.0} % of a CPU{each}", run.who(&jobs), most.min(100.0));
    let help = run.help_for(
        &jobs,
        "the CPU is the limit, not the device: use more sessions (`numjobs`), or an engine that costs less per I/O",
        "the CPU is the limit, not the device: use more jobs, larger blocks, \
         or an engine that costs less per I/O",
    );
    vec![Finding { jobs, message, help }]
}

/// True for engines that poll for completions, which keep a CPU busy whatever the device does.
fn polls(spec: &JobSpec) -> bool {
    spec.engine_options.calls.hipri || spec.depth.complete_min == 0 || !spec.think.spin.is_zero()
}

/// Warns if the run kept all CPUs of the machine busy.
pub(super) fn cpus_saturated(run: &RunView<'_>) -> Vec<Finding> {
    let cpu = run.cpu;
    let (busy, others) = (cpu.share(cpu.busy_us), cpu.share(cpu.others_us()));
    let device = run.jobs().any(|(index, _, job)| job.stats.total_ios() > 0 && run.is_on_device(index));
    if !run.is_long_enough() || !device || busy < BUSY_CPUS_PERCENT || others >= MIN_OTHERS_PERCENT {
        return Vec::new();
    }
    let message = format!("the machine's CPUs were busy for {busy:.0} % of the run");
    let help = match run.plan.jobs.iter().all(|job| is_database_job(&job.spec)) {
        true => "jobs waited for CPUs, not for the device: use fewer sessions (`numjobs`)",
        false => {
            "jobs waited for CPUs, not for the device: use fewer jobs, larger blocks, \
             or an engine that costs less per I/O"
        }
    };
    vec![Finding { jobs: Vec::new(), message, help }]
}

/// Warns if the time stamp counter is unusable although no option selects another clock.
pub(super) fn clock_not_invariant(run: &RunView<'_>) -> Vec<Finding> {
    let fallback = run.plan.clock != Some(ClockSource::Kernel) && run.result.clock == TickSource::Monotonic;
    let measured = run.jobs().any(|(_, _, job)| job.stats.total_ios() > 0);
    if !fallback || !measured {
        return Vec::new();
    }
    let message = "the CPU has no reliable time stamp counter: each time stamp takes a call of clock_gettime";
    let help = "latencies of a few microseconds include the time of that call; \
         /sys/devices/system/clocksource/clocksource0 lists the kernel's clocks";
    vec![Finding { jobs: Vec::new(), message: message.to_owned(), help }]
}

/// Minimum spread of the jobs' starts that affects their figures, as a percentage of the run.
const MIN_START_SPREAD_PERCENT: u128 = 5;

/// Warns if jobs that were meant to run together started at different times.
pub(super) fn start_spread(run: &RunView<'_>) -> Vec<Finding> {
    let elapsed = run.result.elapsed;
    let spread = run.result.start_spread.unwrap_or_default();
    if !run.is_long_enough() || spread.as_nanos() * 100 < elapsed.as_nanos() * MIN_START_SPREAD_PERCENT {
        return Vec::new();
    }
    let message =
        format!("jobs that were started together began their I/O up to {} ms apart", spread.as_millis());
    let help = "the first ones had the device to themselves: exclude that time with ramp_time, use fewer jobs, \
         or give them more CPUs";
    vec![Finding { jobs: Vec::new(), message, help }]
}

/// Minimum I/O of other programs, as a percentage of the jobs' I/O.
const MIN_FOREIGN_PERCENT: u64 = 25;
/// Minimum I/O of other programs in bytes per second: even an idle system writes logs.
const MIN_FOREIGN_BYTES_PER_SECOND: u64 = 512 << 10;

/// Minimum percentage of their time that programs spend in user space.
const MIN_USER_PERCENT: f64 = 10.0;
/// Percentage of CPU time taken by the hypervisor that delays jobs noticeably.
const MIN_STOLEN_PERCENT: f64 = 10.0;

/// Warns if the disk of the jobs moved clearly more than they did.
pub(super) fn other_disk_load(run: &RunView<'_>) -> Vec<Finding> {
    if !run.is_long_enough() {
        return Vec::new();
    }
    let ms = run.result.elapsed.as_millis();
    let watched = disk_traffic(run);
    let found = watched.iter().filter_map(|disk| {
        let directions = || [Direction::Read, Direction::Write].into_iter();
        let moved: u64 = directions().map(|direction| disk.job_bytes(direction, |_| true)).sum();
        let foreign_bytes: u64 = directions().map(|direction| foreign_bytes(disk, direction)).sum();
        let fast = u128::from(foreign_bytes) * 1000 >= u128::from(MIN_FOREIGN_BYTES_PER_SECOND) * ms;
        let much = u128::from(foreign_bytes) * 100 >= u128::from(moved) * u128::from(MIN_FOREIGN_PERCENT);
        (moved > 0 && fast && much).then(|| {
            let jobs: Vec<usize> = disk.users.iter().map(|user| user.index).collect();
            let message = format!(
                "{} moved {} more than the {} of {}",
                disk.usage.name,
                bytes(foreign_bytes),
                bytes(moved),
                run.who(&jobs)
            );
            Finding {
                jobs,
                message,
                help: "another program uses the disk, or earlier writes are still in progress: find the program (iotop), run sync, and measure again",
            }
        })
    });
    found.collect()
}

/// Bytes that the disk moved in this direction beyond the jobs'; 0 if unknown.
fn foreign_bytes(disk: &DiskTraffic<'_>, direction: Direction) -> u64 {
    let separable = disk.users.iter().all(|user| {
        let spec = user.spec;
        // The disk counts data moved in a ramp, the job does not.
        if !spec.limits.ramp_time.is_zero() || spec.limits.ramp_size > 0 {
            return false;
        }
        // Logs of databases are in the page cache and synced all the time.
        if is_database_job(spec) {
            return false;
        }
        // With cached I/O the kernel decides what is moved: it reads ahead, writes late, and reads blocks that are partly written.
        let cached = spec.is_buffered() && user.result.stats.total_ios() > 0;
        // Durable writes also write the file system's journal; so does creating files or logs.
        let journal = spec.is_durable() && spec.rw.does(Direction::Write);
        let made = spec.files.iter().any(|file| file.extend)
            && !(spec.layout.create_serialize && spec.layout.create_fsync);
        !cached && (direction == Direction::Read || !(journal || made || spec.logs.any()))
    });
    if !separable {
        return 0;
    }
    disk.disk_bytes(direction).saturating_sub(disk.job_bytes(direction, |_| true))
}

/// Warns if other programs used so much CPU time that jobs may have waited.
pub(super) fn other_cpu_load(run: &RunView<'_>) -> Vec<Finding> {
    if !run.is_long_enough() || run.reported().all(|(_, _, job)| job.stats.total_ios() == 0) {
        return Vec::new();
    }
    let cpu = run.cpu;
    let others = cpu.share(cpu.others_us());
    let stolen = cpu.share(cpu.stolen_us);
    // Kernel threads spend no time in user space. They also work for the jobs: they write back, encrypt, compress.
    let programs = cpu.share(cpu.others_user_us()) >= others * MIN_USER_PERCENT / 100.0;
    let mut found = Vec::new();
    if others >= MIN_OTHERS_PERCENT && programs {
        found.push(format!("other programs used {others:.0} % of the machine's CPUs"));
    }
    if stolen >= MIN_STOLEN_PERCENT {
        found.push(format!("the hypervisor kept {stolen:.0} % of the CPU time for other machines"));
    }
    if found.is_empty() {
        return Vec::new();
    }
    let message = format!("{} during the run", found.join(" and "));
    let help = "jobs may have waited for a CPU: measure on a machine that does nothing else";
    vec![Finding { jobs: Vec::new(), message, help }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warnings::testing::{TestRun, disk, moving, reading};
    use ferrio_job::{EngineKind, ReadWrite};
    use ferrio_machine::CpuUse;
    use ferrio_stats::JobStats;
    use std::time::Duration;

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
        let buffered = |spec: &mut JobSpec| (spec.engine, spec.opening.direct) = (EngineKind::Psync, false);
        let case = |from_disk| TestRun::new().disk(disk(from_disk, 0)).on_disk("a", working(99), buffered);
        assert_eq!(case(0).warnings("cached-reads").len(), 1);
        assert!(case(0).warnings("worker-saturated").is_empty());
        assert_eq!(case(40 << 20).warnings("worker-saturated").len(), 1);
    }

    #[test]
    fn polling_is_no_saturation() {
        let polling = |spec: &mut JobSpec| spec.engine_options.calls.hipri = true;
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
        assert_eq!(case(None, TickSource::Monotonic), 1);
        assert_eq!(case(Some(ClockSource::Cpu), TickSource::Monotonic), 1);
        assert_eq!(case(Some(ClockSource::Kernel), TickSource::Monotonic), 0);
        assert_eq!(case(None, TickSource::Tsc), 0);
    }

    const MIB: u64 = 1 << 20;

    fn direct(spec: &mut JobSpec) {
        (spec.engine, spec.opening.direct) = (EngineKind::Psync, true);
    }

    #[test]
    fn a_disk_that_moved_clearly_more_than_the_jobs_has_a_warning() {
        let case = |read, written| {
            let case = TestRun::new().disk(disk(read, written)).on_disk("a", moving(64 * MIB, 0), direct);
            case.warnings("other-disk-load")
        };
        assert_eq!(case(96 * MIB, 0)[0].message, "vda moved 32.0MiB more than the 64.0MiB of a");
        assert_eq!(case(64 * MIB, 32 * MIB).len(), 1);
        assert!(case(65 * MIB, MIB).is_empty() && case(64 * MIB, 0).is_empty());
    }

    #[test]
    fn load_that_cannot_be_attributed_has_no_warning() {
        let read_ahead = |spec: &mut JobSpec| (spec.engine, spec.opening.direct) = (EngineKind::Psync, false);
        let case = TestRun::new().disk(disk(96 * MIB, 0)).on_disk("a", moving(64 * MIB, 0), read_ahead);
        assert!(case.warnings("other-disk-load").is_empty());
        let journal = |spec: &mut JobSpec| {
            direct(spec);
            (spec.rw, spec.durability.fsync) = (ReadWrite::RandWrite, 1);
        };
        let case = TestRun::new().disk(disk(0, 128 * MIB)).on_disk("a", moving(0, 64 * MIB), journal);
        assert!(case.warnings("other-disk-load").is_empty());
    }

    #[test]
    fn other_programs_that_have_half_of_the_machine_have_a_warning() {
        let case = |own_us| {
            let mut case = TestRun::new().job("a", reading(10_000, 10_000));
            case.cpu = CpuUse { all_us: 1000, busy_us: 900, own_us, user_us: 400, ..CpuUse::default() };
            case.warnings("other-cpu-load")
        };
        assert!(case(300)[0].message.starts_with("other programs used 60 %"));
        assert!(case(500).is_empty());
    }

    #[test]
    fn the_kernel_at_work_for_the_jobs_is_no_other_program() {
        let mut case = TestRun::new().job("a", reading(10_000, 10_000));
        case.cpu =
            CpuUse { all_us: 1000, busy_us: 900, own_us: 200, user_us: 90, own_user_us: 50, ..case.cpu };
        assert!(case.warnings("other-cpu-load").is_empty());
    }

    #[test]
    fn a_hypervisor_that_takes_a_tenth_has_a_warning() {
        let case = |stolen_us| {
            let mut case = TestRun::new().job("a", reading(10_000, 10_000));
            case.cpu = CpuUse { all_us: 1000, stolen_us, ..CpuUse::default() };
            case.warnings("other-cpu-load")
        };
        let want = "the hypervisor kept 15 % of the CPU time for other machines during the run";
        assert_eq!(case(150)[0].message, want);
        assert!(case(90).is_empty());
    }

    #[test]
    fn what_is_read_in_a_ramp_is_no_other_load() {
        let ramped = |spec: &mut JobSpec| {
            direct(spec);
            spec.limits.ramp_time = Duration::from_secs(5);
        };
        let case = TestRun::new().disk(disk(96 * MIB, 0)).on_disk("a", moving(64 * MIB, 0), ramped);
        assert!(case.warnings("other-disk-load").is_empty());
    }

    #[test]
    fn jobs_that_begin_far_apart_have_a_warning() {
        let mut run = TestRun::new().job("a", reading(20_000, 9_000)).job("a", reading(20_000, 9_000));
        for (ms, warned) in [(0, false), (499, false), (500, true)] {
            run.result.start_spread = Some(Duration::from_millis(ms));
            assert_eq!(run.warnings("start-spread").len(), usize::from(warned), "{ms} ms of 10 s");
        }
        let message = "jobs that were started together began their I/O up to 500 ms apart";
        assert_eq!(run.warnings("start-spread")[0].message, message);
    }
}
