//! The life of the loop: its construction, its passes, the start of measuring.

use ferrio_engine::{Buffers, Engine};
use ferrio_job::{Diagnostic, Direction, JobSpec, VerifyMethod};
use ferrio_stats::ThreadUsage;
use ferrio_workload::{Budget, BufferContents, Workload};

use super::IoLoop;
use super::hooks::Hooks;
use super::meter::Meter;
use super::slots::Slots;
use crate::context::Context;
use crate::failure::Failure;
use crate::open::JobFiles;
use crate::timing::Milestone;
use crate::verification::Verification;
use crate::verify_state;

impl<'a, E: Engine> IoLoop<'a, E> {
    /// Prepares everything that the loop needs, so that it never allocates.
    pub(crate) fn new(
        context: &'a Context<'a>,
        engine: E,
        mut buffers: Buffers,
        workload: Box<Workload>,
        mut content: BufferContents,
        hooks: Hooks<'a>,
    ) -> Box<Self> {
        let spec = context.spec;
        let depth = spec.units();
        let writes = spec.rw.does(Direction::Write) && spec.engine.moves_data();
        if writes {
            let len = buffers.stride().min(usize::try_from(spec.max_buffer()).unwrap_or(usize::MAX));
            // A synchronous engine uses the last of `iodepth` buffers, filled after the others.
            content.skip_initial(buffers.fill(0, len), spec.depth.iodepth.saturating_sub(depth));
            (0..depth).for_each(|unit| content.fill_initial(buffers.fill(unit, len)));
        }
        let prepares = writes && content.needs_write_prep() && writes_content(spec);
        let slots = Slots::new(depth);
        let meter = Meter::new(context, hooks.latency.is_some(), hooks.rates.is_some());
        let mut io_loop = Box::new(IoLoop {
            context,
            spec,
            engine,
            files: JobFiles::new(spec),
            buffers,
            workload: *workload,
            budget: Budget::new(spec),
            content: prepares.then_some(content),
            slots,
            meter,
            hooks,
            synchronous: spec.is_sync(),
            last_was_sync: false,
            lets_others_begin: false,
            files_finished: false,
            failure: None,
        });
        if let Some(depth) = io_loop.hooks.searched_depth() {
            io_loop.slots.set_depth(depth);
        }
        io_loop
    }

    /// Connects to the peer of an engine that has one.
    pub(crate) fn connect(&mut self) -> Result<(), Failure> {
        let control = self.context.control;
        self.engine.connect(&|| control.stop_requested()).map_err(|e| Failure::from_engine(&e))
    }

    /// Starts the job's clock.
    pub(crate) fn start(&mut self) {
        if let Some(verification) = &self.hooks.verification {
            let saves = verification.saves_at_syncs;
            // First of all: should this job save none, there is none.
            self.context.note_all(verify_state::remove_outdated_at_start(self.context));
            if saves {
                self.save_state();
            }
        }
        let usage = self.usage();
        self.lets_others_begin = self.context.begin();
        self.meter.start(self.context.control, usage);
        self.update_due_every_io();
        if !self.meter.timing.in_ramp() {
            self.begin_measuring();
        }
    }

    /// Starts measurement.
    fn begin_measuring(&mut self) {
        self.meter.begin_measuring(self.context);
        self.begin_window();
    }

    /// One pass: issues I/O until the pass is over, then waits for what is in flight. The time counts as run time.
    pub(crate) fn pass(&mut self) -> Result<(), Failure> {
        if let Some(verification) = &mut self.hooks.verification {
            verification.begin_choices(&self.workload);
        }
        if self.spec.only_verifies() {
            self.files_finished = false;
            self.leave_out_pass();
            return self.end_of_log().map_or(Ok(()), Err);
        }
        self.empty_zones()?;
        let began = self.meter.clock.now();
        self.meter.now = began;
        self.meter.timing.loop_began(began);
        self.files_finished = false;
        self.issue_until_done();
        self.drain();
        if self.hooks.events.is_some() {
            self.end_events();
        }
        self.await_checks();
        if self.hooks.zones.is_some() {
            self.end_in_zones();
        }
        self.check_minimum_rate_at_end();
        self.note_leaked_trims();
        self.meter.timing.loop_ended(self.meter.clock.now());
        let failure = self.failure.take().or_else(|| self.end_of_log());
        // fio asks once more when a job gives up, and counts a call that finds nothing.
        if failure.is_some() && self.spec.engine.counts_calls() {
            self.meter.stats.complete.record(0);
        }
        failure.map_or(Ok(()), Err)
    }

    /// True when another pass over the files follows.
    pub(crate) fn another_pass(&mut self) -> bool {
        let out_of_time = self.meter.timing.is_over(self.meter.clock.now());
        let nothing_to_check = self.hooks.verification.as_deref().is_some_and(Verification::is_over);
        let left_out = self.hooks.verification.as_ref().map_or(0, |verification| verification.left_out);
        !self.context.control.stop_requested()
            && !out_of_time
            && !nothing_to_check
            && self.budget.another_pass(self.meter.moved_bytes() + left_out, self.files_finished)
    }

    /// Begins a further pass: starts choices again, closes and opens the files. False if the job was stopped meanwhile.
    pub(crate) fn begin_pass(&mut self, note: &mut dyn FnMut(Diagnostic)) -> Result<bool, Failure> {
        self.workload.begin_pass();
        self.hooks.begin_pass();
        if let Some(content) = &mut self.content {
            content.begin_pass();
        }
        if !self.reopen_between_passes(note)? {
            return Ok(false);
        }
        let (meter, control) = (&self.meter, self.context.control);
        let stopped = || control.stop_requested() || meter.timing.is_over(meter.clock.now());
        self.engine.connect(&stopped).map_err(|e| Failure::from_engine(&e))?;
        Ok(true)
    }

    /// Resources used by the job's threads since they began.
    pub(super) fn usage(&mut self) -> ThreadUsage {
        let mut usage = ThreadUsage::of_this_thread();
        usage.merge(&self.engine.usage());
        if let Some(checkers) = self.hooks.verification.as_ref().and_then(|v| v.checkers.as_ref()) {
            usage.merge(&checkers.usage());
        }
        usage
    }

    /// End of the ramp or of the run time. False when the pass is over.
    #[cold]
    pub(super) fn pass_milestone(&mut self) -> bool {
        let usage = self.usage();
        match self.meter.timing.reached(self.meter.now, usage) {
            Milestone::RampEnded => {
                self.budget.end_ramp(self.slots.data_in_flight());
                self.restart_figures();
                true
            }
            Milestone::TimeIsUp => false,
        }
    }

    /// Starts all figures again.
    pub(super) fn restart_figures(&mut self) {
        self.meter.restart(self.context.control, self.slots.in_flight());
        self.workload.end_ramp();
        self.hooks.restart(self.slots.data_in_flight());
        self.begin_measuring();
    }
}

/// True when writes carry the content of the buffers, not blocks that can be verified.
fn writes_content(spec: &JobSpec) -> bool {
    spec.verify.as_ref().is_none_or(|verify| verify.method == VerifyMethod::Null)
}
