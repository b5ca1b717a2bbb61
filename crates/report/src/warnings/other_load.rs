//! Load from other programs and machines during the run.

use ferrio_job::Direction;

use super::cpu::OTHERS;
use super::disk_traffic::{DiskTraffic, disk_traffic};
use super::run_view::{Finding, RunView, bytes};

/// Others move at least this part of what the jobs move, percent.
const CLEARLY_MORE: u64 = 25;
/// And at least this many bytes per second: an idle system writes its logs.
const LEAST_RATE: u64 = 512 << 10;

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
        let moved: u64 = [Direction::Read, Direction::Write]
            .map(|direction| disk.job_bytes(direction, |_| true))
            .iter()
            .sum();
        let foreign: u64 =
            [Direction::Read, Direction::Write].map(|direction| foreign(disk, direction)).iter().sum();
        let fast = u128::from(foreign) * 1000 >= u128::from(LEAST_RATE) * ms;
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
                help: "something else uses the disk, or earlier writes are still in progress: find the program (iotop), run sync, and measure again",
            }
        })
    });
    found.collect()
}

/// Bytes that the disk moved in this direction beyond the jobs'; 0 where that is unknown.
fn foreign(disk: &DiskTraffic<'_>, direction: Direction) -> u64 {
    let separable = disk.users.iter().all(|user| {
        let spec = user.spec;
        // Data moved in a ramp counts for the disk only.
        if !spec.limits.ramp_time.is_zero() || spec.limits.ramp_size > 0 {
            return false;
        }
        // With cached I/O the kernel decides what moves: it reads ahead, writes late, and reads blocks that are written in part.
        let cached = spec.is_buffered() && user.result.stats.total_ios() > 0;
        // Durable writes also write the file system's journal; so do files that are created meanwhile, and logs.
        let journal = spec.is_durable() && spec.rw.does(Direction::Write);
        let made = spec.files.iter().any(|file| file.extend) && !(spec.create_serialize && spec.create_fsync);
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
    // Kernel threads work for the jobs too: they write back, encrypt, compress. They spend no time in user space.
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
    use crate::warnings::testing::{TestRun, disk, moving, reading};
    use ferrio_job::{EngineKind, JobSpec, ReadWrite};
    use ferrio_machine::CpuUse;

    const MIB: u64 = 1 << 20;

    fn direct(spec: &mut JobSpec) {
        (spec.engine, spec.direct) = (EngineKind::Psync, true);
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
        let read_ahead = |spec: &mut JobSpec| (spec.engine, spec.direct) = (EngineKind::Psync, false);
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
            spec.limits.ramp_time = std::time::Duration::from_secs(5);
        };
        let case = TestRun::new().disk(disk(96 * MIB, 0)).on_disk("a", moving(64 * MIB, 0), ramped);
        assert!(case.warnings("other-disk-load").is_empty());
    }
}
