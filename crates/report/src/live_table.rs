//! The figures of the live view: those of each entry for each of the last seconds.
//!
//! [`LiveRecorder`] samples the run once a second, or less often if there are many jobs, and keeps the previous sample; [`LiveTable`] has
//! the displayed figures. They are separate so that a thread can show the table without owning the figures of all jobs and without waiting
//! for a sample. Nothing here reads a clock.

use std::collections::VecDeque;
use std::time::Duration;

use ferrio_job::{Compat, Direction, Plan, Units};
use ferrio_results::{JobProgress, JobState, Progress, RunResult};
use ferrio_stats::cell_middle_ns;

use crate::build::entry_jobs;
use crate::database::is_session;
use crate::eta;
use crate::live::{does_io, units};
use crate::messages::report_name;
use crate::num::whole_ms;
use crate::series::{EntrySample, Merge, RowIos, SampledJob, SeriesRow};

/// Maximum history of an entry, while there are few entries.
const MAX_SECONDS: usize = 600;
/// Maximum history of all entries together.
const MAX_TOTAL_SECONDS: usize = 40 * MAX_SECONDS;
/// History that every entry may have, however many there are.
const GUARANTEED_SECONDS: usize = 60;
/// Number of jobs sampled per second, which keeps the cost below 1 % of a CPU. More jobs make samples less frequent.
const JOBS_PER_SECOND: usize = 250;
/// Longest time between two samples.
const MAX_SAMPLE_SECONDS: u64 = 10;

/// The smallest latency of each band in ns: 1, 2 and 5 in each decade. The first band has everything below 100 ns, the last everything from
/// 100 s on.
pub const BAND_STARTS_NS: [u64; BANDS] = band_starts();
const BANDS: usize = 29;

const fn band_starts() -> [u64; BANDS] {
    let mut starts = [0; BANDS];
    let (mut band, mut decade) = (1, 100);
    while band < BANDS {
        starts[band] = decade * [1, 2, 5][(band - 1) % 3];
        if band % 3 == 0 {
            decade *= 10;
        }
        band += 1;
    }
    starts
}

/// Computes the figures of each entry since the previous sample.
#[derive(Debug)]
pub struct LiveRecorder {
    entries: Vec<SampledEntry>,
    /// Indexed by job of the plan.
    jobs: Vec<SampledJob>,
    /// Time of the last sample in ms since the start of the run.
    sampled_ms: u64,
}

/// An entry at the last sample.
#[derive(Debug)]
struct SampledEntry {
    /// Indices of its jobs in the plan.
    jobs: Vec<usize>,
    /// End of its figures in ms since the start of the run; `None` before they began.
    until_ms: Option<u64>,
}

/// The figures since the previous sample.
#[derive(Clone, Debug)]
pub struct LiveSample {
    all: LiveFigures,
    entries: Vec<LiveFigures>,
}

/// The figures of an entry, or of all together, between two samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveFigures {
    /// I/Os per second: read, write, trim.
    pub iops: [f64; 3],
    /// Bytes per second: read, write, trim.
    pub bandwidth: [f64; 3],
    /// Latencies of all directions together; `None` without any.
    pub latency: Option<LiveLatency>,
    /// I/Os in flight on average; `None` if no latency is measured.
    pub depth: Option<f64>,
    /// Transactions; `None` if no job of the entry does any.
    pub transactions: Option<Transactions>,
    /// Errors.
    pub errors: u64,
    /// Number of I/Os in each latency band of [`BAND_STARTS_NS`].
    pub bands: [u32; BANDS],
}

/// Transactions of the sessions of a database model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transactions {
    /// Transactions per second.
    pub rate: f64,
    /// Latencies of transactions; `None` without any.
    pub latency: Option<LiveLatency>,
}

/// Latencies in ns. Percentiles are accurate to 4.5 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveLatency {
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}

impl LiveRecorder {
    /// The interval at which to call [`LiveRecorder::sample`]: whole seconds.
    #[must_use]
    pub fn sample_interval(plan: &Plan) -> Duration {
        let seconds = plan.jobs.len().div_ceil(JOBS_PER_SECOND) as u64;
        Duration::from_secs(seconds.clamp(1, MAX_SAMPLE_SECONDS))
    }

    /// Creates a recorder without samples.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let entry = |jobs| SampledEntry { jobs, until_ms: None };
        LiveRecorder {
            entries: entry_jobs(plan).into_iter().map(entry).collect(),
            jobs: plan.jobs.iter().map(|job| SampledJob::with_transactions(&job.spec)).collect(),
            sampled_ms: 0,
        }
    }

    /// Samples the run and returns the figures since the previous sample.
    pub fn sample(&mut self, result: &RunResult) -> LiveSample {
        let elapsed_ms = whole_ms(result.elapsed);
        let passed_ms = elapsed_ms.saturating_sub(self.sampled_ms);
        self.sampled_ms = elapsed_ms;
        let mut all = SeriesRow::default();
        let mut entries = Vec::with_capacity(self.entries.len());
        for entry in &mut self.entries {
            let sample = EntrySample::at(&entry.jobs, &mut self.jobs, result);
            let Some(row) = sample.row else {
                entries.push(LiveFigures::default());
                continue;
            };
            let since = sample.ramp_end.or(entry.until_ms).unwrap_or(sample.began_ms);
            // Jobs that ended before add nothing, or only a remainder that is too short to have a rate.
            let length_ms = if row.end_ms > since { row.end_ms - since } else { passed_ms };
            entry.until_ms = Some(row.end_ms.max(since));
            entries.push(LiveFigures::of(&row, length_ms));
            all.append(row);
        }
        LiveSample { all: LiveFigures::of(&all, passed_ms), entries }
    }
}

impl LiveFigures {
    fn of(row: &SeriesRow, length_ms: u64) -> Self {
        let seconds = length_ms.max(1) as f64 / 1e3;
        let rate = |amount: u64| amount as f64 / seconds;
        let mut bands = [0u32; BANDS];
        let mut cells: Vec<(u64, u64)> =
            row.directions.iter().flat_map(|direction| &direction.cells).map(|(&at, &n)| (at, n)).collect();
        cells.sort_unstable();
        for &(bucket, count) in &cells {
            let band = &mut bands[band(cell_middle_ns(bucket))];
            *band = band.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        }
        let max = row.directions.iter().map(|direction| direction.max_ns).max().unwrap_or_default();
        let transactions = |ios: &RowIos| {
            let cells: Vec<(u64, u64)> = ios.cells.iter().map(|(&at, &n)| (at, n)).collect();
            Transactions { rate: rate(ios.ios), latency: LiveLatency::of(&cells, ios.max_ns) }
        };
        LiveFigures {
            iops: [0, 1, 2].map(|at| rate(row.directions[at].ios)),
            bandwidth: [0, 1, 2].map(|at| rate(row.directions[at].bytes)),
            latency: LiveLatency::of(&cells, max),
            depth: row.mean_depth(length_ms),
            transactions: row.transactions.as_ref().map(transactions),
            errors: row.errors,
            bands,
        }
    }

    /// I/Os per second in all directions.
    #[must_use]
    pub fn total_iops(&self) -> f64 {
        self.iops.iter().sum()
    }

    /// Bytes per second in all directions.
    #[must_use]
    pub fn total_bandwidth(&self) -> f64 {
        self.bandwidth.iter().sum()
    }
}

impl LiveLatency {
    /// The latencies in these buckets, which are in ascending order.
    fn of(cells: &[(u64, u64)], max: u64) -> Option<Self> {
        let percentile = |percent| percentile(cells, percent).min(max);
        (!cells.is_empty()).then(|| LiveLatency { p50: percentile(50), p99: percentile(99), max })
    }
}

/// The band of a latency of `ns`.
fn band(ns: u64) -> usize {
    BAND_STARTS_NS.partition_point(|&start| start <= ns).saturating_sub(1)
}

/// The smallest latency in ns that at least `percent` % of the samples in these buckets do not exceed.
fn percentile(cells: &[(u64, u64)], percent: u64) -> u64 {
    let samples: u64 = cells.iter().map(|&(_, count)| count).sum();
    let wanted = u128::from(samples) * u128::from(percent);
    let mut seen = 0u128;
    for &(bucket, count) in cells {
        seen += u128::from(count) * 100;
        if seen >= wanted {
            return cell_middle_ns(bucket);
        }
    }
    0
}

/// Everything that the live view shows.
#[derive(Clone, Debug)]
pub struct LiveTable {
    /// Time since the run began.
    pub elapsed: Duration,
    /// Interval between two samples.
    pub sample_interval: Duration,
    /// True for each direction that the jobs have: read, write, trim.
    pub directions: [bool; 3],
    /// True if any job does transactions.
    pub has_transactions: bool,
    /// The units of bandwidths.
    pub units: Units,
    /// All entries together.
    pub all: LiveEntry,
    /// The entries of the report, in its order.
    pub entries: Vec<LiveEntry>,
    /// Number of jobs in each state, without empty states.
    pub states: Vec<(JobState, usize)>,
}

/// One entry of the report.
#[derive(Clone, Debug)]
pub struct LiveEntry {
    /// Name of the first job.
    pub name: String,
    /// Number of the first job, from 1.
    pub number: u32,
    /// Indices of its jobs in the plan.
    jobs: Vec<usize>,
    /// The state shown for the entry. If its jobs differ, states with I/O have precedence.
    pub state: JobState,
    /// Number of jobs in that state.
    pub in_state: usize,
    /// Estimated seconds until the entry ends.
    pub left: Option<u64>,
    /// Errors since the start of the entry.
    pub errors: u64,
    /// Figures of the last seconds, oldest first.
    pub history: VecDeque<LiveFigures>,
    /// Maximum length of the history in seconds.
    max_seconds: usize,
}

/// States in order of precedence for an entry.
const STATES: [JobState; 11] = [
    JobState::Running,
    JobState::Verifying,
    JobState::Fsyncing,
    JobState::Ramp,
    JobState::Finishing,
    JobState::PreReading,
    JobState::SettingUp,
    JobState::Initialized,
    JobState::NotCreated,
    JobState::Failed,
    JobState::Reaped,
];

impl LiveTable {
    /// The table of a run that has not begun.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let entries = entry_jobs(plan);
        let max_seconds = (MAX_TOTAL_SECONDS / entries.len().max(1)).clamp(GUARANTEED_SECONDS, MAX_SECONDS);
        let all = (0..plan.jobs.len()).collect();
        LiveTable {
            elapsed: Duration::ZERO,
            sample_interval: LiveRecorder::sample_interval(plan),
            directions: Direction::ALL
                .map(|direction| plan.jobs.iter().any(|job| job.spec.rw.does(direction))),
            has_transactions: plan.jobs.iter().any(|job| is_session(&job.spec)),
            units: units(plan),
            all: LiveEntry { name: "all".to_owned(), ..LiveEntry::new(plan, all, MAX_SECONDS) },
            entries: entries.into_iter().map(|jobs| LiveEntry::new(plan, jobs, max_seconds)).collect(),
            states: vec![(JobState::NotCreated, plan.jobs.len())],
        }
    }

    /// Adds a sample.
    pub fn add(&mut self, sample: LiveSample) {
        self.all.add(sample.all);
        self.entries.iter_mut().zip(sample.entries).for_each(|(entry, second)| entry.add(second));
    }

    /// Updates states and remaining times if a whole second has passed or jobs have changed their states, as progress may arrive several
    /// times a second for thousands of jobs. Returns true if they were updated.
    pub fn set_progress(&mut self, plan: &Plan, progress: &Progress) -> bool {
        let states = count_states(&progress.jobs);
        if progress.elapsed.as_secs() == self.elapsed.as_secs() && states == self.states {
            return false;
        }
        self.elapsed = progress.elapsed;
        self.states = states;
        let left: Vec<u64> = eta::each_remaining(plan, progress, 0).collect();
        for entry in &mut self.entries {
            entry.set_progress(progress);
            entry.left = entry.jobs.iter().filter_map(|&job| left.get(job)).copied().max();
            entry.left = entry.left.filter(|&seconds| seconds > 0);
        }
        self.all.set_progress(progress);
        self.all.left = eta::remaining(plan, progress, Compat::Ferrio).filter(|&seconds| seconds > 0);
        true
    }
}

/// Number of jobs in each state, without empty states, in precedence order.
fn count_states(jobs: &[JobProgress]) -> Vec<(JobState, usize)> {
    let mut counts = STATES.map(|state| (state, 0));
    for job in jobs {
        counts[order(job.state)].1 += 1;
    }
    counts.into_iter().filter(|&(_, count)| count > 0).collect()
}

/// The index of a state in [`STATES`].
fn order(state: JobState) -> usize {
    STATES.iter().position(|&other| other == state).unwrap_or_default()
}

impl LiveEntry {
    fn new(plan: &Plan, jobs: Vec<usize>, max_seconds: usize) -> Self {
        let first = jobs.first().map(|&first| &plan.jobs[first].spec);
        LiveEntry {
            name: first.map_or("", report_name).to_owned(),
            number: first.map_or(0, |spec| spec.number),
            state: JobState::NotCreated,
            in_state: jobs.len(),
            jobs,
            left: None,
            errors: 0,
            history: VecDeque::new(),
            max_seconds,
        }
    }

    /// Number of jobs.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    /// The latest figures, while the entry does I/O.
    #[must_use]
    pub fn now(&self) -> Option<&LiveFigures> {
        self.history.back().filter(|_| does_io(self.state))
    }

    fn add(&mut self, second: LiveFigures) {
        if self.history.len() == self.max_seconds {
            self.history.pop_front();
        }
        self.errors += second.errors;
        self.history.push_back(second);
    }

    fn set_progress(&mut self, progress: &Progress) {
        let states = self.jobs.iter().filter_map(|&job| progress.jobs.get(job)).map(|job| order(job.state));
        let Some(first) = states.clone().min() else { return };
        self.state = STATES[first];
        self.in_state = states.filter(|&state| state == first).count();
    }
}

#[cfg(test)]
mod tests;
