//! One resolved job: plain data without `Option` where there is a default.

mod buffers;
mod durability;
mod files;
mod verify;

use std::sync::Arc;

use crate::*;

/// Options as the JSON report lists them: canonical names, each once, and value texts. Clones of a section share them.
pub type ReportedOptions = Arc<[(String, String)]>;

/// One resolved job (one clone).
///
/// Only the planner makes it, from options. `JobSpec::default()` is what it starts with, all zero and off, and no job that can run:
/// the defaults of options are in their rows of the catalogue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobSpec {
    /// Printed name.
    pub name: String,
    /// `description`, cut at 255 bytes.
    pub description: Option<String>,
    /// Whether the job behaves as with fio or as with ferrio, decision by decision.
    pub compat: CompatRules,
    /// 1-based number over the whole run in creation order; seeds random streams and numbers log files.
    pub number: u32,
    /// Number of this host among those of the run, from 0. Hosts draw different random numbers, as clones do.
    pub rank: u32,
    /// Clone number as used in file names and `offset_increment`: 0, N-1, ..., 1 in creation order.
    pub clone: u32,
    /// Clones of the section this job came from (numjobs).
    pub clones: u32,
    /// Report group, from 0.
    pub group: u32,
    /// Starts only after all earlier jobs have ended.
    pub stonewall: bool,
    /// The jobs it waits for and the jobs it ends, and the commands before and after it.
    pub life: LifeCycle,
    /// Errors that do not end the job.
    pub tolerance: Tolerance,
    /// Report the group as one entry.
    pub group_reporting: bool,
    /// `thread=1`: printed as a thread; workers are threads either way.
    pub thread: bool,
    /// Kind of workload.
    pub rw: ReadWrite,
    /// Postfix of `rw`.
    pub rw_postfix: RwPostfix,
    /// Sequencer of `rw=...:N`.
    pub sequencer: Sequencer,
    /// Reads among a mix, percent.
    pub rwmixread: u32,
    /// Block sizes.
    pub block: PerDirection<BlockSizes>,
    /// `bssplit`: sizes between the bounds of `block`, ascending by share; empty for a direction without.
    pub split: PerDirection<Vec<BlockShare>>,
    /// `bs_unaligned`: drawn sizes need not be multiples of the smallest.
    pub bs_unaligned: bool,
    /// Zones that are worked on one after the other.
    pub zones: Option<Zones>,
    /// `zonemode=zbd`.
    pub zbd: Option<Box<Zbd>>,
    /// False with `norandommap` and whatever implies it.
    pub random_map: bool,
    /// `softrandommap`: a job whose map does not fit into memory runs without one.
    pub soft_random_map: bool,
    /// Generator of random numbers.
    pub generator: Generator,
    /// Random offsets are drawn with 64 bits whatever the generator: a file has more blocks than 32 bits can number.
    pub wide_offsets: bool,
    /// How the next block of a uniform choice is found.
    pub random_order: RandomOrder,
    /// `random_distribution`.
    pub distribution: Distribution,
    /// `percentage_random`: share of random offsets in a random job, 0..=100.
    pub percentage_random: PerDirection<u32>,
    /// `bs_is_seq_rand`: lengths of sequential I/Os are those of reads, of random ones those of writes.
    pub bs_is_seq_rand: bool,
    /// The job does events of a load that it shares with others, in place of a workload of its own.
    pub events: Option<EventPart>,
    /// `sprandom`: the pass that preconditions an SSD, shared because it has a share for each region.
    pub sprandom: Option<Arc<Sprandom>>,
    /// Seeding of random streams.
    pub seeding: Seeding,
    /// Buffer content.
    pub buffer: BufferContent,
    /// Memory of the buffers.
    pub memory: Memory,
    /// `tuning`: whether the job uses optimisations that fio does not use by itself.
    pub tuning: Tuning,
    /// Engine.
    pub engine: EngineKind,
    /// Private options of the engine.
    pub engine_options: EngineOptions,
    /// The engine's object, for [`EngineKind::External`].
    pub external: ExternalEngine,
    /// Queue depth.
    pub depth: Depth,
    /// `io_submit_mode=offload`: each I/O in flight has a thread of its own.
    pub offload: bool,
    /// `serialize_overlap` in force: I/Os that touch the same bytes of a file are not in flight together.
    pub serialize_overlap: bool,
    /// How its files are opened.
    pub opening: OpenOptions,
    /// `file_append`: I/O on regular files begins at their end.
    pub file_append: bool,
    /// Files, in order.
    pub files: Vec<FileSpec>,
    /// Which of them the next I/O goes to.
    pub file_service: FileService,
    /// Verification of data.
    pub verify: Option<Verify>,
    /// Size, time, loops.
    pub limits: Limits,
    /// Rate limits.
    pub rates: Rates,
    /// Pauses between I/Os.
    pub think: Think,
    /// The latency that the depth is searched for.
    pub latency_target: LatencyTarget,
    /// Latencies that end the job.
    pub max_latency: MaxLatency,
    /// The flow group it belongs to.
    pub flow: Option<Flow>,
    /// Periodic and final syncs.
    pub durability: Durability,
    /// `fill_device`: a full device ends the job, and that is no error.
    pub fill_device: bool,
    /// How its files are laid out, and what becomes of them.
    pub layout: LayoutOptions,
    /// The worker's name, user, memory and control group.
    pub worker: WorkerProcess,
    /// CPUs the worker may run on; empty for all.
    pub cpus_allowed: Vec<u32>,
    /// NUMA policy of the worker's memory, if it was given.
    pub memory_policy: Option<MemoryPolicy>,
    /// nice value, -20..=19.
    pub nice: i32,
    /// I/O priorities.
    pub priorities: Priorities,
    /// Measured figures.
    pub measure: Measure,
    /// Log files.
    pub logs: Logs,
    /// `read_iolog`: the log that is replayed, shared because it may be long.
    pub replay: Option<Arc<Replay>>,
    /// `write_iolog`: where the job's I/O is recorded.
    pub iolog: Option<RecordTo>,
    /// The steady state that ends the job.
    pub steadystate: Option<SteadyState>,
    /// The peer, for a job with a network engine.
    pub network: Option<Box<Network>>,
    /// The server, for a job with the engine http.
    pub http: Option<Box<HttpOptions>>,
    /// Units of printed numbers.
    pub units: Units,
    /// The job's own options for the JSON report.
    pub options: ReportedOptions,
}

/// How the files of a job are laid out, and what becomes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutOptions {
    /// `overwrite` in force: existing data is needed.
    pub overwrite: bool,
    /// `fallocate`: how space is reserved.
    pub fallocate: Fallocate,
    /// fsync each new file.
    pub create_fsync: bool,
    /// By the main thread, one job after the other, before the run.
    pub create_serialize: bool,
    /// No layout: files appear when the job opens them.
    pub create_on_open: bool,
    /// `allow_layout_overwrite`: layout may replace files although the job only reads.
    pub allow_layout_overwrite: bool,
    /// The files were named or found, not made up from a format.
    pub files_are_named: bool,
    /// Layout marks the files that it made, so that a later run may replace them.
    pub marks_layout: bool,
    /// Missing files may be created, by layout or when they are opened.
    pub allow_file_create: bool,
    /// Only lay out, do no I/O.
    pub create_only: bool,
    /// Remove the files when the job ends.
    pub unlink: bool,
    /// Remove the files before each pass but the first.
    pub unlink_each_loop: bool,
}

/// How the files of a job are opened, and what happens to them then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// `direct=1`: O_DIRECT.
    pub direct: bool,
    /// O_SYNC, O_DSYNC.
    pub open_sync: OpenSync,
    /// Drop cached pages of the region before the job starts.
    pub invalidate: bool,
    /// Advice to the kernel after opening.
    pub fadvise: Fadvise,
    /// `write_hint`: the expected lifetime of the data, which the kernel passes on to the device.
    pub write_hint: Option<WriteHint>,
    /// `pre_read`: the files are read into the page cache before the clock starts.
    pub pre_read: bool,
    /// `--readonly`: nothing is ever opened for writing.
    pub readonly: bool,
    /// Most files open at once, at least 1.
    pub openfiles: u32,
    /// `lockfile`: what I/Os to the same file wait for.
    pub lockfile: Lockfile,
}

impl JobSpec {
    /// True if this job and the next one of the plan share an entry of the report: both have `group_reporting` and one group.
    #[must_use]
    pub fn shares_entry_with(&self, next: &JobSpec) -> bool {
        next.group_reporting && self.group_reporting && self.group == next.group
    }

    /// The model of a database that the job belongs to, and what it does for it.
    #[must_use]
    pub fn database(&self) -> Option<(&Database, DatabaseRole)> {
        self.events.as_ref()?.database()
    }

    /// Largest I/O of any direction the buffers must hold, in bytes (trims count only for trimwrite kinds). 0 for a job that only trims,
    /// which moves no data.
    #[must_use]
    pub fn max_buffer(&self) -> u64 {
        if !self.rw.does(Direction::Read) && !self.rw.does(Direction::Write) {
            return 0;
        }
        let b = &self.block;
        let trim = if self.rw.is_trimwrite() { b[Direction::Trim].max } else { 0 };
        b[Direction::Read].max.max(b[Direction::Write].max).max(trim)
    }

    /// Smallest block size over all directions.
    #[must_use]
    pub fn min_block(&self) -> u64 {
        self.block.0.iter().map(|b| b.min).min().unwrap_or(0)
    }

    /// Most I/Os in flight at once, each with a buffer of its own. A synchronous job goes on while threads check what it has read
    /// (`verify_async`).
    #[must_use]
    pub fn units(&self) -> u32 {
        if self.is_sync() { self.verify_threads().saturating_add(1) } else { self.depth.iodepth }
    }

    /// True when each I/O completes in the submitting call.
    #[must_use]
    pub fn is_sync(&self) -> bool {
        !self.offload && self.engine.is_sync(self.depth.iodepth)
    }
}
