//! Reports about a damaged block: fio's messages, the files of `verify_dump`, and a description of the block.

use ferrio_verify::{BlockMismatch, Damage, DamageEvidence, DrawnSeeds, Dump, IntervalFailure};

use super::Verification;

/// The flags of an I/O in fio's messages: the job checks it itself.
const FLAG_IN_FLIGHT: u32 = 0x08;
/// A thread of `verify_async` checks it.
const FLAG_WITH_THREAD: u32 = 0x04;
/// It reads a block from the list of blocks that the job wrote.
const FLAG_READ_BACK: u32 = 0x80;

/// How many seeds are drawn to explain a damaged block if the job does not know how many blocks were written.
const READ_SEEDS: u64 = 1 << 16;

impl Verification {
    /// The files of `verify_dump` for a failure in a block.
    pub(crate) fn dumps_of(
        &self,
        block: &[u8],
        mismatch: &BlockMismatch,
        failure: &IntervalFailure,
    ) -> Vec<Dump> {
        self.verifier.dumps(block, mismatch, failure, |block, seed| self.body.fill(block, seed))
    }

    /// Describes a block that unit `unit` read and that failed its check.
    pub(crate) fn explain(&mut self, unit: u32, block: &[u8], mismatch: &BlockMismatch) -> Damage {
        self.draw_again();
        self.verifier.explain(&DamageEvidence {
            block,
            mismatch,
            expected: self.units.expected(unit),
            is_own: self.checks_own_writes,
            overwrites: self.overwrites,
            fill: &|block, seed| self.body.fill(block, seed),
            drawn: &self.drawn,
        })
    }

    /// Draws the seeds of the pass again, at least up to the last write.
    fn draw_again(&mut self) {
        let (seeds, first) = &self.pass;
        // A job that only reads does not know how many writes there were. If the writer had the same seeds, they show which write a
        // piece without a header comes from.
        let writes = if self.checks_own_writes { self.number - first } else { READ_SEEDS };
        let writes = usize::try_from(writes).unwrap_or(DrawnSeeds::MAX_LEN).min(DrawnSeeds::MAX_LEN);
        if self.verifier.draws_seeds() && (self.drawn.len() < writes || self.drawn.is_empty()) {
            let (mut seeds, first) = (seeds.clone(), *first);
            let more = std::iter::repeat_with(move || seeds.draw());
            let drawn = DrawnSeeds::new(first, more.take(writes.next_power_of_two()));
            self.drawn = if first > 0 { drawn.of_repeated_pass() } else { drawn };
        }
    }

    /// The flags that fio's messages show for a read. `by_thread`: a thread of `verify_async` has checked it.
    pub(crate) fn flags(&self, by_thread: bool) -> u32 {
        let place = if by_thread { FLAG_WITH_THREAD } else { FLAG_IN_FLIGHT };
        if self.checks_reads { place } else { place | FLAG_READ_BACK }
    }
}
