//! The main thread of a run: set-up in job order, then waves of jobs as stonewalls, start delays and `wait_for` allow, until all have ended.
//!
//! The main thread sleeps only on the message queue: workers, signals and the sampling timer all wake it there.

mod due_reports;
mod end_deadline;
mod interim_reports;
mod job_end;
mod phases;
mod set_up;
mod state;
mod stuck_jobs;
mod waves;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use ferrio_job::{ClockSource, Diagnostic, EngineKind, Plan, PlannedJob, debug_class};
use ferrio_kernel::futexes;
use ferrio_kernel::programs::ProgramGroup;
use ferrio_logs::LogSender;
use ferrio_results::{JobError, JobResult, JobState, RunEvent, RunResult};
use ferrio_stats::{Clock, ClockReading, TickSource};
use log::debug;

use crate::cgroups::Cgroups;
use crate::context::Message;
use crate::control::JobControl;
use crate::disk::Disks;
use crate::engine_wrapper::{debug_pass, debug_seeds};
use crate::events::EventGroups;
use crate::file_locks::FileLocks;
use crate::flow::FlowGroups;
use crate::gate::widest_start;
use crate::idle::IdleThreads;
use crate::memory_limit::MemoryLimit;
use crate::monitor::Monitor;
use crate::overlap::SharedRanges;
use crate::placement;
use crate::signals::{SignalRequests, SignalWatcher, TakenRequests, signals_not_watched};
use crate::start_line::StartLine;
use crate::timing::SharedRamp;
use crate::totals::Totals;
use crate::trigger::Trigger;
use crate::write_progress::WriteProgress;
use crate::zones::ZonedFiles;
use due_reports::DueReports;
use end_deadline::EndDeadline;
use state::{Run, ScheduledJob};

/// Messages that may wait for the main thread, besides one per job; a worker that sends more waits. Most workers send only at their start
/// and end.
const QUEUE: usize = 1024;

/// Options of a run that are not in its plan.
#[derive(Debug, Default)]
pub struct RunOptions {
    /// Send [`RunEvent::Progress`] while jobs run.
    pub progress: bool,
    /// The caller shows the run on a terminal and needs SIGCONT itself.
    pub has_live_view: bool,
    /// The queue of log rows.
    pub logs: Option<LogSender>,
    /// The log writer wants the bandwidth of all jobs together too.
    pub total_bandwidth: bool,
    /// Command or file that ends the run (`--trigger*`).
    pub trigger: Option<Trigger>,
    /// Directory of verify states; the current one if empty.
    pub state_dir: PathBuf,
    /// Verify states that jobs load instead of files, by [`JobSpec::state_name`](ferrio_job::JobSpec::state_name).
    pub given_states: BTreeMap<String, Vec<u8>>,
    /// When the calibration of the clock began, if it did before the run.
    pub calibration: Option<ClockReading>,
    /// Measure how idle the CPUs are.
    pub idleness: bool,
    /// Send [`RunEvent::Interim`] after each such interval of the run.
    pub status_interval: Option<Duration>,
    /// Send [`RunEvent::Interval`] with an index into this list, after each such interval of the run.
    pub intervals: Vec<Duration>,
    /// Set by the observer, on [`RunEvent::Interval`], to end all jobs early as if their work were done.
    pub early_end: Arc<AtomicBool>,
    /// Send [`RunEvent::Interim`] when this file appears, and remove it.
    pub status_file: Option<PathBuf>,
    /// Who says when each phase begins; none for a run on one host.
    pub start_line: Option<Arc<dyn StartLine>>,
}

/// The process group of the programs that a run starts. A run that starts none takes no terminal.
fn program_group(plan: &Plan, options: &RunOptions) -> ProgramGroup {
    let starts_programs =
        |job: &PlannedJob| job.spec.life.runs_commands() || job.spec.engine == EngineKind::Exec;
    let has_trigger = options.trigger.as_ref().is_some_and(|trigger| trigger.command.is_some());
    if has_trigger || plan.jobs.iter().any(starts_programs) {
        ProgramGroup::for_programs(!options.has_live_view)
    } else {
        ProgramGroup::Own
    }
}

/// Runs the plan to its end. `observer` gets the events, on the calling thread.
///
/// SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGUSR2 end the run early, SIGUSR1 asks for a report of the run so far ([`RunEvent::Interim`]). They
/// stay blocked in the calling thread afterwards, so that the report can be written.
///
/// A worker that hangs in the kernel cannot be ended. After a second signal the run ends without it ([`RunResult::abandoned`]), and its
/// thread goes on until the process exits. Therefore workers share only what lives as long as the process: the plan, and some memory that
/// each run leaks.
pub fn run(plan: &'static Plan, options: &RunOptions, observer: &mut dyn FnMut(RunEvent<'_>)) -> RunResult {
    // Each has a thread, and many may wait at one gate.
    futexes::expect_waiters(plan.jobs.len());
    let (sender, messages) = sync_channel(QUEUE + plan.jobs.len());
    let stop = Arc::new(AtomicBool::new(false));
    let requests = Arc::new(SignalRequests::default());
    let controls: Vec<JobControl> = plan.jobs.iter().map(|job| JobControl::new(job.spec.number)).collect();
    let controls: &'static [JobControl] = controls.leak();
    let compat = plan.compat();
    let watch = SignalWatcher::start(
        sender.clone(),
        controls,
        Arc::clone(&stop),
        Arc::clone(&requests),
        !options.has_live_view,
        compat.signals_end_waits,
    );
    if let Err(e) = &watch {
        observer(RunEvent::Diagnostic(signals_not_watched(e)));
    }
    let calibration = options.calibration.unwrap_or_else(ClockReading::now);
    let clock = clock(plan.clock, calibration, observer);
    let clock_began = clock.now();
    let source = match clock.source() {
        TickSource::Tsc => "time stamp counter",
        TickSource::Monotonic => "CLOCK_MONOTONIC",
    };
    debug!(target: debug_class::TIME, "clock {}, {} ns in a million ticks", source, clock.ns(1_000_000));
    let threads = plan.jobs.iter().filter(|j| j.spec.thread).count();
    observer(RunEvent::Starting { threads, processes: plan.jobs.len() - threads });
    if let Some(unseen) = options.trigger.as_ref().and_then(Trigger::unseen) {
        observer(RunEvent::Diagnostic(unseen));
    }
    let cgroups: &'static Cgroups = Box::leak(Box::new(Cgroups::of(plan)));
    let mut run = Run {
        plan,
        options,
        compat,
        observer,
        clock,
        clock_began,
        controls,
        stop: &stop,
        requests: &requests,
        jobs: scheduled_jobs(plan, options),
        waves: 0,
        wave_of: vec![0; plan.jobs.len()],
        unfinished: plan.jobs.len(),
        unstarted: plan.jobs.len(),
        load_only_jobs: plan.jobs.iter().filter(|job| job.spec.engine.is_background_load()).count(),
        next_poll: Instant::now(),
        signal: None,
        has_reported_stop: false,
        deadline: EndDeadline::default(),
        trigger: options.trigger.as_ref(),
        fired_trigger: None,
        exitall: plan.jobs.iter().any(|job| job.spec.life.exitall),
        flows: FlowGroups::new(plan),
        event_groups: EventGroups::new(plan, placement::entropy()[0]),
        ramps: SharedRamp::of(plan),
        overlaps: SharedRanges::of(plan),
        locks: FileLocks::of(plan),
        zones: ZonedFiles::of(plan),
        cgroups,
        memory_limit: Box::leak(Box::new(MemoryLimit::of_run(plan))),
        program_group: program_group(plan, options),
        nice: placement::nice_value(),
        monitor: Monitor::new(plan, controls, clock, options.logs.clone()),
        totals: Totals::new(plan, options.logs.clone().filter(|_| options.total_bandwidth)),
        begun_phases: 0,
        state_dir: Box::leak(options.state_dir.clone().into_boxed_path()),
        given_states: options.given_states.clone(),
        last_progress: Instant::now(),
        due_reports: DueReports::new(
            options.status_interval,
            &options.intervals,
            options.status_file.clone(),
        ),
        disks: Disks::default(),
        start_time: SystemTime::now(),
        start_instant: Instant::now(),
    };
    run.set_up();
    // Sets the priority only now: files are laid out with the priority of the caller.
    placement::share(plan, run.nice);
    run.disks = Disks::find(plan);
    let idle = options.idleness.then(|| idle_threads(run.observer)).flatten();
    run.start_time = SystemTime::now();
    run.start_instant = Instant::now();
    let (elapsed, messages) = run.run_waves(&sender, messages);
    let idleness = idle.map(IdleThreads::finish);
    run.run_trigger_command(&messages);
    let abandoned = run.jobs.iter().filter(|job| job.abandoned).count();
    let jobs = std::mem::take(&mut run.jobs).into_iter().map(|job| job.result.unwrap_or_default());
    let result = run.result(jobs.collect(), elapsed);
    for disk in run.disks.missing_in(&result.disks) {
        let message =
            format!("cannot read the counters of disk {disk} at the end of the run; the report omits it");
        (run.observer)(RunEvent::Diagnostic(Diagnostic::note(message).code("disk-left-out")));
    }
    RunResult { idleness, abandoned, ..result }
}

/// The jobs of a plan before they start, with their random seeds.
fn scheduled_jobs(plan: &Plan, options: &RunOptions) -> Vec<ScheduledJob> {
    let saves_all_states = options.trigger.as_ref().is_some_and(|trigger| trigger.saves_all_states);
    let scheduled = |job: &PlannedJob| {
        let is_saved = saves_all_states || job.spec.saves_state();
        let progress = if is_saved { WriteProgress::new(&job.spec).map(Arc::new) } else { None };
        let entropy = placement::entropy();
        debug_seeds(&job.spec, entropy);
        debug_pass(&job.spec);
        ScheduledJob { entropy, progress, ..ScheduledJob::default() }
    };
    plan.jobs.iter().map(scheduled).collect()
}

/// The threads that measure the CPUs' idleness. `observer` gets a note when there are none.
fn idle_threads(observer: &mut dyn FnMut(RunEvent<'_>)) -> Option<IdleThreads> {
    let report = |e| {
        let message = format!("the report has no CPU idleness: {e}");
        observer(RunEvent::Diagnostic(Diagnostic::note(message).code("no-cpu-idleness")));
    };
    IdleThreads::start().map_err(report).ok()
}

/// The clock of the run. `observer` gets a note when it is not the one that was asked for.
fn clock(
    source: Option<ClockSource>,
    calibration: ClockReading,
    observer: &mut dyn FnMut(RunEvent<'_>),
) -> Clock {
    if source == Some(ClockSource::Kernel) {
        return Clock::monotonic();
    }
    let clock = Clock::calibrate_since(calibration);
    if source == Some(ClockSource::Cpu) && clock.source() == TickSource::Monotonic {
        let message = "clocksource=cpu: the time stamp counter cannot be trusted here, clock_gettime is used";
        observer(RunEvent::Diagnostic(Diagnostic::note(message).code("clock-not-invariant")));
    }
    clock
}

impl Run<'_, '_> {
    /// The result of the run after `elapsed`.
    fn result(&self, mut jobs: Vec<JobResult>, elapsed: Duration) -> RunResult {
        for (index, steady) in self.monitor.steady_states() {
            jobs[index].steadystate = Some(steady);
        }
        RunResult {
            jobs,
            disks: self.disks.usage(elapsed.as_millis() as u64),
            started: self.start_time,
            elapsed,
            signal: self.signal,
            start_spread: self.start_spread(),
            clock: self.clock.source(),
            ..RunResult::default()
        }
    }

    /// How far apart jobs of one wave began their I/O. Those that run a command or wait for a peer before it are not
    /// meant to begin together.
    fn start_spread(&self) -> Option<Duration> {
        let jobs = self.wave_of.iter().zip(self.controls).zip(&self.plan.jobs);
        let together =
            jobs.filter(|(_, planned)| !planned.spec.life.runs_commands() && !planned.spec.engine.has_peer());
        let began = together.map(|((&wave, control), _)| (wave, control.running_since.load(Relaxed)));
        widest_start(self.waves, began, &self.clock)
    }

    fn fail_before_start(&mut self, index: usize, error: JobError) {
        if !self.repeats_failure(index) {
            (self.observer)(RunEvent::JobFailed {
                job: &self.plan.jobs[index].spec.name,
                pid: 0,
                error: &error,
            });
        }
        self.controls[index].set_state(JobState::Failed);
        self.finish(index, JobResult { error: Some(error), ..JobResult::default() });
    }

    /// True if a job of the same database has failed before: they share all files, so what fails in one fails in all.
    fn repeats_failure(&self, index: usize) -> bool {
        let load = |job: usize| {
            let part = self.plan.jobs[job].spec.events.as_ref()?;
            part.database().map(|_| part.load.id)
        };
        let has_failed =
            |job: usize| self.jobs[job].result.as_ref().is_some_and(|result| result.error.is_some());
        load(index).is_some_and(|id| (0..index).any(|job| load(job) == Some(id) && has_failed(job)))
    }

    /// Called when a job has ended, or will never start.
    fn finish(&mut self, index: usize, result: JobResult) {
        let job = &mut self.jobs[index];
        self.unstarted -= usize::from(!job.started);
        self.unfinished -= 1;
        self.event_groups.ended(index, &self.plan.jobs[index].spec, result.error.is_some());
        job.result = Some(result);
        self.end_load_only_jobs(index);
    }

    /// Does what is due for running jobs, then sleeps until a message comes, at most for `wake`, and handles the messages.
    fn handle_messages(&mut self, messages: &Receiver<Message>, wake: Duration) {
        let wake =
            wake.min(self.take_samples()).min(self.watch_trigger()).min(self.flows.poll(Instant::now()));
        let wake = wake.min(self.totals.poll(self.start_instant.elapsed(), &self.clock, self.controls));
        if self.options.progress && self.last_progress.elapsed() >= Duration::from_millis(240) {
            self.last_progress = Instant::now();
            (self.observer)(RunEvent::Progress(&self.monitor.progress(self.start_instant.elapsed())));
        }
        let wake = wake.min(self.collect_reports()).min(self.watch_stuck_jobs());
        // The main thread holds a sender itself, so the only error is that time is up.
        if let Ok(message) = messages.recv_timeout(wake) {
            self.handle(message);
        }
        // Workers may report errors faster than they can be shown: everything else has its turn too.
        messages.try_iter().take(QUEUE).for_each(|message| self.handle(message));
        // If the last job has ended, this is the last opportunity.
        self.report_if_complete();
    }

    /// Takes the samples that are due. Returns how long the main thread may sleep.
    ///
    /// Many calls find none due: each message of a job wakes the main thread.
    fn take_samples(&mut self) -> Duration {
        let now = Instant::now();
        if now < self.next_poll {
            return self.next_poll - now;
        }
        let wake = self.monitor.poll();
        self.next_poll = now + wake;
        wake
    }

    fn handle(&mut self, message: Message) {
        // A job may have ended by a signal.
        self.take_signals();
        match message {
            // The message only wakes the main thread.
            Message::Ready => {}
            Message::Diagnostics(all) => {
                all.into_iter().for_each(|one| (self.observer)(RunEvent::Diagnostic(one)))
            }
            // An abandoned job has ended after all, but its result is already recorded.
            Message::Ended { index, .. } if self.jobs[index].abandoned => {}
            Message::Ended { index, result, set_up } => {
                self.handle_job_end(index, *result);
                if set_up {
                    self.end_others(index);
                }
            }
            Message::Figures { index, snapshot } => self.take_figures(index, snapshot),
        }
    }

    /// Does what signals have asked for since the last call. Returns how many of them end the run.
    fn take_signals(&mut self) -> usize {
        let TakenRequests { ending, report, continued } = self.requests.take();
        if report {
            self.due_reports.want_status();
        }
        ending.iter().for_each(|&signal| self.terminate(signal));
        if continued {
            self.handle_sigcont();
        }
        ending.len()
    }
}
