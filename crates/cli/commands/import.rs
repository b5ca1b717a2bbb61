//! `ferrio import`: makes an I/O log, which read_iolog replays, of a trace that another program wrote.
//!
//! The work is in `ferrio_trace::import`. [`options`] has the options, [`trace`] opens the trace, [`outputs`] the files that are written, and
//! [`report`] and [`job`] have what is said and written about the log.

mod job;
mod options;
mod outputs;
mod report;
mod trace;

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::PathBuf;

use ferrio_job::{Diagnostic, Origin, reason};
use ferrio_jobfile::Sources;
use ferrio_trace::import::blkparse::EVENTS;
use ferrio_trace::import::{self, Format, ImportError, Summary};
use ferrio_trace::{open_source, source_name};

use options::Options;
pub use options::command;
use outputs::Outputs;

use super::subcommand::Invocation;
use crate::error::Error;

/// Help below the options.
pub const DETAILS: &str = "\
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
  ferrio app.fio";

/// What a failed import says, and what to do.
type Failure = (String, Option<&'static str>);

/// Makes the log.
///
/// # Errors
/// The arguments are invalid.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.parsed_arguments()? else { return Ok(0) };
    let messages = *invocation.messages;
    let options = Options(&arguments);
    match import(&options) {
        Ok(Some(done)) => {
            if !options.is_quiet() {
                messages.write(&report::text(&done));
            }
            Ok(0)
        }
        // The reader of the log has seen enough.
        Ok(None) => Ok(0),
        Err((message, help)) => {
            let error = Diagnostic::error(message, Origin::Builtin).code("import");
            let error = Diagnostic { help: help.map(str::to_owned), ..error };
            messages.show(&[error], &Sources::default());
            Ok(1)
        }
    }
}

/// A log that was made.
pub struct Done {
    /// The trace, as it was given.
    pub trace: OsString,
    /// Its format.
    pub format: Format,
    /// True if the format was found from the first lines.
    pub guessed: bool,
    /// The event of blkparse that stands for the I/O, and whether it was found from the first lines.
    pub event: Option<(char, bool)>,
    /// The log; `None` if it has no name that a replay can use.
    pub log: Option<PathBuf>,
    /// The job file.
    pub job: Option<PathBuf>,
    /// What was read and written.
    pub summary: Summary,
}

/// Reads the trace, and writes log and job file. `None` if nobody reads the log.
fn import(options: &Options<'_>) -> Result<Option<Done>, Failure> {
    let settings = options.settings()?;
    let (trace, log, job) = (options.trace(), options.log(), options.job()?);
    let shown = source_name(&trace);
    let cannot_read = |error: io::Error| (format!("cannot read {shown}: {}", reason(&error)), None);
    let file = open_source(&trace).map_err(cannot_read)?;
    outputs::check(&file, &shown, log.as_deref(), job.as_deref())?;
    let mut source = trace::unpacked(file).map_err(cannot_read)?;
    let head = import::head(&mut source).map_err(cannot_read)?;
    if let Some((what, help)) = trace::other_kind(&head) {
        return Err((format!("{shown} is {what}"), Some(help)));
    }
    let form = options.form()?;
    let (format, guessed) = trace::format(options, &head, form.as_ref(), &trace)?;
    let event = options.event();
    if format != Format::Blkparse && (form.is_some() || event.is_some()) {
        let message = format!(
            "--blkparse-form and --event apply only to the format blkparse, but the format is {}",
            format.word()
        );
        return Err((message, None));
    }
    debug_assert!(event.is_none_or(|event| EVENTS.contains(&event)));
    let parser = format.parser(&head, event, form);
    let counted = parser.event().map(|letter| (letter, event.is_none()));
    let outputs = Outputs::begin(log.as_deref(), job.as_deref())?;
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
    outputs::check_names(&summary, &shown)?;
    let done = Done { trace, format, guessed, event: counted, log: options.named_log(), job, summary };
    outputs.keep(&done, settings.naming.directory.as_deref())?;
    Ok(Some(done))
}

/// What to say about an import that failed.
fn failure(error: &ImportError, guessed: bool, trace: &str) -> Failure {
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
    (message, help)
}
