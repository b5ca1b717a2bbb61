//! Windows and histograms of logged latencies, summed up where the I/Os complete: only their rows are sent to the writer.
//!
//! The writer sums up itself for jobs that have other logs too, and so need to send each I/O. Both use the same windows and histograms.

use ferrio_job::{JobSpec, LogKind, log_files};

use crate::batch::LogBatch;
use crate::histogram::{Histogram, HistogramForm};
use crate::latency::Window;
use crate::sample::{IoSample, milliseconds};

/// The last I/O of a batch, which may end rows.
#[derive(Clone, Copy, Debug)]
pub struct IoAtEnd {
    /// When it completed, ns since the job began to be measured.
    pub completed_ns: u64,
    /// When it was issued; `None` if the submitting call completed it, and it has no submission latency.
    pub issued_ns: Option<u64>,
    /// Bytes moved.
    pub len: u64,
}

/// When an I/O of one direction may end rows, and what the last one has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextRows {
    /// An I/O that completes earlier ends no row; ms since the job began to be measured.
    pub completed_ms: u64,
    /// One that was issued earlier ends no row of submission latencies.
    pub issued_ms: u64,
    /// A histogram has ended.
    pub ends_histogram: bool,
}

/// All sums of one job.
#[derive(Debug)]
pub struct LogSums {
    job: usize,
    /// Length of the windows, ms.
    window_ms: u64,
    windows: Vec<(LogKind, [Window; 3])>,
    histograms: Option<(HistogramForm, [Histogram; 3])>,
    /// Time of the last I/O.
    last_ns: u64,
}

impl LogSums {
    /// The sums of the job with this index; `None` for a job that also needs single I/Os.
    #[must_use]
    pub fn of(job: usize, spec: &JobSpec) -> Option<Self> {
        if !spec.logs.sums_suffice() {
            return None;
        }
        let form = HistogramForm::of(spec);
        let mut sums = LogSums {
            job,
            window_ms: spec.logs.avg_msec.into(),
            windows: Vec::new(),
            histograms: None,
            last_ns: 0,
        };
        for log in log_files(spec) {
            if log.kind.is_latency() {
                sums.windows.push((log.kind, Default::default()));
            } else if log.kind == LogKind::Histogram && form.every_ms > 0 {
                sums.histograms = Some((form, Default::default()));
            }
        }
        Some(sums)
    }

    /// Adds an I/O. The rows that it completes go to `send`.
    pub fn add(&mut self, sample: &IoSample, send: impl FnMut(LogBatch)) {
        let IoSample { time_ns, slat_ns, clat_ns, len, .. } = *sample;
        let direction = usize::from(sample.direction);
        self.add_batch(direction, slat_ns.as_slice(), &[clat_ns], &[sample.lat_ns()]);
        // An I/O completes its completion latency after it was issued.
        let issued_ns = slat_ns.map(|_| time_ns.saturating_sub(clat_ns));
        let next = self.end_rows(direction, IoAtEnd { completed_ns: time_ns, issued_ns, len }, send);
        self.end_with(direction, time_ns, if next.ends_histogram { 0 } else { len });
    }

    /// Adds I/Os that completed after the last row of their direction. Only the last one may end a row: then [`LogSums::end_rows`]
    /// follows. `slat_ns` is empty if the submitting calls completed them.
    pub fn add_batch(&mut self, direction: usize, slat_ns: &[u64], clat_ns: &[u64], lat_ns: &[u64]) {
        for (kind, windows) in &mut self.windows {
            windows[direction].add_all(match kind {
                LogKind::SubmissionLatency => slat_ns,
                LogKind::CompletionLatency => clat_ns,
                _ => lat_ns,
            });
        }
        if let Some((form, histograms)) = &mut self.histograms
            && !clat_ns.is_empty()
        {
            histograms[direction].add_all(clat_ns, *form);
        }
    }

    /// The rows that the last I/O of all batches of a direction completes go to `send`.
    pub fn end_rows(&mut self, direction: usize, end: IoAtEnd, mut send: impl FnMut(LogBatch)) -> NextRows {
        let (job, length) = (self.job, self.window_ms);
        let completed_ms = milliseconds(end.completed_ns);
        let mut next = NextRows { completed_ms: u64::MAX, issued_ms: u64::MAX, ends_histogram: false };
        for (kind, windows) in &mut self.windows {
            let window = &mut windows[direction];
            let (time_ms, next_ms) = match (*kind, end.issued_ns) {
                (LogKind::SubmissionLatency, None) => continue,
                (LogKind::SubmissionLatency, Some(ns)) => (milliseconds(ns), &mut next.issued_ms),
                _ => (completed_ms, &mut next.completed_ms),
            };
            if let Some(summary) = window.end(time_ms, length) {
                let direction = direction as u8;
                send(LogBatch::Window { job, kind: *kind, direction, time_ms, summary });
            }
            *next_ms = (*next_ms).min(window.earliest_end_ms(length));
        }
        if let Some((form, histograms)) = &mut self.histograms {
            let histogram = &mut histograms[direction];
            next.ends_histogram = histogram.end(completed_ms, *form);
            if next.ends_histogram {
                let (direction, counts) = (direction as u8, histogram.buckets.as_slice().into());
                send(LogBatch::Histogram { job, direction, time_ms: completed_ms, len: end.len, counts });
                histogram.clear();
            }
            next.completed_ms = next.completed_ms.min(histogram.earliest_end_ms(*form));
        }
        next
    }

    /// Notes the last I/O of a direction and its bytes, 0 if it has ended a histogram.
    pub fn end_with(&mut self, direction: usize, completed_ns: u64, len: u64) {
        self.last_ns = self.last_ns.max(completed_ns);
        if let Some((_, histograms)) = &mut self.histograms {
            histograms[direction].rest_len = (len > 0).then_some(len);
        }
    }

    /// The sums that have no row yet; the end of the job makes rows of them.
    #[must_use]
    pub fn rest(&mut self) -> LogBatch {
        LogBatch::Rest {
            job: self.job,
            last_ms: milliseconds(self.last_ns),
            windows: std::mem::take(&mut self.windows),
            histograms: self.histograms.take().map(|(_, histograms)| Box::new(histograms)),
        }
    }
}
