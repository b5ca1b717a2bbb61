//! What the machine says about the files of a plan, asked once; everything after this works on these plain data.
//!
//! Only `stat`, `statvfs`, `getrlimit` and files below `/proc`, `/sys` and `/run/udev` are asked. No file of a job is opened; the
//! first bytes of a device are read where udev does not say what is on it.

mod devices;
mod machine;
mod signature;

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use ferrio_job::{JobSpec, Plan};
use ferrio_machine::{Mounts, device_number, existing_parent, is_read_only};
use nix::sys::statvfs::{FsFlags, statvfs};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use crate::logs;
use crate::model::{Machine, Place};
use devices::Devices;

/// Facts about the machine, and about every file of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Limits of the whole run.
    pub machine: Machine,
    /// File systems and devices that are used.
    pub places: Vec<Place>,
    /// By path as jobs name it.
    pub files: HashMap<PathBuf, FileFacts>,
    /// Log files by name.
    pub logs: HashMap<PathBuf, LogFacts>,
}

/// Facts about a log file to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogFacts {
    /// Where it is, as an index into [`Facts::places`].
    pub place: Option<usize>,
    /// Size of the file that is there.
    pub size: Option<u64>,
    /// Why it cannot be created.
    pub obstacle: Option<Obstacle>,
}

/// What keeps a log file from being created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The directory that it is to lie in is not there: logs make none.
    NoDirectory,
    /// A directory has its name.
    IsDirectory,
}

impl Obstacle {
    fn of(path: &Path) -> Option<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if path.is_dir() {
            Some(Obstacle::IsDirectory)
        } else {
            parent.filter(|parent| !parent.is_dir()).map(|_| Obstacle::NoDirectory)
        }
    }
}

/// Facts about one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Where it is, as an index into [`Facts::places`].
    pub place: Option<usize>,
    /// Bytes that it takes.
    pub allocated: Option<u64>,
    /// Device and inode number, of the target of a link.
    pub identity: Option<(u64, u64)>,
    /// What the file system says of direct I/O on it.
    pub direct: DirectIo,
}

/// What a file system says of direct I/O on a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirectIo {
    /// Nothing: the kernel is too old to tell, or the file is not there yet.
    #[default]
    Unknown,
    /// It cannot be had.
    Refused,
    /// Offsets and lengths are multiples of this.
    Aligned(u64),
}

impl Facts {
    /// The whole disk below a place.
    pub(crate) fn disk(&self, place: Option<usize>) -> Option<&Path> {
        self.places.get(place?)?.device.as_ref().map(|device| device.disk.as_path())
    }

    /// Asks about all files of a plan.
    #[must_use]
    pub fn ask(plan: &Plan) -> Facts {
        let mut asking = Asking::begin();
        asking.facts.machine = machine::ask();
        let used = |spec: &&JobSpec| !spec.engine.is_diskless();
        for file in plan.jobs.iter().map(|job| &job.spec).filter(used).flat_map(|spec| &spec.files) {
            if !asking.facts.files.contains_key(&file.path) {
                let facts = asking.file(&file.path);
                asking.facts.files.insert(file.path.clone(), facts);
            }
        }
        for (path, _) in plan.jobs.iter().flat_map(|job| logs::files(&job.spec)) {
            let facts = LogFacts {
                place: asking.file(&path).place,
                size: fs::metadata(&path).ok().map(|metadata| metadata.len()),
                obstacle: Obstacle::of(&path),
            };
            asking.facts.logs.insert(path, facts);
        }
        asking.facts
    }
}

struct Asking {
    mounts: Mounts,
    devices: Devices,
    /// Places of directories that were asked about: most files of a job share one.
    directories: HashMap<PathBuf, Option<usize>>,
    facts: Facts,
}

impl Asking {
    fn begin() -> Self {
        Asking {
            mounts: Mounts::read(),
            devices: Devices::default(),
            directories: HashMap::new(),
            facts: Facts::default(),
        }
    }

    fn file(&mut self, path: &Path) -> FileFacts {
        let Ok(metadata) = fs::metadata(path) else {
            let place = self.of_parent(path);
            return FileFacts { place, ..FileFacts::default() };
        };
        let kind = metadata.file_type();
        let place = if kind.is_block_device() {
            Some(self.device(path, metadata.rdev()))
        } else if kind.is_char_device() {
            None
        } else {
            fs::canonicalize(path).ok().and_then(|path| self.file_system(&path))
        };
        let allocated = kind.is_file().then(|| metadata.blocks().saturating_mul(512));
        let identity = Some(if kind.is_block_device() {
            (metadata.rdev(), u64::MAX)
        } else {
            (metadata.dev(), metadata.ino())
        });
        FileFacts { place, allocated, identity, direct: direct(path) }
    }

    /// The place that a path which is not there would be in.
    fn of_parent(&mut self, path: &Path) -> Option<usize> {
        let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
        if let Some(known) = self.directories.get(&directory) {
            return *known;
        }
        let place = existing_parent(path).and_then(|parent| self.file_system(&parent));
        self.directories.insert(directory, place);
        place
    }

    /// The place of a resolved path that exists.
    fn file_system(&mut self, path: &Path) -> Option<usize> {
        let mount = self.mounts.of(path)?;
        let point = Some(mount.point.clone());
        if let Some(known) = self.facts.places.iter().position(|place| place.mount_point == point) {
            return Some(known);
        }
        let space = statvfs(&mount.point).ok();
        let place = Place {
            mount_point: point,
            file_system: Some(mount.file_system.clone()),
            source: Some(mount.source.clone()),
            device: self.devices.find(mount.device(), &self.mounts),
            read_only: space.is_some_and(|space| space.flags().contains(FsFlags::ST_RDONLY)),
            free_bytes: space.map(|space| space.blocks_available().saturating_mul(space.fragment_size())),
            needed_bytes: 0,
        };
        Some(self.add(place))
    }

    fn device(&mut self, path: &Path, number: u64) -> usize {
        let device = self.devices.find(device_number(number), &self.mounts);
        let same = |place: &Place| place.mount_point.is_none() && place.device == device;
        if let Some(known) = self.facts.places.iter().position(same) {
            return known;
        }
        let read_only = is_read_only(device_number(number));
        self.add(Place { source: Some(path.display().to_string()), device, read_only, ..Place::default() })
    }

    fn add(&mut self, place: Place) -> usize {
        self.facts.places.push(place);
        self.facts.places.len() - 1
    }
}

fn direct(path: &Path) -> DirectIo {
    match statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN) {
        Ok(stat) if StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::DIOALIGN) => {
            match stat.stx_dio_offset_align {
                0 => DirectIo::Refused,
                align => DirectIo::Aligned(u64::from(align)),
            }
        }
        _ => DirectIo::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_its_neighbour_to_be_share_a_place_with_free_space() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("here"), b"x").unwrap();
        let mut asking = Asking::begin();
        let here = asking.file(&dir.path().join("here"));
        let there = asking.file(&dir.path().join("none/there"));
        assert!(here.place.is_some() && here.place == there.place);
        assert!(here.identity.is_some() && here.allocated.is_some() && there.allocated.is_none());
        assert!(asking.facts.places[0].free_bytes.is_some_and(|free| free > 0));
    }
}
