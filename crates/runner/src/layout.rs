//! Creates and extends the files of a job before it runs ("laying out").
//!
//! Readers get files full of data, plain writers only reserved space, by fio's rules. Unlike fio, it destroys
//! neither a device node nor a symbolic link, which it follows.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use ferrio_job::{
    Diagnostic, Direction, Fallocate, FileKind, FileSpec, JobSpec, Layout, debug_class, layout_of, reason,
};
use ferrio_machine::mark_laid_out;
use ferrio_machine::{open_file, retry_interrupted, set_length, write_whole};
use ferrio_workload::LayoutContent;
use log::debug;
use nix::fcntl::{FallocateFlags, OFlag, PosixFadviseAdvice, fallocate, posix_fadvise, posix_fallocate};
use nix::unistd::fsync;

use crate::close::close;
use crate::failure::Failure;

/// How laying out ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaidOut {
    /// All files are as the job needs them.
    Complete,
    /// A stop request came first.
    Stopped,
}

/// Work still to be done for one job: the files to extend and their bytes, for the "Laying out" line.
pub(crate) fn pending(spec: &JobSpec) -> (usize, u64) {
    let layout = layout_of(spec);
    let files = || spec.files.iter().filter(|file| layout.applies_to(file));
    (files().count(), files().map(FileSpec::end).fold(0, u64::saturating_add))
}

/// Lays out all files of a job with bytes from `content`. Once `stop` says so it ends early: the file being written is removed, or cut
/// short if it was there before.
///
/// # Errors
/// The first call that failed. What was written so far stays, as fio leaves it.
pub(crate) fn lay_out(
    spec: &JobSpec,
    content: &mut LayoutContent,
    stop: &dyn Fn() -> bool,
    note: &mut dyn FnMut(Diagnostic),
) -> Result<LaidOut, Failure> {
    let layout = layout_of(spec);
    lay_out_files(spec, |file| layout.applies_to(file), content, stop, note)
}

/// True if a job needs its files laid out again after they were removed between two passes. Called `fio`, such a job fails, as with fio.
pub(crate) fn is_needed_again(spec: &JobSpec) -> bool {
    let layout = layout_of(spec);
    let needs_data = layout.is_enabled && layout.fills;
    spec.compat.lays_out_removed_files
        && !spec.opening.readonly
        && (needs_data || spec.engine.needs_directories())
}

/// Lays out all files of a job, whether or not they were there when it began.
///
/// # Errors
/// As [`lay_out`].
pub(crate) fn lay_out_again(
    spec: &JobSpec,
    content: &mut LayoutContent,
    stop: &dyn Fn() -> bool,
    note: &mut dyn FnMut(Diagnostic),
) -> Result<LaidOut, Failure> {
    lay_out_files(spec, |file| file.kind == FileKind::Regular, content, stop, note)
}

fn lay_out_files(
    spec: &JobSpec,
    concerns: impl Fn(&FileSpec) -> bool,
    content: &mut LayoutContent,
    stop: &dyn Fn() -> bool,
    note: &mut dyn FnMut(Diagnostic),
) -> Result<LaidOut, Failure> {
    if !spec.engine.is_diskless() && !spec.opening.readonly {
        let mut last = None;
        for file in spec.files.iter().filter(|f| f.kind == FileKind::Regular) {
            let directory = file.directory();
            if last.replace(directory) != Some(directory) {
                create_missing(directory)?;
            }
        }
    }
    if spec.engine.needs_directories() && !spec.opening.readonly {
        return make_directories(spec, stop);
    }
    for file in spec.files.iter().filter(|file| concerns(file)) {
        if spec.opening.readonly {
            let message = format!("refusing extend of file {} due to read-only", file.path.display());
            note(Diagnostic::note(message).code("file-not-extended"));
            continue;
        }
        let old = Existing::at(&file.path)?;
        // Another job of the run may have made the file long enough meanwhile.
        if old.size.is_some_and(|size| size >= file.end()) {
            continue;
        }
        if let Some(size) = old.size.filter(|&size| size > 0 && spec.only_checks()) {
            let message = format!(
                "{} has {size} of the {} bytes that are checked: the file is extended with zeros",
                file.path.display(),
                file.end()
            );
            note(Diagnostic::note(message).code("verified-file-too-short").job(&spec.name));
        }
        if stop() || extend(spec, file, &old, content, stop, note)? == LaidOut::Stopped {
            return Ok(LaidOut::Stopped);
        }
    }
    Ok(LaidOut::Complete)
}

/// Makes the directories that a job works on, unless they are there.
fn make_directories(spec: &JobSpec, stop: &dyn Fn() -> bool) -> Result<LaidOut, Failure> {
    for file in &spec.files {
        if stop() {
            return Ok(LaidOut::Stopped);
        }
        match fs::DirBuilder::new().mode(0o700).create(&file.path) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                return Err(directory_failure(&e, &file.path));
            }
            _ => {}
        }
    }
    Ok(LaidOut::Complete)
}

fn directory_failure(e: &io::Error, directory: &Path) -> Failure {
    Failure::from_io(e, format!("mkdir({})", directory.display()))
        .note("file-not-laid-out", format!("failed to create dir ({}): {}", directory.display(), reason(e)))
}

/// Missing directories of a path, mode 0700 like fio's.
fn create_missing(directory: &Path) -> Result<(), Failure> {
    if directory.exists() {
        return Ok(());
    }
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(|e| directory_failure(&e, directory))
}

/// Makes one file as long as its region needs.
fn extend(
    spec: &JobSpec,
    file: &FileSpec,
    old: &Existing,
    content: &mut LayoutContent,
    stop: &dyn Fn() -> bool,
    note: &mut dyn FnMut(Diagnostic),
) -> Result<LaidOut, Failure> {
    let wanted = file.end();
    debug!(target: debug_class::FILE, job = spec.number; "lay out {}: {wanted} bytes", file.path.display());
    let target = Target::open(spec, file, old)?;
    if !spec.fill_device {
        reserve(spec, &target.out, wanted, note)?;
    }
    if layout_of(spec).fills && target.fill(spec, file, content, stop)? == LaidOut::Stopped {
        return Ok(LaidOut::Stopped);
    }
    target.mark();
    // The job must not find its data cached because it was just written; an error here only leaves the cache warm.
    if let Err(e) = posix_fadvise(&target.out, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED) {
        let message = format!("cache invalidation of {} failed: {}", file.path.display(), reason(&e.into()));
        note(Diagnostic::note(message).code("cache-not-dropped"));
    }
    close(spec, target.out, &file.path)?;
    Ok(LaidOut::Complete)
}

/// A file that is being laid out.
struct Target {
    out: File,
    /// Bytes at its beginning that stay.
    kept: u64,
    /// The layout has created it. One that was there and stays is the user's, also when the layout is not completed.
    created: bool,
    /// It is to be marked as made by a layout.
    is_marked: bool,
}

impl Target {
    fn open(spec: &JobSpec, file: &FileSpec, old: &Existing) -> Result<Self, Failure> {
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
        Ok(Target { out, kept, created, is_marked })
    }

    /// Fills what does not stay.
    fn fill(
        &self,
        spec: &JobSpec,
        file: &FileSpec,
        content: &mut LayoutContent,
        stop: &dyn Fn() -> bool,
    ) -> Result<LaidOut, Failure> {
        set_length(&self.out, file.end()).map_err(|e| Failure::from_io(&e, "ftruncate"))?;
        match fill(spec, content, &self.out, self.kept..file.end(), stop) {
            Ok(LaidOut::Complete) => {}
            Ok(LaidOut::Stopped) => {
                self.take_back(&file.path)?;
                return Ok(LaidOut::Stopped);
            }
            Err(error) => {
                // The file has its full size already: without this, the next run would take it for laid out.
                let is_cut = cut(&self.out).is_ok();
                self.mark();
                let failure = write_failure(&error);
                return Err(if is_cut { failure } else { left_whole(failure, &file.path) });
            }
        }
        if spec.layout.create_fsync {
            retry_interrupted(|| fsync(&self.out)).map_err(|e| {
                // For the same reason; how much of it is stored is unknown.
                let is_cut = set_length(&self.out, self.kept).is_ok();
                let failure = Failure::from_io(&e, "fsync");
                if is_cut { failure } else { left_whole(failure, &file.path) }
            })?;
        }
        Ok(LaidOut::Complete)
    }

    fn mark(&self) {
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

/// What to do about a file whose layout failed, and which could not be cut either.
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

/// What is at the path of a file that is to be laid out.
struct Existing {
    /// Size of the file, or of the target of a link to one.
    size: Option<u64>,
    /// What the path itself leads to.
    file_type: Option<fs::FileType>,
}

impl Existing {
    /// Looks at a path. There may be a hundred thousand, so only links cost a second call.
    fn at(path: &Path) -> Result<Self, Failure> {
        match fs::symlink_metadata(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Existing { size: None, file_type: None }),
            Err(e) => Err(Failure::from_io(&e, "stat")),
            Ok(found) => {
                let target = if found.is_symlink() { fs::metadata(path).ok() } else { None };
                let file = target.as_ref().unwrap_or(&found);
                let size = file.is_file().then_some(file.len());
                Ok(Existing { size, file_type: Some(found.file_type()) })
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

/// `fallocate=`.
fn reserve(spec: &JobSpec, out: &File, wanted: u64, note: &mut dyn FnMut(Diagnostic)) -> Result<(), Failure> {
    let length = i64::try_from(wanted).map_err(|_| Failure::new(libc::EFBIG, "fallocate"))?;
    match spec.layout.fallocate {
        Fallocate::None => {}
        Fallocate::Native => {
            // Best effort: many file systems cannot reserve.
            let _ = fallocate(out, FallocateFlags::empty(), 0, length);
        }
        Fallocate::Posix => {
            if let Err(e) = posix_fallocate(out, 0, length) {
                let message = format!("posix_fallocate fails: {}", reason(&e.into()));
                note(Diagnostic::note(message).code("file-not-reserved"));
            }
        }
        Fallocate::Keep => fallocate(out, FallocateFlags::FALLOC_FL_KEEP_SIZE, 0, length)
            .map_err(|e| Failure::new(e as i32, "fallocate"))?,
        Fallocate::Truncate => set_length(out, wanted).map_err(|e| Failure::from_io(&e, "ftruncate"))?,
    }
    Ok(())
}

/// Writes the job's kind of data over a range of the file, a block of the largest write size at a time.
fn fill(
    spec: &JobSpec,
    content: &mut LayoutContent,
    mut out: &File,
    range: Range<u64>,
    stop: &dyn Fn() -> bool,
) -> io::Result<LaidOut> {
    let wanted = range.end - range.start;
    out.seek(SeekFrom::Start(range.start))?;
    let block = spec.block[Direction::Write].max.clamp(1, wanted.max(1));
    let too_big = || io::Error::from_raw_os_error(libc::ENOMEM);
    let block = usize::try_from(block).map_err(|_| too_big())?;
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(block).map_err(|_| too_big())?;
    buffer.resize(block, 0u8);
    let mut left = wanted;
    while left > 0 {
        if stop() {
            return Ok(LaidOut::Stopped);
        }
        let now = usize::try_from(left).map_or(block, |l| l.min(block));
        content.layout_fill(&mut buffer[..now]);
        write_whole(&mut out, &buffer[..now])?;
        left -= now as u64;
    }
    Ok(LaidOut::Complete)
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

#[cfg(test)]
mod tests;
