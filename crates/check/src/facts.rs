//! Facts about the machine and the files of a plan, collected once as plain data. The rest of the crate only reads them.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use ferrio_job::{FileKind, JobSpec, Plan, log_files};
use ferrio_machine::{DeviceUse, DirectIo, FileAccess, IoUringSysctl, Place, Places, Resources, Room};

use crate::model::{CheckedDevice, CheckedPlace};

/// Facts about the machine, and about every file and log of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// CPUs, memory and limits of this process.
    pub machine: Resources,
    /// Whether io_uring is allowed.
    pub io_uring: IoUringSysctl,
    /// File systems and devices that are used.
    pub places: Vec<CheckedPlace>,
    /// Files, by path as jobs name them.
    pub files: HashMap<PathBuf, FileFacts>,
    /// Log files, by path.
    pub logs: HashMap<PathBuf, LogFacts>,
    /// Why the files of `write_iolog` that cannot be created cannot, by path.
    pub recordings: HashMap<PathBuf, Obstacle>,
}

/// Facts about a path that jobs use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Where it is, as an index into [`Facts::places`].
    pub place: Option<usize>,
    /// Bytes that it takes on the device.
    pub allocated: Option<u64>,
    /// Device and inode number, of the target of a link.
    pub identity: Option<(u64, u64)>,
    /// What the file system reports about direct I/O on it.
    pub direct: DirectIo,
    /// What this user may do with it.
    pub access: FileAccess,
}

/// Facts about a log file that a run would write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogFacts {
    /// Where it is, as an index into [`Facts::places`].
    pub place: Option<usize>,
    /// Size of the existing file.
    pub size: Option<u64>,
    /// Why it cannot be created.
    pub obstacle: Option<Obstacle>,
}

/// Why a log or recording cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Its directory does not exist; a run does not create it.
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

impl Facts {
    /// Collects the facts about all files of a plan.
    #[must_use]
    pub fn ask(plan: &Plan) -> Facts {
        let mut facts =
            Facts { machine: Resources::ask(), io_uring: IoUringSysctl::ask(), ..Facts::default() };
        let mut places = Places::begin();
        let used = |spec: &&JobSpec| !spec.engine.is_diskless();
        // What is not there yet is like all that is not there yet in the same directory.
        let mut new_files: HashMap<&Path, FileFacts> = HashMap::new();
        for file in plan.jobs.iter().map(|job| &job.spec).filter(used).flat_map(|spec| &spec.files) {
            if facts.files.contains_key(&file.path) {
                continue;
            }
            let is_new = file.run.is_some() && file.found.is_none() && file.kind == FileKind::Regular;
            let known = new_files.get(file.directory()).filter(|_| is_new).copied();
            let about = known.unwrap_or_else(|| {
                let place = facts.place(&file.path, &mut places);
                file_facts(&file.path, place)
            });
            if is_new {
                new_files.insert(file.directory(), about);
            }
            facts.files.insert(file.path.clone(), about);
        }
        for path in plan.jobs.iter().flat_map(|job| log_files(&job.spec)).map(|log| PathBuf::from(log.path)) {
            let log = LogFacts {
                place: facts.place(&path, &mut places),
                size: fs::metadata(&path).ok().map(|metadata| metadata.len()),
                obstacle: Obstacle::of(&path),
            };
            facts.logs.insert(path, log);
        }
        for path in plan.jobs.iter().filter_map(|job| Some(&job.spec.iolog.as_ref()?.path)) {
            if let Some(obstacle) = Obstacle::of(path) {
                facts.recordings.insert(path.clone(), obstacle);
            }
        }
        facts
    }

    /// Index of the place of a path.
    fn place(&mut self, path: &Path, places: &mut Places) -> Option<usize> {
        let index = places.index_of(path)?;
        if let Some(new) = places.all().get(self.places.len()) {
            self.places.push(checked_place(path, new, places));
        }
        Some(index)
    }

    /// The whole disk that a place is on.
    pub(crate) fn disk(&self, place: Option<usize>) -> Option<&Path> {
        self.places.get(place?)?.device.as_ref().map(|device| device.about.disk.as_path())
    }

    /// The place of a file.
    pub(crate) fn place_of(&self, path: &Path) -> Option<&CheckedPlace> {
        self.places.get(self.files.get(path)?.place?)
    }
}

/// A place with what is on its device and how much room it has; `path` is the first one that is there.
fn checked_place(path: &Path, place: &Place, places: &Places) -> CheckedPlace {
    let room = place.mount_point.as_deref().and_then(Room::at);
    let read_only = match (&place.mount_point, &place.device) {
        (None, Some(device)) => device.read_only,
        _ => room.is_some_and(|room| room.read_only),
    };
    let device = place.device.clone().map(|about| {
        let holds = DeviceUse::on(about.number, places.mounts()).unwrap_or_default();
        CheckedDevice { about, holds }
    });
    // Persistent memory is a disk to its users, and its figures are those of memory.
    let is_pmem = place.device.as_ref().is_some_and(|device| device.disk_name.starts_with("pmem"));
    let name = || path.display().to_string();
    CheckedPlace {
        mount_point: place.mount_point.clone(),
        file_system: place.file_system.clone(),
        source: if place.mount_point.is_some() { place.source.clone() } else { Some(name()) },
        device,
        in_memory: place.is_in_memory() || is_pmem,
        read_only,
        free_bytes: room.and_then(|room| room.free_bytes),
        needed_bytes: 0,
        free_files: room.and_then(|room| room.free_files),
        needed_files: 0,
    }
}

fn file_facts(path: &Path, place: Option<usize>) -> FileFacts {
    let access = FileAccess::of(path);
    let Ok(metadata) = fs::metadata(path) else {
        return FileFacts { place, access, ..FileFacts::default() };
    };
    let kind = metadata.file_type();
    let identity = match kind.is_block_device() {
        true => (metadata.rdev(), u64::MAX),
        false => (metadata.dev(), metadata.ino()),
    };
    FileFacts {
        place,
        allocated: kind.is_file().then(|| metadata.blocks().saturating_mul(512)),
        identity: Some(identity),
        direct: DirectIo::on(path),
        access,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_and_missing_files_of_a_directory_share_a_place_with_free_space() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("here"), b"x").unwrap();
        let (mut facts, mut places) = (Facts::default(), Places::begin());
        let mut ask = |name: &str| {
            let path = dir.path().join(name);
            let place = facts.place(&path, &mut places);
            file_facts(&path, place)
        };
        let (here, there) = (ask("here"), ask("none/there"));
        assert!(here.place == Some(0) && there.place == Some(0));
        assert!(here.identity.is_some() && here.allocated.is_some() && there.allocated.is_none());
        assert!(facts.places.len() == 1 && facts.places[0].free_bytes.is_some_and(|free| free > 0));
    }
}
