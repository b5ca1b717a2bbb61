//! The devices of a block trace, and the files that represent them in its replay.

use std::collections::HashMap;
use std::path::PathBuf;

/// The major and the minor number of a device.
pub type DeviceNumber = (u64, u64);

/// The source of the device files.
#[derive(Clone, Debug)]
pub enum DeviceNodes {
    /// This function, which is called once per device.
    Find(fn(DeviceNumber) -> Option<PathBuf>),
    /// This table.
    Known(HashMap<DeviceNumber, PathBuf>),
}

impl DeviceNodes {
    fn find(&self, number: DeviceNumber) -> Option<PathBuf> {
        match self {
            DeviceNodes::Find(find) => find(number),
            DeviceNodes::Known(known) => known.get(&number).cloned(),
        }
    }
}

/// The devices found so far, in the order of their first requests.
#[derive(Debug)]
pub(super) struct Devices {
    nodes: DeviceNodes,
    /// `replay_redirect`: the file that replaces all of them.
    redirect: Option<PathBuf>,
    /// The index of each device in `paths`; `None` if the host does not have it.
    indexes: HashMap<DeviceNumber, Option<usize>>,
    paths: Vec<PathBuf>,
    missing: Vec<DeviceNumber>,
}

/// The file of a request's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeviceFile {
    /// A file that an earlier request used.
    Known(usize),
    /// A file that is used for the first time.
    New(usize),
    /// The host does not have the device.
    Missing,
}

impl Devices {
    pub(super) fn new(nodes: DeviceNodes, redirect: Option<PathBuf>) -> Self {
        let (indexes, paths, missing) = (HashMap::new(), Vec::new(), Vec::new());
        Devices { nodes, redirect, indexes, paths, missing }
    }

    /// Finds the device with this number.
    pub(super) fn find(&mut self, number: DeviceNumber) -> DeviceFile {
        match self.indexes.get(&number) {
            Some(Some(index)) => return DeviceFile::Known(*index),
            Some(None) => return DeviceFile::Missing,
            None => {}
        }
        if self.redirect.is_some() && !self.paths.is_empty() {
            self.indexes.insert(number, Some(0));
            return DeviceFile::Known(0);
        }
        let Some(path) = self.redirect.clone().or_else(|| self.nodes.find(number)) else {
            self.indexes.insert(number, None);
            self.missing.push(number);
            return DeviceFile::Missing;
        };
        let index = self.paths.len();
        self.paths.push(path);
        self.indexes.insert(number, Some(index));
        DeviceFile::New(index)
    }

    /// The files, indexed by device.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The devices that the host does not have.
    pub(super) fn missing(&self) -> &[DeviceNumber] {
        &self.missing
    }

    /// The files of all devices by number, for a second reading of the trace.
    pub(super) fn table(&self) -> HashMap<DeviceNumber, PathBuf> {
        let path =
            |(number, index): (&DeviceNumber, &Option<usize>)| Some((*number, self.paths[(*index)?].clone()));
        self.indexes.iter().filter_map(path).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    #[test]
    fn each_device_is_looked_up_once_also_one_that_is_missing() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let nodes = DeviceNodes::Find(|(major, minor)| {
            ASKED.fetch_add(1, Relaxed);
            (major == 8).then(|| PathBuf::from(format!("sd{minor}")))
        });
        let mut devices = Devices::new(nodes, None);
        let numbers = [(8, 0), (9, 0), (8, 1), (8, 0), (9, 0), (8, 1)];
        use DeviceFile::{Known, Missing, New};
        assert_eq!(
            numbers.map(|number| devices.find(number)),
            [New(0), Missing, New(1), Known(0), Missing, Known(1)]
        );
        assert_eq!((ASKED.load(Relaxed), devices.missing()), (3, &[(9, 0)][..]));
        assert_eq!(devices.paths(), [Path::new("sd0"), Path::new("sd1")]);
        let mut again = Devices::new(DeviceNodes::Known(devices.table()), None);
        assert_eq!(
            numbers.map(|number| again.find(number)),
            [New(0), Missing, New(1), Known(0), Missing, Known(1)]
        );
        assert_eq!((ASKED.load(Relaxed), again.paths()), (3, devices.paths()));
    }

    #[test]
    fn one_file_stands_for_all_devices() {
        let nodes = DeviceNodes::Find(|_| panic!("nobody needs to know"));
        let mut devices = Devices::new(nodes, Some("file".into()));
        assert_eq!(
            [(8, 0), (9, 0), (8, 0)].map(|number| devices.find(number)),
            [DeviceFile::New(0), DeviceFile::Known(0), DeviceFile::Known(0)]
        );
        assert_eq!((devices.paths().len(), devices.missing().len()), (1, 0));
    }
}
