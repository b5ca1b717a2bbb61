//! Latencies by I/O priority, for jobs whose I/Os have several priorities, and for groups of jobs with different ones.
//!
//! A priority is the kernel's number for it. A job with a single priority records nothing twice: when it is merged with others, its
//! latencies count for that priority.

use serde::{Deserialize, Serialize};

use crate::latency::Latency;
use crate::recorder::Recorder;

/// Latencies of the I/Os of one priority.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PriorityLatency {
    /// The priority.
    pub priority: u16,
    /// Completion or total latency, see [`PriorityStats::of_lat`].
    pub latency: Box<Latency>,
}

/// The latencies of one direction by priority.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PriorityStats {
    /// Whether they are total latencies instead of completion latencies.
    pub of_lat: bool,
    /// The priority of all I/Os while `parts` is empty.
    own: u16,
    parts: Vec<PriorityLatency>,
}

impl PriorityStats {
    /// The latencies of each priority that has any: first that of the job, then others in the order of configuration. Empty for a single
    /// priority, whose latencies are those of the direction.
    #[must_use]
    pub fn parts(&self) -> Vec<&PriorityLatency> {
        let parts: Vec<_> = self.parts.iter().filter(|part| part.latency.count() > 0).collect();
        if parts.len() > 1 { parts } else { Vec::new() }
    }

    /// Adds the figures of another job or direction. `all` are all latencies of each side, of the kind given by `of_lat`, before they are
    /// merged.
    pub(crate) fn merge(&mut self, all: Option<&Latency>, other: &Self, all_of_other: Option<&Latency>) {
        let has_samples = |latency: Option<&Latency>| latency.is_some_and(|latency| latency.count() > 0);
        if !has_samples(all_of_other) {
            return;
        }
        if !has_samples(all) {
            *self = other.clone();
            return;
        }
        if self.parts.is_empty() && other.parts.is_empty() && self.own == other.own {
            return;
        }
        self.divide(all);
        let mut other = other.clone();
        other.divide(all_of_other);
        for part in other.parts {
            match self.parts.iter_mut().find(|mine| mine.priority == part.priority) {
                Some(mine) => mine.latency.merge(&part.latency),
                None => self.parts.push(part),
            }
        }
    }

    /// Turns the latencies of a single priority into a part.
    fn divide(&mut self, all: Option<&Latency>) {
        if let (true, Some(all)) = (self.parts.is_empty(), all) {
            self.parts.push(PriorityLatency { priority: self.own, latency: Box::new(all.clone()) });
        }
    }
}

/// The recording side of [`PriorityStats`].
#[derive(Clone, Debug, Default)]
pub(crate) struct PriorityRecorder {
    of_lat: bool,
    own: u16,
    parts: Vec<(u16, Recorder)>,
}

impl PriorityRecorder {
    /// A recorder for these priorities, the job's own first. A single one records nothing.
    pub(crate) fn new(priorities: &[u16], of_lat: bool) -> Self {
        let parts = if priorities.len() > 1 { priorities } else { &[] };
        PriorityRecorder {
            of_lat,
            own: priorities.first().copied().unwrap_or(0),
            parts: parts.iter().map(|&priority| (priority, Recorder::new())).collect(),
        }
    }

    /// Whether there is something to record.
    #[inline]
    pub(crate) fn is_divided(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Records an I/O.
    #[cold]
    #[inline(never)]
    pub(crate) fn record(&mut self, priority: u16, clat_ns: u64, lat_ns: u64) {
        if let Some((_, recorder)) = self.parts.iter_mut().find(|(own, _)| *own == priority) {
            recorder.record(if self.of_lat { lat_ns } else { clat_ns });
        }
    }

    /// The figures so far.
    pub(crate) fn finish(&self) -> PriorityStats {
        let part = |(priority, recorder): &(u16, Recorder)| PriorityLatency {
            priority: *priority,
            latency: Box::new(recorder.finish()),
        };
        PriorityStats { of_lat: self.of_lat, own: self.own, parts: self.parts.iter().map(part).collect() }
    }
}

#[cfg(test)]
mod tests {
    use crate::{DirectionRecorder, DirectionStats, JobStats};

    /// The reads of an asynchronous job whose I/Os may have `priorities` and had those of `ios`, with these latencies.
    fn reads(priorities: &[u16], of_lat: bool, ios: &[(u16, u64)]) -> JobStats {
        let recorder = DirectionRecorder::new(true, true, true, false);
        let mut recorder = recorder.with_priorities(priorities, of_lat);
        for &(priority, clat) in ios {
            recorder.ios += 1;
            recorder.bytes += 4096;
            recorder.record_completions(&[clat], &[clat + 1]);
            recorder.record_priority(priority, clat, clat + 1);
        }
        JobStats {
            directions: [recorder.finish(1), Default::default(), Default::default()],
            ..JobStats::default()
        }
    }

    /// Priority, samples and largest latency of each part.
    fn parts(stats: &DirectionStats) -> Vec<(u16, u64, u64)> {
        let parts = stats.priorities.parts();
        parts.iter().map(|part| (part.priority, part.latency.count(), part.latency.max())).collect()
    }

    fn merged(jobs: &[JobStats]) -> Vec<(u16, u64, u64)> {
        let mut group = jobs[0].clone();
        jobs[1..].iter().for_each(|job| group.merge(job));
        parts(&group.directions[0])
    }

    #[test]
    fn priorities_with_samples_stand_in_the_order_they_were_configured() {
        let stats = reads(&[5, 9, 7, 3], false, &[(3, 10), (9, 20), (3, 30), (5, 40)]);
        assert_eq!(parts(&stats.directions[0]), [(5, 1, 40), (9, 1, 20), (3, 2, 30)]);
        let total = reads(&[5, 9], true, &[(9, 20), (5, 40)]);
        assert_eq!(parts(&total.directions[0]), [(5, 1, 41), (9, 1, 21)]);
        assert!(total.directions[0].priorities.of_lat);
    }

    #[test]
    fn a_single_priority_is_not_told_apart() {
        assert_eq!(parts(&reads(&[5], false, &[(5, 10)]).directions[0]), []);
        assert_eq!(parts(&reads(&[5, 7], false, &[(7, 10)]).directions[0]), []);
        assert_eq!(merged(&[reads(&[5], false, &[(5, 10)]), reads(&[5], false, &[(5, 20)])]), []);
    }

    #[test]
    fn latencies_that_are_not_measured_are_not_told_apart() {
        let recorder = DirectionRecorder::new(true, false, true, false);
        assert!(!recorder.clone().with_priorities(&[0, 7], false).priorities.is_divided());
        assert!(recorder.with_priorities(&[0, 7], true).priorities.is_divided());
        let gone = DirectionRecorder::new(true, true, false, false);
        assert!(!gone.with_priorities(&[0, 7], true).priorities.is_divided());
    }

    #[test]
    fn jobs_of_one_priority_each_are_told_apart_in_their_group() {
        let (a, b) = (reads(&[5], false, &[(5, 10), (5, 20)]), reads(&[7], false, &[(7, 30)]));
        assert_eq!(merged(&[a.clone(), b.clone()]), [(5, 2, 20), (7, 1, 30)]);
        assert_eq!(merged(&[b.clone(), a.clone(), b.clone()]), [(7, 2, 30), (5, 2, 20)]);
        assert_eq!(merged(&[JobStats::default(), a.clone(), b.clone()]), [(5, 2, 20), (7, 1, 30)]);
        let total = [reads(&[5], true, &[(5, 10)]), reads(&[7], true, &[(7, 30)])];
        assert_eq!(merged(&total), [(5, 1, 11), (7, 1, 31)]);
    }

    #[test]
    fn priorities_are_matched_by_value_wherever_they_stand() {
        let a = reads(&[0, 7, 9], false, &[(0, 1), (7, 2), (9, 3)]);
        let b = reads(&[9, 7], false, &[(9, 40), (7, 50)]);
        assert_eq!(merged(&[a.clone(), b.clone()]), [(0, 1, 1), (7, 2, 50), (9, 2, 40)]);
        assert_eq!(merged(&[reads(&[7], false, &[(7, 60)]), b]), [(7, 2, 60), (9, 1, 40)]);
    }

    #[test]
    fn directions_with_different_priorities_mix() {
        let mut stats = reads(&[0, 7], false, &[(0, 1), (7, 2)]);
        stats.directions[1] = reads(&[0], false, &[(0, 9)]).directions[0].clone();
        assert_eq!(parts(&stats.mixed()), [(0, 2, 9), (7, 1, 2)]);
    }
}
