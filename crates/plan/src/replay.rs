//! `read_iolog`: reads the logs that a job replays, and puts what they contain in place of `rw`, `bs`, `size` and the files.
//!
//! A log is read when the run is planned: its files, directions and block sizes decide what is allocated and opened.

mod steps;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use ferrio_job::{
    BlockSizes, Diagnostic, Direction, JobSpec, ReadWrite, Replay, ReplayAction, RwPostfix, SetupError,
    reason,
};
use ferrio_jobfile::{Job, Opt};
use ferrio_trace::{ReadError, Reader};

use crate::as_written::{inert, note};
use crate::findings::Findings;
use steps::{Problem, Rules, StepBuilder};

inert! {
    Rw Size IoSize Filesize Filename Directory Nrfiles Offset OffsetIncrement Loops TimeBased:
        |job| job.options.is_given(Opt::ReadIolog); "the log of `read_iolog` decides it, and is replayed once";
}

/// A log on standard input.
const STDIN: &str = "-";

/// Bad lines of one log that are reported one by one.
const REPORTED: u64 = 10;

/// The logs of a job, for its clones in turn; `None` for a job that replays nothing.
pub(crate) fn read(
    job: &Job,
    readonly: bool,
    findings: &mut Findings,
) -> Option<Vec<Result<Arc<Replay>, SetupError>>> {
    if !job.options.is_given(Opt::ReadIolog) {
        return None;
    }
    let rules = Rules::of(job, readonly);
    let logs = job.options.list(Opt::ReadIolog);
    Some(logs.iter().map(|name| read_log(job, name, &rules, findings).map(Arc::new)).collect())
}

/// Puts a log in place of what the options say.
pub(crate) fn apply(log: &Arc<Replay>, spec: &mut JobSpec) {
    let lengths = Direction::ALL.map(|direction| Lengths::of(log, direction));
    let does = lengths.map(|lengths| lengths.most > 0);
    spec.rw = match does {
        // A log of waits reads nothing either.
        [_, false, false] => ReadWrite::Read,
        [true, true, false] => ReadWrite::Mixed,
        [false, true, false] => ReadWrite::Write,
        [false, false, true] => ReadWrite::Trim,
        [false, true, true] => ReadWrite::TrimWrite,
        [true, _, true] => ReadWrite::Every,
    };
    spec.rw_postfix = RwPostfix::None;
    for (direction, lengths) in
        Direction::ALL.into_iter().zip(lengths).filter(|(_, lengths)| lengths.most > 0)
    {
        let (min, max) = (u64::from(lengths.step), u64::from(lengths.most));
        spec.block[direction] = BlockSizes { min, max, align: min };
    }
    spec.replay = Some(Arc::clone(log));
}

/// The lengths of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths {
    most: u32,
    /// The smallest, if it divides all of them; else the largest.
    step: u32,
}

impl Lengths {
    fn of(log: &Replay, direction: Direction) -> Self {
        let lengths = || {
            log.steps.iter().filter(|step| direction_of(step.action) == Some(direction)).map(|step| step.len)
        };
        let (least, most) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
        let step = if least > 0 && lengths().all(|len| len % least == 0) { least } else { most };
        Lengths { most, step }
    }
}

fn direction_of(action: ReplayAction) -> Option<Direction> {
    match action {
        ReplayAction::Read => Some(Direction::Read),
        ReplayAction::Write => Some(Direction::Write),
        ReplayAction::Trim => Some(Direction::Trim),
        _ => None,
    }
}

/// Bytes that a log moves, and the end of its last I/O in each file.
pub(crate) fn extents(log: &Replay) -> (u64, Vec<u64>) {
    let mut ends = vec![0_u64; log.files.len()];
    let mut bytes = 0_u64;
    for step in log.steps.iter().filter(|step| direction_of(step.action).is_some()) {
        bytes = bytes.saturating_add(u64::from(step.len));
        let end = &mut ends[step.file as usize];
        *end = (*end).max(step.offset.saturating_add(u64::from(step.len)));
    }
    (bytes, ends)
}

fn read_log(job: &Job, name: &str, rules: &Rules, findings: &mut Findings) -> Result<Replay, SetupError> {
    const FUNC: &str = "failed initializing iolog";
    let shown = if name == STDIN { "standard input" } else { name };
    let failed = |errno, message: String| SetupError::new(errno, FUNC, format!("{shown}: {message}"));
    let source = open(name).map_err(|error| {
        let message = format!("fopen read iolog: {}", reason(&error));
        failed(error.raw_os_error().unwrap_or(libc::EIO), message)
    })?;
    let unreadable = |error: ReadError| failed(libc::EINVAL, error.to_string());
    let mut reader = Reader::new(source).map_err(unreadable)?;
    let mut log = StepBuilder::new(rules);
    let mut bad_lines = 0;
    while let Some((line, entry)) = reader.next_entry().map_err(unreadable)? {
        let entry = match entry {
            Ok(entry) => log.add(entry),
            Err(bad) => Err(Problem::Skipped(bad.to_string())),
        };
        match entry {
            Ok(()) => {}
            Err(Problem::Fatal(message)) => {
                return Err(failed(libc::EINVAL, format!("line {line}: {message}")));
            }
            Err(Problem::Skipped(message)) => {
                bad_lines += 1;
                if bad_lines <= REPORTED {
                    findings.note(bad_line(job, format!("{message} ({shown}, line {line})")));
                }
            }
        }
    }
    if bad_lines > REPORTED {
        findings.note(bad_line(job, format!("{} more bad lines in {shown}", bad_lines - REPORTED)));
    }
    log.finish().ok_or_else(|| {
        failed(
            libc::EINVAL,
            "the iolog has nothing to replay: no read, write, trim or wait is left".to_owned(),
        )
    })
}

fn bad_line(job: &Job, message: String) -> Diagnostic {
    note(job, &[Opt::ReadIolog], "bad-iolog-line", message)
}

fn open(name: &str) -> io::Result<Box<dyn BufRead>> {
    if name == STDIN {
        return Ok(Box::new(io::stdin().lock()));
    }
    let is_socket = fs::metadata(name).is_ok_and(|metadata| metadata.file_type().is_socket());
    Ok(match is_socket {
        true => Box::new(BufReader::new(UnixStream::connect(name)?)),
        false => Box::new(BufReader::new(File::open(name)?)),
    })
}

#[cfg(test)]
mod tests;
