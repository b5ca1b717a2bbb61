//! The logs of one job: which files there are, and how batches become rows.

use ferrio_job::{Diagnostic, JobSpec, LogKind, WindowValue, log_files};
use ferrio_runner::logs::{IoSample, RateSample};
use ferrio_stats::{JobStats, SampleStats};

use super::file::LogFile;
use super::histogram::HistogramLog;
use super::packer::Packer;
use super::rows::{Columns, LogRow, Rows};
use super::window::{Window, WindowSummary};

/// Files of one job, and the rates of its single I/Os.
#[derive(Debug)]
pub(super) struct JobLogs {
    /// Of the job.
    name: String,
    /// Windows of latencies; 0 logs every I/O.
    window_ms: u64,
    /// Rates are made from single I/Os.
    single_rates: bool,
    /// The bandwidth log of single I/Os stays empty.
    bw_disabled: bool,
    window_value: WindowValue,
    columns: Columns,
    /// Added to all times, ms.
    epoch_ms: u64,
    lat: Option<LatencyLog>,
    slat: Option<LatencyLog>,
    clat: Option<LatencyLog>,
    bw: Option<RateLog>,
    iops: Option<RateLog>,
    histogram: Option<HistogramLog>,
    /// Time of the last I/O, for windows of a job that never reported its end.
    last_ms: u64,
}

#[derive(Debug)]
struct LatencyLog {
    file: LogFile,
    windows: [Window; 3],
}

#[derive(Debug)]
struct RateLog {
    file: LogFile,
    /// Length of the windows of single rates; 0 logs every I/O.
    window_ms: u64,
    windows: [Window; 3],
    /// Rates of single I/Os.
    rates: [SampleStats; 3],
}

impl JobLogs {
    /// Most files that one job can have.
    pub(super) const MOST_FILES: usize = LogKind::ALL.len();

    /// Creates the files of the job with `make`, which is given their names; `packer` makes compressors for those that are stored
    /// compressed. What is not measured has no log.
    pub(super) fn create(
        spec: &JobSpec,
        mut make: impl FnMut(String) -> LogFile,
        packer: impl Fn(usize, u32) -> Packer,
    ) -> Self {
        let logs = &spec.logs;
        let mut planned = log_files(spec);
        let mut file = |kind| {
            let at = planned.iter().position(|log| log.kind == kind)?;
            let log = planned.swap_remove(at);
            let file = make(log.path);
            Some(match log.stored {
                Some(piece) => file.compressed_by(packer(Columns::of(logs).record_len(), piece)),
                None => file,
            })
        };
        let windows = [Window::default(); 3];
        let latency = |file| LatencyLog { file, windows };
        let rate = |file, window_ms| {
            let rates = [SampleStats::default(); 3];
            RateLog { file, window_ms: u64::from(window_ms), windows, rates }
        };
        JobLogs {
            name: spec.name.clone(),
            window_ms: u64::from(logs.avg_msec),
            single_rates: logs.rates_are_single(),
            bw_disabled: logs.bw_disabled,
            window_value: logs.window_value,
            columns: Columns::of(logs),
            epoch_ms: 0,
            lat: file(LogKind::Latency).map(latency),
            slat: file(LogKind::SubmissionLatency).map(latency),
            clat: file(LogKind::CompletionLatency).map(latency),
            bw: file(LogKind::Bandwidth).map(|file| rate(file, logs.bw_avg_msec)),
            iops: file(LogKind::Iops).map(|file| rate(file, logs.iops_avg_msec)),
            histogram: file(LogKind::Histogram).map(|file| HistogramLog::new(file, spec)),
            last_ms: 0,
        }
    }

    /// All times are counted from there.
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
        match self.window_ms {
            0 => self.latencies(samples, rows),
            _ => self.averaged_latencies(samples, rows),
        }
        if !self.single_rates {
            return;
        }
        let value = self.window_value;
        if let Some(log) = self.bw.as_mut().filter(|_| !self.bw_disabled) {
            rows.begin(self.columns, self.epoch_ms);
            log.single(samples, rows, kilobytes_per_second, value);
        }
        if let Some(log) = &mut self.iops {
            rows.begin(self.columns, self.epoch_ms);
            log.single(samples, rows, |_| 1, value);
        }
    }

    /// Bandwidth in one interval.
    pub(super) fn bandwidth(&mut self, sample: &RateSample, rows: &mut Rows) {
        if let Some(log) = &mut self.bw {
            rows.begin(self.columns, self.epoch_ms);
            log.interval(sample, rows);
        }
    }

    /// I/Os per second in one interval.
    pub(super) fn iops(&mut self, sample: &RateSample, rows: &mut Rows) {
        if let Some(log) = &mut self.iops {
            rows.begin(self.columns, self.epoch_ms);
            log.interval(sample, rows);
        }
    }

    /// The job ended: running windows end with it, and its files are closed. Averaged rates that go into a file of several jobs
    /// follow when the run ends, as fio has it.
    pub(super) fn end(&mut self, time_ms: u64, rows: &mut Rows) {
        self.end_windows(time_ms, rows);
        let rates_are_done = self.single_rates;
        let latencies = [&mut self.lat, &mut self.slat, &mut self.clat].into_iter().flatten();
        latencies.for_each(|log| log.file.close());
        self.histogram.iter_mut().for_each(|log| log.file.close());
        for log in [&mut self.bw, &mut self.iops].into_iter().flatten().filter(|_| rates_are_done) {
            log.file.close();
        }
    }

    /// Ends a job that never reported its end, and closes what is still open.
    pub(super) fn end_with_the_run(&mut self, rows: &mut Rows) {
        self.end_windows(self.last_ms, rows);
        self.files().for_each(LogFile::close);
    }

    /// Where single I/Os were logged, their rates are the samples of the job.
    pub(super) fn put_rates(&self, stats: &mut JobStats) {
        if !self.single_rates {
            return;
        }
        for (at, stats) in stats.directions.iter_mut().enumerate() {
            if let Some(log) = &self.bw {
                stats.bw = log.rates[at];
            }
            if let Some(log) = &self.iops {
                stats.iops = log.rates[at];
            }
        }
    }

    /// What went wrong since asked last.
    pub(super) fn take_problems(&mut self) -> Vec<Diagnostic> {
        let problems: Vec<Diagnostic> = self.files().filter_map(LogFile::take_problem).collect();
        problems.into_iter().map(|problem| problem.job(&self.name)).collect()
    }

    fn files(&mut self) -> impl Iterator<Item = &mut LogFile> {
        let latencies = [&mut self.lat, &mut self.slat, &mut self.clat].into_iter().flatten();
        let rates = [&mut self.bw, &mut self.iops].into_iter().flatten();
        let histogram = self.histogram.iter_mut().map(|log| &mut log.file);
        latencies.map(|log| &mut log.file).chain(rates.map(|log| &mut log.file)).chain(histogram)
    }

    fn end_windows(&mut self, time_ms: u64, rows: &mut Rows) {
        let latencies = [&mut self.lat, &mut self.slat, &mut self.clat].into_iter().flatten();
        let rates = [&mut self.bw, &mut self.iops].into_iter().flatten();
        let latencies = latencies.map(|log| (&mut log.file, &mut log.windows));
        for (file, windows) in latencies.chain(rates.map(|log| (&mut log.file, &mut log.windows))) {
            rows.begin(self.columns, self.epoch_ms);
            for (direction, window) in (0..).zip(windows) {
                if let Some(summary) = window.take() {
                    rows.push(&window_row(time_ms, summary, direction, self.window_value));
                }
            }
            file.append(rows.text());
        }
        if let Some(log) = &mut self.histogram {
            log.end(time_ms, self.epoch_ms);
        }
    }

    fn averaged_latencies(&mut self, samples: &[IoSample], rows: &mut Rows) {
        let (columns, epoch_ms, length, value) =
            (self.columns, self.epoch_ms, self.window_ms, self.window_value);
        let mut log = |log: &mut Option<LatencyLog>, kind: LatencyKind| {
            let Some(log) = log.as_mut().filter(|log| log.file.is_written()) else { return };
            rows.begin(columns, epoch_ms);
            for sample in samples {
                let Some((time_ms, latency)) = kind.of(sample) else { continue };
                let window = &mut log.windows[usize::from(sample.direction)];
                if let Some(summary) = window.add(time_ms, latency, length) {
                    rows.push(&window_row(time_ms, summary, sample.direction, value));
                }
            }
            log.file.append(rows.text());
        };
        log(&mut self.lat, LatencyKind::Total);
        log(&mut self.slat, LatencyKind::Submission);
        log(&mut self.clat, LatencyKind::Completion);
    }

    fn latencies(&mut self, samples: &[IoSample], rows: &mut Rows) {
        let (columns, epoch_ms) = (self.columns, self.epoch_ms);
        let mut log = |log: &mut Option<LatencyLog>, kind: LatencyKind| {
            let Some(log) = log.as_mut().filter(|log| log.file.is_written()) else { return false };
            rows.begin(columns, epoch_ms);
            for sample in samples {
                if let Some((time_ms, value)) = kind.of(sample) {
                    let issue_ns = if kind == LatencyKind::Total { 0 } else { issued_ns(sample) };
                    rows.push(&LogRow { issue_ns, ..single_row(time_ms, value, sample) });
                }
            }
            log.file.append(rows.text());
            true
        };
        log(&mut self.slat, LatencyKind::Submission);
        let lat_is_there = log(&mut self.lat, LatencyKind::Total);
        // The total latency of a synchronous I/O is its completion latency: the same text serves both files, unless only one of
        // them has issue times.
        let same = !columns.issue_time && samples.iter().all(|sample| sample.lat_ns == sample.clat_ns);
        if lat_is_there && same {
            if let Some(clat) = &mut self.clat {
                clat.file.append(rows.text());
            }
        } else {
            log(&mut self.clat, LatencyKind::Completion);
        }
    }
}

/// The three latencies of an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LatencyKind {
    Submission,
    Completion,
    Total,
}

impl LatencyKind {
    /// When the latency was known, ms, and the latency, ns.
    #[inline]
    fn of(self, sample: &IoSample) -> Option<(u64, u64)> {
        match self {
            LatencyKind::Submission => Some((milliseconds(issued_ns(sample)), sample.slat_ns?)),
            LatencyKind::Completion => Some((milliseconds(sample.time_ns), sample.clat_ns)),
            LatencyKind::Total => Some((milliseconds(sample.time_ns), sample.lat_ns)),
        }
    }
}

impl RateLog {
    /// One row per I/O or window. The rates are counted even if the file was given up.
    fn single(
        &mut self,
        samples: &[IoSample],
        rows: &mut Rows,
        rate: fn(&IoSample) -> u64,
        window_value: WindowValue,
    ) {
        for sample in samples {
            let value = rate(sample);
            let direction = usize::from(sample.direction);
            self.rates[direction].record(value);
            let time_ms = milliseconds(sample.time_ns);
            if self.window_ms == 0 {
                rows.push(&single_row(time_ms, value, sample));
            } else if let Some(summary) = self.windows[direction].add(time_ms, value, self.window_ms) {
                rows.push(&window_row(time_ms, summary, sample.direction, window_value));
            }
        }
        self.file.append(rows.text());
    }

    /// One row per direction with progress in the interval. There is one sample in each, so it is average and maximum.
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

fn single_row(time_ms: u64, value: u64, sample: &IoSample) -> LogRow {
    LogRow {
        time_ms,
        value,
        direction: sample.direction,
        block_size: sample.len,
        priority: sample.priority,
        offset: sample.offset,
        ..LogRow::default()
    }
}

fn window_row(time_ms: u64, summary: WindowSummary, direction: u8, value: WindowValue) -> LogRow {
    let WindowSummary { average, maximum } = summary;
    let value = if value == WindowValue::Maximum { maximum } else { average };
    LogRow { time_ms, value, maximum, direction, ..LogRow::default() }
}

fn milliseconds(ns: u64) -> u64 {
    ns / 1_000_000
}

/// An I/O completes its completion latency after it was issued.
fn issued_ns(sample: &IoSample) -> u64 {
    sample.time_ns.saturating_sub(sample.clat_ns)
}

/// Bandwidth of a single I/O: kB/s, not KiB/s as in averaged rows.
fn kilobytes_per_second(sample: &IoSample) -> u64 {
    u64::from(sample.len) * 1_000_000 / sample.clat_ns.max(1)
}
