//! The clock of the hot path: the processor's invariant time stamp counter, converted to ns by one multiplication.
//!
//! Calibrated against CLOCK_MONOTONIC. Where the counter is missing or not invariant, ticks are CLOCK_MONOTONIC ns themselves.
//! The counter is read without serialising instructions: reordering moves a stamp by a few ns, a fence would cost more.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The source of ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TickSource {
    /// Invariant time stamp counter.
    Tsc,
    /// clock_gettime(CLOCK_MONOTONIC).
    #[default]
    Monotonic,
}

/// Reads ticks and converts differences to ns. Copy it into each worker.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    source: TickSource,
    /// ns per tick as a 32.32 fixed-point number.
    ns_per_tick: u64,
}

const FRACTION_BITS: u32 = 32;

/// Shortest time over which the speed of the counter is measured: enough for 10 parts in a million (99 % of calibrations are within 7).
const MIN_CALIBRATION_TIME: Duration = Duration::from_micros(500);

/// A reading of both clocks at one moment. The first one for a [`Clock`] may be taken early: work until the second one replaces waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockReading {
    ticks: u64,
    /// Time of CLOCK_MONOTONIC.
    ns: u64,
}

impl ClockReading {
    /// Reads both clocks: the tightest of a few readings, because a preempted one would tilt the whole calibration.
    #[must_use]
    pub fn now() -> Self {
        let readings = (0..8).map(|_| {
            let before = read_tsc();
            let ns = monotonic_ns();
            let took = read_tsc().wrapping_sub(before);
            (took, ClockReading { ticks: before.wrapping_add(took / 2), ns })
        });
        readings.min().map_or(ClockReading::default(), |(_, reading)| reading)
    }

    /// Length of a tick in ns until now; `None` if the counter does not run. Waits until the time is long enough.
    fn speed(self) -> Option<u64> {
        let end = self.ns + MIN_CALIBRATION_TIME.as_nanos() as u64;
        while monotonic_ns() < end {
            std::hint::spin_loop();
        }
        self.speed_until(ClockReading::now())
    }

    /// Length of a tick in ns between two readings; `None` if the counter does not run.
    fn speed_until(self, end: ClockReading) -> Option<u64> {
        let ticks = end.ticks.checked_sub(self.ticks).filter(|&ticks| ticks > 1000)?;
        let ns = u128::from(end.ns.checked_sub(self.ns)?);
        u64::try_from((ns << FRACTION_BITS) / u128::from(ticks)).ok().filter(|&speed| speed > 0)
    }
}

impl Clock {
    /// Chooses and calibrates the source. Takes 0.5 ms where the time stamp counter is usable.
    #[must_use]
    pub fn calibrate() -> Self {
        Clock::calibrate_since(ClockReading::now())
    }

    /// Chooses and calibrates the source, over the time since `start` and at least 0.5 ms.
    #[must_use]
    pub fn calibrate_since(start: ClockReading) -> Self {
        if counter_is_invariant()
            && let Some(ns_per_tick) = start.speed()
        {
            return Clock { source: TickSource::Tsc, ns_per_tick };
        }
        Clock::monotonic()
    }

    /// The fallback: ticks are CLOCK_MONOTONIC ns.
    #[must_use]
    pub const fn monotonic() -> Self {
        Clock { source: TickSource::Monotonic, ns_per_tick: 1 << FRACTION_BITS }
    }

    /// The source.
    #[must_use]
    pub const fn source(&self) -> TickSource {
        self.source
    }

    /// Current ticks. The origin is arbitrary but common to all threads.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        match self.source {
            TickSource::Tsc => read_tsc(),
            TickSource::Monotonic => monotonic_ns(),
        }
    }

    /// Converts a tick difference to ns.
    #[inline]
    #[must_use]
    pub fn ns(&self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.ns_per_tick)) >> FRACTION_BITS) as u64
    }

    /// Time from `start` to `end` in ns; 0 if they are reversed (counters of two sockets may differ by a few ticks).
    #[inline]
    #[must_use]
    pub fn between(&self, start: u64, end: u64) -> u64 {
        self.ns(end.saturating_sub(start))
    }

    /// Ticks in a duration, rounded down; saturates.
    #[must_use]
    pub fn ticks(&self, duration: Duration) -> u64 {
        let ticks = (duration.as_nanos() << FRACTION_BITS) / u128::from(self.ns_per_tick);
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}

/// Time between two measurements of the speed of a [`LongClock`].
const MEASURE_INTERVAL: Duration = Duration::from_millis(100);

/// A clock for long times that count from one moment. The speed of a [`Clock`] is measured in 0.5 ms, to 10 parts in a million, which
/// are a millisecond after two minutes. This one measures it repeatedly, over all the time since it began.
#[derive(Clone, Copy, Debug)]
pub struct LongClock {
    clock: Clock,
    began: ClockReading,
    /// Ticks of the next measurement.
    measured_next: u64,
}

impl LongClock {
    /// Starts now, with the speed of `clock`.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        let began = match clock.source {
            TickSource::Tsc => ClockReading::now(),
            TickSource::Monotonic => ClockReading::default(),
        };
        LongClock { clock, began, measured_next: began.ticks.saturating_add(clock.ticks(MEASURE_INTERVAL)) }
    }

    /// Ticks in a duration, at `now` in ticks.
    #[must_use]
    pub fn ticks(&mut self, now: u64, duration: Duration) -> u64 {
        if self.clock.source == TickSource::Tsc && now >= self.measured_next {
            self.measure(ClockReading::now());
        }
        self.clock.ticks(duration)
    }

    /// Measures the speed from the start to this reading of both clocks.
    fn measure(&mut self, now: ClockReading) {
        if let Some(ns_per_tick) = self.began.speed_until(now) {
            self.clock.ns_per_tick = ns_per_tick;
        }
        self.measured_next = now.ticks.saturating_add(self.clock.ticks(MEASURE_INTERVAL));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[allow(unsafe_code)]
fn read_tsc() -> u64 {
    // SAFETY: RDTSC exists on every x86-64 processor and reads a register only.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn read_tsc() -> u64 {
    monotonic_ns()
}

/// Whether this machine has a time stamp counter that always runs at one speed, on all processors alike: the processor says so, and the
/// kernel trusts it.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn counter_is_invariant() -> bool {
    use std::arch::x86_64::__cpuid;
    const INVARIANT_TSC: u32 = 1 << 8;
    const LEAF: u32 = 0x8000_0007;
    let invariant = __cpuid(0x8000_0000).eax >= LEAF && __cpuid(LEAF).edx & INVARIANT_TSC != 0;
    // Hypervisors often hide the bit although the counter is sound: then the kernel's own choice decides.
    match ferrio_machine::clock_source().as_deref() {
        Some("tsc") => true,
        Some(_) => false,
        None => invariant,
    }
}

/// Whether this machine has a time stamp counter that always runs at one speed: none that is known.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn counter_is_invariant() -> bool {
    false
}

fn monotonic_ns() -> u64 {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC)
        .map_or(0, |t| t.tv_sec() as u64 * 1_000_000_000 + t.tv_nsec() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_clock_has_the_speed_of_all_its_time() {
        // 2.5 ticks a ns, calibrated 20 parts in a million too fast.
        let speed = ((1_u64 << FRACTION_BITS) as f64 / 2.5 * (1.0 - 20e-6)) as u64;
        let clock = Clock { source: TickSource::Tsc, ns_per_tick: speed };
        let began = ClockReading { ticks: 1_000_000, ns: 77 };
        let mut long = LongClock { clock, began, measured_next: 0 };
        let minute = Duration::from_secs(60);
        let exact = 150_000_000_000_u64;
        assert!(clock.ticks(minute).abs_diff(exact) > 2_900_000);
        // Readings are off by 25 ns.
        for (seconds, most) in [(1_u64, 6000), (10, 600), (60, 200)] {
            let ticks = 1_000_000 + seconds * 2_500_000_000;
            long.measure(ClockReading { ticks, ns: 77 + seconds * 1_000_000_000 + 25 });
            assert!(long.clock.ticks(minute).abs_diff(exact) < most, "{seconds}");
            let next = 1_000_000 + seconds * 2_500_000_000 + 250_000_000;
            assert!(long.measured_next.abs_diff(next) < 100);
        }
        let before = long.clock.ns_per_tick;
        long.measure(ClockReading::default());
        assert_eq!(long.clock.ns_per_tick, before, "clocks that run backwards say nothing");
    }

    #[test]
    fn a_long_clock_of_nanoseconds_is_exact() {
        let mut long = LongClock::new(Clock::monotonic());
        assert_eq!(long.ticks(u64::MAX, Duration::from_micros(7)), 7000);
    }

    #[test]
    fn ticks_and_ns_are_inverse_within_a_tick() {
        let clock = Clock::calibrate();
        for ns in [1u64, 999, 1_000_000, 3_600_000_000_000] {
            let back = clock.ns(clock.ticks(Duration::from_nanos(ns)));
            assert!(back.abs_diff(ns) <= 2, "{ns} ns came back as {back}");
        }
    }

    #[test]
    fn the_counter_agrees_with_the_kernel_clock() {
        let clock = Clock::calibrate();
        let (ticks, ns) = (clock.now(), monotonic_ns());
        while monotonic_ns() < ns + 20_000_000 {
            std::hint::spin_loop();
        }
        let (measured, real) = (clock.between(ticks, clock.now()), monotonic_ns() - ns);
        assert!(measured.abs_diff(real) * 200 < real, "{measured} ns by the counter, {real} by the kernel");
    }

    #[test]
    fn a_reversed_interval_is_zero() {
        assert_eq!(Clock::monotonic().between(10, 9), 0);
        assert_eq!(Clock::monotonic().between(10, 19), 9);
    }
}
