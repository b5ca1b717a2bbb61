//! Waiting for the times of a replayed log. Times count from the start, so a late I/O shortens the waits that follow it.

use std::time::Duration;

use ferrio_engine::Engine;
use ferrio_workload::Moment;

use super::IoLoop;

impl<E: Engine> IoLoop<'_, E> {
    /// Waits until `moment`, a time in the log, and reaps what is in flight meanwhile. False when the job ends first.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_for_moment(&mut self, moment: Moment) -> bool {
        let clock = self.meter.clock;
        let Some(replay) = &mut self.hooks.replay else { return true };
        let (began, after) = match moment {
            Moment::OfReplay { us } => {
                (*replay.replay_began.get_or_insert_with(|| clock.now()), Duration::from_micros(us))
            }
            Moment::OfProgram { ms } => (replay.program_began, Duration::from_millis(ms)),
        };
        let due = began.saturating_add(clock.ticks(after));
        loop {
            self.meter.now = clock.now();
            if self.meter.now >= due {
                return true;
            }
            let milestone = self.meter.timing.next_milestone();
            self.reap_until(due.min(milestone));
            self.meter.now = clock.now();
            if self.failure.is_some() || self.stopped() {
                return false;
            }
            if self.meter.now >= milestone && !self.pass_milestone() {
                return false;
            }
        }
    }
}
