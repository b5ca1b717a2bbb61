//! The job as seen by an engine that does no I/O: one piece of its work may outlast the job, so the engine polls whether to stop.

use std::sync::mpsc::SyncSender;

use ferrio_engine_work::JobHandle;
use ferrio_job::Diagnostic;
use ferrio_kernel::programs::ProgramGroup;
use ferrio_stats::Clock;

use crate::context::{Context, Message};
use crate::control::JobControl;

/// The [`JobHandle`] of the job that a worker runs.
pub(crate) struct WorkerJobHandle<'a> {
    name: &'a str,
    control: &'a JobControl,
    messages: SyncSender<Message>,
    clock: Clock,
    program_group: ProgramGroup,
    /// Run time in clock ticks; `u64::MAX` without a limit.
    runtime: u64,
}

impl<'a> WorkerJobHandle<'a> {
    pub(crate) fn new(context: &Context<'a>) -> Self {
        let Context { spec, control, clock, program_group, .. } = *context;
        let runtime = spec.limits.runtime;
        let runtime = if runtime.is_zero() { u64::MAX } else { clock.ticks(runtime) };
        let messages = context.messages.clone();
        WorkerJobHandle { name: &spec.name, control, messages, clock, program_group, runtime }
    }
}

impl JobHandle for WorkerJobHandle<'_> {
    /// The end of the ramp time is not the end of the job.
    fn is_over(&self) -> bool {
        let since = self.control.measuring_since();
        self.control.stop_requested() || since > 0 && self.clock.now() >= since.saturating_add(self.runtime)
    }

    fn signals(&self) -> u32 {
        self.control.signals()
    }

    fn program_group(&self) -> ProgramGroup {
        self.program_group
    }

    fn end_job(&self) {
        self.control.request_stop();
    }

    fn note(&self, diagnostic: Diagnostic) {
        // If the main thread has ended, the note is lost.
        let _ = self.messages.send(Message::Diagnostics(vec![diagnostic.job(self.name)]));
    }
}
