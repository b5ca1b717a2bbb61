//! The pauses of a job: before its first I/O (`startdelay`), and between I/Os (`thinktime`). The worker does the waiting.
//!
//! The times of `thinktime` are ns since the job's epoch, as in [`crate::rate`].

use std::time::Duration;

use ferrio_job::JobSpec;

use crate::random::Stream;
use crate::seeds::{self, SEEDS, thread_seeds};

/// The delay of a job after its set-up: a fixed value, or a random one in `low..=high` in whole µs.
///
/// `entropy` is that of [`crate::Workload::new`]. The ends of a reversed range are swapped.
#[must_use]
pub fn startdelay(spec: &JobSpec, entropy: [u64; SEEDS]) -> Duration {
    let (a, b) = spec.limits.startdelay;
    let (low, high) = (a.min(b), a.max(b));
    let span = u64::try_from((high - low).as_micros()).unwrap_or(u64::MAX - 1);
    if span == 0 {
        return low;
    }
    let mut stream = Stream::new(spec.generator, thread_seeds(spec, entropy)[seeds::DELAY]);
    let scale = stream.scale(span + 1);
    low + Duration::from_micros(stream.below(scale))
}

/// Counts I/Os and time until the next pause.
#[derive(Clone, Debug)]
pub struct ThinkTime {
    /// I/Os between pauses; `u64::MAX` if only time counts.
    blocks: u64,
    at_issue: bool,
    /// Time between the beginnings of two pauses; `u64::MAX` if only I/Os count.
    period_ns: u64,
    issued: u64,
    /// Number of counted I/Os when the last pause began.
    counted_at_pause: u64,
    /// Time of the next pause by time.
    due_ns: u64,
}

impl ThinkTime {
    /// The pauses of `spec`; `None` if it makes none.
    #[must_use]
    pub fn new(spec: &JobSpec) -> Option<Self> {
        let think = &spec.think;
        if think.time.is_zero() {
            return None;
        }
        // The time between two pauses (`thinktime_iotime`) begins when the first of them ends.
        let period_ns = u64::try_from((think.time + think.iotime).as_nanos()).unwrap_or(u64::MAX);
        let period_ns = if think.iotime.is_zero() { u64::MAX } else { period_ns };
        Some(ThinkTime {
            blocks: think.blocks.map_or(u64::MAX, u64::from),
            at_issue: think.at_issue,
            period_ns,
            issued: 0,
            counted_at_pause: 0,
            due_ns: period_ns,
        })
    }

    /// Counts an issued data I/O; of all issued ones, `in_flight` are not completed. Returns whether a pause begins now.
    pub fn issued(&mut self, in_flight: u64, now_ns: u64) -> bool {
        self.issued += 1;
        let count = if self.at_issue { self.issued } else { self.issued.saturating_sub(in_flight) };
        let due = count >= self.counted_at_pause.saturating_add(self.blocks) || now_ns >= self.due_ns;
        if due {
            // I/Os that complete during the pause count towards the next one.
            self.counted_at_pause = count;
            self.due_ns = now_ns.saturating_add(self.period_ns);
        }
        due
    }

    /// Begins a new epoch at the end of the ramp.
    pub fn restart(&mut self, in_flight: u64) {
        self.issued = in_flight;
        self.counted_at_pause = 0;
        self.due_ns = self.period_ns;
    }
}

#[cfg(test)]
mod tests {
    use ferrio_job::Think;

    use super::*;
    use crate::tests::support::job;

    fn thinker(think: Think) -> ThinkTime {
        let mut spec = job();
        spec.think = Think { time: Duration::from_millis(100), ..think };
        ThinkTime::new(&spec).unwrap()
    }

    /// I/Os between pauses of a job that keeps 8 in flight, reaping one when there is no room for another.
    fn bursts(mut thinker: ThinkTime, count: usize) -> Vec<u64> {
        let (mut in_flight, mut since) = (0, 0);
        let mut bursts = Vec::new();
        while bursts.len() < count {
            in_flight += 1;
            since += 1;
            if in_flight == 8 {
                in_flight -= 1;
            }
            if thinker.issued(in_flight, 0) {
                bursts.push(since);
                (in_flight, since) = (0, 0);
            }
        }
        bursts
    }

    #[test]
    fn a_job_without_thinktime_never_pauses() {
        let mut spec = job();
        spec.think.blocks = Some(1);
        assert!(ThinkTime::new(&spec).is_none());
    }

    #[test]
    fn completed_ios_count_as_in_fio() {
        assert_eq!(bursts(thinker(Think { blocks: Some(3), ..Think::default() }), 5), [10, 1, 9, 1, 9]);
        assert_eq!(bursts(thinker(Think { blocks: Some(1), ..Think::default() }), 4), [8, 1, 1, 1]);
    }

    #[test]
    fn issued_ios_count_where_asked() {
        assert_eq!(
            bursts(thinker(Think { blocks: Some(3), at_issue: true, ..Think::default() }), 3),
            [3, 3, 3]
        );
    }

    #[test]
    fn time_between_pauses_begins_when_the_last_is_over() {
        let mut thinker = thinker(Think { iotime: Duration::from_millis(50), ..Think::default() });
        let ms = |n: u64| n * 1_000_000;
        assert!(!thinker.issued(0, ms(149)));
        assert!(thinker.issued(0, ms(151)));
        assert!(!thinker.issued(0, ms(251)), "just after the pause");
        assert!(!thinker.issued(0, ms(300)));
        assert!(thinker.issued(0, ms(301)));
        thinker.restart(0);
        assert!(!thinker.issued(0, ms(10)));
        assert!(thinker.issued(0, ms(150)));
    }

    #[test]
    fn a_range_gives_a_repeatable_delay_inside_it_and_clones_differ() {
        let mut spec = job();
        spec.limits.startdelay = (Duration::from_secs(1), Duration::from_secs(3));
        let first = startdelay(&spec, [0; SEEDS]);
        assert!(first >= Duration::from_secs(1) && first <= Duration::from_secs(3));
        assert_eq!(startdelay(&spec, [0; SEEDS]), first);
        spec.number = 2;
        assert_ne!(startdelay(&spec, [0; SEEDS]), first);
    }

    #[test]
    fn one_value_is_taken_as_it_is() {
        let mut spec = job();
        spec.limits.startdelay = (Duration::from_millis(7), Duration::from_millis(7));
        assert_eq!(startdelay(&spec, [0; SEEDS]), Duration::from_millis(7));
    }
}
