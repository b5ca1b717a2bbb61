//! The logs of one job: which files there are, and how batches become rows.

use ferrio_plan::JobSpec;
use ferrio_runner::logs::{IoSample, RateSample};
use ferrio_stats::{JobStats, SampleStats};

use super::file::LogFile;
use super::rows::Rows;
use super::window::Window;

/// Files of one job, and the rates of its single I/Os.
#[derive(Debug)]
pub(super) struct JobLogs {
    /// `log_avg_msec`; 0 logs every I/O.
    window_ms: u64,
    lat: Option<LatencyLog>,
    slat: Option<LatencyLog>,
    clat: Option<LatencyLog>,
    bw: Option<RateLog>,
    iops: Option<RateLog>,
    /// Time of the last I/O, for windows of a job whose end nobody told.
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
    /// Rates of single I/Os.
    rates: [SampleStats; 3],
}

impl JobLogs {
    /// Most files that one job can have.
    pub(super) const MOST_FILES: usize = 5;

    /// Creates the files of the job, emptied. What is not measured has no log.
    pub(super) fn create(spec: &JobSpec, stay_open: bool) -> Self {
        let file =
            |prefix: &str, kind| LogFile::create(format!("{prefix}_{kind}.{}.log", spec.number), stay_open);
        let latency = |kind, measured: bool| {
            let prefix = spec.logs.lat.as_ref().filter(|_| measured)?;
            Some(LatencyLog { file: file(prefix, kind), windows: [Window::default(); 3] })
        };
        let rate = |prefix: &Option<String>, kind| {
            let prefix = prefix.as_ref()?;
            Some(RateLog { file: file(prefix, kind), rates: [SampleStats::default(); 3] })
        };
        JobLogs {
            window_ms: u64::from(spec.logs.avg_msec),
            lat: latency("lat", spec.measure.lat),
            slat: latency("slat", spec.measure.slat),
            clat: latency("clat", spec.measure.clat),
            bw: rate(&spec.logs.bw, "bw"),
            iops: rate(&spec.logs.iops, "iops"),
            last_ms: 0,
        }
    }

    /// Completed I/Os, in order.
    pub(super) fn ios(&mut self, samples: &[IoSample], rows: &mut Rows) {
        if let Some(last) = samples.last() {
            self.last_ms = milliseconds(last);
        }
        if self.window_ms > 0 {
            self.averaged_latencies(samples, rows);
            return;
        }
        self.latencies(samples, rows);
        if let Some(log) = &mut self.bw {
            log.single(samples, rows, kilobytes_per_second);
        }
        if let Some(log) = &mut self.iops {
            log.single(samples, rows, |_| 1);
        }
    }

    /// Bandwidth in one interval.
    pub(super) fn bandwidth(&mut self, sample: &RateSample, rows: &mut Rows) {
        if let Some(log) = &mut self.bw {
            log.interval(sample, rows);
        }
    }

    /// I/Os per second in one interval.
    pub(super) fn iops(&mut self, sample: &RateSample, rows: &mut Rows) {
        if let Some(log) = &mut self.iops {
            log.interval(sample, rows);
        }
    }

    /// The job ended: running windows end with it, and its files are closed.
    pub(super) fn end(&mut self, time_ms: u64, rows: &mut Rows) {
        for log in [&mut self.lat, &mut self.slat, &mut self.clat].into_iter().flatten() {
            rows.clear();
            for (direction, window) in (0..).zip(&mut log.windows) {
                if let Some(average) = window.take() {
                    rows.push(time_ms, average, direction, 0);
                }
            }
            log.file.append(rows.text());
        }
        self.files().for_each(LogFile::close);
    }

    /// Like [`JobLogs::end`] for a job that never told its end.
    pub(super) fn end_with_the_last_io(&mut self, rows: &mut Rows) {
        self.end(self.last_ms, rows);
    }

    /// Where single I/Os were logged, their rates are the samples of the job.
    pub(super) fn put_rates(&self, stats: &mut JobStats) {
        if self.window_ms > 0 {
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

    /// What went wrong since asked last, one line each.
    pub(super) fn take_problems(&mut self) -> Vec<String> {
        self.files().filter_map(LogFile::take_problem).collect()
    }

    fn files(&mut self) -> impl Iterator<Item = &mut LogFile> {
        let latencies = [&mut self.lat, &mut self.slat, &mut self.clat].into_iter().flatten();
        let rates = [&mut self.bw, &mut self.iops].into_iter().flatten();
        latencies.map(|log| &mut log.file).chain(rates.map(|log| &mut log.file))
    }

    fn averaged_latencies(&mut self, samples: &[IoSample], rows: &mut Rows) {
        let length = self.window_ms;
        let mut log = |log: &mut Option<LatencyLog>, latency: fn(&IoSample) -> Option<u64>| {
            let Some(log) = log.as_mut().filter(|log| log.file.is_written()) else { return };
            rows.clear();
            for sample in samples {
                let Some(value) = latency(sample) else { continue };
                let time_ms = milliseconds(sample);
                if let Some(average) = log.windows[usize::from(sample.direction)].add(time_ms, value, length)
                {
                    rows.push(time_ms, average, sample.direction, 0);
                }
            }
            log.file.append(rows.text());
        };
        log(&mut self.lat, |sample| Some(sample.lat_ns));
        log(&mut self.slat, |sample| sample.slat_ns);
        log(&mut self.clat, |sample| Some(sample.clat_ns));
    }

    fn latencies(&mut self, samples: &[IoSample], rows: &mut Rows) {
        let mut log = |log: &mut Option<LatencyLog>, latency: fn(&IoSample) -> Option<u64>| {
            let Some(log) = log.as_mut().filter(|log| log.file.is_written()) else { return false };
            rows.clear();
            for sample in samples {
                if let Some(value) = latency(sample) {
                    rows.push(milliseconds(sample), value, sample.direction, sample.len);
                }
            }
            log.file.append(rows.text());
            true
        };
        log(&mut self.slat, |sample| sample.slat_ns);
        let lat_is_there = log(&mut self.lat, |sample| Some(sample.lat_ns));
        // The total latency of a synchronous I/O is its completion latency: the same text serves both files.
        if lat_is_there && samples.iter().all(|sample| sample.lat_ns == sample.clat_ns) {
            if let Some(clat) = &mut self.clat {
                clat.file.append(rows.text());
            }
        } else {
            log(&mut self.clat, |sample| Some(sample.clat_ns));
        }
    }
}

impl RateLog {
    /// One row per I/O. The rates are counted even if the file was given up.
    fn single(&mut self, samples: &[IoSample], rows: &mut Rows, rate: fn(&IoSample) -> u64) {
        rows.clear();
        for sample in samples {
            let value = rate(sample);
            self.rates[usize::from(sample.direction)].record(value);
            rows.push(milliseconds(sample), value, sample.direction, sample.len);
        }
        self.file.append(rows.text());
    }

    /// One row per direction with progress in the interval.
    fn interval(&mut self, sample: &RateSample, rows: &mut Rows) {
        rows.clear();
        for (direction, &value) in (0..).zip(&sample.per_second) {
            if value > 0 {
                rows.push(sample.time_ms, value, direction, 0);
            }
        }
        self.file.append(rows.text());
    }
}

fn milliseconds(sample: &IoSample) -> u64 {
    sample.time_ns / 1_000_000
}

/// Bandwidth of a single I/O: kB/s, not KiB/s as in averaged rows.
fn kilobytes_per_second(sample: &IoSample) -> u64 {
    u64::from(sample.len) * 1_000_000 / sample.clat_ns.max(1)
}
