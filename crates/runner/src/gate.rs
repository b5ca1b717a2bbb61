//! The start of a wave: its jobs are set up one by one and begin their I/O together.
//!
//! Two costs grow with the number of jobs. Main is woken once, by the last job that is set up, and not by each. And where a wave has
//! more jobs than there are CPUs, the kernel would let the first ones run for whole time slices while the others have done no I/O at
//! all: so each job waits after its first I/O until all have begun, unless there is still something in flight.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
use std::time::Duration;

use ferrio_machine::allowed_cpus;
use ferrio_stats::Clock;
use rustix::thread::futex;

/// Jobs of a crowded wave wait for the first I/Os of all others this long at most, and longer the more jobs there are.
const FIRST_IO_TIMEOUT: Duration = Duration::from_millis(20);
const FIRST_IO_TIMEOUT_PER_JOB: Duration = Duration::from_micros(100);

/// Holds the workers of one wave back until main lets all of them go, and once more after their first I/Os. A signal that ends the run
/// lets them go as well, as main may be blocked by an output.
#[derive(Debug)]
pub struct Gate {
    start: Barrier,
    first_ios: Barrier,
    /// Jobs of the wave, once main knows; [`usize::MAX`] before.
    members: AtomicUsize,
    /// They are more than there are CPUs.
    crowded: AtomicBool,
    /// Jobs that are set up, or have failed.
    arrived: AtomicUsize,
    /// Jobs that have begun their I/O, or that nobody waits for.
    begun: AtomicUsize,
}

/// A gate that is closed. Workers pass both barriers once this is dropped.
#[derive(Debug)]
pub struct ClosedGate<'a>(&'a Gate);

impl ClosedGate<'_> {
    /// Lets the workers begin.
    pub fn start(&self) {
        self.0.start.open();
    }
}

impl Drop for ClosedGate<'_> {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// Threads wait here while it is closed. Unlike those that wait for a condition, they wake up all at once and not one behind the other,
/// and unlike a lock, any thread can open it.
#[derive(Debug, Default)]
struct Barrier(AtomicU32);

const OPEN: u32 = 0;
const CLOSED: u32 = 1;

impl Barrier {
    fn close(&self) {
        self.0.store(CLOSED, SeqCst);
    }

    fn open(&self) {
        if self.0.swap(OPEN, SeqCst) == CLOSED {
            // Waking threads at an address of this process does not fail.
            let _ = futex::wake(&self.0, futex::Flags::PRIVATE, i32::MAX as u32);
        }
    }

    fn wait(&self) {
        while self.0.load(SeqCst) == CLOSED {
            // Whatever ends the wait, the value decides.
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, CLOSED, None);
        }
    }
}

impl Default for Gate {
    fn default() -> Self {
        Gate {
            start: Barrier::default(),
            first_ios: Barrier::default(),
            members: AtomicUsize::new(usize::MAX),
            crowded: AtomicBool::default(),
            arrived: AtomicUsize::default(),
            begun: AtomicUsize::default(),
        }
    }
}

impl Gate {
    /// Closes the gate until what it returns is dropped.
    pub fn close(&self) -> ClosedGate<'_> {
        self.start.close();
        self.first_ios.close();
        ClosedGate(self)
    }

    /// Opens the gate for good: nobody waits any more.
    pub fn open(&self) {
        self.start.open();
        self.first_ios.open();
    }

    /// Waits until the jobs may begin.
    pub fn wait_for_start(&self) {
        self.start.wait();
    }

    /// After the first I/O: waits until the other jobs have begun too.
    pub fn wait_for_first_ios(&self) {
        self.first_ios.wait();
    }

    /// All jobs of the wave have been started: there are this many.
    pub fn expect(&self, members: usize) {
        // Quotas of control groups do not count: they limit CPU time, not how many jobs run at once.
        let cpus = allowed_cpus().map_or(1, |cpus| cpus.len());
        self.crowded.store(members > cpus, Relaxed);
        self.members.store(members, SeqCst);
    }

    /// How long jobs wait for each other after their first I/Os: one may be stopped by a debugger.
    pub fn first_io_timeout(&self) -> Duration {
        let members = u32::try_from(self.members.load(Relaxed)).unwrap_or_default();
        FIRST_IO_TIMEOUT + FIRST_IO_TIMEOUT_PER_JOB * members
    }

    /// True if jobs wait for each other after their first I/Os.
    pub fn is_crowded(&self) -> bool {
        self.crowded.load(Relaxed)
    }

    /// One more job is set up, or will never be. True for the last one: main waits for it. `begins` if the job begins its I/O as soon
    /// as the gate is open; the others do not wait for one that failed or has a command to run.
    pub fn arrive(&self, begins: bool) -> bool {
        if !begins {
            self.begun.fetch_add(1, SeqCst);
        }
        self.arrived.fetch_add(1, SeqCst) + 1 == self.members.load(SeqCst)
    }

    /// True when no more job will arrive.
    pub fn all_arrived(&self) -> bool {
        self.arrived.load(SeqCst) == self.members.load(SeqCst)
    }

    /// One more job begins its I/O. True for the last one.
    pub fn begin(&self) -> bool {
        self.begun.fetch_add(1, SeqCst) + 1 == self.members.load(SeqCst)
    }

    /// True when all jobs have begun, but for those that nobody waits for.
    pub fn all_begun(&self) -> bool {
        self.begun.load(SeqCst) >= self.members.load(SeqCst)
    }
}

/// How far apart the jobs of one wave began, in the wave where that is most. `began` are the wave of each job and the ticks at its
/// beginning, 0 if it never began. A wave of one job does not count.
pub fn widest_start(
    waves: usize,
    began: impl Iterator<Item = (usize, u64)>,
    clock: &Clock,
) -> Option<Duration> {
    let mut bounds: Vec<(u32, u64, u64)> = vec![(0, u64::MAX, 0); waves];
    for (wave, since) in began.filter(|&(_, since)| since > 0) {
        let (jobs, first, last) = &mut bounds[wave];
        (*jobs, *first, *last) = (*jobs + 1, since.min(*first), since.max(*last));
    }
    let together = bounds.into_iter().filter(|&(jobs, ..)| jobs > 1);
    together.map(|(_, first, last)| Duration::from_nanos(clock.between(first, last))).max()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::mpsc::{TryRecvError, channel};

    use super::*;

    #[test]
    fn a_gate_stays_open_once_it_is() {
        let gate = Gate::default();
        drop(gate.close());
        gate.wait_for_start();
        gate.wait_for_first_ios();
    }

    #[test]
    fn all_who_wait_pass_when_the_gate_opens() {
        let gate = Gate::default();
        let (sender, passed) = channel();
        std::thread::scope(|scope| {
            let closed = gate.close();
            for _ in 0..3 {
                let (gate, sender) = (&gate, sender.clone());
                scope.spawn(move || {
                    gate.wait_for_start();
                    sender.send(()).unwrap();
                });
            }
            assert_eq!(passed.try_recv(), Err(TryRecvError::Empty));
            drop(closed);
            (0..3).for_each(|_| passed.recv().unwrap());
        });
    }

    #[test]
    fn a_panic_opens_the_gate_too() {
        let gate = Gate::default();
        let result = catch_unwind(AssertUnwindSafe(|| {
            let _closed = gate.close();
            resume_unwind(Box::new("without a message"));
        }));
        assert!(result.is_err());
        gate.wait_for_start();
    }

    #[test]
    fn the_last_to_arrive_wakes_main_unless_main_is_later() {
        let gate = Gate::default();
        assert!(!gate.arrive(true) && !gate.all_arrived());
        gate.expect(3);
        assert!(!gate.arrive(true) && !gate.all_arrived());
        assert!(gate.arrive(true) && gate.all_arrived());
        let gate = Gate::default();
        assert!(!gate.arrive(true));
        gate.expect(1);
        assert!(gate.all_arrived());
    }

    #[test]
    fn jobs_of_a_crowd_wait_after_their_first_ios_and_those_with_a_cpu_each_do_not() {
        let cpus = allowed_cpus().unwrap().len();
        let alone = Gate::default();
        alone.expect(cpus);
        assert!(!alone.is_crowded());
        let crowded = Gate::default();
        crowded.expect(cpus + 1);
        assert!(crowded.is_crowded() && (0..cpus).all(|_| !crowded.begin()) && !crowded.all_begun());
        assert!(crowded.begin() && crowded.all_begun());
        // One failed: nobody waits for it.
        let crowded = Gate::default();
        crowded.expect(cpus + 1);
        crowded.arrive(false);
        assert!((1..cpus).all(|_| !crowded.begin()) && crowded.begin());
    }

    #[test]
    fn who_waits_for_first_ios_passes_the_start_before() {
        let gate = Gate::default();
        let (sender, passed) = channel();
        std::thread::scope(|scope| {
            let closed = gate.close();
            scope.spawn(|| {
                gate.wait_for_start();
                sender.send("start").unwrap();
                gate.wait_for_first_ios();
                sender.send("all").unwrap();
            });
            closed.start();
            assert_eq!(passed.recv(), Ok("start"));
            assert_eq!(passed.try_recv(), Err(TryRecvError::Empty));
            drop(closed);
            assert_eq!(passed.recv(), Ok("all"));
        });
    }

    #[test]
    fn the_widest_start_is_that_of_the_wave_whose_jobs_began_furthest_apart() {
        let widest = |began: &[(usize, u64)]| {
            // One tick is 1 ns.
            widest_start(3, began.iter().copied(), &Clock::monotonic()).map(|time| time.as_nanos())
        };
        assert_eq!(widest(&[(0, 700), (0, 100), (0, 400), (1, 5000), (1, 5900)]), Some(900));
        assert_eq!(widest(&[(0, 700), (0, 100), (1, 5000), (2, 9000)]), Some(600), "waves of one job");
        assert_eq!(widest(&[(0, 700), (0, 0), (2, 0)]), None, "jobs that never began");
        assert_eq!(widest(&[(2, 400), (2, 400)]), Some(0));
    }
}
