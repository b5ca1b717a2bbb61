//! The live view of a run on many hosts: a row for each host, and all hosts together on the common time axis.
//!
//! The figures come from the snapshots that hosts send for the interval report and the metrics, too.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ferrio_job::{Direction, Units};
use ferrio_results::JobState;
use ferrio_stats::JobStats;

use super::{
    GUARANTEED_SECONDS, JOBS_PER_SECOND, LiveEntry, LiveFigures, LiveSample, LiveTable, MAX_SAMPLE_SECONDS,
    MAX_SECONDS, MAX_TOTAL_SECONDS, STATES, counted, order,
};
use crate::hosts::HostsReport;
use crate::live::LiveStatus;
use crate::num::whole_ms;
use crate::series::{Merge, SampledJob, SeriesRow};

/// How far a host of a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostState {
    /// Its agent has not answered.
    #[default]
    Connecting,
    /// Its agent plans the jobs, and lays out files.
    Preparing,
    /// Its jobs have begun.
    Running,
    /// It has sent its results.
    Ended,
    /// It gives no results, or no more.
    Lost,
}

impl HostState {
    /// The state in words; `None` where the states of the jobs say more.
    #[must_use]
    pub const fn word(self) -> Option<&'static str> {
        match self {
            HostState::Connecting => Some("connecting"),
            HostState::Preparing => Some("preparing"),
            HostState::Running => None,
            HostState::Ended => Some("ended"),
            HostState::Lost => Some("LOST"),
        }
    }
}

/// Computes the figures of each host since the previous sample.
#[derive(Debug)]
pub struct HostsRecorder {
    hosts: Vec<SampledHost>,
    /// The end of the last sample on the common axis.
    until: Duration,
}

/// A host at the last sample.
#[derive(Clone, Debug, Default)]
struct SampledHost {
    /// In the order of its report.
    entries: Vec<SampledJob>,
    /// In the order of its report.
    databases: Vec<SampledJob>,
    /// The snapshot of that sample, on the common axis.
    at: Duration,
    /// The figures of that sample.
    last: LiveFigures,
}

/// The figures since the previous sample, and what the jobs turn out to do.
#[derive(Clone, Debug)]
pub struct HostsSample {
    sample: LiveSample,
    directions: [bool; 3],
    has_transactions: bool,
    units: Option<Units>,
}

impl HostsRecorder {
    /// Creates a recorder without samples.
    #[must_use]
    pub fn new(hosts: usize) -> Self {
        HostsRecorder { hosts: vec![SampledHost::default(); hosts], until: Duration::ZERO }
    }

    /// The interval of samples for so many hosts, which send snapshots every `snapshots`, if something else asks for that.
    #[must_use]
    pub fn sample_interval(hosts: usize, snapshots: Option<Duration>) -> Duration {
        let seconds = hosts.div_ceil(JOBS_PER_SECOND) as u64;
        let least = Duration::from_secs(seconds.clamp(1, MAX_SAMPLE_SECONDS));
        match snapshots.filter(|every| !every.is_zero()) {
            None => least,
            Some(every) => {
                let snapshots = least.as_nanos().div_ceil(every.as_nanos());
                every.saturating_mul(u32::try_from(snapshots).unwrap_or(u32::MAX))
            }
        }
    }

    /// Samples the snapshots that hosts have sent, of the moments `at` on the common axis, and returns the figures since the previous
    /// sample.
    pub fn sample(&mut self, run: &HostsReport, at: &[Duration]) -> HostsSample {
        let until = at.iter().copied().max().unwrap_or_default().max(self.until);
        let passed = until - std::mem::replace(&mut self.until, until);
        let mut together = SeriesRow::default();
        let mut sum = LiveFigures::default();
        let mut hosts = Vec::with_capacity(self.hosts.len());
        let (mut directions, mut has_transactions, mut units) = ([false; 3], false, None);
        for (rank, (host, &at)) in self.hosts.iter_mut().zip(at).enumerate() {
            let Some(report) = run.report_of(rank) else {
                hosts.push(LiveFigures::default());
                continue;
            };
            let mut row = SeriesRow::default();
            host.entries.resize_with(report.entries.len(), SampledJob::default);
            for (seen, entry) in host.entries.iter_mut().zip(&report.entries) {
                seen.add_new_figures(entry.start_ms, &entry.stats, None, &mut row);
                units = units.or(Some(entry.units));
                for direction in Direction::ALL.map(|direction| direction as usize) {
                    directions[direction] |=
                        entry.does[direction] || entry.stats.directions[direction].ios > 0;
                }
            }
            host.databases.resize_with(report.databases.len(), SampledJob::of_transactions);
            for (seen, database) in host.databases.iter_mut().zip(&report.databases) {
                let totals = &database.totals;
                let transactions = (totals.transactions, Arc::new(totals.latency.clone()));
                seen.add_new_figures(0, &JobStats::default(), Some(transactions), &mut row);
                has_transactions = true;
            }
            let length = at.saturating_sub(host.at);
            host.at = host.at.max(at);
            let figures = match length.is_zero() && row.is_idle() {
                // The sample before had two of its snapshots, and another host's is late.
                true if !run.is_over(rank) => LiveFigures { errors: 0, ..host.last.clone() },
                // What came with the results of a host has no time of its own.
                _ if length.is_zero() => LiveFigures::of(&row, whole_ms(passed)),
                _ => LiveFigures::of(&row, whole_ms(length)),
            };
            sum.add_rates(&figures);
            host.last = figures.clone();
            hosts.push(figures);
            together.append(row);
        }
        let latencies = LiveFigures::of(&together, whole_ms(passed));
        let sample = LiveSample { all: latencies.with_rates(&sum), entries: hosts };
        HostsSample { sample, directions, has_transactions, units }
    }
}

impl LiveFigures {
    /// Adds the rates of another host in the same time.
    fn add_rates(&mut self, other: &LiveFigures) {
        for at in 0..3 {
            self.iops[at] += other.iops[at];
            self.bandwidth[at] += other.bandwidth[at];
        }
        if let Some(depth) = other.depth {
            *self.depth.get_or_insert_default() += depth;
        }
        if let Some(transactions) = other.transactions {
            self.transactions.get_or_insert_default().rate += transactions.rate;
        }
    }

    /// The latencies of these figures, and the rates of others.
    fn with_rates(mut self, rates: &LiveFigures) -> Self {
        if let (Some(transactions), Some(rates)) = (&mut self.transactions, rates.transactions) {
            transactions.rate = rates.rate;
        }
        LiveFigures { iops: rates.iops, bandwidth: rates.bandwidth, depth: rates.depth, ..self }
    }
}

impl LiveTable {
    /// The table of a run on hosts of these names that has not begun.
    #[must_use]
    pub fn of_hosts(names: &[String], sample_interval: Duration) -> Self {
        let max_seconds = (MAX_TOTAL_SECONDS / names.len().max(1)).clamp(GUARANTEED_SECONDS, MAX_SECONDS);
        let host = |(rank, name): (u32, &String)| LiveEntry {
            host: Some(HostState::Connecting),
            number: rank,
            ..LiveEntry::without_jobs(name, max_seconds)
        };
        LiveTable {
            elapsed: Duration::ZERO,
            sample_interval,
            directions: [false; 3],
            has_transactions: false,
            units: Units { kb_base: 1024, unit_base: 8, significant_figures: 4 },
            all: LiveEntry::without_jobs("all", MAX_SECONDS),
            entries: (0..).zip(names).map(host).collect(),
            has_hosts: true,
            states: Vec::new(),
        }
    }

    /// Adds a sample of all hosts.
    pub fn add_hosts(&mut self, sample: HostsSample) {
        for (known, new) in self.directions.iter_mut().zip(sample.directions) {
            *known |= new;
        }
        self.has_transactions |= sample.has_transactions;
        self.units = sample.units.unwrap_or(self.units);
        self.add(sample.sample);
    }

    /// Sets how far a host is and what it says of its jobs, `elapsed` after the first phase began.
    pub fn set_host(&mut self, rank: usize, state: HostState, live: Option<&LiveStatus>, elapsed: Duration) {
        self.elapsed = elapsed;
        let Some(host) = self.entries.get_mut(rank) else { return };
        host.set_host(state, live);
        let mut counts = [0; STATES.len()];
        for host in &self.entries {
            counts.iter_mut().zip(host.counts).for_each(|(sum, count)| *sum += count);
        }
        self.states = counted(counts);
        self.all.set_counts(counts);
        self.all.left = self.entries.iter().filter_map(|host| host.left).max();
    }

    /// Number of lost hosts.
    #[must_use]
    pub fn lost_hosts(&self) -> usize {
        self.entries.iter().filter(|entry| entry.host == Some(HostState::Lost)).count()
    }
}

impl LiveEntry {
    fn without_jobs(name: &str, max_seconds: usize) -> Self {
        LiveEntry {
            name: name.to_owned(),
            number: 0,
            host: None,
            jobs: Vec::new(),
            job_count: 0,
            counts: [0; STATES.len()],
            state: JobState::NotCreated,
            in_state: 0,
            left: None,
            errors: 0,
            history: VecDeque::new(),
            max_seconds,
        }
    }

    fn set_host(&mut self, state: HostState, live: Option<&LiveStatus>) {
        self.host = Some(state);
        self.left = None;
        match state {
            HostState::Connecting | HostState::Preparing => {}
            HostState::Running => {
                self.left = live.and_then(LiveStatus::remaining).filter(|&seconds| seconds > 0);
                let mut counts = [0; STATES.len()];
                for &(state, jobs) in live.map(LiveStatus::counts).unwrap_or_default() {
                    counts[order(state)] = jobs;
                }
                self.set_counts(counts);
                if live.is_none() {
                    self.state = JobState::Running;
                }
            }
            HostState::Ended => {
                let mut counts = [0; STATES.len()];
                counts[order(JobState::Reaped)] = self.job_count;
                self.set_counts(counts);
            }
            // Nobody knows what its jobs do.
            HostState::Lost => self.set_counts([0; STATES.len()]),
        }
    }

    fn set_counts(&mut self, counts: [usize; STATES.len()]) {
        self.counts = counts;
        self.job_count = counts.iter().sum();
        let first = counts.iter().position(|&jobs| jobs > 0);
        self.state = first.map_or(JobState::NotCreated, |first| STATES[first]);
        self.in_state = first.map_or(0, |first| counts[first]);
    }
}

#[cfg(test)]
mod tests;
