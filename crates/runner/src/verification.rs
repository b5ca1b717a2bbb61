//! What a verifying job adds to its I/O: it prepares blocks before they are written, records them, chooses which are read back, and
//! checks what was read.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use ferrio_engine::LentSlot;
use ferrio_job::{Direction, JobSpec, VerifyPolicy};
use ferrio_verify::{
    Coverage, Covered, Damage, DrawnSeeds, Dump, Evidence, Expected, IntervalFailure, Mismatch, SeedReplay,
    Stamp, Uncovered, Verifier, VerifySpec, Written, WrittenList,
};
use ferrio_workload::{BlockBody, BlockSeeds, Io, SEEDS};

use crate::checkers::{Block, Checkers};
use crate::damage::DamageTally;
use crate::failure::Failure;
use crate::verify_state::WriteProgress;

/// fio's I/O flags in messages: in flight, or with a thread of `verify_async`; and taken from the list of written blocks.
const FLAG_IN_FLIGHT: u32 = 0x08;
const FLAG_WITH_THREAD: u32 = 0x04;
const FLAG_READ_BACK: u32 = 0x80;

/// Seeds that are drawn to explain a damaged block of a job that does not know how many blocks were written.
const READ_SEEDS: u64 = 1 << 16;

/// State of the verification of one job.
pub(crate) struct Verification {
    verifier: Arc<Verifier>,
    /// `verify_async`: they check what is read.
    pub(crate) checkers: Option<Checkers>,
    seeds: BlockSeeds,
    body: BlockBody,
    /// Writes issued so far; in a job that only reads, reads.
    number: u64,
    /// What the current pass wrote, if it is to be read back.
    written: Option<WrittenList>,
    /// The seeds and the number with which the pass began.
    pass: (BlockSeeds, u64),
    phase: Option<(SeedReplay, BlockSeeds)>,
    checks_reads: bool,
    /// False for engines that store no data: blocks are read back but not compared.
    holds_data: bool,
    /// What the header of the block that a unit reads must contain; for a block that it writes, the number.
    expected: Vec<Expected>,
    /// `verify_policy=fsynced`: only what was synced is read back.
    synced: Option<Synced>,
    /// What is saved of the writes, if it is.
    progress: Option<Arc<WriteProgress>>,
    /// `verify_state_load`: what had been written.
    coverage: Option<Arc<Coverage>>,
    /// Blocks that are not checked although they are read, per unit; empty unless a job that reads has a state.
    unchecked: Vec<bool>,
    /// Where checking stopped, by the state.
    stopped: Option<Uncovered>,
    /// `verify_dump`
    pub(crate) dumps: bool,
    /// The verify state lists failed writes apart from those in flight.
    lists_failures: bool,
    /// The job checks what it wrote itself, in this run.
    checks_own_writes: bool,
    /// The job may write to one place more than once.
    overwrites: bool,
    /// The seeds of the pass, made when a damaged block is explained.
    drawn: DrawnSeeds,
    /// The damaged blocks.
    pub(crate) damage: DamageTally,
}

/// How many writes syncs have covered.
struct Synced {
    number: u64,
    /// Writes issued before the sync of each unit.
    submitted: Vec<u64>,
}

impl Verification {
    /// `None` for a job that does not verify.
    pub(crate) fn new(
        spec: &JobSpec,
        entropy: [u64; SEEDS],
        progress: Option<Arc<WriteProgress>>,
        coverage: Option<Arc<Coverage>>,
    ) -> Result<Option<Box<Self>>, Failure> {
        let Some(verify) = &spec.verify else { return Ok(None) };
        let verifier = VerifySpec::of(spec, verify)
            .and_then(Verifier::new)
            .map_err(|e| Failure::new(libc::EINVAL, "verify").note("invalid-verify", e.to_string()))?;
        let verifier = Arc::new(verifier);
        let seeds = BlockSeeds::new(spec, entropy);
        let writes = spec.rw.does(Direction::Write);
        let holds_data = spec.engine.moves_data();
        let units = spec.units() as usize;
        let reads_back = writes && verify.read_back && !spec.limits.time_based;
        Ok(Some(Box::new(Verification {
            checkers: Checkers::start(spec, verify, &verifier)?,
            verifier,
            number: 0,
            written: reads_back.then(|| WrittenList::new(spec.may_overwrite())),
            pass: (seeds.clone(), 0),
            seeds,
            body: BlockBody::new(spec),
            phase: None,
            checks_reads: !writes && spec.rw.does(Direction::Read) && holds_data,
            holds_data,
            expected: vec![Expected::default(); units],
            synced: (verify.policy == VerifyPolicy::Fsynced && !verify.only)
                .then(|| Synced { number: 0, submitted: vec![0; units] }),
            progress,
            unchecked: vec![false; if writes || coverage.is_none() { 0 } else { units }],
            coverage,
            stopped: None,
            dumps: verify.dump,
            lists_failures: !spec.is_sync(),
            checks_own_writes: writes && !verify.only,
            overwrites: spec.may_overwrite(),
            drawn: DrawnSeeds::default(),
            damage: DamageTally::default(),
        })))
    }

    /// Prepares an I/O of the workload that unit `unit` is about to issue.
    pub(crate) fn before(
        &mut self,
        io: &Io,
        unit: u32,
        block: &mut [u8],
        time: Duration,
    ) -> Result<(), Failure> {
        if io.direction == Direction::Write {
            let seed = if self.verifier.draws_seeds() { self.seeds.draw() } else { 0 };
            let stamp = Stamp { offset: io.offset, seed, number: self.number, time };
            self.verifier
                .fill(block, &stamp, |block, seed| self.body.fill(block, seed))
                .map_err(|e| Failure::new(libc::EINVAL, e.to_string()))?;
            if let Some(written) = &mut self.written {
                written.record(Written {
                    file: io.file,
                    len: io.len,
                    offset: io.offset,
                    number: self.number,
                });
            }
            self.expected[unit as usize].number = Some(self.number);
            if let Some(progress) = &self.progress {
                progress.issued(unit, self.number);
                if self.synced.is_none() {
                    progress.covers(self.number + 1);
                }
            }
            self.number += 1;
        } else if self.checks_reads && io.direction == Direction::Read {
            let seed = self.verifier.draws_seeds().then(|| self.seeds.draw());
            self.expected[unit as usize] = Expected { seed, number: None };
            if let (Some(coverage), Some(unchecked)) = (&self.coverage, self.unchecked.get_mut(unit as usize))
            {
                *unchecked = coverage.of(self.number) == Covered::Skip;
            }
            self.number += 1;
        }
        Ok(())
    }

    /// Records a write of the workload that is left out (`verify_only`).
    ///
    /// # Errors
    /// Why neither this write nor any that comes after it is checked, by the state.
    pub(crate) fn leave_out(&mut self, io: &Io) -> Result<(), Uncovered> {
        if let Some(Covered::Stop(why)) = self.coverage.as_ref().map(|coverage| coverage.of(self.number)) {
            return Err(why);
        }
        if self.verifier.draws_seeds() {
            self.seeds.draw();
        }
        if let Some(written) = &mut self.written {
            written.record(Written { file: io.file, len: io.len, offset: io.offset, number: self.number });
        }
        self.number += 1;
        if let Some(progress) = &self.progress {
            progress.covers(self.number);
        }
        Ok(())
    }

    /// Unit `unit` wrote its block.
    pub(crate) fn completed_write(&self, unit: u32) {
        if let Some(progress) = &self.progress {
            progress.completed(unit);
        }
    }

    /// The write of unit `unit` failed, of the block at `offset`: it is not read back.
    pub(crate) fn forget(&mut self, unit: u32, file: u32, offset: u64) {
        let Some(number) = self.expected[unit as usize].number else { return };
        if let Some(written) = &mut self.written {
            written.forget(&Written { file, len: 0, offset, number });
        }
        if let Some(progress) = &self.progress {
            progress.completed(unit);
            if self.lists_failures {
                progress.failed(number);
            }
        }
    }

    /// A zone was reset: what was written there is not read back.
    pub(crate) fn forget_range(&mut self, file: u32, range: Range<u64>) {
        if let Some(written) = &mut self.written {
            written.forget_range(file, range);
        }
    }

    /// Unit `unit` is about to sync a file.
    pub(crate) fn before_sync(&mut self, unit: u32) {
        if let Some(synced) = &mut self.synced {
            synced.submitted[unit as usize] = self.number;
        }
    }

    /// The sync of unit `unit` succeeded.
    pub(crate) fn synced(&mut self, unit: u32) {
        if let Some(number) = self.synced.as_ref().map(|synced| synced.submitted[unit as usize]) {
            self.covers(number);
        }
    }

    /// Everything that was written was synced.
    pub(crate) fn synced_all(&mut self) {
        self.covers(self.number);
    }

    /// Syncs have covered this many writes.
    fn covers(&mut self, number: u64) {
        let Some(synced) = &mut self.synced else { return };
        synced.number = synced.number.max(number);
        if let Some(progress) = &self.progress {
            progress.covers(synced.number);
        }
    }

    /// True for a job that reads until the state says that no more was written.
    pub(crate) fn stops_reads(&self) -> bool {
        !self.unchecked.is_empty()
    }

    /// Why the job may not read on, by the state.
    pub(crate) fn stop_read(&mut self) -> Option<Uncovered> {
        let coverage = self.coverage.as_ref().filter(|_| self.stops_reads())?;
        let Covered::Stop(why) = coverage.of(self.number) else { return None };
        self.stopped = Some(why);
        Some(why)
    }

    /// Where checking has stopped, by the state; asked once.
    pub(crate) fn take_stopped(&mut self) -> Option<Uncovered> {
        self.stopped.take()
    }

    /// True when no block of another pass could be checked.
    pub(crate) fn is_over(&self) -> bool {
        self.stops_reads() && self.stopped.is_some()
    }

    /// True while reads have to pass [`check`](Self::check).
    #[inline]
    pub(crate) fn checks_reads(&self) -> bool {
        self.checks_reads
    }

    /// False for a block that unit `unit` has read although the state that the job loaded does not cover it.
    fn is_covered(&self, unit: u32) -> bool {
        self.unchecked.get(unit as usize).is_none_or(|&unchecked| !unchecked)
    }

    /// Has a thread check what unit `unit` read, unless the job does so itself. True if the unit is lent to it now.
    pub(crate) fn lend(
        &mut self,
        unit: u32,
        file: u32,
        offset: u64,
        block: impl FnOnce() -> LentSlot,
    ) -> bool {
        let covered = self.is_covered(unit);
        let Some(checkers) = self.checkers.as_mut().filter(|_| covered) else { return false };
        checkers.lend(Block { unit, file, offset, expected: self.expected[unit as usize], data: block() });
        true
    }

    /// Checks what unit `unit` read.
    pub(crate) fn check(&self, unit: u32, block: &mut [u8], offset: u64) -> Result<(), Box<Mismatch>> {
        if !self.is_covered(unit) {
            return Ok(());
        }
        self.verifier.check(block, offset, &self.expected[unit as usize])
    }

    /// What is dumped of a failure in a block that was checked.
    pub(crate) fn dumps_of(&self, block: &[u8], mismatch: &Mismatch, failure: &IntervalFailure) -> Vec<Dump> {
        self.verifier.dumps(block, mismatch, failure, |block, seed| self.body.fill(block, seed))
    }

    /// Says what the block looks like that unit `unit` read and that failed its check.
    pub(crate) fn explain(&mut self, unit: u32, block: &[u8], mismatch: &Mismatch) -> Damage {
        self.draw_again();
        self.verifier.explain(&Evidence {
            block,
            mismatch,
            expected: self.expected[unit as usize],
            own: self.checks_own_writes,
            overwrites: self.overwrites,
            fill: &|block, seed| self.body.fill(block, seed),
            drawn: &self.drawn,
        })
    }

    /// Draws the seeds of the pass again, up to the last write at least.
    fn draw_again(&mut self) {
        let (seeds, first) = &self.pass;
        // A job that only reads learns from them which write a piece without header may be, if the writer had the same seeds.
        let writes = if self.checks_own_writes { self.number - first } else { READ_SEEDS };
        let writes = usize::try_from(writes).unwrap_or(DrawnSeeds::MOST).min(DrawnSeeds::MOST);
        if self.verifier.draws_seeds() && (self.drawn.len() < writes || self.drawn.is_empty()) {
            let (mut seeds, first) = (seeds.clone(), *first);
            let more = std::iter::repeat_with(move || seeds.draw());
            self.drawn = DrawnSeeds::new(first, more.take(writes.next_power_of_two()));
        }
    }

    /// fio's word for the state of a read, in messages.
    pub(crate) fn flags(&self) -> u32 {
        let place = if self.checkers.is_some() { FLAG_WITH_THREAD } else { FLAG_IN_FLIGHT };
        if self.phase.is_some() { place | FLAG_READ_BACK } else { place }
    }

    /// True when there is something to read back.
    pub(crate) fn has_written(&self) -> bool {
        self.written.as_ref().is_some_and(|written| !written.is_empty())
    }

    /// Begins to read back.
    pub(crate) fn begin_phase(&mut self) {
        let (seeds, first) = self.pass.clone();
        self.phase = Some((SeedReplay::new(first), seeds));
        self.checks_reads = self.holds_data;
    }

    /// The next block to read back, to be read by unit `unit`.
    pub(crate) fn next_written(&mut self, unit: u32) -> Option<Written> {
        let block = self.next_covered()?;
        // By offset there is no order to replay, and no seed is expected.
        let replay = self.phase.as_mut().filter(|_| self.verifier.expects_seeds());
        let seed = replay.and_then(|(replay, seeds)| replay.seed_of(block.number, || seeds.draw()));
        self.expected[unit as usize] = Expected { seed, number: Some(block.number) };
        Some(block)
    }

    /// The next block that is to be checked, by the policy and the state.
    fn next_covered(&mut self) -> Option<Written> {
        let blocks = self.written.as_mut()?;
        loop {
            let block = blocks.take_first()?;
            if self.synced.as_ref().is_some_and(|synced| block.number >= synced.number) {
                continue;
            }
            match self.coverage.as_ref().map_or(Covered::Check, |coverage| coverage.of(block.number)) {
                Covered::Check => return Some(block),
                Covered::Skip => {}
                Covered::Stop(why) => {
                    self.stopped = Some(why);
                    return None;
                }
            }
        }
    }

    /// Everything was read back, or the job ends.
    pub(crate) fn end_phase(&mut self) {
        if self.phase.take().is_some() {
            self.checks_reads = false;
        }
    }

    /// Begins another pass.
    pub(crate) fn begin_pass(&mut self) {
        self.seeds.begin_pass();
        self.pass = (self.seeds.clone(), self.number);
        self.drawn = DrawnSeeds::default();
        if let Some(written) = &mut self.written {
            written.clear();
        }
    }
}
