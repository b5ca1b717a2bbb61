//! The jobs of the report: what each section of the job file amounts to.

use std::path::PathBuf;

use serde::Serialize;

use super::{CheckedDatabase, CheckedFile, CheckedOrigin, TimeSpan, Volume};

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
    /// The database that its instances are sessions of.
    pub database: Option<CheckedDatabase>,
    /// The job whose database it works for in the background.
    pub background_of: Option<String>,
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
    /// The log is longer than a check reads: the figures are those of its beginning.
    pub has_more: bool,
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
    /// Its path; of several files, that of the first.
    pub path: PathBuf,
    /// Number of files.
    pub files: u64,
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
