//! `ferrio import`: converts a trace of another program to an I/O log for read_iolog.
//!
//! `ferrio_trace::import` does the conversion. [`options`] has the options, [`trace`] opens the trace, [`outputs`] writes the files,
//! [`report`] prints the summary, and [`job`] builds the job file. [`status`] makes job files of models from the counters of databases.

mod job;
mod live_server;
mod options;
mod outputs;
mod report;
mod status;
mod trace;

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::PathBuf;

use ferrio_job::reason;
use ferrio_trace::import::blkparse::EVENTS;
use ferrio_trace::import::{self, ImportError, ImportSummary, TraceFormat};
use ferrio_trace::{open_source, source_name};

use live_server::ImportedServer;
use options::ImportOptions;
pub use options::command;
use outputs::ImportOutputs;

use super::subcommand::Invocation;
use crate::error::Error;

/// Help text after the options.
pub const LONG_HELP: &str = "\
Formats (found from the first lines unless --format names one):
  blkparse  text of blkparse, as it is or with -f (then --blkparse-form)
  strace    strace -f -tt -T -o TRACE PROGRAM; also -ttt, -t, -r and -y
  msr       CSV of Microsoft Research, Cambridge
  systor    CSV of SYSTOR '17: Timestamp,Response,IOType,LUN,Offset,Size
  alibaba   CSV of Alibaba: device_id,opcode,offset,length,timestamp
  tencent   CSV of Tencent: Timestamp,Offset,Size,IOType,VolumeID
  spc       CSV of the Storage Performance Council (UMass):
            ASU,LBA,Size,Opcode,Timestamp
  table     biosnoop, or CSV or columns with names in the first line, such
            as those of a script of bpftrace

A replay writes to the files that the log names. By default, these are files
in a directory of their own, FILE.files with -o FILE, and the files of the
application stay unchanged. --keep-paths, --rename and --target name others.

  strace -f -tt -T -o app.trace ./app
  ferrio import app.trace -o app.log --job app.fio
  ferrio app.fio

`ferrio import innodb-status` and `ferrio import postgres-status` write a job
file that models a running database, from its counters. Their --help says more.";

/// Converts the trace.
///
/// # Errors
/// The arguments are invalid.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.parsed_arguments()? else { return Ok(0) };
    if let Some((server, arguments)) = ImportedServer::of(&arguments) {
        return status::run(server, arguments, invocation.messages);
    }
    let options = ImportOptions(&arguments);
    // Without an import, the reader of the log closed the pipe.
    if let Some(import) = import(&options)?.filter(|_| !options.is_quiet()) {
        invocation.messages.write(&report::summary_text(&import));
    }
    Ok(0)
}

/// Nothing is imported: the reason, and the remedy if there is one.
fn refusal(message: impl Into<String>, help: Option<&str>) -> Error {
    Error::refusal("import", message, help)
}

/// The result of an import.
pub struct FinishedImport {
    /// Name of the trace as given.
    pub trace: OsString,
    pub format: TraceFormat,
    /// True if the format was detected from the first lines.
    pub guessed: bool,
    /// The event of blkparse that represents the I/O; true if it was detected from the first lines.
    pub event: Option<(char, bool)>,
    /// Path of the log; `None` if it has no name that a replay can use.
    pub log: Option<PathBuf>,
    /// Path of the job file.
    pub job: Option<PathBuf>,
    /// The I/O that was read and written.
    pub summary: ImportSummary,
}

/// Reads the trace, and writes log and job file. `None` if the reader of the log closed the pipe.
fn import(options: &ImportOptions<'_>) -> Result<Option<FinishedImport>, Error> {
    let settings = options.settings()?;
    let (trace, log, job) = (options.trace(), options.log(), options.job()?);
    let shown = source_name(&trace);
    let cannot_read = |error: io::Error| refusal(format!("cannot read {shown}: {}", reason(&error)), None);
    let file = open_source(&trace).map_err(cannot_read)?;
    outputs::refuse_overwriting(&file, &shown, log.as_deref(), job.as_deref())?;
    let mut source = trace::decompress(file).map_err(cannot_read)?;
    let head = import::head(&mut source).map_err(cannot_read)?;
    if let Some((what, help)) = trace::other_kind(&head) {
        return Err(refusal(format!("{shown} is {what}"), Some(help)));
    }
    let form = options.form()?;
    let (format, guessed) = trace::format(options, &head, form.as_ref(), &trace)?;
    let event = options.event();
    if format != TraceFormat::Blkparse && (form.is_some() || event.is_some()) {
        let message = format!(
            "--blkparse-form and --event apply only to the format blkparse, but the format is {}",
            format.word()
        );
        return Err(refusal(message, None));
    }
    debug_assert!(event.is_none_or(|event| EVENTS.contains(&event)));
    let parser = format.parser(&head, event, form);
    let counted = parser.event().map(|letter| (letter, event.is_none()));
    let outputs = ImportOutputs::create(log.as_deref(), job.as_deref())?;
    let writer = outputs.log_writer()?;
    let summary = match import::import(head.chain(source), format, parser, &settings, writer) {
        Ok(summary) => summary,
        Err(ImportError::Write(error))
            if !outputs.log_is_file() && error.source.kind() == io::ErrorKind::BrokenPipe =>
        {
            return Ok(None);
        }
        Err(error) => return Err(failure(&error, guessed, &shown)),
    };
    outputs::refuse_trace_names(&summary, &shown)?;
    let import =
        FinishedImport { trace, format, guessed, event: counted, log: options.named_log(), job, summary };
    outputs.commit(&import, settings.naming.directory.as_deref())?;
    Ok(Some(import))
}

/// The error message of a failed import.
fn failure(error: &ImportError, guessed: bool, trace: &str) -> Error {
    let help = match error {
        ImportError::WrongFormat { .. } if guessed => {
            Some("--format names the format; --bad-lines allows more such lines")
        }
        ImportError::WrongFormat { .. } => Some("--bad-lines allows more such lines"),
        ImportError::Nothing(_) | ImportError::Read(_) | ImportError::Write(_) => None,
    };
    let message = match error {
        ImportError::Nothing(summary) => {
            let skipped = report::skipped(summary);
            let why = if skipped.is_empty() { String::new() } else { format!(" ({})", skipped.join("; ")) };
            format!("{trace} contains no I/O that can be replayed{why}")
        }
        other => format!("{trace}: {other}"),
    };
    refusal(message, help)
}
