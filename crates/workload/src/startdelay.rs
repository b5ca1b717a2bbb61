//! When a job starts: `startdelay`, drawn from its range by the job's own random stream.

use std::time::Duration;

use ferrio_job::JobSpec;

use crate::random::Stream;
use crate::seeds::{self, SEEDS, thread_seeds};

/// The delay of one job, counted from the end of set-up: the only value of its range, or one in `low..=high` drawn in µs.
///
/// `entropy` as in [`crate::Workload::new`]. A range written backwards is put in order.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::support::job;

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
