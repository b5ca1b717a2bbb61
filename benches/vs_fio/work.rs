//! What is compared: the list of rows, each a job and the system calls it comes down to.

/// Bytes of a file or device that jobs work on: more than any cache of the processor, and soon laid out.
pub(crate) const SIZE: u64 = 256 << 20;

/// Bytes of one I/O.
pub(crate) const BLOCK: usize = 4096;

/// What a job works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// No file at all.
    Nothing,
    /// A file in the page cache.
    CachedFile,
    /// A block device in memory, so that the device itself costs little.
    RamDevice,
}

/// The system calls behind a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// None: two clock readings for each I/O, the least with which its latency is known.
    Clock,
    /// pread(2).
    Pread,
    /// A copy out of mapped memory; `random` is the advice the kernel gets.
    MappedCopy { random: bool },
    /// io_uring with a registered file and registered buffers, `batch` requests per io_uring_enter(2).
    Uring { depth: usize, batch: usize },
    /// io_submit(2) and io_getevents(2) for each I/O.
    Aio { depth: usize },
}

/// What is the same for all rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// Times that each contender runs.
    pub rounds: usize,
    /// Seconds of I/O of each run.
    pub seconds: u64,
    /// `thread=0`.
    pub processes: bool,
}

/// One row.
#[derive(Debug)]
pub(crate) struct Work {
    pub name: &'static str,
    pub place: Place,
    pub calls: Calls,
    /// O_DIRECT.
    pub direct: bool,
    /// Options of the job beside the common ones, as on the command line but without dashes.
    pub own: &'static [&'static str],
}

impl Work {
    /// All options of the job without dashes. Nothing that both tools do not take in the same sense.
    pub(crate) fn options(&self, path: Option<&str>, course: Course) -> Vec<String> {
        let mut options = vec![format!("size={SIZE}"), format!("bs={BLOCK}")];
        options.extend(["time_based=1".into(), format!("runtime={}s", course.seconds)]);
        options.push(format!("thread={}", u8::from(!course.processes)));
        if let Some(path) = path {
            // The cache stays as it is found: filled for the file, unused for the device.
            options.extend([format!("filename={path}"), "invalidate=0".into()]);
            options.push(format!("direct={}", u8::from(self.direct)));
        }
        options.extend(self.own.iter().map(|&option| option.to_owned()));
        options
    }
}

const fn null(name: &'static str, own: &'static [&'static str]) -> Work {
    Work { name, place: Place::Nothing, calls: Calls::Clock, direct: false, own }
}

const fn cached(name: &'static str, calls: Calls, own: &'static [&'static str]) -> Work {
    Work { name, place: Place::CachedFile, calls, direct: false, own }
}

const fn device(name: &'static str, calls: Calls, own: &'static [&'static str]) -> Work {
    Work { name, place: Place::RamDevice, calls, direct: true, own }
}

/// All rows but those of start-up, in the order of the table.
pub(crate) static LIST: &[Work] = &[
    null("null-read", &["ioengine=null", "rw=read"]),
    null("null-randread", &["ioengine=null", "rw=randread"]),
    null("null-randread-qd32", &["ioengine=null", "rw=randread", "iodepth=32"]),
    cached("psync-randread-cached", Calls::Pread, &["ioengine=psync", "rw=randread"]),
    cached("psync-read-cached", Calls::Pread, &["ioengine=psync", "rw=read"]),
    device("psync-randread-direct", Calls::Pread, &["ioengine=psync", "rw=randread"]),
    cached("mmap-randread-cached", Calls::MappedCopy { random: true }, &["ioengine=mmap", "rw=randread"]),
    cached("mmap-read-cached", Calls::MappedCopy { random: false }, &["ioengine=mmap", "rw=read"]),
    cached(
        "uring-randread-cached-qd32-b1",
        Calls::Uring { depth: 32, batch: 1 },
        &["ioengine=io_uring", "rw=randread", "iodepth=32", "fixedbufs=1", "registerfiles=1"],
    ),
    cached(
        "uring-randread-cached-qd32-b16",
        Calls::Uring { depth: 32, batch: 16 },
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
        "libaio-randread-direct-qd32",
        Calls::Aio { depth: 32 },
        &["ioengine=libaio", "rw=randread", "iodepth=32"],
    ),
];
