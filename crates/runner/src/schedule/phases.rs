//! The common start of the phases of a run on many hosts.

use std::sync::atomic::Ordering::Acquire;
use std::sync::mpsc::Receiver;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use super::state::Run;
use crate::context::Message;
use crate::start_line::{StartLine, phase_of};

/// How long the word about the start of a phase is awaited between two looks at the jobs. None of them does I/O meanwhile, unless it was told
/// to run on.
const WORD_INTERVAL: Duration = Duration::from_millis(100);

/// Twice this before a start, looks at the jobs end.
const START_INTERVAL: Duration = Duration::from_millis(1);

impl<'a> Run<'a, '_> {
    /// Waits for the common start, if this wave begins a phase of a run on many hosts. A signal ends the wait.
    pub(super) fn await_start(&mut self, wave: &[usize], messages: &Receiver<Message>) {
        let Some((line, phase)) = self.new_phase(wave) else { return };
        let Some(start) = self.await_word(line, phase, wave, messages) else { return };
        while let Some(left) = start.checked_duration_since(Instant::now())
            && !self.is_over(wave)
        {
            // The last wait is not for messages, each of which takes time.
            match left.checked_sub(2 * START_INTERVAL) {
                Some(early) => self.handle_messages(messages, early.max(START_INTERVAL)),
                None => sleep(left),
            }
        }
        self.take_time(phase);
    }

    /// Says that a phase has begun.
    pub(super) fn tell_start(&mut self, wave: &[usize]) {
        if let Some((line, phase)) = self.new_phase(wave) {
            line.began(phase, Instant::now());
            self.begun_phases = phase + 1;
        }
    }

    /// Goes with the other hosts through the phases before that of the wave in which this host has no jobs.
    pub(super) fn pass_phases(&mut self, wave: &[usize], messages: &Receiver<Message>) {
        while let Some((line, phase)) = self.new_phase(wave)
            && self.begun_phases < phase
            && self.await_word(line, self.begun_phases, wave, messages).is_some()
        {
            self.take_time(self.begun_phases);
            self.begun_phases += 1;
        }
    }

    /// Begins the next phase if all of its jobs here have a start delay, which counts from the common start. False if there is none.
    pub(super) fn begins_phase_with_delays(&mut self, messages: &Receiver<Message>) -> bool {
        let is_running = |run: &Self| run.jobs.iter().any(|job| job.started && job.result.is_none());
        let next = |run: &Self| run.jobs.iter().position(|job| !job.started && job.result.is_none());
        if self.options.start_line.is_none() || is_running(self) {
            return false;
        }
        let Some(next) = next(self) else { return false };
        let Some((_, phase)) = self.new_phase(&[next]) else { return false };
        self.pass_phases(&[next], messages);
        self.await_start(&[next], messages);
        self.begun_phases = phase + 1;
        true
    }

    /// Says that this host is ready for a phase, and waits until the moment of its start is known; `None` if the wave ends before.
    fn await_word(
        &mut self,
        line: &dyn StartLine,
        phase: u32,
        wave: &[usize],
        messages: &Receiver<Message>,
    ) -> Option<Instant> {
        line.ready(phase);
        loop {
            if self.is_over(wave) {
                return None;
            }
            if let Some(start) = line.start_of(phase, WORD_INTERVAL) {
                return Some(start);
            }
            self.take_time(phase);
            self.handle_messages(messages, Duration::ZERO);
        }
    }

    /// A signal, a trigger or the observer ends all jobs of the wave, or each has failed.
    fn is_over(&self, wave: &[usize]) -> bool {
        let ends =
            |&index: &usize| self.jobs[index].result.is_some() || self.controls[index].stop_requested();
        self.stop.load(Acquire) || wave.iter().all(ends)
    }

    /// The run begins with its first phase: what came before, such as the wait for other hosts, is not part of its time.
    fn take_time(&mut self, phase: u32) {
        if phase == 0 {
            self.start_instant = Instant::now();
            self.start_time = SystemTime::now();
        }
    }

    /// The phase that a wave begins, and who says when.
    fn new_phase(&self, wave: &[usize]) -> Option<(&'a dyn StartLine, u32)> {
        let phase = phase_of(self.plan, *wave.first()?);
        Some((self.options.start_line.as_deref()?, phase)).filter(|_| phase >= self.begun_phases)
    }
}
