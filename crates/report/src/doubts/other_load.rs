//! What others did while the jobs ran.

use ferrio_plan::Direction;

use super::balance::{Balance, balances};
use super::cpu::OTHERS;
use super::{Look, Told, bytes};

/// Others move at least this part of what the jobs move, percent.
const CLEARLY_MORE: u64 = 25;
/// And at least so many bytes a second: an idle system writes its logs.
const LEAST_RATE: u64 = 512 << 10;

/// The disk below the jobs moved clearly more than they did.
pub(super) fn of_disks(look: &Look<'_>) -> Vec<Told> {
    if !look.is_long_enough() {
        return Vec::new();
    }
    let ms = look.result.elapsed.as_millis();
    let watched = balances(look);
    let told = watched.iter().filter_map(|balance| {
        let moved: u64 = [Direction::Read, Direction::Write]
            .map(|direction| balance.job_bytes(direction, |_| true))
            .iter()
            .sum();
        let foreign: u64 =
            [Direction::Read, Direction::Write].map(|direction| foreign(balance, direction)).iter().sum();
        let fast = u128::from(foreign) * 1000 >= u128::from(LEAST_RATE) * ms;
        let much = u128::from(foreign) * 100 >= u128::from(moved) * u128::from(CLEARLY_MORE);
        (moved > 0 && fast && much).then(|| {
            let jobs: Vec<usize> = balance.users.iter().map(|user| user.index).collect();
            let message = format!(
                "{} moved {} more than the {} of {}",
                balance.disk.name,
                bytes(foreign),
                bytes(moved),
                look.who(&jobs)
            );
            Told {
                jobs,
                message,
                help: "something else uses the disk: find it (iotop), and measure again without it",
            }
        })
    });
    told.collect()
}

/// Bytes that the disk moved in this direction beyond the jobs'; 0 where that cannot be told.
fn foreign(balance: &Balance<'_>, direction: Direction) -> u64 {
    let told_apart = balance.users.iter().all(|user| {
        let spec = user.spec;
        // Cached I/O moves what the kernel likes: it reads ahead, writes late, and reads what is written in part.
        let cached = spec.is_buffered() && user.result.stats.total_ios() > 0;
        // What is made durable brings the journal of the file system with it; so do files that are made meanwhile, and logs.
        let journal = spec.is_durable() && spec.rw.does(Direction::Write);
        let made = spec.files.iter().any(|file| file.extend) && !(spec.create_serialize && spec.create_fsync);
        !cached && (direction == Direction::Read || !(journal || made || spec.logs.any()))
    });
    if !told_apart {
        return 0;
    }
    balance.disk_bytes(direction).saturating_sub(balance.job_bytes(direction, |_| true))
}

/// Other programs had so much of the processors that jobs may have waited for them.
pub(super) fn of_cpus(look: &Look<'_>) -> Vec<Told> {
    let others = look.cpu.share(look.cpu.others_us());
    if !look.is_long_enough() || others < OTHERS || look.jobs().all(|(_, _, job)| job.stats.total_ios() == 0)
    {
        return Vec::new();
    }
    let message = format!("other programs used {others:.0} % of the machine's processors during the run");
    let help = "jobs may have waited for them: measure on a machine that does nothing else";
    vec![Told { jobs: Vec::new(), message, help }]
}

#[cfg(test)]
mod tests {
    use crate::doubts::testing::{Case, disk, moving, reading};
    use ferrio_machine::CpuUse;
    use ferrio_plan::{EngineKind, JobSpec, ReadWrite};

    const MIB: u64 = 1 << 20;

    fn direct(spec: &mut JobSpec) {
        (spec.engine, spec.direct) = (EngineKind::Psync, true);
    }

    #[test]
    fn a_disk_that_moved_clearly_more_than_the_jobs_is_told() {
        let case = |read, written| {
            let case = Case::new().disk(disk(read, written)).on_disk("a", moving(64 * MIB, 0), direct);
            case.warnings("other-disk-load")
        };
        assert_eq!(case(96 * MIB, 0)[0].message, "vda moved 32.0MiB more than the 64.0MiB of a");
        assert_eq!(case(64 * MIB, 32 * MIB).len(), 1);
        assert!(case(65 * MIB, MIB).is_empty() && case(64 * MIB, 0).is_empty());
    }

    #[test]
    fn what_cannot_be_told_apart_is_not_told() {
        let read_ahead = |spec: &mut JobSpec| (spec.engine, spec.direct) = (EngineKind::Psync, false);
        let case = Case::new().disk(disk(96 * MIB, 0)).on_disk("a", moving(64 * MIB, 0), read_ahead);
        assert!(case.warnings("other-disk-load").is_empty());
        let journal = |spec: &mut JobSpec| {
            direct(spec);
            (spec.rw, spec.durability.fsync) = (ReadWrite::RandWrite, 1);
        };
        let case = Case::new().disk(disk(0, 128 * MIB)).on_disk("a", moving(0, 64 * MIB), journal);
        assert!(case.warnings("other-disk-load").is_empty());
    }

    #[test]
    fn other_programs_that_have_half_of_the_machine_are_told() {
        let case = |own_us| {
            let mut case = Case::new().job("a", reading(10_000, 10_000));
            case.cpu = CpuUse { all_us: 1000, busy_us: 900, own_us };
            case.warnings("other-cpu-load")
        };
        assert!(case(300)[0].message.starts_with("other programs used 60 %"));
        assert!(case(500).is_empty());
    }
}
