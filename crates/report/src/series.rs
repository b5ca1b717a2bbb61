//! What entries and disks do over time, for `ferrio.series` and `ferrio.device_series` of the document, and when the CPUs are throttled.
//!
//! [`SeriesRecorder`] looks at the run twice a second. To each row of an entry it adds what the entry's jobs did since the look before.
//! When an entry has as many rows as it may have, pairs of neighbours become one row and new rows cover twice as much time: memory and
//! documents have a bound, however long the run is.

mod look;
mod row;
mod throttling;

use std::time::Duration;

use ferrio_job::Plan;
use ferrio_machine::CpuThrottling;
use ferrio_results::{DiskUsage, RunResult};

use crate::build::entry_jobs;
use crate::messages::report_name;
use crate::model::{DeviceSeries, Series, ThrottlingPeriod};
use crate::num::whole_ms;
pub(crate) use look::EntryLook;
use row::DiskRow;
pub(crate) use row::{Row, RowIos, SeenJob, is_session};
use throttling::ThrottlingRecorder;

/// Rows that an entry has at most, while there are few entries.
const MAX_ROWS: usize = 480;
/// Rows that all entries have at most.
const MAX_ROWS_IN_ALL: usize = 16 * MAX_ROWS;
/// Rows that every entry may have.
const FEW_ROWS: usize = 30;
/// Bytes per sector in the kernel's counters.
const SECTOR: u64 = 512;

/// What a run did over time.
#[derive(Clone, Debug, Default)]
pub struct RunSeries {
    /// Of the entries that did I/O, in their order.
    pub jobs: Vec<Series>,
    /// Of the disks of the run.
    pub devices: Vec<DeviceSeries>,
    /// When the CPUs were throttled.
    pub throttling: Vec<ThrottlingPeriod>,
}

/// Records what a run does over time.
#[derive(Debug)]
pub struct SeriesRecorder {
    entries: Vec<EntrySeries>,
    /// One for each disk.
    disks: Vec<Rows<DiskRow>>,
    /// The disks at the last look.
    seen: Vec<DiskUsage>,
    /// Per job of the plan.
    jobs: Vec<SeenJob>,
    throttling: ThrottlingRecorder,
}

/// The rows of one entry.
#[derive(Debug)]
struct EntrySeries {
    /// Places of its jobs in the plan.
    jobs: Vec<usize>,
    /// What the rows do not have.
    head: Series,
    rows: Rows<Row>,
}

/// Rows of which each covers the same number of looks, apart from the last.
#[derive(Debug)]
struct Rows<R> {
    rows: Vec<R>,
    most: usize,
    /// Looks per row.
    looks: usize,
    /// Looks that the last row has so far.
    in_last: usize,
}

/// Rows that can become one.
pub(crate) trait Merge {
    /// Adds the row that follows this one.
    fn append(&mut self, next: Self);
    /// When it ends, ms since the start of the run.
    fn end_ms(&self) -> u64;
}

impl SeriesRecorder {
    /// How often to call [`SeriesRecorder::observe`].
    pub const EVERY: Duration = Duration::from_millis(500);

    /// Without any look so far.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let entries = entry_jobs(plan);
        let most = (MAX_ROWS_IN_ALL / entries.len().max(1)).clamp(FEW_ROWS, MAX_ROWS);
        SeriesRecorder {
            entries: entries.into_iter().map(|jobs| EntrySeries::new(plan, jobs, most)).collect(),
            disks: Vec::new(),
            seen: Vec::new(),
            jobs: plan.jobs.iter().map(|_| SeenJob::default()).collect(),
            throttling: ThrottlingRecorder::default(),
        }
    }

    /// Looks at the run, while it goes on or at its end.
    pub fn observe(&mut self, result: &RunResult) {
        for entry in &mut self.entries {
            entry.observe(&mut self.jobs, result);
        }
        self.observe_disks(result);
    }

    /// Takes what throttled the CPUs so far, `elapsed` after the start of the run.
    pub fn observe_cpus(&mut self, elapsed: Duration, so_far: &CpuThrottling) {
        self.throttling.observe(whole_ms(elapsed), so_far);
    }

    /// What was recorded.
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
        self.disks.resize_with(result.disks.len(), || Rows::new(MAX_ROWS));
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
    fn new(plan: &Plan, jobs: Vec<usize>, most: usize) -> Self {
        let mut head = Series::default();
        if let Some(first) = jobs.first().map(|&first| &plan.jobs[first].spec) {
            head.jobname = report_name(first).to_owned();
            (head.job_number, head.groupid) = (first.number, first.group);
        }
        EntrySeries { jobs, head, rows: Rows::new(most) }
    }

    fn observe(&mut self, seen: &mut [SeenJob], result: &RunResult) {
        let EntryLook { row, began_ms, in_ramp, ramp_end } = EntryLook::at(&self.jobs, seen, result);
        if self.rows.rows.is_empty() && row.is_some() {
            self.head.start_ms = began_ms;
        }
        if let Some(ms) = ramp_end {
            self.end_ramp(ms);
        }
        let Some(mut row) = row else { return };
        let since = self.rows.rows.last().map_or(self.head.start_ms, |last| last.end_ms);
        if row.end_ms <= since {
            // Jobs that had ended before. What is too short for a row counts in the row before.
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

    /// The ramp of a job ended at `ms`, and the last row with it. What the job did between the look before and then is not known.
    fn end_ramp(&mut self, ms: u64) {
        if let Some(last) = self.rows.rows.last_mut() {
            last.end_ms = last.end_ms.max(ms);
            self.head.ramp_until_ms = last.end_ms;
            self.rows.end_row();
        }
    }

    fn finish(mut self) -> Option<Series> {
        self.rows.join_short_end(self.head.ramp_until_ms);
        let interval_ms = whole_ms(SeriesRecorder::EVERY) * self.rows.looks as u64;
        row::series(Series { interval_ms, ..self.head }, self.rows.rows)
    }
}

impl<R: Merge> Rows<R> {
    fn new(most: usize) -> Self {
        Rows { rows: Vec::new(), most, looks: 1, in_last: 0 }
    }

    fn push(&mut self, row: R) {
        match self.rows.last_mut() {
            Some(last) if self.in_last < self.looks => last.append(row),
            _ => {
                if self.rows.len() == self.most {
                    self.halve();
                }
                self.rows.push(row);
                self.in_last = 0;
            }
        }
        self.in_last += 1;
    }

    /// What comes next begins a row.
    fn end_row(&mut self) {
        self.in_last = self.looks;
    }

    /// A last row of less than a quarter of a row says little about rates: it becomes part of the row before, unless that ends no later than
    /// `limit_ms`.
    fn join_short_end(&mut self, limit_ms: u64) {
        let full_ms = whole_ms(SeriesRecorder::EVERY) * self.looks as u64;
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
        self.looks *= 2;
    }
}

#[cfg(test)]
mod tests;
