//! Disk utilisation: the counters below /sys/block of the disks that hold a run's files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ferrio_job::{FileKind, Plan};
use nix::sys::stat::{major, minor};

use crate::result::DiskUsage;

/// Where the kernel shows all whole disks, partitions below them.
const DISKS: &str = "/sys/block";

/// Watches the disks of a run from the first reading to the last.
#[derive(Debug, Default)]
pub(crate) struct Disks {
    disks: Vec<Disk>,
}

#[derive(Debug)]
struct Disk {
    name: String,
    stat: PathBuf,
    before: Counters,
    /// Places of the devices right below it.
    slaves: Vec<usize>,
}

/// Fields 1-11 of a `stat` file (Documentation/block/stat.rst).
type Counters = [u64; 11];

impl Disks {
    /// Finds the disks under the files of all jobs and takes the first reading. Files that do not exist yet count by their
    /// directory. Jobs without files and with `disk_util=0` add nothing.
    pub(crate) fn find(plan: &Plan) -> Self {
        let mut found = Disks::default();
        let mut seen: BTreeMap<u64, ()> = BTreeMap::new();
        let jobs = plan.jobs.iter().filter(|j| j.spec.measure.disk_util && !j.spec.engine.is_diskless());
        for file in jobs.flat_map(|j| &j.spec.files) {
            if let Some(device) = device_of(&file.path, file.kind)
                && seen.insert(device, ()).is_none()
                && let Some(disk) = disk_of(Path::new(DISKS), device)
            {
                found.add(&disk);
            }
        }
        found
    }

    /// Adds a disk and, behind it, the devices it is stacked on; each only once. Where it is, if it has counters.
    fn add(&mut self, path: &Path) -> Option<usize> {
        let name = path.file_name()?.to_string_lossy().into_owned();
        if let Some(known) = self.disks.iter().position(|disk| disk.name == name) {
            return Some(known);
        }
        let before = read_counters(&path.join("stat"))?;
        let at = self.disks.len();
        self.disks.push(Disk { name, stat: path.join("stat"), before, slaves: Vec::new() });
        let mut below: Vec<PathBuf> = fs::read_dir(path.join("slaves"))
            .map(|dir| dir.flatten().filter_map(|e| fs::canonicalize(e.path()).ok()).collect())
            .unwrap_or_default();
        below.sort();
        let mut slaves: Vec<usize> = below.iter().filter_map(|slave| self.add(&whole_disk(slave))).collect();
        // Two partitions of one disk are one.
        slaves.sort_unstable();
        slaves.dedup();
        self.disks[at].slaves = slaves;
        Some(at)
    }

    /// Takes the last reading: what happened in `elapsed_ms` since the first.
    pub(crate) fn usage(&self, elapsed_ms: u64) -> Vec<DiskUsage> {
        self.disks
            .iter()
            .map(|disk| {
                let after = read_counters(&disk.stat).unwrap_or(disk.before);
                usage(disk, &after, elapsed_ms)
            })
            .collect()
    }
}

fn usage(disk: &Disk, after: &Counters, elapsed_ms: u64) -> DiskUsage {
    let grown = |field: usize| after[field].wrapping_sub(disk.before[field]);
    // The time fields are 32-bit counters in the kernel and may wrap.
    let time = |field: usize| u64::from((after[field] as u32).wrapping_sub(disk.before[field] as u32));
    let busy = time(9) as f64;
    DiskUsage {
        name: disk.name.clone(),
        ios: [grown(0), grown(4)],
        merges: [grown(1), grown(5)],
        sectors: [grown(2), grown(6)],
        ticks: [time(3), time(7)],
        in_queue: time(10),
        util: if elapsed_ms == 0 { 0.0 } else { (100.0 * busy / elapsed_ms as f64).min(100.0) },
        slaves: disk.slaves.clone(),
    }
}

/// Device number of the disk under a path; `None` for character devices and where nothing is found.
fn device_of(path: &Path, kind: FileKind) -> Option<u64> {
    match kind {
        FileKind::Block => fs::metadata(path).ok().map(|m| m.rdev()),
        FileKind::Regular => {
            let existing = path
                .ancestors()
                .find_map(|p| fs::metadata(if p.as_os_str().is_empty() { Path::new(".") } else { p }).ok())?;
            Some(existing.dev())
        }
        FileKind::Char | FileKind::Pretend => None,
    }
}

/// The disk below `disks` with this device number, also where it is that of one of its partitions.
fn disk_of(disks: &Path, device: u64) -> Option<PathBuf> {
    let number = format!("{}:{}", major(device), minor(device));
    let has = |path: &Path| fs::read_to_string(path.join("dev")).is_ok_and(|dev| dev.trim() == number);
    let below = |path: &Path| fs::read_dir(path).map(|entries| entries.flatten().map(|e| e.path()).collect());
    let all: Vec<PathBuf> = below(disks).unwrap_or_default();
    let partition_of = |disk: &&PathBuf| {
        let parts: Vec<PathBuf> = below(disk.as_path()).unwrap_or_default();
        parts.iter().any(|part| has(part))
    };
    all.iter().find(|disk| has(disk)).or_else(|| all.iter().find(partition_of)).cloned()
}

/// The disk a partition belongs to, or the device itself.
fn whole_disk(path: &Path) -> PathBuf {
    if path.join("partition").exists()
        && let Some(parent) = path.parent()
    {
        return parent.to_path_buf();
    }
    path.to_path_buf()
}

fn read_counters(stat: &Path) -> Option<Counters> {
    let text = fs::read_to_string(stat).ok()?;
    let mut fields = text.split_ascii_whitespace().map(str::parse);
    let mut counters = Counters::default();
    for counter in &mut counters {
        *counter = fields.next()?.ok()?;
    }
    Some(counters)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree like the kernel's: disks with their numbers, partitions, and what they are stacked on.
    fn tree(disks: &[(&str, &str)], slaves: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, number) in disks {
            let disk = root.path().join(name);
            fs::create_dir_all(disk.join("slaves")).unwrap();
            fs::write(disk.join("dev"), format!("{number}\n")).unwrap();
            fs::write(disk.join("stat"), " 1 2 3 4 5 6 7 8 9 10 11\n").unwrap();
        }
        for (disk, slave) in slaves {
            let link = root.path().join(disk).join("slaves").join(slave.rsplit('/').next().unwrap());
            std::os::unix::fs::symlink(root.path().join(slave), link).unwrap();
        }
        root
    }

    #[test]
    fn a_disk_is_found_by_its_number_or_by_that_of_a_partition() {
        let root = tree(&[("vda", "254:0"), ("sdb", "8:16"), ("sdb/sdb1", "8:17")], &[]);
        let found = |major, minor| {
            let disk = disk_of(root.path(), nix::sys::stat::makedev(major, minor));
            disk.map(|disk| disk.strip_prefix(root.path()).unwrap().to_str().unwrap().to_owned())
        };
        assert_eq!(found(254, 0).as_deref(), Some("vda"));
        assert_eq!(found(8, 17).as_deref(), Some("sdb"));
        assert_eq!(found(9, 0), None);
    }

    #[test]
    fn a_stacked_device_brings_the_disks_below_it() {
        let root =
            tree(&[("sdb", "8:16"), ("sda", "8:0"), ("md0", "9:0")], &[("md0", "sdb"), ("md0", "sda")]);
        let mut disks = Disks::default();
        disks.add(&disk_of(root.path(), nix::sys::stat::makedev(9, 0)).unwrap());
        assert_eq!(shown(&disks), [("md0", vec![1, 2]), ("sda", vec![]), ("sdb", vec![])]);
    }

    fn shown(disks: &Disks) -> Vec<(&str, Vec<usize>)> {
        disks.disks.iter().map(|disk| (disk.name.as_str(), disk.slaves.clone())).collect()
    }

    #[test]
    fn a_disk_found_before_is_a_slave_all_the_same_and_only_of_what_stands_on_it() {
        let stacked = [("dm-0", "md0"), ("md0", "sda"), ("md0", "sdb"), ("dm-1", "sdb")];
        let numbers = [("dm-0", "252:0"), ("dm-1", "252:1"), ("md0", "9:0"), ("sda", "8:0"), ("sdb", "8:16")];
        let root = tree(&numbers, &stacked);
        let mut disks = Disks::default();
        for name in ["sdb", "dm-0", "dm-1"] {
            disks.add(&root.path().join(name));
        }
        let want =
            [("sdb", vec![]), ("dm-0", vec![2]), ("md0", vec![0, 3]), ("sda", vec![]), ("dm-1", vec![0])];
        assert_eq!(shown(&disks), want);
    }

    #[test]
    fn differences_survive_the_wrap_of_the_time_fields() {
        let mut before = Counters::default();
        before[9] = u64::from(u32::MAX) - 9;
        before[0] = 5;
        let disk = Disk { name: "sda".into(), stat: PathBuf::new(), before, slaves: Vec::new() };
        let mut after = before;
        after[9] = 40;
        after[0] = 25;
        let usage = usage(&disk, &after, 100);
        assert_eq!(usage.ios, [20, 0]);
        assert_eq!(usage.util, 50.0);
    }
}
