//! What a job checks of the blocks of an earlier run: those that the verify state covers (`verify_state_load`), or all (`verify_only`).

use ferrio_verify::{CoverageEnd, WriteCoverage};
use ferrio_workload::Io;

use super::Verification;

impl Verification {
    /// Records a write of the workload that is left out (`verify_only`).
    ///
    /// # Errors
    /// The verify state says that neither this write nor any later one is to be checked.
    pub(crate) fn leave_out(&mut self, io: &Io) -> Result<(), CoverageEnd> {
        if let Some(WriteCoverage::Stop(why)) =
            self.coverage.as_ref().map(|coverage| coverage.of(self.number))
        {
            self.leaves_out_no_more = true;
            return Err(why);
        }
        if self.verifier.draws_seeds() {
            self.seeds.draw();
        }
        self.remember(io);
        self.number += 1;
        if let Some(progress) = &self.progress {
            progress.covers(self.number);
        }
        Ok(())
    }

    /// Records a read or trim of the workload that is left out (`verify_only`). No figure counts it, but its length counts towards the
    /// end of the pass, so that the job makes as many passes as one that does it.
    pub(crate) fn leave_out_other(&mut self, len: u64) {
        self.left_out += len;
    }

    /// Bytes of the reads and trims that were left out.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// True for a job that reads until the state says that no more was written.
    pub(crate) fn stops_reads(&self) -> bool {
        self.stops_reads
    }

    /// Why the job must stop reading, according to the verify state; `None` while it may go on.
    pub(crate) fn stop_read(&mut self) -> Option<CoverageEnd> {
        let coverage = self.coverage.as_ref().filter(|_| self.stops_reads())?;
        let WriteCoverage::Stop(why) = coverage.of(self.number) else { return None };
        self.stopped = Some(why);
        Some(why)
    }

    /// Why checking has stopped. `None` if it has not, and after the first call that returns a reason.
    pub(crate) fn take_stopped(&mut self) -> Option<CoverageEnd> {
        self.stopped.take()
    }

    /// True if another pass would check no block.
    pub(crate) fn is_over(&self) -> bool {
        self.leaves_out_no_more || (self.stops_reads() && self.stopped.is_some())
    }

    /// According to the verify state: true if this block is to be checked, false if it is to be skipped, and `None` if neither it nor any
    /// later block is to be checked.
    pub(super) fn covers_block(&mut self, number: u64) -> Option<bool> {
        match self.coverage.as_ref().map_or(WriteCoverage::Check, |coverage| coverage.of(number)) {
            WriteCoverage::Check => Some(true),
            WriteCoverage::Skip => Some(false),
            WriteCoverage::Stop(why) => {
                self.stopped = Some(why);
                None
            }
        }
    }
}
