//! The jobs of a database model: transactions of sessions, write-back by background jobs, and the waits of these jobs for each other.
//!
//! A waiting job is woken by another one. Every 20 ms it checks whether it has to end or to send its figures.

use std::thread::park_timeout;
use std::time::Duration;

use ferrio_engine::Engine;
use ferrio_job::{Direction, TransactionStep};
use ferrio_workload::{BackgroundWork, CommitTurn, SharedDatabase, Step, SyncKind};

use nix::time::{ClockId, clock_gettime};

use super::IoLoop;
use crate::database::StepTimes;
use crate::events::EventGroup;
use crate::waiting::spin_until;

/// Longest sleep before a waiting job checks again whether it must end.
const MAX_SLEEP: Duration = Duration::from_millis(20);

/// Longest time on a CPU before a computing job checks again whether it must end, and how much of the CPU it has used.
const MAX_SPIN: Duration = Duration::from_micros(50);

/// CPU time of this thread.
fn thread_cpu_ns() -> u64 {
    // The clock exists in every Linux; without it, nothing would ever be used up.
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map_or(u64::MAX, |time| u64::try_from(Duration::from(time).as_nanos()).unwrap_or(u64::MAX))
}

impl<'a, E: Engine> IoLoop<'a, E> {
    /// Does one transaction. `began` is its start, or its arrival if it had to queue (clock ticks). False when the pass is over.
    pub(super) fn perform_transaction(&mut self, began: u64) -> bool {
        let clock = self.meter.clock;
        self.meter.now = clock.now();
        let now = self.meter.now;
        self.update_step_times(|times| times.begin(now));
        let computing = self.database_membership().map(|(_, database, _)| database);
        let (cpu_began, of_background) = computing
            .filter(|database| database.uses_cpu())
            .map_or((0, 0), |database| (thread_cpu_ns(), database.take_background_cpu()));
        loop {
            let step = self.workload.next();
            self.enter_step(&step);
            let goes_on = match step {
                Step::EventEnd => break,
                Step::Compute { ns } => {
                    self.compute(cpu_began.saturating_add(ns.saturating_sub(of_background)))
                }
                Step::Commit => self.commit(),
                Step::AwaitWriteBack => self.await_write_back(),
                step => self.perform(step),
            };
            self.await_slot();
            if !goes_on || self.failure.is_some() || self.context.control.stop_requested() {
                return false;
            }
        }
        self.meter.now = clock.now();
        let now = self.meter.now;
        self.update_step_times(|times| times.finish(&clock, now));
        if let Some(events) = &mut self.hooks.events {
            events.record(clock.between(began, now));
            self.context.control.live.store_events(events.done());
        }
        true
    }

    /// Does one step of a background job. False when the pass is over.
    pub(super) fn perform_in_background(&mut self) -> bool {
        match self.workload.next() {
            Step::AwaitWork => return self.await_work(),
            Step::Sync { file, kind } => {
                self.drain();
                return self.sync_now(file, kind);
            }
            Step::WrittenBack { count } => {
                self.drain();
                self.count_background_cpu();
                if let Some(events) = self.hooks.events.as_ref().filter(|_| self.failure.is_none()) {
                    events.written_back(count);
                }
            }
            step => return self.perform(step),
        }
        true
    }

    /// Counts the CPU time of a background job since its last batch for the transactions whose changes it writes back.
    fn count_background_cpu(&mut self) {
        let Some((_, database, _)) =
            self.database_membership().filter(|(_, database, _)| database.uses_cpu())
        else {
            return;
        };
        if let Some(job) = self.hooks.events.as_mut().and_then(|events| events.database_job()) {
            database.add_background_cpu(job.cpu_since(thread_cpu_ns()));
        }
    }

    /// Begins the part of the transaction that `step` belongs to, if it has not begun.
    fn enter_step(&mut self, step: &Step) {
        let next = match step {
            Step::Io(io) if io.direction == Direction::Read => TransactionStep::Read,
            Step::Io(_) => TransactionStep::LogWrite,
            Step::Compute { .. } => TransactionStep::Compute,
            Step::Commit => TransactionStep::Sync,
            Step::AwaitWriteBack => TransactionStep::WriteBackWait,
            _ => return,
        };
        // If every I/O reads the clock, the last reading is the end of the last I/O.
        let (clock, stamped) = (self.meter.clock, self.meter.stamps_all.then_some(self.meter.now));
        self.update_step_times(|times| {
            if times.present() != next {
                times.enter(next, stamped.unwrap_or_else(|| clock.now()));
            }
        });
    }

    /// Updates the step times of a session; does nothing for other jobs.
    fn update_step_times(&mut self, update: impl FnOnce(&mut StepTimes)) {
        if let Some(times) = self.hooks.events.as_mut().and_then(|events| events.times()) {
            update(times);
        }
    }

    /// Keeps the CPU busy until this thread has used it for `until` ns: what it waits for a CPU does not count. False when the job ends
    /// first.
    fn compute(&mut self, until: u64) -> bool {
        let clock = self.meter.clock;
        loop {
            let left = until.saturating_sub(thread_cpu_ns());
            if left == 0 {
                return true;
            }
            let spin = clock.ticks(MAX_SPIN.min(Duration::from_nanos(left)));
            spin_until(&clock, clock.now().saturating_add(spin), self.context.control);
            if !self.wait_until(0) {
                return false;
            }
        }
    }

    /// Waits until the log entries of the transaction are durable. If no other session is syncing the log, this one does, for all
    /// transactions that wait. False when the job ends first.
    fn commit(&mut self) -> bool {
        self.drain();
        let Some((group, database, thread)) = self.database_membership() else { return false };
        let Some(kind) = database.commit_sync().filter(|_| self.failure.is_none()) else { return true };
        let commits = database.commits();
        let wake = |thread| group.threads.wake(thread);
        let ticket = commits.arrive(thread);
        loop {
            match commits.turn(ticket) {
                CommitTurn::Durable => {
                    self.meter.now = self.meter.clock.now();
                    return true;
                }
                CommitTurn::Sync(upto) => {
                    if !self.sync_now(database.parameters().log_file(), kind) {
                        // Nobody knows what is durable.
                        group.end();
                        return false;
                    }
                    commits.synced(upto, &wake);
                }
                CommitTurn::Wait => {
                    if !self.wait_until(u64::MAX) {
                        commits.leave(ticket, &wake);
                        return false;
                    }
                }
            }
        }
    }

    /// Waits while too many changes are not written back. False when the job ends first.
    fn await_write_back(&mut self) -> bool {
        let Some((group, database, thread)) = self.database_membership() else { return false };
        database.wake_background(&|thread| group.threads.wake(thread));
        if database.must_wait(thread) {
            while database.waits(thread) {
                if !self.wait_until(u64::MAX) {
                    database.leave(thread);
                    return false;
                }
            }
        }
        true
    }

    /// Waits until the background job has work. False when the job ends first.
    fn await_work(&mut self) -> bool {
        let clock = self.meter.clock;
        loop {
            self.meter.now = clock.now();
            let Some(events) = &self.hooks.events else { return false };
            let began = events.load_began(self.meter.now);
            let due = match self.workload.work(clock.between(began, self.meter.now)) {
                BackgroundWork::Ready => return true,
                BackgroundWork::End => {
                    self.files_finished = true;
                    return false;
                }
                BackgroundWork::Wait(None) => u64::MAX,
                BackgroundWork::Wait(Some(ns)) => began.saturating_add(clock.ticks(Duration::from_nanos(ns))),
            };
            if !self.wait_until(due) {
                return false;
            }
        }
    }

    /// The jobs of the load, their shared state, and this job's number among them; `None` if the job belongs to no database model.
    fn database_membership(&self) -> Option<(&'a EventGroup, &'a SharedDatabase, u32)> {
        let group = self.context.events.as_deref()?;
        Some((group, group.events.database()?, self.spec.events.as_ref()?.thread))
    }

    /// Sleeps until the job is woken, until `due` (clock ticks), or for a short while. False when the job ends.
    fn wait_until(&mut self, due: u64) -> bool {
        let (clock, milestone) = (self.meter.clock, self.meter.timing.next_milestone());
        let left = clock.between(clock.now(), due.min(milestone));
        if left > 0 && !self.context.control.wants_something() {
            park_timeout(MAX_SLEEP.min(Duration::from_nanos(left)));
        }
        self.meter.now = clock.now();
        if self.failure.is_some() || self.must_end() {
            return false;
        }
        if self.hooks.events.as_ref().is_some_and(|events| events.group.events.has_ended()) {
            return false;
        }
        self.meter.now < milestone || self.pass_milestone()
    }

    /// Syncs a file and waits for the sync to complete. False if it fails.
    fn sync_now(&mut self, file: u32, kind: SyncKind) -> bool {
        if self.failure.is_none() {
            self.issue_sync(file, kind);
            self.drain();
        }
        let synced = self.failure.is_none();
        if let Some(events) = self.hooks.events.as_mut().filter(|_| synced) {
            events.synced(file);
        }
        synced
    }
}
