//! The figures of the live view: those of each entry for each of the last seconds.
//!
//! [`LiveRecorder`] samples the run once a second, or less often if there are many jobs, and keeps the previous sample; [`LiveTable`] has
//! the displayed figures. They are separate so that a thread can show the table without owning the figures of all jobs and without waiting
//! for a sample. Nothing here reads a clock.
//!
//! `figures` has the figures of a row between two samples. `hosts` has the same view of a run on many hosts, whose rows are hosts.

mod figures;
mod hosts;

use std::collections::VecDeque;
use std::time::Duration;

use ferrio_job::{Compat, Direction, Plan, Units};
use ferrio_results::{JobProgress, JobState, Progress, RunResult};

use crate::build::entry_jobs;
use crate::database::is_session;
use crate::eta;
use crate::live::{does_io, units};
use crate::messages::report_name;
use crate::num::whole_ms;
use crate::series::{EntrySample, Merge, SampledJob, SeriesRow};
pub use figures::{BAND_STARTS_NS, LiveFigures, LiveLatency, Transactions};
pub use hosts::{HostState, HostsRecorder, HostsSample};

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
    /// The entries of the report, in its order; the hosts by rank, in a run on many.
    pub entries: Vec<LiveEntry>,
    /// True if the entries are hosts.
    pub has_hosts: bool,
    /// Number of jobs in each state, without empty states.
    pub states: Vec<(JobState, usize)>,
}

/// One entry of the report, or one host.
#[derive(Clone, Debug)]
pub struct LiveEntry {
    /// Name of the first job, or of the host.
    pub name: String,
    /// Number of the first job, from 1, or the rank of the host.
    pub number: u32,
    /// How far the host is; `None` for an entry of the report, and for all hosts together.
    pub host: Option<HostState>,
    /// Indices of its jobs in the plan; empty for a host.
    jobs: Vec<usize>,
    /// Number of jobs.
    job_count: usize,
    /// Number of jobs in each of [`STATES`], for a host.
    counts: [usize; STATES.len()],
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
            has_hosts: false,
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
    let mut counts = [0; STATES.len()];
    for job in jobs {
        counts[order(job.state)] += 1;
    }
    counted(counts)
}

/// The states with their numbers of jobs, without empty ones.
fn counted(counts: [usize; STATES.len()]) -> Vec<(JobState, usize)> {
    STATES.into_iter().zip(counts).filter(|&(_, count)| count > 0).collect()
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
            host: None,
            in_state: jobs.len(),
            job_count: jobs.len(),
            counts: [0; STATES.len()],
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
        self.job_count
    }

    /// The latest figures, while the entry does I/O.
    #[must_use]
    pub fn now(&self) -> Option<&LiveFigures> {
        let is_running = self.host.is_none_or(|host| host == HostState::Running);
        self.history.back().filter(|_| is_running && does_io(self.state))
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
