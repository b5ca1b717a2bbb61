//! Throttling during a run: that of the CPUs, which the kernel reports, and that of devices, which shows as a rate that falls suddenly and
//! stays low, because burst credits, a fast part of the device or a write-back cache are used up.

use ferrio_stats::saturating_total;

use super::tracks::Track;
use crate::Unit;
use crate::model::{FerrioReport, JobReport, RunReport, ThrottlingCause, ThrottlingPeriod};

/// Minimum number of rows of a load; with fewer, the usual rate is unknown.
const MIN_ROWS: usize = 20;

/// Minimum number of rows before and after the fall, and their minimum percentage of all rows.
const MIN_ROWS_EACH: usize = 5;
const MIN_ROWS_PERCENT: usize = 10;

/// Maximum rate after the fall, as a fraction of the rate before.
const MAX_RATE_RATIO: f64 = 0.7;

/// Minimum fall, as a multiple of the deviation before and after it.
const MIN_FALL_DEVIATIONS: f64 = 3.0;

/// Maximum squared error of two constant levels, as a fraction of that of a straight line, which must fit worse.
const MAX_ERROR_RATIO: f64 = 0.5;

/// Minimum part of the fall between the [`MIN_ROWS_EACH`] rows on either side of it: slower declines are not throttling.
const MIN_SUDDEN_RATIO: f64 = 0.6;

/// Fraction of the rows on each side that may be on the other side of the fall.
const MAX_STRAY_RATIO: f64 = 0.1;

/// Minimum share of all bytes for a direction to matter before the fall.
const MIN_BYTES_SHARE: f64 = 0.1;

/// Minimum I/Os in flight after the fall, as a fraction of those before: a slow device keeps the queue full, while jobs that end or wait do
/// not.
const MIN_DEPTH_RATIO: f64 = 0.8;

/// Options that make a job slower than the device, or vary its work.
const PACING_OPTIONS: [&str; 8] = [
    "rate",
    "rate_iops",
    "thinktime",
    "thinktime_iotime",
    "flow",
    "latency_target",
    "read_iolog",
    "transaction_rate",
];

/// A rate that fell and stayed low.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RateFall {
    /// Start of the rows before, the fall, and end of the rows after it, in ms since the start of the run.
    pub(super) ms: [u64; 3],
    /// I/Os per second before and after the fall.
    pub(super) iops: [f64; 2],
    /// Bytes per second before and after the fall.
    pub(super) bandwidth: [f64; 2],
}

impl RateFall {
    /// Describes the fall in words.
    pub(super) fn text(&self) -> String {
        let [before, after] = self.iops.map(|rate| Unit::PerSecond.text(rate));
        let [wide, narrow] = self.bandwidth.map(|rate| Unit::BytesPerSecond.text(rate));
        format!(
            "the rate fell from {before} to {after} I/Os per second ({wide} to {narrow}) and stayed there, \
             as with a burst limit or a full cache"
        )
    }
}

/// Describes a period of CPU throttling in words.
pub(super) fn cpu_text(period: &ThrottlingPeriod) -> String {
    let time = period.throttled_ms.map(|ms| Unit::Milliseconds.text(ms as f64));
    match (period.cause, time) {
        (ThrottlingCause::Cgroup, Some(time)) => {
            format!("the CPU limit of the cgroup stopped threads for {time}, added over CPUs")
        }
        (ThrottlingCause::Cgroup, None) => "the CPU limit of the cgroup stopped threads".to_owned(),
        (ThrottlingCause::Heat, Some(time)) => format!("heat slowed down the CPUs for {time}"),
        (ThrottlingCause::Heat, None) => "heat slowed down the CPUs".to_owned(),
    }
}

/// The falls of the rates of all tracks, with the indices of their tracks.
///
/// Only while the load is constant: a job that starts takes a part of the device from the others, and a job that ends lowers the rate of
/// its own track.
pub(super) fn rate_falls(
    report: &RunReport,
    ferrio: &FerrioReport,
    tracks: &[Track],
) -> Vec<(usize, RateFall)> {
    let begins: Vec<u64> = ferrio.series.iter().map(|entry| entry.start_ms).collect();
    let mut all = Vec::new();
    for (number, track) in tracks.iter().enumerate().filter(|(_, track)| !is_paced(report, track)) {
        for load in same_load(track, &begins) {
            let fall = fall(track, load).filter(|fall| !is_of_cpu(fall, &ferrio.throttling));
            all.extend(fall.map(|fall| (number, fall)));
        }
    }
    all
}

/// True if the listed options limit the speed of the track's jobs.
fn is_paced(report: &RunReport, track: &Track) -> bool {
    let is_of_track = |entry: &&JobReport| (&entry.jobname, entry.groupid) == (&track.jobname, track.groupid);
    let entries = || report.jobs.iter().filter(is_of_track);
    let members = entries().flat_map(|entry| report.members(entry)).flat_map(|member| &member.options.0);
    let own = entries().flat_map(|entry| &entry.job_options.0).chain(members);
    own.chain(&report.global_options.0).any(|(name, _)| PACING_OPTIONS.contains(&name.as_str()))
}

/// True if CPU throttling explains a fall: the CPUs were throttled most of the time after it.
fn is_of_cpu(fall: &RateFall, periods: &[ThrottlingPeriod]) -> bool {
    let [_, from, to] = fall.ms;
    let within = |period: &ThrottlingPeriod| period.to_ms.min(to).saturating_sub(period.from_ms.max(from));
    saturating_total(periods.iter().map(within)) > (to - from) / 2
}

/// The periods in which all jobs of a track were running and measured and no job started, in ms since the start of the run.
fn same_load(track: &Track, begins: &[u64]) -> Vec<[u64; 2]> {
    let from = track.spans.iter().map(|span| span[0]).max().unwrap_or(0).max(track.ramp);
    let to = track.spans.iter().map(|span| span[1]).min().unwrap_or(0);
    let mut cuts: Vec<u64> = begins.iter().copied().filter(|begin| (from..to).contains(begin)).collect();
    cuts.extend([from, to]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// A row with the rates of its directions.
struct RateRow {
    ms: [u64; 2],
    iops: f64,
    /// Bytes per second of each direction.
    bandwidth: Vec<f64>,
    /// I/Os in flight, if that is known.
    depth: Option<f64>,
}

/// The fall of the rate of a track between two times.
fn fall(track: &Track, [from, to]: [u64; 2]) -> Option<RateFall> {
    let rows = rows(track, from, to);
    let levels: Vec<f64> = rows.iter().map(|row| row.bandwidth.iter().sum()).collect();
    let at = split(&levels)?;
    let (before, after) = rows.split_at(at);
    let mean = |rows: &[RateRow], of: &dyn Fn(&RateRow) -> f64| {
        let time = rows.iter().map(|row| (row.ms[1] - row.ms[0]) as f64);
        let sum: f64 = rows.iter().zip(time.clone()).map(|(row, ms)| of(row) * ms).sum();
        sum / time.sum::<f64>()
    };
    let both = |of: &dyn Fn(&RateRow) -> f64| [mean(before, of), mean(after, of)];
    let iops = both(&|row| row.iops);
    let bandwidth = both(&|row| row.bandwidth.iter().sum());
    // Other block sizes or directions are different work.
    let is_same_work = (0..track.directions.len()).all(|direction| {
        let [was, is] = both(&|row: &RateRow| row.bandwidth[direction]);
        let mattered = was >= bandwidth[0] * MIN_BYTES_SHARE;
        is - was <= bandwidth[0] * MIN_BYTES_SHARE && (!mattered || is > 0.0)
    });
    let depths = |rows: &[RateRow]| -> Vec<f64> {
        let mut known: Vec<f64> = rows.iter().filter_map(|row| row.depth).collect();
        known.sort_by(f64::total_cmp);
        known
    };
    let [was, is] = [before, after].map(|rows| quantile(&depths(rows), 0.5));
    let is_as_deep = is >= was * MIN_DEPTH_RATIO || depths(after).is_empty();
    let has_fallen = |[was, is]: [f64; 2]| is > 0.0 && is < was * MAX_RATE_RATIO;
    let ms = [rows[0].ms[0], after[0].ms[0], rows[rows.len() - 1].ms[1]];
    (is_same_work && is_as_deep && has_fallen(iops) && has_fallen(bandwidth)).then_some(RateFall {
        ms,
        iops,
        bandwidth,
    })
}

/// The rows between two times, without those too short for a rate.
fn rows(track: &Track, from: u64, to: u64) -> Vec<RateRow> {
    let lengths = || track.edges.windows(2).map(|row| row[1] - row[0]);
    let usual = lengths().max().unwrap_or(0);
    let row = |(at, edges): (usize, &[u64])| {
        let ms = [edges[0], edges[1]];
        let seconds = (ms[1] - ms[0]) as f64 / 1000.0;
        let rate = |values: &[u64]| values.get(at).copied().unwrap_or(0) as f64 / seconds;
        let is_full = ms[0] >= from && ms[1] <= to && ms[1] - ms[0] > usual / 2;
        is_full.then(|| RateRow {
            ms,
            iops: track.directions.iter().map(|direction| rate(&direction.ios)).sum(),
            bandwidth: track.directions.iter().map(|direction| rate(&direction.bytes)).collect(),
            depth: track.depth.get(at).copied().flatten(),
        })
    };
    track.edges.windows(2).enumerate().filter_map(row).collect()
}

/// The index at which these successive values fall from one level to a lower one, if they do; both sides are constant except for noise.
fn split(values: &[f64]) -> Option<usize> {
    let least = MIN_ROWS_EACH.max((values.len() * MIN_ROWS_PERCENT).div_ceil(100));
    if values.len() < MIN_ROWS {
        return None;
    }
    // Prefix sums of the values and their squares: the squared error of a side is what remains of the squares.
    let mut sums = vec![[0.0; 2]];
    for &value in values {
        let [sum, squares] = sums[sums.len() - 1];
        sums.push([sum + value, squares + value * value]);
    }
    let error = |from: usize, to: usize| {
        let sum = sums[to][0] - sums[from][0];
        sums[to][1] - sums[from][1] - sum * sum / (to - from) as f64
    };
    let errors = |at: &usize| error(0, *at) + error(*at, values.len());
    let at = (least..=values.len() - least).min_by(|a, b| errors(a).total_cmp(&errors(b)))?;
    let side = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    let (before, after) = (side(&values[..at]), side(&values[at..]));
    let (was, is) = (quantile(&before, 0.5), quantile(&after, 0.5));
    // Most rows after a fall must have I/O; otherwise it is a stall.
    let is_fall = is > 0.0
        && is < was * MAX_RATE_RATIO
        && quantile(&after, 1.0 - MAX_STRAY_RATIO) < quantile(&before, MAX_STRAY_RATIO);
    let [last, first] = [&values[at - MIN_ROWS_EACH..at], &values[at..at + MIN_ROWS_EACH]];
    let is_at_once =
        quantile(&side(last), 0.5) - quantile(&side(first), 0.5) >= (was - is) * MIN_SUDDEN_RATIO;
    let is_clear = was - is > MIN_FALL_DEVIATIONS * deviation(&before).max(deviation(&after));
    (is_fall && is_at_once && is_clear && errors(&at) <= MAX_ERROR_RATIO * error_of_line(values))
        .then_some(at)
}

/// The quantile `part` of ascending values.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(0.0)
}

/// The standard deviation of ascending values, estimated from their median absolute deviation, which ignores outliers.
fn deviation(sorted: &[f64]) -> f64 {
    const NORMAL_FACTOR: f64 = 1.4826;
    let middle = quantile(sorted, 0.5);
    let mut distances: Vec<f64> = sorted.iter().map(|value| (value - middle).abs()).collect();
    distances.sort_by(f64::total_cmp);
    quantile(&distances, 0.5) * NORMAL_FACTOR
}

/// The squared error of the straight line that fits these values best.
fn error_of_line(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let (centre, mean) = ((count - 1.0) / 2.0, values.iter().sum::<f64>() / count);
    let places = || (0..values.len()).map(|at| at as f64 - centre);
    let spread: f64 = places().map(|place| place * place).sum();
    let slope = places().zip(values).map(|(place, value)| place * (value - mean)).sum::<f64>() / spread;
    places().zip(values).map(|(place, value)| (value - mean - slope * place).powi(2)).sum()
}

#[cfg(test)]
mod tests;
