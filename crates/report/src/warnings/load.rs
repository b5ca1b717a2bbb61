//! Load: CPUs too busy to wait for a device, other programs and machines, and the clock.

use ferrio_job::{ClockSource, Direction, JobSpec};
use ferrio_stats::TickSource;

use crate::database::is_of_database;

use super::memory::{buffered_writes, cached_reads, sparse_reads};
use super::run_view::{DiskTraffic, Finding, RunView, bytes, disk_traffic};

/// A worker this busy does not wait for a device, percent. The rest is its start and the clock's granularity.
const BUSY_WORKER: f64 = 95.0;
/// CPUs this busy on average have no time to spare, percent.
const BUSY_CPUS: f64 = 95.0;
/// Other programs that use this much of the machine, percent, have a warning of their own.
const OTHERS: f64 = 50.0;

/// A worker on a device never waits for it.
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
    let help = match jobs.iter().all(|&job| is_of_database(&run.plan.jobs[job].spec)) {
        true => {
            "the CPU is the limit, not the device: use more sessions (`numjobs`), or an engine that costs less per I/O"
        }
        false => {
            "the CPU is the limit, not the device: use more jobs, larger blocks, \
             or an engine that costs less per I/O"
        }
    };
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
    let help = match run.plan.jobs.iter().all(|job| is_of_database(&job.spec)) {
        true => "jobs waited for CPUs, not for the device: use fewer sessions (`numjobs`)",
        false => {
            "jobs waited for CPUs, not for the device: use fewer jobs, larger blocks, \
             or an engine that costs less per I/O"
        }
    };
    vec![Finding { jobs: Vec::new(), message, help }]
}

/// The time stamp counter cannot be used although no option asks for another clock.
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

/// Jobs that begin this far apart do not run together for a part of the run that shows in their figures, percent of the run.
const SPREAD: u128 = 5;

/// Jobs were meant to run side by side, and some ran without the others at first.
pub(super) fn start_spread(run: &RunView<'_>) -> Vec<Finding> {
    let elapsed = run.result.elapsed;
    let spread = run.result.start_spread.unwrap_or_default();
    if !run.is_long_enough() || spread.as_nanos() * 100 < elapsed.as_nanos() * SPREAD {
        return Vec::new();
    }
    let message =
        format!("jobs that were started together began their I/O up to {} ms apart", spread.as_millis());
    let help = "the first ones had the device to themselves: exclude that time with ramp_time, use fewer jobs, \
         or give them more CPUs";
    vec![Finding { jobs: Vec::new(), message, help }]
}

/// Others move at least this much of what the jobs move, percent,
const CLEARLY_MORE: u64 = 25;
/// and at least this many bytes per second: even an idle system writes logs.
const MIN_RATE: u64 = 512 << 10;

/// Programs spend at least this part of their time in user space, percent.
const OTHERS_USER: f64 = 10.0;
/// A hypervisor that takes this much of the CPU time delays jobs noticeably, percent.
const STOLEN: f64 = 10.0;

/// The disk below the jobs moved clearly more than they did.
pub(super) fn other_disk_load(run: &RunView<'_>) -> Vec<Finding> {
    if !run.is_long_enough() {
        return Vec::new();
    }
    let ms = run.result.elapsed.as_millis();
    let watched = disk_traffic(run);
    let found = watched.iter().filter_map(|disk| {
        let directions = || [Direction::Read, Direction::Write].into_iter();
        let moved: u64 = directions().map(|direction| disk.job_bytes(direction, |_| true)).sum();
        let foreign: u64 = directions().map(|direction| foreign(disk, direction)).sum();
        let fast = u128::from(foreign) * 1000 >= u128::from(MIN_RATE) * ms;
        let much = u128::from(foreign) * 100 >= u128::from(moved) * u128::from(CLEARLY_MORE);
        (moved > 0 && fast && much).then(|| {
            let jobs: Vec<usize> = disk.users.iter().map(|user| user.index).collect();
            let message = format!(
                "{} moved {} more than the {} of {}",
                disk.usage.name,
                bytes(foreign),
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

/// Bytes that the disk moved in this direction beyond the jobs'; 0 where that is unknown.
fn foreign(disk: &DiskTraffic<'_>, direction: Direction) -> u64 {
    let separable = disk.users.iter().all(|user| {
        let spec = user.spec;
        // The disk counts data moved in a ramp, the job does not.
        if !spec.limits.ramp_time.is_zero() || spec.limits.ramp_size > 0 {
            return false;
        }
        // Logs of databases are in the page cache and synced all the time.
        if is_of_database(spec) {
            return false;
        }
        // With cached I/O the kernel decides what moves: it reads ahead, writes late, and reads blocks that are written in part.
        let cached = spec.is_buffered() && user.result.stats.total_ios() > 0;
        // Durable writes also write the file system's journal; so do files that are created meanwhile, and logs.
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

/// Others used so much CPU time that jobs may have waited.
pub(super) fn other_cpu_load(run: &RunView<'_>) -> Vec<Finding> {
    if !run.is_long_enough() || run.reported().all(|(_, _, job)| job.stats.total_ios() == 0) {
        return Vec::new();
    }
    let cpu = run.cpu;
    let others = cpu.share(cpu.others_us());
    let stolen = cpu.share(cpu.stolen_us);
    // Kernel threads spend no time in user space; they also work for the jobs: they write back, encrypt, compress.
    let programs = cpu.share(cpu.others_user_us()) >= others * OTHERS_USER / 100.0;
    let mut found = Vec::new();
    if others >= OTHERS && programs {
        found.push(format!("other programs used {others:.0} % of the machine's CPUs"));
    }
    if stolen >= STOLEN {
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
