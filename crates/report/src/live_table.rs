//! The figures of the live view: what each entry did in each of the last seconds.
//!
//! [`LiveRecorder`] looks at the run once a second, or less often if there are many jobs, and remembers what it has seen; the
//! [`LiveTable`] has what is shown. They are apart so that a thread can show the table without the figures of all jobs, and without
//! waiting for a look. Nothing here reads a clock.

use std::collections::VecDeque;
use std::time::Duration;

use ferrio_job::{Compat, Direction, Plan, Units};
use ferrio_results::{JobProgress, JobState, Progress, RunResult};
use ferrio_stats::cell_middle_ns;

use crate::build::entry_jobs;
use crate::eta;
use crate::live::units;
use crate::messages::report_name;
use crate::num::whole_ms;
use crate::series::{EntryLook, Merge, Row, RowIos, SeenJob, is_session};

/// Seconds that an entry remembers at most, while there are few entries.
const MAX_SECONDS: usize = 600;
/// Seconds that all entries remember at most.
const MAX_SECONDS_IN_ALL: usize = 40 * MAX_SECONDS;
/// Seconds that every entry may remember.
const FEW_SECONDS: usize = 60;
/// Jobs whose figures are looked at per second, so that looks cost less than 1 % of a CPU. With more jobs, looks are further apart.
const JOBS_PER_SECOND: usize = 250;
/// Most seconds between two looks.
const LONGEST_SECONDS: u64 = 10;

/// The smallest latency of each band, ns: 1, 2 and 5 in each decade. The first band has all below 100 ns, the last all from 100 s on.
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

/// Finds out what each entry did since the look before.
#[derive(Debug)]
pub struct LiveRecorder {
    entries: Vec<SeenEntry>,
    /// Per job of the plan.
    jobs: Vec<SeenJob>,
    /// When the last look was, ms since the start of the run.
    looked_ms: u64,
}

/// An entry at the last look.
#[derive(Debug)]
struct SeenEntry {
    /// Places of its jobs in the plan.
    jobs: Vec<usize>,
    /// End of its figures, ms since the start of the run; `None` before they began.
    until_ms: Option<u64>,
}

/// What a look has found.
#[derive(Clone, Debug)]
pub struct LiveLook {
    all: LiveFigures,
    entries: Vec<LiveFigures>,
}

/// What an entry, or all together, did between two looks.
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
    /// Transactions; `None` if none of its jobs does any.
    pub transactions: Option<Transactions>,
    /// Errors.
    pub errors: u64,
    /// I/Os by their latency, in the bands of [`BAND_STARTS_NS`].
    pub bands: [u32; BANDS],
}

/// Transactions of the sessions of a model of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transactions {
    /// Per second.
    pub rate: f64,
    /// How long they took; `None` without any.
    pub latency: Option<LiveLatency>,
}

/// Latencies, ns. Percentiles are at most 4.5 % off.
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
    /// How often to call [`LiveRecorder::look`]: whole seconds.
    #[must_use]
    pub fn every(plan: &Plan) -> Duration {
        let seconds = plan.jobs.len().div_ceil(JOBS_PER_SECOND) as u64;
        Duration::from_secs(seconds.clamp(1, LONGEST_SECONDS))
    }

    /// Without any look so far.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let entry = |jobs| SeenEntry { jobs, until_ms: None };
        LiveRecorder {
            entries: entry_jobs(plan).into_iter().map(entry).collect(),
            jobs: plan.jobs.iter().map(|job| SeenJob::with_transactions(&job.spec)).collect(),
            looked_ms: 0,
        }
    }

    /// What was done since the look before.
    pub fn look(&mut self, result: &RunResult) -> LiveLook {
        let elapsed_ms = whole_ms(result.elapsed);
        let passed_ms = elapsed_ms.saturating_sub(self.looked_ms);
        self.looked_ms = elapsed_ms;
        let mut all = Row::default();
        let mut entries = Vec::with_capacity(self.entries.len());
        for entry in &mut self.entries {
            let look = EntryLook::at(&entry.jobs, &mut self.jobs, result);
            let Some(row) = look.row else {
                entries.push(LiveFigures::default());
                continue;
            };
            let since = look.ramp_end.or(entry.until_ms).unwrap_or(look.began_ms);
            // Nothing is new of jobs that ended before, or only what is too short to have a time of its own.
            let length_ms = if row.end_ms > since { row.end_ms - since } else { passed_ms };
            entry.until_ms = Some(row.end_ms.max(since));
            entries.push(LiveFigures::of(&row, length_ms));
            all.append(row);
        }
        LiveLook { all: LiveFigures::of(&all, passed_ms), entries }
    }
}

impl LiveFigures {
    fn of(row: &Row, length_ms: u64) -> Self {
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
    /// Of the samples in these buckets, which are in ascending order.
    fn of(cells: &[(u64, u64)], max: u64) -> Option<Self> {
        let percentile = |percent| percentile(cells, percent).min(max);
        (!cells.is_empty()).then(|| LiveLatency { p50: percentile(50), p99: percentile(99), max })
    }
}

/// The band of a latency of `ns`.
fn band(ns: u64) -> usize {
    BAND_STARTS_NS.partition_point(|&start| start <= ns).saturating_sub(1)
}

/// The smallest latency that at least `percent` % of the samples in these buckets do not exceed, ns.
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

/// What the live view shows.
#[derive(Clone, Debug)]
pub struct LiveTable {
    /// Since the run began.
    pub elapsed: Duration,
    /// Time between two checks.
    pub every: Duration,
    /// Which directions the jobs have: read, write, trim.
    pub directions: [bool; 3],
    /// Any job does transactions.
    pub has_transactions: bool,
    /// The units of bandwidths.
    pub units: Units,
    /// All entries together.
    pub all: LiveEntry,
    /// The entries of the report, in its order.
    pub entries: Vec<LiveEntry>,
    /// How many jobs are in which state; only states in which any is.
    pub states: Vec<(JobState, usize)>,
}

/// One entry of the report.
#[derive(Clone, Debug)]
pub struct LiveEntry {
    /// The name of its first job.
    pub name: String,
    /// The number of its first job, from 1.
    pub number: u32,
    /// Places of its jobs in the plan.
    jobs: Vec<usize>,
    /// What most of the work is: of its jobs in different states, those that do I/O come first.
    pub state: JobState,
    /// Jobs in that state.
    pub in_state: usize,
    /// Seconds until it ends, if that can be estimated.
    pub left: Option<u64>,
    /// Errors since its start.
    pub errors: u64,
    /// The last seconds, oldest first.
    pub history: VecDeque<LiveFigures>,
    /// Seconds that the history may have.
    most: usize,
}

/// States in the order in which they stand for an entry.
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
    /// Of a run that has not begun.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let entries = entry_jobs(plan);
        let most = (MAX_SECONDS_IN_ALL / entries.len().max(1)).clamp(FEW_SECONDS, MAX_SECONDS);
        let all = (0..plan.jobs.len()).collect();
        LiveTable {
            elapsed: Duration::ZERO,
            every: LiveRecorder::every(plan),
            directions: Direction::ALL
                .map(|direction| plan.jobs.iter().any(|job| job.spec.rw.does(direction))),
            has_transactions: plan.jobs.iter().any(|job| is_session(&job.spec)),
            units: units(plan),
            all: LiveEntry { name: "all".to_owned(), ..LiveEntry::new(plan, all, MAX_SECONDS) },
            entries: entries.into_iter().map(|jobs| LiveEntry::new(plan, jobs, most)).collect(),
            states: vec![(JobState::NotCreated, plan.jobs.len())],
        }
    }

    /// Adds a look.
    pub fn add(&mut self, look: LiveLook) {
        self.all.add(look.all);
        self.entries.iter_mut().zip(look.entries).for_each(|(entry, second)| entry.add(second));
    }

    /// Sets the states and the times that are left, if a whole second has passed or jobs have changed their states: progress comes several
    /// times a second, and there may be thousands of jobs. True if they were set.
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

/// How many jobs are in which state; only states in which any is, in their order.
fn count_states(jobs: &[JobProgress]) -> Vec<(JobState, usize)> {
    let mut counts = STATES.map(|state| (state, 0));
    for job in jobs {
        counts[order(job.state)].1 += 1;
    }
    counts.into_iter().filter(|&(_, count)| count > 0).collect()
}

/// The place of a state in [`STATES`].
fn order(state: JobState) -> usize {
    STATES.iter().position(|&other| other == state).unwrap_or_default()
}

impl LiveEntry {
    fn new(plan: &Plan, jobs: Vec<usize>, most: usize) -> Self {
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
            most,
        }
    }

    /// How many jobs it has.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    /// The last second, while it does I/O.
    #[must_use]
    pub fn now(&self) -> Option<&LiveFigures> {
        let does_io = matches!(
            self.state,
            JobState::Running
                | JobState::Verifying
                | JobState::Fsyncing
                | JobState::Ramp
                | JobState::Finishing
        );
        self.history.back().filter(|_| does_io)
    }

    fn add(&mut self, second: LiveFigures) {
        if self.history.len() == self.most {
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
