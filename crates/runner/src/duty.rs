//! What an engine that does no I/O asks of its job: a piece of its work may take longer than the job has time.

use std::sync::mpsc::SyncSender;

use ferrio_engine_work::JobHandle;
use ferrio_job::Diagnostic;
use ferrio_kernel::programs::ProgramGroup;
use ferrio_stats::Clock;

use crate::context::{Context, Message};
use crate::control::JobControl;

/// The job of a worker.
pub(crate) struct WorkerDuty<'a> {
    name: &'a str,
    control: &'a JobControl,
    messages: SyncSender<Message>,
    clock: Clock,
    program_group: ProgramGroup,
    /// Run time in clock ticks; `u64::MAX` without a limit.
    runtime: u64,
}

impl<'a> WorkerDuty<'a> {
    pub(crate) fn new(context: &Context<'a>) -> Self {
        let Context { spec, control, clock, program_group, .. } = *context;
        let runtime = spec.limits.runtime;
        let runtime = if runtime.is_zero() { u64::MAX } else { clock.ticks(runtime) };
        let messages = context.messages.clone();
        WorkerDuty { name: &spec.name, control, messages, clock, program_group, runtime }
    }
}

impl JobHandle for WorkerDuty<'_> {
    /// The end of a ramp ends nothing.
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

    fn done(&self) {
        self.control.request_stop();
    }

    fn note(&self, diagnostic: Diagnostic) {
        // Should main have ended, it is lost.
        let _ = self.messages.send(Message::Diagnostics(vec![diagnostic.job(self.name)]));
    }
}
