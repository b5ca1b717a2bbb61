//! Ends jobs whose figures have settled (`steadystate`).
//!
//! Main reads the live counters once per check interval, all jobs at the same time; workers take no part. Each job, or each
//! group that reports as one, has a window of the last checks. Once the window is full and steady, its jobs are asked to end.
//! Rates are per elapsed time, also in the first and in a late check; fio scales those wrongly.

use std::collections::VecDeque;
use std::time::Duration;

use ferrio_job::{Plan, SteadyFigure, SteadyState};
use ferrio_results::{JobState, SteadyCheck, SteadyResult};
use ferrio_stats::Clock;

use crate::control::JobControl;

/// Watches all jobs of a run that have a steady state.
pub(crate) struct SteadyWatch {
    interval: Duration,
    /// Ticks of the last check, 0 before the first.
    last: u64,
    /// When the next check is due, ticks.
    due: u64,
    groups: Vec<SteadyGroup>,
    /// Counters of all jobs at the last check.
    counters: Vec<Counters>,
}

/// Jobs that are judged together.
struct SteadyGroup {
    state: SteadyState,
    /// Indices of the jobs.
    jobs: Vec<usize>,
    result: SteadyResult,
    window: VecDeque<SteadyCheck>,
}

/// The counters of a job since it began to be measured.
#[derive(Clone, Copy, Default)]
struct Counters {
    /// Ticks when that was.
    since: u64,
    ios: u64,
    bytes: u64,
    latency_ns: u64,
    latencies: u64,
}

impl Counters {
    fn of(control: &JobControl) -> Self {
        let since = control.measuring_since();
        let (latency_ns, latencies) = control.live.latency();
        let [ios, bytes] = [control.live.ios(), control.live.bytes()].map(|counts| counts.iter().sum());
        Counters { since, ios, bytes, latency_ns, latencies }
    }

    /// The difference from `earlier`, or from the start of measuring if that is later.
    fn grown_since(&self, earlier: &Self) -> Self {
        let earlier = if earlier.since == self.since { *earlier } else { Counters::default() };
        Counters {
            since: self.since,
            ios: self.ios.saturating_sub(earlier.ios),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            latency_ns: self.latency_ns.wrapping_sub(earlier.latency_ns),
            latencies: self.latencies.saturating_sub(earlier.latencies),
        }
    }
}

impl SteadyWatch {
    /// `None` when no job has a steady state.
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let mut groups: Vec<SteadyGroup> = Vec::new();
        let mut before = None;
        for (index, spec) in plan.jobs.iter().map(|job| &job.spec).enumerate() {
            let with_the_last = spec.group_reporting && before == Some((true, spec.group));
            before = Some((spec.group_reporting, spec.group));
            let Some(state) = spec.steadystate else { continue };
            match groups.last_mut().filter(|_| with_the_last) {
                Some(group) => group.jobs.push(index),
                None => groups.push(SteadyGroup {
                    state,
                    jobs: vec![index],
                    result: SteadyResult::default(),
                    window: VecDeque::new(),
                }),
            }
        }
        // All jobs have one interval.
        let interval = groups.first()?.state.interval;
        let counters = vec![Counters::default(); plan.jobs.len()];
        Some(SteadyWatch { interval, last: 0, due: 0, groups, counters })
    }

    /// Makes the check that is due, if one is. Returns the time until the next.
    pub(crate) fn poll(&mut self, now: u64, clock: &Clock, controls: &[JobControl]) -> Duration {
        if self.last == 0 {
            (self.last, self.due) = (now, now + clock.ticks(self.interval));
        } else if now >= self.due {
            self.check(now, clock, controls);
            self.last = now;
            while self.due <= now {
                self.due += clock.ticks(self.interval).max(1);
            }
        }
        Duration::from_nanos(clock.between(now, self.due))
    }

    /// The results so far, by job; that of a group is with its last job.
    pub(crate) fn results(&self) -> impl Iterator<Item = (usize, SteadyResult)> {
        self.groups.iter().filter_map(|group| {
            let checks = group.window.iter().copied().collect();
            Some((*group.jobs.last()?, SteadyResult { checks, ..group.result.clone() }))
        })
    }

    fn check(&mut self, now: u64, clock: &Clock, controls: &[JobControl]) {
        for group in &mut self.groups {
            let mut sum = GroupSums::default();
            for &index in &group.jobs {
                let control = &controls[index];
                let current = Counters::of(control);
                let before = std::mem::replace(&mut self.counters[index], current);
                let counted = matches!(control.state(), JobState::Running | JobState::Fsyncing);
                if !counted || current.since == 0 {
                    continue;
                }
                // A job that began a moment ago has no rate yet.
                let settling = group.state.ramp + self.interval / 2;
                if clock.between(current.since, now) < settling.as_nanos() as u64 {
                    continue;
                }
                let spent_ns = clock.between(self.last.max(current.since), now);
                sum.add(&current.grown_since(&before), spent_ns);
            }
            if sum.jobs > 0 && !group.result.attained && group.add(sum.check()) {
                group.jobs.iter().for_each(|&index| controls[index].request_stop());
            }
        }
    }
}

impl SteadyGroup {
    /// Adds a check to the window. True once the window is steady.
    fn add(&mut self, check: SteadyCheck) -> bool {
        let SteadyState { figure, slope: judges_slope, limit, percent, .. } = self.state;
        if self.window.len() == self.state.checks() {
            self.window.pop_front();
        }
        self.window.push_back(check);
        if self.window.len() < self.state.checks() {
            return false;
        }
        let values: Vec<u64> = self
            .window
            .iter()
            .map(|check| match figure {
                SteadyFigure::Iops => check.iops,
                SteadyFigure::Bandwidth => check.bw,
                SteadyFigure::Latency => check.lat_ns,
            })
            .collect();
        let mean = mean(&values);
        let (absolute, whole) = match judges_slope {
            true => (slope(&values), mean.floor()),
            false => (deviation(&values), mean),
        };
        let relative = if percent { 100.0 * absolute / whole } else { absolute };
        // Without any I/O there is no percentage.
        let criterion = if relative.is_finite() { relative } else { 0.0 };
        let attained = relative.is_finite() && criterion.abs() < limit;
        let (max_deviation, slope) = if judges_slope { (0.0, absolute) } else { (absolute, 0.0) };
        self.result = SteadyResult { attained, criterion, max_deviation, slope, checks: Vec::new() };
        attained
    }
}

/// One check over the jobs of a group.
#[derive(Default)]
struct GroupSums {
    jobs: usize,
    iops: u64,
    bw: u64,
    latency_ns: u64,
    latencies: u64,
}

impl GroupSums {
    fn add(&mut self, grown: &Counters, spent_ns: u64) {
        let per_second = |count: u64| {
            let rate = u128::from(count) * 1_000_000_000 / u128::from(spent_ns.max(1));
            u64::try_from(rate).unwrap_or(u64::MAX)
        };
        self.jobs += 1;
        self.iops = self.iops.saturating_add(per_second(grown.ios));
        self.bw = self.bw.saturating_add(per_second(grown.bytes));
        self.latency_ns = self.latency_ns.saturating_add(grown.latency_ns);
        self.latencies += grown.latencies;
    }

    fn check(&self) -> SteadyCheck {
        let lat_ns = self.latency_ns.checked_div(self.latencies).unwrap_or(0);
        SteadyCheck { iops: self.iops, bw: self.bw, lat_ns }
    }
}

/// Mean of the values, 0 without any.
fn mean(values: &[u64]) -> f64 {
    let sum: u128 = values.iter().map(|&value| u128::from(value)).sum();
    if values.is_empty() { 0.0 } else { sum as f64 / values.len() as f64 }
}

/// The largest distance of a value from the mean, 0 without values.
fn deviation(values: &[u64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|&value| (value as f64 - mean).abs()).fold(0.0, f64::max)
}

/// Slope of the straight line that fits the values best, per value; 0 with fewer than two.
fn slope(values: &[u64]) -> f64 {
    let n = values.len() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let middle = (n - 1.0) / 2.0;
    let mean = mean(values);
    let rise: f64 = (0..).zip(values).map(|(x, &y)| (f64::from(x) - middle) * (y as f64 - mean)).sum();
    // The squares of the distances of 0..n from their middle.
    rise / (n * (n * n - 1.0) / 12.0)
}

#[cfg(test)]
mod tests;
