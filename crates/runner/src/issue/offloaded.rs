//! What is different when threads of the engine do the I/O: the engine knows when each request ran.

use ferrio_engine::{Completion, Engine, Ran};

use super::{Issuer, Stamps, is_data};

impl<E: Engine> Issuer<'_, E> {
    /// Completes a request that ran in a thread of the engine's own, and ended before it was reaped.
    #[cold]
    #[inline(never)]
    pub(super) fn complete_as(&mut self, completion: Completion, ran: Ran) {
        if self.stamps == Stamps::Rare {
            return self.complete(completion);
        }
        let reaped = self.now;
        let unit = &mut self.units[completion.unit as usize];
        unit.issued = reaped.saturating_sub(self.clock.ticks(ran.began_ago)).max(unit.start);
        if self.spec.measure.slat && is_data(unit.request.op) {
            let slat = self.clock.between(unit.start, unit.issued);
            self.directions[unit.direction].record_submission(slat);
        }
        self.now = reaped.saturating_sub(self.clock.ticks(ran.ended_ago)).max(unit.issued);
        self.complete(completion);
        self.now = reaped;
    }
}
