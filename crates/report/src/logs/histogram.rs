//! The log of completion latency histograms: `time, direction, block size, count, count...`, one row per `log_hist_msec`.
//!
//! Counts are of fio's buckets; what is left when the job ends is not written, as fio has it.

use ferrio_plan::Logs;
use ferrio_runner::logs::IoSample;
use ferrio_stats::latency::{FIO_BUCKETS, fio_bucket};
use itoa::Buffer;

use super::file::LogFile;

/// The file and what was counted since its last rows.
#[derive(Debug)]
pub(super) struct HistogramLog {
    pub(super) file: LogFile,
    /// Time between two rows of a direction, ms; 0 writes none.
    every_ms: u64,
    /// Buckets that share a count, as a power of two.
    coarseness: u32,
    directions: [Counts; 3],
    text: Vec<u8>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Empty until the first I/O.
    buckets: Vec<u64>,
    /// Time of the last row, or of the first I/O after the first ms; 0 before.
    last_ms: u64,
}

impl HistogramLog {
    pub(super) fn new(file: LogFile, logs: &Logs) -> Self {
        HistogramLog {
            file,
            every_ms: u64::from(logs.hist_msec),
            coarseness: logs.hist_coarseness,
            directions: Default::default(),
            text: Vec::new(),
        }
    }

    /// Counts completed I/Os. One that comes at least the interval after the last row of its direction is counted and ends the
    /// row.
    pub(super) fn ios(&mut self, samples: &[IoSample], epoch_ms: u64) {
        if self.every_ms == 0 || !self.file.is_written() {
            return;
        }
        self.text.clear();
        for sample in samples {
            let counts = &mut self.directions[usize::from(sample.direction)];
            counts.buckets.resize(FIO_BUCKETS >> self.coarseness, 0);
            counts.buckets[fio_bucket(sample.clat_ns) >> self.coarseness] += 1;
            let time_ms = sample.time_ns / 1_000_000;
            if counts.last_ms == 0 {
                counts.last_ms = time_ms;
            } else if time_ms.saturating_sub(counts.last_ms) >= self.every_ms {
                counts.last_ms = time_ms;
                let time_ms = time_ms.saturating_add(epoch_ms);
                let head = [time_ms, u64::from(sample.direction), u64::from(sample.len)];
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
