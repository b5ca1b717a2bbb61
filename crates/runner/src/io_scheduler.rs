//! Switches the I/O scheduler of the disks under a job's files (`ioscheduler`). It stays switched after the run, as with fio.

use std::collections::BTreeSet;

use ferrio_job::{Diagnostic, FileKind, JobSpec, Prefix, io_scheduler_not_set, io_schedulers_of};
use ferrio_machine::{Disk, open_file, storage_device, write_whole};
use nix::fcntl::OFlag;

use crate::failure::Failure;

/// Switches all disks that the job's files are on. Files without a disk (tmpfs, network file systems) have no scheduler to switch: `note`
/// gets a word about that if no file has one.
///
/// # Errors
/// The user may not switch it, or a disk does not have this scheduler.
pub(crate) fn switch(spec: &JobSpec, note: impl FnOnce(Diagnostic)) -> Result<(), Failure> {
    let Some(wanted) = &spec.worker.io_scheduler else { return Ok(()) };
    let files = spec.files.iter().filter(|file| matches!(file.kind, FileKind::Block | FileKind::Regular));
    let devices: BTreeSet<_> = files.filter_map(|file| storage_device(&file.path)).collect();
    let disks: Vec<Disk> = devices.into_iter().filter_map(Disk::of).collect();
    if disks.is_empty() {
        let message =
            format!("ioscheduler={wanted} has no effect: the job's files are not on a disk of this machine");
        note(Diagnostic::note(message).code("no-io-scheduler").prefix(Prefix::Job));
    }
    disks.iter().flat_map(Disk::lowest).try_for_each(|disk| switch_disk(&disk, wanted, spec.worker.uid))
}

fn switch_disk(disk: &Disk, wanted: &str, uid: Option<u32>) -> Result<(), Failure> {
    let path = disk.scheduler_file();
    let mut file = open_file(&path, OFlag::O_WRONLY, 0).map_err(|e| {
        // The worker has taken its `uid` already, so running as root does not help.
        let help = match uid {
            Some(_) => "remove `uid` or `ioscheduler`",
            None => "run as root, or remove `ioscheduler`",
        };
        let advice = format!("{} cannot be written: {help}", path.display());
        Failure::from_io(&e, "fopen iosched").note("io-scheduler-failed", advice)
    })?;
    // An unknown name is an error of the write, or none: what counts is the scheduler in use afterwards.
    let _ = write_whole(&mut file, wanted.as_bytes());
    if disk.scheduler().as_deref() == Some(wanted) {
        return Ok(());
    }
    let available = disk.schedulers().unwrap_or_default();
    Err(Failure::new(libc::EINVAL, "iosched_switch")
        .note("io-scheduler-failed", io_scheduler_not_set(wanted))
        .note("io-scheduler-failed", io_schedulers_of(&disk.name, &available)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A disk with a file of schedulers that keeps what is written to it, as the kernel's does with a known name.
    fn disk(root: &std::path::Path, text: &str) -> Disk {
        fs::create_dir_all(root.join("queue")).unwrap();
        fs::write(root.join("queue/scheduler"), text).unwrap();
        Disk::at(root).unwrap()
    }

    #[test]
    fn the_scheduler_in_use_must_be_the_one_that_was_asked_for() {
        let root = tempfile::tempdir().unwrap();
        assert!(switch_disk(&disk(root.path(), ""), "bfq", None).is_ok());
        assert_eq!(fs::read_to_string(root.path().join("queue/scheduler")).unwrap(), "bfq");
        // What is longer than the new name shows that the write did not take.
        let failure = switch_disk(&disk(root.path(), "[none] mq-deadline"), "none2", None).unwrap_err();
        assert_eq!((failure.error.errno, failure.error.func.as_str()), (libc::EINVAL, "iosched_switch"));
        assert_eq!(failure.notes[0].message, "unable to set io scheduler to none2");
    }

    #[test]
    fn a_disk_without_schedulers_says_so() {
        let root = tempfile::tempdir().unwrap();
        let failure = switch_disk(&Disk::at(root.path()).unwrap(), "bfq", None).unwrap_err();
        assert_eq!((failure.error.errno, failure.error.func.as_str()), (libc::ENOENT, "fopen iosched"));
        assert!(
            failure.notes[0].message.ends_with("cannot be written: run as root, or remove `ioscheduler`")
        );
        let failure = switch_disk(&Disk::at(root.path()).unwrap(), "bfq", Some(99)).unwrap_err();
        assert!(failure.notes[0].message.ends_with("cannot be written: remove `uid` or `ioscheduler`"));
    }
}
