//! The main thread of a run: set-up in job order, then waves of jobs as stonewalls and start delays allow, until all have ended.
//!
//! Main sleeps in one place, on the message queue: workers, signals and the sampling timer all wake it there.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed},
};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant, SystemTime};

use ferrio_plan::{JobSpec, Plan};
use ferrio_stats::Clock;
use ferrio_workload::{LayoutContent, SEEDS, startdelay};
use log::debug;

use crate::control::{Gate, JobControl, Opener};
use crate::disk::Disks;
use crate::event::{Event, JobState};
use crate::failure::Failure;
use crate::logs::LogSender;
use crate::monitor::Monitor;
use crate::result::{JobError, JobResult, RunResult};
use crate::trigger::Trigger;
use crate::worker::{Context, Message};
use crate::{layout, place, registry, signals};

/// Stack of a worker thread: the loop needs a few KB, a panic message somewhat more.
const WORKER_STACK: usize = 256 * 1024;

/// What the caller wants beside the result.
#[derive(Debug, Default)]
pub struct RunOptions {
    /// Send [`Event::Progress`] while jobs run.
    pub progress: bool,
    /// Where log rows go.
    pub logs: Option<LogSender>,
    /// What else ends the run.
    pub trigger: Option<Trigger>,
}

/// Runs the plan to its end. `observer` is told what happens, on the calling thread.
///
/// SIGINT and SIGTERM end the run early and stay blocked in the calling thread afterwards, so that the report can be written.
pub fn run(plan: &Plan, options: &RunOptions, observer: &mut dyn FnMut(Event<'_>)) -> RunResult {
    let (sender, messages) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    if let Err(e) = signals::watch(sender.clone(), Arc::clone(&stop)) {
        observer(Event::Note(format!(
            "signals cannot be watched ({e}): Ctrl-C will end the run without a report"
        )));
    }
    let clock = Clock::calibrate();
    debug!(target: "time", "clock {:?}, {} ns in a million ticks", clock.source(), clock.ns(1_000_000));
    let controls: Vec<JobControl> = plan.jobs.iter().map(|job| JobControl::new(job.spec.number)).collect();
    let threads = plan.jobs.iter().filter(|j| j.spec.thread).count();
    observer(Event::Starting { threads, processes: plan.jobs.len() - threads });
    let jobs = plan.jobs.iter().map(|_| Job { entropy: place::entropy(), ..Job::default() }).collect();
    let mut run = Run {
        plan,
        observer,
        clock,
        controls: &controls,
        stop: &stop,
        jobs,
        signal: None,
        ready: 0,
        monitor: Monitor::new(plan, &controls, clock, options.logs.clone()),
        logs: options.logs.clone(),
        progress: options.progress,
        last_progress: Instant::now(),
        began: Instant::now(),
    };
    run.set_up();
    let disks = Disks::find(plan);
    let started = SystemTime::now();
    run.began = Instant::now();
    std::thread::scope(|scope| run.run_waves(scope, &sender, &messages));
    let elapsed = run.began.elapsed();
    let Run { jobs, signal, .. } = run;
    RunResult {
        jobs: jobs.into_iter().map(|job| job.result.unwrap_or_default()).collect(),
        disks: disks.usage(elapsed.as_millis() as u64),
        started,
        elapsed,
        signal,
    }
}

/// Where a job stands.
#[derive(Debug, Default)]
struct Job {
    started: bool,
    /// Present once the job has ended, or will never start.
    result: Option<JobResult>,
    layout: Option<LayoutContent>,
    entropy: [u64; SEEDS],
}

struct Run<'a, 'o> {
    plan: &'a Plan,
    observer: &'o mut dyn FnMut(Event<'_>),
    clock: Clock,
    controls: &'a [JobControl],
    stop: &'a AtomicBool,
    jobs: Vec<Job>,
    signal: Option<i32>,
    /// Jobs of the wave that are set up.
    ready: usize,
    monitor: Monitor<'a>,
    logs: Option<LogSender>,
    progress: bool,
    last_progress: Instant,
    began: Instant,
}

impl<'a> Run<'a, '_> {
    /// Refuses what the plan could not set up and lays files out, job by job.
    fn set_up(&mut self) {
        for index in 0..self.jobs.len() {
            let planned = &self.plan.jobs[index];
            tell_files(&planned.spec);
            if let Some(error) = &planned.setup_error {
                (self.observer)(Event::Note(error.message.clone()));
                self.fail_before_start(index, JobError::new(error.errno, error.func));
            } else if !self.stop.load(Acquire) {
                self.lay_out(index, &planned.spec);
            }
        }
    }

    fn lay_out(&mut self, index: usize, spec: &JobSpec) {
        let (files, bytes) = layout::pending(spec);
        if files > 0 && !spec.readonly {
            (self.observer)(Event::LayingOut { job: &spec.name, files, bytes });
        }
        if !spec.create_serialize {
            return;
        }
        self.controls[index].set_state(JobState::SettingUp);
        let mut content = LayoutContent::new(spec, self.jobs[index].entropy);
        let observer = &mut *self.observer;
        let done = layout::lay_out(spec, &mut content, self.stop, &mut |line| observer(Event::Note(line)));
        self.controls[index].set_state(JobState::NotCreated);
        match done {
            Ok(_) => self.jobs[index].layout = Some(content),
            Err(Failure { error, notes }) => {
                notes.into_iter().for_each(|line| (self.observer)(Event::Note(line)));
                self.fail_before_start(index, error);
            }
        }
    }

    fn fail_before_start(&mut self, index: usize, error: JobError) {
        (self.observer)(Event::JobFailed { job: &self.plan.jobs[index].spec.name, pid: 0, error: &error });
        self.controls[index].set_state(JobState::Failed);
        self.jobs[index].result = Some(JobResult { error: Some(error), ..JobResult::default() });
    }

    fn run_waves<'scope, 'env: 'scope>(
        &mut self,
        scope: &'scope Scope<'scope, 'env>,
        sender: &Sender<Message>,
        messages: &Receiver<Message>,
    ) where
        'a: 'scope,
    {
        // A signal during layout is still in the queue.
        while let Ok(message) = messages.try_recv() {
            self.handle(message);
        }
        self.last_progress = Instant::now();
        loop {
            let mut wake = Duration::MAX;
            let wave = self.eligible(&mut wake);
            if !wave.is_empty() {
                self.start(scope, &wave, sender, messages);
                continue;
            }
            if self.jobs.iter().all(|job| job.result.is_some()) {
                return;
            }
            self.attend(messages, wake);
        }
    }

    /// Looks after running jobs, then sleeps until a message comes, at most for `wake`, and handles what came.
    fn attend(&mut self, messages: &Receiver<Message>, wake: Duration) {
        let wake = wake.min(self.monitor.look());
        if self.progress && self.last_progress.elapsed() >= Duration::from_millis(240) {
            self.last_progress = Instant::now();
            (self.observer)(Event::Progress(&self.monitor.progress(self.began.elapsed())));
        }
        // Main holds a sender itself, so the only error is that time is up.
        if let Ok(message) = messages.recv_timeout(wake) {
            self.handle(message);
        }
        while let Ok(message) = messages.try_recv() {
            self.handle(message);
        }
    }

    /// Jobs that may start now, in order. `wake` becomes the time until a start delay is over.
    fn eligible(&self, wake: &mut Duration) -> Vec<usize> {
        let mut wave = Vec::new();
        let mut earlier_running = false;
        let elapsed = self.began.elapsed();
        for (index, job) in self.jobs.iter().enumerate() {
            if job.result.is_some() {
                continue;
            }
            let spec = &self.plan.jobs[index].spec;
            if !job.started {
                if spec.stonewall && (earlier_running || !wave.is_empty()) {
                    // Later jobs wait behind the wall too.
                    break;
                }
                let delay = startdelay(spec, job.entropy);
                match delay.checked_sub(elapsed).filter(|left| !left.is_zero()) {
                    Some(left) => *wake = (*wake).min(left),
                    None => wave.push(index),
                }
            }
            earlier_running = true;
        }
        wave
    }

    /// Starts a wave of jobs and lets them go together once all are set up.
    fn start<'scope, 'env: 'scope>(
        &mut self,
        scope: &'scope Scope<'scope, 'env>,
        wave: &[usize],
        sender: &Sender<Message>,
        messages: &Receiver<Message>,
    ) where
        'a: 'scope,
    {
        let gate = Arc::new(Gate::default());
        // Opened when this function returns, also by a panic of the observer: the scope waits for workers, and they for the gate.
        let _opener = Opener(&gate);
        self.ready = 0;
        let mut waiting_for = 0;
        for &index in wave {
            let spec = &self.plan.jobs[index].spec;
            self.jobs[index].started = true;
            let per_io_log = spec.logs.lat.is_some() || (spec.logs.avg_msec == 0 && spec.logs.any());
            let context = Context {
                index,
                spec,
                control: &self.controls[index],
                gate: Arc::clone(&gate),
                messages: sender.clone(),
                clock: self.clock,
                run_stop: self.stop,
                log: self.logs.clone().filter(|_| per_io_log),
                entropy: self.jobs[index].entropy,
                layout: self.jobs[index].layout.take(),
            };
            let name = spec.name.chars().take(15).filter(|c| *c != '\0').collect();
            let thread = Builder::new().name(name).stack_size(WORKER_STACK);
            match thread.spawn_scoped(scope, move || registry::run(context)) {
                Ok(_) => {
                    debug!(target: "process", job = spec.number; "job {}: thread created", spec.number);
                    waiting_for += 1;
                }
                Err(e) => self.fail_before_start(index, JobError::from_io(&e, "thread create")),
            }
        }
        while self.ready < waiting_for {
            // Jobs of earlier waves run meanwhile.
            self.attend(messages, Duration::MAX);
        }
        debug!(target: "process", "wave of {waiting_for} jobs released");
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Ready => self.ready += 1,
            Message::Note(line) => (self.observer)(Event::Note(line)),
            Message::Mismatch(lines) => (self.observer)(Event::Mismatch(lines)),
            Message::IoError(line) => (self.observer)(Event::IoError(line)),
            Message::Ended(index, result) => self.ended(index, *result),
            Message::Signal(signal) => self.terminate(signal),
        }
    }

    fn ended(&mut self, index: usize, mut result: JobResult) {
        self.monitor.ended(index, &mut result.stats);
        let state = if result.error.is_some() { JobState::Failed } else { JobState::Reaped };
        self.controls[index].set_state(state);
        if let Some(error) = &result.error {
            let job = &self.plan.jobs[index].spec.name;
            (self.observer)(Event::JobFailed { job, pid: result.pid, error });
        }
        self.jobs[index].result = Some(result);
    }

    /// Ends running jobs and cancels those that did not start.
    fn terminate(&mut self, signal: i32) {
        debug!(target: "process", "signal {signal}: all jobs end");
        (self.observer)(Event::Terminating { signal });
        self.signal.get_or_insert(signal);
        self.stop.store(true, Relaxed);
        self.controls.iter().for_each(JobControl::request_stop);
        for job in self.jobs.iter_mut().filter(|job| !job.started && job.result.is_none()) {
            job.result = Some(JobResult::default());
        }
    }
}

/// `--debug=file`: what the job will work on.
fn tell_files(spec: &JobSpec) {
    let job = spec.number;
    debug!(target: "file", job; "job {job}: {} files", spec.files.len());
    for file in &spec.files {
        debug!(
            target: "file", job;
            "add file {}: {:?}, off={:#x}, size={:#x}, {}",
            file.path.display(), file.kind, file.offset, file.size,
            if file.extend { "to be laid out" } else { "used as it is" }
        );
    }
}
