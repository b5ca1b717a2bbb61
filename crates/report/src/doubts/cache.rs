//! Figures that are those of memory and not of a device.

use ferrio_plan::Direction;

use super::balance::{Balance, User, balances};
use super::{Look, Told, bytes};

/// Less data says nothing: a file system's own reads are as much.
const LEAST_BYTES: u64 = 1 << 20;
/// A device that moved less than this part of the data cannot be what was measured.
const PART: u64 = 2;
/// Reading data so often means reading memory, where the device cannot be watched.
const TIMES: u64 = 2;

/// File systems that may store data in less space than it has: their devices move less.
const COMPRESSING: [&str; 6] = ["btrfs", "zfs", "bcachefs", "f2fs", "erofs", "squashfs"];
/// File systems without a device.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

/// Buffered reads of which the device knows little.
pub(super) fn cached_reads(look: &Look<'_>) -> Vec<Told> {
    let help = "the page cache is measured: use direct=1, or read more data than there is memory";
    let reads = |user: &User<'_>| user.is_cached(Direction::Read) && user.spec.rw.does(Direction::Read);
    let watched = balances(look);
    let told = watched.iter().filter_map(|balance| {
        let (jobs, moved, disk) = unseen(balance, Direction::Read, reads)?;
        let message = format!(
            "{} read {} through the page cache, of which {} came from {}",
            look.who(&jobs),
            bytes(moved),
            bytes(disk),
            balance.disk.name
        );
        Some(Told { jobs, message, help })
    });
    told.chain(read_again(look).map(|(job, moved, data)| {
        let jobs = vec![job];
        let message = format!("{} read {} from files of {}", look.who(&jobs), bytes(moved), bytes(data));
        Told { jobs, message, help }
    }))
    .collect()
}

/// Buffered writes that were still in memory when the run ended.
pub(super) fn buffered_writes(look: &Look<'_>) -> Vec<Told> {
    let help = "memory is measured: use end_fsync=1, fsync, sync or direct=1";
    let writes = |user: &User<'_>| {
        user.is_cached(Direction::Write) && user.spec.rw.does(Direction::Write) && !user.spec.is_durable()
    };
    let watched = balances(look);
    let told = watched.iter().filter_map(|balance| {
        let (jobs, moved, disk) = unseen(balance, Direction::Write, writes)?;
        let message = format!(
            "{} wrote {}, of which {} had reached {} at the end",
            look.who(&jobs),
            bytes(moved),
            bytes(disk),
            balance.disk.name
        );
        Some(Told { jobs, message, help })
    });
    told.collect()
}

/// The jobs that count, what they moved, and the lesser part of it that the disk moved for them.
fn unseen(
    balance: &Balance<'_>,
    direction: Direction,
    counts: impl Fn(&User<'_>) -> bool,
) -> Option<(Vec<usize>, u64, u64)> {
    if balance.file_systems.iter().any(|kind| COMPRESSING.contains(kind)) {
        return None;
    }
    let moved = balance.job_bytes(direction, &counts);
    let of_others = balance.job_bytes(direction, |user| !counts(user));
    let disk = balance.disk_bytes(direction).saturating_sub(of_others);
    let jobs = || balance.users.iter().filter(|user| counts(user)).map(|user| user.index).collect();
    (moved >= LEAST_BYTES && disk < moved / PART).then(|| (jobs(), moved, disk))
}

/// Where no disk is watched: jobs that read their files again and again, all of which fit into memory.
fn read_again<'a>(look: &Look<'a>) -> impl Iterator<Item = (usize, u64, u64)> {
    let memory = look.setting.host.memory_bytes.unwrap_or(0);
    let (setting, disks) = (look.setting, &look.result.disks);
    look.jobs().filter_map(move |(index, spec, result)| {
        let places = setting.of_job(index);
        let unwatched = |&place: &usize| {
            let place = &setting.places[place];
            let is_watched = |name: &str| disks.iter().any(|disk| disk.name == name);
            let in_memory = place.file_system.as_deref().is_some_and(|kind| IN_MEMORY.contains(&kind));
            !in_memory && !place.device.as_ref().is_some_and(|device| is_watched(&device.disk_name))
        };
        let user = User { index, spec, result };
        let moved = user.bytes(Direction::Read);
        let data: u64 = spec.files.iter().map(|file| file.size).sum();
        let again = !places.is_empty()
            && places.iter().all(unwatched)
            && user.is_cached(Direction::Read)
            && spec.rw.does(Direction::Read)
            && moved >= LEAST_BYTES
            && moved / TIMES >= data
            && data < memory;
        again.then_some((index, moved, data))
    })
}

#[cfg(test)]
mod tests {
    use crate::doubts::testing::{Case, disk, moving};
    use ferrio_plan::{EngineKind, JobSpec, ReadWrite};

    const MIB: u64 = 1 << 20;

    fn buffered(spec: &mut JobSpec) {
        (spec.engine, spec.direct) = (EngineKind::Psync, false);
    }

    fn writing(spec: &mut JobSpec) {
        buffered(spec);
        spec.rw = ReadWrite::RandWrite;
    }

    #[test]
    fn buffered_reads_that_the_disk_knows_nothing_of_are_told() {
        let case =
            |from_disk| Case::new().disk(disk(from_disk, 0)).on_disk("a", moving(64 * MIB, 0), buffered);
        let told = case(MIB).warnings("cached-reads");
        assert_eq!(told[0].message, "a read 64.0MiB through the page cache, of which 1024KiB came from vda");
        assert!(case(32 * MIB).warnings("cached-reads").is_empty());
        let direct = |spec: &mut JobSpec| (spec.engine, spec.direct) = (EngineKind::Psync, true);
        let direct = Case::new().disk(disk(0, 0)).on_disk("a", moving(64 * MIB, 0), direct);
        assert!(direct.warnings("cached-reads").is_empty());
    }

    #[test]
    fn what_direct_jobs_read_does_not_speak_for_buffered_ones() {
        let direct = |spec: &mut JobSpec| (spec.engine, spec.direct) = (EngineKind::Psync, true);
        let case = Case::new().disk(disk(64 * MIB, 0)).on_disk("direct", moving(64 * MIB, 0), direct);
        let told = case.on_disk("cached", moving(64 * MIB, 0), buffered).warnings("cached-reads");
        assert_eq!(told[0].jobs, ["cached"]);
    }

    #[test]
    fn buffered_writes_that_are_in_memory_at_the_end_are_told_unless_they_are_made_durable() {
        let told = Case::new().disk(disk(0, MIB)).on_disk("a", moving(0, 64 * MIB), writing);
        let told = told.warnings("buffered-writes");
        assert_eq!(told[0].message, "a wrote 64.0MiB, of which 1024KiB had reached vda at the end");
        let durable = |spec: &mut JobSpec| {
            writing(spec);
            spec.durability.end_fsync = true;
        };
        let durable = Case::new().disk(disk(0, MIB)).on_disk("a", moving(0, 64 * MIB), durable);
        assert!(durable.warnings("buffered-writes").is_empty());
    }

    #[test]
    fn where_no_disk_is_watched_reading_again_and_again_is_told() {
        let case = |moved| {
            let small = |spec: &mut JobSpec| {
                buffered(spec);
                spec.files = vec![crate::doubts::testing::file(16 * MIB)];
            };
            Case::new().on_disk("a", moving(moved, 0), small).warnings("cached-reads")
        };
        assert_eq!(case(64 * MIB)[0].message, "a read 64.0MiB from files of 16.0MiB");
        assert!(case(16 * MIB).is_empty());
    }
}
