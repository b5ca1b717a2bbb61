//! What a worker is given: its job, what it shares with main and with other jobs.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use ferrio_job::{Diagnostic, JobSpec};
use ferrio_stats::Clock;
use ferrio_workload::{LayoutContent, SEEDS};

use crate::control::{Gate, JobControl};
use crate::flow::FlowMember;
use crate::logs::LogSender;
use crate::message::Message;
use crate::overlap::SharedRanges;
use crate::ramp::SharedRamp;

/// What a worker needs to know.
pub(crate) struct Context<'a> {
    /// Index of the job in the plan.
    pub(crate) index: usize,
    /// The job.
    pub(crate) spec: &'a JobSpec,
    /// Shared with main.
    pub(crate) control: &'a JobControl,
    /// Holds the wave back until all its jobs are set up.
    pub(crate) gate: Arc<Gate>,
    /// To main.
    pub(crate) messages: SyncSender<Message>,
    /// The clock of the run.
    pub(crate) clock: Clock,
    /// Where log rows go, if the job writes logs.
    pub(crate) log: Option<LogSender>,
    /// Random seeds of the operating system, the same for layout and I/O.
    pub(crate) entropy: [u64; SEEDS],
    /// State of the content after main laid the files out.
    pub(crate) layout: Option<LayoutContent>,
    /// Place in a flow group.
    pub(crate) flow: Option<Arc<FlowMember>>,
    /// Bytes to move before anything is measured.
    pub(crate) ramp: Option<Arc<SharedRamp>>,
    /// What is in flight in jobs whose I/Os must not overlap; for a job that is one of them.
    pub(crate) overlaps: Option<Arc<SharedRanges>>,
}

impl Context<'_> {
    /// True when each I/O goes to a log.
    pub(crate) fn logs_every_io(&self) -> bool {
        self.log.is_some() && self.spec.logs.every_io()
    }

    /// Sends something that the user should know about this job.
    pub(crate) fn note(&self, diagnostic: Diagnostic) {
        self.tell(vec![diagnostic]);
    }

    /// Sends lines about this job that belong together. Main outlives the workers; if it does not, there is nobody left to tell.
    pub(crate) fn tell(&self, diagnostics: Vec<Diagnostic>) {
        let about_job = diagnostics.into_iter().map(|diagnostic| diagnostic.job(&self.spec.name));
        let diagnostics: Vec<Diagnostic> = about_job.collect();
        if !diagnostics.is_empty() {
            let _ = self.messages.send(Message::Diagnostics(diagnostics));
        }
    }
}
