//! The log of completion latency histograms: `time, direction, block size, count, count...`, one row per `log_hist_msec`.
//!
//! Counts are of fio's buckets. When the job ends, the I/Os since the last row make one more, which fio does not write: the counts of a
//! direction add up to its I/Os.

use ferrio_job::JobSpec;
use ferrio_runner::logs::IoSample;
use ferrio_stats::latency::{FIO_BUCKETS, fio_bucket};
use itoa::Buffer;

use super::file::LogFile;

/// The file, and counts since its last rows.
#[derive(Debug)]
pub(super) struct HistogramLog {
    pub(super) file: LogFile,
    /// Time between two rows of a direction, ms; 0 writes none.
    every_ms: u64,
    /// Number of buckets that share a count, as a power of two.
    coarseness: u32,
    /// False leaves all counts at 0, as in fio with `clat_percentiles=0`.
    counts: bool,
    directions: [Counts; 3],
    text: Vec<u8>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Empty until the first I/O.
    buckets: Vec<u64>,
    /// Time of the last row, or of the first I/O after the first ms; 0 before.
    last_ms: u64,
    /// Bytes of the last I/O since the last row, if there was one.
    rest_len: Option<u32>,
}

impl HistogramLog {
    pub(super) fn new(file: LogFile, spec: &JobSpec) -> Self {
        HistogramLog {
            file,
            every_ms: if spec.measure.clat { u64::from(spec.logs.hist_msec) } else { 0 },
            coarseness: spec.logs.hist_coarseness,
            counts: spec.measure.clat_percentiles,
            directions: Default::default(),
            text: Vec::new(),
        }
    }

    /// Counts completed I/Os. The first one at least an interval after the last row of its direction is the last one in the next row.
    pub(super) fn ios(&mut self, samples: &[IoSample], epoch_ms: u64) {
        if self.every_ms == 0 || !self.file.is_written() {
            return;
        }
        self.text.clear();
        for sample in samples {
            let counts = &mut self.directions[usize::from(sample.direction)];
            counts.buckets.resize(FIO_BUCKETS >> self.coarseness, 0);
            counts.buckets[fio_bucket(sample.clat_ns) >> self.coarseness] += u64::from(self.counts);
            counts.rest_len = Some(sample.len);
            let time_ms = sample.time_ns / 1_000_000;
            if counts.last_ms == 0 {
                counts.last_ms = time_ms;
            } else if time_ms.saturating_sub(counts.last_ms) >= self.every_ms {
                counts.last_ms = time_ms;
                let time_ms = time_ms.saturating_add(epoch_ms);
                let head = [time_ms, u64::from(sample.direction), u64::from(sample.len)];
                push_row(&mut self.text, head.into_iter().chain(counts.buckets.iter().copied()));
                counts.buckets.fill(0);
                counts.rest_len = None;
            }
        }
        self.file.append(&self.text);
    }

    /// The job ended: the I/Os of each direction since its last row make a row.
    pub(super) fn end(&mut self, time_ms: u64, epoch_ms: u64) {
        self.text.clear();
        for (direction, counts) in (0..).zip(&mut self.directions) {
            if let Some(len) = counts.rest_len.take().filter(|_| self.counts) {
                let head = [time_ms.saturating_add(epoch_ms), direction, u64::from(len)];
                push_row(&mut self.text, head.into_iter().chain(counts.buckets.iter().copied()));
                counts.buckets.fill(0);
            }
        }
        self.file.append(&self.text);
    }
}

fn push_row(text: &mut Vec<u8>, numbers: impl Iterator<Item = u64>) {
    for (at, number) in numbers.enumerate() {
        if at > 0 {
            text.extend_from_slice(b", ");
        }
        text.extend_from_slice(Buffer::new().format(number).as_bytes());
    }
    text.push(b'\n');
}
