//! Resolves the export (`uri`) of jobs with engine nbd. The size of the export is the size of the job's one file.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use ferrio_job::{Direction, EngineKind, JobSpec, Prefix, SetupError};
use ferrio_jobfile::{Job, Opt};
use ferrio_nbd::{Export, NbdError, ServerQuery, Uri};

use crate::as_written::{engine_is, inert, refuse};
use crate::direction::changes_data;
use crate::findings::Findings;
use crate::probe::FoundFile;

inert! {
    Filename FilenameFormat Directory PreRead:
        |job| engine_is(job, EngineKind::has_export);
        "the data is in the export that `uri` names";
    PreRead:
        |job| engine_is(job, EngineKind::has_objects);
        "objects are in no page cache";
}

/// What servers say about exports, by URI. A server is asked once, even if several jobs use its export.
#[derive(Debug, Default)]
pub(crate) struct Exports {
    known: HashMap<String, Result<Export, SetupError>>,
    /// Servers that have been asked, all at once.
    asked: HashMap<String, io::Result<ServerQuery>>,
}

impl Exports {
    /// Asks the servers of all jobs at the same time, which may take up to `limit` in total.
    pub(crate) fn ask<'a>(&mut self, jobs: impl Iterator<Item = &'a Job>, limit: Duration) {
        let has_export = |job: &&Job| engine_is(job, EngineKind::has_export);
        for text in jobs.filter(has_export).filter_map(|job| job.options.text(Opt::Uri)) {
            if let Ok(uri) = text.parse::<Uri>()
                && !self.asked.contains_key(text)
            {
                self.asked.insert(text.to_owned(), ServerQuery::begin(uri, limit));
            }
        }
    }

    /// The export of a job as the server describes it.
    fn of(&mut self, spec: &JobSpec) -> Result<Export, SetupError> {
        let uri = &spec.engine_options.uri;
        if let Some(known) = self.known.get(uri) {
            return known.clone();
        }
        let found = describe(spec, uri, self.asked.remove(uri));
        self.known.insert(uri.clone(), found.clone());
        found
    }
}

/// Rules about the resolved job. fio rejects such a job when it sets the job up: see [`find`].
pub(crate) fn apply_rules(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if !spec.engine.has_export() || spec.compat.gives_up_jobs_alone {
        return;
    }
    let help = "write uri=nbd://host[:port]/export or uri=nbd+unix:///export?socket=/path/to/socket";
    match job.options.text(Opt::Uri) {
        None => {
            let message = "nbd: uri parameter was not specified";
            refuse(findings, job, &[Opt::Ioengine], "nbd-uri", message, help);
        }
        Some(text) => {
            if let Err(error) = text.parse::<Uri>() {
                refuse(findings, job, &[Opt::Uri], "nbd-uri", error.to_string(), help);
            }
        }
    }
}

/// A job has one export, and so one file.
pub(crate) fn check_files(files: usize) -> Result<(), SetupError> {
    if files == 1 {
        return Ok(());
    }
    let message =
        format!("a job of engine nbd has one export, not {files} files: use one job for each export");
    Err(SetupError::new(libc::EINVAL, "setup_files", message))
}

/// The export of a job, as a file.
///
/// # Errors
/// The server cannot be reached, or the export cannot do what the job needs.
pub(crate) fn find(spec: &mut JobSpec, exports: &mut Exports) -> Result<FoundFile, SetupError> {
    spec.opening.pre_read = false;
    let export = exports.of(spec)?;
    check_export(spec, &export)?;
    Ok(FoundFile { size: Some(export.size), ..FoundFile::PRETEND })
}

/// Names the job's file by its export in messages. fio uses the name that an ordinary file of the job would have.
pub(crate) fn name_export(spec: &mut JobSpec) {
    if spec.engine.has_export() && spec.compat.names_exports_by_uri {
        let uri = &spec.engine_options.uri;
        spec.files.iter_mut().for_each(|file| file.path = uri.into());
    }
}

/// Asks the server, unless it has been asked.
fn describe(spec: &JobSpec, uri: &str, asked: Option<io::Result<ServerQuery>>) -> Result<Export, SetupError> {
    let failed = |error: &NbdError| {
        let (errno, prefix, message) = match spec.compat.has_words_of_fio {
            // fio reports no error number in this case.
            true => (0, Prefix::Program, format!("nbd_connect_uri: nbd_connect_uri: {error}")),
            false => (error.errno(), Prefix::Job, format!("cannot use {uri}: {error}")),
        };
        SetupError::new(errno, "nbd_connect_uri", message).prefix(prefix)
    };
    if uri.is_empty() {
        let error = SetupError::new(0, "setup_files", "nbd: uri parameter was not specified");
        return Err(error.prefix(Prefix::Program));
    }
    let found = match asked {
        Some(Ok(asked)) => asked.answer(),
        Some(Err(source)) => Err(NbdError::Connect { address: None, source }),
        None => uri.parse::<Uri>().and_then(|uri| ferrio_nbd::describe(&uri)),
    };
    found.map_err(|error| failed(&error))
}

/// Rejects a job that the export cannot serve: its first request would fail.
fn check_export(spec: &JobSpec, export: &Export) -> Result<(), SetupError> {
    let refused = |errno: i32, why: String| {
        let message = format!("{}: {why}", spec.engine_options.uri);
        Err(SetupError::new(errno, "nbd", message))
    };
    let unsupported = |why: &str| refused(libc::EOPNOTSUPP, why.to_owned());
    if changes_data(spec.rw) && export.flags.is_read_only() {
        let why = "the export is read-only: use rw=read, or a server that lets clients write";
        return refused(libc::EPERM, why.to_owned());
    }
    if spec.trims() && !export.flags.can_trim() {
        return unsupported("the export has no trim");
    }
    let durability = &spec.durability;
    let flushes = durability.fsync > 0
        || durability.fdatasync > 0
        || durability.sync_file_range.every > 0
        || durability.end_fsync
        || durability.fsync_on_close;
    if spec.rw.does(Direction::Write) && flushes && !export.flags.can_flush() {
        return unsupported("the export cannot be flushed: remove fsync and similar options");
    }
    for direction in [Direction::Read, Direction::Write].into_iter().filter(|&d| spec.rw.does(d)) {
        let largest = spec.block[direction].max;
        if largest > export.block.max.into() {
            let most = export.block.max;
            let why = format!("a block of {largest} bytes is more than the {most} bytes of one request");
            return refused(libc::EINVAL, why);
        }
    }
    let unit = u64::from(export.block.min);
    let odd = Direction::ALL.into_iter().filter(|&d| spec.rw.does(d)).find(|&d| {
        !spec.block[d].min.is_multiple_of(unit)
            || !spec.block[d].max.is_multiple_of(unit)
            || spec.bs_unaligned
    });
    match odd.filter(|_| unit > 1) {
        Some(_) => refused(libc::EINVAL, format!("block sizes must be multiples of {unit} bytes")),
        None => Ok(()),
    }
}
