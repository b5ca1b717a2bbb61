//! Windows and histograms of logged latencies, summed up where the I/Os complete: only their rows are sent to the writer.
//!
//! The writer sums up itself for jobs that have other logs too, and so need to send each I/O. Both use the types of this file.

use ferrio_job::{JobSpec, LogKind, log_files};
use ferrio_stats::latency::{FIO_BUCKETS, fio_bucket};

use super::{IoSample, LogBatch};

/// The running window of one direction of one log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// ms since the job began.
    start: u64,
    sum: u128,
    count: u64,
    maximum: u64,
}

/// The values of a window that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSummary {
    /// Their mean, rounded half up.
    pub average: u64,
    /// Their largest.
    pub maximum: u64,
    /// How many there are.
    pub count: u64,
}

impl Window {
    /// Adds a value. The first one at least `length` ms after the start of the window still belongs to it and ends it, which returns its
    /// summary. The next window starts at that time rounded down to a multiple of `length`.
    #[inline]
    pub fn add(&mut self, time_ms: u64, value: u64, length: u64) -> Option<WindowSummary> {
        self.add_all(&[value]);
        self.end(time_ms, length)
    }

    /// Adds values that do not end the window.
    #[inline]
    fn add_all(&mut self, values: &[u64]) {
        self.sum += values.iter().map(|&value| u128::from(value)).sum::<u128>();
        self.count += values.len() as u64;
        self.maximum = values.iter().fold(self.maximum, |maximum, &value| maximum.max(value));
    }

    /// Ends the window if its last value is one that ends it.
    fn end(&mut self, time_ms: u64, length: u64) -> Option<WindowSummary> {
        if time_ms.saturating_sub(self.start) < length {
            return None;
        }
        let summary = self.take()?;
        self.start = time_ms - time_ms % length;
        Some(summary)
    }

    /// Ends the window early. `None` if it has no values.
    pub fn take(&mut self) -> Option<WindowSummary> {
        let count = u128::from(self.count);
        let rounded = (self.sum + count / 2).checked_div(count)?;
        let (maximum, values) = (self.maximum, self.count);
        (self.sum, self.count, self.maximum) = (0, 0, 0);
        // An average is no larger than the largest value.
        Some(WindowSummary { average: u64::try_from(rounded).unwrap_or(maximum), maximum, count: values })
    }
}

/// Counts of one direction of a histogram log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Empty until the first I/O.
    buckets: Vec<u64>,
    /// Time of the last row, or of the first I/O after the first ms; 0 before.
    last_ms: u64,
    /// Bytes of the last I/O since the last row, if there was one.
    rest_len: Option<u64>,
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
    /// [`Histogram::counts`] has the row, which [`Histogram::clear`] ends.
    #[inline]
    pub fn add(&mut self, sample: &IoSample, form: HistogramForm) -> bool {
        self.add_all(&[sample.clat_ns], form);
        self.rest_len = Some(sample.len);
        self.end(milliseconds(sample.time_ns), form)
    }

    /// Counts I/Os that are not the last ones in a row.
    #[inline]
    fn add_all(&mut self, clat_ns: &[u64], form: HistogramForm) {
        if self.buckets.is_empty() {
            self.buckets.resize(FIO_BUCKETS >> form.coarseness, 0);
        }
        for &ns in clat_ns {
            self.buckets[fio_bucket(ns) >> form.coarseness] += u64::from(form.counts);
        }
    }

    /// True if the last I/O is the last one in a row.
    fn end(&mut self, time_ms: u64, form: HistogramForm) -> bool {
        if self.last_ms == 0 {
            self.last_ms = time_ms;
        } else if time_ms.saturating_sub(self.last_ms) >= form.every_ms {
            self.last_ms = time_ms;
            return true;
        }
        false
    }

    /// Earliest completion, ms, that can end a row.
    fn next_ms(&self, form: HistogramForm) -> u64 {
        if self.last_ms == 0 { 0 } else { self.last_ms.saturating_add(form.every_ms) }
    }

    /// The row that the last I/O ends.
    fn row(&self, job: usize, direction: usize, time_ms: u64, len: u64) -> LogBatch {
        LogBatch::Histogram { job, direction: direction as u8, time_ms, len, counts: self.counts().into() }
    }

    /// The counts since the last row.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.buckets
    }

    /// Bytes of the last I/O since the last row, if there was one.
    #[must_use]
    pub fn rest_len(&self) -> Option<u64> {
        self.rest_len
    }

    /// A row was made.
    pub fn clear(&mut self) {
        self.buckets.fill(0);
        self.rest_len = None;
    }
}

/// Time and value of an I/O in a log of latencies, ns; `None` if it has none there.
#[inline]
#[must_use]
pub fn latency_of(kind: LogKind, sample: &IoSample) -> Option<(u64, u64)> {
    match kind {
        LogKind::Latency => Some((sample.time_ns, sample.lat_ns())),
        // An I/O completes its completion latency after it was issued.
        LogKind::SubmissionLatency => Some((sample.time_ns.saturating_sub(sample.clat_ns), sample.slat_ns?)),
        LogKind::CompletionLatency => Some((sample.time_ns, sample.clat_ns)),
        LogKind::Bandwidth | LogKind::Iops | LogKind::Histogram => None,
    }
}

#[inline]
const fn milliseconds(ns: u64) -> u64 {
    ns / 1_000_000
}

/// The last I/O of a batch, which may end rows.
#[derive(Clone, Copy, Debug)]
pub struct IoAtEnd {
    /// When it completed, ns since the job began to be measured.
    pub completed_ns: u64,
    /// When it was issued; `None` if the submitting call completed it, and it has no submission latency.
    pub issued_ns: Option<u64>,
    /// Its bytes.
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
            match log.kind {
                LogKind::Histogram if form.every_ms > 0 => sums.histograms = Some((form, Default::default())),
                LogKind::Latency | LogKind::SubmissionLatency | LogKind::CompletionLatency => {
                    sums.windows.push((log.kind, Default::default()));
                }
                LogKind::Histogram | LogKind::Bandwidth | LogKind::Iops => {}
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
            *next_ms = (*next_ms).min(window.start.saturating_add(length));
        }
        if let Some((form, histograms)) = &mut self.histograms {
            let histogram = &mut histograms[direction];
            next.ends_histogram = histogram.end(completed_ms, *form);
            if next.ends_histogram {
                send(histogram.row(job, direction, completed_ms, end.len));
                histogram.clear();
            }
            next.completed_ms = next.completed_ms.min(histogram.next_ms(*form));
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

    /// What has no row yet: the end of the job makes it one.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn average(summary: Option<WindowSummary>) -> Option<u64> {
        summary.map(|summary| summary.average)
    }

    #[test]
    fn the_io_that_ends_a_window_belongs_to_it() {
        let mut window = Window::default();
        assert_eq!(window.add(0, 10, 250), None);
        assert_eq!(window.add(249, 20, 250), None);
        assert_eq!(window.add(260, 60, 250), Some(WindowSummary { average: 30, maximum: 60, count: 3 }));
        assert_eq!(window.take(), None);
    }

    #[test]
    fn windows_start_at_multiples_of_their_length_however_late_one_ended() {
        let mut window = Window::default();
        assert_eq!(average(window.add(740, 1, 250)), Some(1));
        assert_eq!(window.add(749, 2, 250), None);
        assert_eq!(average(window.add(750, 4, 250)), Some(3));
        assert_eq!(window.add(999, 5, 250), None);
        assert_eq!(average(window.take()), Some(5));
    }

    #[test]
    fn a_maximum_is_that_of_its_own_window() {
        let mut window = Window::default();
        assert_eq!(window.add(0, 90, 100), None);
        assert_eq!(window.add(100, 10, 100), Some(WindowSummary { average: 50, maximum: 90, count: 2 }));
        assert_eq!(window.add(110, 30, 100), None);
        assert_eq!(window.take(), Some(WindowSummary { average: 30, maximum: 30, count: 1 }));
    }

    #[test]
    fn averages_are_rounded_half_up() {
        let of = |values: &[u64]| {
            let mut window = Window::default();
            values.iter().for_each(|&value| assert_eq!(window.add(0, value, 1000), None));
            average(window.take())
        };
        assert_eq!(of(&[1, 2]), Some(2));
        assert_eq!(of(&[1, 1, 2]), Some(1));
        assert_eq!(of(&[1, 2, 2]), Some(2));
        assert_eq!(of(&[u64::MAX, u64::MAX]), Some(u64::MAX));
        assert_eq!(of(&[]), None);
    }
}
