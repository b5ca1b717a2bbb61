//! The logs of one job: its files, and how batches become rows.

use ferrio_job::{Diagnostic, JobSpec, LogKind, PlannedLog, WindowValue, log_files};
use ferrio_stats::{JobStats, SampleStats};

use crate::sample::{IoSample, RateSample, milliseconds};

use crate::compressed::Packer;
use crate::file::LogFile;
use crate::histogram::{Histogram, HistogramLog};
use crate::latency::{self, Window, WindowSummary, window_row};
use crate::rate;
use crate::record::{Columns, RecordLayout};
use crate::rows::Rows;
use crate::summed::SummedLogMember;

/// The files of a job, and the rates of its single I/Os.
#[derive(Debug)]
pub(crate) struct JobLogs {
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
    pub(crate) const MAX_FILES: usize = LogKind::ALL.len();

    /// Creates the files of the job: `make` creates the file of a name, `packer` the compressor of a file that is stored compressed.
    pub(crate) fn create(
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
    pub(crate) fn set_epoch(&mut self, epoch_ms: u64) {
        self.epoch_ms = epoch_ms;
        self.logs.iter().filter_map(|log| log.summed.as_ref()).for_each(|log| log.begin(epoch_ms));
    }

    /// Completed I/Os, in order.
    pub(crate) fn ios(&mut self, samples: &[IoSample], rows: &mut Rows) {
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
            if log.kind.is_rate() && (!self.single_rates || log.is_disabled) {
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
    pub(crate) fn window(
        &mut self,
        kind: LogKind,
        direction: u8,
        time_ms: u64,
        summary: WindowSummary,
        rows: &mut Rows,
    ) {
        if let Some(log) = log_of(&mut self.logs, kind) {
            if let Some(log) = &log.summed {
                return log.window(direction, time_ms, summary);
            }
            rows.begin(self.columns, self.epoch_ms);
            rows.push(&window_row(summary, time_ms, direction, self.window_value));
            log.file.append(rows.text());
        }
    }

    /// A histogram that the job itself counted.
    pub(crate) fn histogram(&mut self, direction: u8, time_ms: u64, len: u64, counts: &[u64]) {
        if let Some(log) = &mut self.histogram {
            log.row(time_ms.saturating_add(self.epoch_ms), direction, len, counts);
        }
    }

    /// Sums that the job itself made since its last rows.
    pub(crate) fn rest(
        &mut self,
        last_ms: u64,
        windows: &[(LogKind, [Window; 3])],
        histograms: Option<&[Histogram; 3]>,
    ) {
        self.last_ms = last_ms;
        for (kind, windows) in windows {
            if let Some(log) = log_of(&mut self.logs, *kind) {
                log.windows = *windows;
            }
        }
        if let (Some(log), Some(histograms)) = (&mut self.histogram, histograms) {
            log.directions.clone_from(histograms);
        }
    }

    /// The rates of one interval.
    pub(crate) fn rates(&mut self, kind: LogKind, sample: &RateSample, rows: &mut Rows) {
        if let Some(log) = log_of(&mut self.logs, kind) {
            if let Some(log) = &log.summed {
                return log.rates(sample);
            }
            rows.begin(self.columns, self.epoch_ms);
            rate::interval_rows(sample).for_each(|row| rows.push(&row));
            log.file.append(rows.text());
        }
    }

    /// The job ended: running windows end with it, and its files are closed. Averaged rates in a file of several jobs follow when the
    /// run ends, as in fio.
    pub(crate) fn end(&mut self, time_ms: u64, rows: &mut Rows) {
        self.end_windows(time_ms, rows);
        self.logs.iter().filter_map(|log| log.summed.as_ref()).for_each(SummedLogMember::end);
        for log in self.logs.iter_mut().filter(|log| self.single_rates || !log.kind.is_rate()) {
            log.file.close();
        }
        self.histogram.iter_mut().for_each(|log| log.file.close());
    }

    /// Ends a job that never reported its end, and closes what is still open.
    pub(crate) fn end_with_the_run(&mut self, rows: &mut Rows) {
        self.end_windows(self.last_ms, rows);
        self.files().for_each(LogFile::close);
    }

    /// Makes the logged rates of single I/Os the samples of the job.
    pub(crate) fn replace_rates(&self, stats: &mut JobStats) {
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
    pub(crate) fn take_problems(&mut self) -> Vec<Diagnostic> {
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

fn log_of(logs: &mut [SampleLog], kind: LogKind) -> Option<&mut SampleLog> {
    logs.iter_mut().find(|log| log.kind == kind)
}

impl SampleLog {
    /// Adds one row per I/O or window to `rows`. Rates are counted even if the file was given up.
    fn add(&mut self, samples: &[IoSample], rows: &mut Rows, window_value: WindowValue) {
        if !self.kind.is_rate() && !self.file.is_written() {
            return;
        }
        let (kind, is_rate) = (self.kind, self.kind.is_rate());
        let row_of =
            |sample| if is_rate { rate::io_row(kind, sample) } else { latency::io_row(kind, sample) };
        for row in samples.iter().filter_map(row_of) {
            let direction = usize::from(row.direction);
            if self.kind.is_rate() {
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
}
