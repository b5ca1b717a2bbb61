//! The log of completion latency histograms: `time, direction, block size, count, count...`, one row per `log_hist_msec`.
//!
//! Counts are of fio's buckets. When the job ends, the I/Os since the last row make one more: the counts of a direction add up to its
//! I/Os. fio does not write it, and readers of its logs take each row for a whole interval; so it is left out for them.

use ferrio_job::JobSpec;
use ferrio_runner::logs::IoSample;
use ferrio_runner::logs::sums::{Histogram, HistogramForm};
use itoa::Buffer;

use super::file::LogFile;

/// The file, and counts since its last rows.
#[derive(Debug)]
pub(super) struct HistogramLog {
    pub(super) file: LogFile,
    form: HistogramForm,
    /// The I/Os since the last row make a row when the job ends.
    writes_rest: bool,
    pub(super) directions: [Histogram; 3],
    text: Vec<u8>,
}

impl HistogramLog {
    pub(super) fn new(file: LogFile, spec: &JobSpec) -> Self {
        HistogramLog {
            file,
            form: HistogramForm::of(spec),
            writes_rest: spec.compat.histogram_log_has_last_row,
            directions: Default::default(),
            text: Vec::new(),
        }
    }

    /// Counts completed I/Os.
    pub(super) fn ios(&mut self, samples: &[IoSample], epoch_ms: u64) {
        if self.form.every_ms == 0 || !self.file.is_written() {
            return;
        }
        self.text.clear();
        for sample in samples {
            let histogram = &mut self.directions[usize::from(sample.direction)];
            if histogram.add(sample, self.form) {
                let time_ms = (sample.time_ns / 1_000_000).saturating_add(epoch_ms);
                push_row(&mut self.text, time_ms, sample.direction, sample.len, histogram.counts());
                histogram.clear();
            }
        }
        self.file.append(&self.text);
    }

    /// Writes a row.
    pub(super) fn row(&mut self, time_ms: u64, direction: u8, len: u64, counts: &[u64]) {
        self.text.clear();
        push_row(&mut self.text, time_ms, direction, len, counts);
        self.file.append(&self.text);
    }

    /// The job ended: the I/Os of each direction since its last row make a row, except for readers of fio's logs.
    pub(super) fn end(&mut self, time_ms: u64, epoch_ms: u64) {
        self.text.clear();
        for (direction, histogram) in (0..).zip(&mut self.directions) {
            if let Some(len) = histogram.rest_len().filter(|_| self.form.counts && self.writes_rest) {
                push_row(
                    &mut self.text,
                    time_ms.saturating_add(epoch_ms),
                    direction,
                    len,
                    histogram.counts(),
                );
            }
            histogram.clear();
        }
        self.file.append(&self.text);
    }
}

fn push_row(text: &mut Vec<u8>, time_ms: u64, direction: u8, len: u64, counts: &[u64]) {
    let head = [time_ms, u64::from(direction), len];
    for (at, number) in head.iter().chain(counts).enumerate() {
        if at > 0 {
            text.extend_from_slice(b", ");
        }
        text.extend_from_slice(Buffer::new().format(*number).as_bytes());
    }
    text.push(b'\n');
}
