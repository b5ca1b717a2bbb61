//! Rebuilds candidate blocks from the identity of a write.

use std::ops::Range;

use super::DamageEvidence;
use super::failed_block::FailedBlock;
use super::identity::WriteIdentity;
use crate::{BlockHeader, HeaderLayout};

/// The bytes of a block in the form on disk.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) bytes: Vec<u8>,
    /// Ranges whose bytes cannot be known: parts of headers.
    pub(super) unknown: Vec<Range<usize>>,
}

impl Candidate {
    /// The block of `len` bytes that the write `identity` leaves.
    pub(super) fn of(failed: &FailedBlock<'_>, identity: &WriteIdentity, len: usize) -> Self {
        let mut bytes = vec![0; len];
        match &failed.verifier.spec.pattern {
            Some(pattern) => pattern.fill(&mut bytes, identity.offset),
            None => (failed.evidence.fill)(&mut bytes, identity.seed),
        }
        let mut candidate = Candidate { bytes, unknown: Vec::new() };
        if failed.verifier.spec.method.has_header() {
            for start in (0..len).step_by(failed.step) {
                candidate.seal(failed, identity, start, failed.step.min(len - start));
            }
        }
        candidate
    }

    /// The body alone, as left by a write without `verify`.
    pub(super) fn without_headers(evidence: &DamageEvidence<'_>, seed: u64, len: usize) -> Self {
        let mut bytes = vec![0; len];
        (evidence.fill)(&mut bytes, seed);
        Candidate { bytes, unknown: Vec::new() }
    }

    /// Writes header and digest into the interval at `start`, whose body is complete.
    pub(super) fn seal(
        &mut self,
        failed: &FailedBlock<'_>,
        identity: &WriteIdentity,
        start: usize,
        len: usize,
    ) {
        let interval = &mut self.bytes[start..start + len];
        let (time_sec, time_nsec) = identity.time.unwrap_or_default();
        let header = BlockHeader {
            seed: identity.seed,
            offset: identity.offset.wrapping_add(start as u64),
            time_sec,
            time_nsec,
            number: identity.number.unwrap_or_default(),
            thread: identity.thread.unwrap_or_default(),
            ..BlockHeader::default()
        };
        header.seal(failed.layout, failed.verifier.spec.method, interval);
        failed.verifier.exchange(interval, failed.overhead);
        let place = start + failed.verifier.spec.offset as usize;
        let mut unknown = |known: bool, range: Range<usize>| {
            if !known {
                self.unknown.push(place + range.start..place + range.end);
            }
        };
        let [number, thread, checksum] = match failed.layout {
            HeaderLayout::Current => [32..40, 40..42, 44..48],
            HeaderLayout::Fio340 => [34..36, 32..34, 36..40],
        };
        let all = identity.time.is_some() && identity.number.is_some() && identity.thread.is_some();
        unknown(identity.time.is_some(), 24..32);
        unknown(identity.number.is_some(), number);
        unknown(identity.thread.is_some(), thread);
        unknown(all, checksum);
    }

    /// Whether the byte at `at` may have this value.
    pub(super) fn allows(&self, at: usize, byte: u8) -> bool {
        self.bytes[at] == byte || self.unknown.iter().any(|range| range.contains(&at))
    }

    /// Length of the prefix of `found`, which begins at `at`, that agrees with the candidate.
    pub(super) fn matching(&self, found: &[u8], at: usize) -> usize {
        if self.bytes[at..at + found.len()] == *found {
            return found.len();
        }
        found.iter().enumerate().take_while(|&(index, &byte)| self.allows(at + index, byte)).count()
    }

    /// A copy whose bytes are moved to higher or lower offsets. Bytes from outside the block are unknown and count as different from `found`.
    pub(super) fn moved(&self, by: i64, found: &[u8]) -> Self {
        let source = |at: usize| usize::try_from(at as i64 - by).ok().filter(|&from| from < self.bytes.len());
        let bytes =
            (0..self.bytes.len()).map(|at| source(at).map_or(!found[at], |from| self.bytes[from])).collect();
        let shift = |at: usize| usize::try_from(at as i64 + by).unwrap_or(0).min(found.len());
        let unknown = self.unknown.iter().map(|range| shift(range.start)..shift(range.end)).collect();
        Candidate { bytes, unknown }
    }
}
