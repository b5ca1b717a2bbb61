//! Times that are dear to take.

use ferrio_job::ClockSource as Wanted;
use ferrio_stats::ClockSource;

use super::{Look, Told};

/// The time stamp counter cannot be used although nobody asked for another clock.
pub(super) fn not_invariant(look: &Look<'_>) -> Vec<Told> {
    let fallback = look.plan.clock != Wanted::Kernel && look.result.clock == ClockSource::Monotonic;
    let measured = look.jobs().any(|(_, _, job)| job.stats.total_ios() > 0);
    if !fallback || !measured {
        return Vec::new();
    }
    let message = "the processor's time stamp counter does not run evenly, or the kernel does not trust it: \
         each time is a call of clock_gettime";
    let help = "latencies below some microseconds hold the time of that call; \
         /sys/devices/system/clocksource/clocksource0 says which clocks the kernel has";
    vec![Told { jobs: Vec::new(), message: message.to_owned(), help }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubts::testing::{Case, reading};

    #[test]
    fn a_fallback_is_told_and_a_choice_is_not() {
        let case = |wanted, used| {
            let mut case = Case::new().job("a", reading(1000, 5000));
            (case.plan.clock, case.result.clock) = (wanted, used);
            case.warnings("clock-not-invariant").len()
        };
        assert_eq!(case(Wanted::Best, ClockSource::Monotonic), 1);
        assert_eq!(case(Wanted::Cpu, ClockSource::Monotonic), 1);
        assert_eq!(case(Wanted::Kernel, ClockSource::Monotonic), 0);
        assert_eq!(case(Wanted::Best, ClockSource::Tsc), 0);
    }
}
