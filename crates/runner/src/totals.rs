//! The bandwidth of all jobs together (`--bandwidth-log`): a sample at each tick of 250 ms once the smallest `bwavgtime` has passed,
//! also when nothing moved; none while all active jobs are in their ramps.

use std::time::Duration;

use ferrio_job::Plan;
use ferrio_logs::{LogBatch, LogSender, RateSample};
use ferrio_results::JobState;
use ferrio_stats::Clock;

use crate::control::JobControl;

/// Time between two ticks, since the run began, ms and ns.
const TICK_MS: u64 = 250;
const TICK_NS: u64 = TICK_MS * MS;
/// ns of a ms.
const MS: u64 = 1_000_000;

/// Takes the samples.
#[derive(Debug)]
pub(crate) struct Totals {
    /// Where samples go.
    logs: Option<LogSender>,
    /// Least time between two samples, ms.
    interval_ms: u64,
    /// When the running interval began, ns.
    since_ns: u64,
    /// Bytes moved before it.
    bytes: [u64; 3],
    /// All active jobs were in their ramps when polled last.
    ramp: bool,
}

impl Totals {
    /// Samples for `logs`, if there is one.
    pub(crate) fn new(plan: &Plan, logs: Option<LogSender>) -> Self {
        let intervals = plan.jobs.iter().map(|job| u64::from(job.spec.measure.bwavgtime_ms));
        Totals { logs, interval_ms: intervals.min().unwrap_or(0), since_ns: 0, bytes: [0; 3], ramp: false }
    }

    /// Takes the sample that is due, at `elapsed` since the run began, and sends it. Returns how long main may sleep.
    pub(crate) fn poll(&mut self, elapsed: Duration, clock: &Clock, controls: &[JobControl]) -> Duration {
        let Some(logs) = self.logs.clone() else { return Duration::MAX };
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let before = (self.since_ns, self.bytes);
        if let Some(sample) = self.sample(elapsed_ns, controls, || since(clock, controls)) {
            // Main must not wait for a slow disk: the next sample covers this interval too. A writer that is gone has reported why.
            if logs.try_send(LogBatch::Total { sample }).is_some() {
                (self.since_ns, self.bytes) = before;
            }
        }
        Duration::from_nanos(TICK_NS - elapsed_ns % TICK_NS)
    }

    /// The sample that is due; `measured_ns` says how long ago jobs began to be measured.
    fn sample(
        &mut self,
        elapsed_ns: u64,
        controls: &[JobControl],
        measured_ns: impl FnOnce() -> Vec<u64>,
    ) -> Option<RateSample> {
        let is = |states: &[JobState]| controls.iter().any(|control| states.contains(&control.state()));
        let ramp =
            is(&[JobState::Ramp]) && !is(&[JobState::Running, JobState::Verifying, JobState::Fsyncing]);
        if ramp {
            (self.ramp, self.since_ns, self.bytes) = (true, elapsed_ns, moved(controls));
            return None;
        }
        if std::mem::take(&mut self.ramp) {
            // A ramp ended since the last poll.
            let ends = measured_ns().into_iter().map(|ago| elapsed_ns.saturating_sub(ago));
            self.since_ns = ends.filter(|&end| end >= self.since_ns).min().unwrap_or(self.since_ns);
        }
        let ticks = (elapsed_ns / TICK_NS).saturating_sub(self.since_ns / TICK_NS);
        let ns = elapsed_ns.saturating_sub(self.since_ns);
        if ticks == 0 || ticks * TICK_MS < self.interval_ms || ns == 0 {
            return None;
        }
        let now = moved(controls);
        let per_second = std::array::from_fn(|direction| {
            let bytes = u128::from(now[direction].saturating_sub(self.bytes[direction]));
            u64::try_from(bytes * 1_000_000_000 / u128::from(ns) / 1024).unwrap_or(u64::MAX)
        });
        (self.since_ns, self.bytes) = (elapsed_ns, now);
        Some(RateSample { time_ms: elapsed_ns / MS, per_second })
    }
}

/// How long ago jobs began to be measured, ns.
fn since(clock: &Clock, controls: &[JobControl]) -> Vec<u64> {
    let now = clock.now();
    let began = controls.iter().map(JobControl::measuring_since).filter(|&ticks| ticks > 0);
    began.map(|ticks| clock.between(ticks, now)).collect()
}

/// Bytes that all jobs have moved while they were measured.
fn moved(controls: &[JobControl]) -> [u64; 3] {
    controls.iter().filter(|control| control.measuring_since() > 0).fold([0; 3], |sum, control| {
        let bytes = control.live.bytes();
        std::array::from_fn(|direction| sum[direction] + bytes[direction])
    })
}

#[cfg(test)]
mod tests {
    use ferrio_logs::log_queue;
    use ferrio_plan::testing::{default_job, plan};

    use super::*;

    fn totals(interval_ms: u64) -> Totals {
        Totals { logs: None, interval_ms, since_ns: 0, bytes: [0; 3], ramp: false }
    }

    /// Samples at these looks; `step` is called at each look and moves the jobs on.
    fn samples(
        totals: &mut Totals,
        controls: &[JobControl],
        looks: &[u64],
        mut step: impl FnMut(u64),
    ) -> Vec<(u64, [u64; 3])> {
        let mut sampled = Vec::new();
        for &ms in looks {
            step(ms);
            sampled
                .extend(totals.sample(ms * MS, controls, || vec![5 * MS]).map(|s| (s.time_ms, s.per_second)));
        }
        sampled
    }

    #[test]
    fn a_sample_comes_at_the_tick_that_follows_the_interval_even_if_nothing_moved() {
        let looks = [0, 100, 250, 499, 500, 700, 760, 1010, 1200, 1250, 1500];
        let times = |interval| {
            let sampled = samples(&mut totals(interval), &[], &looks, |_| ());
            assert!(sampled.iter().all(|(_, rates)| *rates == [0; 3]));
            sampled.into_iter().map(|(ms, _)| ms).collect::<Vec<_>>()
        };
        assert_eq!(times(500), [500, 1010, 1500]);
        assert_eq!(times(250), [250, 500, 760, 1010, 1250, 1500]);
        assert_eq!(times(10), times(250));
        assert_eq!(times(501), [760, 1500]);
    }

    #[test]
    fn bytes_of_all_jobs_count_also_of_those_that_ended() {
        let controls = [JobControl::default(), JobControl::default(), JobControl::default()];
        controls[..2].iter().for_each(|control| control.begin_measuring(1));
        controls[2].live.store(0, 1, 1 << 30);
        let sampled = samples(&mut totals(250), &controls, &[250, 500, 750], |ms| {
            controls[0].live.store(0, ms, ms << 10);
            controls[1].live.store(1, ms, ms.min(500) << 11);
            if ms > 500 {
                controls[1].set_state(JobState::Reaped);
            }
        });
        assert_eq!(sampled, [(250, [1000, 2000, 0]), (500, [1000, 2000, 0]), (750, [1000, 0, 0])]);
    }

    /// Looks come a fraction of a millisecond late, each by another one.
    #[test]
    fn rates_times_lengths_are_what_was_moved() {
        let controls = [JobControl::default()];
        controls[0].begin_measuring(1);
        let mut totals = totals(250);
        let (mut before, mut moved, mut rows) = (0, 0, 0);
        for look in 1..=200_u64 {
            let ns = look * TICK_NS + (look * 7919 % 1000) * 999;
            // 1 KiB in each microsecond.
            controls[0].live.store(0, look, ns / 1000 * 1024);
            let sample = totals.sample(ns, &controls, Vec::new).unwrap();
            assert!(sample.per_second[0].abs_diff(1_000_000) <= 5, "{sample:?}");
            assert_eq!(sample.time_ms, ns / MS);
            moved += u128::from(sample.per_second[0]) * u128::from(ns - before);
            (before, rows) = (ns, rows + 1);
        }
        // Each row loses less than 1 KiB/s of its 250 ms.
        let all = u128::from(before / 1000) * 1_000_000_000;
        assert!(moved <= all && all - moved < rows * 251_000_000, "{moved} of {all}");
    }

    #[test]
    fn the_ramp_is_no_part_of_any_interval() {
        let controls = [JobControl::default(), JobControl::default()];
        controls[0].set_state(JobState::Ramp);
        let mut totals = totals(500);
        let sampled = samples(&mut totals, &controls, &[500, 995, 1000, 1250, 1500], |ms| {
            if ms == 1000 {
                // The ramp ended 5 ms ago.
                controls[0].begin_measuring(1);
            }
            controls[0].live.store(0, 1, if ms < 1000 { 1 << 30 } else { (ms - 995) << 10 });
        });
        assert_eq!(sampled, [(1250, [1000, 0, 0])], "995 ms lie in the tick of 750 ms");
        controls[1].set_state(JobState::Ramp);
        let sampled = samples(&mut totals, &controls, &[1750], |_| ());
        assert_eq!(sampled.len(), 1, "another job is measured");
    }

    #[test]
    fn a_sample_that_the_writer_has_no_room_for_is_part_of_the_next() {
        let (sender, mut batches) = log_queue(1, Duration::ZERO);
        let mut totals = Totals { logs: Some(sender), ..totals(250) };
        let controls = [JobControl::default()];
        controls[0].begin_measuring(1);
        let mut look = |ms| {
            controls[0].live.store(1, ms, ms << 10);
            totals.poll(Duration::from_millis(ms), &Clock::monotonic(), &controls);
        };
        [250, 500, 750].into_iter().for_each(&mut look);
        let first = batches.next();
        look(1000);
        drop(totals);
        let sample = |time_ms| LogBatch::Total { sample: RateSample { time_ms, per_second: [0, 1000, 0] } };
        assert_eq!((first, batches.collect::<Vec<_>>()), (Some(sample(250)), vec![sample(1000)]));
    }

    #[test]
    fn main_wakes_up_at_the_ticks_if_samples_are_wanted() {
        let plan = plan([default_job("a")]);
        let controls = [JobControl::default()];
        let look = |logs, ms| {
            let elapsed = Duration::from_millis(ms);
            Totals::new(&plan, logs).poll(elapsed, &Clock::monotonic(), &controls)
        };
        assert_eq!(look(None, 100), Duration::MAX);
        let (sender, batches) = log_queue(1, Duration::ZERO);
        assert_eq!(look(Some(sender.clone()), 600), Duration::from_millis(150));
        assert_eq!(look(Some(sender), 250), Duration::from_millis(250));
        let sample = RateSample { time_ms: 600, per_second: [0; 3] };
        assert_eq!(batches.collect::<Vec<_>>(), [LogBatch::Total { sample }]);
    }
}
