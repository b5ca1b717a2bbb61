//! Main's state of a run in progress and of each of its jobs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime};

use ferrio_job::{CompatRules, Plan};
use ferrio_kernel::programs::ProgramGroup;
use ferrio_results::{JobResult, RunEvent};
use ferrio_stats::Clock;
use ferrio_verify::Coverage;
use ferrio_workload::{LayoutContent, SEEDS};

use super::RunOptions;
use super::due_reports::DueReports;
use super::end_deadline::EndDeadline;
use crate::cgroups::Cgroups;
use crate::context::Snapshot;
use crate::control::JobControl;
use crate::disk::Disks;
use crate::events::EventGroups;
use crate::file_locks::FileLocks;
use crate::flow::FlowGroups;
use crate::memory_limit::MemoryLimit;
use crate::monitor::Monitor;
use crate::overlap::SharedRanges;
use crate::signals::SignalRequests;
use crate::timing::SharedRamp;
use crate::totals::Totals;
use crate::trigger::Trigger;
use crate::write_progress::WriteProgress;
use crate::zones::{JobZones, ZonedFiles};

/// The state of a job.
#[derive(Debug, Default)]
pub(super) struct ScheduledJob {
    pub(super) started: bool,
    /// Present once the job has ended, or will never start.
    pub(super) result: Option<JobResult>,
    pub(super) layout: Option<LayoutContent>,
    pub(super) zones: Option<Box<JobZones>>,
    pub(super) entropy: [u64; SEEDS],
    /// The job's writes so far, if they may be saved as its verify state.
    pub(super) progress: Option<Arc<WriteProgress>>,
    /// The writes recorded in the verify state that the job loads.
    pub(super) coverage: Option<Arc<Coverage>>,
    /// The last figures it reported while it ran.
    pub(super) latest: Option<Box<Snapshot>>,
    /// True while main waits for the job's figures.
    pub(super) asked: bool,
    /// The job's thread, until it is joined.
    pub(super) thread: Option<JoinHandle<()>>,
    /// True if the job did not end when asked to, so that the run goes on without it.
    pub(super) abandoned: bool,
}

/// A run in progress, as main sees it.
pub(super) struct Run<'a, 'o> {
    pub(super) plan: &'static Plan,
    pub(super) options: &'a RunOptions,
    /// The program is called `fio`.
    pub(super) compat: CompatRules,
    pub(super) observer: &'o mut dyn FnMut(RunEvent<'_>),
    pub(super) clock: Clock,
    /// Clock ticks at the start of the run.
    pub(super) clock_began: u64,
    pub(super) controls: &'static [JobControl],
    pub(super) stop: &'a AtomicBool,
    /// The requests of signals.
    pub(super) requests: &'a SignalRequests,
    pub(super) jobs: Vec<ScheduledJob>,
    /// Waves so far.
    pub(super) waves: usize,
    /// Per job: the number of its wave, from 0, if it was started.
    pub(super) wave_of: Vec<usize>,
    /// Jobs that have no result yet.
    pub(super) unfinished: usize,
    /// Those of the unfinished jobs that were not started.
    pub(super) unstarted: usize,
    /// Jobs of the plan that only make a load for others.
    pub(super) load_only_jobs: usize,
    /// When the monitor wants to take samples.
    pub(super) next_poll: Instant,
    pub(super) signal: Option<i32>,
    /// True once the user was told that the run had been stopped from outside.
    pub(super) has_reported_stop: bool,
    /// Whether jobs end that a signal told to.
    pub(super) deadline: EndDeadline,
    /// Present until it goes off; then it is moved.
    pub(super) trigger: Option<&'a Trigger>,
    /// The trigger that went off.
    pub(super) fired_trigger: Option<&'a Trigger>,
    /// `exitall` of any job.
    pub(super) exitall: bool,
    pub(super) flows: FlowGroups,
    /// Loads that are counted in events.
    pub(super) event_groups: EventGroups,
    /// Per job.
    pub(super) ramps: Vec<Option<Arc<SharedRamp>>>,
    pub(super) overlaps: Option<Arc<SharedRanges>>,
    /// Per job.
    pub(super) locks: Vec<Option<Arc<FileLocks>>>,
    /// The zones of files with `zonemode=zbd`.
    pub(super) zones: ZonedFiles,
    pub(super) cgroups: &'static Cgroups,
    pub(super) memory_limit: &'static MemoryLimit,
    /// Process group of programs started by jobs or the trigger.
    pub(super) program_group: ProgramGroup,
    /// Phases of a run on many hosts that have begun.
    pub(super) begun_phases: u32,
    /// Nice value of the process before the run.
    pub(super) nice: i32,
    pub(super) monitor: Monitor<'a>,
    pub(super) totals: Totals,
    /// Directory of verify states.
    pub(super) state_dir: &'static Path,
    /// Verify states that are given.
    pub(super) given_states: BTreeMap<String, Vec<u8>>,
    pub(super) last_progress: Instant,
    pub(super) due_reports: DueReports,
    pub(super) disks: Disks,
    /// Wall-clock time when the jobs could start.
    pub(super) start_time: SystemTime,
    /// That moment on the monotonic clock.
    pub(super) start_instant: Instant,
}
