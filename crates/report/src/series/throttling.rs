//! Periods of CPU throttling, found by sampling the throttled time.

use ferrio_machine::CpuThrottling;

use crate::model::{ThrottlingCause, ThrottlingPeriod};

/// Maximum number of periods of one cause in a document. Beyond that, those with the shortest gaps are merged.
const MAX_PERIODS: usize = 100;

/// Records periods of CPU throttling.
#[derive(Debug, Default)]
pub(super) struct ThrottlingRecorder {
    /// The previous sample.
    seen: CpuThrottling,
    seen_ms: u64,
    cgroup: Vec<ThrottledSpan>,
    heat: Vec<ThrottledSpan>,
}

/// A period in which every sample had more throttling than the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ThrottledSpan {
    from_ms: u64,
    to_ms: u64,
    /// Throttled time, if the kernel reports it.
    us: Option<u64>,
}

impl ThrottlingRecorder {
    /// Adds the throttling since the previous sample.
    pub(super) fn observe(&mut self, now_ms: u64, so_far: &CpuThrottling) {
        let (from_ms, to_ms) = (self.seen_ms, now_ms.max(self.seen_ms));
        // A counter that temporarily cannot be read has not shrunk.
        let cgroup_us = so_far.cgroup_us.saturating_sub(self.seen.cgroup_us);
        if cgroup_us > 0 {
            add(&mut self.cgroup, ThrottledSpan { from_ms, to_ms, us: Some(cgroup_us) });
        }
        if so_far.heat_events > self.seen.heat_events {
            let us = so_far.heat_us.map(|us| us.saturating_sub(self.seen.heat_us.unwrap_or(0)));
            add(&mut self.heat, ThrottledSpan { from_ms, to_ms, us });
        }
        self.seen = CpuThrottling {
            cgroup_us: so_far.cgroup_us.max(self.seen.cgroup_us),
            heat_events: so_far.heat_events.max(self.seen.heat_events),
            heat_us: so_far.heat_us.max(self.seen.heat_us),
            ..*so_far
        };
        self.seen_ms = to_ms;
    }

    /// All periods in chronological order.
    pub(super) fn finish(self) -> Vec<ThrottlingPeriod> {
        let of = |cause: ThrottlingCause, periods: Vec<ThrottledSpan>| {
            periods.into_iter().map(move |ThrottledSpan { from_ms, to_ms, us }| ThrottlingPeriod {
                from_ms,
                to_ms,
                cause,
                throttled_ms: us.map(|us| us.div_ceil(1000)),
            })
        };
        let mut all: Vec<ThrottlingPeriod> =
            of(ThrottlingCause::Cgroup, self.cgroup).chain(of(ThrottlingCause::Heat, self.heat)).collect();
        all.sort_by_key(|period| period.from_ms);
        all
    }
}

/// Adds a period, merging it with the last one if they are adjacent.
fn add(periods: &mut Vec<ThrottledSpan>, next: ThrottledSpan) {
    match periods.last_mut() {
        Some(last) if last.to_ms >= next.from_ms => last.append(next),
        _ => periods.push(next),
    }
    if periods.len() > MAX_PERIODS {
        let pause = |at: &usize| periods[at + 1].from_ms.saturating_sub(periods[*at].to_ms);
        if let Some(at) = (0..periods.len() - 1).min_by_key(pause) {
            let next = periods.remove(at + 1);
            periods[at].append(next);
        }
    }
}

impl ThrottledSpan {
    fn append(&mut self, next: ThrottledSpan) {
        self.to_ms = next.to_ms;
        self.us = self.us.zip(next.us).map(|(one, other)| one + other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(samples: &[(u64, CpuThrottling)]) -> Vec<ThrottlingPeriod> {
        let mut recorder = ThrottlingRecorder::default();
        samples.iter().for_each(|(ms, so_far)| recorder.observe(*ms, so_far));
        recorder.finish()
    }

    fn cgroup(cgroup_us: u64) -> CpuThrottling {
        CpuThrottling { cgroup_us, ..CpuThrottling::default() }
    }

    fn period(
        from_ms: u64,
        to_ms: u64,
        cause: ThrottlingCause,
        throttled_ms: Option<u64>,
    ) -> ThrottlingPeriod {
        ThrottlingPeriod { from_ms, to_ms, cause, throttled_ms }
    }

    #[test]
    fn neighbouring_looks_with_throttling_are_one_period() {
        let samples = [(500, 0), (1000, 90_001), (1500, 180_002), (2000, 180_002), (2500, 180_902)];
        let found = recorded(&samples.map(|(ms, us)| (ms, cgroup(us))));
        let wanted = [(500, 1500, 181), (2000, 2500, 1)];
        assert_eq!(found, wanted.map(|(from, to, ms)| period(from, to, ThrottlingCause::Cgroup, Some(ms))));
        assert_eq!(recorded(&[(500, cgroup(0)), (1000, cgroup(0))]), []);
    }

    #[test]
    fn heat_counts_by_events_and_has_a_time_if_there_is_one() {
        let heat = |heat_events, heat_us| CpuThrottling { heat_events, heat_us, ..CpuThrottling::default() };
        let found = recorded(&[(500, heat(0, None)), (1000, heat(3, None)), (1500, heat(3, None))]);
        assert_eq!(found, [period(500, 1000, ThrottlingCause::Heat, None)]);
        let both = CpuThrottling { cgroup_us: 5000, ..heat(4, Some(20_000)) };
        let found = recorded(&[(500, heat(0, Some(0))), (1000, heat(3, Some(15_000))), (1500, both)]);
        let wanted = [
            period(500, 1500, ThrottlingCause::Heat, Some(20)),
            period(1000, 1500, ThrottlingCause::Cgroup, Some(5)),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_counter_that_cannot_be_read_for_once_throttles_nothing() {
        let samples = [(500, 7000), (1000, 0), (1500, 7000), (2000, 9000)].map(|(ms, us)| (ms, cgroup(us)));
        let found: Vec<_> = recorded(&samples).iter().map(|one| (one.from_ms, one.throttled_ms)).collect();
        assert_eq!(found, [(0, Some(7)), (1500, Some(2))]);
    }

    #[test]
    fn however_often_it_happens_there_are_not_too_many_periods_and_no_time_is_lost() {
        // Every other look, with a longer pause in the middle.
        let mut samples = Vec::new();
        for at in 1..=3000_u64 {
            let ms = at * 500 + if at > 1500 { 60_000 } else { 0 };
            samples.push((ms, cgroup(at / 2 * 1000)));
            if at == 1500 {
                samples.push((ms + 60_000, cgroup(at / 2 * 1000)));
            }
        }
        let found = recorded(&samples);
        assert!(found.len() <= MAX_PERIODS && found.len() > MAX_PERIODS / 2, "{}", found.len());
        assert_eq!(found.iter().filter_map(|period| period.throttled_ms).sum::<u64>(), 1500);
        let pauses: Vec<u64> = found.windows(2).map(|pair| pair[1].from_ms - pair[0].to_ms).collect();
        assert!(pauses.iter().all(|&pause| pause > 0) && pauses.iter().any(|&pause| pause >= 60_000));
    }
}
