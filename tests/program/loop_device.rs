//! Loop devices: block devices for tests that may make them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{TestDir, installed, skipped};

/// A loop device, detached in the end unless it has lost its backing file before.
pub struct LoopDevice {
    node: String,
    medium: PathBuf,
}

impl LoopDevice {
    /// A device with a backing file of so many zeros beside the work directory. `None` after a message where there are none for the
    /// test.
    pub fn of(dir: &TestDir, bytes: u64) -> Option<Self> {
        let medium = dir.beside("medium");
        File::create(&medium).unwrap().set_len(bytes).unwrap();
        let made = Command::new(installed("losetup")).args(["-f", "--show"]).arg(&medium).output().unwrap();
        let node = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        if !made.status.success() || node.is_empty() {
            skipped("a loop device", "this machine does not let the test make one");
            return None;
        }
        Some(LoopDevice { node, medium: fs::canonicalize(medium).unwrap() })
    }

    /// Path of the device.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// The backing file.
    pub fn medium(&self) -> &Path {
        &self.medium
    }

    /// Whether the device still has its backing file; it may be the device of another test by now.
    pub fn is_attached(&self) -> bool {
        let number = self.node.trim_start_matches("/dev/");
        let file = fs::read_to_string(format!("/sys/block/{number}/loop/backing_file"));
        // The directory of the test may be gone already.
        file.is_ok_and(|file| Path::new(file.trim_end().trim_end_matches(" (deleted)")) == self.medium)
    }

    pub fn detach(&self) -> bool {
        let detached = Command::new(installed("losetup")).args(["-d", &self.node]).status();
        detached.is_ok_and(|status| status.success())
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if self.is_attached() {
            self.detach();
        }
    }
}
