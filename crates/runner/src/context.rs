//! What a worker is given (its job, what it shares with main and with other jobs), and the messages that it sends to main.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use ferrio_job::{Diagnostic, JobSpec};
use ferrio_kernel::programs::ProgramGroup;
use ferrio_logs::LogSender;
use ferrio_results::JobResult;
use ferrio_stats::Clock;
use ferrio_verify::Coverage;
use ferrio_workload::{LayoutContent, SEEDS};

use crate::cgroups::Cgroups;
use crate::control::JobControl;
use crate::events::EventGroup;
use crate::file_locks::FileLocks;
use crate::flow::FlowMember;
use crate::gate::Gate;
use crate::memory_limit::MemoryLimit;
use crate::overlap::SharedRanges;
use crate::timing::SharedRamp;
use crate::verify_state::WriteProgress;
use crate::worker_limits::AddressSpace;
use crate::zones::JobZones;

/// What a worker is given.
pub(crate) struct Context<'a> {
    /// Index of the job in the plan.
    pub(crate) index: usize,
    /// The job.
    pub(crate) spec: &'a JobSpec,
    /// Shared with main.
    pub(crate) control: &'static JobControl,
    /// Holds the wave back until all its jobs are set up.
    pub(crate) gate: Arc<Gate>,
    /// To main.
    pub(crate) messages: SyncSender<Message>,
    /// The clock of the run.
    pub(crate) clock: Clock,
    /// Clock ticks when the run began.
    pub(crate) run_began: u64,
    /// Where log rows go, if the job writes logs.
    pub(crate) log: Option<LogSender>,
    /// Random seeds of the operating system, the same for layout and I/O.
    pub(crate) entropy: [u64; SEEDS],
    /// State of the content after main laid the files out.
    pub(crate) layout: Option<LayoutContent>,
    /// Place in a flow group.
    pub(crate) flow: Option<Arc<FlowMember>>,
    /// The load whose events the job does.
    pub(crate) events: Option<Arc<EventGroup>>,
    /// Bytes to move before anything is measured.
    pub(crate) ramp: Option<Arc<SharedRamp>>,
    /// Directory of verify states and dumps; the current one if empty.
    pub(crate) state_dir: &'a Path,
    /// What the job has written, for its verify state.
    pub(crate) progress: Option<Arc<WriteProgress>>,
    /// What had been written, by the verify state that the job loads.
    pub(crate) coverage: Option<Arc<Coverage>>,
    /// The locks of the files, for a job with `lockfile`.
    pub(crate) locks: Option<Arc<FileLocks>>,
    /// The zones of the files, for a job with `zonemode=zbd`.
    pub(crate) zones: Option<Box<JobZones>>,
    /// The control groups of the run.
    pub(crate) cgroups: &'a Cgroups,
    /// The memory that the control group leaves for buffers.
    pub(crate) memory_limit: &'a MemoryLimit,
    /// The address space that must stay free.
    pub(crate) address_space: AddressSpace,
    /// Where the programs of jobs run.
    pub(crate) program_group: ProgramGroup,
    /// Nice value of the run, to which that of the job is added.
    pub(crate) nice: i32,
    /// What is in flight in jobs whose I/Os must not overlap; for a job that is one of them.
    pub(crate) overlaps: Option<Arc<SharedRanges>>,
}

impl Context<'_> {
    /// True when each I/O goes to a log.
    pub(crate) fn logs_every_io(&self) -> bool {
        self.log.is_some() && self.spec.logs.every_io()
    }

    /// The job is set up, or will never be.
    pub(crate) fn arrive(&self, set_up: bool) {
        if self.gate.arrive(set_up && self.begins_at_once()) {
            let _ = self.messages.send(Message::Ready);
        }
    }

    /// The job begins its I/O. True if it waits for the others after its first one.
    pub(crate) fn begin(&self) -> bool {
        // Nobody waits for those that had a command to run.
        if !self.begins_at_once() {
            return false;
        }
        let (last, crowded) = (self.gate.begin(), self.gate.is_crowded());
        if last && crowded {
            let _ = self.messages.send(Message::Ready);
        }
        crowded
    }

    /// True if the job begins its I/O as soon as the gate is open. Commands come first, and a program is not started before.
    pub(crate) fn begins_at_once(&self) -> bool {
        !self.spec.life.runs_commands() && self.spec.engine.does_io()
    }

    /// Sends something that the user should know about this job.
    pub(crate) fn note(&self, diagnostic: Diagnostic) {
        self.note_all(vec![diagnostic]);
    }

    /// Sends notes about this job that belong together. Should main have ended, they are lost.
    pub(crate) fn note_all(&self, diagnostics: Vec<Diagnostic>) {
        let about_job = diagnostics.into_iter().map(|diagnostic| diagnostic.job(&self.spec.name));
        let diagnostics: Vec<Diagnostic> = about_job.collect();
        if !diagnostics.is_empty() {
            let _ = self.messages.send(Message::Diagnostics(diagnostics));
        }
    }
}

/// What workers and the signal thread send to main.
#[derive(Debug)]
pub(crate) enum Message {
    /// All jobs of the wave are set up, or all have begun, or a signal has arrived.
    Ready,
    /// What the user should know: lines that belong together.
    Diagnostics(Vec<Diagnostic>),
    /// The job ended; nothing follows from it.
    Ended {
        /// Which job.
        index: usize,
        /// Its outcome.
        result: Box<JobResult>,
        /// False when it failed before it could open its files.
        set_up: bool,
    },
    /// Figures of a running job, as requested.
    Figures {
        /// Which job.
        index: usize,
        /// Its figures.
        snapshot: Box<Snapshot>,
    },
}

/// What a job has come to at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// Its figures so far.
    pub(crate) result: JobResult,
    /// Clock ticks when they began.
    pub(crate) since: u64,
    /// Clock ticks when they were taken.
    pub(crate) taken: u64,
}

impl Snapshot {
    /// True if it shows an earlier moment than `other`, or a time before the ramp ended.
    pub(crate) fn is_older_than(&self, other: &Snapshot) -> bool {
        (self.since, self.taken) < (other.since, other.taken)
    }
}
