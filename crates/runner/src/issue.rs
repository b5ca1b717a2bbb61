//! The per-I/O path: choose, submit, reap, record. Generic over the engine, one copy per engine type.
//!
//! Cost model of one synchronous I/O, in order: stop and budget checks (one load, two compares), the workload's choice, a clock
//! read, the engine's call, a clock read, two additions and one histogram slot. Everything that a job does not use (rate limits,
//! refilled buffers, logs, syncs) is one predictable branch on a local flag. Nothing allocates, locks or prints.
//!
//! An asynchronous engine adds a unit of bookkeeping per I/O in flight and shares the clock reads of submission and completion
//! over a batch. Units are taken from a stack, last used first, as fio does: with default buffers that decides which bytes are
//! written.

use std::collections::VecDeque;

use ferrio_engine::{Buffers, Completion, Engine, FileSet, Op, Request, Submit};
use ferrio_plan::{Direction, JobSpec};
use ferrio_stats::{Clock, DirectionRecorder, JobStats, LiveCounters, Usage};
use ferrio_workload::pacing::Pacer;
use ferrio_workload::{Budget, Content, Io, Step, SyncKind, Workload};

use crate::event::JobState;
use crate::failure::Failure;
use crate::logs::{IoLog, IoSample};
use crate::timing::{Milestone, Timing};
use crate::worker::Context;
use crate::{open, waiting};

/// One I/O in flight.
#[derive(Clone, Copy, Debug)]
struct Unit {
    request: Request,
    /// Index of the direction; meaningless for syncs.
    direction: usize,
    /// Ticks when it was ready to be submitted.
    start: u64,
    /// Ticks when the kernel had it.
    issued: u64,
}

/// Latencies of synchronous I/Os that are not in the histograms yet. Recording them a batch at a time costs a fraction of
/// recording each one between two clock readings.
#[derive(Debug)]
struct Recent {
    /// Ticks from start to end.
    ticks: [u64; RECENT],
    /// Direction of each.
    directions: [u8; RECENT],
    len: usize,
}

const RECENT: usize = 256;

/// Which latencies are taken, decided once per job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stamps {
    /// Two per I/O.
    All,
    /// `gtod_reduce`: one in a while, for the run time only.
    Rare,
}

/// I/Os between two looks at the clock when latencies are not measured.
const RARE: u32 = 64;

/// Drives one job's I/O.
pub(crate) struct Issuer<'a, E> {
    context: &'a Context<'a>,
    spec: &'a JobSpec,
    live: &'a LiveCounters,
    clock: Clock,
    engine: E,
    buffers: Buffers,
    workload: Workload,
    budget: Budget,
    /// Present when writes need their buffer prepared.
    content: Option<Content>,
    pacer: Option<Pacer>,
    log: Option<IoLog>,
    /// Every submission completes in the call.
    synchronous: bool,
    stamps: Stamps,
    until_stamp: u32,
    timing: Timing,
    /// Figures per direction.
    directions: [DirectionRecorder; 3],
    /// All other figures.
    stats: JobStats,
    recent: Box<Recent>,
    /// The latest clock reading.
    now: u64,
    units: Vec<Unit>,
    /// Unit numbers that are free, as a stack.
    free: Vec<u32>,
    /// Accepted by the engine, not yet handed to the kernel.
    queued: Vec<u32>,
    /// To be submitted before anything new: the rest of short transfers, requests the engine had no room for.
    retry: VecDeque<u32>,
    done: Vec<Completion>,
    failure: Option<Failure>,
    last_was_sync: bool,
    /// The pass ended because all files were done.
    files_finished: bool,
    /// Bytes moved before the figures started anew at the end of the ramp.
    ramp_bytes: [u64; 3],
}

impl<'a, E: Engine> Issuer<'a, E> {
    /// Prepares everything that the loop needs, so that it never allocates.
    pub(crate) fn new(
        context: &'a Context<'a>,
        engine: E,
        mut buffers: Buffers,
        workload: Workload,
        mut content: Content,
    ) -> Self {
        let spec = context.spec;
        let depth = spec.depth.iodepth;
        if spec.rw.does(Direction::Write) && !spec.engine.is_diskless() {
            let len = buffers.stride().min(usize::try_from(spec.max_buffer()).unwrap_or(usize::MAX));
            (0..depth).for_each(|unit| content.fill_initial(buffers.fill(unit, len)));
        }
        let prepares =
            content.needs_write_prep() && spec.rw.does(Direction::Write) && !spec.engine.is_diskless();
        let unused = Unit {
            request: Request {
                op: Op::Read,
                unit: 0,
                file: 0,
                len: 0,
                offset: 0,
                buffer: std::ptr::null_mut(),
            },
            direction: 0,
            start: 0,
            issued: 0,
        };
        let measured = spec.measure.clat || spec.measure.lat || spec.measure.slat;
        let logged = context.log.is_some() && !spec.measure.gtod_reduce;
        let room = depth as usize;
        Issuer {
            context,
            spec,
            live: &context.control.live,
            clock: context.clock,
            engine,
            buffers,
            workload,
            budget: Budget::new(spec),
            content: prepares.then_some(content),
            pacer: Pacer::new(spec),
            log: context.log.clone().map(|sender| IoLog::new(sender, context.index)),
            synchronous: spec.is_sync(),
            stamps: if measured || logged { Stamps::All } else { Stamps::Rare },
            until_stamp: RARE,
            timing: Timing::start(0, &context.clock, &spec.limits, Usage::default()),
            directions: new_recorders(spec),
            stats: JobStats::default(),
            recent: Box::new(Recent { ticks: [0; RECENT], directions: [0; RECENT], len: 0 }),
            now: 0,
            units: vec![unused; room],
            free: (0..depth).collect(),
            queued: Vec::with_capacity(room),
            retry: VecDeque::with_capacity(room),
            done: Vec::with_capacity(room),
            failure: None,
            last_was_sync: false,
            files_finished: false,
            ramp_bytes: [0; 3],
        }
    }

    /// Opens the job's files and shows them to the engine.
    pub(crate) fn open(&mut self, note: &mut dyn FnMut(String)) -> Result<FileSet, Failure> {
        let files = open::open_files(self.spec, note)?;
        self.engine.attach(&files).map_err(|e| Failure::from_engine(&e))?;
        let open = files.files.iter().filter(|f| f.fd.is_some()).count().max(1);
        self.context.control.open_files.store(open as u32, std::sync::atomic::Ordering::Relaxed);
        Ok(files)
    }

    /// Closes and opens everything again for a further pass.
    pub(crate) fn reopen(
        &mut self,
        files: FileSet,
        note: &mut dyn FnMut(String),
    ) -> Result<FileSet, Failure> {
        self.workload.begin_pass();
        if let Some(content) = &mut self.content {
            content.begin_pass();
        }
        if self.spec.engine.is_diskless() {
            return Ok(files);
        }
        // The new descriptors exist before the old ones go: an engine may hold on to registered files until it attaches again.
        let fresh = self.open(note)?;
        drop(files);
        Ok(fresh)
    }

    /// What the engine wants the user to know.
    pub(crate) fn engine_notes(&mut self) -> Vec<String> {
        self.engine.notes()
    }

    /// Starts the job's clock.
    pub(crate) fn start(&mut self, usage: Usage) {
        self.now = self.clock.now();
        self.timing = Timing::start(self.now, &self.clock, &self.spec.limits, usage);
        let control = self.context.control;
        control.running_since.store(self.now, std::sync::atomic::Ordering::Relaxed);
        if self.timing.in_ramp() {
            control.set_state(JobState::Ramp);
        } else {
            control.measuring_since.store(self.now, std::sync::atomic::Ordering::Relaxed);
            control.set_state(JobState::Running);
        }
    }

    /// One pass: issues I/O until the pass is over, then waits for what is in flight. The time counts as run time.
    pub(crate) fn pass(&mut self) -> Result<(), Failure> {
        let began = self.clock.now();
        self.now = began;
        self.timing.loop_began(began);
        self.files_finished = false;
        self.issue_until_done();
        self.drain();
        self.timing.loop_ended(self.clock.now());
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Runs `work` as part of the run time.
    pub(crate) fn timed<T>(&mut self, work: impl FnOnce() -> T) -> T {
        self.timing.loop_began(self.clock.now());
        let result = work();
        self.timing.loop_ended(self.clock.now());
        result
    }

    /// True when the job shall walk over its files once more.
    pub(crate) fn another_pass(&mut self) -> bool {
        let out_of_time = self.timing.is_over(self.clock.now());
        !self.context.control.stop_requested()
            && !out_of_time
            && self.budget.another_pass(self.moved_bytes(), self.files_finished)
    }

    /// Bytes moved so far, ramp included.
    fn moved_bytes(&self) -> u64 {
        self.directions.iter().zip(self.ramp_bytes).map(|(direction, ramp)| direction.bytes + ramp).sum()
    }

    /// True when the last operation was a sync, so that a final one would do nothing.
    pub(crate) fn last_was_sync(&self) -> bool {
        self.last_was_sync
    }

    /// When measuring began anew after a ramp, ms since 1970.
    pub(crate) fn ramp_ended_ms(&self) -> Option<u64> {
        self.timing.ramp_ended_ms()
    }

    /// The job's figures.
    pub(crate) fn into_stats(mut self) -> JobStats {
        if let Some(log) = &mut self.log {
            log.flush();
        }
        self.record_recent();
        let end = self.clock.now();
        let run_ms = self.timing.loop_ns(&self.clock).div_ceil(1_000_000);
        self.stats.directions = self.directions.map(|direction| direction.finish(run_ms));
        self.stats.job_runtime_ms = self.timing.measured_ns(&self.clock, end) / 1_000_000;
        self.stats.usage = Usage::of_this_thread().since(&self.timing.usage_before());
        if self.synchronous {
            let ios = self.stats.total_ios() + self.stats.sync.ios;
            self.stats.depth.record(1, ios);
            // fio's null engine at depth 1 counts no calls: there is nothing that could be batched.
            if !self.spec.engine.is_diskless() {
                self.stats.submit.add_small(ios);
                self.stats.complete.add_small(ios);
            }
        }
        self.stats
    }

    fn issue_until_done(&mut self) {
        while self.failure.is_none() && !self.context.control.stop_requested() {
            if self.now >= self.timing.next_milestone() && !self.pass_milestone() {
                return;
            }
            if !self.retry.is_empty() {
                self.submit_retry();
                continue;
            }
            if self.free.is_empty() {
                self.reap_full();
                continue;
            }
            if !self.budget.may_issue() {
                return;
            }
            let step = match &self.pacer {
                None => self.workload.next(),
                Some(_) => match self.paced_step() {
                    Some(step) => step,
                    None => continue,
                },
            };
            // Taken late: waiting for the time of a paced I/O reaps others.
            let unit = self.free[self.free.len() - 1];
            match step {
                Step::Io(io) => self.issue(unit, io),
                Step::Sync { file, kind } => self.issue_sync(unit, file, kind),
                Step::PassEnd => {
                    self.files_finished = true;
                    return;
                }
            }
        }
    }

    /// Issues one data I/O in unit `unit`, which is the top of the free stack.
    #[inline]
    fn issue(&mut self, unit: u32, io: Io) {
        let direction = io.direction as usize;
        self.budget.issued(io.direction, io.len);
        if let Some(pacer) = &mut self.pacer {
            pacer.issued(io.direction, io.len);
        }
        if let Some(content) = &mut self.content
            && io.direction == Direction::Write
        {
            let now_ns = self.clock.ns(self.now);
            content.before_write(self.buffers.fill(unit, io.len as usize), io.offset, now_ns);
        }
        let op = match io.direction {
            Direction::Read => Op::Read,
            Direction::Write => Op::Write,
            Direction::Trim => Op::Trim,
        };
        let request = Request {
            op,
            unit,
            file: io.file,
            len: io.len,
            offset: io.offset,
            buffer: self.buffers.slot(unit),
        };
        self.last_was_sync = false;
        self.directions[direction].ios += 1;
        self.stamp_start();
        let start = self.now;
        match self.engine.submit(&request) {
            Submit::Done(result) => {
                if result == i64::from(io.len) {
                    self.record_inline(direction, io.len, io.offset, start);
                } else {
                    self.finish_inline(request, direction, result, start);
                }
            }
            Submit::Queued => self.take(unit, Unit { request, direction, start, issued: start }),
            Submit::Full => self.hold_back(unit, Unit { request, direction, start, issued: start }),
        }
    }

    /// Reads the clock before a submission, or now and then only.
    #[inline]
    fn stamp_start(&mut self) {
        match self.stamps {
            Stamps::All => self.now = self.clock.now(),
            Stamps::Rare => {
                self.until_stamp -= 1;
                if self.until_stamp == 0 {
                    self.until_stamp = RARE;
                    self.now = self.clock.now();
                }
            }
        }
    }

    /// Records an I/O that the submitting call completed.
    #[inline]
    fn record_inline(&mut self, direction: usize, len: u32, offset: u64, start: u64) {
        let stats = &mut self.directions[direction];
        stats.bytes += u64::from(len);
        self.live.store(direction, stats.ios, stats.bytes);
        if self.stamps == Stamps::All {
            self.now = self.clock.now();
            let recent = &mut *self.recent;
            recent.ticks[recent.len] = self.now.saturating_sub(start);
            recent.directions[recent.len] = direction as u8;
            recent.len += 1;
            if recent.len == RECENT {
                self.record_recent();
            }
            if let Some(log) = &mut self.log
                && !self.timing.in_ramp()
            {
                let ns = self.clock.between(start, self.now);
                let time_ns = self.timing.measured_ns(&self.clock, self.now);
                let direction = direction as u8;
                log.record(IoSample {
                    time_ns,
                    slat_ns: None,
                    clat_ns: ns,
                    lat_ns: ns,
                    offset,
                    len,
                    direction,
                });
            }
        }
        if !self.synchronous {
            self.stats.depth.record(self.depth_in_use() + 1, 1);
            self.stats.submit.record(1);
            self.stats.complete.record(1);
        }
    }

    /// Moves the latencies collected by [`Issuer::record_inline`] into the figures.
    #[inline(never)]
    fn record_recent(&mut self) {
        let recent = &mut *self.recent;
        for (&ticks, &direction) in recent.ticks[..recent.len].iter().zip(&recent.directions) {
            let ns = self.clock.ns(ticks);
            self.directions[usize::from(direction)].record_synchronous(ns);
            if self.spec.measure.clat {
                self.stats.latency_buckets.record(ns);
            }
        }
        recent.len = 0;
    }

    /// A short or failed transfer of a synchronous submission.
    #[cold]
    #[inline(never)]
    fn finish_inline(&mut self, mut request: Request, direction: usize, mut result: i64, mut start: u64) {
        loop {
            let Some(rest) = self.short_rest(&request, direction, result) else { return };
            request = rest;
            self.stamp_start();
            start = start.max(self.now);
            match self.engine.submit(&request) {
                Submit::Done(again) if again == i64::from(request.len) => {
                    return self.record_inline(direction, request.len, request.offset, start);
                }
                Submit::Done(again) => result = again,
                // An engine that completes in the call does so every time.
                Submit::Queued | Submit::Full => {
                    self.fail(Failure::new(libc::EIO, "submit"));
                    return;
                }
            }
        }
    }

    /// Looks at an incomplete transfer. Returns the request for the rest, if there is one to make; errors are recorded.
    fn short_rest(&mut self, request: &Request, direction: usize, result: i64) -> Option<Request> {
        let moved = u32::try_from(result.max(0)).unwrap_or(u32::MAX).min(request.len);
        if result < 0 {
            self.fail_io(request, i32::try_from(-result).unwrap_or(libc::EIO));
            return None;
        }
        if moved == 0 {
            self.fail(Failure::new(libc::EIO, "full resid").note(format!(
                "{} is shorter than the job expects: nothing to transfer at offset {}",
                self.file_name(request.file),
                request.offset
            )));
            return None;
        }
        let stats = &mut self.directions[direction];
        stats.short += 1;
        stats.bytes += u64::from(moved);
        let offset = request.offset + u64::from(moved);
        let file = &self.spec.files[request.file as usize];
        if offset == file.real_size {
            self.live.store(direction, stats.ios, stats.bytes);
            return None;
        }
        stats.ios += 1;
        // The buffer moves along with the offset; `moved` is below `len`, so it stays inside its slot.
        Some(Request {
            offset,
            len: request.len - moved,
            buffer: request.buffer.wrapping_add(moved as usize),
            ..*request
        })
    }

    /// Issues one sync; it takes a unit like any I/O.
    fn issue_sync(&mut self, unit: u32, file: u32, kind: SyncKind) {
        let (op, offset, len) = match kind {
            SyncKind::Fsync => (Op::Fsync, 0, 0),
            SyncKind::Fdatasync => (Op::Fdatasync, 0, 0),
            SyncKind::FileRange { flags, offset, len } => {
                (Op::SyncFileRange(flags), offset, u32::try_from(len).unwrap_or(u32::MAX))
            }
        };
        let request = Request { op, unit, file, len, offset, buffer: self.buffers.slot(unit) };
        self.last_was_sync = true;
        self.stats.sync.ios += 1;
        self.stamp_start();
        let start = self.now;
        match self.engine.submit(&request) {
            Submit::Done(result) => {
                self.stamp_start();
                self.record_sync(&request, result, start);
            }
            Submit::Queued => self.take(unit, Unit { request, direction: 0, start, issued: start }),
            Submit::Full => self.hold_back(unit, Unit { request, direction: 0, start, issued: start }),
        }
    }

    fn record_sync(&mut self, request: &Request, result: i64, start: u64) {
        if result < 0 {
            self.fail_io(request, i32::try_from(-result).unwrap_or(libc::EIO));
        } else if self.spec.measure.clat {
            self.stats.sync.record(self.clock.between(start, self.now));
        }
    }

    /// The engine accepted unit `unit`.
    #[inline]
    fn take(&mut self, unit: u32, state: Unit) {
        debug_assert_eq!(self.free.last(), Some(&unit));
        self.units[unit as usize] = state;
        self.free.pop();
        self.queued.push(unit);
        if self.queued.len() >= self.spec.depth.batch as usize {
            self.flush();
        }
        if self.free.is_empty() || self.polls() {
            self.reap_full();
        }
    }

    /// Both completion limits 0: reap after every submission.
    #[inline]
    fn polls(&self) -> bool {
        self.spec.depth.complete_max == 0
    }

    /// The engine had no room: the request waits, something must be reaped first.
    #[cold]
    fn hold_back(&mut self, unit: u32, state: Unit) {
        self.units[unit as usize] = state;
        self.free.pop();
        self.retry.push_front(unit);
        self.flush();
        if self.depth_in_use() > 0 {
            self.reap_once();
        }
    }

    /// Submits the first waiting request again.
    #[cold]
    fn submit_retry(&mut self) {
        let Some(unit) = self.retry.pop_front() else { return };
        self.stamp_start();
        let state = self.units[unit as usize];
        match self.engine.submit(&state.request) {
            Submit::Queued => {
                self.queued.push(unit);
                if self.queued.len() >= self.spec.depth.batch as usize || self.free.is_empty() {
                    self.flush();
                }
            }
            Submit::Full => {
                self.retry.push_front(unit);
                self.flush();
                if self.depth_in_use() > 0 {
                    self.reap_once();
                } else {
                    self.fail(
                        Failure::new(libc::EAGAIN, "submit")
                            .note("the engine accepts no request although none is in flight"),
                    );
                }
            }
            Submit::Done(result) => {
                self.units[unit as usize].issued = self.now;
                self.complete(Completion { unit, result });
            }
        }
    }

    /// Units that the engine or the kernel has.
    #[inline]
    fn depth_in_use(&self) -> u32 {
        self.spec.depth.iodepth - self.free.len() as u32 - self.retry.len() as u32
    }

    /// Hands everything queued to the kernel. One clock reading after the call is the issue time of the whole batch.
    fn flush(&mut self) {
        let depth = self.depth_in_use();
        while !self.queued.is_empty() {
            let taken = match self.engine.flush() {
                Ok(taken) => (taken as usize).min(self.queued.len()),
                Err(e) => return self.fail(Failure::from_io(&e, "io commit")),
            };
            if taken == 0 {
                // The kernel is short of resources: whoever called reaps, then the rest is tried again.
                return;
            }
            if self.stamps == Stamps::All {
                self.now = self.clock.now();
            }
            for &unit in &self.queued[..taken] {
                let unit = &mut self.units[unit as usize];
                unit.issued = self.now;
                if self.spec.measure.slat && is_data(unit.request.op) {
                    let slat = self.clock.between(unit.start, self.now);
                    self.directions[unit.direction].record_submission(slat);
                }
            }
            self.stats.submit.record(taken as u32);
            self.stats.depth.record(depth, taken as u64);
            self.queued.drain(..taken);
        }
    }

    /// Makes room: reaps at least the batch minimum, down to `iodepth_low`.
    fn reap_full(&mut self) {
        loop {
            self.reap_once();
            if self.failure.is_some()
                || self.depth_in_use() <= self.spec.depth.low
                || self.depth_in_use() == 0
            {
                return;
            }
        }
    }

    /// Reaps one batch. A minimum of 0 asks the kernel without waiting, again and again until something is there.
    fn reap_once(&mut self) {
        let depth = self.depth_in_use();
        let min = self.spec.depth.complete_min.min(depth);
        let max = self.spec.depth.complete_max.min(depth).max(min).max(1);
        while depth > 0 && self.failure.is_none() {
            self.reap(min, max);
            if !self.done.is_empty() {
                return;
            }
        }
    }

    fn reap(&mut self, min: u32, max: u32) {
        self.flush();
        self.done.clear();
        if let Err(e) = self.engine.reap(min, max, &mut self.done) {
            return self.fail(Failure::from_io(&e, "get_events"));
        }
        if self.stamps == Stamps::All {
            self.now = self.clock.now();
        }
        if self.done.is_empty() {
            return;
        }
        self.stats.complete.record(self.done.len() as u32);
        for index in 0..self.done.len() {
            self.complete(self.done[index]);
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion) {
        let unit = self.units[completion.unit as usize];
        let request = &unit.request;
        if !is_data(request.op) {
            self.record_sync(request, completion.result, unit.issued);
        } else if completion.result == i64::from(request.len) {
            self.record_completion(&unit);
        } else if let Some(rest) = self.short_rest(request, unit.direction, completion.result) {
            self.units[completion.unit as usize].request = rest;
            self.retry.push_back(completion.unit);
            return;
        }
        self.free.push(completion.unit);
    }

    #[inline]
    fn record_completion(&mut self, unit: &Unit) {
        let stats = &mut self.directions[unit.direction];
        stats.bytes += u64::from(unit.request.len);
        self.live.store(unit.direction, stats.ios, stats.bytes);
        if self.stamps == Stamps::All {
            let clat = self.clock.between(unit.issued, self.now);
            let lat = self.clock.between(unit.start, self.now);
            stats.record_completion(clat, lat);
            if self.spec.measure.clat {
                self.stats.latency_buckets.record(clat);
            }
            if let Some(log) = &mut self.log
                && !self.timing.in_ramp()
            {
                log.record(IoSample {
                    time_ns: self.timing.measured_ns(&self.clock, self.now),
                    slat_ns: Some(self.clock.between(unit.start, unit.issued)),
                    clat_ns: clat,
                    lat_ns: lat,
                    offset: unit.request.offset,
                    len: unit.request.len,
                    direction: unit.direction as u8,
                });
            }
        }
    }

    /// Reaps everything in flight and submits what still waits, unless the job failed.
    fn drain(&mut self) {
        loop {
            while self.depth_in_use() > 0 {
                let before = self.depth_in_use();
                self.reap(before, before);
                if self.depth_in_use() == before && self.failure.is_some() {
                    // Reaping itself fails: the engine's destructor waits for what is in flight.
                    return;
                }
            }
            if self.retry.is_empty() || self.failure.is_some() {
                return;
            }
            self.submit_retry();
        }
    }

    /// End of the ramp or of the run time. False when the pass is over.
    #[cold]
    fn pass_milestone(&mut self) -> bool {
        match self.timing.reached(self.now, Usage::of_this_thread()) {
            Milestone::RampEnded => {
                self.recent.len = 0;
                for (total, direction) in self.ramp_bytes.iter_mut().zip(&self.directions) {
                    *total += direction.bytes;
                }
                self.directions = new_recorders(self.spec);
                self.stats = JobStats::default();
                self.workload.end_ramp();
                if let Some(pacer) = &mut self.pacer {
                    pacer.restart();
                }
                let control = self.context.control;
                (0..3).for_each(|direction| control.live.store(direction, 0, 0));
                control.measuring_since.store(self.now, std::sync::atomic::Ordering::Relaxed);
                control.set_state(JobState::Running);
                true
            }
            Milestone::TimeIsUp => false,
        }
    }

    /// The next step under a rate limit, after waiting for its time. `None` when the wait was cut short.
    #[cold]
    #[inline(never)]
    fn paced_step(&mut self) -> Option<Step> {
        self.now = self.clock.now();
        let since = self.timing.measured_ns(&self.clock, self.now);
        let pacer = self.pacer.as_ref()?;
        let mut due = 0;
        let step = self.workload.next_paced(|direction| {
            let (direction, wait_ns) = pacer.choose(direction, since);
            due = wait_ns;
            direction
        });
        if due > 0 && step != Step::PassEnd {
            self.drain();
            let until = self.now + self.clock.ticks(std::time::Duration::from_nanos(due));
            waiting::until(&self.clock, until.min(self.timing.next_milestone()), self.context.control);
            self.now = self.clock.now();
            if self.timing.is_over(self.now) || self.context.control.stop_requested() {
                return None;
            }
        }
        Some(step)
    }

    #[cold]
    fn fail_io(&mut self, request: &Request, errno: i32) {
        let action = match request.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Fsync => "sync",
            Op::Fdatasync => "datasync",
            Op::SyncFileRange(_) => "sync_file_range",
        };
        let words = crate::failure::strerror(&std::io::Error::from_raw_os_error(errno));
        let line = format!(
            "io_u error on file {}: {words}: {action} offset={}, buflen={}",
            self.file_name(request.file),
            request.offset,
            request.len
        );
        let _ = self.context.messages.send(crate::worker::Message::IoError(line));
        let mut failure = Failure::new(errno, "io_u error");
        if errno == libc::EINVAL && self.spec.direct && self.directions.iter().all(|d| d.bytes == 0) {
            failure = failure.note(
                "first direct IO errored. File system may not support direct IO, or the block size is no multiple of the \
                 device's sectors. Try setting direct=0.",
            );
        }
        self.fail(failure);
    }

    fn fail(&mut self, failure: Failure) {
        // The first error is the cause; later ones are usually its echo.
        self.failure.get_or_insert(failure);
    }

    fn file_name(&self, file: u32) -> String {
        self.spec.files.get(file as usize).map_or_else(String::new, |f| f.path.display().to_string())
    }
}

/// True for what counts as an I/O of a direction, false for syncs.
#[inline]
fn is_data(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write | Op::Trim)
}

/// Recorders for the directions that the job uses.
fn new_recorders(spec: &JobSpec) -> [DirectionRecorder; 3] {
    let measure = &spec.measure;
    Direction::ALL.map(|direction| match spec.rw.does(direction) {
        true => DirectionRecorder::new(measure.slat, measure.clat, measure.lat, spec.is_sync()),
        false => DirectionRecorder::default(),
    })
}
