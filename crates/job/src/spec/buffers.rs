//! Memory that the contents of buffers take.

use super::JobSpec;
use crate::{Direction, Generator};

impl JobSpec {
    /// Buffers in the working set of `dedupe_mode=working_set`, at least 1; 0 for a job without one.
    #[must_use]
    pub fn working_set_blocks(&self) -> u64 {
        let Some(set) = self.buffer.dedupe.as_ref().and_then(|dedupe| dedupe.working_set.as_ref()) else {
            return 0;
        };
        let size = set.size.unwrap_or(self.limits.size);
        let part = u128::from(size) * u128::from(set.percent) / 100;
        let blocks = part / u128::from(self.block[Direction::Write].min.max(1));
        u64::try_from(blocks).unwrap_or(u64::MAX).max(1)
    }

    /// Bytes of memory that the working set takes: one generator for each of its buffers.
    #[must_use]
    pub fn working_set_memory(&self) -> u64 {
        let state = match self.generator {
            Generator::Tausworthe32 => 12,
            Generator::Tausworthe64 => 40,
        };
        self.working_set_blocks().saturating_mul(state)
    }
}
