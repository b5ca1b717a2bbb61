//! What there is to compare: the block as it lay on disk, its headers, and the blocks that it may be, built again.

use super::body::{ROW, row_of, seed_of_row, seeds_in};
use super::candidate::{Candidate, Identity};
use super::segments::Source;
use super::{Damage, DamageKind, DamagedPart, Evidence, media};
use crate::{Header, HeaderLayout, IntervalFailure, Problem, Verifier, layout};

/// Writes that left a header, and seeds without one: more of them are not considered.
const MAX_HEADERS: usize = 4;
const MAX_SEEDS: usize = 3;
/// The farthest that a stretch is looked for from where its block could begin, bytes.
const LONGEST_BLOCK: usize = 16 << 20;

/// What a source of bytes is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Content {
    /// What should be here.
    Wanted,
    /// One byte, repeated.
    Fill(u8),
    /// Another write.
    Write(Identity),
    /// A body without any header.
    Bare(u64),
    /// What should be here, this many bytes further on.
    Moved(i64),
}

/// A block that failed its check.
pub(super) struct Scene<'a> {
    pub(super) verifier: &'a Verifier,
    pub(super) evidence: &'a Evidence<'a>,
    /// The block was trimmed: all of it should be zeros.
    pub(super) trimmed: bool,
    /// As it lay on disk.
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

/// A header at the place of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundHeader {
    pub(super) header: Header,
    /// Nothing in it is damaged.
    pub(super) sound: bool,
}

impl<'a> Scene<'a> {
    pub(super) fn new(verifier: &'a Verifier, evidence: &'a Evidence<'a>) -> Self {
        let is_about_zeroes = |failure: &IntervalFailure| matches!(failure.problem, Problem::NotZero { .. });
        let trimmed = evidence.mismatch.failures.iter().any(is_about_zeroes);
        // A check for zeros leaves the block as it was.
        let raw = if trimmed { evidence.block.to_vec() } else { as_on_disk(verifier, evidence) };
        let step = verifier.step(raw.len()).unwrap_or(raw.len()).max(1);
        let layout = verifier.spec.layout;
        let headers = Vec::new();
        let mut scene = Scene { verifier, evidence, trimmed, raw, step, layout, overhead: 0, headers };
        if verifier.spec.method.has_header() {
            scene.find_headers();
        }
        scene.overhead = scene.layout.overhead(verifier.spec.method);
        scene
    }

    /// Reads the headers in the layout that is expected, or in the other one if there are none and either may be here.
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

    /// Where the intervals begin in the block.
    pub(super) fn starts(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.raw.len()).step_by(self.step)
    }

    /// Where the block lies in its file.
    /// This damage to all of the block, without details.
    pub(super) fn whole_block(&self, kind: DamageKind) -> Damage {
        let len = self.raw.len() as u64;
        Damage {
            kind,
            offset: self.offset(),
            len,
            range: 0..len,
            differing: None,
            besides: 0,
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
        if let Some(header) = media::sound(self.layout, place) {
            return Some(FoundHeader { header, sound: true });
        }
        media::with_one_flip(self.layout, place).map(|header| FoundHeader { header, sound: false })
    }

    /// The writes that headers name, with the start of the interval.
    fn identities(&self) -> impl Iterator<Item = (usize, Identity)> {
        let headers = self.starts().zip(&self.headers);
        headers
            .filter_map(|(start, found)| Some((start, Identity::of_header(&found.as_ref()?.header, start))))
    }

    /// The write that should be here, or that was trimmed, if the job knows it.
    fn expected(&self) -> Option<Identity> {
        let Evidence { expected, own, drawn, .. } = self.evidence;
        let thread = self.verifier.spec.thread as u16;
        let number = expected.number.filter(|_| *own);
        let checked = expected.seed.filter(|_| self.verifier.expects_seeds());
        // A header with the right number is a better witness of the seed than the seeds drawn, unless the seed is to be checked.
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
        let wanted = Identity {
            seed: seed?,
            offset: self.offset(),
            number: in_header,
            thread: own.then_some(thread),
            time: None,
        };
        let named = self.identities().map(|(_, identity)| identity).find(|found| wanted.agrees(found));
        let known = named.or_else(|| self.wandered().filter(|found| wanted.agrees(found)));
        Some(known.map_or(wanted, |known| wanted.completed_by(&known)))
    }

    /// The write that should be here where the job does not know it: by the header of another interval, by one that lies where none
    /// should be, or by the bytes of the body.
    fn guessed(&self) -> Option<Identity> {
        let here = |identity: &Identity| self.is_here(identity);
        let named = self.identities().map(|(_, identity)| identity).find(here);
        named.or_else(|| self.wandered().filter(here)).or_else(|| {
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

    /// The seed of most of the rows that belong to none of the headers.
    fn seed_without_header(&self) -> Option<u64> {
        let is_named = |seed| self.identities().any(|(_, identity)| identity.seed == seed);
        seeds_in(&self.raw, 0, MAX_SEEDS).into_iter().find(|&seed| !is_named(seed))
    }

    /// The write that should be in the interval that begins at `start`, if its header or its body says so.
    fn guessed_at(&self, start: usize) -> Option<Identity> {
        let found = self.headers.get(start / self.step).copied().flatten();
        let named = found.map(|found| Identity::of_header(&found.header, start));
        named.filter(|identity| self.is_here(identity))
    }

    fn is_here(&self, identity: &Identity) -> bool {
        identity.offset == self.offset() && self.seed_fits(identity.seed)
    }

    /// A write to this place of which no more than the seed is known.
    fn unnamed(&self, seed: u64) -> Identity {
        Identity { seed, offset: self.offset(), number: None, thread: None, time: None }
    }

    /// Whether no header names the write.
    fn is_unnamed(&self, identity: &Identity) -> bool {
        self.verifier.spec.pattern.is_none() && identity.number.is_none()
    }

    /// Blocks with a pattern have no seed, and others have one.
    fn seed_fits(&self, seed: u64) -> bool {
        self.verifier.spec.pattern.is_none() || seed == 0
    }

    /// The write named by a header that lies where none should be.
    fn wandered(&self) -> Option<Identity> {
        let (_, header) = self.header_elsewhere()?;
        let start = header.offset.checked_sub(self.offset())?;
        let start = usize::try_from(start).ok().filter(|&start| start < self.raw.len())?;
        Some(Identity::of_header(&header, start))
    }

    /// The first sound header at a place where none should be.
    pub(super) fn header_elsewhere(&self) -> Option<(usize, Header)> {
        let usual = self.verifier.spec.offset as usize;
        let mut from = 0;
        loop {
            let (at, header) = media::find(self.layout, &self.raw, from)?;
            let is_usual = self.verifier.spec.method.has_header() && at % self.step == usual;
            if !is_usual {
                return Some((at, header));
            }
            from = at + 1;
        }
    }

    /// What the block should be. Where that is unknown, the bytes differ from those that were found.
    pub(super) fn wanted(&self) -> Wanted {
        let len = self.raw.len();
        if self.trimmed {
            let block = Candidate { bytes: vec![0; len], unknown: Vec::new() };
            return Wanted { block, identity: None, is_known: true, is_guess: false };
        }
        let expected = self.expected();
        let guessed = if expected.is_some() { None } else { self.guessed() };
        let mut wanted = Wanted {
            block: Candidate { bytes: self.raw.iter().map(|byte| !byte).collect(), unknown: Vec::new() },
            identity: expected.or(guessed),
            is_known: false,
            is_guess: false,
        };
        let mut logical = self.raw.clone();
        logical.chunks_mut(self.step).for_each(|interval| self.verifier.exchange(interval, self.overhead));
        let passes = |start: usize, end: usize| {
            let wanted = &self.evidence.expected;
            self.verifier
                .check_interval(self.layout, &logical, start, end - start, self.offset(), wanted)
                .is_ok()
        };
        let mut built: Vec<(Identity, Identity, Candidate)> = Vec::new();
        for start in self.starts() {
            let end = (start + self.step).min(len);
            if expected.is_none() && passes(start, end) {
                wanted.block.bytes[start..end].copy_from_slice(&self.raw[start..end]);
                continue;
            }
            let Some(identity) = expected.or_else(|| self.guessed_at(start)).or(guessed) else { continue };
            wanted.is_known = true;
            wanted.is_guess |= expected.is_none() && self.is_unnamed(&identity);
            if !built.iter().any(|(known, ..)| *known == identity) {
                let complete = self.with_readable_fields(identity, start);
                // A read of many blocks of the writer has many identities, each good for one stretch.
                built.truncate(MAX_HEADERS);
                let block = Candidate::of(self, &complete, len);
                built.insert(0, (identity, complete, block));
            }
            let Some((_, identity, block)) = built.iter().find(|(known, ..)| *known == identity) else {
                continue;
            };
            wanted.block.bytes[start..end].copy_from_slice(&block.bytes[start..end]);
            let unknown = block.unknown.iter().filter(|range| (start..end).contains(&range.start)).cloned();
            wanted.block.unknown.extend(unknown);
            self.place_in_written_block(&mut wanted.block, identity, start, end - start);
        }
        wanted
    }

    /// Completes an identity by the fields of a damaged header, if its checksum says that only the fields that are known were damaged.
    fn with_readable_fields(&self, identity: Identity, start: usize) -> Identity {
        if !self.verifier.spec.method.has_header() || identity.time.is_some() {
            return identity;
        }
        let candidate = Candidate::of(self, &identity, self.raw.len());
        let place = start + self.verifier.spec.offset as usize;
        let Some(found) = self.raw.get(place..place + self.layout.bytes()) else { return identity };
        let merged: Vec<u8> = (0..self.layout.bytes())
            .map(|at| match candidate.unknown.iter().any(|range| range.contains(&(place + at))) {
                true => found[at],
                false => candidate.bytes[place + at],
            })
            .collect();
        let header =
            media::sound(self.layout, &merged).or_else(|| media::with_one_flip(self.layout, &merged));
        header.map_or(identity, |header| identity.completed_by(&Identity::of_header(&header, start)))
    }

    /// The writer's blocks may have had another length than this read: then the body at `start` continues one that began earlier, or
    /// begins one. The stored digest decides.
    fn place_in_written_block(&self, wanted: &mut Candidate, identity: &Identity, start: usize, len: usize) {
        if self.verifier.spec.pattern.is_some() || self.evidence.own {
            return;
        }
        let found = &self.raw[start..start + len];
        let agreeing = |candidate: &[u8]| candidate.iter().zip(found).filter(|(a, b)| a == b).count();
        if 2 * agreeing(&wanted.bytes[start..start + len]) > len {
            return;
        }
        // Rows are 32 bytes apart from the start of the writer's block, which need not be that of this interval.
        let row = (0..len.saturating_sub(ROW)).find_map(|at| {
            let value = seed_of_row(&found[at..], 0)?;
            let rows = LONGEST_BLOCK / ROW;
            row_of(value, identity.seed, rows).map(|row| (at, row))
        });
        let Some(lead) = row.and_then(|(at, row)| (row * ROW).checked_sub(at)) else { return };
        if lead == start {
            return;
        }
        let mut body = vec![0; lead + len];
        (self.evidence.fill)(&mut body, identity.seed);
        let mut other = wanted.clone();
        other.bytes[start..start + len].copy_from_slice(&body[lead..]);
        other.seal(self, identity, start, len);
        if 2 * agreeing(&other.bytes[start..start + len]) > len {
            *wanted = other;
        }
    }

    /// By how many bytes the body of `wanted` has moved if its rows suggest the seed `found`.
    fn moved_by(&self, wanted: u64, found: u64) -> Option<i64> {
        let rows = self.raw.len() / ROW;
        let down = || row_of(found, wanted, rows).map(|row| -((row * ROW) as i64));
        down().or_else(|| row_of(wanted, found, rows).map(|row| (row * ROW) as i64))
    }

    /// All that the block may consist of; what is wanted comes first.
    pub(super) fn sources(&self, wanted: &Wanted) -> Vec<(Content, Source)> {
        let mut sources = vec![
            (Content::Wanted, Source::Block(wanted.block.clone())),
            (Content::Fill(0), Source::Byte(0)),
            (Content::Fill(0xff), Source::Byte(0xff)),
        ];
        let mut others: Vec<Identity> = Vec::new();
        let is_wanted = |identity: &Identity| wanted.identity.is_some_and(|wanted| wanted.agrees(identity));
        for (_, identity) in self.identities().filter(|(_, identity)| self.seed_fits(identity.seed)) {
            if others.len() < MAX_HEADERS && !is_wanted(&identity) && !others.contains(&identity) {
                others.push(identity);
            }
        }
        if self.trimmed
            && let Some(write) = self.expected()
            && !others.iter().any(|other| other.agrees(&write))
        {
            others.push(write);
        }
        if let Some(pattern) = &self.verifier.spec.pattern {
            let claimed = pattern.claimed_offset(&self.raw).filter(|&offset| offset != self.offset());
            let claimed = claimed.filter(|_| others.is_empty());
            others.extend(claimed.map(|offset| Identity { offset, ..self.unnamed(0) }));
        } else {
            let known = |seed: u64| {
                wanted.identity.is_some_and(|identity| identity.seed == seed)
                    || others.iter().any(|identity| identity.seed == seed)
            };
            let seeds: Vec<u64> =
                seeds_in(&self.raw, 0, MAX_SEEDS).into_iter().filter(|&seed| !known(seed)).collect();
            for seed in seeds {
                // A body that has moved by whole rows gives a seed as well.
                match wanted.identity.and_then(|wanted| self.moved_by(wanted.seed, seed)) {
                    Some(by) => {
                        let moved = wanted.block.moved(by, &self.raw);
                        sources.push((Content::Moved(by), Source::Block(moved)));
                    }
                    None => others.push(self.unnamed(seed)),
                }
            }
        }
        for identity in others {
            let block = Candidate::of(self, &identity, self.raw.len());
            sources.push((Content::Write(identity), Source::Block(block)));
        }
        if self.verifier.spec.method.has_header()
            && self.verifier.spec.pattern.is_none()
            && let Some(seed) = seed_of_row(&self.raw, 0)
        {
            let block = Candidate::without_headers(self.evidence, seed, self.raw.len());
            sources.push((Content::Bare(seed), Source::Block(block)));
        }
        sources
    }
}

/// The block that should be here.
pub(super) struct Wanted {
    pub(super) block: Candidate,
    /// Of its first interval.
    pub(super) identity: Option<Identity>,
    /// False if nothing is known of what failed.
    pub(super) is_known: bool,
    /// No more is known than what the bytes of the body suggest.
    pub(super) is_guess: bool,
}

/// Undoes what the check did to the block: it puts the data of each interval that it looks at back to its place.
fn as_on_disk(verifier: &Verifier, evidence: &Evidence<'_>) -> Vec<u8> {
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
