//! The logs of one job: its files, and how batches become rows.

use ferrio_job::{Diagnostic, JobSpec, LogKind, PlannedLog, WindowValue, log_files};
use ferrio_runner::logs::sums::{Histogram, Window, WindowSummary, latency_of};
use ferrio_runner::logs::{IoSample, RateSample};
use ferrio_stats::{JobStats, SampleStats};

use super::compressed::Packer;
use super::file::LogFile;
use super::histogram::HistogramLog;
use super::record::{Columns, LogRow, RecordLayout};
use super::rows::Rows;
use super::summed::SummedLogMember;

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
    /// Rows go into a log of several jobs instead.
    summed: Option<SummedLogMember>,
    /// Rates of single I/Os, by direction.
    rates: [SampleStats; 3],
}

impl JobLogs {
    /// Most files that one job can have.
    pub(super) const MAX_FILES: usize = LogKind::ALL.len();

    /// Creates the files of the job: `make` creates the file of a name, `packer` the compressor of a file that is stored compressed.
    pub(super) fn create(
        spec: &JobSpec,
        make: impl Fn(String) -> LogFile,
        packer: impl Fn(usize, u32) -> Packer,
        mut join: impl FnMut(&PlannedLog) -> Option<SummedLogMember>,
    ) -> Self {
        let columns = Columns::of(&spec.logs);
        let record_len = RecordLayout { columns, old: false }.len();
        let (mut logs, mut histogram) = (Vec::new(), None);
        for planned in log_files(spec) {
            let summed = join(&planned);
            let file = match summed.is_some() {
                true => LogFile::of_others(planned.path),
                false => make(planned.path),
            };
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
                    summed,
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
        self.logs.iter().filter_map(|log| log.summed.as_ref()).for_each(|log| log.begin(epoch_ms));
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
        let latencies_are_equal = || samples.iter().all(|sample| sample.lat_ns() == sample.clat_ns);
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

    /// A window that the job itself summed up.
    pub(super) fn window(
        &mut self,
        kind: LogKind,
        direction: u8,
        time_ms: u64,
        summary: WindowSummary,
        rows: &mut Rows,
    ) {
        if let Some(log) = self.logs.iter_mut().find(|log| log.kind == kind) {
            if let Some(log) = &log.summed {
                return log.window(direction, time_ms, summary);
            }
            rows.begin(self.columns, self.epoch_ms);
            rows.push(&window_row(summary, time_ms, direction, self.window_value));
            log.file.append(rows.text());
        }
    }

    /// A histogram that the job itself counted.
    pub(super) fn histogram(&mut self, direction: u8, time_ms: u64, len: u64, counts: &[u64]) {
        if let Some(log) = &mut self.histogram {
            log.row(time_ms.saturating_add(self.epoch_ms), direction, len, counts);
        }
    }

    /// What the job itself summed up since its last rows.
    pub(super) fn rest(
        &mut self,
        last_ms: u64,
        windows: &[(LogKind, [Window; 3])],
        histograms: Option<&[Histogram; 3]>,
    ) {
        self.last_ms = last_ms;
        for (kind, windows) in windows {
            if let Some(log) = self.logs.iter_mut().find(|log| log.kind == *kind) {
                log.windows = *windows;
            }
        }
        if let (Some(log), Some(histograms)) = (&mut self.histogram, histograms) {
            log.directions.clone_from(histograms);
        }
    }

    /// Bandwidth or I/Os per second in one interval.
    pub(super) fn interval(&mut self, kind: LogKind, sample: &RateSample, rows: &mut Rows) {
        if let Some(log) = self.logs.iter_mut().find(|log| log.kind == kind) {
            if let Some(log) = &log.summed {
                return log.rates(sample);
            }
            rows.begin(self.columns, self.epoch_ms);
            log.interval(sample, rows);
        }
    }

    /// The job ended: running windows end with it, and its files are closed. Averaged rates in a file of several jobs follow when the
    /// run ends, as in fio.
    pub(super) fn end(&mut self, time_ms: u64, rows: &mut Rows) {
        self.end_windows(time_ms, rows);
        self.logs.iter().filter_map(|log| log.summed.as_ref()).for_each(SummedLogMember::end);
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
                let Some(summary) = window.take() else { continue };
                match &log.summed {
                    Some(log) => log.window(direction, time_ms, summary),
                    None => rows.push(&window_row(summary, time_ms, direction, self.window_value)),
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
                rows.push(&window_row(summary, row.time_ms, row.direction, window_value));
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
        LogKind::Latency | LogKind::SubmissionLatency | LogKind::CompletionLatency => {
            let (time_ns, value) = latency_of(kind, sample)?;
            (time_ns, value, if kind == LogKind::Latency { 0 } else { issued_ns })
        }
        // kB/s, not KiB/s as in averaged rows.
        LogKind::Bandwidth => (sample.time_ns, sample.len * 1_000_000 / sample.clat_ns.max(1), 0),
        LogKind::Iops => (sample.time_ns, 1, 0),
        LogKind::Histogram => return None,
    };
    Some(LogRow {
        time_ms: milliseconds(time_ns),
        value,
        maximum: 0,
        direction: sample.direction,
        block_size: sample.len,
        priority: sample.priority,
        offset: sample.offset,
        issue_ns,
    })
}

fn milliseconds(ns: u64) -> u64 {
    ns / 1_000_000
}

/// The row of a window.
fn window_row(summary: WindowSummary, time_ms: u64, direction: u8, value: WindowValue) -> LogRow {
    let WindowSummary { average, maximum, .. } = summary;
    let value = if value == WindowValue::Maximum { maximum } else { average };
    LogRow { time_ms, value, maximum, direction, ..LogRow::default() }
}
