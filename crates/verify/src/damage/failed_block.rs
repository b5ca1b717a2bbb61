//! The material of an explanation: the block as on disk, its headers, and the candidates for its contents.

use super::body::seeds_in;
use super::identity::WriteIdentity;
use super::{Damage, DamageEvidence, DamageKind, DamagedPart, header_search};
use crate::{BlockHeader, HeaderLayout, IntervalFailure, IntervalProblem, Verifier, layout};

/// Maximum numbers of writes that are considered: those named by a header, and those known only by their seed.
pub(super) const MAX_HEADERS: usize = 4;
pub(super) const MAX_SEEDS: usize = 3;

/// A block that failed its check.
pub(super) struct FailedBlock<'a> {
    pub(super) verifier: &'a Verifier,
    pub(super) evidence: &'a DamageEvidence<'a>,
    /// Whether the block was trimmed: all of it should be zeros.
    pub(super) trimmed: bool,
    /// The block as on disk.
    pub(super) raw: Vec<u8>,
    /// Bytes of an interval.
    pub(super) step: usize,
    /// The layout of the headers.
    pub(super) layout: HeaderLayout,
    /// Bytes of header and digest.
    pub(super) overhead: usize,
    /// The header of each interval, if it is sound or was before a single bit flipped.
    pub(super) headers: Vec<Option<FoundHeader>>,
}

/// A header that was found in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundHeader {
    pub(super) header: BlockHeader,
    /// Whether it is undamaged.
    pub(super) sound: bool,
}

impl<'a> FailedBlock<'a> {
    pub(super) fn new(verifier: &'a Verifier, evidence: &'a DamageEvidence<'a>) -> Self {
        let is_about_zeroes =
            |failure: &IntervalFailure| matches!(failure.problem, IntervalProblem::NotZero { .. });
        let trimmed = evidence.mismatch.failures.iter().any(is_about_zeroes);
        // A check for zeros does not change the block.
        let raw = if trimmed { evidence.block.to_vec() } else { as_on_disk(verifier, evidence) };
        let step = verifier.step(raw.len()).unwrap_or(raw.len()).max(1);
        let layout = verifier.spec.layout;
        let headers = Vec::new();
        let mut failed = FailedBlock { verifier, evidence, trimmed, raw, step, layout, overhead: 0, headers };
        if verifier.spec.method.has_header() {
            failed.find_headers();
        }
        failed.overhead = failed.layout.overhead(verifier.spec.method);
        failed
    }

    /// Reads the headers in the expected layout, or in the other one if there are none and either may occur.
    fn find_headers(&mut self) {
        let expected = self.verifier.spec.layout;
        let others = [HeaderLayout::Current, HeaderLayout::Fio340]
            .into_iter()
            .filter(|&other| other != expected && self.verifier.spec.any_layout);
        for layout in [expected].into_iter().chain(others) {
            let overhead = layout.overhead(self.verifier.spec.method);
            let moved = self.verifier.spec.offset as usize;
            let fits = |start| self.interval(start).len() > moved + overhead;
            if !self.starts().all(fits) || (0 < moved && moved < overhead) {
                continue;
            }
            self.layout = layout;
            self.headers = self.starts().map(|start| self.header(start)).collect();
            if self.headers.iter().any(Option::is_some) {
                return;
            }
        }
        self.layout = expected;
    }

    /// The starts of the intervals in the block.
    pub(super) fn starts(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.raw.len()).step_by(self.step)
    }

    /// Damage of this kind to all of the block, without details.
    pub(super) fn whole_block(&self, kind: DamageKind) -> Damage {
        let len = self.raw.len() as u64;
        Damage {
            kind,
            offset: self.offset(),
            len,
            range: 0..len,
            differing: None,
            unexplained_bytes: 0,
            part: DamagedPart::Both,
            byte: None,
            found: None,
            wanted_number: None,
            shift: None,
            fill: None,
            options: None,
        }
    }

    pub(super) fn offset(&self) -> u64 {
        self.evidence.mismatch.offset
    }

    fn interval(&self, start: usize) -> &[u8] {
        &self.raw[start..(start + self.step).min(self.raw.len())]
    }

    fn header(&self, start: usize) -> Option<FoundHeader> {
        let place = self.interval(start).get(self.verifier.spec.offset as usize..)?;
        if let Some(header) = header_search::sound(self.layout, place) {
            return Some(FoundHeader { header, sound: true });
        }
        header_search::with_one_flip(self.layout, place).map(|header| FoundHeader { header, sound: false })
    }

    /// The writes that headers name, with the start of the interval.
    pub(super) fn identities(&self) -> impl Iterator<Item = (usize, WriteIdentity)> {
        let headers = self.starts().zip(&self.headers);
        headers.filter_map(|(start, found)| {
            Some((start, WriteIdentity::of_header(&found.as_ref()?.header, start)))
        })
    }

    /// The expected write, or the trimmed one, if the job knows it.
    pub(super) fn expected(&self) -> Option<WriteIdentity> {
        let DamageEvidence { expected, is_own, drawn, .. } = self.evidence;
        let thread = self.verifier.spec.thread as u16;
        let number = expected.number.filter(|_| *is_own);
        let checked = expected.seed.filter(|_| self.verifier.expects_seeds());
        // A header with the right number is better evidence of the seed than the drawn seeds, unless the seed is to be checked.
        let in_header = number.map(|number| layout::number(self.layout, number));
        let witness = || {
            let mut headers = self.identities().map(|(_, identity)| identity);
            let named = headers.find(|found| {
                found.offset == self.offset() && found.number == in_header && found.thread == Some(thread)
            });
            named.map(|found| found.seed)
        };
        let seed = match (&self.verifier.spec.pattern, number) {
            (Some(_), number) => number.map(|_| 0),
            (None, Some(number)) => checked.or_else(witness).or_else(|| drawn.of_number(number)),
            (None, None) => checked,
        };
        let wanted = WriteIdentity {
            seed: seed?,
            offset: self.offset(),
            number: in_header,
            thread: is_own.then_some(thread),
            time: None,
        };
        let named = self.identities().map(|(_, identity)| identity).find(|found| wanted.agrees(found));
        let known = named.or_else(|| self.misplaced().filter(|found| wanted.agrees(found)));
        Some(known.map_or(wanted, |known| wanted.completed_by(&known)))
    }

    /// The expected write where the job does not know it: derived from the header of another interval, a header in a wrong place, or the
    /// bytes of the body.
    pub(super) fn guessed(&self) -> Option<WriteIdentity> {
        let here = |identity: &WriteIdentity| self.is_here(identity);
        let named = self.identities().map(|(_, identity)| identity).find(here);
        named.or_else(|| self.misplaced().filter(here)).or_else(|| {
            let seed = match self.verifier.spec.pattern {
                Some(_) => Some(0),
                None => self.seed_without_header().or(self.evidence.expected.seed),
            };
            Some(self.unnamed(seed?))
        })
    }

    /// Whether any part of the block is the body of a write.
    pub(super) fn has_rows(&self) -> bool {
        !seeds_in(&self.raw, 0, 1).is_empty()
    }

    /// The seed of most rows that belong to none of the headers.
    fn seed_without_header(&self) -> Option<u64> {
        let is_named = |seed| self.identities().any(|(_, identity)| identity.seed == seed);
        seeds_in(&self.raw, 0, MAX_SEEDS).into_iter().find(|&seed| !is_named(seed))
    }

    /// The write that the header or the body of the interval at `start` indicates.
    pub(super) fn guessed_at(&self, start: usize) -> Option<WriteIdentity> {
        let found = self.headers.get(start / self.step).copied().flatten();
        let named = found.map(|found| WriteIdentity::of_header(&found.header, start));
        named.filter(|identity| self.is_here(identity))
    }

    fn is_here(&self, identity: &WriteIdentity) -> bool {
        identity.offset == self.offset() && self.seed_fits(identity.seed)
    }

    /// A write to this place of which only the seed is known.
    pub(super) fn unnamed(&self, seed: u64) -> WriteIdentity {
        WriteIdentity { seed, offset: self.offset(), number: None, thread: None, time: None }
    }

    /// Whether no header names the write.
    pub(super) fn is_unnamed(&self, identity: &WriteIdentity) -> bool {
        self.verifier.spec.pattern.is_none() && identity.number.is_none()
    }

    /// Blocks with a pattern have no seed, all others have one.
    pub(super) fn seed_fits(&self, seed: u64) -> bool {
        self.verifier.spec.pattern.is_none() || seed == 0
    }

    /// The write named by a header in a wrong place.
    fn misplaced(&self) -> Option<WriteIdentity> {
        let (_, header) = self.header_elsewhere()?;
        let start = header.offset.checked_sub(self.offset())?;
        let start = usize::try_from(start).ok().filter(|&start| start < self.raw.len())?;
        Some(WriteIdentity::of_header(&header, start))
    }

    /// The first sound header in a wrong place.
    pub(super) fn header_elsewhere(&self) -> Option<(usize, BlockHeader)> {
        let usual = self.verifier.spec.offset as usize;
        let mut from = 0;
        loop {
            let (at, header) = header_search::find(self.layout, &self.raw, from)?;
            let is_usual = self.verifier.spec.method.has_header() && at % self.step == usual;
            if !is_usual {
                return Some((at, header));
            }
            from = at + 1;
        }
    }
}

/// Undoes the changes of the check, which moves the data of each checked interval back to its place.
fn as_on_disk(verifier: &Verifier, evidence: &DamageEvidence<'_>) -> Vec<u8> {
    let mut raw = evidence.block.to_vec();
    let Some(step) = verifier.step(raw.len()) else { return raw };
    let mismatch = evidence.mismatch;
    let ended = mismatch
        .failures
        .last()
        .filter(|failure| verifier.spec.fatal || !failure.problem.is_about_data())
        .map(|failure| (failure.offset - mismatch.offset) as usize + failure.len as usize);
    let checked = ended.unwrap_or(raw.len()).min(raw.len());
    for start in (0..checked).step_by(step) {
        let interval = &mut raw[start..checked.min(start + step)];
        let layout = verifier.layout_of(interval, interval.len(), mismatch.offset + start as u64);
        verifier.exchange(interval, layout.overhead(verifier.spec.method));
    }
    raw
}
