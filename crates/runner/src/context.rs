//! The inputs of a worker (its job, and the state shared with main and other jobs), and the messages that it sends to main.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use ferrio_job::{Diagnostic, EventKind, JobSpec};
use ferrio_kernel::programs::ProgramGroup;
use ferrio_logs::LogSender;
use ferrio_results::JobResult;
use ferrio_stats::Clock;
use ferrio_verify::Coverage;
use ferrio_workload::{LayoutContent, SEEDS};

use crate::cgroups::Cgroups;
use crate::control::JobControl;
use crate::events::EventGroup;
use crate::file_locks::{FileGuard, FileLocks};
use crate::flow::FlowMember;
use crate::gate::Gate;
use crate::memory_limit::MemoryLimit;
use crate::overlap::SharedRanges;
use crate::timing::SharedRamp;
use crate::worker_limits::AddressSpace;
use crate::write_progress::WriteProgress;
use crate::zones::JobZones;

/// The inputs of a worker.
pub(crate) struct Context<'a> {
    /// Index of the job in the plan.
    pub(crate) index: usize,
    pub(crate) spec: &'a JobSpec,
    /// State shared with main.
    pub(crate) control: &'static JobControl,
    /// Holds the wave back until all its jobs are set up.
    pub(crate) gate: Arc<Gate>,
    /// The queue of messages to main.
    pub(crate) messages: SyncSender<Message>,
    /// The clock of the run.
    pub(crate) clock: Clock,
    /// Clock ticks at the start of the run.
    pub(crate) run_began: u64,
    /// The queue of log rows, if the job writes logs.
    pub(crate) log: Option<LogSender>,
    /// Random seeds of the operating system, the same for layout and I/O.
    pub(crate) entropy: [u64; SEEDS],
    /// State of the contents after main laid the files out.
    pub(crate) layout: Option<LayoutContent>,
    /// Membership in a flow group.
    pub(crate) flow: Option<Arc<FlowMember>>,
    /// The load whose events the job does.
    pub(crate) events: Option<Arc<EventGroup>>,
    /// The ramp by size, shared with other jobs.
    pub(crate) ramp: Option<Arc<SharedRamp>>,
    /// Directory of verify states and dumps; the current one if empty.
    pub(crate) state_dir: &'a Path,
    /// The job's writes so far, for its verify state.
    pub(crate) progress: Option<Arc<WriteProgress>>,
    /// The writes recorded in the verify state that the job loads.
    pub(crate) coverage: Option<Arc<Coverage>>,
    /// The locks of the files, for a job with `lockfile`.
    pub(crate) locks: Option<Arc<FileLocks>>,
    /// The zones of the files, for a job with `zonemode=zbd`.
    pub(crate) zones: Option<Box<JobZones>>,
    /// The control groups of the run.
    pub(crate) cgroups: &'a Cgroups,
    /// The limit that the control group sets for buffers.
    pub(crate) memory_limit: &'a MemoryLimit,
    /// The address space that must stay free.
    pub(crate) address_space: AddressSpace,
    /// Process group for the programs of jobs.
    pub(crate) program_group: ProgramGroup,
    /// Nice value of the run, to which that of the job is added.
    pub(crate) nice: i32,
    /// Ranges in flight in the jobs whose I/Os must not overlap, if this job is one of them.
    pub(crate) overlaps: Option<Arc<SharedRanges>>,
}

impl Context<'_> {
    /// True if each I/O goes to a log.
    pub(crate) fn logs_every_io(&self) -> bool {
        self.log.is_some() && self.spec.logs.every_io()
    }

    /// Waits until an I/O to a file may be submitted (`lockfile`). It may while the guard lives.
    #[inline]
    pub(crate) fn lock_file(&self, file: u32, reads: bool) -> Option<FileGuard<'_>> {
        self.locks.as_ref().map(|locks| locks.lock(file, reads))
    }

    /// Reports that the job is set up, or never will be.
    pub(crate) fn arrive(&self, set_up: bool) {
        if self.gate.arrive(set_up && self.begins_at_once()) {
            let _ = self.messages.send(Message::Ready);
        }
    }

    /// Reports that the job begins its I/O. Returns true if the job waits for the others after its first I/O.
    pub(crate) fn begin(&self) -> bool {
        // Other jobs do not wait for those that had a command to run.
        if !self.begins_at_once() {
            return false;
        }
        let (last, crowded) = (self.gate.begin(), self.gate.is_crowded());
        if last && crowded {
            let _ = self.messages.send(Message::Ready);
        }
        crowded
    }

    /// True if the job begins its I/O as soon as the gate is open. A job with a command or program begins later.
    pub(crate) fn begins_at_once(&self) -> bool {
        !self.spec.life.runs_commands() && self.spec.engine.does_io()
    }

    /// True if the events of the job are calls of a session.
    pub(crate) fn has_session(&self) -> bool {
        let kind = self.spec.events.as_ref().map(|part| &part.load.kind);
        matches!(kind, Some(EventKind::Sessions(_)))
    }

    /// Sends a note about this job for the user.
    pub(crate) fn note(&self, diagnostic: Diagnostic) {
        self.note_all(vec![diagnostic]);
    }

    /// Sends notes about this job that belong together. They are lost if main has ended.
    pub(crate) fn note_all(&self, diagnostics: Vec<Diagnostic>) {
        let about_job = diagnostics.into_iter().map(|diagnostic| diagnostic.job(&self.spec.name));
        let diagnostics: Vec<Diagnostic> = about_job.collect();
        if !diagnostics.is_empty() {
            let _ = self.messages.send(Message::Diagnostics(diagnostics));
        }
    }
}

/// Messages of workers and the signal thread to main.
#[derive(Debug)]
pub(crate) enum Message {
    /// All jobs of the wave are set up, or all have begun, or a signal has arrived.
    Ready,
    /// Notes for the user that belong together.
    Diagnostics(Vec<Diagnostic>),
    /// The job ended; this is its last message.
    Ended {
        /// Index of the job.
        index: usize,
        /// Result of the job.
        result: Box<JobResult>,
        /// False if the job failed before it could open its files.
        set_up: bool,
    },
    /// Figures of a running job, as requested.
    Figures {
        /// Index of the job.
        index: usize,
        /// The figures.
        snapshot: Box<Snapshot>,
    },
}

/// The figures of a job at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// The figures so far.
    pub(crate) result: JobResult,
    /// Clock ticks at which the figures begin.
    pub(crate) since: u64,
    /// Clock ticks at which the figures were taken.
    pub(crate) taken: u64,
}

impl Snapshot {
    /// True if this snapshot is older than `other`, or is from before the end of the ramp.
    pub(crate) fn is_older_than(&self, other: &Snapshot) -> bool {
        (self.since, self.taken) < (other.since, other.taken)
    }
}
