//! Idleness of the CPUs during a run (`--idle-prof`): on each CPU a thread of the lowest priority does units of work and counts them.
//!
//! The time of a unit is measured on each CPU before the run. The number of units times that time, divided by the elapsed time, is the
//! share in which nothing else wanted the CPU. The threads keep all CPUs awake and busy, so they run only if they are asked for.

use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use ferrio_kernel::run_when_idle;
use ferrio_machine::{allowed_cpus, run_on};
use ferrio_results::{Idleness, UnitWork};

/// Steps of a unit: 10 to 20 µs where the compiler optimises, short against the time slices that it is interrupted for, long against
/// the count after it.
const STEPS: u32 = 8192;
/// Units that a measurement takes the median of, so that interruptions do not count.
const MEASURED: usize = 101;
const STACK: usize = 64 * 1024;
const LOWEST_NICE: i32 = 19;

/// Measures the unit of work on all CPUs (`--idle-prof=calibrate`).
///
/// # Errors
/// A CPU cannot be used, or no thread can be made.
pub fn calibrate() -> io::Result<UnitWork> {
    Ok(IdleThreads::start()?.finish().unit)
}

/// The threads, one per CPU. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct IdleThreads {
    cpus: Vec<Cpu>,
    stop: Arc<AtomicBool>,
    began: Instant,
}

#[derive(Debug)]
struct Cpu {
    number: usize,
    unit_ns: u64,
    /// Units done so far, and when the measurement began.
    units: Arc<WorkCounter>,
    units_before: u64,
    thread: Option<JoinHandle<()>>,
}

/// A count with cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct WorkCounter(AtomicU64);

impl IdleThreads {
    /// Starts the threads: each measures the unit of work, then counts at the lowest priority. Counts begin to count when all do.
    ///
    /// # Errors
    /// A CPU cannot be used, or no thread can be made.
    pub(crate) fn start() -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut threads = IdleThreads { cpus: Vec::new(), stop, began: Instant::now() };
        let (sender, measured) = channel();
        for number in allowed_cpus()? {
            let units = Arc::new(WorkCounter::default());
            let at = threads.cpus.len();
            let (sender, stop, counted) = (sender.clone(), Arc::clone(&threads.stop), Arc::clone(&units));
            let work = move || {
                let unit_ns = settle(number);
                let ready = unit_ns.is_ok();
                // Main waits for this message, unless it has given up.
                if sender.send((at, unit_ns)).is_ok() && ready {
                    count(&counted.0, &stop);
                }
            };
            let thread = Builder::new().name(format!("idle-{number}")).stack_size(STACK).spawn(work)?;
            threads.cpus.push(Cpu { number, unit_ns: 0, units, units_before: 0, thread: Some(thread) });
        }
        drop(sender);
        for (at, unit_ns) in measured {
            threads.cpus[at].unit_ns = unit_ns?;
            if threads.cpus.iter().all(|cpu| cpu.unit_ns > 0) {
                break;
            }
        }
        for cpu in &mut threads.cpus {
            cpu.units_before = cpu.units.0.load(Relaxed);
        }
        threads.began = Instant::now();
        Ok(threads)
    }

    /// Ends the measurement and the threads.
    pub(crate) fn finish(self) -> Idleness {
        let elapsed = self.began.elapsed();
        let cpus = self.cpus.iter().map(|cpu| {
            let units = cpu.units.0.load(Relaxed) - cpu.units_before;
            (cpu.number, idle_percent(units, cpu.unit_ns, elapsed))
        });
        let unit_ns: Vec<u64> = self.cpus.iter().map(|cpu| cpu.unit_ns).collect();
        Idleness { cpus: cpus.collect(), unit: UnitWork::from_ns(&unit_ns) }
    }

    #[cfg(test)]
    fn units(&self) -> Vec<u64> {
        self.cpus.iter().map(|cpu| cpu.units.0.load(Relaxed)).collect()
    }
}

impl Drop for IdleThreads {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        for thread in self.cpus.iter_mut().filter_map(|cpu| cpu.thread.take()) {
            // Only a panic could fail here, and there is nothing in these threads that panics.
            let _ = thread.join();
        }
    }
}

/// Binds the calling thread to a CPU, measures the unit of work there (at least 1 ns) and lowers the priority.
fn settle(cpu: usize) -> io::Result<u64> {
    run_on([cpu])?;
    let mut ns: Vec<u64> = (0..MEASURED)
        .map(|_| {
            let start = Instant::now();
            unit();
            start.elapsed().as_nanos() as u64
        })
        .collect();
    ns.sort_unstable();
    if run_when_idle().is_err() {
        // The next best thing: a little more of the CPU is taken from the jobs.
        rustix::process::nice(LOWEST_NICE)?;
    }
    Ok(ns[MEASURED / 2].max(1))
}

fn count(units: &AtomicU64, stop: &AtomicBool) {
    let mut done = 0;
    while !stop.load(Relaxed) {
        unit();
        done += 1;
        units.store(done, Relaxed);
    }
}

/// A unit of work: steps that depend on each other and touch no memory.
fn unit() {
    let mut state = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..STEPS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
}

fn idle_percent(units: u64, unit_ns: u64, elapsed: Duration) -> f64 {
    let elapsed_ns = elapsed.as_nanos() as f64;
    if elapsed_ns == 0.0 { 0.0 } else { (100.0 * units as f64 * unit_ns as f64 / elapsed_ns).min(100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idleness_is_the_time_that_the_units_took() {
        let ms = Duration::from_millis;
        assert_eq!(idle_percent(500, 10_000, ms(10)), 50.0);
        assert_eq!(idle_percent(0, 10_000, ms(10)), 0.0);
        assert_eq!(idle_percent(2000, 10_000, ms(10)), 100.0, "a unit may be faster than it was measured");
        assert_eq!(idle_percent(1, 1, Duration::ZERO), 0.0);
    }

    #[test]
    fn every_allowed_cpu_is_measured_and_its_thread_counts() {
        let threads = IdleThreads::start().unwrap();
        let measured: Vec<usize> = threads.cpus.iter().map(|cpu| cpu.number).collect();
        assert_eq!(measured, allowed_cpus().unwrap());
        // However busy the machine is, each thread comes to its turn.
        while threads.units().contains(&0) {
            std::thread::yield_now();
        }
        let counted = Arc::clone(&threads.cpus[0].units);
        let idleness = threads.finish();
        assert!(idleness.cpus.iter().all(|&(_, percent)| (0.0..=100.0).contains(&percent)), "{idleness:?}");
        assert!(idleness.unit.mean_us > 0.0);
        assert_eq!(Arc::strong_count(&counted), 1, "the threads have ended");
    }
}
