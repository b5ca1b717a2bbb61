//! The resolved job: plain data without `Option` where there is a default. Only this crate builds it.

mod choices;
mod clock;
mod contents;
mod engine;
mod files;
mod life_cycle;
mod logs;
mod memory;
mod memory_policy;
mod pace;
mod restraint;
mod tolerance;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub use choices::*;
pub use clock::*;
pub use contents::*;
pub use engine::*;
pub use ferrio_random::Generator;
pub use files::*;
pub use life_cycle::*;
pub use logs::*;
pub use memory::*;
pub use memory_policy::*;
pub use pace::*;
pub use restraint::*;
pub use tolerance::*;

/// Data direction of one I/O. The discriminants are fio's (0, 1, 2) and index [`PerDirection`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Direction {
    /// Data moves from the device into a buffer.
    Read = 0,
    /// Data moves from a buffer to the device.
    Write = 1,
    /// A range is discarded.
    Trim = 2,
}

impl Direction {
    /// All directions in fio's order.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

    /// Lower-case name as reports and error messages print it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Trim => "trim",
        }
    }
}

/// One value for each [`Direction`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerDirection<T>(pub [T; 3]);

impl<T> std::ops::Index<Direction> for PerDirection<T> {
    type Output = T;
    #[inline]
    fn index(&self, direction: Direction) -> &T {
        &self.0[direction as usize]
    }
}

impl<T> std::ops::IndexMut<Direction> for PerDirection<T> {
    #[inline]
    fn index_mut(&mut self, direction: Direction) -> &mut T {
        &mut self.0[direction as usize]
    }
}

/// The `rw=` kind of a job, without its postfix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadWrite {
    /// `read`
    Read,
    /// `write`
    Write,
    /// `trim`
    Trim,
    /// `randread`
    RandRead,
    /// `randwrite`
    RandWrite,
    /// `randtrim`
    RandTrim,
    /// `rw`, `readwrite`
    Mixed,
    /// `randrw`
    RandMixed,
    /// `trimwrite`
    TrimWrite,
    /// `randtrimwrite`
    RandTrimWrite,
}

impl ReadWrite {
    /// The word fio prints for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ReadWrite::Read => "read",
            ReadWrite::Write => "write",
            ReadWrite::Trim => "trim",
            ReadWrite::RandRead => "randread",
            ReadWrite::RandWrite => "randwrite",
            ReadWrite::RandTrim => "randtrim",
            ReadWrite::Mixed => "rw",
            ReadWrite::RandMixed => "randrw",
            ReadWrite::TrimWrite => "trimwrite",
            ReadWrite::RandTrimWrite => "randtrimwrite",
        }
    }

    /// True for the `rand...` kinds.
    #[must_use]
    pub const fn is_random(self) -> bool {
        matches!(
            self,
            ReadWrite::RandRead
                | ReadWrite::RandWrite
                | ReadWrite::RandTrim
                | ReadWrite::RandMixed
                | ReadWrite::RandTrimWrite
        )
    }

    /// True when the kind issues I/O of this direction.
    #[must_use]
    pub const fn does(self, direction: Direction) -> bool {
        match direction {
            Direction::Read => {
                matches!(
                    self,
                    ReadWrite::Read | ReadWrite::RandRead | ReadWrite::Mixed | ReadWrite::RandMixed
                )
            }
            Direction::Write => matches!(
                self,
                ReadWrite::Write
                    | ReadWrite::RandWrite
                    | ReadWrite::Mixed
                    | ReadWrite::RandMixed
                    | ReadWrite::TrimWrite
                    | ReadWrite::RandTrimWrite
            ),
            Direction::Trim => matches!(
                self,
                ReadWrite::Trim | ReadWrite::RandTrim | ReadWrite::TrimWrite | ReadWrite::RandTrimWrite
            ),
        }
    }

    /// True for `rw` and `randrw`.
    #[must_use]
    pub const fn is_mixed(self) -> bool {
        matches!(self, ReadWrite::Mixed | ReadWrite::RandMixed)
    }

    /// True for `trimwrite` and `randtrimwrite`.
    #[must_use]
    pub const fn is_trimwrite(self) -> bool {
        matches!(self, ReadWrite::TrimWrite | ReadWrite::RandTrimWrite)
    }
}

/// Block sizes of one direction, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// Smallest I/O.
    pub min: u64,
    /// Largest I/O; equal to `min` for a fixed size.
    pub max: u64,
    /// Alignment of random offsets (`ba`), `min` unless given.
    pub align: u64,
}

/// One size of a `bssplit` with its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShare {
    /// Bytes; may be no multiple of the smallest size, to which I/Os are rounded down.
    pub bytes: u64,
    /// Share in percent, at least 1. All shares of a direction may add up to more or less than 100: the last entry takes what the
    /// others leave.
    pub percent: u32,
}

/// Zones of `zonemode=strided`, in bytes, each at least 1 but `skip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zones {
    /// Bytes to do in a zone before the next one.
    pub size: u64,
    /// Length of a zone.
    pub range: u64,
    /// Gap between two zones.
    pub skip: u64,
}

/// What `rw=kind:N` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RwPostfix {
    /// No postfix.
    #[default]
    None,
    /// Sequential kinds: signed bytes added between two I/Os.
    Hole(i64),
    /// Random kinds: a new random offset every N I/Os, the others follow the [`Sequencer`].
    Every(u32),
}

/// `rw_sequencer`: what the I/Os between two random ones of `rw=rand...:N` do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sequencer {
    /// Continue where the last I/O of the direction ended.
    #[default]
    Sequential,
    /// Repeat the last offset.
    Identical,
}

/// How random streams are seeded (workload chapter, section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeding {
    /// `randrepeat=1` without `randseed`: seed 0x89, every stream starts again at each further pass.
    Repeatable,
    /// `randseed=N`: fixed seed, streams run on over passes.
    Fixed(u64),
    /// `randrepeat=0`: seeds from the operating system.
    FromSystem,
}

/// `sync=`: the open flag that makes writes synchronous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenSync {
    /// Neither flag.
    #[default]
    None,
    /// `O_SYNC`
    Sync,
    /// `O_DSYNC`
    Dsync,
}

/// `fadvise_hint=`: what the kernel is told about the access pattern of regular files and block devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fadvise {
    /// Nothing.
    None,
    /// Random or sequential, as the job's kind says.
    #[default]
    ByPattern,
    /// Random.
    Random,
    /// Sequential.
    Sequential,
    /// The data is used once.
    NoReuse,
}

/// `fallocate=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallocate {
    /// Reserve nothing.
    None,
    /// fallocate(2) mode 0, failures ignored.
    #[default]
    Native,
    /// posix_fallocate(3), failures reported.
    Posix,
    /// fallocate(2) with FALLOC_FL_KEEP_SIZE; a failure fails the job.
    Keep,
    /// ftruncate(2); a failure fails the job.
    Truncate,
}

/// `sync_file_range=flags:N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncFileRange {
    /// Linux SYNC_FILE_RANGE_* flags.
    pub flags: u32,
    /// One call after this many writes; 0 is never.
    pub every: u32,
}

/// When data is made durable while the job runs and when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durability {
    /// fsync after every N writes, 0 never.
    pub fsync: u32,
    /// fdatasync after every N writes, 0 never.
    pub fdatasync: u32,
    /// sync_file_range after every N writes.
    pub sync_file_range: SyncFileRange,
    /// fsync every file at the end of each pass.
    pub end_fsync: bool,
    /// fsync when a file is closed.
    pub fsync_on_close: bool,
    /// At the end of each pass syncfs every file system with files of the job, instead of the fsyncs there.
    pub end_syncfs: bool,
}

/// What kind of thing a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file, or a path that does not exist yet.
    Regular,
    /// A block device.
    Block,
    /// A character device.
    Char,
    /// Engine without files: only a size.
    Pretend,
}

/// One file of one job with its I/O region, all in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Path as given or generated, directory prefix included.
    pub path: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// Start of the I/O region.
    pub offset: u64,
    /// Length of the I/O region.
    pub size: u64,
    /// Size of the file or device once laid out: at least `offset + size` for files that are extended.
    pub real_size: u64,
    /// Size found on disk before the run, `None` for a path that does not exist.
    pub found: Option<u64>,
    /// True when layout must create or extend it.
    pub extend: bool,
}

/// Queue depth and batching, already normalised (options-notes section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// I/Os kept in flight, at least 1.
    pub iodepth: u32,
    /// Queue this many before one submission, 1..=iodepth.
    pub batch: u32,
    /// Wait for at least this many completions; 0 polls.
    pub complete_min: u32,
    /// Take at most this many completions, at least `complete_min`.
    pub complete_max: u32,
    /// After a full queue refill only when this many are left, 1..=iodepth.
    pub low: u32,
}

/// How much a job does and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the job's region over all files (fio's "size").
    pub size: u64,
    /// Bytes to transfer when `io_size` was given.
    pub io_size: Option<u64>,
    /// I/Os to do, 0 unlimited.
    pub number_ios: u64,
    /// Passes, at least 1.
    pub loops: u32,
    /// Cap on the run time, zero for none.
    pub runtime: Duration,
    /// Run for `runtime` even when all is done.
    pub time_based: bool,
    /// Time at the start that is not measured.
    pub ramp_time: Duration,
    /// Bytes at the start that are not measured, 0 for none; exclusive with `ramp_time`.
    pub ramp_size: u64,
    /// Delay of the start, counted from the end of set-up; for a range drawn in `low..=high`.
    pub startdelay: (Duration, Duration),
}

/// Which figures are measured and printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// `disable_lat` off (total latency measured).
    pub lat: bool,
    /// `disable_clat` off.
    pub clat: bool,
    /// `disable_slat` off.
    pub slat: bool,
    /// Print total-latency percentiles.
    pub lat_percentiles: bool,
    /// Print completion-latency percentiles.
    pub clat_percentiles: bool,
    /// Print submission-latency percentiles.
    pub slat_percentiles: bool,
    /// `gtod_reduce`: the clock is read only now and then.
    pub gtod_reduce: bool,
    /// Percentiles to print, ascending, in percent.
    pub percentiles: Vec<f64>,
    /// Digits after the point of printed percentiles.
    pub percentile_precision: u8,
    /// Sampling interval of the bw line, ms.
    pub bwavgtime_ms: u32,
    /// Sampling interval of the iops line, ms.
    pub iopsavgtime_ms: u32,
    /// Collect disk statistics.
    pub disk_util: bool,
    /// Sum the directions up in the report.
    pub unified: UnifiedReporting,
}

/// `unified_rw_reporting`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnifiedReporting {
    /// Each direction is reported alone.
    #[default]
    None,
    /// All directions are reported as one.
    Mixed,
    /// Each direction is reported, then all as one.
    Both,
}

/// How numbers are printed for this job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// 1024 or 1000.
    pub kb_base: u32,
    /// 0 automatic, 8 bytes, 1 bits.
    pub unit_base: u32,
    /// `significant_figures`, 1..=10.
    pub significant_figures: u8,
}

/// Options as the JSON report echoes them: canonical name and value text, in order of evaluation, repetitions kept.
pub type OptionEcho = Vec<(String, String)>;

/// `verify` and the options below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verify {
    /// How blocks are checked.
    pub method: ferrio_verify::Method,
    /// Bytes that carry one header.
    pub interval: u32,
    /// `verify_offset`, bytes; 0 when not given.
    pub offset: u32,
    /// `verify_pattern` with its interval.
    pub pattern: Option<ferrio_verify::Pattern>,
    /// `verify_fatal`.
    pub fatal: bool,
    /// `do_verify`: read everything back after writing.
    pub read_back: bool,
    /// `verify_header_seed` when given.
    pub header_seed: Option<bool>,
    /// `verify_write_sequence` when given.
    pub write_sequence: Option<bool>,
}

/// One resolved job (one clone).
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// Printed name.
    pub name: String,
    /// `description`, cut at 255 bytes.
    pub description: Option<String>,
    /// 1-based number over the whole run in creation order; seeds random streams and numbers log files.
    pub number: u32,
    /// Clone number as used in file names and `offset_increment`: 0, N-1, ..., 1 in creation order.
    pub clone: u32,
    /// Clones of the section this job came from (numjobs).
    pub clones: u32,
    /// Report group, from 0.
    pub group: u32,
    /// Starts only after all earlier jobs have ended.
    pub stonewall: bool,
    /// Whom it waits for, whom it ends, commands around it.
    pub life: LifeCycle,
    /// Errors that do not end it.
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
    /// False with `norandommap` and whatever implies it.
    pub random_map: bool,
    /// `softrandommap`: a job whose map does not fit the memory runs without.
    pub soft_random_map: bool,
    /// Generator of random numbers.
    pub generator: Generator,
    /// Random offsets are drawn with 64 bits whatever the generator: a file has more blocks than 32 bits can name.
    pub wide_offsets: bool,
    /// How the next block of a uniform choice is found.
    pub random_order: RandomOrder,
    /// `random_distribution`.
    pub distribution: Distribution,
    /// `percentage_random`: share of random offsets in a random job, 0..=100.
    pub percentage_random: PerDirection<u32>,
    /// `bs_is_seq_rand`: lengths of sequential I/Os are those of reads, of random ones those of writes.
    pub bs_is_seq_rand: bool,
    /// Seeding of random streams.
    pub seeding: Seeding,
    /// Buffer content.
    pub buffer: BufferContent,
    /// Memory of the buffers.
    pub memory: Memory,
    /// Engine.
    pub engine: EngineKind,
    /// Private options of the engine.
    pub engine_options: EngineOptions,
    /// Queue depth.
    pub depth: Depth,
    /// `io_submit_mode=offload`: one thread for each I/O in flight does it.
    pub offload: bool,
    /// `serialize_overlap` in force: I/Os that touch the same bytes of a file are not in flight together.
    pub serialize_overlap: bool,
    /// `direct=1`: O_DIRECT.
    pub direct: bool,
    /// O_SYNC, O_DSYNC.
    pub open_sync: OpenSync,
    /// Drop cached pages of the region before the job starts.
    pub invalidate: bool,
    /// Advice to the kernel after opening.
    pub fadvise: Fadvise,
    /// `file_append`: regular files are worked on from their end.
    pub file_append: bool,
    /// Files, in order.
    pub files: Vec<FileSpec>,
    /// Which of them the next I/O goes to.
    pub file_service: FileService,
    /// Most files open at once, at least 1.
    pub openfiles: u32,
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
    /// Latencies that end it.
    pub max_latency: MaxLatency,
    /// Jobs that it does I/O in proportion to.
    pub flow: Option<Flow>,
    /// Periodic and final syncs.
    pub durability: Durability,
    /// `fill_device`: a full device ends the job, and that is no error.
    pub fill_device: bool,
    /// Layout: `overwrite` in force (existing data is needed).
    pub overwrite: bool,
    /// Layout: `fallocate`.
    pub fallocate: Fallocate,
    /// Layout: fsync the new file.
    pub create_fsync: bool,
    /// Layout by the main thread, one job after the other, before the run.
    pub create_serialize: bool,
    /// No layout: files appear when the job opens them.
    pub create_on_open: bool,
    /// Only lay out, do no I/O.
    pub create_only: bool,
    /// `--readonly`: nothing is ever opened for writing.
    pub readonly: bool,
    /// Remove the files when the job ends.
    pub unlink: bool,
    /// CPUs the worker may run on; empty for all.
    pub cpus_allowed: Vec<u32>,
    /// NUMA policy of the worker's memory, if it was given.
    pub memory_policy: Option<MemoryPolicy>,
    /// nice value, -20..=19.
    pub nice: i32,
    /// What is measured.
    pub measure: Measure,
    /// Log files.
    pub logs: Logs,
    /// `write_iolog`: where the job's I/O is recorded.
    pub iolog: Option<RecordTo>,
    /// What ends the job once it is steady.
    pub steadystate: Option<SteadyState>,
    /// Units of printed numbers.
    pub units: Units,
    /// The job's own options for the JSON report.
    pub options: OptionEcho,
}

impl JobSpec {
    /// Largest I/O of any direction the buffers must hold, in bytes (trims count only for trimwrite kinds).
    #[must_use]
    pub fn max_buffer(&self) -> u64 {
        let b = &self.block;
        let trim = if self.rw.is_trimwrite() { b[Direction::Trim].max } else { 0 };
        b[Direction::Read].max.max(b[Direction::Write].max).max(trim)
    }

    /// Smallest block size over all directions.
    #[must_use]
    pub fn min_block(&self) -> u64 {
        self.block.0.iter().map(|b| b.min).min().unwrap_or(0)
    }

    /// True when the job may write to the same place twice in one pass. Zones come round again, and so do files that are never
    /// finished.
    #[must_use]
    pub fn may_overwrite(&self) -> bool {
        let repeats = match self.rw_postfix {
            RwPostfix::None => false,
            RwPostfix::Hole(_) => true,
            RwPostfix::Every(n) => n > 1,
        };
        let walks_on = self.rw.is_random() && self.percentage_random.0.iter().any(|&percent| percent < 100);
        !self.random_map
            || walks_on
            || repeats
            || self.zones.is_some()
            || self.file_service.never_finishes()
            || self.limits.io_size.is_some_and(|bytes| bytes > self.limits.size)
    }

    /// What the job's verifier has to know.
    #[must_use]
    pub fn verifier(&self, verify: &Verify) -> ferrio_verify::VerifySpec {
        ferrio_verify::VerifySpec {
            method: verify.method,
            interval: verify.interval,
            whole_blocks: false,
            offset: verify.offset,
            thread: self.number,
            header_seed: self.checks_header_seed(verify),
            write_sequence: self.checks_write_sequence(verify),
            fatal: verify.fatal,
            pattern: verify.pattern.clone(),
        }
    }

    /// True when the seed in the header of a block that is read back must be the one that was drawn for it.
    #[must_use]
    pub fn checks_header_seed(&self, verify: &Verify) -> bool {
        verify.header_seed.unwrap_or_else(|| self.rw.does(Direction::Write) && !self.may_overwrite())
    }

    /// True when the number in the header of a block that is read back must be that of its write.
    #[must_use]
    pub fn checks_write_sequence(&self, verify: &Verify) -> bool {
        let sizes = self.block.0.iter();
        let one_size = sizes.clone().map(|b| b.min).min() == sizes.map(|b| b.max).max();
        let ordered = self.random_map || self.is_sync() || self.depth.iodepth == 1;
        self.rw.does(Direction::Write)
            && one_size
            && !self.limits.time_based
            && verify.write_sequence.unwrap_or(ordered)
    }

    /// Most I/Os that can be under way at once, each with a buffer of its own.
    #[must_use]
    pub fn units(&self) -> u32 {
        if self.is_sync() { 1 } else { self.depth.iodepth }
    }

    /// True when each I/O completes in the submitting call.
    #[must_use]
    pub fn is_sync(&self) -> bool {
        !self.offload && self.engine.is_sync(self.depth.iodepth)
    }
}

/// A job that could not be set up (no size, bad offset...): it does no I/O, but it is reported and counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError {
    /// Errno for the report, 0 when fio leaves the error field empty.
    pub errno: i32,
    /// What failed, in fio's `func=` words (`total_file_size`).
    pub func: &'static str,
    /// One line for stderr: what is wrong and what to do.
    pub message: String,
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A job of the plan: resolved, or resolved as far as possible with the reason why it cannot run.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedJob {
    /// The job.
    pub spec: JobSpec,
    /// Why it cannot run.
    pub setup_error: Option<SetupError>,
}

/// Everything a run needs.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Jobs in creation order.
    pub jobs: Vec<PlannedJob>,
    /// The clock of all of them.
    pub clock: ClockSource,
    /// `[global]` options for the JSON report.
    pub globals: OptionEcho,
    /// Things the user should know, one line each, for stderr.
    pub notes: Vec<String>,
}
