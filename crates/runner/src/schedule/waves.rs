//! Waves of jobs: which jobs may start, the set-up of their workers, and the release of all that are set up together.

use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread::Builder;
use std::time::{Duration, Instant};

use ferrio_job::debug_class;
use ferrio_results::{JobError, RunEvent};
use ferrio_workload::startdelay;
use log::debug;

use super::state::Run;
use crate::context::{Context, Message};
use crate::gate::Gate;
use crate::worker_limits::AddressSpace;
use crate::{placement, registry, worker_limits};

/// Stack of a worker thread: the loop needs a few KB, a panic message somewhat more.
const WORKER_STACK: usize = 256 * 1024;

/// Time between two checks, at the end, whether the logs are written.
const LOG_CHECK_INTERVAL: Duration = Duration::from_millis(1);

impl<'a> Run<'a, '_> {
    /// Runs all jobs, then waits for the writer of their logs. Returns how long the jobs took.
    pub(super) fn run_waves(
        &mut self,
        sender: &SyncSender<Message>,
        queue: Receiver<Message>,
    ) -> (Duration, Receiver<Message>) {
        // Should the observer panic, the queue goes with it, so that no worker waits for room in it.
        let messages = &queue;
        // A signal during layout keeps the jobs from starting.
        self.take_signals();
        while let Ok(message) = messages.try_recv() {
            self.handle(message);
        }
        self.last_progress = Instant::now();
        loop {
            let mut wake = Duration::MAX;
            let wave = self.eligible(&mut wake);
            if !wave.is_empty() {
                self.start(&wave, sender, messages);
                continue;
            }
            if self.unfinished == 0 {
                break;
            }
            if self.begins_phase_with_delays(messages) {
                continue;
            }
            self.handle_messages(messages, wake);
        }
        let elapsed = self.start_instant.elapsed();
        // A signal still counts: the disk of the logs may never answer. No event follows: the report of the whole run follows.
        while !self.monitor.logs_are_over(self.signal.is_some()) {
            if let Ok(message) = messages.recv_timeout(LOG_CHECK_INTERVAL) {
                self.handle(message);
            }
        }
        self.join_ended();
        (elapsed, queue)
    }

    /// Runs the command of a trigger that has ended the run. A signal ends the command.
    pub(super) fn run_trigger_command(&mut self, messages: &Receiver<Message>) {
        let Some(trigger) = self.fired_trigger else { return };
        let (signals_end_it, group) = (self.compat.signals_end_waits, self.program_group);
        let signalled = || {
            if !signals_end_it {
                return false;
            }
            let signals = self.take_signals();
            messages.try_iter().for_each(|message| self.handle(message));
            signals > 0
        };
        if let Some(failed) = trigger.run_command(group, signalled) {
            (self.observer)(RunEvent::Diagnostic(failed));
        }
    }

    /// Waits for the threads of jobs that have ended: they may still free what the jobs had.
    fn join_ended(&mut self) {
        for job in self.jobs.iter_mut().filter(|job| job.result.is_some() && !job.abandoned) {
            if let Some(thread) = job.thread.take() {
                // Workers turn their panics into errors of their jobs.
                let _ = thread.join();
            }
        }
    }

    /// Jobs that may start now, in order. `wake` becomes the time until a start delay is over.
    fn eligible(&self, wake: &mut Duration) -> Vec<usize> {
        let mut wave = Vec::new();
        // Called after each message: a run of many jobs must not look at all of them each time.
        if self.unstarted == 0 {
            return wave;
        }
        let mut earlier_running = false;
        let elapsed = self.start_instant.elapsed();
        for (index, job) in self.jobs.iter().enumerate() {
            if job.result.is_some() {
                continue;
            }
            let spec = &self.plan.jobs[index].spec;
            if !job.started {
                if spec.stonewall && (earlier_running || !wave.is_empty()) {
                    // Later jobs wait for the wall too.
                    break;
                }
                let awaited = &self.jobs[spec.life.wait_for.clone()];
                let waits = awaited.iter().any(|job| job.result.is_none());
                let delay = startdelay(spec, job.entropy);
                match delay.checked_sub(elapsed).filter(|left| !left.is_zero()) {
                    Some(left) => *wake = (*wake).min(left),
                    // The end of the last job it waits for wakes main.
                    None if waits => {}
                    None => wave.push(index),
                }
            }
            earlier_running = true;
        }
        wave
    }

    /// Starts a wave of jobs and lets them go together once all are set up.
    fn start(&mut self, wave: &[usize], sender: &SyncSender<Message>, messages: &Receiver<Message>) {
        self.join_ended();
        self.pass_phases(wave, messages);
        let gate = Arc::new(Gate::default());
        // Open when this function returns, also by a panic of the observer.
        let closed = gate.close();
        self.requests.set_gate(&gate);
        if self.stop.load(Acquire) {
            gate.open();
        }
        let (mut waiting_for, mut advised) = (0, false);
        let running = self.jobs.iter().filter(|job| job.started && job.result.is_none()).count();
        let address_space = AddressSpace::new(self.jobs.len());
        for &index in wave {
            // While main waited for another job to be set up, something may have ended this one.
            if self.jobs[index].result.is_some() {
                continue;
            }
            let spec = &self.plan.jobs[index].spec;
            self.jobs[index].started = true;
            self.wave_of[index] = self.waves;
            self.unstarted -= 1;
            let context = self.context(index, &gate, sender, address_space);
            let name = placement::thread_name(spec.worker.comm.as_deref().unwrap_or(&spec.name));
            let thread = Builder::new().name(name).stack_size(WORKER_STACK);
            let spawn = |()| thread.spawn(move || registry::run(context));
            match address_space.for_worker(running + waiting_for).and_then(spawn) {
                Ok(spawned) => {
                    self.jobs[index].thread = Some(spawned);
                    debug!(target: debug_class::PROCESS, job = spec.number; "job {}: thread created", spec.number);
                    waiting_for += 1;
                    if address_space.is_limited() {
                        self.await_set_up(&gate, waiting_for, messages);
                    }
                }
                Err(e) => {
                    // Once: the others fail for the same reason.
                    worker_limits::advice(&e)
                        .filter(|_| !std::mem::replace(&mut advised, true))
                        .into_iter()
                        .for_each(|advice| (self.observer)(RunEvent::Diagnostic(advice)));
                    self.fail_before_start(index, JobError::from_io(&e, "thread create"));
                }
            }
        }
        self.waves += 1;
        self.await_set_up(&gate, waiting_for, messages);
        self.await_start(wave, messages);
        // Those of a wave join together. What a command before the I/O takes is not to hold others back.
        let joins = |&&index: &&usize| {
            self.jobs[index].result.is_none() && !self.plan.jobs[index].spec.life.runs_commands()
        };
        wave.iter().filter(joins).filter_map(|&index| self.flows.member(index)).for_each(|flow| flow.join());
        // The first samples of these jobs may be due before those of the others.
        self.next_poll = Instant::now();
        debug!(target: debug_class::PROCESS, "wave of {waiting_for} jobs released");
        if wave.iter().any(|&index| self.jobs[index].result.is_none()) {
            (self.observer)(RunEvent::Released);
        }
        closed.start();
        self.tell_start(wave);
        if gate.is_crowded() {
            self.await_first_ios(&gate, messages);
        }
    }

    /// The inputs of a job's worker.
    fn context(
        &mut self,
        index: usize,
        gate: &Arc<Gate>,
        sender: &SyncSender<Message>,
        address_space: AddressSpace,
    ) -> Context<'static> {
        let spec = &self.plan.jobs[index].spec;
        Context {
            index,
            spec,
            control: &self.controls[index],
            gate: Arc::clone(gate),
            messages: sender.clone(),
            clock: self.clock,
            run_began: self.clock_began,
            log: self.options.logs.clone().filter(|_| spec.logs.any()),
            entropy: self.jobs[index].entropy,
            layout: self.jobs[index].layout.take(),
            flow: self.flows.member(index).cloned(),
            events: self.event_groups.of(index),
            ramp: self.ramps[index].clone(),
            state_dir: self.state_dir,
            progress: self.jobs[index].progress.clone(),
            coverage: self.jobs[index].coverage.take(),
            locks: self.locks[index].clone(),
            zones: self.jobs[index].zones.take(),
            cgroups: self.cgroups,
            memory_limit: self.memory_limit,
            address_space,
            program_group: self.program_group,
            nice: self.nice,
            overlaps: self.overlaps.clone().filter(|_| spec.offload && spec.serialize_overlap),
        }
    }

    /// Waits until this many jobs of a wave are set up. Jobs of earlier waves run meanwhile.
    fn await_set_up(&mut self, gate: &Gate, members: usize, messages: &Receiver<Message>) {
        gate.expect(members);
        while !gate.all_arrived() && !self.deadline.is_over() {
            self.handle_messages(messages, Duration::MAX);
        }
    }

    /// Waits until all jobs of a wave have begun their I/O, but not for long.
    fn await_first_ios(&mut self, gate: &Gate, messages: &Receiver<Message>) {
        let until = Instant::now() + gate.first_io_timeout();
        while !gate.all_begun() {
            let Some(left) = until.checked_duration_since(Instant::now()) else { return };
            self.handle_messages(messages, left);
        }
    }
}
