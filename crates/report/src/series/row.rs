//! Rows of series: figures of jobs and disks between two samples.

use std::collections::BTreeMap;
use std::sync::Arc;

use ferrio_job::JobSpec;
use ferrio_results::{DiskUsage, JobResult};
use ferrio_stats::{JobStats, Latency, NewSamples, cell_of};

use super::{Merge, SECTOR_BYTES};
use crate::database::is_session;
use crate::model::{DeviceSeries, DirectionSeries, Series};

/// The figures of a job at the last sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct SampledJob {
    start_ms: u64,
    directions: [SampledIos; 3],
    /// Transactions of a session of a database model, if they are recorded.
    transactions: Option<SampledIos>,
    errors: u64,
}

/// The figures of one direction, or of transactions, at the last sample.
#[derive(Clone, Debug, Default)]
struct SampledIos {
    ios: u64,
    bytes: u64,
    /// Sum of all latencies in ns.
    in_flight_ns: u128,
    /// Shared with the figures of the run, as copying all jobs would dominate the cost.
    latency: Option<Arc<Latency>>,
}

impl SampledJob {
    /// The state of a job that has not begun; with its transactions, if it does any.
    pub(crate) fn with_transactions(spec: &JobSpec) -> Self {
        let transactions = is_session(spec).then(SampledIos::default);
        SampledJob { transactions, ..SampledJob::default() }
    }

    /// The state of a database whose transactions are those of all its sessions.
    pub(crate) fn of_transactions() -> Self {
        SampledJob { transactions: Some(SampledIos::default()), ..SampledJob::default() }
    }

    /// True if the figures restarted from zero.
    pub(super) fn has_restarted(&self, job: &JobResult) -> bool {
        self.start_ms > 0 && self.start_ms != job.start_ms
    }

    /// Adds the figures since the last sample to a row, and updates the sample.
    pub(super) fn add_new(&mut self, job: &JobResult, row: &mut SeriesRow) {
        let events = job.events.as_ref().map(|events| (events.done, Arc::clone(&events.latency)));
        self.add_new_figures(job.start_ms, &job.stats, events, row);
    }

    /// The same for figures that may be those of several jobs together, of which the first began at `start_ms`. `events` are
    /// transactions with their latencies.
    pub(crate) fn add_new_figures(
        &mut self,
        start_ms: u64,
        stats: &JobStats,
        events: Option<(u64, Arc<Latency>)>,
        row: &mut SeriesRow,
    ) {
        let JobStats { directions, total_errors, .. } = stats;
        if self.start_ms != start_ms {
            let transactions = self.transactions.as_ref().map(|_| SampledIos::default());
            *self = SampledJob { start_ms, transactions, errors: self.errors, ..SampledJob::default() };
        }
        // Errors are counted from the start of the job, even if its figures restart.
        row.errors += total_errors.saturating_sub(self.errors);
        self.errors = self.errors.max(*total_errors);
        for ((seen, now), sum) in self.directions.iter_mut().zip(directions).zip(&mut row.directions) {
            let in_flight = now.lat().or(now.clat.as_deref());
            let now = SampledIos {
                ios: now.ios,
                bytes: now.bytes,
                in_flight_ns: in_flight.map_or(0, Latency::sum),
                latency: now.completion().cloned(),
            };
            let in_flight_ns = seen.add_new(now, sum);
            if in_flight.is_some() {
                *row.in_flight_ns.get_or_insert_default() += in_flight_ns as f64;
            }
        }
        if let Some(seen) = &mut self.transactions {
            let sum = row.transactions.get_or_insert_default();
            if let Some((done, latency)) = events {
                seen.add_new(SampledIos { ios: done, latency: Some(latency), ..SampledIos::default() }, sum);
            }
        }
    }
}

/// I/Os of a job in one direction since the last sample.
struct IosDelta {
    ios: u64,
    bytes: u64,
    in_flight_ns: u128,
    samples: Option<NewSamples>,
}

impl SampledIos {
    /// Adds the figures since the last sample to a sum. Returns the sum of the new latencies in ns.
    fn add_new(&mut self, now: SampledIos, sum: &mut RowIos) -> u128 {
        let new = now.since(self).or_else(|| now.since(&SampledIos::default()));
        *self = now;
        new.map_or(0, |new| {
            sum.add(&new);
            new.in_flight_ns
        })
    }

    /// The figures since `earlier`; `None` if they were reset in between.
    fn since(&self, earlier: &SampledIos) -> Option<IosDelta> {
        let none = Latency::new();
        let before = earlier.latency.as_deref().unwrap_or(&none);
        let samples = match &self.latency {
            Some(now) => Some(now.new_samples(before)?),
            None if before.count() > 0 => return None,
            None => None,
        };
        Some(IosDelta {
            ios: self.ios.checked_sub(earlier.ios)?,
            bytes: self.bytes.checked_sub(earlier.bytes)?,
            in_flight_ns: self.in_flight_ns.checked_sub(earlier.in_flight_ns)?,
            samples,
        })
    }
}

/// Figures of an entry in a period of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeriesRow {
    /// End in ms since the start of the run.
    pub(crate) end_ms: u64,
    pub(crate) directions: [RowIos; 3],
    /// Transactions; `None` if no job does any that are recorded.
    pub(crate) transactions: Option<RowIos>,
    pub(crate) errors: u64,
    /// Sum of all latencies in ns; `None` if none is measured.
    in_flight_ns: Option<f64>,
}

/// I/Os of one direction, or transactions.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowIos {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    pub(crate) max_ns: u64,
    /// Number of samples per bucket.
    pub(crate) cells: BTreeMap<u64, u64>,
}

impl SeriesRow {
    /// Mean number of I/Os in flight in a row of `ms`; `None` if no latency is measured.
    pub(crate) fn mean_depth(&self, ms: u64) -> Option<f64> {
        self.in_flight_ns.map(|ns| ns / (ms.max(1) as f64 * 1e6))
    }

    /// True without any I/O.
    pub(crate) fn is_idle(&self) -> bool {
        self.errors == 0 && self.directions.iter().all(|direction| direction.ios == 0)
    }
}

impl RowIos {
    fn add(&mut self, new: &IosDelta) {
        self.ios += new.ios;
        self.bytes += new.bytes;
        let Some(samples) = &new.samples else { return };
        self.max_ns = self.max_ns.max(samples.max);
        for &(ns, count) in &samples.bins {
            *self.cells.entry(cell_of(ns)).or_default() += count;
        }
    }

    fn append(&mut self, next: RowIos) {
        self.ios += next.ios;
        self.bytes += next.bytes;
        self.max_ns = self.max_ns.max(next.max_ns);
        for (bucket, count) in next.cells {
            *self.cells.entry(bucket).or_default() += count;
        }
    }
}

impl Merge for SeriesRow {
    fn end_ms(&self) -> u64 {
        self.end_ms
    }

    fn append(&mut self, next: SeriesRow) {
        self.end_ms = self.end_ms.max(next.end_ms);
        self.errors += next.errors;
        if let Some(ns) = next.in_flight_ns {
            *self.in_flight_ns.get_or_insert_default() += ns;
        }
        for (sum, new) in self.directions.iter_mut().zip(next.directions) {
            sum.append(new);
        }
        if let Some(new) = next.transactions {
            self.transactions.get_or_insert_default().append(new);
        }
    }
}

/// Converts the rows of an entry to columns, added to `head`; `None` if there was no I/O.
pub(super) fn series(head: Series, rows: Vec<SeriesRow>) -> Option<Series> {
    let starts = std::iter::once(head.start_ms).chain(rows.iter().map(|row| row.end_ms));
    let depth =
        |(row, start_ms): (&SeriesRow, u64)| row.mean_depth(row.end_ms.saturating_sub(start_ms)).map(rounded);
    let mut series = Series {
        time_ms: rows.iter().map(|row| row.end_ms).collect(),
        iodepth_mean: rows.iter().zip(starts).map(depth).collect(),
        errors: rows.iter().map(|row| row.errors).collect(),
        ..head
    };
    let mut columns: [DirectionSeries; 3] = Default::default();
    for row in rows {
        for (columns, figures) in columns.iter_mut().zip(row.directions) {
            columns.ios.push(figures.ios);
            columns.bytes.push(figures.bytes);
            columns.max_ns.push(figures.max_ns);
            columns
                .cells
                .push(figures.cells.into_iter().flat_map(|(bucket, count)| [bucket, count]).collect());
        }
    }
    [series.read, series.write, series.trim] =
        columns.map(|columns| columns.ios.iter().any(|&ios| ios > 0).then_some(columns));
    let has_io = series.read.is_some() || series.write.is_some() || series.trim.is_some();
    has_io.then_some(series)
}

/// Activity of a disk in a period of time.
#[derive(Clone, Debug, Default)]
pub(super) struct DiskRow {
    /// Start in ms since the start of the run.
    start_ms: u64,
    pub(super) end_ms: u64,
    ios: [u64; 2],
    sectors: [u64; 2],
    busy_ms: u64,
}

impl DiskRow {
    /// The difference between two samples of a disk.
    pub(super) fn between(seen: &DiskUsage, now: &DiskUsage, start_ms: u64, end_ms: u64) -> Self {
        let both = |seen: [u64; 2], now: [u64; 2]| [0, 1].map(|at| now[at].saturating_sub(seen[at]));
        DiskRow {
            start_ms,
            end_ms,
            ios: both(seen.ios, now.ios),
            sectors: both(seen.sectors, now.sectors),
            busy_ms: now.busy_ms.saturating_sub(seen.busy_ms),
        }
    }
}

impl Merge for DiskRow {
    fn end_ms(&self) -> u64 {
        self.end_ms
    }

    fn append(&mut self, next: DiskRow) {
        self.end_ms = next.end_ms;
        self.busy_ms += next.busy_ms;
        for at in [0, 1] {
            self.ios[at] += next.ios[at];
            self.sectors[at] += next.sectors[at];
        }
    }
}

/// Converts the rows of a disk to columns.
pub(super) fn device(name: &str, rows: &[DiskRow]) -> DeviceSeries {
    let column = |figure: fn(&DiskRow) -> u64| rows.iter().map(figure).collect::<Vec<_>>();
    let util = |row: &DiskRow| {
        let ms = row.end_ms.saturating_sub(row.start_ms).max(1);
        rounded((100.0 * row.busy_ms as f64 / ms as f64).min(100.0))
    };
    DeviceSeries {
        name: name.to_owned(),
        time_ms: column(|row| row.end_ms),
        read_ios: column(|row| row.ios[0]),
        write_ios: column(|row| row.ios[1]),
        read_bytes: column(|row| row.sectors[0] * SECTOR_BYTES),
        write_bytes: column(|row| row.sectors[1] * SECTOR_BYTES),
        util_percent: rows.iter().map(util).collect(),
    }
}

/// Rounds to three decimals.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
