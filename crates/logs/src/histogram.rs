//! The log of completion latency histograms: `time, direction, block size, count, count...`, one row per `log_hist_msec`.
//!
//! Counts are of fio's buckets. When the job ends, the I/Os since the last row make one more: the counts of a direction add up to its
//! I/Os. fio does not write it, and readers of its logs take each row for a whole interval; so it is left out for them.

use ferrio_job::JobSpec;
use ferrio_stats::saturating_total;
use ferrio_stats::{FIO_BUCKETS, fio_bucket, fio_bucket_value};
use itoa::Buffer;

use crate::sample::{IoSample, milliseconds};

use crate::file::LogFile;
use crate::row_reader::{MAX_TIME_MS, number};

/// Counts of one direction of a histogram log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The counts since the last row; empty until the first I/O.
    pub(crate) buckets: Vec<u64>,
    /// Time of the last row, or of the first I/O after the first ms; 0 before.
    last_ms: u64,
    /// Bytes of the last I/O since the last row, if there was one.
    pub(crate) rest_len: Option<u64>,
}

/// How the histograms of a job are made.
#[derive(Clone, Copy, Debug)]
pub struct HistogramForm {
    /// Time between two rows of a direction, ms; 0 writes none.
    pub every_ms: u64,
    /// Number of buckets that share a count, as a power of two.
    coarseness: u32,
    /// False leaves all counts at 0, as in fio with `clat_percentiles=0`.
    pub counts: bool,
}

impl HistogramForm {
    /// That of a job.
    #[must_use]
    pub fn of(spec: &JobSpec) -> Self {
        HistogramForm {
            every_ms: if spec.measure.clat { u64::from(spec.logs.hist_msec) } else { 0 },
            coarseness: spec.logs.hist_coarseness,
            counts: spec.measure.clat_percentiles,
        }
    }
}

impl Histogram {
    /// Counts an I/O. The first one at least an interval after the last row of its direction is the last one in the next row: true then, and
    /// `buckets` has the row, which [`Histogram::clear`] ends.
    #[inline]
    pub fn add(&mut self, sample: &IoSample, form: HistogramForm) -> bool {
        self.add_all(&[sample.clat_ns], form);
        self.rest_len = Some(sample.len);
        self.end(milliseconds(sample.time_ns), form)
    }

    /// Counts I/Os that are not the last ones in a row.
    #[inline]
    pub(crate) fn add_all(&mut self, clat_ns: &[u64], form: HistogramForm) {
        if self.buckets.is_empty() {
            self.buckets.resize(FIO_BUCKETS >> form.coarseness, 0);
        }
        for &ns in clat_ns {
            self.buckets[fio_bucket(ns) >> form.coarseness] += u64::from(form.counts);
        }
    }

    /// True if the last I/O is the last one in a row.
    pub(crate) fn end(&mut self, time_ms: u64, form: HistogramForm) -> bool {
        if self.last_ms == 0 {
            self.last_ms = time_ms;
        } else if time_ms.saturating_sub(self.last_ms) >= form.every_ms {
            self.last_ms = time_ms;
            return true;
        }
        false
    }

    /// Earliest completion, ms, that can end a row.
    pub(crate) fn earliest_end_ms(&self, form: HistogramForm) -> u64 {
        if self.last_ms == 0 { 0 } else { self.last_ms.saturating_add(form.every_ms) }
    }

    /// A row was made.
    pub fn clear(&mut self) {
        self.buckets.fill(0);
        self.rest_len = None;
    }
}

/// The file, and counts since its last rows.
#[derive(Debug)]
pub(crate) struct HistogramLog {
    pub(crate) file: LogFile,
    form: HistogramForm,
    /// The I/Os since the last row make a row when the job ends.
    writes_rest: bool,
    pub(crate) directions: [Histogram; 3],
    text: Vec<u8>,
}

impl HistogramLog {
    pub(crate) fn new(file: LogFile, spec: &JobSpec) -> Self {
        HistogramLog {
            file,
            form: HistogramForm::of(spec),
            writes_rest: spec.compat.histogram_log_has_last_row,
            directions: Default::default(),
            text: Vec::new(),
        }
    }

    /// Counts completed I/Os.
    pub(crate) fn ios(&mut self, samples: &[IoSample], epoch_ms: u64) {
        if self.form.every_ms == 0 || !self.file.is_written() {
            return;
        }
        self.text.clear();
        for sample in samples {
            let histogram = &mut self.directions[usize::from(sample.direction)];
            if histogram.add(sample, self.form) {
                let time_ms = (sample.time_ns / 1_000_000).saturating_add(epoch_ms);
                push_row(&mut self.text, time_ms, sample.direction, sample.len, &histogram.buckets);
                histogram.clear();
            }
        }
        self.file.append(&self.text);
    }

    /// Writes a row.
    pub(crate) fn row(&mut self, time_ms: u64, direction: u8, len: u64, counts: &[u64]) {
        self.text.clear();
        push_row(&mut self.text, time_ms, direction, len, counts);
        self.file.append(&self.text);
    }

    /// The job ended: the I/Os of each direction since its last row make a row, except for readers of fio's logs.
    pub(crate) fn end(&mut self, time_ms: u64, epoch_ms: u64) {
        self.text.clear();
        for (direction, histogram) in (0..).zip(&mut self.directions) {
            if let Some(len) = histogram.rest_len.filter(|_| self.form.counts && self.writes_rest) {
                push_row(
                    &mut self.text,
                    time_ms.saturating_add(epoch_ms),
                    direction,
                    len,
                    &histogram.buckets,
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

/// A row of a log of histograms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistogramRow {
    pub(crate) time_ms: u64,
    pub(crate) direction: usize,
    /// Latencies that stand for buckets, ns, and their counts, without empty buckets.
    pub(crate) bins: Vec<(u64, u64)>,
}

/// Most I/Os of a row: a machine with 100 million I/Os per second takes three hours for them. Rows with more are damaged, and sums of I/Os
/// could overflow.
const MAX_IOS_PER_ROW: u64 = 1 << 40;

impl HistogramRow {
    /// `None` if the line is no row of such a log.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|&byte| byte == b',');
        let mut next = || fields.next().and_then(number);
        let (time_ms, direction, _block_size) = (next()?, next()?, next()?);
        let counts: Vec<u64> = fields.map(number).collect::<Option<_>>()?;
        if saturating_total(counts.iter().copied()) > MAX_IOS_PER_ROW {
            return None;
        }
        let coarseness = (0..=6_u32).find(|coarseness| FIO_BUCKETS >> coarseness == counts.len())?;
        let value = |bucket: u64| fio_bucket_value((bucket << coarseness) + (1 << coarseness) / 2);
        let bins = (0..).zip(counts).filter(|&(_, count)| count > 0);
        let bins = bins.map(|(bucket, count)| (value(bucket), count)).collect();
        (direction <= 2 && time_ms <= MAX_TIME_MS).then_some(HistogramRow {
            time_ms,
            direction: direction as usize,
            bins,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_histograms_are_as_wide_as_the_row_is_short() {
        let line = |count: usize, set: usize| {
            let counts: Vec<&str> = (0..count).map(|at| if at == set { "7" } else { "0" }).collect();
            format!("503, 1, 4096, {}", counts.join(", "))
        };
        let bins = |count, set| HistogramRow::read(line(count, set).as_bytes()).map(|row| row.bins);
        // Bucket 300 of fio begins at 44 * 2^3 ns + 2^9 … see `fio_bucket_value`.
        assert_eq!(bins(FIO_BUCKETS, 300), Some(vec![(fio_bucket_value(300), 7)]));
        assert_eq!(bins(FIO_BUCKETS / 4, 75), Some(vec![(fio_bucket_value(302), 7)]));
        assert_eq!(bins(FIO_BUCKETS / 64, 28), Some(vec![(fio_bucket_value(28 * 64 + 32), 7)]));
        assert_eq!(bins(1000, 1), None);
        let row = HistogramRow::read(line(29, 0).as_bytes()).unwrap();
        assert_eq!((row.time_ms, row.direction), (503, 1));
        assert_eq!(HistogramRow::read(b"503, 3, 4096, 0"), None);
    }
}
