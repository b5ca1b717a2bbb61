//! The result of a check: the fields of the JSON output, from which the text is rendered too.
//!
//! `docs/check.md` documents it. Fields are only added; a change of meaning raises [`VERSION`].

use std::path::PathBuf;

use ferrio_job::Origin;
use ferrio_jobfile::{Sources, masked};
use ferrio_machine::{BlockDevice, DeviceUse, Resources};
use serde::Serialize;

/// Version of the JSON output.
pub const VERSION: u32 = 1;

/// Everything a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`VERSION`].
    pub version: u32,
    /// `ferrio` and its version.
    pub program: String,
    /// The verdict in one word.
    pub status: CheckStatus,
    /// Sums over all jobs.
    pub totals: CheckTotals,
    /// What ends the run from outside.
    pub trigger: Option<EndTrigger>,
    /// Phases, in order.
    pub phases: Vec<Phase>,
    /// Sections of the job files and jobs of the command line, in order.
    pub jobs: Vec<CheckedJob>,
    /// File systems and devices that the jobs use.
    pub places: Vec<CheckedPlace>,
    /// CPUs, memory and limits; `None` when there is no run.
    pub machine: Option<Resources>,
    /// What planning changed or noticed.
    pub notes: Vec<String>,
    /// What may go wrong or make figures misleading; warnings first.
    pub risks: Vec<Risk>,
    /// Why a run would refuse to start, or which jobs would fail at once.
    pub errors: Vec<CheckError>,
}

impl Report {
    /// True when a run would not start, or a job would fail at once.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty() || self.risks.iter().any(|risk| risk.severity == RiskSeverity::Error)
    }

    /// True when any risk is a warning.
    #[must_use]
    pub fn has_warnings(&self) -> bool {
        self.risks.iter().any(|risk| risk.severity == RiskSeverity::Warning)
    }
}

/// The verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    /// No errors and no warnings.
    #[default]
    Clean,
    /// There are warnings.
    Warnings,
    /// A run would not start, or one of its jobs would fail.
    Errors,
}

/// Sums over all jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckTotals {
    /// Sections.
    pub jobs: usize,
    /// Their clones.
    pub instances: usize,
    /// Bytes moved by all jobs.
    pub volume: Volume,
    /// Bytes that files grow by before the run.
    pub create_bytes: u64,
    /// From the first start to the last end, without the layout of files.
    pub time: TimeSpan,
}

/// The jobs from one stonewall to the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// From 1.
    pub number: usize,
    /// Why it waits for the previous phase; `None` for the first.
    pub waits_because: Option<Barrier>,
    /// Indices into `jobs`.
    pub jobs: Vec<usize>,
    /// From its start to the end of its last job.
    pub time: TimeSpan,
}

/// What separates phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Barrier {
    /// The option `stonewall` (or `wait_for_previous`).
    Stonewall,
    /// A further job file begins.
    NextFile,
}

/// One section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedJob {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub origin: Option<CheckedOrigin>,
    /// Report group.
    pub group: u32,
    /// Phase, from 1.
    pub phase: usize,
    /// The job whose instances must all have ended (`wait_for`).
    pub wait_for: Option<String>,
    /// Other jobs or the trigger end it before it can start.
    pub never_starts: bool,
    /// Which jobs it ends when it ends itself.
    pub ends_others: Option<EndsOthers>,
    /// Shell commands before and after it; a check executes none of them.
    pub commands: Vec<JobCommand>,
    /// Least and most seconds after the start of the run (`startdelay`).
    pub startdelay_seconds: [f64; 2],
    /// Clones.
    pub instances: u32,
    /// `thread` was given.
    pub thread: bool,
    /// Kind of work.
    pub rw: String,
    /// Reads in a mix, percent.
    pub rwmixread: Option<u32>,
    /// Smallest and largest block of each direction used.
    pub block_sizes: BlockRanges,
    /// Engine.
    pub engine: String,
    /// I/Os in flight per instance.
    pub iodepth: u32,
    /// Bypasses the page cache.
    pub direct: bool,
    /// Files, grouped by instance.
    pub files: Vec<CheckedFile>,
    /// Bytes all instances move.
    pub volume: Volume,
    /// Bytes its files grow by before the run.
    pub create_bytes: u64,
    /// Limit in bytes per second of all instances, all directions together.
    pub rate_bytes_per_second: Option<u64>,
    /// Pauses between I/Os (`thinktime`).
    pub pauses: Option<Pauses>,
    /// Zones (`zonemode=strided`).
    pub zones: Option<ZoneSizes>,
    /// Its files in zones (`zonemode=zbd`).
    pub zoned_files: Vec<ZonedFile>,
    /// The logs that its instances replay (`read_iolog`), each once.
    pub replays: Vec<CheckedReplay>,
    /// The pass that preconditions an SSD (`sprandom`), of one instance.
    pub preconditioning: Option<Preconditioning>,
    /// What may end it early (`steadystate`).
    pub steady_state: Option<SteadyEnd>,
    /// Log files of all instances.
    pub logs: Vec<CheckedLog>,
    /// How long one instance runs from its start.
    pub time: TimeSpan,
    /// Why it cannot run.
    pub setup_error: Option<String>,
}

/// A log that is replayed (`read_iolog`), as the options change it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckedReplay {
    /// Its path, or `standard input`.
    pub log: String,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// fsyncs and fdatasyncs.
    pub syncs: u64,
    /// Files.
    pub files: usize,
    /// From the first recorded time to the last; 0 if nothing waits.
    pub seconds: f64,
}

/// A pass that preconditions an SSD (`sprandom`).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Preconditioning {
    /// Capacity of the device, or the part of it that the job writes.
    pub logical_bytes: u64,
    /// The capacity with spare space.
    pub physical_bytes: u64,
    /// Bytes that are written a second time, by the model.
    pub repeated_bytes: u64,
    /// Bytes that the flash writes for each byte of long random writing, by the model.
    pub write_amplification: f64,
    /// Number of regions.
    pub regions: usize,
    /// Bytes written in each region.
    pub region_bytes: u64,
    /// Shares of a region that the next one writes again, of the first and the last region.
    pub invalid_shares: [f64; 2],
    /// Memory for the blocks to write again.
    pub memory_bytes: u64,
}

/// What ends a run from outside (`--trigger-file`, `--trigger-timeout`).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EndTrigger {
    /// The run ends when this file appears.
    pub file: Option<PathBuf>,
    /// The run ends this long after its start.
    pub timeout_seconds: Option<f64>,
    /// Shell command that a run then executes; a check does not.
    pub command: Option<String>,
}

/// Which jobs a job ends (`exitall`, `exitall_on_error`, `exit_what`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EndsOthers {
    /// When it ends them.
    pub when: EndsWhen,
    /// Which jobs.
    pub which: EndsWhich,
}

/// When the end of a job ends others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndsWhen {
    /// At every end.
    End,
    /// When it fails.
    Error,
}

/// Which jobs a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndsWhich {
    /// Those of its report group, even before they start.
    Group,
    /// All running jobs.
    Running,
    /// All, even before they start.
    All,
}

/// A shell command of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JobCommand {
    /// `exec_prerun` or `exec_postrun`.
    pub option: &'static str,
    /// The command as passed to the shell.
    pub command: String,
    /// File that receives its output.
    pub output: PathBuf,
}

/// Pauses between I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pauses {
    /// Length of a pause.
    pub seconds: f64,
    /// I/Os before each pause.
    pub after_ios: Option<u32>,
    /// Seconds of I/O before each pause.
    pub after_seconds: Option<f64>,
}

/// Zones of a file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ZoneSizes {
    /// Transferred in each zone.
    pub size: u64,
    /// Length of a zone.
    pub range: u64,
    /// Skipped after each zone.
    pub skip: u64,
}

/// A file whose zones are written from their start to their end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ZonedFile {
    /// Its path.
    pub path: PathBuf,
    /// What makes the zones.
    pub model: ZonedModel,
    /// Zones of the file.
    pub zones: u64,
    /// Length of a zone.
    pub zone_bytes: u64,
    /// Bytes of a zone that can be written; `null` for a device, each of whose zones has a capacity of its own.
    pub capacity_bytes: Option<u64>,
    /// Zones that all jobs together may have open for writing.
    pub max_open_zones: Option<u32>,
    /// Zones that this job may have open.
    pub job_max_open_zones: Option<u32>,
}

/// What makes zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZonedModel {
    /// The program.
    Emulated,
    /// A device that takes writes at other places too.
    HostAware,
    /// A device that takes no others.
    HostManaged,
}

/// The steady state that ends a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SteadyEnd {
    /// `iops`, `bw` or `lat`.
    pub figure: &'static str,
    /// Earliest end by it, from the start of the job.
    pub least_seconds: f64,
}

/// A log file of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedLog {
    /// Its name.
    pub path: PathBuf,
    /// Interval of rows, 0 when there are none; `None` for a row for each I/O.
    pub window_ms: Option<u32>,
    /// Several jobs append to it.
    pub shared: bool,
    /// Size of the existing file.
    pub existing_bytes: Option<u64>,
    /// Index into `places`.
    pub place: Option<usize>,
}

/// Smallest and largest block, `None` for a direction that is not used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlockRanges {
    /// Reads.
    pub read: Option<[u64; 2]>,
    /// Writes.
    pub write: Option<[u64; 2]>,
    /// Trims.
    pub trim: Option<[u64; 2]>,
}

/// One file or device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedFile {
    /// Path as the job uses it.
    pub path: PathBuf,
    /// What it is.
    pub kind: CheckedFileKind,
    /// What a run does to it.
    pub action: LayoutAction,
    /// Start of the region that is used.
    pub offset: u64,
    /// Length of that region.
    pub size: u64,
    /// Size of the existing file.
    pub existing_bytes: Option<u64>,
    /// Bytes that it takes on the device; less than its size if it is sparse.
    pub allocated_bytes: Option<u64>,
    /// Index into `places`.
    pub place: Option<usize>,
    /// Removed when the job ends.
    pub unlink: bool,
}

/// What kind of thing a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckedFileKind {
    /// A regular file, or a path that does not exist.
    Regular,
    /// A block device.
    Block,
    /// A character device.
    Char,
    /// Only a size: the engine touches no file.
    None,
}

/// What a run does to a file before its I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutAction {
    /// Used as it is.
    Use,
    /// Created by an earlier job.
    UseEarlier,
    /// Created and filled with data.
    CreateFilled,
    /// Created with space reserved, or sparse; the job writes it.
    CreateEmpty,
    /// Removed, created again and filled.
    ReplaceFilled,
    /// Removed and created again with space reserved, or sparse.
    ReplaceEmpty,
    /// Made longer; its data stays.
    Grow,
    /// Created when the job opens it.
    CreateOnOpen,
    /// Nothing creates it: opening it fails unless it appears before.
    Missing,
    /// Nothing: there is no file.
    None,
}

/// How many bytes are moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Volume {
    /// Read, without verification; `None` when only time ends the job.
    pub read: Option<u64>,
    /// Written.
    pub write: Option<u64>,
    /// Trimmed.
    pub trim: Option<u64>,
    /// Read back by verification.
    pub verify: Option<u64>,
    /// How exact the figures are.
    pub certainty: Certainty,
}

/// How exact a figure is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Exact.
    #[default]
    Exact,
    /// Approximate: a random mix, or blocks of random sizes.
    About,
    /// An upper bound: something may end the job early.
    AtMost,
    /// Unknown: only time ends the job.
    Unknown,
}

/// A length of time in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimeSpan {
    /// At least.
    pub least_seconds: f64,
    /// At most; `None` when only the work ends it.
    pub most_seconds: Option<f64>,
    /// Why there is no upper bound.
    pub unbounded_because: Option<String>,
}

/// A file system, or a device that is used directly, and what the jobs need there.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckedPlace {
    /// Mount point; `None` for a device.
    pub mount_point: Option<PathBuf>,
    /// Type of the file system.
    pub file_system: Option<String>,
    /// What is mounted there, or the path of the device.
    pub source: Option<String>,
    /// The device that it is on.
    pub device: Option<CheckedDevice>,
    /// Data there is in memory.
    #[serde(skip)]
    pub in_memory: bool,
    /// The mount or the device is read-only.
    pub read_only: bool,
    /// Bytes free for this user.
    pub free_bytes: Option<u64>,
    /// Bytes that the jobs' files will take in addition to what they take now.
    pub needed_bytes: u64,
}

/// A block device and what is on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckedDevice {
    /// The device itself.
    #[serde(flatten)]
    pub about: BlockDevice,
    /// What a write to it would destroy.
    pub holds: Vec<DeviceUse>,
}

/// How serious a risk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RiskSeverity {
    /// A job fails at once.
    Error,
    /// Data is lost, a job may fail, or figures are misleading.
    Warning,
    /// Worth knowing.
    Info,
}

/// One thing that may go wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Risk {
    /// Stable name.
    pub code: &'static str,
    /// Severity.
    pub severity: RiskSeverity,
    /// Names of the jobs, each once.
    pub jobs: Vec<String>,
    /// Where the options that cause it were given.
    pub origins: Vec<CheckedOrigin>,
    /// What may go wrong.
    pub message: String,
    /// What to do.
    pub advice: String,
}

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedOrigin {
    /// Job file, `None` for the command line.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// The line or the argument.
    pub text: String,
}

impl CheckedOrigin {
    /// The place of an origin, `None` for built-in values.
    pub(crate) fn of(origin: &Origin, sources: &Sources) -> Option<CheckedOrigin> {
        match origin {
            Origin::File { source, line, column, .. } => Some(CheckedOrigin {
                file: Some(sources.name(*source).to_owned()),
                line: Some(*line),
                column: Some(*column),
                text: masked(sources.line(*source, *line).trim()).into_owned(),
            }),
            Origin::Argument { text, .. } => {
                Some(CheckedOrigin { file: None, line: None, column: None, text: masked(text).into_owned() })
            }
            Origin::Builtin => None,
        }
    }
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckError {
    /// What is wrong.
    pub message: String,
    /// The job that would fail, if it is a single one.
    pub job: Option<String>,
    /// Where.
    pub origin: Option<CheckedOrigin>,
    /// What to do.
    pub help: Option<String>,
}
