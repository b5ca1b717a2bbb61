//! One file that is being laid out: opened in place of an older one, filled, and taken back if the layout is stopped.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use ferrio_job::{Direction, FileSpec, JobSpec, Layout, debug_class, layout_of};
use ferrio_machine::{mark_laid_out, open_file, retry_interrupted, set_length, write_whole};
use log::debug;
use nix::fcntl::OFlag;
use nix::unistd::fsync;

use super::{FileLayout, LayoutEnd};
use crate::failure::Failure;

/// A file that is being laid out.
pub(super) struct LayoutTarget {
    pub(super) out: File,
    /// Bytes at its beginning that stay.
    kept: u64,
    /// The layout has created it. One that was there and stays is the user's, also when the layout is not completed.
    created: bool,
    /// It is to be marked as made by a layout.
    is_marked: bool,
}

impl LayoutTarget {
    pub(super) fn open(spec: &JobSpec, file: &FileSpec, old: &ExistingFile) -> Result<Self, Failure> {
        let Layout { fills, replaces, .. } = layout_of(spec);
        // Data before the place where a job appends does not belong to the job.
        let kept = if spec.file_append { old.size.map_or(0, |size| size.min(file.end())) } else { 0 };
        let mut created = old.size.is_none();
        if !spec.layout.allow_file_create {
            // A file that is there is filled where it is: it may not be removed if it may not be created again.
            old.must_exist(&file.path)?;
        } else if replaces && kept == 0 {
            created |= old.remove(&file.path)?;
        }
        let create = if spec.layout.allow_file_create { OFlag::O_CREAT } else { OFlag::empty() };
        let truncate = if fills && kept == 0 { OFlag::O_TRUNC } else { OFlag::empty() };
        let out = open_file(&file.path, OFlag::O_WRONLY | create | truncate, 0o644)
            .map_err(|e| about(Failure::from_io(&e, "open"), "create", &file.path))?;
        // Only where no byte of an older file is left may a later run with a larger size replace the file.
        let is_marked = spec.layout.marks_layout && kept == 0 && (fills || created);
        Ok(LayoutTarget { out, kept, created, is_marked })
    }

    /// Fills what does not stay.
    pub(super) fn fill(&self, layout: &mut FileLayout<'_>, file: &FileSpec) -> Result<LayoutEnd, Failure> {
        set_length(&self.out, file.end()).map_err(|e| Failure::from_io(&e, "ftruncate"))?;
        match fill(layout, &self.out, self.kept..file.end()) {
            Ok(LayoutEnd::Complete) => {}
            Ok(LayoutEnd::Stopped) => {
                self.take_back(&file.path)?;
                return Ok(LayoutEnd::Stopped);
            }
            Err(error) => {
                // The file has its full size already: without this, the next run would take it for laid out.
                let is_cut = cut(&self.out).is_ok();
                self.mark();
                let failure = write_failure(&error);
                return Err(if is_cut { failure } else { left_whole(failure, &file.path) });
            }
        }
        if layout.spec.layout.create_fsync {
            retry_interrupted(|| fsync(&self.out)).map_err(|e| {
                // For the same reason; how much of it is stored is unknown.
                let is_cut = set_length(&self.out, self.kept).is_ok();
                let failure = Failure::from_io(&e, "fsync");
                if is_cut { failure } else { left_whole(failure, &file.path) }
            })?;
        }
        Ok(LayoutEnd::Complete)
    }

    pub(super) fn mark(&self) {
        if self.is_marked {
            // Not every file system has extended attributes; where there are none, that later run asks for permission.
            let _ = mark_laid_out(&self.out);
        }
    }

    /// Undoes a layout that was stopped.
    fn take_back(&self, path: &Path) -> Result<(), Failure> {
        // The target of a link is half written.
        if self.created && fs::canonicalize(path).and_then(fs::remove_file).is_ok() {
            return Ok(());
        }
        // If it cannot be removed, half a file is left, but not at its full size.
        let done = if self.kept > 0 { set_length(&self.out, self.kept) } else { cut(&self.out) };
        done.map_err(|e| left_whole(Failure::from_io(&e, "ftruncate"), path))
    }
}

/// Adds advice about a file whose layout failed, and which could not be cut either.
fn left_whole(failure: Failure, path: &Path) -> Failure {
    let advice = format!(
        "{} has its full size, but its layout failed: remove it, or the next run treats it as laid out",
        path.display()
    );
    failure.note("file-not-laid-out", advice)
}

/// Ends a file where the writing ended.
fn cut(mut out: &File) -> io::Result<()> {
    set_length(out, out.stream_position()?)
}

/// The file at the path of one that is to be laid out.
pub(super) struct ExistingFile {
    /// Size of the file, or of the target of a link to one.
    pub(super) size: Option<u64>,
    /// Type of the path itself, which may be a link.
    file_type: Option<fs::FileType>,
}

impl ExistingFile {
    /// Looks at a path. There may be a hundred thousand, so only links cost a second call.
    pub(super) fn at(path: &Path) -> Result<Self, Failure> {
        match fs::symlink_metadata(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(ExistingFile { size: None, file_type: None }),
            Err(e) => Err(Failure::from_io(&e, "stat")),
            Ok(found) => {
                let target = if found.is_symlink() { fs::metadata(path).ok() } else { None };
                let file = target.as_ref().unwrap_or(&found);
                let size = file.is_file().then_some(file.len());
                Ok(ExistingFile { size, file_type: Some(found.file_type()) })
            }
        }
    }

    /// A new layout starts from nothing, but only a regular file may be thrown away for it. Returns whether one was.
    fn remove(&self, path: &Path) -> Result<bool, Failure> {
        match self.file_type {
            Some(found) if found.is_dir() => Err(Failure::new(libc::EISDIR, "unlink").note(
                "file-not-laid-out",
                format!("{} is a directory: name a file or a device", path.display()),
            )),
            Some(found) if found.is_file() => {
                debug!(target: debug_class::FILE, "remove {} before laying it out", path.display());
                fs::remove_file(path)
                    .map_err(|e| about(Failure::from_io(&e, "unlink"), "remove the old", path))?;
                Ok(true)
            }
            // A link is followed: it stays, and its target is truncated like any other file.
            _ => Ok(false),
        }
    }

    /// Without permission to create files, each must be there.
    fn must_exist(&self, path: &Path) -> Result<(), Failure> {
        if self.size.is_some() {
            return Ok(());
        }
        let message =
            format!("file creation disallowed by allow_file_create=0: there is no {}", path.display());
        Err(Failure::new(0, "open").note("file-not-laid-out", message))
    }
}

/// The failure with the file it is about.
fn about(failure: Failure, verb: &str, path: &Path) -> Failure {
    failure.note("file-not-laid-out", format!("cannot {verb} {}", path.display()))
}

/// Writes the job's kind of data over a range of the file, a block of the largest write size at a time.
fn fill(layout: &mut FileLayout<'_>, mut out: &File, range: Range<u64>) -> io::Result<LayoutEnd> {
    let wanted = range.end - range.start;
    out.seek(SeekFrom::Start(range.start))?;
    let block = layout.spec.block[Direction::Write].max.clamp(1, wanted.max(1));
    let too_big = || io::Error::from_raw_os_error(libc::ENOMEM);
    let block = usize::try_from(block).map_err(|_| too_big())?;
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(block).map_err(|_| too_big())?;
    buffer.resize(block, 0u8);
    let mut left = wanted;
    while left > 0 {
        if (layout.stop)() {
            return Ok(LayoutEnd::Stopped);
        }
        let now = usize::try_from(left).map_or(block, |l| l.min(block));
        layout.content.layout_fill(&mut buffer[..now]);
        write_whole(&mut out, &buffer[..now])?;
        left -= now as u64;
    }
    Ok(LayoutEnd::Complete)
}

fn write_failure(e: &io::Error) -> Failure {
    let failure = Failure::from_io(e, "write");
    match e.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => failure.note(
            "file-not-laid-out",
            "ENOSPC on laying out file, stopping: free some space or use a smaller size",
        ),
        _ => failure,
    }
}
