//! Where to measure: a directory, or a block device.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use ferrio_job::reason;
use ferrio_machine::{DeviceUse, MOUNTINFO, Mounts, Room, block_device_bytes, device_number, open_file};
use nix::errno::Errno;
use nix::fcntl::OFlag;

use super::preset::MeasurementTarget;
use super::refusal;
use crate::error::Error;

/// Default size of the file.
const DEFAULT_FILE_BYTES: u64 = 1 << 30;
/// Minimum size of the file: the largest request of the presets.
const MIN_FILE_BYTES: u64 = 1 << 20;
/// Space that must stay free on the file system in addition to the file.
const MIN_FREE_BYTES: u64 = 64 << 20;

/// The file of a run in a directory. Dropping it removes the file, however the run ended.
#[derive(Debug)]
pub struct TemporaryFile(PathBuf);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // The last job has usually removed it already.
        let _ = fs::remove_file(&self.0);
    }
}

/// Determines how to measure at the path `place`. In a directory, creates the file to measure.
///
/// # Errors
/// The path does not exist, cannot be measured, or has too little free space.
pub fn measurement_target(
    place: &Path,
    size: Option<u64>,
    destroy: bool,
) -> Result<(MeasurementTarget, Option<TemporaryFile>), Error> {
    if size.is_some_and(|size| size < MIN_FILE_BYTES) {
        return Err(refusal("--size is too small", "the least is 1m, which is one request"));
    }
    let shown = place.display();
    let about = fs::metadata(place).map_err(|error| {
        let help = "name an existing directory, or a block device";
        refusal(format!("cannot measure {shown}: {}", reason(&error)), help)
    })?;
    if about.file_type().is_block_device() {
        return device(place, about.rdev(), size, destroy).map(|measured| (measured, None));
    }
    if !about.is_dir() {
        let help = "name the directory that it is in: a new file is made there and removed at the end";
        return Err(refusal(format!("{shown} is neither a directory nor a block device"), help));
    }
    if destroy {
        let help = "it lets jobs write to a block device; in a directory they have a file of their own";
        return Err(refusal(format!("--destroy has no meaning for the directory {shown}"), help));
    }
    in_directory(place, size.unwrap_or(DEFAULT_FILE_BYTES)).map(|(measured, file)| (measured, Some(file)))
}

fn in_directory(directory: &Path, size: u64) -> Result<(MeasurementTarget, TemporaryFile), Error> {
    let shown = directory.display();
    let free = Room::at(directory).and_then(|room| room.free_bytes);
    if let Some(free) = free.filter(|free| *free < size.saturating_add(MIN_FREE_BYTES)) {
        let message = format!("{shown} has {} MiB free, and the file takes {} MiB", free >> 20, size >> 20);
        let most = (free.saturating_sub(MIN_FREE_BYTES) >> 20).max(1);
        return Err(refusal(message, format!("choose a smaller one, such as --size={most}m")));
    }
    let path = directory.join(format!("ferrio-quick-{}.tmp", std::process::id()));
    let path = std::path::absolute(&path).unwrap_or(path);
    let text = path.to_str().map(str::to_owned).ok_or_else(|| {
        refusal(format!("the name of {shown} is not UTF-8"), "job files are: use a link to it")
    })?;
    let cannot = |error: io::Error| {
        let help = "choose a directory that you may write to";
        refusal(format!("cannot create a file in {shown}: {}", reason(&error)), help)
    };
    // A signal must not leave the file behind: from now on, it ends the run.
    ferrio_runner::hold_signals();
    open_file(&path, OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL, 0o666).map_err(cannot)?;
    let file = TemporaryFile(path);
    let direct = supports_direct_io(&file.0, true).map_err(cannot)?;
    Ok((
        MeasurementTarget { path: text, size: Some(size), direct, writes: true, is_own: true, runtime: None },
        file,
    ))
}

fn device(path: &Path, rdev: u64, size: Option<u64>, destroy: bool) -> Result<MeasurementTarget, Error> {
    let shown = path.display();
    let cannot = |error: io::Error| {
        let help =
            "measuring a device needs the right to read it, and with --destroy to write it; root has both";
        refusal(format!("cannot open {shown}: {}", reason(&error)), help)
    };
    let bytes = block_device_bytes(path).map_err(cannot)?;
    if bytes == 0 {
        return Err(refusal(format!("{shown} has no data"), "insert a medium, or set up the device"));
    }
    if let Some(size) = size.filter(|size| *size > bytes) {
        let message = format!("{shown} has {} MiB, and --size is {} MiB", bytes >> 20, size >> 20);
        return Err(refusal(message, "leave out --size, or choose a smaller one"));
    }
    if destroy {
        let unknown = |what: &str| {
            let help = "mount /proc and /sys, or omit --destroy: then only reads are measured";
            refusal(format!("cannot tell whether {shown} is in use: {what}"), help)
        };
        let mounts = Mounts::read()
            .map_err(|error| unknown(&format!("{MOUNTINFO} cannot be read: {}", reason(&error))))?;
        let holds = DeviceUse::on(device_number(rdev), &mounts)
            .ok_or_else(|| unknown("/sys has no directory of it"))?;
        let in_use: Vec<String> = holds
            .iter()
            .filter(|held| !matches!(held, DeviceUse::Signature(_)))
            .map(ToString::to_string)
            .collect();
        if !in_use.is_empty() {
            let help = "unmount or remove these first, or leave out --destroy, which measures reads only";
            return Err(refusal(format!("{shown} is in use: {}", in_use.join(", ")), help));
        }
    }
    let direct = supports_direct_io(path, destroy).map_err(cannot)?;
    let text = path.to_str().map(str::to_owned).ok_or_else(|| {
        refusal(format!("the name {shown} is not UTF-8"), "job files are: use a link to it")
    })?;
    // With writes, only the first part of the device is used, and filled first. Without writes, all of it is read.
    let size = size.or(destroy.then_some(DEFAULT_FILE_BYTES.min(bytes)));
    Ok(MeasurementTarget { path: text, size, direct, writes: destroy, is_own: false, runtime: None })
}

/// True if the file can be opened with `O_DIRECT`.
fn supports_direct_io(path: &Path, write: bool) -> io::Result<bool> {
    let access = if write { OFlag::O_RDWR } else { OFlag::O_RDONLY };
    let opened = open_file(path, access | OFlag::O_DIRECT, 0);
    match opened {
        Ok(_) => Ok(true),
        Err(error) if error.raw_os_error() == Some(Errno::EINVAL as i32) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_a_file_that_is_removed_in_any_case() {
        let directory = tempfile::tempdir().unwrap();
        let (found, file) = measurement_target(directory.path(), Some(2 << 20), false).unwrap();
        assert!(found.is_own && found.writes && found.size == Some(2 << 20));
        assert!(Path::new(&found.path).exists() && found.path.starts_with('/'));
        drop(file);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_advice() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("f");
        fs::write(&file, "").unwrap();
        let refused =
            |path: &Path, size, destroy| measurement_target(path, size, destroy).unwrap_err().to_string();
        assert!(refused(&directory.path().join("x"), None, false).contains("No such file or directory"));
        assert!(refused(&file, None, false).contains("is neither a directory nor a block device"));
        assert!(refused(directory.path(), None, true).contains("--destroy has no meaning"));
        assert!(refused(directory.path(), Some(4096), false).contains("--size is too small"));
        assert!(refused(directory.path(), Some(1 << 60), false).contains("MiB free"));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left");
    }
}
