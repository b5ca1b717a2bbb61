//! Opens a job's files for I/O the way fio does: access mode, flags, dropping the page cache, access-pattern advice.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

use ferrio_engine::{FileSet, OpenFile, SharedFiles};
use ferrio_job::{
    CommitSync, Database, DatabaseFile, Diagnostic, Direction, Fadvise, FileKind, FileSpec, Fileio, JobSpec,
    OpenSync, Optimisations, Tuning, debug_class, reason,
};
use ferrio_kernel::{flush_buffers, set_write_hint};
use ferrio_machine::{open_file, set_length};
use ferrio_results::EventFailure;
use log::debug;
use nix::fcntl::{FcntlArg, OFlag, PosixFadviseAdvice, fcntl, posix_fadvise};
use nix::sys::resource::{Resource, setrlimit};

use crate::failure::Failure;

/// Descriptors that a job needs besides those of its files.
const OTHER_DESCRIPTORS: u64 = 64;

/// The files of a job and which of them are open.
#[derive(Debug)]
pub(crate) struct JobFiles {
    /// In the order of the job's files.
    pub(crate) set: FileSet,
    /// Files are opened one by one.
    pub(crate) on_demand: bool,
    /// Number of files that the workload considers open, including placeholder files of an engine that uses no files.
    pub(crate) open: u32,
    /// Optimisations (`tuning=lean`) with which files were opened.
    pub(crate) optimisations: Optimisations,
    /// Whether each file was synced when it was closed in this pass; empty if closing does not sync.
    pub(crate) synced: Vec<bool>,
    /// Open files, oldest first, while blocks are read back: no workload then tells which file is finished.
    pub(crate) read_back: VecDeque<u32>,
}

impl JobFiles {
    pub(crate) fn new(spec: &JobSpec) -> Self {
        let on_demand = spec.opens_on_demand();
        let syncs = on_demand && spec.durability.fsync_on_close && spec.rw.does(Direction::Write);
        JobFiles {
            set: FileSet::default(),
            on_demand,
            open: 0,
            optimisations: Optimisations::NONE,
            synced: if syncs { vec![false; spec.files.len()] } else { Vec::new() },
            read_back: VecDeque::new(),
        }
    }

    /// Records the optimisations (`tuning=lean`) with which a file was opened.
    pub(crate) fn note_tuning(&mut self, spec: &JobSpec, index: usize) {
        let is_lean = spec.tuning == Tuning::Lean && spec.files[index].kind == FileKind::Regular;
        if !is_lean || self.optimisations.has(Optimisations::NOATIME) {
            return;
        }
        let flags = self.set.files[index].fd.as_deref().map(|fd| fcntl(fd, FcntlArg::F_GETFL));
        let noatime = flags.is_some_and(|flags| flags.is_ok_and(|flags| flags & libc::O_NOATIME != 0));
        self.optimisations = self.optimisations | Optimisations::NOATIME.when(noatime);
    }
}

/// Opens all files of a job.
///
/// # Errors
/// The first file that cannot be opened, with what the user may do about it. Files opened so far are closed again.
pub(crate) fn open_files(spec: &JobSpec, note: &mut dyn FnMut(Diagnostic)) -> Result<FileSet, Failure> {
    raise_limit(spec, spec.files.len());
    let mut set = unopened_files(spec);
    for index in 0..spec.files.len() {
        set.files[index].fd = open_one(spec, index, index, note)?.map(Arc::new);
    }
    Ok(set)
}

/// Opens the files of a `sysbench fileio` workload, which all its jobs share. Creates them first if the workload asks for that.
///
/// # Errors
/// The first file that cannot be opened or created, or is too short.
pub(crate) fn open_shared(spec: &JobSpec, fileio: &Fileio) -> Result<Vec<OpenFile>, Failure> {
    raise_limit(spec, spec.files.len());
    spec.files.iter().map(|file| open_shared_file(spec, fileio, file)).collect()
}

fn open_shared_file(spec: &JobSpec, fileio: &Fileio, file: &FileSpec) -> Result<OpenFile, Failure> {
    let path = &file.path;
    let failed = |e: &io::Error, creates: bool| {
        let (path, errno) = (path.clone(), e.raw_os_error().unwrap_or(libc::EIO));
        let func = format!("open({})", path.display());
        let event = match creates {
            true => EventFailure::Create { path, errno },
            false => EventFailure::Open { path, errno },
        };
        Failure::of_event(errno, func, event)
    };
    if fileio.creates
        && let Err(e) = fs::remove_file(path)
        && e.kind() != io::ErrorKind::NotFound
    {
        return Err(failed(&e, true));
    }
    let flags = open_flags(spec, 0) | if fileio.creates { libc::O_CREAT | libc::O_EXCL } else { 0 };
    // Opened for writing even if the job only reads: it may write later through the same descriptor.
    let opened = open_file(path, OFlag::O_RDWR | OFlag::from_bits_retain(flags), 0o600);
    let opened = opened.map_err(|e| failed(&e, fileio.creates))?;
    debug!(target: debug_class::FILE, job = spec.number; "open {}: descriptor {}", path.display(), opened.as_raw_fd());
    let size = opened.metadata().map_err(|e| failed(&e, false))?.len();
    if fileio.creates && spec.engine.maps_files() {
        // A mapping cannot extend a file.
        set_length(&opened, file.end()).map_err(|e| failed(&e, true))?;
    } else if !fileio.creates && size < file.end() {
        let event = EventFailure::TooShort { path: path.clone(), size, expected: file.end() };
        return Err(Failure::of_event(libc::EIO, format!("stat({})", path.display()), event));
    }
    Ok(OpenFile { fd: Some(Arc::new(opened.into())), offset: file.offset, size: file.size })
}

/// The files that a job shares, under the same descriptors: the job's own table of descriptors begins with those of main.
pub(crate) fn use_shared(shared: &Arc<SharedFiles>) -> FileSet {
    FileSet { files: shared.files.clone(), shared: Some(Arc::clone(shared)) }
}

/// The files of a job that opens them on demand, all still closed.
pub(crate) fn unopened_files(spec: &JobSpec) -> FileSet {
    raise_limit(spec, spec.files.len().min(spec.opening.openfiles as usize));
    let closed = |file: &FileSpec| OpenFile { fd: None, offset: file.offset, size: file.size };
    FileSet::new(spec.files.iter().map(closed).collect())
}

/// Opens one file of a job for I/O while `already_open` are open; `None` for one that has no descriptor.
///
/// # Errors
/// See [`open_files`].
pub(crate) fn open_one(
    spec: &JobSpec,
    index: usize,
    already_open: usize,
    note: &mut dyn FnMut(Diagnostic),
) -> Result<Option<OwnedFd>, Failure> {
    let file = &spec.files[index];
    if !is_opened(file) {
        return Ok(None);
    }
    let fd = open_job_file(spec, index, already_open)?;
    debug!(target: debug_class::FILE, job = spec.number; "open {}: descriptor {}", file.path.display(), fd.as_raw_fd());
    prepare_cache(spec, file, &fd, note);
    if let Some(hint) = spec.opening.write_hint {
        set_write_hint(fd.as_fd(), hint, spec.opening.direct).map_err(|e| {
            let message = format!("write_hint={} is refused for {}", hint.word(), file.path.display());
            Failure::from_io(&e, "fcntl write hint").note("write-hint-refused", message)
        })?;
    }
    Ok(Some(fd))
}

/// False for a file of an engine without files, and for one that nothing is ever read from or written to: it is not created either.
pub(crate) fn is_opened(file: &FileSpec) -> bool {
    file.kind != FileKind::Pretend && file.size > 0
}

/// True if the file may need a sync at the end of a pass.
pub(crate) fn has_something_to_sync(spec: &JobSpec, index: usize) -> bool {
    spec.engine.operates_on_files() || is_opened(&spec.files[index])
}

/// A descriptor for the final sync of a closed file; `None` for one that the engine has removed.
///
/// # Errors
/// See [`open_files`].
pub(crate) fn open_to_sync(
    spec: &JobSpec,
    index: usize,
    already_open: usize,
) -> Result<Option<OwnedFd>, Failure> {
    if !spec.engine.operates_on_files() {
        return open_job_file(spec, index, already_open).map(Some);
    }
    let path = &spec.files[index].path;
    match open_file(path, OFlag::O_RDONLY, 0) {
        Ok(file) => Ok(Some(file.into())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Failure::from_io(&e, format!("open({})", path.display()))),
    }
}

/// Raises the soft limit on open files to the hard limit if `files` need that. If it is still too low, an open fails with advice.
fn raise_limit(spec: &JobSpec, files: usize) {
    let Some((soft, hard)) = ferrio_machine::open_file_limits() else { return };
    // The threads of an offloaded engine have descriptors of their own.
    let each = 1 + if spec.offload { u64::from(spec.units()) } else { 0 };
    if soft < hard && soft < (files as u64).saturating_mul(each).saturating_add(OTHER_DESCRIPTORS) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// A descriptor with the job's access mode and flags.
///
/// # Errors
/// See [`open_files`].
pub(crate) fn open_job_file(spec: &JobSpec, index: usize, already_open: usize) -> Result<OwnedFd, Failure> {
    let file = &spec.files[index];
    let regular = file.kind == FileKind::Regular;
    // O_NOATIME: reading need not update access times. Only for regular files of an untuned job, they are updated as by fio.
    let result = if regular && spec.tuning == Tuning::Fio {
        open_with(spec, index, 0)
    } else {
        // Only the owner may ask for that.
        match open_with(spec, index, libc::O_NOATIME) {
            Err(e) if e.raw_os_error() == Some(libc::EPERM) => open_with(spec, index, 0),
            other => other,
        }
    };
    result.map(OwnedFd::from).map_err(|e| {
        let path = file.path.display();
        let failure = Failure::from_io(&e, format!("open({path})"));
        match e.raw_os_error() {
            Some(libc::EINVAL) if spec.opening.direct => failure
                .note("direct-io-refused", "looks like your file system does not support direct=1/buffered=0")
                .note("direct-io-refused", format!("destination does not support O_DIRECT: use direct=0 or another place for {path}")),
            Some(libc::EMFILE) => failure.note("too-many-open-files", format!(
                "try reducing/setting openfiles (failed at {already_open} of {}): set openfiles to a number below {}, or raise the \
                 limit of open files (ulimit -n)",
                spec.files.len().min(spec.opening.openfiles as usize),
                already_open.max(2)
            )),
            _ => failure,
        }
    })
}

fn open_with(spec: &JobSpec, index: usize, extra_flags: i32) -> io::Result<File> {
    let file = &spec.files[index];
    let changes = !spec.opening.readonly && !spec.only_verifies();
    // One job opens the files of a database for all.
    let is_database = spec.database().is_some();
    let always = spec.engine.opens_for_writing() || is_database;
    let writes = (always || spec.rw.does(Direction::Write) || spec.rw.does(Direction::Trim)) && changes;
    let may_create = file.kind == FileKind::Regular && !spec.opening.readonly;
    let create = may_create
        && spec.layout.allow_file_create
        && (always || spec.rw.does(Direction::Write) || spec.layout.create_on_open);
    let create_flag = if create { libc::O_CREAT } else { 0 };
    let access = if writes { OFlag::O_RDWR } else { OFlag::O_RDONLY };
    let flags = OFlag::from_bits_retain(open_flags(spec, index) | create_flag | extra_flags);
    open_file(&file.path, access | flags, 0o600)
}

/// O_DIRECT and O_SYNC or O_DSYNC, as the job asks for them; in a model of a database it depends on what the file is for.
fn open_flags(spec: &JobSpec, index: usize) -> i32 {
    // These flags affect read(2) and write(2). The CPU makes writes to persistent memory durable; the device executes passthrough commands.
    if spec.engine.is_on_persistent_memory() || spec.engine.passes_through() {
        return 0;
    }
    if let Some((database, _)) = spec.database() {
        return database_flags(database, index);
    }
    let sync = match spec.opening.open_sync {
        OpenSync::None => 0,
        OpenSync::Sync => libc::O_SYNC,
        OpenSync::Dsync => libc::O_DSYNC,
    };
    if spec.opening.direct { sync | libc::O_DIRECT } else { sync }
}

/// The flags of a file of a database.
fn database_flags(database: &Database, index: usize) -> i32 {
    let is_log = database.file_kind(index as u32) == DatabaseFile::Log;
    let direct = if is_log { database.log.direct } else { database.direct };
    let dsync = is_log && database.commit.sync == CommitSync::Dsync;
    (if direct { libc::O_DIRECT } else { 0 }) | (if dsync { libc::O_DSYNC } else { 0 })
}

/// Starts with a cold cache (`invalidate`) and advises the kernel of the access pattern. Failures are worth a note, not an error.
fn prepare_cache(spec: &JobSpec, file: &FileSpec, fd: &OwnedFd, note: &mut dyn FnMut(Diagnostic)) {
    let range = (i64::try_from(file.offset).unwrap_or(i64::MAX), i64::try_from(file.size).unwrap_or(0));
    let advise = |advice| posix_fadvise(fd.as_fd(), range.0, range.1, advice).map_err(io::Error::from);
    if spec.opening.invalidate {
        let dropped = match file.kind {
            FileKind::Regular => advise(PosixFadviseAdvice::POSIX_FADV_DONTNEED),
            FileKind::Block => flush_buffers(fd.as_fd()),
            FileKind::Char | FileKind::Pretend => Ok(()),
        };
        if let Err(e) = dropped {
            let message = format!("cache invalidation of {} failed: {}", file.path.display(), reason(&e));
            note(Diagnostic::note(message).code("cache-not-dropped"));
        }
    }
    if matches!(file.kind, FileKind::Regular | FileKind::Block) {
        let advice = match spec.opening.fadvise {
            Fadvise::None => return,
            Fadvise::ByPattern if spec.rw.is_random() && !is_sequential(spec, file) => {
                PosixFadviseAdvice::POSIX_FADV_RANDOM
            }
            Fadvise::ByPattern => PosixFadviseAdvice::POSIX_FADV_SEQUENTIAL,
            Fadvise::Random => PosixFadviseAdvice::POSIX_FADV_RANDOM,
            Fadvise::Sequential => PosixFadviseAdvice::POSIX_FADV_SEQUENTIAL,
            Fadvise::NoReuse => PosixFadviseAdvice::POSIX_FADV_NOREUSE,
        };
        if let Err(e) = advise(advice) {
            let message = format!("access-pattern advice for {} failed: {}", file.path.display(), reason(&e));
            note(Diagnostic::note(message).code("advice-not-applied"));
        }
    }
}

/// True for a file of a database that is written from beginning to end.
fn is_sequential(spec: &JobSpec, file: &FileSpec) -> bool {
    let Some((database, _)) = spec.database() else { return false };
    let data = spec.files.get(..database.data_files as usize).unwrap_or_default();
    !data.iter().any(|other| std::ptr::eq(other, file))
}

/// Removes the regular files of a job, or its directories. If the program is called `fio`, a file that cannot be removed causes only a
/// message, where fio prints nothing.
///
/// # Errors
/// The first file that could not be removed. All others are removed before.
pub(crate) fn unlink(spec: &JobSpec, note: &mut dyn FnMut(Diagnostic)) -> Result<(), Failure> {
    let mut first = Ok(());
    let made = |file: &&FileSpec| file.kind == FileKind::Regular || spec.engine.operates_on_files();
    for file in spec.files.iter().filter(made) {
        debug!(target: debug_class::FILE, job = spec.number; "unlink {}", file.path.display());
        let path = &file.path;
        let removed =
            if spec.engine.has_directories() { fs::remove_dir(path) } else { fs::remove_file(path) };
        match removed {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                let message = format!("cannot remove {}: {}", file.path.display(), reason(&e));
                note(Diagnostic::note(message).code("file-not-removed"));
                if spec.compat.cleaning_up_may_fail {
                    first = first.and(Err(Failure::from_io(&e, "unlink")));
                }
            }
            _ => {}
        }
    }
    first
}

#[cfg(test)]
mod tests;
