//! Verification of a job's I/O: prepares blocks before they are written, records them, chooses those to read back, and checks what was read.

mod backlog;
mod checks;
mod coverage;
mod explanation;
mod last_writes;
mod progress;
mod regenerated;
mod seed_replays;
mod units;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use ferrio_job::{Direction, JobSpec, Overwrites, VerifyPolicy};
use ferrio_results::DamageTally;
use ferrio_verify::{
    Coverage, CoverageEnd, DrawnSeeds, Verifier, VerifySpec, WriteCoverage, WriteStamp, WrittenBlock,
    WrittenList,
};
use ferrio_workload::{BlockBody, BlockSeeds, Io, SEEDS, TrimMarks, Workload};

use crate::checkers::Checkers;
use crate::failure::Failure;
use crate::write_progress::{WriteProgress, saves_at_syncs};
use backlog::BacklogState;
pub(crate) use backlog::DueBlock;
use last_writes::LastWrites;
use progress::SyncedCount;
use regenerated::RegeneratedWrites;
use seed_replays::SeedReplays;
use units::{Purpose, Units};

/// State of the verification of one job.
pub(crate) struct Verification {
    verifier: Arc<Verifier>,
    /// `verify_async`: they check what is read.
    pub(crate) checkers: Option<Checkers>,
    seeds: BlockSeeds,
    body: BlockBody,
    /// All blocks are the same bytes: a buffer that has them needs no others.
    repeats_blocks: bool,
    /// Writes issued so far; in a job that only reads, reads.
    number: u64,
    /// Blocks that were written and not checked yet, if they are remembered.
    written: Option<WrittenList>,
    /// `experimental_verify`: the writes of the pass, found by making its choices again.
    regenerated: Option<Box<RegeneratedWrites>>,
    /// The seeds and the number with which the pass began.
    pass: (BlockSeeds, u64),
    /// The seeds of the blocks in the list.
    seed_replays: SeedReplays,
    /// Which blocks of the list were written again since, if seeds are compared.
    last_writes: Option<LastWrites>,
    /// A pass is followed by a phase in which everything left of it is read back.
    reads_back: bool,
    /// Passes repeat each other, and none of them ends what the one before has begun (`time_based`).
    runs_on: bool,
    /// The blocks of the pass are being read back.
    pub(crate) in_phase: bool,
    checks_reads: bool,
    /// False for engines that store no data: blocks are read back but not compared.
    holds_data: bool,
    /// The I/O of each unit.
    units: Units,
    /// Checks and trims between the I/Os of a pass.
    backlog: BacklogState,
    marks: Option<TrimMarks>,
    /// `verify_policy=fsynced`: only what was synced is read back.
    synced: Option<SyncedCount>,
    /// The writes for the verify state, if one is saved.
    progress: Option<Arc<WriteProgress>>,
    /// `verify_state_load`: the writes of the earlier run.
    coverage: Option<Arc<Coverage>>,
    /// A job that reads stops where the state says that no more was written.
    pub(crate) stops_reads: bool,
    /// Where checking stopped, by the state.
    pub(crate) stopped: Option<CoverageEnd>,
    /// `verify_only` has come to the first write that the state does not cover: no later one is checked either.
    leaves_out_no_more: bool,
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
    /// Bytes of the reads and trims that `verify_only` has left out. No figure counts them, but they count towards the end of the pass,
    /// so that the job makes as many passes as one that does them.
    pub(crate) left_out: u64,
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
        let backlog = BacklogState::new(spec, verify);
        let reads_back = writes && verify.read_back && !spec.limits.time_based;
        let remembers = !verify.regenerates && (reads_back || backlog.is_active()) || verify.trims.mark();
        let checks_synced = verify.policy == VerifyPolicy::Fsynced && !verify.only;
        let written =
            (writes && remembers).then(|| match WrittenList::new(spec.overwrites() == Overwrites::Blocks) {
                list if checks_synced && backlog.is_active() => list.of_synced_blocks(),
                list => list,
            });
        let compares_backlog = writes && backlog.is_active() && verifier.expects_seeds();
        let seed_replays = SeedReplays::new(seeds.clone(), verifier.expects_seeds());
        Ok(Some(Box::new(Verification {
            checkers: Checkers::start(spec, verify, &verifier)?,
            // Other jobs may write to buffers in a file.
            repeats_blocks: verifier.repeats_blocks() && spec.memory.file.is_none(),
            verifier,
            number: 0,
            marks: written.as_ref().and_then(|_| TrimMarks::new(spec, entropy)),
            written,
            regenerated: (reads_back && verify.regenerates).then(Box::default),
            pass: (seeds.clone(), 0),
            seed_replays,
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
            synced: checks_synced.then(|| SyncedCount::new(units, saves_at_syncs(spec))),
            saves_at_syncs: saves_at_syncs(spec),
            progress,
            stops_reads: !writes && coverage.is_some(),
            coverage,
            stopped: None,
            leaves_out_no_more: false,
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
                let stamp = WriteStamp { offset: io.offset, seed, number: self.number, time };
                if !self.repeats_blocks || self.units.needs_fill(unit, block.len()) {
                    self.verifier
                        .fill(block, &stamp, |block, seed| self.body.fill(block, seed))
                        .map_err(|e| Failure::new(libc::EINVAL, e.to_string()))?;
                }
                let written = self.remember(io);
                self.units.issue(unit, Purpose::Write, written, None);
                self.follow_write(unit, io.file);
                self.number += 1;
            }
            Direction::Read if self.checks_reads => {
                let seed = self.verifier.draws_seeds().then(|| self.seeds.draw());
                let covered = self.coverage.as_ref().map_or(WriteCoverage::Check, |c| c.of(self.number));
                let checked = covered != WriteCoverage::Skip;
                let purpose = if checked { Purpose::Check } else { Purpose::Read };
                self.units.issue(unit, purpose, written_by(io, self.number), seed);
                self.number += 1;
            }
            Direction::Read => self.units.issue(unit, Purpose::Read, written_by(io, self.number), None),
            Direction::Trim => {
                if let Some(written) = &mut self.written {
                    written.forget_overlaps(io.file, io.offset..io.offset + io.len);
                }
                self.units.issue(unit, Purpose::Trim, written_by(io, NO_WRITE), None);
            }
        }
        Ok(())
    }

    /// Records the write that has the next number.
    fn remember(&mut self, io: &Io) -> WrittenBlock {
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

    /// Ends a successful I/O of unit `unit`.
    pub(crate) fn ended(&mut self, unit: u32) -> IoEnd {
        let purpose = self.units.end(unit);
        if purpose == Purpose::Write
            && let Some(progress) = &self.progress
        {
            progress.completed(unit);
        }
        self.backlog.ended(purpose);
        IoEnd {
            is_checked: self.holds_data && purpose.is_checked(),
            is_extra: !self.in_phase && purpose.is_extra(),
        }
    }

    /// True while unit `unit` reads what is to be checked.
    pub(crate) fn is_checking(&self, unit: u32) -> bool {
        self.units.purpose(unit).is_checked()
    }

    /// Ends a failed I/O of unit `unit`. A block that could not be written is not read back, and neither is one that could not be trimmed.
    pub(crate) fn failed(&mut self, unit: u32) {
        let purpose = self.units.end(unit);
        let WrittenBlock { file, offset, number, .. } = self.units.block(unit);
        if let (Some(written), Purpose::Write | Purpose::TrimBlock) = (&mut self.written, purpose) {
            written.forget(file, offset, number);
        }
        if purpose == Purpose::Write {
            if let Some(regenerated) = &mut self.regenerated {
                regenerated.leave_out(number);
            }
            self.follow_failure(unit, number);
        }
    }

    /// A zone was reset: what was written there is not read back.
    pub(crate) fn forget_range(&mut self, file: u32, range: Range<u64>) {
        if let Some(written) = &mut self.written {
            written.forget_range(file, range);
        }
    }

    /// True when there is something to read back after the pass.
    pub(crate) fn has_written(&self) -> bool {
        let written = self.written.as_ref().is_some_and(|written| !written.is_empty());
        self.reads_back
            && (written || self.regenerated.as_ref().is_some_and(|again| again.covers(self.number)))
    }

    /// Blocks that were written and not read back; `None` if they are not in a list.
    pub(crate) fn unread_blocks(&self) -> Option<usize> {
        self.written.as_ref().map(WrittenList::len)
    }

    /// A pass begins, with these choices.
    pub(crate) fn begin_choices(&mut self, workload: &Workload) {
        if let Some(regenerated) = &mut self.regenerated {
            **regenerated = RegeneratedWrites::new(workload, self.number);
        }
    }

    /// The next block to read back, after the pass.
    pub(crate) fn next_written(&mut self) -> Option<WrittenBlock> {
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

    /// Unit `unit` is about to read a block back.
    fn before_check(&mut self, unit: u32, block: WrittenBlock) {
        let is_last = match &mut self.last_writes {
            Some(last) => last.take(&block),
            // The list forgets what was overwritten, but not what another pass has written again.
            None => self.overwrites || block.number >= self.pass.1,
        };
        let seed = self.seed_replays.of(block.number).filter(|_| is_last);
        self.units.issue(unit, Purpose::CheckBlock, block, seed);
        if !is_last {
            self.units.forget_number(unit);
        }
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
            self.seed_replays.add_pass(self.number, &self.seeds);
            return;
        }
        self.seed_replays.begin_pass(self.number, &self.seeds);
        if let Some(written) = &mut self.written {
            written.clear();
        }
    }
}

/// The consequences of the end of an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IoEnd {
    /// The data that was read is to be checked.
    pub(crate) is_checked: bool,
    /// It was none of the I/Os of the pass.
    pub(crate) is_extra: bool,
}

/// The number of an I/O that is no write and comes from none.
const NO_WRITE: u64 = u64::MAX;

fn written_by(io: &Io, number: u64) -> WrittenBlock {
    WrittenBlock { file: io.file, len: io.len, offset: io.offset, number, trimmed: false }
}
