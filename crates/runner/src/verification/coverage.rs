//! The part of the blocks of an earlier run that a job checks: those that the verify state covers (`verify_state_load`), or all
//! (`verify_only`).

use ferrio_verify::{CoverageEnd, WriteCoverage};
use ferrio_workload::Io;

use super::Verification;

impl Verification {
    /// Records a write of the workload that is left out (`verify_only`).
    ///
    /// # Errors
    /// The verify state says that neither this write nor any later one is to be checked.
    pub(crate) fn leave_out(&mut self, io: &Io) -> Result<(), CoverageEnd> {
        if let Some(coverage) = &self.coverage
            && let WriteCoverage::Stop(why) = coverage.of(self.number)
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

    /// The reason to stop reading, according to the verify state; `None` while the job may go on.
    pub(crate) fn stop_read(&mut self) -> Option<CoverageEnd> {
        let coverage = self.coverage.as_ref().filter(|_| self.stops_reads)?;
        let WriteCoverage::Stop(why) = coverage.of(self.number) else { return None };
        self.stopped = Some(why);
        Some(why)
    }

    /// True if another pass would check no block.
    pub(crate) fn is_over(&self) -> bool {
        self.leaves_out_no_more || (self.stops_reads && self.stopped.is_some())
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
