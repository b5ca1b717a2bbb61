//! Opens a job's files for I/O the way fio does: access mode, flags, dropping the page cache, access-pattern advice.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use ferrio_engine::{FileSet, OpenFile, device};
use ferrio_plan::{Direction, Fadvise, FileKind, FileSpec, JobSpec, OpenSync};
use log::debug;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use crate::failure::Failure;

/// Opens all files of a job.
///
/// # Errors
/// The first file that cannot be opened, with what the user may do about it. Files opened so far are closed again.
pub(crate) fn open_files(spec: &JobSpec, note: &mut dyn FnMut(String)) -> Result<FileSet, Failure> {
    let mut set = FileSet::default();
    for file in &spec.files {
        let fd = match file.kind {
            FileKind::Pretend => None,
            // Nothing is ever read from or written to it, so it is not created either.
            _ if file.size == 0 => None,
            _ => Some(open_file(spec, file, set.files.len())?),
        };
        if let Some(fd) = &fd {
            debug!(target: "file", job = spec.number; "open {}: descriptor {}", file.path.display(), fd.as_raw_fd());
            prepare_cache(spec, file, fd, note);
        }
        set.files.push(OpenFile { fd, offset: file.offset, size: file.size });
    }
    Ok(set)
}

fn open_file(spec: &JobSpec, file: &FileSpec, already_open: usize) -> Result<OwnedFd, Failure> {
    let regular = file.kind == FileKind::Regular;
    let result = if regular {
        open_with(spec, file, 0)
    } else {
        // Reading a device node need not update its access time; only the owner may ask for that.
        match open_with(spec, file, libc::O_NOATIME) {
            Err(e) if e.raw_os_error() == Some(libc::EPERM) => open_with(spec, file, 0),
            other => other,
        }
    };
    result.map(OwnedFd::from).map_err(|e| {
        let path = file.path.display();
        let failure = Failure::from_io(&e, format!("open({path})"));
        match e.raw_os_error() {
            Some(libc::EINVAL) if spec.direct => failure
                .note("looks like your file system does not support direct=1/buffered=0")
                .note(format!("destination does not support O_DIRECT: use direct=0 or another place for {path}")),
            Some(libc::EMFILE) => failure.note(format!(
                "try reducing/setting openfiles (failed at {already_open} of {}): raise the limit of open files (ulimit -n) or \
                 use fewer files",
                spec.files.len()
            )),
            _ => failure,
        }
    })
}

fn open_with(spec: &JobSpec, file: &FileSpec, extra_flags: i32) -> io::Result<File> {
    let writes = (spec.rw.does(Direction::Write) || spec.rw.does(Direction::Trim)) && !spec.readonly;
    let may_create = file.kind == FileKind::Regular && !spec.readonly;
    let create = may_create && (spec.rw.does(Direction::Write) || spec.create_on_open);
    let sync = match spec.open_sync {
        OpenSync::None => 0,
        OpenSync::Sync => libc::O_SYNC,
        OpenSync::Dsync => libc::O_DSYNC,
    };
    let direct = if spec.direct { libc::O_DIRECT } else { 0 };
    let create_flag = if create { libc::O_CREAT } else { 0 };
    OpenOptions::new()
        .read(true)
        .write(writes)
        .mode(0o600)
        .custom_flags(sync | direct | create_flag | extra_flags)
        .open(&file.path)
}

/// Starts with a cold cache (`invalidate`) and tells the kernel the access pattern. Failures are worth a note, not an error.
fn prepare_cache(spec: &JobSpec, file: &FileSpec, fd: &OwnedFd, note: &mut dyn FnMut(String)) {
    let range = (i64::try_from(file.offset).unwrap_or(i64::MAX), i64::try_from(file.size).unwrap_or(0));
    let advise = |advice| posix_fadvise(fd.as_fd(), range.0, range.1, advice).map_err(io::Error::from);
    if spec.invalidate {
        let dropped = match file.kind {
            FileKind::Regular => advise(PosixFadviseAdvice::POSIX_FADV_DONTNEED),
            FileKind::Block => device::flush_buffers(fd.as_raw_fd()),
            FileKind::Char | FileKind::Pretend => Ok(()),
        };
        if let Err(e) = dropped {
            note(format!(
                "cache invalidation of {} failed: {}",
                file.path.display(),
                crate::failure::strerror(&e)
            ));
        }
    }
    if matches!(file.kind, FileKind::Regular | FileKind::Block) {
        let advice = match spec.fadvise {
            Fadvise::None => return,
            Fadvise::ByPattern if spec.rw.is_random() => PosixFadviseAdvice::POSIX_FADV_RANDOM,
            Fadvise::ByPattern => PosixFadviseAdvice::POSIX_FADV_SEQUENTIAL,
            Fadvise::Random => PosixFadviseAdvice::POSIX_FADV_RANDOM,
            Fadvise::Sequential => PosixFadviseAdvice::POSIX_FADV_SEQUENTIAL,
            Fadvise::NoReuse => PosixFadviseAdvice::POSIX_FADV_NOREUSE,
        };
        if let Err(e) = advise(advice) {
            note(format!(
                "access-pattern advice for {} failed: {}",
                file.path.display(),
                crate::failure::strerror(&e)
            ));
        }
    }
}

#[cfg(test)]
mod tests;
