//! Statistics of whole disks (Documentation/block/stat.rst of the kernel), and the disks that a disk is built on.

use std::fs;
use std::path::{Path, PathBuf};

use crate::devices::{DeviceNumber, current_scheduler, sys_directory, whole_disk};
use crate::files::{entries, sys_figure};
use crate::interruptions::text_of_file;

/// A whole disk with counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Name below `/sys/block`.
    pub name: String,
    sys: PathBuf,
}

impl Disk {
    /// The disk with this device number, or with a partition of this number.
    #[must_use]
    pub fn of(device: DeviceNumber) -> Option<Disk> {
        Disk::at(&sys_directory(device)?)
    }

    /// The disk with this directory below `/sys`, or with a partition with this directory.
    #[must_use]
    pub fn at(sys: &Path) -> Option<Disk> {
        let sys = whole_disk(sys);
        Some(Disk { name: sys.file_name()?.to_string_lossy().into_owned(), sys })
    }

    /// Reads the counters; `None` if the disk has none.
    #[must_use]
    pub fn counters(&self) -> Option<DiskCounters> {
        let text = text_of_file(self.sys.join("stat")).ok()?;
        let mut fields = text.split_ascii_whitespace().map(str::parse);
        let mut counters = DiskCounters::default();
        for counter in &mut counters.0 {
            *counter = fields.next()?.ok()?;
        }
        Some(counters)
    }

    /// The file that lists the I/O schedulers of the disk, the current one in brackets; writing a name to it switches the scheduler.
    #[must_use]
    pub fn scheduler_file(&self) -> PathBuf {
        self.sys.join("queue/scheduler")
    }

    /// The current I/O scheduler; `None` if the disk cannot have any.
    #[must_use]
    pub fn scheduler(&self) -> Option<String> {
        Some(current_scheduler(&self.schedulers()?).to_owned())
    }

    /// The I/O schedulers of the disk as the kernel lists them, the current one in brackets; `None` if there is no such list.
    #[must_use]
    pub fn schedulers(&self) -> Option<String> {
        Some(text_of_file(self.scheduler_file()).ok()?.trim().to_owned())
    }

    /// The disks that do the I/O of this one: a stacked device passes its I/O on.
    #[must_use]
    pub fn lowest(&self) -> Vec<Disk> {
        let below = self.slaves();
        if below.is_empty() { vec![self.clone()] } else { below.iter().flat_map(Disk::lowest).collect() }
    }

    /// Whether it is persistent memory, whose file systems can map files without the page cache (DAX).
    #[must_use]
    pub fn supports_dax(&self) -> bool {
        sys_figure(&self.sys.join("queue/dax")) == Some(1)
    }

    /// The disks that this one is directly built on, in the order of their directories; a disk with two partitions in use appears twice.
    #[must_use]
    pub fn slaves(&self) -> Vec<Disk> {
        let links = entries(&self.sys.join("slaves"));
        let mut slaves: Vec<PathBuf> = links.iter().filter_map(|link| fs::canonicalize(link).ok()).collect();
        slaves.sort();
        slaves.iter().filter_map(|slave| Disk::at(slave)).collect()
    }
}

/// Fields 1 to 11 of a `stat` file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounters([u64; 11]);

/// The activity of a disk between two readings; pairs are reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskActivity {
    /// I/Os completed.
    pub ios: [u64; 2],
    /// I/Os merged with others before they were issued.
    pub merges: [u64; 2],
    /// Sectors of 512 bytes.
    pub sectors: [u64; 2],
    /// Time that I/Os waited and took, ms.
    pub ticks: [u64; 2],
    /// Time with I/O in flight, ms.
    pub busy_ms: u64,
    /// Time in the queue, weighted by the number of I/Os in it, ms.
    pub in_queue: u64,
}

impl DiskCounters {
    /// Growth since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &DiskCounters) -> DiskActivity {
        let grown = |field: usize| self.0[field].wrapping_sub(earlier.0[field]);
        // The time fields are 32-bit counters in the kernel and may wrap.
        let time = |field: usize| u64::from((self.0[field] as u32).wrapping_sub(earlier.0[field] as u32));
        DiskActivity {
            ios: [grown(0), grown(4)],
            merges: [grown(1), grown(5)],
            sectors: [grown(2), grown(6)],
            ticks: [time(3), time(7)],
            busy_ms: time(9),
            in_queue: time(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_belongs_to_its_disk() {
        let root = tempfile::tempdir().unwrap();
        let part = root.path().join("sdb/sdb1");
        fs::create_dir_all(&part).unwrap();
        fs::write(part.join("partition"), "1\n").unwrap();
        let name = |sys: &Path| Disk::at(sys).map(|disk| disk.name);
        assert_eq!(name(&part).as_deref(), Some("sdb"));
        assert_eq!(name(&root.path().join("sdb")).as_deref(), Some("sdb"));
        assert_eq!(Disk::of((0, 4_000_000)), None);
    }

    #[test]
    fn the_scheduler_in_use_is_the_one_in_brackets() {
        let root = tempfile::tempdir().unwrap();
        let disk = Disk::at(root.path()).unwrap();
        assert_eq!(disk.scheduler(), None);
        fs::create_dir(root.path().join("queue")).unwrap();
        for text in ["none mq-deadline [bfq]\n", "bfq\n"] {
            fs::write(disk.scheduler_file(), text).unwrap();
            assert_eq!(disk.scheduler().as_deref(), Some("bfq"));
        }
    }

    #[test]
    fn counters_are_the_first_eleven_fields() {
        let root = tempfile::tempdir().unwrap();
        let disk = Disk::at(root.path()).unwrap();
        assert_eq!(disk.counters(), None);
        fs::write(root.path().join("stat"), " 1 2 3 4 5 6 7 8 9 10 11 12\n").unwrap();
        assert_eq!(disk.counters(), Some(DiskCounters([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])));
        fs::write(root.path().join("stat"), " 1 2 3\n").unwrap();
        assert_eq!(disk.counters(), None);
    }

    #[test]
    fn differences_survive_the_wrap_of_the_time_fields() {
        let mut before = DiskCounters::default();
        before.0[9] = u64::from(u32::MAX) - 9;
        before.0[0] = 5;
        let mut after = before;
        after.0[9] = 40;
        after.0[0] = 25;
        let activity = after.since(&before);
        assert_eq!((activity.ios, activity.busy_ms), ([20, 0], 50));
    }
}
