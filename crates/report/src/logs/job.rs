//! The logs of one job: its files, and how batches become rows.

use ferrio_job::{Diagnostic, JobSpec, LogKind, WindowValue, log_files};
use ferrio_runner::logs::{IoSample, RateSample};
use ferrio_stats::{JobStats, SampleStats};

use super::compressed::Packer;
use super::file::LogFile;
use super::histogram::HistogramLog;
use super::record::{Columns, LogRow, RecordLayout};
use super::rows::Rows;

/// The files of a job, and the rates of its single I/Os.
#[derive(Debug)]
pub(super) struct JobLogs {
    /// Name of the job.
    name: String,
    /// Rates are those of single I/Os.
    single_rates: bool,
    window_value: WindowValue,
    columns: Columns,
    /// Added to all times, ms.
    epoch_ms: u64,
    /// All but the histograms. Total and completion latencies come first, one after the other: see [`JobLogs::ios`].
    logs: Vec<SampleLog>,
    histogram: Option<HistogramLog>,
    /// Time of the last I/O, for windows of a job that never reported its end.
    last_ms: u64,
}

/// A log with one value per row.
#[derive(Debug)]
struct SampleLog {
    kind: LogKind,
    file: LogFile,
    /// Length of the windows; 0 logs every I/O.
    window_ms: u64,
    windows: [Window; 3],
    /// Single I/Os have no rows in it.
    is_disabled: bool,
    /// Rates of single I/Os, by direction.
    rates: [SampleStats; 3],
}

impl JobLogs {
    /// Most files that one job can have.
    pub(super) const MOST_FILES: usize = LogKind::ALL.len();

    /// Creates the files of the job: `make` creates the file of a name, `packer` the compressor of a file that is stored compressed.
    pub(super) fn create(
        spec: &JobSpec,
        make: impl Fn(String) -> LogFile,
        packer: impl Fn(usize, u32) -> Packer,
    ) -> Self {
        let columns = Columns::of(&spec.logs);
        let record_len = RecordLayout { columns, old: false }.len();
        let (mut logs, mut histogram) = (Vec::new(), None);
        for planned in log_files(spec) {
            let file = make(planned.path);
            let file = match planned.stored {
                Some(piece) => file.compressed_by(packer(record_len, piece)),
                None => file,
            };
            match planned.kind {
                LogKind::Histogram => histogram = Some(HistogramLog::new(file, spec)),
                kind => logs.push(SampleLog {
                    kind,
                    file,
                    window_ms: u64::from(planned.window_ms.unwrap_or(0)),
                    windows: Default::default(),
                    is_disabled: planned.window_ms == Some(0),
                    rates: Default::default(),
                }),
            }
        }
        logs.sort_by_key(|log| !matches!(log.kind, LogKind::Latency | LogKind::CompletionLatency));
        JobLogs {
            name: spec.name.clone(),
            single_rates: spec.logs.rates_are_single(),
            window_value: spec.logs.window_value,
            columns,
            epoch_ms: 0,
            logs,
            histogram,
            last_ms: 0,
        }
    }

    /// Sets where all times are counted from.
    pub(super) fn set_epoch(&mut self, epoch_ms: u64) {
        self.epoch_ms = epoch_ms;
    }

    /// Completed I/Os, in order.
    pub(super) fn ios(&mut self, samples: &[IoSample], rows: &mut Rows) {
        if let Some(last) = samples.last() {
            self.last_ms = milliseconds(last.time_ns);
        }
        if let Some(log) = &mut self.histogram {
            log.ios(samples, self.epoch_ms);
        }
        // The total latency of a synchronous I/O is its completion latency: the same text serves both files, unless only one of
        // them has issue times.
        let latencies_are_equal = || samples.iter().all(|sample| sample.lat_ns == sample.clat_ns);
        let mut serves_both = false;
        for log in &mut self.logs {
            if log.is_rate() && (!self.single_rates || log.is_disabled) {
                continue;
            }
            if !(log.kind == LogKind::CompletionLatency && serves_both) {
                rows.begin(self.columns, self.epoch_ms);
                log.add(samples, rows, self.window_value);
            }
            log.file.append(rows.text());
            serves_both = log.kind == LogKind::Latency
                && log.file.is_written()
                && log.window_ms == 0
                && !self.columns.issue_time
                && latencies_are_equal();
        }
    }

    /// Bandwidth or I/Os per second in one interval.
    pub(super) fn interval(&mut self, kind: LogKind, sample: &RateSample, rows: &mut Rows) {
        if let Some(log) = self.logs.iter_mut().find(|log| log.kind == kind) {
            rows.begin(self.columns, self.epoch_ms);
            log.interval(sample, rows);
        }
    }

    /// The job ended: running windows end with it, and its files are closed. Averaged rates in a file of several jobs follow when the
    /// run ends, as in fio.
    pub(super) fn end(&mut self, time_ms: u64, rows: &mut Rows) {
        self.end_windows(time_ms, rows);
        for log in self.logs.iter_mut().filter(|log| self.single_rates || !log.is_rate()) {
            log.file.close();
        }
        self.histogram.iter_mut().for_each(|log| log.file.close());
    }

    /// Ends a job that never reported its end, and closes what is still open.
    pub(super) fn end_with_the_run(&mut self, rows: &mut Rows) {
        self.end_windows(self.last_ms, rows);
        self.files().for_each(LogFile::close);
    }

    /// Makes the logged rates of single I/Os the samples of the job.
    pub(super) fn replace_rates(&self, stats: &mut JobStats) {
        for log in self.logs.iter().filter(|_| self.single_rates) {
            for (stats, rates) in stats.directions.iter_mut().zip(log.rates) {
                match log.kind {
                    LogKind::Bandwidth => stats.bw = rates,
                    LogKind::Iops => stats.iops = rates,
                    _ => {}
                }
            }
        }
    }

    /// Errors since the last call.
    pub(super) fn take_problems(&mut self) -> Vec<Diagnostic> {
        let problems: Vec<Diagnostic> = self.files().filter_map(LogFile::take_problem).collect();
        problems.into_iter().map(|problem| problem.job(&self.name)).collect()
    }

    fn files(&mut self) -> impl Iterator<Item = &mut LogFile> {
        let histogram = self.histogram.iter_mut().map(|log| &mut log.file);
        self.logs.iter_mut().map(|log| &mut log.file).chain(histogram)
    }

    fn end_windows(&mut self, time_ms: u64, rows: &mut Rows) {
        for log in &mut self.logs {
            rows.begin(self.columns, self.epoch_ms);
            for (direction, window) in (0..).zip(&mut log.windows) {
                if let Some(summary) = window.take() {
                    rows.push(&summary.row(time_ms, direction, self.window_value));
                }
            }
            log.file.append(rows.text());
        }
        if let Some(log) = &mut self.histogram {
            log.end(time_ms, self.epoch_ms);
        }
    }
}

impl SampleLog {
    fn is_rate(&self) -> bool {
        matches!(self.kind, LogKind::Bandwidth | LogKind::Iops)
    }

    /// Adds one row per I/O or window to `rows`. Rates are counted even if the file was given up.
    fn add(&mut self, samples: &[IoSample], rows: &mut Rows, window_value: WindowValue) {
        if !self.is_rate() && !self.file.is_written() {
            return;
        }
        for row in samples.iter().filter_map(|sample| row_of(self.kind, sample)) {
            let direction = usize::from(row.direction);
            if self.is_rate() {
                self.rates[direction].record(row.value);
            }
            if self.window_ms == 0 {
                rows.push(&row);
            } else if let Some(summary) = self.windows[direction].add(row.time_ms, row.value, self.window_ms)
            {
                rows.push(&summary.row(row.time_ms, row.direction, window_value));
            }
        }
    }

    /// Writes one row per direction with progress in the interval: its only sample is average and maximum.
    fn interval(&mut self, sample: &RateSample, rows: &mut Rows) {
        for (direction, &value) in (0..).zip(&sample.per_second) {
            if value > 0 {
                let time_ms = sample.time_ms;
                rows.push(&LogRow { time_ms, value, maximum: value, direction, ..LogRow::default() });
            }
        }
        self.file.append(rows.text());
    }
}

/// The row of one I/O in a log of this kind; `None` if the log has none for it. A rate is that of the I/O alone.
#[inline]
fn row_of(kind: LogKind, sample: &IoSample) -> Option<LogRow> {
    // An I/O completes its completion latency after it was issued.
    let issued_ns = sample.time_ns.saturating_sub(sample.clat_ns);
    let (time_ns, value, issue_ns) = match kind {
        LogKind::Latency => (sample.time_ns, sample.lat_ns, 0),
        LogKind::SubmissionLatency => (issued_ns, sample.slat_ns?, issued_ns),
        LogKind::CompletionLatency => (sample.time_ns, sample.clat_ns, issued_ns),
        // kB/s, not KiB/s as in averaged rows.
        LogKind::Bandwidth => (sample.time_ns, u64::from(sample.len) * 1_000_000 / sample.clat_ns.max(1), 0),
        LogKind::Iops => (sample.time_ns, 1, 0),
        LogKind::Histogram => return None,
    };
    Some(LogRow {
        time_ms: milliseconds(time_ns),
        value,
        maximum: 0,
        direction: sample.direction,
        block_size: u64::from(sample.len),
        priority: sample.priority,
        offset: sample.offset,
        issue_ns,
    })
}

fn milliseconds(ns: u64) -> u64 {
    ns / 1_000_000
}

/// The running window of one direction of one log.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// ms since the job began.
    start: u64,
    sum: u128,
    count: u64,
    maximum: u64,
}

/// The values of a window that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WindowSummary {
    /// Their mean, rounded half up.
    average: u64,
    /// Their largest.
    maximum: u64,
}

impl WindowSummary {
    /// The row of the window.
    fn row(self, time_ms: u64, direction: u8, value: WindowValue) -> LogRow {
        let WindowSummary { average, maximum } = self;
        let value = if value == WindowValue::Maximum { maximum } else { average };
        LogRow { time_ms, value, maximum, direction, ..LogRow::default() }
    }
}

impl Window {
    /// Adds a value. The first one at least `length` ms after the start of the window still belongs to it and ends it, which returns its
    /// summary. The next window starts at that time rounded down to a multiple of `length`.
    #[inline]
    fn add(&mut self, time_ms: u64, value: u64, length: u64) -> Option<WindowSummary> {
        self.sum += u128::from(value);
        self.count += 1;
        self.maximum = self.maximum.max(value);
        if time_ms.saturating_sub(self.start) < length {
            return None;
        }
        let summary = self.take();
        self.start = time_ms - time_ms % length;
        summary
    }

    /// Ends the window early. `None` if it has no values.
    fn take(&mut self) -> Option<WindowSummary> {
        let count = u128::from(self.count);
        let rounded = (self.sum + count / 2).checked_div(count)?;
        let maximum = self.maximum;
        (self.sum, self.count, self.maximum) = (0, 0, 0);
        // An average is no larger than the largest value.
        Some(WindowSummary { average: u64::try_from(rounded).unwrap_or(maximum), maximum })
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
        assert_eq!(window.add(260, 60, 250), Some(WindowSummary { average: 30, maximum: 60 }));
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
        assert_eq!(window.add(100, 10, 100), Some(WindowSummary { average: 50, maximum: 90 }));
        assert_eq!(window.add(110, 30, 100), None);
        assert_eq!(window.take(), Some(WindowSummary { average: 30, maximum: 30 }));
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
