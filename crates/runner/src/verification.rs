//! What a verifying job adds to its I/O: it prepares blocks before they are written, records them, chooses which are read back, and
//! checks what was read.

mod last_writes;
mod regenerated;
mod rounds;
mod seeds_again;
mod units;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use ferrio_engine::LentSlot;
use ferrio_job::{Direction, JobSpec, VerifyPolicy};
use ferrio_verify::{
    Coverage, Covered, Damage, DrawnSeeds, Dump, Evidence, IntervalFailure, Mismatch, Stamp, Uncovered,
    Verifier, VerifySpec, Written, WrittenList, check_zeroes,
};
use ferrio_workload::{BlockBody, BlockSeeds, Io, SEEDS, TrimMarks, Workload};

use crate::checkers::{Block, Checkers};
use crate::damage::DamageTally;
use crate::failure::Failure;
use crate::synced_writes::SyncedWrites;
use crate::verify_state::{WriteProgress, saves_at_syncs};
use last_writes::LastWrites;
use regenerated::Regenerated;
use rounds::Backlog;
pub(crate) use rounds::Due;
use seeds_again::SeedsAgain;
use units::{Purpose, Units};

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
    /// What was written and not checked yet, if it is remembered.
    written: Option<WrittenList>,
    /// `experimental_verify`: what the pass writes, found by its choices.
    regenerated: Option<Box<Regenerated>>,
    /// The seeds and the number with which the pass began.
    pass: (BlockSeeds, u64),
    /// The seeds of the blocks in the list.
    seeds_again: SeedsAgain,
    /// Which blocks of the list were written again since, if seeds are compared.
    last_writes: Option<LastWrites>,
    /// A pass is followed by a phase in which everything left of it is read back.
    reads_back: bool,
    /// Passes repeat each other, and none of them ends what the one before has begun (`time_based`).
    runs_on: bool,
    in_phase: bool,
    checks_reads: bool,
    /// False for engines that store no data: blocks are read back but not compared.
    holds_data: bool,
    /// What each unit does.
    units: Units,
    /// Checks and trims between the I/Os of a pass.
    backlog: Backlog,
    marks: Option<TrimMarks>,
    /// `verify_policy=fsynced`: only what was synced is read back.
    synced: Option<Synced>,
    /// What is saved of the writes, if it is.
    progress: Option<Arc<WriteProgress>>,
    /// `verify_state_load`: what had been written.
    coverage: Option<Arc<Coverage>>,
    /// A job that reads stops where the state says that no more was written.
    stops_reads: bool,
    /// Where checking stopped, by the state.
    stopped: Option<Uncovered>,
    /// The verify state is saved after each sync.
    pub(crate) saves_at_syncs: bool,
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
    /// Bytes of the reads and trims that `verify_only` has left out.
    left_out: u64,
}

/// How many writes syncs have covered.
struct Synced {
    number: u64,
    /// Writes issued before the sync of each unit.
    submitted: Vec<u64>,
    /// Which of them must survive a crash, for a state that is kept current for that.
    exactly: Option<SyncedWrites>,
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
        let backlog = Backlog::new(spec, verify);
        let reads_back = writes && verify.read_back && !spec.limits.time_based;
        let remembers = !verify.regenerates && (reads_back || backlog.happens()) || verify.trims.mark();
        let written = (writes && remembers).then(|| WrittenList::new(spec.may_overwrite()));
        let compares_backlog = writes && backlog.happens() && verifier.expects_seeds();
        let seeds_again = SeedsAgain::new(seeds.clone(), verifier.expects_seeds());
        Ok(Some(Box::new(Verification {
            checkers: Checkers::start(spec, verify, &verifier)?,
            verifier,
            number: 0,
            marks: written.as_ref().and_then(|_| TrimMarks::new(spec, entropy)),
            written,
            regenerated: (reads_back && verify.regenerates).then(Box::default),
            pass: (seeds.clone(), 0),
            seeds_again,
            last_writes: compares_backlog.then(|| LastWrites::new(spec)).flatten(),
            seeds,
            body: BlockBody::new(spec),
            reads_back,
            runs_on: spec.limits.time_based,
            in_phase: false,
            checks_reads: !writes && spec.rw.does(Direction::Read) && holds_data,
            holds_data,
            units: Units::new(units),
            backlog,
            synced: (verify.policy == VerifyPolicy::Fsynced && !verify.only).then(|| Synced {
                number: 0,
                submitted: vec![0; units],
                exactly: saves_at_syncs(spec).then(|| SyncedWrites::new(units)),
            }),
            saves_at_syncs: saves_at_syncs(spec),
            progress,
            stops_reads: !writes && coverage.is_some(),
            coverage,
            stopped: None,
            dumps: verify.dump,
            lists_failures: !spec.is_sync(),
            checks_own_writes: writes && !verify.only,
            overwrites: spec.may_overwrite(),
            drawn: DrawnSeeds::default(),
            damage: DamageTally::default(),
            left_out: 0,
        })))
    }

    /// Prepares an I/O of the workload that unit `unit` is about to issue. A trim has no block.
    pub(crate) fn before(
        &mut self,
        io: &Io,
        unit: u32,
        block: &mut [u8],
        time: Duration,
    ) -> Result<(), Failure> {
        match io.direction {
            Direction::Write => {
                let seed = if self.verifier.draws_seeds() { self.seeds.draw() } else { 0 };
                let stamp = Stamp { offset: io.offset, seed, number: self.number, time };
                self.verifier
                    .fill(block, &stamp, |block, seed| self.body.fill(block, seed))
                    .map_err(|e| Failure::new(libc::EINVAL, e.to_string()))?;
                let written = self.remember(io);
                self.units.issue(unit, Purpose::Write, written, None);
                if let Some(progress) = &self.progress {
                    progress.issued(unit, self.number);
                    if let Some(exactly) = self.synced.as_mut().and_then(|synced| synced.exactly.as_mut()) {
                        exactly.issued(self.number, io.file);
                    }
                    if self.synced.is_none() {
                        progress.covers(self.number + 1);
                    }
                }
                self.number += 1;
            }
            Direction::Read if self.checks_reads => {
                let seed = self.verifier.draws_seeds().then(|| self.seeds.draw());
                let covered = self.coverage.as_ref().map_or(Covered::Check, |c| c.of(self.number));
                let checked = covered != Covered::Skip;
                let purpose = if checked { Purpose::Check } else { Purpose::Read };
                self.units.issue(unit, purpose, written_by(io, self.number), seed);
                self.number += 1;
            }
            Direction::Read => self.units.issue(unit, Purpose::Read, written_by(io, self.number), None),
            Direction::Trim => {
                if let Some(written) = &mut self.written {
                    written.forget_overlaps(io.file, io.offset..io.offset + u64::from(io.len));
                }
                self.units.issue(unit, Purpose::Trim, written_by(io, NO_WRITE), None);
            }
        }
        Ok(())
    }

    /// Records the write that has the next number.
    fn remember(&mut self, io: &Io) -> Written {
        let block = written_by(io, self.number);
        if let Some(last) = &mut self.last_writes {
            last.record(&block);
        }
        if let Some(written) = &mut self.written {
            written.record(block);
            if self.marks.as_mut().is_some_and(TrimMarks::draw) {
                written.mark(&block);
            }
        }
        block
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
        self.remember(io);
        self.number += 1;
        if let Some(progress) = &self.progress {
            progress.covers(self.number);
        }
        Ok(())
    }

    /// Records a read or trim of the workload that is left out (`verify_only`): unlike writes, these are in no figure, but a job that
    /// does them has as many passes.
    pub(crate) fn leave_out_other(&mut self, len: u32) {
        self.left_out += u64::from(len);
    }

    /// Bytes of the reads and trims that were left out.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The I/O of unit `unit` has ended well.
    pub(crate) fn ended(&mut self, unit: u32) -> Ended {
        let purpose = self.units.end(unit);
        if purpose == Purpose::Write
            && let Some(progress) = &self.progress
        {
            progress.completed(unit);
        }
        self.backlog.ended(purpose);
        Ended {
            is_checked: self.holds_data && purpose.is_checked(),
            is_extra: !self.in_phase && purpose.is_extra(),
        }
    }

    /// True while unit `unit` reads what is to be checked.
    pub(crate) fn is_checking(&self, unit: u32) -> bool {
        self.units.purpose(unit).is_checked()
    }

    /// The I/O of unit `unit` has failed. A block that could not be written is not read back, and neither is one that could not be trimmed.
    pub(crate) fn failed(&mut self, unit: u32) {
        let purpose = self.units.end(unit);
        let Written { file, offset, number, .. } = self.units.block(unit);
        if let (Some(written), Purpose::Write | Purpose::TrimBlock) = (&mut self.written, purpose) {
            written.forget(file, offset, number);
        }
        if purpose == Purpose::Write {
            if let Some(regenerated) = &mut self.regenerated {
                regenerated.leave_out(number);
            }
            if let Some(progress) = &self.progress {
                if let Some(exactly) = self.synced.as_mut().and_then(|synced| synced.exactly.as_mut()) {
                    exactly.failed(number);
                    progress.completed(unit);
                } else if self.lists_failures {
                    progress.failed(unit, number);
                } else {
                    progress.completed(unit);
                }
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
    pub(crate) fn before_sync(&mut self, unit: u32, file: u32) {
        let Some(synced) = &mut self.synced else { return };
        synced.submitted[unit as usize] = self.number;
        if let (Some(exactly), Some(progress)) = (&mut synced.exactly, &self.progress) {
            exactly.begin_sync(unit, file, self.number, progress.in_flight());
        }
    }

    /// The sync of unit `unit` succeeded. `waits_for_device` is false for one that leaves data in the device's cache.
    pub(crate) fn synced(&mut self, unit: u32, waits_for_device: bool) {
        let Some(synced) = &mut self.synced else { return };
        synced.number = synced.number.max(synced.submitted[unit as usize]);
        if let Some(exactly) = synced.exactly.as_mut().filter(|_| waits_for_device) {
            exactly.end_sync(unit);
        }
        self.publish_synced();
    }

    /// A sync of this file failed.
    pub(crate) fn fail_sync(&mut self, file: u32) {
        if let Some(exactly) = self.synced.as_mut().and_then(|synced| synced.exactly.as_mut()) {
            exactly.fail_sync(file);
        }
    }

    /// Everything that was written was synced.
    pub(crate) fn synced_all(&mut self) {
        let Some(synced) = &mut self.synced else { return };
        synced.number = self.number;
        if let Some(exactly) = &mut synced.exactly {
            exactly.synced_all(self.number);
        }
        self.publish_synced();
    }

    /// The state has what syncs cover now.
    fn publish_synced(&self) {
        let (Some(synced), Some(progress)) = (&self.synced, &self.progress) else { return };
        match &synced.exactly {
            None => progress.covers(synced.number),
            Some(exactly) => {
                let (number, except) = exactly.covered();
                progress.covers_except(number, except);
            }
        }
    }

    /// True for a job that reads until the state says that no more was written.
    pub(crate) fn stops_reads(&self) -> bool {
        self.stops_reads
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

    /// Has a thread check what unit `unit` read, unless the job does so itself. True if the unit is lent to it now.
    pub(crate) fn lend(
        &mut self,
        unit: u32,
        file: u32,
        offset: u64,
        block: impl FnOnce() -> LentSlot,
    ) -> bool {
        // Zeroes are compared faster than they are handed over.
        let trimmed = self.units.block(unit).trimmed;
        let Some(checkers) = self.checkers.as_mut().filter(|_| !trimmed) else { return false };
        checkers.lend(Block { unit, file, offset, expected: self.units.expected(unit), data: block() });
        true
    }

    /// Checks what unit `unit` read.
    pub(crate) fn check(&self, unit: u32, block: &mut [u8], offset: u64) -> Result<(), Box<Mismatch>> {
        if self.units.block(unit).trimmed {
            return check_zeroes(block, offset);
        }
        self.verifier.check(block, offset, &self.units.expected(unit))
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
            expected: self.units.expected(unit),
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
        if self.checks_reads { place } else { place | FLAG_READ_BACK }
    }

    /// True when there is something to read back after the pass.
    pub(crate) fn has_written(&self) -> bool {
        let written = self.written.as_ref().is_some_and(|written| !written.is_empty());
        self.reads_back
            && (written || self.regenerated.as_ref().is_some_and(|again| again.covers(self.number)))
    }

    /// A pass begins, with these choices.
    pub(crate) fn begin_choices(&mut self, workload: &Workload) {
        if let Some(regenerated) = &mut self.regenerated {
            **regenerated = Regenerated::new(workload, self.number);
        }
    }

    /// Begins to read back.
    pub(crate) fn begin_phase(&mut self) {
        self.in_phase = true;
    }

    /// The next block to read back, after the pass.
    pub(crate) fn next_written(&mut self) -> Option<Written> {
        loop {
            let block = match &mut self.regenerated {
                Some(regenerated) => regenerated.next(self.number)?,
                None => self.take_first()?,
            };
            if self.synced.as_ref().is_none_or(|synced| block.number < synced.number)
                && self.covers_block(block.number)?
            {
                return Some(block);
            }
        }
    }

    /// Whether a block is to be checked, by the state; `None` when neither it nor any block after it is.
    fn covers_block(&mut self, number: u64) -> Option<bool> {
        match self.coverage.as_ref().map_or(Covered::Check, |coverage| coverage.of(number)) {
            Covered::Check => Some(true),
            Covered::Skip => Some(false),
            Covered::Stop(why) => {
                self.stopped = Some(why);
                None
            }
        }
    }

    /// Unit `unit` is about to read a block back.
    pub(crate) fn before_check(&mut self, unit: u32, block: Written) {
        let is_last = self.last_writes.as_mut().is_none_or(|last| last.take(&block));
        let seed = self.seeds_again.of(block.number).filter(|_| is_last);
        self.units.issue(unit, Purpose::CheckBlock, block, seed);
    }

    /// Everything was read back, or the job ends.
    pub(crate) fn end_phase(&mut self) {
        self.in_phase = false;
    }

    /// Begins another pass.
    pub(crate) fn begin_pass(&mut self) {
        self.seeds.begin_pass();
        self.pass = (self.seeds.clone(), self.number);
        self.drawn = DrawnSeeds::default();
        if let Some(marks) = &mut self.marks {
            marks.begin_pass();
        }
        if self.runs_on {
            self.seeds_again.add_pass(self.number, &self.seeds);
            return;
        }
        self.seeds_again.begin_pass(self.number, &self.seeds);
        if let Some(written) = &mut self.written {
            written.clear();
        }
    }
}

/// What follows from the end of an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// What was read is to be checked.
    pub(crate) is_checked: bool,
    /// It was none of the I/Os of the pass.
    pub(crate) is_extra: bool,
}

/// The number of an I/O that is no write and comes from none.
const NO_WRITE: u64 = u64::MAX;

fn written_by(io: &Io, number: u64) -> Written {
    Written { file: io.file, len: io.len, offset: io.offset, number, trimmed: false }
}
