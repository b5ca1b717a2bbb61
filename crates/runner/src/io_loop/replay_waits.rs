//! Waiting for the times of a replayed log, and for the log itself. Times count from the start, so a late I/O shortens the waits that follow it.

use std::time::Duration;

use ferrio_engine::Engine;

use super::IoLoop;
use crate::failure::Failure;

/// Time between two looks whether more of the log has been read.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

impl<E: Engine> IoLoop<'_, E> {
    /// Waits until the replay has run so long: since its first wait, which is for nothing. False when the job ends first.
    #[cold]
    #[inline(never)]
    pub(super) fn await_replay_time(&mut self, us: u64) -> bool {
        let clock = self.meter.clock;
        let Some(replay) = &mut self.hooks.replay else { return true };
        if us == 0 {
            replay.replay_began = Some(clock.now());
        }
        let began = *replay.replay_began.get_or_insert_with(|| clock.now());
        self.await_time(began, Duration::from_micros(us))
    }

    /// Waits until the program has run so long. False when the job ends first.
    #[cold]
    #[inline(never)]
    pub(super) fn await_program_time(&mut self, ms: u64) -> bool {
        let Some(replay) = &self.hooks.replay else { return true };
        let began = replay.program_began;
        self.await_time(began, Duration::from_millis(ms))
    }

    /// Waits a moment for more of the log. False when the job ends.
    #[cold]
    #[inline(never)]
    pub(super) fn await_log(&mut self) -> bool {
        let clock = self.meter.clock;
        self.reap_until(clock.now().saturating_add(clock.ticks(POLL_INTERVAL)));
        self.meter.now = clock.now();
        self.failure.is_none()
    }

    /// The failure of the reader of the log, if it stopped before the end and the job has done all steps. A reader that still has steps to hand
    /// over, or waits for its file, is not waited for.
    #[cold]
    pub(super) fn end_of_log(&mut self) -> Option<Failure> {
        if !self.files_finished {
            return None;
        }
        let reader = self.hooks.replay.as_mut()?.reader.take()?;
        reader.end().err()
    }

    /// Reaps what is in flight meanwhile.
    fn await_time(&mut self, began: u64, after: Duration) -> bool {
        self.meter.now = self.meter.clock.now();
        let Some(replay) = &mut self.hooks.replay else { return true };
        let due = began.saturating_add(replay.clock.ticks(self.meter.now, after));
        self.await_ticks(due)
    }

    /// Waits until the clock shows `due`. Reaps what is in flight meanwhile. False when the job ends first.
    pub(super) fn await_ticks(&mut self, due: u64) -> bool {
        let clock = self.meter.clock;
        loop {
            self.meter.now = clock.now();
            if self.meter.now >= due {
                return true;
            }
            let milestone = self.meter.timing.next_milestone();
            self.reap_until(due.min(milestone));
            self.meter.now = clock.now();
            if self.failure.is_some() || self.must_end() {
                return false;
            }
            if self.meter.now >= milestone && !self.pass_milestone() {
                return false;
            }
        }
    }
}
