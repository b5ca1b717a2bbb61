//! `--cpuclock-test`: checks that the clock used for latencies agrees between all CPUs and with the kernel's clock.

use std::io::{self, Write};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ferrio_machine::{allowed_cpus, run_on};
use ferrio_stats::{Clock, TickSource};

/// Time for which the clocks of the CPUs are compared.
const TEST_TIME: Duration = Duration::from_millis(200);

/// Largest amount by which a reading may be behind another CPU's, as processors may read their counter slightly early.
const MAX_BEHIND_NS: u64 = 1_000;

/// Largest accepted difference from CLOCK_MONOTONIC in millionths. The short calibration alone is off by some hundred.
const MAX_OFF_PPM: f64 = 5_000.0;

/// The readings of one CPU.
#[derive(Clone, Copy, Debug, Default)]
struct CpuReadings {
    /// Number of readings.
    readings: u64,
    /// First reading in ticks.
    first: u64,
    /// Largest amount by which a reading was behind another CPU's, in ns.
    back_ns: u64,
    /// Difference from CLOCK_MONOTONIC, in millionths.
    off_ppm: f64,
    /// True if the thread ran on this CPU.
    pinned: bool,
}

/// Tests the clocks of all CPUs that this process may use. Returns false if they are unreliable.
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
        let CpuReadings { readings, first, back_ns, off_ppm, pinned } = seen;
        writeln!(
            out,
            "cs: cpu{cpu:3}: {readings} clocks seen, first {first}, {off_ppm:+.0} ppm off, {back_ns} ns back at most"
        )?;
        faults.extend((!pinned).then(|| format!("cpu {cpu} could not be used")));
        faults.extend((back_ns > MAX_BEHIND_NS).then(|| format!("cpu {cpu} is {back_ns} ns behind another")));
        faults.extend((off_ppm.abs() > MAX_OFF_PPM).then(|| format!("cpu {cpu} runs {off_ppm:+.0} ppm off")));
    }
    faults.iter().try_for_each(|fault| writeln!(out, "cs: {fault}"))?;
    writeln!(out, "cs: {}", if faults.is_empty() { "Pass!" } else { "Fail" })?;
    Ok(faults.is_empty())
}

/// Reads the clock in one thread per CPU at the same time; the threads share their latest reading.
fn compare(clock: Clock, cpus: &[usize]) -> Vec<CpuReadings> {
    let latest = AtomicU64::new(0);
    // Each thread holds a sender until it may begin. All begin when the last sender is dropped, however many threads there are.
    let (ready, all_ready) = channel::<()>();
    let (begin, begun) = channel::<()>();
    let begun = Mutex::new(begun);
    thread::scope(|scope| {
        let read = |cpu| {
            let (latest, begun, ready) = (&latest, &begun, ready.clone());
            thread::Builder::new().spawn_scoped(scope, move || {
                let pinned = run_on([cpu]).is_ok();
                drop(ready);
                // Fails once all senders are dropped.
                let _ = begun.lock().unwrap_or_else(PoisonError::into_inner).recv();
                CpuReadings { pinned, ..read_for(TEST_TIME, clock, latest) }
            })
        };
        let threads: Vec<_> = cpus.iter().copied().map(read).collect();
        drop(ready);
        let _ = all_ready.recv();
        drop(begin);
        // A thread that panicked, or could not be started, counts as not pinned.
        let readings = threads.into_iter().map(|thread| thread.ok()?.join().ok());
        readings.map(Option::unwrap_or_default).collect()
    })
}

fn read_for(span: Duration, clock: Clock, latest: &AtomicU64) -> CpuReadings {
    let (ticks, kernel) = read_both(clock);
    let mut seen = CpuReadings { first: ticks, ..CpuReadings::default() };
    while kernel.elapsed() < span {
        for _ in 0..1000 {
            let others = latest.load(Acquire);
            let now = clock.now();
            seen.back_ns = seen.back_ns.max(clock.between(now, others));
            latest.fetch_max(now, AcqRel);
            seen.readings += 1;
        }
    }
    let (ticks_end, kernel_end) = read_both(clock);
    let real = (kernel_end - kernel).as_nanos() as f64;
    seen.off_ppm = (clock.between(ticks, ticks_end) as f64 - real) / real * 1e6;
    seen
}

/// Reads both clocks at nearly the same moment: the closest pair of several.
fn read_both(clock: Clock) -> (u64, Instant) {
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
    fn the_test_lists_every_cpu_and_gives_a_verdict() {
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
    fn a_clock_behind_another_cpus_is_detected() {
        let clock = Clock::monotonic();
        let ahead = AtomicU64::new(clock.now() + 3_600_000_000_000);
        let seen = read_for(Duration::from_millis(1), clock, &ahead);
        assert!(seen.back_ns > 3_000_000_000_000 && seen.readings >= 1000, "{seen:?}");
        assert!(seen.off_ppm.abs() < MAX_OFF_PPM, "CLOCK_MONOTONIC against itself: {seen:?}");
    }
}
