//! Features that only some jobs ask for: before an I/O is issued, after that, and when it completes. A job without any of them pays one
//! branch for each.

use std::time::Duration;

use ferrio_engine::{Buffers, Request};
use ferrio_job::{Direction, JobSpec};
use ferrio_stats::{Clock, LongClock};
use ferrio_workload::{DepthSearch, Io, MinRate, PriorityChoice, ThinkTime, WindowVerdict};

use super::meter::Meter;
use crate::block_states::BlockStates;
use crate::context::Context;
use crate::events::JobEvents;
use crate::failure::Failure;
use crate::iolog::Iolog;
use crate::log_reader::LogReader;
use crate::rate_schedule::RateSchedule;
use crate::timing::RampSize;
use crate::verification::Verification;
use crate::waiting::Waiter;
use crate::zones::JobZones;

/// The features of one job that concern single I/Os.
pub(crate) struct Hooks<'a> {
    /// The schedule of a rate, verification, followed blocks, the I/O log, a choice of priorities, the lock of the file or the checksums
    /// of events see each data I/O before it is issued.
    pub(super) before_issue: bool,
    /// The schedule of a rate, limits of the latency, or a log see each data I/O when it completes.
    pub(super) at_completion: bool,
    /// A write or trim may have to wait until a block that it touches is checked.
    pub(super) waits_for_checks: bool,
    /// Verification, zones or events see each data I/O when all of it has ended.
    pub(super) at_end: bool,
    /// A rate, events or zones decide when and where each I/O is done, or written blocks are checked and trimmed in between.
    pub(super) gated: bool,
    /// `zonemode=zbd`
    pub(super) zones: Option<Box<JobZones>>,
    /// `rate`, `rate_iops`: I/Os are due at times of a schedule.
    pub(super) rates: Option<Box<RateSchedule>>,
    /// `verify`
    pub(super) verification: Option<Box<Verification>>,
    /// `block_error_percentiles`
    pub(super) blocks: Option<Box<BlockStates>>,
    /// `write_iolog`
    pub(super) iolog: Option<Box<Iolog<'a>>>,
    /// The job's events, if it does those of a load.
    pub(super) events: Option<Box<JobEvents>>,
    /// `read_iolog`: when the log's times begin.
    pub(super) replay: Option<Box<ReplayClock>>,
    /// I/O priority of the job; 0 without one.
    pub(super) priority: u16,
    /// `cmdprio_*`: I/Os have other priorities too.
    pub(super) priorities: Option<Box<PriorityChoice>>,
    /// Pauses and minimum rates, after each data I/O.
    pub(super) after_issue: Option<Box<AfterIssue>>,
    /// Latencies that have consequences, at each completion.
    pub(super) latency: Option<Box<LatencyLimits>>,
    /// `ramp_size`, before the end of that ramp.
    pub(super) ramp: Option<RampSize>,
}

impl<'a> Hooks<'a> {
    /// The hooks that the job of `context` needs.
    pub(crate) fn new(
        context: &Context<'_>,
        verification: Option<Box<Verification>>,
        blocks: Option<Box<BlockStates>>,
        iolog: Option<Box<Iolog<'a>>>,
        zones: Option<Box<JobZones>>,
        reader: Option<LogReader>,
    ) -> Self {
        let spec = context.spec;
        let rates = RateSchedule::new(spec, context.entropy, context.clock);
        let priorities = PriorityChoice::new(spec, context.entropy).map(Box::new);
        let latency = LatencyLimits::new(spec);
        let events = context.events.clone().map(|group| JobEvents::new(group, spec, context.clock));
        Hooks {
            at_completion: rates.is_some() || latency.is_some() || context.logs_every_io(),
            before_issue: rates.is_some()
                || verification.is_some()
                || blocks.is_some()
                || iolog.is_some()
                || priorities.is_some()
                || context.locks.is_some()
                || events.as_ref().is_some_and(|events| events.validates()),
            waits_for_checks: verification.as_ref().is_some_and(|verification| verification.may_conflict()),
            at_end: verification.is_some()
                || zones.is_some()
                || events.as_ref().is_some_and(|events| events.group.events.sees_completions()),
            gated: rates.is_some()
                || zones.is_some()
                || events.is_some()
                || verification.as_ref().is_some_and(|verification| verification.has_backlog()),
            zones,
            rates,
            verification,
            blocks,
            iolog,
            events,
            replay: spec.replay.is_some().then(|| {
                let waiter = Waiter::punctual(context.clock);
                let program_began = context.run_began;
                let clock = LongClock::new(context.clock);
                Box::new(ReplayClock { program_began, replay_began: None, clock, waiter, reader })
            }),
            priority: spec.priorities.own_bits(),
            priorities,
            after_issue: AfterIssue::new(spec, context.clock),
            latency,
            ramp: context.ramp.clone().map(RampSize::new),
        }
    }

    /// Does what the features of the job ask for before a data I/O. Returns its priority.
    ///
    /// # Errors
    /// A block cannot be prepared, or the I/O log cannot be written.
    #[cold]
    #[inline(never)]
    pub(super) fn before_issue(
        &mut self,
        io: Io,
        request: &Request,
        buffers: &mut Buffers,
        meter: &Meter<'_>,
    ) -> Result<u16, Failure> {
        let unit = request.unit;
        if let Some(rates) = &mut self.rates {
            rates.issued(unit, &io);
        }
        if let Some(verification) = &mut self.verification {
            let time = Duration::from_nanos(meter.block_time_ns());
            // Trims move no data, and may be larger than a buffer.
            let len = if io.direction == Direction::Trim { 0 } else { io.len as usize };
            let block = buffers.fill_unless_lent(unit, len).ok_or_else(Failure::slot_is_lent)?;
            verification.before(&io, unit, block, time)?;
        }
        if let Some(events) = self.events.as_ref().filter(|_| io.direction == Direction::Write) {
            events.before_write(buffers.fill(unit, io.len as usize), io.offset);
        }
        if let Some(blocks) = &mut self.blocks {
            blocks.issued(request);
        }
        self.record(request)?;
        Ok(match &mut self.priorities {
            Some(priorities) => priorities.next(io.direction, io.len),
            None => request.priority,
        })
    }

    /// Adds a request to the I/O log before its first submission. What the loop makes of it on its own (requests that are submitted
    /// again, the rest of short transfers) is not recorded.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(super) fn record(&mut self, request: &Request) -> Result<(), Failure> {
        self.iolog.as_mut().map_or(Ok(()), |iolog| iolog.io(request))
    }

    /// The timer for waits, if the job waits for times.
    pub(super) fn waiter(&mut self) -> Option<&mut Waiter> {
        match (&mut self.rates, &mut self.replay, &mut self.events) {
            (Some(rates), ..) => Some(&mut rates.waiter),
            (None, Some(replay), _) => Some(&mut replay.waiter),
            (None, None, Some(events)) => Some(&mut events.waiter),
            (None, None, None) => None,
        }
    }

    /// Another pass begins.
    pub(super) fn begin_pass(&mut self) {
        if let Some(priorities) = &mut self.priorities {
            priorities.begin_pass();
        }
        if let Some(rates) = &mut self.rates {
            rates.begin_pass();
        }
        if let Some(verification) = &mut self.verification {
            verification.begin_pass();
        }
        if let Some(zones) = &mut self.zones {
            zones.begin_pass();
        }
    }

    /// The figures start again with this many data I/Os in flight.
    pub(super) fn restart(&mut self, in_flight: u64) {
        if let Some(rates) = &mut self.rates {
            rates.restart();
        }
        if let Some(after_issue) = &mut self.after_issue {
            after_issue.restart(in_flight);
        }
        if let Some(events) = &mut self.events {
            events.restart();
        }
    }

    /// The search for the depth that meets `latency_target`, if there is one.
    pub(super) fn depth_search(&mut self) -> Option<&mut DepthSearch> {
        self.latency.as_mut()?.search.as_mut()
    }

    /// The depth that the search has come to, if there is a search.
    pub(super) fn searched_depth(&self) -> Option<u32> {
        Some(self.latency.as_ref()?.search.as_ref()?.depth())
    }
}

/// A replayed log: what its times count from, in clock ticks, and its reader.
#[derive(Debug)]
pub(super) struct ReplayClock {
    pub(super) program_began: u64,
    /// Set by the first wait, before the first step.
    pub(super) replay_began: Option<u64>,
    /// Measures the times of the log.
    pub(super) clock: LongClock,
    pub(super) waiter: Waiter,
    /// The thread that reads a log that is not in memory.
    pub(super) reader: Option<LogReader>,
}

/// Work after each data I/O of a job: pauses (`thinktime`, `thinkcycles`) and the check of minimum rates (`rate_min`,
/// `rate_iops_min`).
#[derive(Debug)]
pub(super) struct AfterIssue {
    pub(super) minimum: Option<MinRate>,
    pub(super) thinker: Option<ThinkTime>,
    /// Ends pauses as exactly as the rate schedule starts I/Os.
    pub(super) waiter: Waiter,
}

impl AfterIssue {
    /// `None` for a job that does one I/O right after the other.
    fn new(spec: &JobSpec, clock: Clock) -> Option<Box<Self>> {
        let minimum = MinRate::new(spec);
        let thinker = ThinkTime::new(spec);
        (minimum.is_some() || thinker.is_some() || spec.think.cycles > 0)
            .then(|| Box::new(AfterIssue { minimum, thinker, waiter: Waiter::new(clock) }))
    }

    /// The figures start again with this many I/Os in flight.
    pub(super) fn restart(&mut self, in_flight: u64) {
        if let Some(minimum) = &mut self.minimum {
            minimum.restart();
        }
        if let Some(thinker) = &mut self.thinker {
            thinker.restart(in_flight);
        }
    }
}

/// Latencies that a job must keep: `max_latency` and `latency_target`.
#[derive(Debug)]
pub(super) struct LatencyLimits {
    /// ns per direction, `u64::MAX` for no limit.
    pub(super) max: [u64; 3],
    pub(super) search: Option<DepthSearch>,
    /// The action that the last window requires.
    pub(super) verdict: Option<WindowVerdict>,
}

impl LatencyLimits {
    /// `None` for a job whose I/Os may take any time.
    fn new(spec: &JobSpec) -> Option<Box<Self>> {
        let ns = |max: Duration| match max {
            Duration::ZERO => u64::MAX,
            max => u64::try_from(max.as_nanos()).unwrap_or(u64::MAX),
        };
        let max = spec.max_latency.0.map(ns);
        let search = DepthSearch::new(spec);
        (search.is_some() || max != [u64::MAX; 3])
            .then(|| Box::new(LatencyLimits { max, search, verdict: None }))
    }
}
