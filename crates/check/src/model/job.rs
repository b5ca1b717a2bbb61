//! The jobs of the report: one entry per section of the job file.

use std::path::PathBuf;

use serde::Serialize;

use super::{CheckedDatabase, CheckedFile, CheckedOrigin, TimeSpan, Volume};

/// One section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedJob {
    /// The name.
    pub name: String,
    /// The place of the section.
    pub origin: Option<CheckedOrigin>,
    /// Report group.
    pub group: u32,
    /// Phase, from 1.
    pub phase: usize,
    /// The job whose instances must all have ended (`wait_for`).
    pub wait_for: Option<String>,
    /// Whether other jobs or the trigger end it before it can start.
    pub never_starts: bool,
    /// The jobs that it ends when it ends itself.
    pub ends_others: Option<EndsOthers>,
    /// Shell commands before and after it; a check executes none of them.
    pub commands: Vec<JobCommand>,
    /// Least and most seconds after the start of the run (`startdelay`).
    pub startdelay_seconds: [f64; 2],
    /// Number of clones.
    pub instances: u32,
    /// Whether `thread` was given.
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
    /// Whether it bypasses the page cache.
    pub direct: bool,
    /// Files, grouped by instance.
    pub files: Vec<CheckedFile>,
    /// Bytes that all instances move.
    pub volume: Volume,
    /// Bytes by which its files grow before the run.
    pub create_bytes: u64,
    /// Limit in bytes per second of all instances, all directions together.
    pub rate_bytes_per_second: Option<u64>,
    /// Pauses between I/Os (`thinktime`).
    pub pauses: Option<Pauses>,
    /// Zones (`zonemode=strided`).
    pub zones: Option<ZoneSizes>,
    /// Zoned files (`zonemode=zbd`).
    pub zoned_files: Vec<CheckedZonedFile>,
    /// The logs that its instances replay (`read_iolog`), each once.
    pub replays: Vec<CheckedReplay>,
    /// The database of which its instances are sessions.
    pub database: Option<CheckedDatabase>,
    /// The job whose database it serves in the background.
    pub background_of: Option<String>,
    /// The pass that preconditions an SSD (`sprandom`), for one instance.
    pub preconditioning: Option<PreconditioningPass>,
    /// The condition that may end it early (`steadystate`).
    pub steady_state: Option<SteadyEnd>,
    /// Log files of all instances.
    pub logs: Vec<CheckedLog>,
    /// Running time of one instance from its start.
    pub time: TimeSpan,
    /// The reason why it cannot run.
    pub setup_error: Option<String>,
}

/// A replayed log (`read_iolog`), as modified by the options.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckedReplay {
    /// The path, or `standard input`.
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
    /// Time from the first recorded time to the last; 0 if nothing waits.
    pub seconds: f64,
    /// Whether the log is longer than a check reads: the figures are those of its beginning.
    pub has_more: bool,
}

/// A pass that preconditions an SSD (`sprandom`).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PreconditioningPass {
    /// Capacity of the device, or of the part that the job writes.
    pub logical_bytes: u64,
    /// The capacity with spare space.
    pub physical_bytes: u64,
    /// Bytes that are written a second time, by the model.
    pub repeated_bytes: u64,
    /// Bytes that the flash writes per byte of long random writing, by the model.
    pub write_amplification: f64,
    /// Number of regions.
    pub regions: usize,
    /// Bytes written in each region.
    pub region_bytes: u64,
    /// Shares of the first and the last region that the next region writes again.
    pub invalid_shares: [f64; 2],
    /// Memory for the blocks to write again.
    pub memory_bytes: u64,
}

/// A trigger that ends a run from outside (`--trigger-file`, `--trigger-timeout`).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EndTrigger {
    /// The run ends when this file appears.
    pub file: Option<PathBuf>,
    /// The run ends this long after its start.
    pub timeout_seconds: Option<f64>,
    /// Shell command that a run then executes; a check does not.
    pub command: Option<String>,
}

/// The jobs that a job ends (`exitall`, `exitall_on_error`, `exit_what`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EndsOthers {
    /// The time at which it ends them.
    pub when: EndsWhen,
    /// The jobs that it ends.
    pub which: EndsWhich,
}

/// The kind of end of a job at which it ends others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndsWhen {
    /// Every end.
    End,
    /// A failure.
    Error,
}

/// The jobs that a job ends.
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
    /// The file that receives the output.
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
pub struct CheckedZonedFile {
    /// The path; of several files, that of the first.
    pub path: PathBuf,
    /// Number of files.
    pub files: u64,
    /// The origin of the zones.
    pub model: ZonedModel,
    /// Zones of the file.
    pub zones: u64,
    /// Length of a zone.
    pub zone_bytes: u64,
    /// Writable bytes of a zone; `null` for a device, whose zones have individual capacities.
    pub capacity_bytes: Option<u64>,
    /// Most zones that all jobs together may have open for writing.
    pub max_open_zones: Option<u32>,
    /// Most zones that this job may have open.
    pub job_max_open_zones: Option<u32>,
}

/// The origin of zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZonedModel {
    /// The program.
    Emulated,
    /// A device that also accepts writes at other places.
    HostAware,
    /// A device that accepts only sequential writes.
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
    /// The path.
    pub path: PathBuf,
    /// Interval of rows, 0 if there are none; `None` for a row per I/O.
    pub window_ms: Option<u32>,
    /// Whether several jobs append to it.
    pub shared: bool,
    /// Size of the existing file.
    pub existing_bytes: Option<u64>,
    /// Index into `places`.
    pub place: Option<usize>,
}

/// Smallest and largest block; `None` for an unused direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlockRanges {
    /// Reads.
    pub read: Option<[u64; 2]>,
    /// Writes.
    pub write: Option<[u64; 2]>,
    /// Trims.
    pub trim: Option<[u64; 2]>,
}
