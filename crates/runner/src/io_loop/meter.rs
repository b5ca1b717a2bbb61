//! Measurements of the loop: clock readings, latencies, counters that main reads while the job runs, samples for the logs.

mod logging;

use std::sync::atomic::Ordering::Relaxed;

use ferrio_job::{Direction, JobSpec, SteadyFigure, Verify};
use ferrio_results::JobState;
use ferrio_stats::{Clock, DirectionRecorder, JobStats, LiveCounters, ThreadUsage};

use self::logging::RowBoundaries;
use super::recent::RecentLatencies;
use super::slots::InFlightIo;
use super::windows::{NEVER, RateWindows, end_ticks, samples_itself, stamps_every_io};
use crate::context::Context;
use crate::control::JobControl;
use crate::logs::{self, IoLog};
use crate::timing::Timing;

/// I/Os between two clock readings when latencies are not measured.
const RARE: u32 = 64;

/// Clock, counters and recorders of one job.
pub(super) struct Meter<'a> {
    spec: &'a JobSpec,
    pub(super) clock: Clock,
    /// The latest clock reading.
    pub(super) now: u64,
    /// Ticks at which the running interval of `windows` ends; [`NEVER`] before the job is measured, and without them.
    pub(super) interval_end: u64,
    /// Every I/O has its clock readings. Otherwise (`gtod_reduce`) the clock is read once in a while, for the run time only.
    pub(super) stamps_all: bool,
    until_stamp: u32,
    pub(super) timing: Timing,
    live: &'a LiveCounters,
    /// Figures per direction.
    pub(super) directions: [DirectionRecorder; 3],
    /// All other figures. In a box, because the loop is set up on stacks that a run may have thousands of.
    pub(super) stats: Box<JobStats>,
    /// Latencies that are not in the recorders yet, per direction.
    recent: Box<[RecentLatencies; 3]>,
    /// True if main reads the completion latencies while the job runs.
    pub(super) publishes_latency: bool,
    pub(super) log: Option<IoLog<'a>>,
    /// Samples of bandwidth and IOPS, unless main takes them.
    pub(super) windows: Option<Box<RateWindows<'a>>>,
    /// The logs get I/Os in batches, per direction.
    pub(super) rows: Option<Box<[RowBoundaries; 3]>>,
    /// Bytes moved before the figures started again at the end of the ramp.
    ramp_bytes: [u64; 3],
    pub(super) read_back: ReadBackTime,
}

/// Time and bytes of read-back phases, which do not count as those of the passes.
#[derive(Debug)]
pub(super) struct ReadBackTime {
    /// Ticks spent in phases that are over.
    pub(super) ticks: u64,
    /// When the present phase began; `u64::MAX` outside of one.
    pub(super) began: u64,
    /// Bytes moved by all phases.
    pub(super) bytes: u64,
}

impl<'a> Meter<'a> {
    /// Before the job starts. `sees_each`: latencies have consequences, so none may wait in a batch. `has_rate`: completions are paced.
    pub(super) fn new(context: &Context<'a>, sees_each: bool, has_rate: bool) -> Self {
        let spec = context.spec;
        let logs = context.log.is_some();
        let log = context.log.clone().filter(|_| context.logs_every_io());
        let per_io = stamps_every_io(spec, logs);
        let mut log = log.map(|sender| IoLog::new(sender, context.control, context.index, spec));
        let sums_suffice = log.as_mut().is_some_and(|log| log.sums().is_some());
        let batches_log = per_io && sums_suffice && !sees_each && !has_rate;
        let publishes_latency =
            spec.steadystate.as_ref().is_some_and(|state| state.figure == SteadyFigure::Latency);
        Meter {
            spec,
            clock: context.clock,
            now: 0,
            interval_end: NEVER,
            // Work takes so long that a clock reading is nothing, and 64 pieces of it would take far too long.
            stamps_all: per_io || !spec.engine.does_io(),
            until_stamp: RARE,
            timing: Timing::start(0, &context.clock, spec, ThreadUsage::default()),
            live: &context.control.live,
            directions: new_recorders(spec),
            stats: Box::default(),
            recent: Box::new([RecentLatencies::new(publishes_latency || sees_each); 3]),
            publishes_latency,
            log,
            windows: samples_itself(spec, logs).then(|| Box::new(RateWindows::new(context))),
            rows: batches_log.then(Box::default),
            ramp_bytes: [0; 3],
            read_back: ReadBackTime { ticks: 0, began: u64::MAX, bytes: 0 },
        }
    }

    /// Reads the clock before or after a submission; once in a while only when latencies are not measured.
    #[inline(always)]
    pub(super) fn stamp(&mut self) {
        if self.stamps_all {
            self.now = self.clock.now();
            return;
        }
        self.until_stamp -= 1;
        if self.until_stamp == 0 {
            self.until_stamp = RARE;
            self.now = self.clock.now();
        }
    }

    /// Reads the clock for a whole batch.
    #[inline]
    pub(super) fn stamp_batch(&mut self) {
        if self.stamps_all {
            self.now = self.clock.now();
        }
    }

    /// The kernel has a data request since `issued`.
    #[inline(always)]
    pub(super) fn record_submission(&mut self, direction: usize, start: u64, issued: u64) {
        let recent = &mut self.recent[direction];
        if recent.add_submission(issued.saturating_sub(start)) {
            recent.record_submissions(&self.clock, &mut self.directions[direction]);
        }
    }

    /// Counts the bytes of an I/O that completed, also for main.
    #[inline(always)]
    pub(super) fn count(&mut self, direction: usize, len: u64) {
        let stats = &mut self.directions[direction];
        stats.bytes += len;
        self.live.store(direction, stats.ios, stats.bytes);
    }

    /// Publishes the counters of a direction.
    pub(super) fn publish(&self, direction: usize) {
        let stats = &self.directions[direction];
        self.live.store(direction, stats.ios, stats.bytes);
    }

    /// Records an I/O that completed now.
    #[inline(always)]
    pub(super) fn record_completion(&mut self, unit: &InFlightIo) {
        let direction = unit.direction;
        let submission = unit.issued.saturating_sub(unit.start);
        let completion = self.now.saturating_sub(unit.issued);
        if self.directions[direction].divides_by_priority() {
            self.record_priority(unit);
        }
        if self.recent[direction].add_completion(submission, completion) {
            self.record_completions(direction);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_priority(&mut self, unit: &InFlightIo) {
        let (slat, clat) = self.latencies(unit);
        self.directions[unit.direction].record_priority(unit.request.priority, clat, slat + clat);
    }

    /// Submission and completion latency of an I/O that completed now, ns.
    pub(super) fn latencies(&self, unit: &InFlightIo) -> (u64, u64) {
        (self.clock.between(unit.start, unit.issued), self.clock.between(unit.issued, self.now))
    }

    /// Takes the latency of an I/O that the submitting call completed, from `start` to this moment.
    #[inline(always)]
    pub(super) fn record_inline(&mut self, direction: usize, start: u64) {
        self.now = self.clock.now();
        if self.recent[direction].add_call(self.now.saturating_sub(start)) {
            self.record_calls(direction);
        }
    }

    /// Records what the engine did to a file since `start`, in place of opening it. Returns the latency, ns.
    pub(super) fn record_operation(&mut self, direction: Direction, start: u64) -> u64 {
        self.now = self.clock.now();
        let ns = self.clock.between(start, self.now);
        self.directions[direction as usize].record_synchronous(ns);
        if self.publishes_latency {
            self.publish_latency();
        }
        ns
    }

    /// Moves the latencies collected by [`Meter::record_inline`] into the figures, and into logs that get batches.
    pub(super) fn record_calls(&mut self, direction: usize) {
        let buckets = self.spec.measure.clat.then_some(&mut self.stats.latency_buckets);
        let sums = logging::batch_sums(&mut self.log, self.rows.as_deref(), &self.timing, direction);
        self.recent[direction].record_calls(&self.clock, &mut self.directions[direction], buckets, sums);
        if self.publishes_latency {
            self.publish_latency();
        }
    }

    /// Moves the latencies collected by [`Meter::record_completion`] into the figures, and into logs that get batches.
    pub(super) fn record_completions(&mut self, direction: usize) {
        let buckets = self.spec.measure.clat.then_some(&mut self.stats.latency_buckets);
        let sums = logging::batch_sums(&mut self.log, self.rows.as_deref(), &self.timing, direction);
        self.recent[direction].record_completions(
            &self.clock,
            &mut self.directions[direction],
            buckets,
            sums,
        );
    }

    /// Moves all collected latencies into the figures.
    pub(super) fn record_recent(&mut self) {
        for direction in 0..self.directions.len() {
            self.record_calls(direction);
            self.recent[direction].record_submissions(&self.clock, &mut self.directions[direction]);
            self.record_completions(direction);
        }
    }

    /// Publishes the completion latencies so far.
    #[cold]
    pub(super) fn publish_latency(&self) {
        let (sum_ns, count) = self
            .directions
            .iter()
            .map(DirectionRecorder::total_clat)
            .fold((0_u64, 0), |(sums, counts), (sum, count)| (sums.wrapping_add(sum), counts + count));
        self.live.store_latency(sum_ns, count);
    }

    /// Counts an error that the job continues after.
    pub(super) fn count_error(&mut self, errno: i32) {
        self.stats.total_errors += 1;
        if self.stats.first_error == 0 {
            self.stats.first_error = errno;
        }
    }

    /// Bytes moved so far by the passes, ramp included.
    pub(super) fn moved_bytes(&self) -> u64 {
        self.directions
            .iter()
            .zip(self.ramp_bytes)
            .map(|(direction, ramp)| direction.bytes + ramp)
            .sum::<u64>()
            - self.read_back.bytes
    }

    /// Time since measuring began, ns.
    pub(super) fn measured_ns(&self) -> u64 {
        self.timing.measured_ns(&self.clock, self.now)
    }

    /// The time that a written block carries, ns; 0 in jobs that measure no latencies.
    pub(super) fn block_time_ns(&self) -> u64 {
        if self.spec.measure.lat { self.clock.ns(self.now) } else { 0 }
    }

    /// Ticks in the present read-back phase; the part of it that was ramp is not measured.
    pub(super) fn read_back_ticks(&self, now: u64) -> u64 {
        now.saturating_sub(self.read_back.began.max(self.timing.measuring_since))
    }

    /// Starts all figures again. What is in flight (I/Os per direction, and syncs) moves its bytes in the part that is measured
    /// from now on, and is counted there.
    pub(super) fn restart(&mut self, control: &JobControl, (ios, sync_ios): ([u64; 3], u64)) {
        self.recent.iter_mut().for_each(RecentLatencies::clear);
        let before = control.ramp.ios();
        for (direction, stats) in self.directions.iter().enumerate() {
            self.ramp_bytes[direction] += stats.bytes;
            let done = before[direction] + stats.ios - ios[direction];
            control.ramp.store(direction, done, self.ramp_bytes[direction]);
            control.live.store(direction, ios[direction], 0);
        }
        control.live.store_latency(0, 0);
        control.ramp.store_events(control.ramp.events() + control.live.events());
        control.live.store_events(0);
        self.directions = new_recorders(self.spec);
        for (stats, ios) in self.directions.iter_mut().zip(ios) {
            stats.ios = ios;
        }
        // Errors are counted from the start of the job.
        let JobStats { total_errors, first_error, .. } = *self.stats;
        *self.stats = JobStats { total_errors, first_error, ..JobStats::default() };
        self.stats.sync.ios = sync_ios;
        if let Some(rows) = &mut self.rows {
            rows.fill(RowBoundaries::default());
        }
        self.read_back.ticks = 0;
    }

    /// Starts measurement, and publishes the time to main and the log writer.
    pub(super) fn begin_measuring(&mut self, context: &Context<'_>) {
        let control = context.control;
        logs::send_epoch(context.log.as_ref(), context.index, &self.spec.logs, control);
        if let Some(start_ms) = self.timing.restarted_ms {
            control.start_ms.store(start_ms, Relaxed);
        }
        control.begin_measuring(self.now);
        if let Some(windows) = &mut self.windows {
            self.interval_end = end_ticks(&self.clock, self.timing.measuring_since, windows.restart());
        }
    }

    /// Starts the job's clock.
    pub(super) fn start(&mut self, control: &JobControl, usage: ThreadUsage) {
        self.now = self.clock.now();
        self.timing = Timing::start(self.now, &self.clock, self.spec, usage);
        control.running_since.store(self.now, Relaxed);
        if self.timing.in_ramp() {
            control.set_state(JobState::Ramp);
        }
    }

    /// The figures so far. The time of the loop or the read-back phase that runs counts up to `now`.
    pub(super) fn figures(&mut self, now: u64, stats: &mut JobStats) {
        self.record_recent();
        let run_ms = self.timing.loop_ns(&self.clock, now).div_ceil(1_000_000);
        let read_back_ticks = self.read_back.ticks + self.read_back_ticks(now);
        let read_back_ms = self.clock.ns(read_back_ticks).div_ceil(1_000_000);
        // A direction that moves nothing has no bandwidth to compute.
        let run_ms = if self.spec.engine.does_io() { run_ms } else { 0 };
        let in_backlog = |verify: &Verify| verify.backlog.is_active();
        let reads = self.spec.rw.does(Direction::Read) || self.spec.verify.as_ref().is_some_and(in_backlog);
        let read_ms = if reads { run_ms + read_back_ms } else { read_back_ms };
        stats.clone_from(&self.stats);
        let [read, write, trim] = &self.directions;
        stats.directions = [read.finish(read_ms), write.finish(run_ms), trim.finish(run_ms)];
        if let Some(windows) = &self.windows {
            windows.put_samples(stats);
        }
        stats.job_runtime_ms = self.timing.measured_ns(&self.clock, now) / 1_000_000;
        if self.spec.is_sync() {
            let ios = stats.total_ios() + stats.sync.ios;
            stats.depth.record(1, ios);
            // fio's null engine at depth 1 counts no calls: there is nothing that could be batched.
            if self.spec.engine.counts_calls() {
                stats.submit.add_small(ios);
                stats.complete.add_small(ios);
            }
        }
    }
}

/// Recorders for the directions that the job uses.
fn new_recorders(spec: &JobSpec) -> [DirectionRecorder; 3] {
    let measure = &spec.measure;
    Direction::ALL.map(|direction| {
        let extra = match direction {
            Direction::Read => spec.verify.is_some(),
            Direction::Write => false,
            Direction::Trim => spec.trims(),
        };
        match spec.rw.does(direction) || extra {
            true => {
                let recorder = match spec.engine.is_diskless() && !spec.engine.moves_data() {
                    true => DirectionRecorder::growing,
                    false => DirectionRecorder::new,
                };
                let recorder = recorder(measure.slat, measure.clat, measure.lat, spec.is_sync())
                    .with_priorities(&spec.priorities.of(direction), measure.lat_percentiles);
                let scheduled = measure.lat && spec.rw.does(direction) && spec.rates.limits(direction);
                if scheduled { recorder.with_response() } else { recorder }
            }
            false => DirectionRecorder::default(),
        }
    })
}
