//! Disk utilisation: the activity of the disks of a run's files during the run.

use std::collections::BTreeSet;

use ferrio_job::{JobSpec, Plan};
use ferrio_machine::{Disk, DiskCounters, storage_device};
use ferrio_results::DiskUsage;

/// Reads the counters of a run's disks at the start and the end.
#[derive(Debug, Default)]
pub(crate) struct Disks {
    disks: Vec<WatchedDisk>,
}

#[derive(Debug)]
struct WatchedDisk {
    disk: Disk,
    before: DiskCounters,
    /// Indices of the disks that it is directly built on.
    slaves: Vec<usize>,
}

impl Disks {
    /// Finds the disks of the files of all jobs and takes the first reading. Files that do not exist yet count by their directory. Jobs
    /// without files and with `disk_util=0` add nothing.
    pub(crate) fn find(plan: &Plan) -> Self {
        let mut found = Disks::default();
        let mut seen = BTreeSet::new();
        let jobs = plan.jobs.iter().map(|job| &job.spec);
        let jobs = jobs.filter(|spec| spec.measure.disk_util && !spec.engine.is_on_persistent_memory());
        for path in jobs.flat_map(JobSpec::storage_paths) {
            if let Some(device) = storage_device(path)
                && seen.insert(device)
                && let Some(disk) = Disk::of(device)
            {
                found.add(disk);
            }
        }
        found
    }

    /// Adds a disk and, after it, the disks that it is built on; each only once. Returns its index if it has counters.
    fn add(&mut self, disk: Disk) -> Option<usize> {
        if let Some(known) = self.disks.iter().position(|watched| watched.disk.name == disk.name) {
            return Some(known);
        }
        let (before, below) = (disk.counters()?, disk.slaves());
        let at = self.disks.len();
        self.disks.push(WatchedDisk { disk, before, slaves: Vec::new() });
        let mut slaves: Vec<usize> = below.into_iter().filter_map(|slave| self.add(slave)).collect();
        // Two partitions of one disk count once.
        slaves.sort_unstable();
        slaves.dedup();
        self.disks[at].slaves = slaves;
        Some(at)
    }

    /// Takes the last reading: the activity in the `elapsed_ms` since the first. Disks without a reading are omitted.
    pub(crate) fn usage(&self, elapsed_ms: u64) -> Vec<DiskUsage> {
        let readings: Vec<_> = self.disks.iter().map(|watched| watched.disk.counters()).collect();
        let place = |disk: &usize| readings[..*disk].iter().flatten().count();
        let read = self.disks.iter().zip(&readings).filter_map(|(disk, now)| Some((disk, (*now)?)));
        let usages = read.map(|(disk, now)| {
            let slaves = disk.slaves.iter().filter(|&&slave| readings[slave].is_some()).map(place);
            usage(disk, &now, slaves.collect(), elapsed_ms)
        });
        usages.collect()
    }

    /// The names of the disks without a last reading.
    pub(crate) fn missing_in(&self, usage: &[DiskUsage]) -> Vec<&str> {
        let names = self.disks.iter().map(|watched| watched.disk.name.as_str());
        names.filter(|name| usage.iter().all(|known| known.name != *name)).collect()
    }
}

fn usage(watched: &WatchedDisk, now: &DiskCounters, slaves: Vec<usize>, elapsed_ms: u64) -> DiskUsage {
    let WatchedDisk { disk, before, .. } = watched;
    let done = now.since(before);
    DiskUsage {
        name: disk.name.clone(),
        ios: done.ios,
        merges: done.merges,
        sectors: done.sectors,
        ticks: done.ticks,
        in_queue: done.in_queue,
        busy_ms: done.busy_ms,
        util: percent(done.busy_ms, elapsed_ms),
        slaves,
    }
}

fn percent(busy_ms: u64, elapsed_ms: u64) -> f64 {
    if elapsed_ms == 0 { 0.0 } else { (100.0 * busy_ms as f64 / elapsed_ms as f64).min(100.0) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A tree like the kernel's: disks with counters and what they are built on.
    fn tree(disks: &[&str], slaves: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for name in disks {
            let disk = root.path().join(name);
            fs::create_dir_all(disk.join("slaves")).unwrap();
            fs::write(disk.join("stat"), " 1 2 3 4 5 6 7 8 9 10 11\n").unwrap();
        }
        for (disk, slave) in slaves {
            let link = root.path().join(disk).join("slaves").join(slave);
            std::os::unix::fs::symlink(root.path().join(slave), link).unwrap();
        }
        root
    }

    fn shown(disks: &Disks) -> Vec<(&str, Vec<usize>)> {
        disks.disks.iter().map(|watched| (watched.disk.name.as_str(), watched.slaves.clone())).collect()
    }

    #[test]
    fn a_stacked_device_brings_the_disks_below_it() {
        let root = tree(&["sdb", "sda", "md0"], &[("md0", "sdb"), ("md0", "sda")]);
        let mut disks = Disks::default();
        disks.add(Disk::at(&root.path().join("md0")).unwrap());
        assert_eq!(shown(&disks), [("md0", vec![1, 2]), ("sda", vec![]), ("sdb", vec![])]);
    }

    #[test]
    fn a_disk_found_before_is_a_slave_all_the_same_and_only_of_what_is_built_on_it() {
        let stacked = [("dm-0", "md0"), ("md0", "sda"), ("md0", "sdb"), ("dm-1", "sdb")];
        let root = tree(&["dm-0", "dm-1", "md0", "sda", "sdb"], &stacked);
        let mut disks = Disks::default();
        for name in ["sdb", "dm-0", "dm-1"] {
            disks.add(Disk::at(&root.path().join(name)).unwrap());
        }
        let want =
            [("sdb", vec![]), ("dm-0", vec![2]), ("md0", vec![0, 3]), ("sda", vec![]), ("dm-1", vec![0])];
        assert_eq!(shown(&disks), want);
    }

    #[test]
    fn a_disk_that_cannot_be_read_at_the_end_is_left_out() {
        let root = tree(&["dm-0", "sda", "sdb"], &[("dm-0", "sda"), ("dm-0", "sdb")]);
        let mut disks = Disks::default();
        disks.add(Disk::at(&root.path().join("dm-0")).unwrap());
        assert!(disks.missing_in(&disks.usage(1)).is_empty());
        fs::remove_file(root.path().join("sda/stat")).unwrap();
        let usage = disks.usage(1);
        let shown: Vec<_> = usage.iter().map(|disk| (disk.name.as_str(), disk.slaves.as_slice())).collect();
        assert_eq!(shown, [("dm-0", &[1][..]), ("sdb", &[])]);
        assert_eq!(disks.missing_in(&usage), ["sda"]);
    }

    #[test]
    fn utilisation_is_a_share_of_the_elapsed_time() {
        assert_eq!((percent(50, 100), percent(101, 100), percent(5, 0)), (50.0, 100.0, 0.0));
    }
}
