//! Jobs whose work is counted in events: each is admitted, done step by step, and timed as a whole.

use ferrio_engine::Engine;
use ferrio_job::{Direction, debug_class};
use ferrio_workload::{Admission, Step};
use log::info;

use super::IoLoop;
use crate::failure::Failure;

impl<E: Engine> IoLoop<'_, E> {
    /// Does one event. False when the pass is over.
    pub(super) fn perform_event(&mut self) -> bool {
        let clock = self.meter.clock;
        let Some(events) = &mut self.hooks.events else { return true };
        if events.is_in_background {
            return self.perform_in_background();
        }
        let now = clock.now();
        let began = match events.admit(&clock, now) {
            Admission::Now => now,
            Admission::At(arrival) => {
                if !self.await_ticks(arrival) {
                    return false;
                }
                arrival
            }
            Admission::End => {
                info!(target: debug_class::EVENTS, "Event limit exceeded, exiting...");
                self.files_finished = true;
                return false;
            }
            Admission::Done => {
                self.files_finished = true;
                return false;
            }
            Admission::Overrun => {
                let is_in_database = events.is_in_database();
                self.fail(match is_in_database {
                    true => {
                        let message = "transactions arrive faster than the sessions can do them: more than 131072 wait. \
                             Lower `transaction_rate` or raise `numjobs`";
                        Failure::new(libc::ENOBUFS, "transaction queue").note("event-queue-full", message)
                    }
                    false => {
                        let message = "events arrive faster than the jobs do them: more than 131072 wait; lower the rate or add threads";
                        Failure::new(libc::EOVERFLOW, "event queue").note("event-queue-full", message)
                    }
                });
                return false;
            }
        };
        if self.hooks.events.as_ref().is_some_and(|events| events.is_in_database()) {
            return self.perform_transaction(began);
        }
        let mut begins = true;
        loop {
            match self.workload.next() {
                Step::EventEnd => break,
                step => {
                    // A sync that belongs to a write is no request of its own.
                    if std::mem::take(&mut begins) {
                        self.trace(&step);
                    }
                    if !self.perform(step) || self.failure.is_some() {
                        return false;
                    }
                }
            }
            self.await_slot();
        }
        // Without work at the end of an I/O, the last reading of the clock is the one at its end.
        if !self.meter.stamps_all || self.hooks.at_end {
            self.meter.now = clock.now();
        }
        if let Some(events) = &mut self.hooks.events {
            events.record(clock.between(began, self.meter.now));
        }
        true
    }

    /// Shows a step that is about to be done, for a job that is traced.
    #[inline]
    fn trace(&self, step: &Step) {
        let Some(events) = &self.hooks.events else { return };
        match *step {
            Step::Io(io) => {
                events.trace(if io.direction == Direction::Read { 1 } else { 2 }, io.file, io.offset, io.len);
            }
            Step::Sync { file, .. } => events.trace(3, file, 0, 0),
            _ => {}
        }
    }

    /// A data I/O of an event is complete, and its unit is the first of the free ones.
    #[inline(never)]
    pub(super) fn event_io_completed(
        &mut self,
        direction: usize,
        unit: u32,
        file: u32,
        offset: u64,
        len: u64,
    ) {
        let Some(events) = &mut self.hooks.events else { return };
        let direction = Direction::ALL[direction];
        let compares = direction == Direction::Read && events.validates();
        let read = compares.then(|| &*self.buffers.fill(unit, len as usize));
        if let Err(failure) = events.completed(direction, file, offset, len, read) {
            self.fail(failure);
        }
    }

    /// Follows the last event of the job. If it failed, no other job of its load begins another event; otherwise the job may sync all files.
    #[inline(never)]
    pub(super) fn end_events(&mut self) {
        let Some(events) = &self.hooks.events else { return };
        if self.failure.is_some() {
            return events.group.end();
        }
        events.job_ended();
        if !self.files_finished && self.meter.timing.is_over(self.meter.now) {
            info!(target: debug_class::EVENTS, "Time limit exceeded, exiting...");
        }
        let Some(kind) = events.end_sync() else { return };
        for file in 0..self.spec.files.len() as u32 {
            if self.failure.is_some() || self.context.control.stop_requested() {
                break;
            }
            self.issue_sync(file, kind);
        }
        self.drain();
    }

    /// Waits until the next step of an event has a slot.
    pub(super) fn await_slot(&mut self) {
        while self.failure.is_none() && !self.slots.retry.is_empty() {
            self.submit_retry();
        }
        if self.failure.is_none() && self.slots.free.is_empty() {
            self.reap_full();
        }
    }
}
