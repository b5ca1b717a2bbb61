//! How long the I/Os of a job are, how many are in flight at once, how much the job does and for how long, and in which zones.

use std::time::Duration;

use crate::choice::choices;

/// Block sizes of one direction, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSizes {
    /// Smallest I/O.
    pub min: u64,
    /// Largest I/O; equal to `min` for a fixed size.
    pub max: u64,
    /// Alignment of random offsets (`ba`), `min` unless given.
    pub align: u64,
}

impl BlockSizes {
    /// Bits of the longest I/O: the two others of a word say in which direction it goes.
    pub const LENGTH_BITS: u32 = 62;
    /// Bytes of the longest I/O. What a request moves at most is for its engine to say, and for the device.
    pub const MAX: u64 = (1 << Self::LENGTH_BITS) - 1;
}

/// The largest number that divides two numbers. That of 0 and a number is the number.
#[must_use]
pub fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
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

/// Queue depth and batching, already made consistent with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// I/Os kept in flight, at least 1.
    pub iodepth: u32,
    /// Queue this many before one submission, 1..=iodepth.
    pub batch: u32,
    /// Wait for at least this many completions; 0 polls.
    pub complete_min: u32,
    /// Take at most this many completions, at least `complete_min`.
    pub complete_max: u32,
    /// Once full, the queue is refilled when only this many are left, 1..=iodepth.
    pub low: u32,
}

choices! {
    /// `io_submit_mode`: who submits the I/Os of a job.
    pub enum SubmitMode default Inline {
        Inline: "inline", "The job's own thread submits";
        Offload: "offload", "A pool of threads submits";
    }
}

/// How much a job does and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Run for `runtime` even after all I/O is done.
    pub time_based: bool,
    /// Time at the start that is not measured.
    pub ramp_time: Duration,
    /// Bytes at the start that are not measured, 0 for none; exclusive with `ramp_time`.
    pub ramp_size: u64,
    /// Delay of the start, counted from the end of set-up; for a range drawn in `low..=high`.
    pub startdelay: (Duration, Duration),
}

impl Limits {
    /// Size of a job that only a full device limits (`fill_device`), in bytes: more than any file system holds.
    pub const UNLIMITED: u64 = 1 << 62;

    /// True when only a full device limits the job.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        // Shares of several files are rounded down.
        self.size > Self::UNLIMITED / 2
    }
}

choices! {
    /// `zonemode`: what the zone options mean.
    pub enum ZoneMode default None {
        None: "none", "No zones";
        Strided: "strided", "Zones defined by zonesize and zoneskip";
        Zbd: "zbd", "Zones of a zoned block device, or emulated ones";
    }
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
