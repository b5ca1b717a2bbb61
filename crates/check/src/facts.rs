//! Facts about the machine and the files of a plan, collected once as plain data. The rest of the crate only reads them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::Hash;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use ferrio_job::{EngineKind, FileKind, JobSpec, Plan, log_files};
use ferrio_machine::{
    DeviceUse, DirectIo, Disk, FileAccess, IoUringSysctl, Resources, Room, ScsiGeneric, StorageLocation,
    StorageLocations, is_on_hugetlbfs, is_without_dax, obstacle_to_loading, obstacle_to_reading,
    obstacle_to_running, obstacle_to_writing,
};

use ferrio_nvme::Namespace;

use crate::commands::commands;
use crate::model::{CheckedDevice, CheckedPlace};

/// Facts about the machine, and about every file and log of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// CPUs, memory and limits of this process.
    pub machine: Resources,
    /// Whether io_uring is allowed.
    pub io_uring: IoUringSysctl,
    /// File systems and devices in use.
    pub places: Vec<CheckedPlace>,
    /// Files by their paths in the jobs.
    pub files: HashMap<PathBuf, FileFacts>,
    /// Log files, by path.
    pub logs: HashMap<PathBuf, LogFacts>,
    /// Paths that the run opens in addition to those of the plan.
    pub whole_run: WholeRun,
    /// Other files that cannot be written, with the error number.
    pub unwritable: HashMap<PathBuf, i32>,
    /// Files that cannot be read, with the error number.
    pub unreadable: HashMap<PathBuf, i32>,
    /// Programs of `ioengine=exec` that cannot be run, with the error number.
    pub not_runnable: HashMap<String, i32>,
    /// Objects of `ioengine=external` that cannot be loaded, with the error of the loader.
    pub not_loadable: HashMap<PathBuf, String>,
    /// Files of `mem=mmaphuge` that are, or would be, huge pages.
    pub on_hugetlbfs: HashSet<PathBuf>,
    /// The names and schedulers of the disks below the places of jobs that switch I/O schedulers, by place.
    pub schedulers: HashMap<usize, Vec<(String, String)>>,
    /// Bytes per block of the devices that receive SCSI commands.
    pub scsi_blocks: HashMap<PathBuf, u64>,
    /// Namespaces that receive NVMe commands.
    pub namespaces: HashMap<PathBuf, Namespace>,
    /// The error number if the trigger file cannot be looked up.
    pub trigger_obstacle: Option<i32>,
}

/// Facts about a path that jobs use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Index into [`Facts::places`].
    pub place: Option<usize>,
    /// Allocated bytes on the device.
    pub allocated: Option<u64>,
    /// Device and inode number; those of the target if it is a link.
    pub identity: Option<(u64, u64)>,
    /// Support of direct I/O, as reported by the file system.
    pub direct: DirectIo,
    /// Whether it is certainly not persistent memory.
    pub without_dax: bool,
    /// The access that this user has.
    pub access: FileAccess,
}

/// Facts about a log file that a run would write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogFacts {
    /// Where it is, as an index into [`Facts::places`].
    pub place: Option<usize>,
    /// Size of the existing file.
    pub size: Option<u64>,
    /// The error number if it cannot be created or opened.
    pub obstacle: Option<i32>,
}

/// Paths that a run opens in addition to those of its plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeRun {
    /// The directory of verify states (`--aux-path`).
    pub state_directory: PathBuf,
    /// Logs of all jobs together.
    pub logs: Vec<PathBuf>,
    /// `--trigger-file`.
    pub trigger_file: Option<PathBuf>,
}

impl Facts {
    /// Collects the facts about all files of a plan.
    #[must_use]
    pub fn ask(plan: &Plan, whole_run: WholeRun) -> Facts {
        let mut facts =
            Facts { machine: Resources::ask(), io_uring: IoUringSysctl::ask(), ..Facts::default() };
        let mut places = StorageLocations::default();
        let used = |spec: &&JobSpec| !spec.engine.is_diskless();
        // All missing files of a directory have the same facts.
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
                obstacle: obstacle_to_writing(&path),
            };
            facts.logs.insert(path, log);
        }
        facts.whole_run = whole_run;
        for job in &plan.jobs {
            facts.ask_about_paths(&job.spec);
            facts.ask_about_devices(&job.spec);
            facts.ask_about_schedulers(&job.spec);
        }
        let logs = facts.whole_run.logs.clone();
        logs.iter().for_each(|log| facts.ask_to_write(log));
        // Only obstacles to the lookup count: the file need not exist.
        let looked = facts.whole_run.trigger_file.as_ref().and_then(|path| fs::symlink_metadata(path).err());
        facts.trigger_obstacle = looked
            .filter(|error| error.kind() != io::ErrorKind::NotFound)
            .and_then(|error| error.raw_os_error());
        facts
    }

    /// The verify state of a job.
    pub(crate) fn state_of(&self, spec: &JobSpec) -> PathBuf {
        spec.state_file(&self.whole_run.state_directory)
    }

    /// Collects facts about the other paths that a job opens.
    fn ask_about_paths(&mut self, spec: &JobSpec) {
        if let Some(recording) = &spec.iolog {
            self.ask_to_write(&recording.path);
        }
        if let Some(file) = &spec.memory.file {
            self.ask_to_write(file);
            if spec.memory.kind.is_huge() && is_on_hugetlbfs(file) {
                self.on_hugetlbfs.insert(file.clone());
            }
        }
        if spec.saves_state() {
            self.ask_to_write(&self.state_of(spec));
        }
        if spec.loads_state() {
            let state = self.state_of(spec);
            self.unreadable.extend(obstacle_to_reading(&state).map(|errno| (state, errno)));
        }
        for command in commands(spec) {
            self.ask_to_write(&command.output);
        }
        if spec.engine == EngineKind::E4defrag {
            self.ask_to_write(&spec.engine_options.donor.path);
        }
        if spec.engine == EngineKind::Exec {
            remember(&mut self.not_runnable, &spec.engine_options.program.path, |path| {
                obstacle_to_running(path)
            });
        }
        if spec.engine == EngineKind::External {
            let object = PathBuf::from(&spec.external.path);
            remember(&mut self.not_loadable, &object, |path| obstacle_to_loading(path));
        }
    }

    /// Collects facts about devices whose blocks a job addresses itself.
    fn ask_about_devices(&mut self, spec: &JobSpec) {
        for file in &spec.files {
            let path = &file.path;
            if spec.engine.needs_scsi_devices() && !self.scsi_blocks.contains_key(path) {
                let generic = ScsiGeneric::at(path).and_then(|device| device.block);
                let disk = self.place_of(path).and_then(|place| place.device.as_ref());
                let block = generic.or(disk.map(|device| device.about.logical_block_bytes));
                self.scsi_blocks.extend(block.map(|block| (path.clone(), block)));
            }
            if spec.engine.passes_through() {
                remember(&mut self.namespaces, path, |path| Namespace::at(path).ok());
            }
        }
    }

    /// Collects the schedulers of the disks that a job switches.
    fn ask_about_schedulers(&mut self, spec: &JobSpec) {
        if spec.worker.io_scheduler.is_none() {
            return;
        }
        let places: HashSet<usize> =
            spec.files.iter().filter_map(|file| self.files.get(&file.path)?.place).collect();
        for place in places {
            remember(&mut self.schedulers, &place, |&place| {
                let device = self.places.get(place).and_then(|place| place.device.as_ref());
                let disk = device.and_then(|device| Disk::of(device.about.number));
                let lowest = disk.iter().flat_map(Disk::lowest);
                Some(lowest.filter_map(|disk| Some((disk.name.clone(), disk.schedulers()?))).collect())
            });
        }
    }

    fn ask_to_write(&mut self, path: &Path) {
        if !self.unwritable.contains_key(path) {
            self.unwritable.extend(obstacle_to_writing(path).map(|errno| (path.to_owned(), errno)));
        }
    }

    /// The index of the place of a path.
    fn place(&mut self, path: &Path, places: &mut StorageLocations) -> Option<usize> {
        let index = places.index_of(path)?;
        if let Some(new) = places.all().get(self.places.len()) {
            self.places.push(checked_place(path, new, places));
        }
        Some(index)
    }

    /// The whole disk of a place.
    pub(crate) fn disk(&self, place: Option<usize>) -> Option<&Path> {
        self.places.get(place?)?.device.as_ref().map(|device| device.about.disk.as_path())
    }

    /// The place of a file.
    pub(crate) fn place_of(&self, path: &Path) -> Option<&CheckedPlace> {
        self.places.get(self.files.get(path)?.place?)
    }
}

/// Adds the answer about a key, unless it is known. `None` is not remembered.
fn remember<K: Eq + Hash + Clone, V>(known: &mut HashMap<K, V>, key: &K, ask: impl FnOnce(&K) -> Option<V>) {
    if !known.contains_key(key) {
        known.extend(ask(key).map(|answer| (key.clone(), answer)));
    }
}

/// A place with the contents of its device and the free space; `path` is the first existing path in it.
fn checked_place(path: &Path, place: &StorageLocation, places: &StorageLocations) -> CheckedPlace {
    let room = place.mount_point.as_deref().and_then(Room::at);
    let read_only = match (&place.mount_point, &place.device) {
        (None, Some(device)) => device.read_only,
        _ => room.is_some_and(|room| room.read_only),
    };
    let device = place.device.clone().map(|about| {
        let holds = DeviceUse::on(about.number, places.mounts()).unwrap_or_default();
        CheckedDevice { about, holds }
    });
    // Persistent memory appears as a disk, but its figures are those of memory.
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
    let (access, without_dax) = (FileAccess::of(path), is_without_dax(path));
    let Ok(metadata) = fs::metadata(path) else {
        return FileFacts { place, without_dax, access, ..FileFacts::default() };
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
        without_dax,
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
        let (mut facts, mut places) = (Facts::default(), StorageLocations::default());
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
