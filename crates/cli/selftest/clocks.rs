//! `--cpuclock-test`: whether the clock that latencies are measured with runs alike on all CPUs and agrees with the kernel's.

use std::io::{self, Write};
use std::sync::Barrier;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::thread;
use std::time::{Duration, Instant};

use ferrio_machine::allowed_cpus;
use ferrio_runner::run_on;
use ferrio_stats::{Clock, TickSource};

/// How long all CPUs read their clocks against each other.
const SPAN: Duration = Duration::from_millis(200);

/// A reading behind one of another CPU by up to this is no fault: a processor may read its counter somewhat early.
const EARLY_NS: u64 = 1_000;

/// Difference to CLOCK_MONOTONIC that is tolerated, in millionths: the short calibration alone is good to some hundred.
const TOLERATED_PPM: f64 = 5_000.0;

/// What one CPU saw.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Readings taken.
    readings: u64,
    /// The first one, in ticks.
    first: u64,
    /// Largest step back against any CPU, in ns.
    back_ns: u64,
    /// Difference to CLOCK_MONOTONIC, in millionths.
    off_ppm: f64,
    /// The thread ran on this CPU.
    pinned: bool,
}

/// Tests the clocks of all CPUs that this process may use. False if they cannot be relied on.
///
/// # Errors
/// `out` cannot be written to.
pub fn clocks(out: &mut dyn Write) -> io::Result<bool> {
    let clock = Clock::calibrate();
    let tsc = clock.source() == TickSource::Tsc;
    writeln!(out, "cs: reliable_tsc: {}", if tsc { "yes" } else { "no" })?;
    if !tsc {
        writeln!(out, "cs: CLOCK_MONOTONIC is used instead")?;
    }
    let cpus = allowed_cpus().unwrap_or_default();
    writeln!(out, "cs: Testing {} CPUs", cpus.len())?;
    let mut faults = Vec::new();
    for (cpu, seen) in cpus.iter().zip(compare(clock, &cpus)) {
        let Seen { readings, first, back_ns, off_ppm, pinned } = seen;
        writeln!(
            out,
            "cs: cpu{cpu:3}: {readings} clocks seen, first {first}, {off_ppm:+.0} ppm off, {back_ns} ns back at most"
        )?;
        faults.extend((!pinned).then(|| format!("cpu {cpu} could not be used")));
        faults.extend((back_ns > EARLY_NS).then(|| format!("cpu {cpu} is {back_ns} ns behind another")));
        faults
            .extend((off_ppm.abs() > TOLERATED_PPM).then(|| format!("cpu {cpu} runs {off_ppm:+.0} ppm off")));
    }
    faults.iter().try_for_each(|fault| writeln!(out, "cs: {fault}"))?;
    writeln!(out, "cs: {}", if faults.is_empty() { "Pass!" } else { "Fail" })?;
    Ok(faults.is_empty())
}

/// One thread per CPU, all reading at the same time and telling each other their latest reading.
fn compare(clock: Clock, cpus: &[usize]) -> Vec<Seen> {
    let latest = AtomicU64::new(0);
    let start = Barrier::new(cpus.len());
    thread::scope(|scope| {
        let read = |cpu| {
            scope.spawn({
                let (latest, start) = (&latest, &start);
                move || {
                    let pinned = run_on([cpu]).is_ok();
                    start.wait();
                    Seen { pinned, ..read_for(SPAN, clock, latest) }
                }
            })
        };
        let threads: Vec<_> = cpus.iter().copied().map(read).collect();
        // A thread that panicked has seen nothing, and was not pinned.
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
    })
}

fn read_for(span: Duration, clock: Clock, latest: &AtomicU64) -> Seen {
    let (ticks, kernel) = both(clock);
    let mut seen = Seen { first: ticks, ..Seen::default() };
    while kernel.elapsed() < span {
        for _ in 0..1000 {
            let others = latest.load(Acquire);
            let now = clock.now();
            seen.back_ns = seen.back_ns.max(clock.between(now, others));
            latest.fetch_max(now, AcqRel);
            seen.readings += 1;
        }
    }
    let (ticks_end, kernel_end) = both(clock);
    let real = (kernel_end - kernel).as_nanos() as f64;
    seen.off_ppm = (clock.between(ticks, ticks_end) as f64 - real) / real * 1e6;
    seen
}

/// Both clocks at the same moment: the closest of a few readings.
fn both(clock: Clock) -> (u64, Instant) {
    let mut best = (u64::MAX, clock.now(), Instant::now());
    for _ in 0..16 {
        let before = clock.now();
        let kernel = Instant::now();
        let apart = clock.now().saturating_sub(before);
        if apart < best.0 {
            best = (apart, before + apart / 2, kernel);
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_names_every_cpu_and_gives_a_verdict() {
        let mut out = Vec::new();
        let good = clocks(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text.lines().filter(|line| line.contains("clocks seen")).count(),
            allowed_cpus().unwrap().len()
        );
        assert!(text.ends_with(if good { "cs: Pass!\n" } else { "cs: Fail\n" }), "{text}");
    }

    #[test]
    fn a_clock_that_another_cpu_is_ahead_of_is_noticed() {
        let clock = Clock::monotonic();
        let ahead = AtomicU64::new(clock.now() + 3_600_000_000_000);
        let seen = read_for(Duration::from_millis(1), clock, &ahead);
        assert!(seen.back_ns > 3_000_000_000_000 && seen.readings >= 1000, "{seen:?}");
        assert!(seen.off_ppm.abs() < TOLERATED_PPM, "CLOCK_MONOTONIC against itself: {seen:?}");
    }
}
