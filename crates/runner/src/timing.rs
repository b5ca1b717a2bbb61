//! The clock of one job: ramp, run time, time spent in the I/O loop. All in clock ticks until a caller asks for ns.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ferrio_job::{JobSpec, Plan};
use ferrio_stats::{Clock, ThreadUsage};
use nix::time::{ClockId, clock_gettime};

/// The run-time bookkeeping of the I/O loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// End of the ramp, `u64::MAX` when there is none or it is over.
    ramp_end: u64,
    /// End of the run time, `u64::MAX` without a limit; while ramping counted from the planned end of the ramp.
    deadline: u64,
    runtime: u64,
    /// When work is due before the next I/O: at a milestone, or 0 for at once.
    pub(crate) next_due: u64,
    due_every_io: bool,
    /// Start of the job, end of its ramp, or begin of the window that decides a search.
    pub(crate) measuring_since: u64,
    /// When the I/O loop (or a final sync) began that runs now; [`IDLE`] outside of it.
    loop_began: u64,
    loop_ticks: u64,
    /// CPU use when measuring began.
    pub(crate) usage_before: ThreadUsage,
    /// When measuring started again, in ms since 1970.
    pub(crate) restarted_ms: Option<u64>,
    /// The clock of `restarted_ms`, by its number for clock_gettime.
    start_clock: i32,
}

/// No loop is running.
const IDLE: u64 = u64::MAX;

/// The event at the next milestone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Milestone {
    /// The ramp is over: measurement starts.
    RampEnded,
    /// `runtime` is over.
    TimeIsUp,
}

impl Timing {
    /// The job starts at `now`.
    pub(crate) fn start(now: u64, clock: &Clock, spec: &JobSpec, usage: ThreadUsage) -> Self {
        let limits = &spec.limits;
        let ticks = |duration: Duration| if duration.is_zero() { u64::MAX } else { clock.ticks(duration) };
        let ramp = ticks(limits.ramp_time);
        let runtime = ticks(limits.runtime);
        // The end of a ramp that is measured in bytes is not known.
        let ramp_end = if limits.ramp_size > 0 { u64::MAX - 1 } else { now.saturating_add(ramp) };
        let deadline = (if ramp_end == u64::MAX { now } else { ramp_end }).saturating_add(runtime);
        Timing {
            ramp_end,
            deadline,
            runtime,
            next_due: ramp_end.min(deadline),
            due_every_io: false,
            measuring_since: now,
            loop_began: IDLE,
            loop_ticks: 0,
            usage_before: usage,
            restarted_ms: None,
            start_clock: spec.measure.start_clock,
        }
    }

    /// True before the end of the ramp.
    pub(crate) fn in_ramp(&self) -> bool {
        self.ramp_end != u64::MAX
    }

    /// Ticks at which [`Timing::reached`] wants to be asked.
    #[inline]
    pub(crate) fn next_milestone(&self) -> u64 {
        self.ramp_end.min(self.deadline)
    }

    /// Work is due before the next I/O.
    pub(crate) fn set_due_now(&mut self) {
        self.next_due = 0;
    }

    /// Clears the due work.
    pub(crate) fn due_work_done(&mut self) {
        self.next_due = if self.due_every_io { 0 } else { self.next_milestone() };
    }

    /// Whether work may be due before every I/O.
    pub(crate) fn set_due_every_io(&mut self, due_every_io: bool) {
        self.due_every_io = due_every_io;
        self.due_work_done();
    }

    /// The ramp is over at `now`, which is the next milestone then.
    pub(crate) fn end_ramp(&mut self, now: u64) {
        self.ramp_end = now;
        self.due_work_done();
    }

    /// Decides what the milestone at or before `now` is.
    pub(crate) fn reached(&mut self, now: u64, usage: ThreadUsage) -> Milestone {
        if now < self.ramp_end {
            return Milestone::TimeIsUp;
        }
        self.ramp_end = u64::MAX;
        self.deadline = now.saturating_add(self.runtime);
        self.due_work_done();
        self.restart(now, usage);
        Milestone::RampEnded
    }

    /// Measuring starts again at `now`; the run time does not.
    pub(crate) fn restart(&mut self, now: u64, usage: ThreadUsage) {
        self.measuring_since = now;
        if self.loop_began != IDLE {
            self.loop_began = now;
        }
        self.loop_ticks = 0;
        self.usage_before = usage;
        self.restarted_ms = Some(clock_ms(self.start_clock));
    }

    /// True when the run time is over.
    pub(crate) fn is_over(&self, now: u64) -> bool {
        now >= self.deadline
    }

    /// The I/O loop (or a final sync) begins.
    pub(crate) fn loop_began(&mut self, now: u64) {
        self.loop_began = now;
    }

    /// Ends the loop; the time since it began counts as run time.
    pub(crate) fn loop_ended(&mut self, now: u64) {
        self.loop_ticks += now.saturating_sub(self.loop_began);
        self.loop_began = IDLE;
    }

    /// Time in the I/O loop until `now`, ns.
    pub(crate) fn loop_ns(&self, clock: &Clock, now: u64) -> u64 {
        clock.ns(self.loop_ticks + now.saturating_sub(self.loop_began))
    }

    /// Time since measuring began, ns: the origin of logs and rate schedules.
    pub(crate) fn measured_ns(&self, clock: &Clock, now: u64) -> u64 {
        clock.between(self.measuring_since, now)
    }
}

/// ms by the clock of this number, which the plan has found on the machine; those of the wall clock, 0, count from 1970.
pub(crate) fn clock_ms(clock: i32) -> u64 {
    let now = clock_gettime(ClockId::from_raw(clock));
    now.map_or(0, |now| now.tv_sec() as u64 * 1000 + now.tv_nsec() as u64 / 1_000_000)
}

/// The bytes of a ramp (`ramp_size`), of one job or of all jobs that are reported as one.
#[derive(Debug)]
pub(crate) struct SharedRamp {
    size: u64,
    moved: AtomicU64,
}

/// A job's share of a ramp by size.
#[derive(Debug)]
pub(crate) struct RampSize {
    ramp: Arc<SharedRamp>,
    /// Bytes of this job that are in the shared count.
    counted: u64,
}

impl SharedRamp {
    fn new(size: u64) -> Arc<Self> {
        Arc::new(SharedRamp { size, moved: AtomicU64::new(0) })
    }

    /// The ramps of the jobs of a plan; those of a group with `group_reporting` share one.
    pub(crate) fn of(plan: &Plan) -> Vec<Option<Arc<Self>>> {
        let mut groups: HashMap<u32, Arc<Self>> = HashMap::new();
        let mut ramp = |spec: &JobSpec| {
            let size = spec.limits.ramp_size;
            if size == 0 {
                return None;
            }
            if !spec.group_reporting {
                return Some(SharedRamp::new(size));
            }
            Some(Arc::clone(groups.entry(spec.group).or_insert_with(|| SharedRamp::new(size))))
        };
        plan.jobs.iter().map(|job| ramp(&job.spec)).collect()
    }
}

impl RampSize {
    /// The part of a job that has moved nothing yet.
    pub(crate) fn new(ramp: Arc<SharedRamp>) -> Self {
        RampSize { ramp, counted: 0 }
    }

    /// True when all is moved. `moved` is what this job has moved so far.
    pub(crate) fn is_over(&mut self, moved: u64) -> bool {
        let more = moved.saturating_sub(self.counted);
        self.counted += more;
        let before = match more {
            0 => self.ramp.moved.load(Relaxed),
            more => self.ramp.moved.fetch_add(more, Relaxed),
        };
        before.saturating_add(more) >= self.ramp.size
    }
}

#[cfg(test)]
mod tests {
    use ferrio_plan::testing::{default_job, plan};

    use super::*;

    fn ramps(jobs: &[(u32, bool, u64)]) -> Vec<Option<RampSize>> {
        let job = |&(group, group_reporting, ramp_size): &(u32, bool, u64)| {
            let mut spec = JobSpec { group, group_reporting, ..default_job("a") };
            spec.limits.ramp_size = ramp_size;
            spec
        };
        SharedRamp::of(&plan(jobs.iter().map(job))).into_iter().map(|ramp| ramp.map(RampSize::new)).collect()
    }

    #[test]
    fn a_job_counts_for_itself() {
        let mut ramps = ramps(&[(0, false, 8192), (0, false, 8192), (0, false, 0)]);
        assert!(ramps[2].is_none());
        let first = ramps[0].as_mut().unwrap();
        assert!(!first.is_over(0) && !first.is_over(4096) && !first.is_over(8191) && first.is_over(8192));
        assert!(!ramps[1].as_mut().unwrap().is_over(4096));
    }

    #[test]
    fn jobs_reported_as_one_count_together() {
        let mut ramps = ramps(&[(1, true, 8192), (1, true, 8192), (2, true, 8192)]);
        assert!(!ramps[0].as_mut().unwrap().is_over(4096));
        assert!(!ramps[0].as_mut().unwrap().is_over(4096), "the same bytes");
        assert!(ramps[1].as_mut().unwrap().is_over(4096));
        assert!(ramps[0].as_mut().unwrap().is_over(4096), "the other job moved the rest");
        assert!(!ramps[2].as_mut().unwrap().is_over(4096));
    }

    fn timing(ramp_ns: u64, runtime_ns: u64) -> (Timing, Clock) {
        let mut spec = default_job("a");
        spec.limits.ramp_time = Duration::from_nanos(ramp_ns);
        spec.limits.runtime = Duration::from_nanos(runtime_ns);
        let clock = Clock::monotonic();
        (Timing::start(1000, &clock, &spec, ThreadUsage::default()), clock)
    }

    #[test]
    fn without_limits_there_is_no_milestone() {
        let (timing, _) = timing(0, 0);
        assert_eq!(timing.next_milestone(), u64::MAX);
        assert!(!timing.in_ramp());
    }

    #[test]
    fn run_time_is_counted_from_the_real_end_of_the_ramp() {
        let (mut timing, clock) = timing(100, 50);
        timing.loop_began(1000);
        assert_eq!(timing.next_milestone(), 1100);
        assert_eq!(timing.reached(1110, ThreadUsage::default()), Milestone::RampEnded);
        assert_eq!(timing.next_milestone(), 1160);
        assert_eq!(timing.reached(1160, ThreadUsage::default()), Milestone::TimeIsUp);
        assert_eq!(timing.loop_ns(&clock, 1163), 53, "the loop that runs counts");
        timing.loop_ended(1165);
        assert_eq!([1165, 1200].map(|now| timing.loop_ns(&clock, now)), [55; 2]);
        timing.restart(1300, ThreadUsage::default());
        assert_eq!(timing.loop_ns(&clock, 1400), 0, "no loop runs");
        assert!(timing.is_over(1160) && !timing.is_over(1159));
    }

    #[test]
    fn a_ramp_of_bytes_is_over_when_it_is_said_so() {
        let mut spec = default_job("a");
        spec.limits.ramp_size = 4096;
        spec.limits.runtime = Duration::from_nanos(50);
        let mut timing = Timing::start(1000, &Clock::monotonic(), &spec, ThreadUsage::default());
        assert!(timing.in_ramp() && timing.next_milestone() == u64::MAX - 1);
        timing.end_ramp(9000);
        assert_eq!(timing.next_due, 9000);
        assert_eq!(timing.reached(9000, ThreadUsage::default()), Milestone::RampEnded);
        assert_eq!((timing.in_ramp(), timing.next_milestone(), timing.next_due), (false, 9050, 9050));
    }

    #[test]
    fn work_is_due_at_milestones_when_called_for_and_if_asked_at_every_io() {
        let (mut timing, _) = timing(100, 50);
        assert_eq!(timing.next_due, timing.next_milestone());
        timing.set_due_now();
        assert_eq!(timing.next_due, 0);
        timing.due_work_done();
        assert_eq!(timing.next_due, 1100);
        timing.set_due_every_io(true);
        timing.reached(1100, ThreadUsage::default());
        assert_eq!((timing.next_due, timing.next_milestone()), (0, 1150));
        timing.set_due_every_io(false);
        assert_eq!(timing.next_due, 1150);
    }

    #[test]
    fn measuring_again_does_not_prolong_the_run_time() {
        let (mut timing, clock) = timing(0, 50);
        timing.restart(1020, ThreadUsage::default());
        assert_eq!((timing.next_milestone(), timing.measured_ns(&clock, 1030)), (1050, 10));
    }
}
