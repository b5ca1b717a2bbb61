//! Creates and extends the files of a job before it runs ("laying out").
//!
//! Readers get files full of data, plain writers only reserved space, by fio's rules. Unlike fio, it destroys
//! neither a device node nor a symbolic link, which it follows.

mod target;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use ferrio_job::{Diagnostic, Fallocate, FileKind, FileSpec, JobSpec, debug_class, layout_of, reason};
use ferrio_machine::set_length;
use ferrio_workload::LayoutContent;
use log::debug;
use nix::fcntl::{FallocateFlags, PosixFadviseAdvice, fallocate, posix_fadvise, posix_fallocate};

use self::target::{ExistingFile, LayoutTarget};
use crate::close::close;
use crate::failure::Failure;

/// How laying out ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayoutEnd {
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

/// True if a job needs its files laid out again after they were removed between two passes. Called `fio`, such a job fails, as with fio.
pub(crate) fn is_needed_again(spec: &JobSpec) -> bool {
    let layout = layout_of(spec);
    let needs_data = layout.is_enabled && layout.fills;
    spec.compat.lays_out_removed_files
        && !spec.opening.readonly
        && (needs_data || spec.engine.needs_directories())
}

/// The layout of the files of a job.
pub(crate) struct FileLayout<'a> {
    pub(crate) spec: &'a JobSpec,
    pub(crate) content: &'a mut LayoutContent,
    /// True once the layout is to end early: the file being written is removed, or cut short if it was there before.
    pub(crate) stop: &'a dyn Fn() -> bool,
    pub(crate) note: &'a mut dyn FnMut(Diagnostic),
}

impl FileLayout<'_> {
    /// Lays out the files that are missing or too short.
    ///
    /// # Errors
    /// The first call that failed. What was written so far stays, as fio leaves it.
    pub(crate) fn lay_out(&mut self) -> Result<LayoutEnd, Failure> {
        let layout = layout_of(self.spec);
        self.lay_out_files(|file| layout.applies_to(file))
    }

    /// Lays out all files, whether or not they were there when the job began.
    ///
    /// # Errors
    /// See [`FileLayout::lay_out`].
    pub(crate) fn lay_out_again(&mut self) -> Result<LayoutEnd, Failure> {
        self.lay_out_files(|file| file.kind == FileKind::Regular)
    }

    fn lay_out_files(&mut self, concerns: impl Fn(&FileSpec) -> bool) -> Result<LayoutEnd, Failure> {
        let spec = self.spec;
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
            return self.make_directories();
        }
        for file in spec.files.iter().filter(|file| concerns(file)) {
            if spec.opening.readonly {
                let message = format!("refusing extend of file {} due to read-only", file.path.display());
                (self.note)(Diagnostic::note(message).code("file-not-extended"));
                continue;
            }
            let old = ExistingFile::at(&file.path)?;
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
                (self.note)(Diagnostic::note(message).code("verified-file-too-short").job(&spec.name));
            }
            if (self.stop)() || self.extend(file, &old)? == LayoutEnd::Stopped {
                return Ok(LayoutEnd::Stopped);
            }
        }
        Ok(LayoutEnd::Complete)
    }

    /// Makes the directories that a job works on, unless they are there.
    fn make_directories(&self) -> Result<LayoutEnd, Failure> {
        for file in &self.spec.files {
            if (self.stop)() {
                return Ok(LayoutEnd::Stopped);
            }
            match fs::DirBuilder::new().mode(0o700).create(&file.path) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(directory_failure(&e, &file.path));
                }
                _ => {}
            }
        }
        Ok(LayoutEnd::Complete)
    }

    /// Makes one file as long as its region needs.
    fn extend(&mut self, file: &FileSpec, old: &ExistingFile) -> Result<LayoutEnd, Failure> {
        let spec = self.spec;
        let wanted = file.end();
        debug!(target: debug_class::FILE, job = spec.number; "lay out {}: {wanted} bytes", file.path.display());
        let target = LayoutTarget::open(spec, file, old)?;
        if !spec.fill_device {
            self.reserve(&target.out, wanted)?;
        }
        if layout_of(spec).fills && target.fill(self, file)? == LayoutEnd::Stopped {
            return Ok(LayoutEnd::Stopped);
        }
        target.mark();
        // The job must not find its data cached because it was just written; an error here only leaves the cache warm.
        if let Err(e) = posix_fadvise(&target.out, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED) {
            let message =
                format!("cache invalidation of {} failed: {}", file.path.display(), reason(&e.into()));
            (self.note)(Diagnostic::note(message).code("cache-not-dropped"));
        }
        close(spec, target.out, &file.path)?;
        Ok(LayoutEnd::Complete)
    }

    /// `fallocate=`.
    fn reserve(&mut self, out: &File, wanted: u64) -> Result<(), Failure> {
        let length = i64::try_from(wanted).map_err(|_| Failure::new(libc::EFBIG, "fallocate"))?;
        match self.spec.layout.fallocate {
            Fallocate::None => {}
            Fallocate::Native => {
                // Best effort: many file systems cannot reserve.
                let _ = fallocate(out, FallocateFlags::empty(), 0, length);
            }
            Fallocate::Posix => {
                if let Err(e) = posix_fallocate(out, 0, length) {
                    let message = format!("posix_fallocate fails: {}", reason(&e.into()));
                    (self.note)(Diagnostic::note(message).code("file-not-reserved"));
                }
            }
            Fallocate::Keep => fallocate(out, FallocateFlags::FALLOC_FL_KEEP_SIZE, 0, length)
                .map_err(|e| Failure::new(e as i32, "fallocate"))?,
            Fallocate::Truncate => set_length(out, wanted).map_err(|e| Failure::from_io(&e, "ftruncate"))?,
        }
        Ok(())
    }
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

#[cfg(test)]
mod tests;
