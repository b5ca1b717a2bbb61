//! Figures of entries and disks over time, for `ferrio.series` and `ferrio.device_series` of the document, and periods of CPU throttling.
//!
//! [`SeriesRecorder`] samples the run twice a second. It adds the figures since the previous sample to a row of each entry. When an entry
//! has the maximum number of rows, pairs of neighbours are merged and new rows cover twice as much time. Memory and documents are therefore
//! bounded, however long the run is.

mod row;
mod sample;
mod throttling;

use std::time::Duration;

use ferrio_job::Plan;
use ferrio_machine::CpuThrottling;
use ferrio_results::{DiskUsage, RunResult};

use crate::build::entry_jobs;
use crate::messages::report_name;
use crate::model::{DeviceSeries, Series, ThrottlingPeriod};
use crate::num::whole_ms;
use row::DiskRow;
pub(crate) use row::{RowIos, SampledJob, SeriesRow};
pub(crate) use sample::EntrySample;
use throttling::ThrottlingRecorder;

/// Maximum number of rows of an entry, while there are few entries.
const MAX_ROWS: usize = 480;
/// Maximum number of rows of all entries together.
const MAX_TOTAL_ROWS: usize = 16 * MAX_ROWS;
/// Number of rows that every entry may have, however many there are.
const GUARANTEED_ROWS: usize = 30;
/// Sector size of the kernel's counters.
const SECTOR_BYTES: u64 = 512;

/// Figures of a run over time.
#[derive(Clone, Debug, Default)]
pub struct RunSeries {
    /// Series of the entries that did I/O, in report order.
    pub jobs: Vec<Series>,
    /// Series of the disks of the run.
    pub devices: Vec<DeviceSeries>,
    /// Periods of CPU throttling.
    pub throttling: Vec<ThrottlingPeriod>,
}

/// Records the figures of a run over time.
#[derive(Debug)]
pub struct SeriesRecorder {
    entries: Vec<EntrySeries>,
    /// Indexed by disk.
    disks: Vec<SeriesRows<DiskRow>>,
    /// The disks at the previous sample.
    seen: Vec<DiskUsage>,
    /// Indexed by job of the plan.
    jobs: Vec<SampledJob>,
    throttling: ThrottlingRecorder,
}

/// The rows of one entry.
#[derive(Debug)]
struct EntrySeries {
    /// Indices of its jobs in the plan.
    jobs: Vec<usize>,
    /// The fields of the series other than its rows.
    head: Series,
    rows: SeriesRows<SeriesRow>,
}

/// Rows that cover equal numbers of samples, apart from the last.
#[derive(Debug)]
struct SeriesRows<R> {
    rows: Vec<R>,
    max_rows: usize,
    /// Number of samples per row.
    samples_per_row: usize,
    /// Number of samples in the last row so far.
    in_last: usize,
}

/// Rows that can be merged.
pub(crate) trait Merge {
    /// Merges the row that follows this one into it.
    fn append(&mut self, next: Self);
    /// End of the row in ms since the start of the run.
    fn end_ms(&self) -> u64;
}

impl SeriesRecorder {
    /// The interval at which to call [`SeriesRecorder::observe`].
    pub const SAMPLE_INTERVAL: Duration = Duration::from_millis(500);

    /// Creates a recorder without samples.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let entries = entry_jobs(plan);
        let max_rows = (MAX_TOTAL_ROWS / entries.len().max(1)).clamp(GUARANTEED_ROWS, MAX_ROWS);
        SeriesRecorder {
            entries: entries.into_iter().map(|jobs| EntrySeries::new(plan, jobs, max_rows)).collect(),
            disks: Vec::new(),
            seen: Vec::new(),
            jobs: plan.jobs.iter().map(|_| SampledJob::default()).collect(),
            throttling: ThrottlingRecorder::default(),
        }
    }

    /// Samples the run, during it or at its end.
    pub fn observe(&mut self, result: &RunResult) {
        for entry in &mut self.entries {
            entry.observe(&mut self.jobs, result);
        }
        self.observe_disks(result);
    }

    /// Records the CPU throttling so far, `elapsed` after the start of the run.
    pub fn observe_cpus(&mut self, elapsed: Duration, so_far: &CpuThrottling) {
        self.throttling.observe(whole_ms(elapsed), so_far);
    }

    /// The recorded series.
    #[must_use]
    pub fn finish(self) -> RunSeries {
        let devices = self.seen.iter().zip(self.disks).map(|(disk, mut rows)| {
            rows.join_short_end(0);
            row::device(&disk.name, &rows.rows)
        });
        RunSeries {
            jobs: self.entries.into_iter().filter_map(EntrySeries::finish).collect(),
            devices: devices.filter(|device| !device.time_ms.is_empty()).collect(),
            throttling: self.throttling.finish(),
        }
    }

    fn observe_disks(&mut self, result: &RunResult) {
        let end_ms = whole_ms(result.elapsed);
        self.seen.resize_with(result.disks.len(), DiskUsage::default);
        self.disks.resize_with(result.disks.len(), || SeriesRows::new(MAX_ROWS));
        for ((disk, seen), rows) in result.disks.iter().zip(&mut self.seen).zip(&mut self.disks) {
            let since = rows.rows.last().map_or(0, |row| row.end_ms);
            if end_ms > since {
                rows.push(DiskRow::between(seen, disk, since, end_ms));
            }
            *seen = disk.clone();
        }
    }
}

impl EntrySeries {
    fn new(plan: &Plan, jobs: Vec<usize>, max_rows: usize) -> Self {
        let mut head = Series::default();
        if let Some(first) = jobs.first().map(|&first| &plan.jobs[first].spec) {
            head.jobname = report_name(first).to_owned();
            (head.job_number, head.groupid) = (first.number, first.group);
        }
        EntrySeries { jobs, head, rows: SeriesRows::new(max_rows) }
    }

    fn observe(&mut self, seen: &mut [SampledJob], result: &RunResult) {
        let EntrySample { row, began_ms, in_ramp, ramp_end } = EntrySample::at(&self.jobs, seen, result);
        if self.rows.rows.is_empty() && row.is_some() {
            self.head.start_ms = began_ms;
        }
        if let Some(ms) = ramp_end {
            self.end_ramp(ms);
        }
        let Some(mut row) = row else { return };
        let since = self.rows.rows.last().map_or(self.head.start_ms, |last| last.end_ms);
        if row.end_ms <= since {
            // Jobs that ended before add nothing. An interval too short for a row is added to the previous one.
            match self.rows.rows.last_mut() {
                _ if row.is_idle() => return,
                Some(last) => return last.append(row),
                None => row.end_ms = since + 1,
            }
        }
        if in_ramp {
            self.head.ramp_until_ms = row.end_ms;
        }
        self.rows.push(row);
    }

    /// Ends the last row at `ms`, where the ramp of a job ended. The job's I/O between the previous sample and the end of the ramp is not
    /// known.
    fn end_ramp(&mut self, ms: u64) {
        if let Some(last) = self.rows.rows.last_mut() {
            last.end_ms = last.end_ms.max(ms);
            self.head.ramp_until_ms = last.end_ms;
            self.rows.end_row();
        }
    }

    fn finish(mut self) -> Option<Series> {
        self.rows.join_short_end(self.head.ramp_until_ms);
        let interval_ms = whole_ms(SeriesRecorder::SAMPLE_INTERVAL) * self.rows.samples_per_row as u64;
        row::series(Series { interval_ms, ..self.head }, self.rows.rows)
    }
}

impl<R: Merge> SeriesRows<R> {
    fn new(max_rows: usize) -> Self {
        SeriesRows { rows: Vec::new(), max_rows, samples_per_row: 1, in_last: 0 }
    }

    fn push(&mut self, row: R) {
        match self.rows.last_mut() {
            Some(last) if self.in_last < self.samples_per_row => last.append(row),
            _ => {
                if self.rows.len() == self.max_rows {
                    self.halve();
                }
                self.rows.push(row);
                self.in_last = 0;
            }
        }
        self.in_last += 1;
    }

    /// Makes the next sample begin a row.
    fn end_row(&mut self) {
        self.in_last = self.samples_per_row;
    }

    /// A last row of less than a quarter of a row is too short for a rate: merges it into the previous row, unless that ends no later than
    /// `limit_ms`.
    fn join_short_end(&mut self, limit_ms: u64) {
        let full_ms = whole_ms(SeriesRecorder::SAMPLE_INTERVAL) * self.samples_per_row as u64;
        let is_short = |rows: &[R]| match rows {
            [.., before, last] => {
                before.end_ms() > limit_ms && last.end_ms().saturating_sub(before.end_ms()) * 4 < full_ms
            }
            _ => false,
        };
        if is_short(&self.rows)
            && let Some(end) = self.rows.pop()
            && let Some(last) = self.rows.last_mut()
        {
            last.append(end);
        }
    }

    fn halve(&mut self) {
        let mut halved: Vec<R> = Vec::with_capacity(self.rows.len().div_ceil(2));
        for (at, row) in std::mem::take(&mut self.rows).into_iter().enumerate() {
            match halved.last_mut() {
                Some(last) if at % 2 == 1 => last.append(row),
                _ => halved.push(row),
            }
        }
        self.rows = halved;
        self.samples_per_row *= 2;
    }
}

#[cfg(test)]
mod tests;
