//! `read_iolog`: reads the logs that a job replays, and puts what they contain in place of `rw`, `bs`, `size` and the files.
//!
//! A log is read when the run is planned: its files, directions and block sizes decide what is allocated and opened. With
//! `read_iolog_chunked` only a summary is kept, and the job reads the log again while it runs.

mod merging;
mod source;

use std::collections::HashMap;
use std::fmt::Display;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use ferrio_job::{
    BlockSizes, ChunkedLog, CompatRules, Diagnostic, Direction, JobSpec, PerDirection, ReadWrite, Replay,
    ReplayRules, ReplayStep, ReplaySteps, ReplaySummary, RwPostfix, SetupError, ZoneMode, reason,
};
use ferrio_jobfile::{Job, Opt};
use ferrio_machine::{RetryInterrupted, block_device_node};
use ferrio_trace::{DeviceNodes, DeviceNumber, FilePart, StepError, StepReader, source_name};

use crate::PlanOptions;
use crate::as_written::{chooses, inert, name as job_name, note, verifies};
use crate::findings::Findings;
use crate::random;
use merging::Merging;
use source::Source;

pub(crate) use merging::check;

inert! {
    Rw RwSequencer Rwmixread Rwmixwrite PercentageRandom RandomDistribution RandomSequenceStride Norandommap Softrandommap
        Ba Size IoSize Filesize Offset OffsetIncrement OffsetAlign FileAppend FillDevice
        Filename FilenameFormat UniqueFilename Directory Opendir Nrfiles FileServiceType Loops TimeBased:
        |job| replays(job); "the log of `read_iolog` replaces it, and is replayed once";
    RandomGenerator:
        |job| replays(job) && random::visits_each_block_once(job); "the log of `read_iolog` determines the order of the I/Os";
    Bs Bsrange Bssplit BsUnaligned BsIsSeqRand:
        // With `verify`, they have a part in the length of an interval.
        |job| replays(job) && !verifies(job); "the log of `read_iolog` determines the block sizes";
    Zonemode Zonesize Zonerange Zoneskip:
        |job| replays(job) && chooses(job, Opt::Zonemode, ZoneMode::Strided);
        "the log of `read_iolog` determines the offsets";
    NumRange:
        |job| replays(job); "each trim of the log of `read_iolog` has one range";
    Fsync Fdatasync SyncFileRange:
        |job| replays(job); "a replay syncs where the log of `read_iolog` says so, and at its end if `end_fsync` is given";
}

fn replays(job: &Job) -> bool {
    job.options.is_given(Opt::ReadIolog)
}

/// Bad lines of one log that are reported one by one.
const MAX_REPORTED: u64 = 10;

/// How a log that cannot be replayed is reported.
const FUNC: &str = "failed initializing iolog";

/// The logs of a job, for its clones in turn; `None` for a job that replays nothing.
pub(crate) fn read(
    job: &Job,
    plan: &PlanOptions,
    findings: &mut Findings,
) -> Option<Vec<Result<Arc<Replay>, SetupError>>> {
    if !replays(job) {
        return None;
    }
    let rules = rules(job, plan);
    let mut logs = job.options.list(Opt::ReadIolog);
    // Clones take the logs of the list in turn. Those that no clone takes are not read: a list may have many.
    let clones = usize::try_from(job.options.value::<i64>(Opt::Numjobs)).unwrap_or(1).max(1);
    logs.truncate(clones);
    let used = logs.len();
    let kept = match (plan.describes_only, job.options.value(Opt::ReadIologChunked)) {
        (true, _) => LogRetention::Summary { most_steps: MAX_DESCRIBED / used.max(1) },
        (false, true) => LogRetention::Place,
        (false, false) => LogRetention::Steps,
    };
    if let Some(merging) = Merging::of(job) {
        return Some(vec![read_merged(job, merging, &rules, kept, plan, findings).map(Arc::new)]);
    }
    let read = |name: &String| {
        if plan.describes_only && source::is_pipe(name) {
            let message = format!(
                "{}: a pipe can be read only once, so a description of the job leaves it for the run",
                source_name(name.as_ref())
            );
            return Err(SetupError::new(libc::ESPIPE, FUNC, message));
        }
        read_log(job, name, open(name)?, &rules, kept, findings).map(Arc::new)
    };
    Some(logs.iter().map(read).collect())
}

/// The log that a job replays which merges traces.
fn read_merged(
    job: &Job,
    merging: Merging,
    rules: &ReplayRules,
    kept: LogRetention,
    plan: &PlanOptions,
    findings: &mut Findings,
) -> Result<Replay, SetupError> {
    let to = merging.to.clone();
    let source = if plan.describes_only {
        merging.stream()?
    } else {
        merging.write(job, findings)?;
        // The devices of merged traces need not be here.
        if plan.merges_only {
            return Ok(Replay::default());
        }
        merging::reopen(&to)?
    };
    read_log(job, &to.display().to_string(), source, rules, kept, findings)
}

/// The part of a log that a plan keeps beside its summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogRetention {
    Steps,
    /// Where it can be read again.
    Place,
    /// Nothing: a summary of the beginning will do.
    Summary {
        /// Steps to read of each log at most.
        most_steps: usize,
    },
}

/// Steps that are read of the logs of a job that is described.
const MAX_DESCRIBED: usize = 300_000;

impl LogRetention {
    /// The most steps to read of each log.
    fn most_steps(self) -> usize {
        match self {
            LogRetention::Steps | LogRetention::Place => usize::MAX,
            LogRetention::Summary { most_steps } => most_steps,
        }
    }
}

fn rules(job: &Job, plan: &PlanOptions) -> ReplayRules {
    let (options, readonly) = (&job.options, plan.readonly);
    let skipped = options.words(Opt::ReplaySkip).map_or(Vec::new(), |(words, _)| words);
    let skips = |word| skipped.contains(&word);
    ReplayRules {
        no_stall: options.value(Opt::ReplayNoStall),
        time_scale: options.value::<u64>(Opt::ReplayTimeScale).max(1),
        scale: options.value::<u64>(Opt::ReplayScale).max(1),
        align: options.value::<u64>(Opt::ReplayAlign).max(1),
        redirect: options.text(Opt::ReplayRedirect).map(Into::into),
        skips: PerDirection([skips("read"), skips("write") || readonly, skips("trim") || readonly]),
        skips_syncs: skips("sync"),
        readonly,
        flush_replaces_write: CompatRules::of(plan.compat).flush_replaces_write,
    }
}

/// Puts a log in place of what the options say.
pub(crate) fn apply(log: &Arc<Replay>, spec: &mut JobSpec) {
    let ios = &log.summary.ios;
    spec.rw = match ios.0.map(|ios| ios.count > 0) {
        // A log of waits reads nothing either.
        [_, false, false] => ReadWrite::Read,
        [true, true, false] => ReadWrite::Mixed,
        [false, true, false] => ReadWrite::Write,
        [false, false, true] => ReadWrite::Trim,
        [false, true, true] => ReadWrite::TrimWrite,
        [true, _, true] => ReadWrite::Every,
    };
    spec.rw_postfix = RwPostfix::None;
    for direction in Direction::ALL.into_iter().filter(|&direction| ios[direction].count > 0) {
        let (min, max) = (ios[direction].block(), ios[direction].longest);
        spec.block[direction] = BlockSizes { min, max, align: min };
    }
    spec.replay = Some(Arc::clone(log));
}

fn open(name: &str) -> Result<Source, SetupError> {
    source::open(name).map_err(|error| {
        let message = format!("{}: fopen read iolog: {}", source_name(name.as_ref()), reason(&error));
        SetupError::new(error.raw_os_error().unwrap_or(libc::EIO), FUNC, message)
    })
}

fn read_log(
    job: &Job,
    name: &str,
    source: Source,
    rules: &ReplayRules,
    kept: LogRetention,
    findings: &mut Findings,
) -> Result<Replay, SetupError> {
    let shown = &source_name(name.as_ref());
    let failed = |errno: Option<i32>, message: String| {
        SetupError::new(errno.unwrap_or(libc::EIO), FUNC, format!("{shown}: {message}"))
    };
    let log = LogToRead { job, shown, rules, most: kept.most_steps() };
    let (summary, steps) = match kept {
        LogRetention::Place => {
            let (file, bytes) = source.into_file().map_err(|error| {
                let message = format!("cannot copy the log to a temporary file: {}", reason(&error));
                failed(error.raw_os_error(), message)
            })?;
            let part = RetryInterrupted(FilePart::new(Arc::clone(&file), bytes.clone()));
            let (summary, devices) = log.read(part, &mut |_| {}, findings)?;
            (summary, ReplaySteps::Chunked(ChunkedLog { file, bytes, rules: rules.clone(), devices }))
        }
        LogRetention::Steps => {
            let mut steps = Vec::new();
            let (summary, _) = log.read(source.into_stream(), &mut |step| steps.push(step), findings)?;
            steps.shrink_to_fit();
            (summary, ReplaySteps::Loaded(steps))
        }
        LogRetention::Summary { .. } => {
            (log.read(source.into_stream(), &mut |_| {}, findings)?.0, ReplaySteps::Loaded(Vec::new()))
        }
    };
    Ok(Replay { name: shown.to_owned(), summary, steps })
}

/// A log, and how to read it.
struct LogToRead<'a> {
    job: &'a Job,
    shown: &'a str,
    rules: &'a ReplayRules,
    /// Steps to read at most.
    most: usize,
}

impl LogToRead<'_> {
    /// Reads the log, and hands each step to `keep`. Returns also the files of its devices, if it is a block trace.
    fn read(
        &self,
        source: impl Read,
        keep: &mut dyn FnMut(ReplayStep),
        findings: &mut Findings,
    ) -> Result<(ReplaySummary, HashMap<DeviceNumber, PathBuf>), SetupError> {
        let unusable =
            |message: &dyn Display| SetupError::new(libc::EINVAL, FUNC, format!("{}: {message}", self.shown));
        let mut log = StepReader::new(source, self.rules.clone(), DeviceNodes::Find(block_device_node))
            .map_err(|error| unusable(&error))?;
        let (mut bad_lines, entry) = (0, if log.is_trace() { "record" } else { "line" });
        let mut left = self.most;
        while left > 0 {
            match log.next_step() {
                Ok(None) => break,
                Ok(Some(step)) => {
                    keep(step);
                    left -= 1;
                }
                Err(StepError::LeftOut { line, message }) => {
                    left -= 1;
                    let message = format!("{message} ({}, {entry} {line})", self.shown);
                    findings.note(note(self.job, &[Opt::ReadIolog], "empty-trace-request", message));
                }
                Err(StepError::Skipped { line, message }) => {
                    bad_lines += 1;
                    left -= 1;
                    if bad_lines <= MAX_REPORTED {
                        findings.note(self.bad_line(format!("{message} ({}, {entry} {line})", self.shown)));
                    }
                }
                Err(error) => return Err(unusable(&error)),
            }
        }
        if bad_lines > MAX_REPORTED {
            let message = format!("{} more bad {entry}s in {}", bad_lines - MAX_REPORTED, self.shown);
            findings.note(self.bad_line(message));
        }
        let nothing = match log.is_trace() {
            true => "found no ios in blktrace data: no read, write or trim is left",
            false => "the iolog has nothing to replay: no read, write, trim or wait is left",
        };
        if log.is_trace() {
            self.notes_on_trace(&log, findings);
        }
        let devices = log.devices();
        let has_more = left == 0;
        let mut summary = match log.finish() {
            Some(summary) => summary,
            // What there is to replay may follow.
            None if has_more => ReplaySummary::default(),
            None => return Err(unusable(&nothing)),
        };
        summary.has_more = has_more;
        Ok((summary, devices))
    }

    /// Notes what limits the replay of a block trace.
    fn notes_on_trace<R: Read>(&self, trace: &StepReader<R>, findings: &mut Findings) {
        if trace.changes_left_out() > 0 {
            let name = job_name(self.job);
            let message =
                format!("{name} skips replay of {} writes due to read-only", trace.changes_left_out());
            findings.note(note(self.job, &[Opt::ReadIolog], "replay-skips-writes", message));
        }
        let of_one_cpu = trace_of_all_cpus(self.shown).map(|all| {
            format!("has the requests of one CPU only: `blkparse -i {all} -d FILE` makes a trace of those of all CPUs")
        });
        for message in trace.notes().into_iter().chain(of_one_cpu) {
            let message = format!("block trace {}: {message}", self.shown);
            findings.note(note(self.job, &[Opt::ReadIolog], "block-trace", message));
        }
    }

    fn bad_line(&self, message: String) -> Diagnostic {
        note(self.job, &[Opt::ReadIolog], "bad-iolog-line", message)
    }
}

/// The name that blkparse takes for all files of a trace, of the name of the file of one CPU: `sda` of `sda.blktrace.0`.
fn trace_of_all_cpus(name: &str) -> Option<&str> {
    let (name, cpu) = name.rsplit_once('.')?;
    let is_number = !cpu.is_empty() && cpu.bytes().all(|byte| byte.is_ascii_digit());
    name.strip_suffix(".blktrace").filter(|_| is_number)
}

#[cfg(test)]
mod tests;
