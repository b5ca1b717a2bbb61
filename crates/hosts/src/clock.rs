//! The clocks of hosts: readings, and the offset between two of them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A reading of a host's monotonic clock, in ns. The clocks of two hosts have nothing in common but their rate, so a reading means nothing
/// on another host until [`ClockOffset`] has translated it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClockTime(pub u64);

impl ClockTime {
    /// The time `later`.
    #[must_use]
    pub fn after(self, later: Duration) -> ClockTime {
        ClockTime(self.0.saturating_add(nanoseconds(later)))
    }

    /// The time since `earlier`; zero if that is later.
    #[must_use]
    pub fn since(self, earlier: ClockTime) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// 584 years at the most.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// How far the clock of another host is ahead of ours, and by how much that can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// ns that their clock is ahead of ours.
    ahead: i128,
    /// The true offset is within this of `ahead`: half of the round trip, because the answer may have taken all of it or nothing.
    pub bound: Duration,
}

impl ClockOffset {
    /// ns that their clock is ahead of ours.
    #[must_use]
    pub fn ahead_ns(self) -> i64 {
        i64::try_from(self.ahead).unwrap_or(if self.ahead < 0 { i64::MIN } else { i64::MAX })
    }

    /// The moment `ours` on their clock.
    #[must_use]
    pub fn to_theirs(self, ours: ClockTime) -> ClockTime {
        clamped(i128::from(ours.0) + self.ahead)
    }

    /// The moment `theirs` on our clock.
    #[must_use]
    pub fn to_ours(self, theirs: ClockTime) -> ClockTime {
        clamped(i128::from(theirs.0) - self.ahead)
    }
}

fn clamped(time: i128) -> ClockTime {
    ClockTime(u64::try_from(time.max(0)).unwrap_or(u64::MAX))
}

/// How fast two clocks may drift apart, in ns per s. Crystals are good for 100 ppm at most; NTP disciplines them to less.
const MAX_DRIFT: u32 = 100_000;

/// Round trips kept: enough to hold a short one from before a burst of traffic, few enough for the drift since then to be small.
const KEPT: usize = 16;

/// The last round trips to a host, from which its clock offset follows (Cristian's algorithm: of several round trips the shortest tells
/// most).
#[derive(Clone, Debug, Default)]
pub struct RoundTrips {
    /// Oldest first.
    trips: Vec<RoundTrip>,
}

#[derive(Clone, Copy, Debug)]
struct RoundTrip {
    sent: ClockTime,
    answered: ClockTime,
    received: ClockTime,
}

impl RoundTrip {
    fn time(self) -> Duration {
        self.received.since(self.sent)
    }

    /// The bound of the offset that follows from this round trip, when it is used at `now`.
    fn bound(self, now: ClockTime) -> Duration {
        let drift = now.since(self.received).as_nanos() * u128::from(MAX_DRIFT) / 1_000_000_000;
        // Rounded up: a bound must not become too small.
        let half = nanoseconds(self.time()).div_ceil(2);
        Duration::from_nanos(half.saturating_add(u64::try_from(drift).unwrap_or(u64::MAX)))
    }
}

impl RoundTrips {
    /// Adds a round trip: sent and received by our clock, answered by theirs.
    pub fn add(&mut self, sent: ClockTime, answered: ClockTime, received: ClockTime) {
        if self.trips.len() == KEPT {
            self.trips.remove(0);
        }
        self.trips.push(RoundTrip { sent, answered, received });
    }

    /// The number of round trips kept, 16 at most.
    #[must_use]
    pub fn len(&self) -> usize {
        self.trips.len()
    }

    /// Whether there was no round trip yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.trips.is_empty()
    }

    /// The best offset for a translation at `now`; `None` before the first round trip.
    #[must_use]
    pub fn offset(&self, now: ClockTime) -> Option<ClockOffset> {
        let best = self.trips.iter().min_by_key(|trip| trip.bound(now))?;
        let middle = (i128::from(best.sent.0) + i128::from(best.received.0)) / 2;
        Some(ClockOffset { ahead: i128::from(best.answered.0) - middle, bound: best.bound(now) })
    }

    /// The longest round trip kept: the time in which a message will have arrived.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.trips.iter().map(|trip| trip.time()).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The true offset is within the bound, however the round trip divides into its ways.
        #[test]
        fn the_true_offset_is_within_the_bound(
            ahead in -1_000_000_000_000_i64..1_000_000_000_000,
            ways in prop::collection::vec((0_u64..50_000_000, 0_u64..50_000_000), 1..40),
        ) {
            let mut trips = RoundTrips::default();
            let mut now = 2_000_000_000_000_u64;
            for (there, back) in ways {
                let theirs = (now + there).wrapping_add_signed(ahead);
                trips.add(ClockTime(now), ClockTime(theirs), ClockTime(now + there + back));
                now += there + back;
            }
            let offset = trips.offset(ClockTime(now)).unwrap();
            let error = offset.to_theirs(ClockTime(now)).0.abs_diff(now.wrapping_add_signed(ahead));
            prop_assert!(Duration::from_nanos(error) <= offset.bound, "{error} {offset:?}");
            prop_assert_eq!(offset.to_ours(offset.to_theirs(ClockTime(now))), ClockTime(now));
        }
    }

    #[test]
    fn the_shortest_round_trip_counts_until_drift_makes_it_worse() {
        let mut trips = RoundTrips::default();
        trips.add(ClockTime(0), ClockTime(1_000_050), ClockTime(100));
        trips.add(ClockTime(1_000), ClockTime(1_500_000), ClockTime(2_000_000));
        assert_eq!(trips.offset(ClockTime(2_000_000)).unwrap().bound, Duration::from_nanos(50 + 199));
        // A minute later the first may be off by 6 ms, as may the second.
        let later = trips.offset(ClockTime(60_000_000_000)).unwrap();
        assert_eq!(later.to_theirs(ClockTime(0)), ClockTime(1_000_000));
        assert_eq!(trips.longest(), Duration::from_nanos(1_999_000));
    }

    #[test]
    fn old_round_trips_are_dropped() {
        let mut trips = RoundTrips::default();
        assert_eq!(trips.offset(ClockTime(0)), None);
        for at in 0..40 {
            trips.add(ClockTime(at), ClockTime(at), ClockTime(at));
        }
        assert_eq!(trips.len(), KEPT);
    }
}
