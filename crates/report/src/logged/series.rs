//! Figures over time from the logs of a run.

use std::collections::BTreeMap;

use ferrio_job::{LogKind, LogValues};
use ferrio_logs::{DirectionContent, EPOCH_MS, LogContent, MIN_SLICE_MS, TimeSlice, WindowRow, add_cells};
use ferrio_stats::saturating_total;

use crate::model::{DirectionSeries, JobReport, RunReport, Series};

/// Rows of a job at most.
const MAX_ROWS: u64 = 480;

/// A day: a run begins at most this long before the first row of its logs.
const DAY_MS: u64 = 86_400_000;

/// The series of all jobs that have logs, in the order of their numbers.
pub(super) fn series(logs: &[LogContent], report: Option<&RunReport>) -> Vec<Series> {
    let mut jobs: BTreeMap<(u32, &str), Vec<&LogContent>> = BTreeMap::new();
    for log in logs {
        let key = match log.name.number {
            Some(number) => (number, ""),
            None => (u32::MAX, log.name.prefix.as_str()),
        };
        jobs.entry(key).or_default().push(log);
    }
    let highest = logs.iter().filter_map(|log| log.name.number).max().unwrap_or(0);
    let owners = report.map(|report| owners(report, highest)).unwrap_or_default();
    let origin = RunOrigin::of(logs, report);
    let series = jobs.into_iter().filter_map(|((number, _), logs)| {
        let owner = owners.get((number as usize).checked_sub(1)?).copied();
        let name = owner.map_or(&logs[0].name.prefix, |owner| &owner.jobname).clone();
        let series = job_series(&logs, &origin.of_job(owner))?;
        let group = owner.map_or(0, |owner| owner.groupid);
        Some(Series { jobname: name, job_number: number, groupid: group, ..series })
    });
    series.collect()
}

/// The entry of each job, by the number of the job less one; empty if the report does not tell. An entry has one job, or with
/// `group_reporting` as many as `numjobs` says.
fn owners(report: &RunReport, highest: u32) -> Vec<&JobReport> {
    let each: Vec<&JobReport> = report.jobs.iter().collect();
    if each.len() >= highest as usize {
        return each;
    }
    let numbers = |job: &JobReport| -> usize {
        let options = job.job_options.0.iter().chain(&report.global_options.0);
        let number = options.filter(|(name, _)| name == "numjobs").find_map(|(_, value)| value.parse().ok());
        number.unwrap_or(1)
    };
    let most = highest as usize;
    let all: Vec<&JobReport> = each
        .iter()
        .flat_map(|job| std::iter::repeat_n(*job, numbers(job).min(most)))
        .take(most + 1)
        .collect();
    match each[..] {
        _ if all.len() == most => all,
        [one] => vec![one; most],
        _ => Vec::new(),
    }
}

/// Where times of logs are in the run.
struct RunOrigin {
    /// Beginning of the run since 1970, ms.
    epoch_ms: u64,
    /// The first `job_start` of the run, 0 if it is not known.
    first_start_ms: u64,
}

/// Where times of the logs of one job are in the run.
struct JobOrigin {
    epoch_ms: u64,
    /// When the job began, ms since the start of the run.
    offset_ms: u64,
}

impl RunOrigin {
    fn of(logs: &[LogContent], report: Option<&RunReport>) -> Self {
        let starts = report.into_iter().flat_map(|report| &report.jobs).map(|job| job.job_start);
        let first_start_ms = starts.filter(|&start| start > 0).min().unwrap_or(0);
        let first_times = logs.iter().flat_map(|log| &log.directions).filter_map(first_time);
        let first = first_times.filter(|&time| time >= EPOCH_MS).min().unwrap_or(0);
        let is_near = (first_start_ms..first_start_ms.saturating_add(DAY_MS)).contains(&first);
        RunOrigin { epoch_ms: if is_near { first_start_ms } else { first }, first_start_ms }
    }

    /// Jobs that begin within an eighth of a second begin together: rows of clones are the same.
    fn of_job(&self, owner: Option<&JobReport>) -> JobOrigin {
        let start = owner.map_or(0, |owner| owner.job_start);
        let since = start.saturating_sub(self.first_start_ms);
        let offset_ms = (since + MIN_SLICE_MS / 2) / MIN_SLICE_MS * MIN_SLICE_MS;
        JobOrigin { epoch_ms: self.epoch_ms, offset_ms }
    }
}

impl JobOrigin {
    /// A time of a log in ms since the start of the run.
    fn at(&self, time_ms: u64) -> u64 {
        if time_ms >= EPOCH_MS {
            time_ms.saturating_sub(self.epoch_ms)
        } else {
            time_ms.saturating_add(self.offset_ms)
        }
    }
}

fn first_time(logged: &DirectionContent) -> Option<u64> {
    let single = (!logged.singles.slices.is_empty()).then_some(logged.singles.origin_ms);
    let window = logged.windows.first().map(|window| window.end_ms);
    [single, window].into_iter().flatten().min()
}

/// The rows of a job, all of one length apart from the last.
struct Grid {
    /// Ends of the rows after the beginning of the first one, ms since the start of the run.
    edges: Vec<u64>,
    step_ms: u64,
}

impl Grid {
    /// `None` if the logs have no rows.
    fn of(logs: &[&LogContent], origin: &JobOrigin) -> Option<Self> {
        let all =
            || logs.iter().flat_map(|log| &log.directions).filter(|logged| first_time(logged).is_some());
        let first = all().filter_map(first_time).min()?;
        let start = if first >= EPOCH_MS { origin.at(first) } else { origin.offset_ms };
        let last = all().map(|logged| origin.at(last_time(logged))).max()?;
        let windows = |histograms: bool| {
            let of_kind = logs.iter().filter(|log| (log.name.kind == LogKind::Histogram) == histograms);
            of_kind.flat_map(|log| &log.directions).filter_map(|logged| window_ms(&logged.windows)).min()
        };
        let singles =
            all().filter(|logged| !logged.singles.slices.is_empty()).map(|logged| logged.singles.step_ms);
        let step = singles.chain(windows(false)).chain(windows(true)).max()?.max(1);
        // What fio did since the last whole window is missing in some logs: those of latencies may end later than those of rates.
        let ends = logs.iter().filter_map(|log| last_of_windows(log)).map(|end| origin.at(end));
        let common = ends.filter(|&end| end + step + step / 2 >= last).min();
        let end = common.unwrap_or(last).max(start + 1);
        let step_ms = step * ((end - start) / step / MAX_ROWS + 1);
        let mut edges: Vec<u64> =
            (0..).map(|row| start + row * step_ms).take_while(|&edge| edge < end).collect();
        // What is left at the end says little about rates: it belongs to the row before.
        if edges.len() > 1 && (end - edges[edges.len() - 1]) * 4 < step_ms {
            edges.pop();
        }
        edges.push(end);
        Some(Grid { edges, step_ms })
    }

    fn rows(&self) -> usize {
        self.edges.len() - 1
    }

    /// The row that this time is in.
    fn row_at(&self, ms: u64) -> usize {
        self.edges[1..].partition_point(|&end| end <= ms).min(self.rows() - 1)
    }

    /// The rows that a window is in, with the length that is in each, ms.
    fn parts(&self, from: u64, to: u64) -> impl Iterator<Item = (usize, u64)> + '_ {
        let rows = self.row_at(from)..=self.row_at(to.saturating_sub(1));
        rows.map(move |row| (row, to.min(self.edges[row + 1]).saturating_sub(from.max(self.edges[row]))))
    }
}

fn last_time(logged: &DirectionContent) -> u64 {
    let window = logged.windows.iter().map(|window| window.end_ms).max().unwrap_or(0);
    // A row of a single I/O is at the beginning of its ms.
    let single = if logged.singles.slices.is_empty() { 0 } else { logged.singles.last_ms + 1 };
    window.max(single)
}

/// End of the last window of a log, without histograms; `None` if it has none.
fn last_of_windows(log: &LogContent) -> Option<u64> {
    let windows = log.directions.iter().flat_map(|logged| &logged.windows);
    windows.filter(|_| log.has_windows()).map(|window| window.end_ms).max()
}

/// How long windows are: the median of those that are not much longer than the shortest, without the last, which is cut short.
fn window_ms(windows: &[WindowRow]) -> Option<u64> {
    let ends: Vec<u64> = windows.iter().map(|window| window.end_ms).collect();
    let first = ends.first().copied().filter(|&first| first < EPOCH_MS);
    let whole = &ends[..ends.len().saturating_sub(1)];
    let mut lengths: Vec<u64> =
        whole.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).chain(first).collect();
    lengths.retain(|&length| length > 0);
    lengths.sort_unstable();
    let shortest = *lengths.first()?;
    lengths.retain(|&length| length <= shortest + shortest / 2);
    lengths.get(lengths.len() / 2).copied()
}

fn job_series(logs: &[&LogContent], origin: &JobOrigin) -> Option<Series> {
    let grid = Grid::of(logs, origin)?;
    let job = SeriesBuilder { logs, origin, grid: &grid };
    let depths: Vec<Option<Vec<f64>>> = (0..3).filter_map(|number| job.in_flight(number)).collect();
    let depth = |row: usize| depths.iter().map(|rows| rows.as_ref().map(|rows| rows[row])).sum();
    Some(Series {
        interval_ms: grid.step_ms,
        start_ms: grid.edges[0],
        time_ms: grid.edges[1..].to_vec(),
        iodepth_mean: (0..grid.rows()).map(depth).collect(),
        errors: vec![0; grid.rows()],
        read: job.direction(0),
        write: job.direction(1),
        trim: job.direction(2),
        ..Series::default()
    })
}

/// The logs of a job and the rows that they are brought into.
struct SeriesBuilder<'a> {
    logs: &'a [&'a LogContent],
    origin: &'a JobOrigin,
    grid: &'a Grid,
}

impl SeriesBuilder<'_> {
    /// The first log of these kinds that has single I/Os of a direction.
    fn singles(&self, number: usize, kinds: &[LogKind]) -> Option<Vec<TimeSlice>> {
        let of_kind =
            |kind: &LogKind| self.logged(number, *kind).find(|logged| !logged.singles.slices.is_empty());
        let singles = &kinds.iter().find_map(of_kind)?.singles;
        let mut rows = vec![TimeSlice::default(); self.grid.rows()];
        for (at, slice) in (0..).zip(&singles.slices) {
            let middle = singles.origin_ms + at * singles.step_ms + singles.step_ms / 2;
            rows[self.grid.row_at(self.origin.at(middle))].add(slice);
        }
        Some(rows)
    }

    /// The windows of a direction in the log of this kind.
    fn windows(&self, number: usize, kind: LogKind) -> Option<&[WindowRow]> {
        let windows = self.logged(number, kind).map(|logged| logged.windows.as_slice());
        windows.into_iter().find(|windows| !windows.is_empty())
    }

    fn logged(&self, number: usize, kind: LogKind) -> impl Iterator<Item = &DirectionContent> {
        self.logs.iter().filter(move |log| log.name.kind == kind).map(move |log| &log.directions[number])
    }

    /// Windows with their beginnings and ends in the run, ms.
    fn placed<'b>(&self, windows: &'b [WindowRow]) -> Vec<(u64, u64, &'b WindowRow)> {
        let length = window_ms(windows).unwrap_or(self.grid.step_ms);
        let mut before = self.grid.edges[0];
        let place = |window: &'b WindowRow| {
            let end = self.origin.at(window.end_ms);
            let begin = before.min(end);
            before = end;
            // Nothing completed in windows that have no row.
            let is_gap = end - begin > length + length / 2;
            (if is_gap { end - length } else { begin }, end, window)
        };
        windows.iter().map(place).collect()
    }

    /// I/Os or bytes per row from rates per second; `None` without a log of this kind.
    fn amounts(&self, number: usize, rate: LogKind) -> Option<Vec<u64>> {
        let LogValues::Rates(unit) = rate.values() else { return None };
        let windows = self.windows(number, rate)?;
        let mut rows = vec![0.0; self.grid.rows()];
        for (from, to, window) in self.placed(windows) {
            for (row, ms) in self.grid.parts(from, to) {
                rows[row] += window.value as f64 * unit as f64 * ms as f64 / 1000.0;
            }
        }
        Some(rows.into_iter().map(|amount| amount.round() as u64).collect())
    }

    /// Means and maxima per row from latencies of windows.
    fn means(&self, windows: &[WindowRow]) -> (Vec<Option<u64>>, Vec<u64>) {
        let mut sums = vec![(0.0, 0_u64); self.grid.rows()];
        let mut maxima = vec![0; self.grid.rows()];
        for (from, to, window) in self.placed(windows) {
            for (row, ms) in self.grid.parts(from, to) {
                sums[row].0 += window.value as f64 * ms as f64;
                sums[row].1 += ms;
                maxima[row] = maxima[row].max(window.maximum.unwrap_or(0));
            }
        }
        let mean = |(sum, ms): (f64, u64)| (ms > 0).then(|| (sum / ms as f64).round() as u64);
        (sums.into_iter().map(mean).collect(), maxima)
    }

    /// Counts per row and bucket from histograms.
    fn histograms(&self, windows: &[WindowRow]) -> Vec<BTreeMap<u64, u64>> {
        let mut rows = vec![BTreeMap::new(); self.grid.rows()];
        for (from, to, window) in self.placed(windows) {
            add_cells(&mut rows[self.grid.row_at(from.midpoint(to))], &window.cells);
        }
        rows
    }

    /// The mean number of I/Os in flight: the latencies of the I/Os of a row over its length. The outer `None` is for a direction without
    /// I/O.
    fn in_flight(&self, number: usize) -> Option<Option<Vec<f64>>> {
        self.logs.iter().find_map(|log| first_time(&log.directions[number]))?;
        let singles = self.singles(number, &[LogKind::Latency, LogKind::CompletionLatency]);
        let depth = |(slice, edges): (&TimeSlice, &[u64])| {
            slice.sum_ns as f64 / ((edges[1] - edges[0]).max(1) as f64 * 1e6)
        };
        Some(singles.map(|rows| rows.iter().zip(self.grid.edges.windows(2)).map(depth).collect()))
    }

    /// Reads, writes or trims; `None` if no log has any. Columns that the logs have nothing for are empty.
    fn direction(&self, number: usize) -> Option<DirectionSeries> {
        use LogKind::{Bandwidth, CompletionLatency, Histogram, Iops, Latency, SubmissionLatency};
        self.logs.iter().find_map(|log| first_time(&log.directions[number]))?;
        let mut series = DirectionSeries::default();
        let histograms = self.windows(number, Histogram).map(|windows| self.histograms(windows));
        if let Some(rows) =
            self.singles(number, &[CompletionLatency, Latency, Bandwidth, Iops, SubmissionLatency])
        {
            series.ios = rows.iter().map(|slice| slice.ios).collect();
            series.bytes = rows.iter().map(|slice| slice.bytes).collect();
        }
        if series.ios.is_empty() {
            let counted = |rows: &Vec<BTreeMap<u64, u64>>| {
                rows.iter().map(|cells| saturating_total(cells.values().copied())).collect()
            };
            let ios = self.amounts(number, Iops).or_else(|| histograms.as_ref().map(counted));
            series.ios = ios.unwrap_or_default();
        }
        if series.bytes.is_empty() {
            series.bytes = self.amounts(number, Bandwidth).unwrap_or_default();
        }
        let pairs =
            |cells: &BTreeMap<u64, u64>| cells.iter().flat_map(|(&cell, &count)| [cell, count]).collect();
        let (completions, totals) =
            (self.singles(number, &[CompletionLatency]), self.singles(number, &[Latency]));
        if let Some(rows) = completions.or(if histograms.is_none() { totals } else { None }) {
            series.cells = rows.iter().map(|slice| pairs(&slice.cells)).collect();
            series.max_ns = rows.iter().map(|slice| slice.max_ns).collect();
        } else if let Some(rows) = &histograms {
            series.cells = rows.iter().map(pairs).collect();
            series.max_ns = vec![0; rows.len()];
        } else if let Some(windows) =
            self.windows(number, CompletionLatency).or_else(|| self.windows(number, Latency))
        {
            (series.mean_ns, series.max_ns) = self.means(windows);
        }
        Some(series)
    }
}

#[cfg(test)]
mod tests;
