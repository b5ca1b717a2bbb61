//! The candidates for the contents of a block: the expected bytes, and those of other writes.

use super::body::{ROW, row_of, seed_of_row, seeds_in};
use super::candidate::Candidate;
use super::failed_block::{FailedBlock, MAX_HEADERS, MAX_SEEDS};
use super::header_search;
use super::identity::WriteIdentity;
use super::segments::CandidateSource;

/// Maximum distance of a stretch from the presumed start of its block, bytes.
const MAX_SEARCH_BYTES: usize = 16 << 20;

/// The kind of a source of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SourceKind {
    /// The expected contents.
    Expected,
    /// One byte, repeated.
    Fill(u8),
    /// The contents of another write.
    Write(WriteIdentity),
    /// A body without any header, by its seed.
    HeaderlessBody(u64),
    /// The expected contents, this many bytes further on.
    Shifted(i64),
}

impl FailedBlock<'_> {
    /// The expected block. Unknown bytes are the inverse of those read, so that they always differ.
    pub(super) fn expected_block(&self) -> ExpectedBlock {
        let len = self.raw.len();
        if self.trimmed {
            let block = Candidate { bytes: vec![0; len], unknown: Vec::new() };
            return ExpectedBlock { block, identity: None, is_known: true, is_guess: false };
        }
        let expected = self.expected();
        let guessed = if expected.is_some() { None } else { self.guessed() };
        let mut wanted = ExpectedBlock {
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
        let mut built: Vec<(WriteIdentity, WriteIdentity, Candidate)> = Vec::new();
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
                // A read of many blocks of the writer has many identities, each valid for one stretch.
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
            self.align_to_written_block(&mut wanted.block, identity, start, end - start);
        }
        wanted
    }

    /// Completes an identity by the fields of a damaged header, if the checksum shows that only the known fields were damaged.
    fn with_readable_fields(&self, identity: WriteIdentity, start: usize) -> WriteIdentity {
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
        let header = header_search::sound(self.layout, &merged)
            .or_else(|| header_search::with_one_flip(self.layout, &merged));
        header.map_or(identity, |header| identity.completed_by(&WriteIdentity::of_header(&header, start)))
    }

    /// Handles writers whose blocks had another length than this read: the body at `start` may continue one that began earlier, or begin a
    /// new one. The stored digest decides.
    fn align_to_written_block(
        &self,
        wanted: &mut Candidate,
        identity: &WriteIdentity,
        start: usize,
        len: usize,
    ) {
        if self.verifier.spec.pattern.is_some() || self.evidence.is_own {
            return;
        }
        let found = &self.raw[start..start + len];
        let agreeing = |candidate: &[u8]| candidate.iter().zip(found).filter(|(a, b)| a == b).count();
        if 2 * agreeing(&wanted.bytes[start..start + len]) > len {
            return;
        }
        // Rows are 32 bytes apart from the start of the writer's block, which may differ from that of this interval.
        let row = (0..len.saturating_sub(ROW)).find_map(|at| {
            let value = seed_of_row(&found[at..], 0)?;
            let rows = MAX_SEARCH_BYTES / ROW;
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

    /// The shift, in bytes, of a body with the seed `wanted_seed` whose rows suggest `found_seed`; `None` if no shift explains that.
    fn shift_by(&self, wanted_seed: u64, found_seed: u64) -> Option<i64> {
        let rows = self.raw.len() / ROW;
        let down = || row_of(found_seed, wanted_seed, rows).map(|row| -((row * ROW) as i64));
        down().or_else(|| row_of(wanted_seed, found_seed, rows).map(|row| (row * ROW) as i64))
    }

    /// All candidates for the contents of the block; the expected contents come first.
    pub(super) fn sources(&self, wanted: &ExpectedBlock) -> Vec<(SourceKind, CandidateSource)> {
        let mut sources = vec![
            (SourceKind::Expected, CandidateSource::Block(wanted.block.clone())),
            (SourceKind::Fill(0), CandidateSource::Byte(0)),
            (SourceKind::Fill(0xff), CandidateSource::Byte(0xff)),
        ];
        let mut others: Vec<WriteIdentity> = Vec::new();
        let is_wanted =
            |identity: &WriteIdentity| wanted.identity.is_some_and(|wanted| wanted.agrees(identity));
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
            others.extend(claimed.map(|offset| WriteIdentity { offset, ..self.unnamed(0) }));
        } else {
            let known = |seed: u64| {
                wanted.identity.is_some_and(|identity| identity.seed == seed)
                    || others.iter().any(|identity| identity.seed == seed)
            };
            let seeds: Vec<u64> =
                seeds_in(&self.raw, 0, MAX_SEEDS).into_iter().filter(|&seed| !known(seed)).collect();
            for seed in seeds {
                // A body that has moved by whole rows suggests a seed too.
                match wanted.identity.and_then(|wanted| self.shift_by(wanted.seed, seed)) {
                    Some(by) => {
                        let moved = wanted.block.moved(by, &self.raw);
                        sources.push((SourceKind::Shifted(by), CandidateSource::Block(moved)));
                    }
                    None => others.push(self.unnamed(seed)),
                }
            }
        }
        for identity in others {
            let block = Candidate::of(self, &identity, self.raw.len());
            sources.push((SourceKind::Write(identity), CandidateSource::Block(block)));
        }
        if self.verifier.spec.method.has_header()
            && self.verifier.spec.pattern.is_none()
            && let Some(seed) = seed_of_row(&self.raw, 0)
        {
            let block = Candidate::without_headers(self.evidence, seed, self.raw.len());
            sources.push((SourceKind::HeaderlessBody(seed), CandidateSource::Block(block)));
        }
        sources
    }
}

/// The expected block.
pub(super) struct ExpectedBlock {
    pub(super) block: Candidate,
    /// The write of the first interval.
    pub(super) identity: Option<WriteIdentity>,
    /// Whether anything is known about the expected contents of the failed part.
    pub(super) is_known: bool,
    /// Whether the identity is only suggested by the bytes of the body.
    pub(super) is_guess: bool,
}
