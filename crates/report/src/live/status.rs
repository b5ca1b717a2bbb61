//! What the live line says of one run, or of the part of a run that is on one host: plain data, which an agent can send.

use std::time::Duration;

use ferrio_job::{Compat, Direction, JobSpec, Plan, ReadWrite, Units};
use ferrio_results::{JobProgress, JobState, Progress};
use serde::{Deserialize, Serialize};

use crate::eta;
use crate::num::{NumberUnit, Prefixes, num};

/// Significant digits of rates, whatever the jobs ask for.
pub(super) const RATE_FIGURES: u8 = 4;

/// What a line says of one run, or of the part of a run that is on one host.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LiveStatus {
    /// Jobs that do I/O.
    pub(super) running: usize,
    /// Jobs that do not yet.
    pub(super) setting_up: usize,
    /// The jobs that do I/O are all in their ramp.
    pub(super) all_ramp: bool,
    pub(super) has_ended: bool,
    /// Open files of jobs beyond their ramp.
    pub(super) files: u64,
    pub(super) limits: RateLimits,
    /// One letter per job, with equal neighbours merged.
    pub(super) states: String,
    /// Number of jobs in each state that any has.
    #[serde(default)]
    pub(super) counts: Vec<(JobState, usize)>,
    /// Seconds until the jobs have ended; absent if unknown.
    pub(super) remaining: Option<u64>,
    pub(super) totals: LiveTotals,
    pub(super) units: Units,
}

impl LiveStatus {
    /// That of a run here.
    #[must_use]
    pub fn new(plan: &Plan, progress: &Progress, compat: Compat) -> Self {
        let jobs: Vec<(&JobSpec, &JobProgress)> = eta::jobs(plan, progress).collect();
        let running: Vec<(&JobSpec, &JobProgress)> =
            jobs.iter().copied().filter(|(_, job)| does_io(job.state)).collect();
        // The files and limits of jobs in their ramp are not counted.
        let beyond_ramp = || running.iter().filter(|(_, job)| job.state != JobState::Ramp);
        let remaining = eta::remaining(plan, progress, compat);
        LiveStatus {
            running: running.len(),
            setting_up: progress.jobs.iter().filter(|job| job.state == JobState::SettingUp).count(),
            all_ramp: !running.is_empty() && running.iter().all(|(_, job)| job.state == JobState::Ramp),
            has_ended: progress.jobs.iter().all(|job| eta::has_ended(job.state)),
            files: beyond_ramp().map(|(_, job)| u64::from(job.open_files)).sum(),
            limits: RateLimits::of(beyond_ramp().map(|(spec, _)| *spec)),
            states: states(&jobs),
            counts: counts(progress),
            remaining: remaining.filter(|_| compat == Compat::Ferrio || !running.is_empty()),
            totals: LiveTotals::of(progress),
            units: units(plan),
        }
    }

    /// Number of jobs in each state that any has; unknown for several hosts together.
    pub(crate) fn counts(&self) -> &[(JobState, usize)] {
        &self.counts
    }

    /// Seconds until the jobs have ended; `None` if unknown.
    pub(crate) const fn remaining(&self) -> Option<u64> {
        self.remaining
    }

    /// That of a run whose parts are on several hosts.
    #[must_use]
    pub fn together<'a>(parts: impl Iterator<Item = &'a LiveStatus> + Clone) -> Self {
        let running = || parts.clone().filter(|part| part.running > 0);
        let states: Vec<&str> = parts.clone().map(|part| part.states.as_str()).collect();
        let units = || parts.clone().map(|part| part.units);
        LiveStatus {
            running: running().map(|part| part.running).sum(),
            setting_up: parts.clone().map(|part| part.setting_up).sum(),
            all_ramp: running().next().is_some() && running().all(|part| part.all_ramp),
            has_ended: parts.clone().all(|part| part.has_ended),
            files: parts.clone().map(|part| part.files).sum(),
            limits: parts.clone().fold(RateLimits::default(), |sum, part| sum.plus(part.limits)),
            states: states.join(","),
            counts: Vec::new(),
            remaining: parts.clone().filter_map(|part| part.remaining).max(),
            totals: parts.clone().fold(LiveTotals::default(), |sum, part| sum.plus(&part.totals)),
            units: Units {
                kb_base: units().map(|units| units.kb_base).max().unwrap_or(1024),
                unit_base: units().map(|units| units.unit_base).max().unwrap_or(8),
                significant_figures: units().last().map_or(RATE_FIGURES, |units| units.significant_figures),
            },
        }
    }
}

/// Number of jobs in each state that any has.
fn counts(progress: &Progress) -> Vec<(JobState, usize)> {
    let count = |&state: &JobState| (state, progress.jobs.iter().filter(|job| job.state == state).count());
    JobState::ALL.iter().map(count).filter(|&(_, count)| count > 0).collect()
}

/// Sums over all jobs at one moment, including ramps.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct LiveTotals {
    pub(super) elapsed: Duration,
    /// True if a job moved bytes outside its ramp.
    pub(super) moved: bool,
    pub(super) bytes: [u64; 3],
    pub(super) ios: [u64; 3],
    pub(super) transactions: u64,
}

impl LiveTotals {
    pub(super) fn of(progress: &Progress) -> Self {
        let sum = |counters: fn(&JobProgress) -> &[u64; 3]| {
            [0, 1, 2].map(|direction| progress.jobs.iter().map(|job| counters(job)[direction]).sum())
        };
        let moves =
            |job: &JobProgress| job.state != JobState::Ramp && job.bytes.iter().any(|&bytes| bytes > 0);
        LiveTotals {
            elapsed: progress.elapsed,
            moved: progress.jobs.iter().any(moves),
            bytes: sum(|job| &job.bytes),
            ios: sum(|job| &job.ios),
            transactions: progress.jobs.iter().map(|job| job.transactions).sum(),
        }
    }
}

impl LiveTotals {
    fn plus(self, other: &LiveTotals) -> Self {
        let sum = |a: [u64; 3], b: [u64; 3]| [0, 1, 2].map(|at| a[at].saturating_add(b[at]));
        LiveTotals {
            elapsed: self.elapsed.max(other.elapsed),
            moved: self.moved || other.moved,
            bytes: sum(self.bytes, other.bytes),
            ios: sum(self.ios, other.ios),
            transactions: self.transactions.saturating_add(other.transactions),
        }
    }
}

/// True for states in which a job may have I/Os in flight.
pub(crate) const fn does_io(state: JobState) -> bool {
    matches!(
        state,
        JobState::Ramp | JobState::Running | JobState::Verifying | JobState::Fsyncing | JobState::Finishing
    )
}

/// The units of the line: decimal prefixes or bits only if all jobs use them. The number of significant digits is the last job's.
pub(crate) fn units(plan: &Plan) -> Units {
    let units = || plan.jobs.iter().map(|job| job.spec.units);
    Units {
        kb_base: units().map(|units| units.kb_base).max().unwrap_or(1024),
        unit_base: units().map(|units| units.unit_base).max().unwrap_or(8),
        significant_figures: plan.jobs.last().map_or(RATE_FIGURES, |job| job.spec.units.significant_figures),
    }
}

/// The sums of the minimum and maximum rates of jobs, in bytes even if rates are in bits.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct RateLimits {
    least_bytes: u64,
    bytes: u64,
    least_iops: u64,
    iops: u64,
}

impl RateLimits {
    fn of<'a>(jobs: impl Iterator<Item = &'a JobSpec> + Clone) -> Self {
        let sum = |limit: fn(&JobSpec, Direction) -> u64| -> u64 {
            let of_job = |spec: &JobSpec| -> u64 {
                Direction::ALL.into_iter().filter(|&d| spec.rw.does(d)).map(|d| limit(spec, d)).sum()
            };
            jobs.clone().map(of_job).sum()
        };
        RateLimits {
            least_bytes: sum(|spec, direction| spec.rates.min_bytes[direction]),
            bytes: sum(|spec, direction| spec.rates.bytes[direction]),
            least_iops: sum(|spec, direction| spec.rates.min_iops[direction]),
            iops: sum(|spec, direction| spec.rates.iops[direction]),
        }
    }

    fn plus(self, other: RateLimits) -> Self {
        RateLimits {
            least_bytes: self.least_bytes.saturating_add(other.least_bytes),
            bytes: self.bytes.saturating_add(other.bytes),
            least_iops: self.least_iops.saturating_add(other.least_iops),
            iops: self.iops.saturating_add(other.iops),
        }
    }

    pub(super) fn text(self, units: Units) -> String {
        let RateLimits { least_bytes, bytes, least_iops, iops } = self;
        if bytes > 0 || least_bytes > 0 {
            let prefixes = Prefixes::of_kb_base(units.kb_base);
            let text = |rate| num(rate, units.significant_figures, prefixes, NumberUnit::BytesPerSecond);
            format!(", {}-{}", text(least_bytes), text(bytes))
        } else if iops > 0 || least_iops > 0 {
            format!(", {least_iops}-{iops} IOPS")
        } else {
            String::new()
        }
    }
}

/// One letter per job in order, with equal neighbours merged: `m(2),_(1)`.
pub(super) fn states(jobs: &[(&JobSpec, &JobProgress)]) -> String {
    let letters: Vec<char> = jobs.iter().map(|(spec, job)| letter(spec, job.state)).collect();
    let runs: Vec<String> =
        letters.chunk_by(|a, b| a == b).map(|run| format!("{}({})", run[0], run.len())).collect();
    runs.join(",")
}

fn letter(spec: &JobSpec, state: JobState) -> char {
    match state {
        JobState::NotCreated => 'P',
        JobState::Initialized | JobState::SettingUp => 'I',
        JobState::PreReading => 'p',
        JobState::Ramp => '/',
        JobState::Verifying => 'V',
        JobState::Running => workload_letter(spec),
        JobState::Fsyncing => 'F',
        JobState::Finishing => 'f',
        JobState::Reaped => '_',
        JobState::Failed => 'X',
    }
}

/// The letter for the workload of a running job; capitals are sequential. A mix of 0 % or 100 % reads counts as writes or reads.
pub(super) fn workload_letter(spec: &JobSpec) -> char {
    let sequential = match spec.rw {
        ReadWrite::Read | ReadWrite::RandRead => 'R',
        ReadWrite::Write | ReadWrite::RandWrite | ReadWrite::TrimWrite | ReadWrite::RandTrimWrite => 'W',
        ReadWrite::Trim | ReadWrite::RandTrim => 'D',
        ReadWrite::Every => 'M',
        ReadWrite::Mixed | ReadWrite::RandMixed => match spec.rwmixread {
            100 => 'R',
            0 => 'W',
            _ => 'M',
        },
    };
    if spec.rw.is_random() { sequential.to_ascii_lowercase() } else { sequential }
}
