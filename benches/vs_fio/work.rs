//! What is compared: the list of rows, each a job and the bare calls it comes down to.

/// Bytes of a file or device that jobs work on: more than any cache of the processor, and soon laid out.
pub(crate) const SIZE: u64 = 256 << 20;

/// Bytes of one I/O.
pub(crate) const BLOCK: usize = 4096;

/// I/Os of one pass over a file or device. Runs are whole passes: a random map is searched longer the fuller it is.
pub(crate) const PASS: u64 = SIZE / BLOCK as u64;

/// What a job works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// No file at all.
    Nothing,
    /// A file in the page cache.
    CachedFile,
    /// A file on tmpfs, for jobs that write: nothing is written back, and no page can be reclaimed.
    MemoryFile,
    /// A directory on tmpfs, for jobs with many files.
    MemoryDirectory,
    /// A block device in memory, so that the device itself costs little.
    RamDevice,
}

/// The bare calls behind a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// None: two clock readings for each I/O, the least with which its latency is known.
    Clock,
    /// pread(2).
    Pread,
    /// pwrite(2), and fsync(2) after each if `synced`.
    Pwrite { synced: bool },
    /// A copy out of mapped memory; `random` is the advice the kernel gets.
    MappedCopy { random: bool },
    /// io_uring: `batch` requests per io_uring_enter(2), `depth` in flight; with a registered file and buffers if `registered`.
    Uring { depth: usize, batch: usize, registered: bool },
    /// Linux AIO: `batch` requests per io_submit(2), `depth` in flight.
    Aio { depth: usize, batch: usize },
}

/// What makes a job do several passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passes {
    /// `io_size`.
    IoSize,
    /// `size`: the file is larger. For jobs that verify, which fio ends after one pass whatever the other options say.
    Size,
}

/// What is the same for all rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Times that each contender runs.
    pub rounds: usize,
    /// Multiplies the I/Os of a run.
    pub scale: u64,
    /// `thread=0`.
    pub processes: bool,
    /// Instructions are counted as well.
    pub instructions: bool,
    /// The ferrio that is measured.
    pub ferrio: &'static str,
    /// It has the option `tuning`.
    pub has_tuning: bool,
}

/// One row.
#[derive(Debug)]
pub(crate) struct Work {
    pub name: &'static str,
    pub place: Place,
    pub calls: Calls,
    /// O_DIRECT.
    pub direct: bool,
    /// Passes that the long run has more than the short one: about a second of fio.
    pub passes: u64,
    pub repeats: Passes,
    /// The job's rate is half of what fio reaches without one.
    pub half_rate: bool,
    /// The row whose job writes what this one reads.
    pub written_by: Option<&'static str>,
    /// Options of the job beside the common ones, as on the command line but without dashes. `DIR` is a directory for logs.
    pub own: &'static [&'static str],
}

impl Work {
    pub(crate) fn find(name: &str) -> Option<&'static Work> {
        LIST.iter().find(|work| work.name == name)
    }

    /// All options of a job of so many passes, without dashes. Nothing that both tools do not take in the same sense.
    pub(crate) fn options(
        &self,
        path: Option<&str>,
        passes: u64,
        logs: &str,
        processes: bool,
    ) -> Vec<String> {
        let mut options = match self.repeats {
            Passes::IoSize => vec![format!("size={SIZE}"), format!("io_size={}", SIZE * passes)],
            Passes::Size => vec![format!("size={}", SIZE * passes)],
        };
        options.push(format!("bs={BLOCK}"));
        options.push(format!("thread={}", u8::from(!processes)));
        // For the verify states that fio saves without being asked.
        options.push(format!("aux-path={logs}"));
        if let Some(path) = path {
            let key = if self.place == Place::MemoryDirectory { "directory" } else { "filename" };
            // The cache stays as it is found: filled for the file, unused for the device.
            options.extend([format!("{key}={path}"), "invalidate=0".into()]);
            options.push(format!("direct={}", u8::from(self.direct)));
        }
        options.extend(self.own.iter().map(|&option| option.replace("DIR", logs)));
        options
    }

    const fn passes(self, passes: u64) -> Work {
        Work { passes, ..self }
    }

    const fn by_size(self) -> Work {
        Work { repeats: Passes::Size, ..self }
    }

    const fn at_half_rate(self) -> Work {
        Work { half_rate: true, ..self }
    }

    const fn written_by(self, row: &'static str) -> Work {
        Work { written_by: Some(row), ..self }
    }
}

const fn work(name: &'static str, place: Place, calls: Calls, own: &'static [&'static str]) -> Work {
    Work {
        name,
        place,
        calls,
        direct: false,
        passes: 16,
        repeats: Passes::IoSize,
        half_rate: false,
        written_by: None,
        own,
    }
}

const fn null(name: &'static str, own: &'static [&'static str]) -> Work {
    work(name, Place::Nothing, Calls::Clock, own).passes(64)
}

const fn cached(name: &'static str, calls: Calls, own: &'static [&'static str]) -> Work {
    work(name, Place::CachedFile, calls, own)
}

const fn memory(name: &'static str, calls: Calls, own: &'static [&'static str]) -> Work {
    work(name, Place::MemoryFile, calls, own)
}

const fn device(name: &'static str, calls: Calls, own: &'static [&'static str]) -> Work {
    Work { direct: true, ..work(name, Place::RamDevice, calls, own).passes(8) }
}

const fn uring(depth: usize, batch: usize, registered: bool) -> Calls {
    Calls::Uring { depth, batch, registered }
}

const WRITE: Calls = Calls::Pwrite { synced: false };

/// All rows but those of start-up, in the order of the table: engines, then options that real jobs use.
pub(crate) static LIST: &[Work] = &[
    null("null-read", &["ioengine=null", "rw=read"]),
    null("null-randread", &["ioengine=null", "rw=randread"]),
    null("null-randread-qd32", &["ioengine=null", "rw=randread", "iodepth=32"]).passes(32),
    cached("psync-randread-cached", Calls::Pread, &["ioengine=psync", "rw=randread"]),
    cached("psync-read-cached", Calls::Pread, &["ioengine=psync", "rw=read"]),
    device("psync-randread-direct", Calls::Pread, &["ioengine=psync", "rw=randread"]),
    cached("mmap-randread-cached", Calls::MappedCopy { random: true }, &["ioengine=mmap", "rw=randread"]),
    cached("mmap-read-cached", Calls::MappedCopy { random: false }, &["ioengine=mmap", "rw=read"]),
    cached("uring-randread-cached-qd1", uring(1, 1, false), &["ioengine=io_uring", "rw=randread"]),
    cached(
        "uring-randread-cached-qd32-b1",
        uring(32, 1, false),
        &["ioengine=io_uring", "rw=randread", "iodepth=32"],
    ),
    cached(
        "uring-randread-cached-qd32-b16",
        uring(32, 16, false),
        &[
            "ioengine=io_uring",
            "rw=randread",
            "iodepth=32",
            "iodepth_batch_submit=16",
            "iodepth_batch_complete_min=16",
            "iodepth_batch_complete_max=16",
        ],
    ),
    cached(
        "uring-randread-cached-qd32-b16-registered",
        uring(32, 16, true),
        &[
            "ioengine=io_uring",
            "rw=randread",
            "iodepth=32",
            "fixedbufs=1",
            "registerfiles=1",
            "iodepth_batch_submit=16",
            "iodepth_batch_complete_min=16",
            "iodepth_batch_complete_max=16",
        ],
    ),
    device(
        "libaio-randread-direct-qd32-b1",
        Calls::Aio { depth: 32, batch: 1 },
        &["ioengine=libaio", "rw=randread", "iodepth=32"],
    ),
    device(
        "libaio-randread-direct-qd32-b16",
        Calls::Aio { depth: 32, batch: 16 },
        &[
            "ioengine=libaio",
            "rw=randread",
            "iodepth=32",
            "iodepth_batch_submit=16",
            "iodepth_batch_complete_min=16",
            "iodepth_batch_complete_max=16",
        ],
    ),
    null("job-randrw-70-30", &["ioengine=null", "rw=randrw", "rwmixread=70"]),
    null("job-bssplit", &["ioengine=null", "rw=randread", "bssplit=4k/40:8k/30:16k/20:64k/10"]),
    memory("job-rate-iops", Calls::Pread, &["ioengine=psync", "rw=randread"]).at_half_rate(),
    work(
        "job-64-files",
        Place::MemoryDirectory,
        Calls::Pread,
        &["ioengine=psync", "rw=randread", "nrfiles=64"],
    ),
    null(
        "job-write-lat-log",
        &["ioengine=null", "rw=randread", "write_lat_log=DIR/latencies", "disable_slat=1", "disable_clat=1"],
    )
    .passes(16),
    null(
        "job-write-lat-log-averaged",
        &["ioengine=null", "rw=randread", "write_lat_log=DIR/latencies", "log_avg_msec=100"],
    ),
    null(
        "job-write-hist-log",
        &["ioengine=null", "rw=randread", "write_hist_log=DIR/histograms", "log_hist_msec=100"],
    ),
    null("job-json-plus", &["ioengine=null", "rw=randread", "output-format=json+"]),
    memory(
        "job-verify-crc32c-write",
        WRITE,
        &["ioengine=psync", "rw=randwrite", "verify=crc32c", "do_verify=0"],
    )
    .by_size()
    .passes(4),
    memory("job-verify-crc32c-read", Calls::Pread, &["ioengine=psync", "rw=randread", "verify=crc32c"])
        .by_size()
        .passes(4)
        .written_by("job-verify-crc32c-write"),
    memory("job-refill-buffers", WRITE, &["ioengine=psync", "rw=randwrite", "refill_buffers=1"]).passes(8),
    memory("job-dedupe", WRITE, &["ioengine=psync", "rw=randwrite", "dedupe_percentage=30"]).passes(4),
    memory(
        "job-compress",
        WRITE,
        &["ioengine=psync", "rw=randwrite", "refill_buffers=1", "buffer_compress_percentage=50"],
    )
    .passes(8),
    memory("job-fsync-1", Calls::Pwrite { synced: true }, &["ioengine=psync", "rw=randwrite", "fsync=1"]),
    null(
        "job-latency-target",
        &[
            "ioengine=null",
            "rw=randread",
            "iodepth=32",
            "latency_target=10ms",
            "latency_window=100ms",
            "latency_percentile=99",
            "latency_run=1",
        ],
    )
    .passes(32),
];
