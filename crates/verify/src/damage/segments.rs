//! Cuts a block into stretches by their contents: the expected bytes, zeros, another write, or unknown bytes.

use std::ops::Range;

use super::candidate::Candidate;

/// Bytes that are compared at a time. Boundaries between stretches are refined to the exact byte afterwards.
const CELL: usize = 16;

/// The contents of a stretch as an index into the sources; `None` for bytes that none of them explains.
pub(super) type Label = Option<usize>;

/// One possible content.
#[derive(Clone, Debug)]
pub(super) enum CandidateSource {
    /// This byte, repeated.
    Byte(u8),
    /// The bytes of a block.
    Block(Candidate),
}

impl CandidateSource {
    fn matching(&self, found: &[u8], at: usize) -> usize {
        match self {
            CandidateSource::Byte(byte) => found.iter().take_while(|&found| found == byte).count(),
            CandidateSource::Block(candidate) => candidate.matching(found, at),
        }
    }
}

/// A stretch of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) range: Range<usize>,
    pub(super) label: Label,
}

/// The stretches of a block in order. Of the sources that explain the bytes at a place, the one that continues longest is chosen, and the
/// first of equals.
pub(super) fn segments(block: &[u8], sources: &[&CandidateSource]) -> Vec<Stretch> {
    let runs: Vec<Vec<usize>> = sources.iter().map(|source| runs(block, source)).collect();
    let mut segments: Vec<Stretch> = Vec::new();
    let mut at = 0;
    while at < block.len() {
        let run = |label: usize| runs[label][at / CELL];
        let longest =
            (0..sources.len()).rev().max_by_key(|&label| run(label)).filter(|&label| run(label) > 0);
        let end = match longest {
            Some(label) => ((at / CELL + run(label)) * CELL).min(block.len()),
            None => (at + CELL).min(block.len()),
        };
        match segments.last_mut() {
            Some(last) if last.label == longest => last.range.end = end,
            _ => segments.push(Stretch { range: at..end, label: longest }),
        }
        at = end;
    }
    refine(block, sources, &mut segments);
    segments
}

/// For each cell of the block, the number of consecutive cells from it on that agree with the source.
fn runs(block: &[u8], source: &CandidateSource) -> Vec<usize> {
    let mut runs = vec![0; block.len().div_ceil(CELL)];
    let mut length = 0;
    for (index, cell) in block.chunks(CELL).enumerate().rev() {
        length = if source.matching(cell, index * CELL) == cell.len() { length + 1 } else { 0 };
        runs[index] = length;
    }
    runs
}

/// Moves boundaries from cells to the exact byte: bytes after a stretch that agree with it belong to it, and so do bytes before a stretch
/// whose predecessor is unexplained.
fn refine(block: &[u8], sources: &[&CandidateSource], segments: &mut Vec<Stretch>) {
    for index in 1..segments.len() {
        let (before, after) = (segments[index - 1].clone(), segments[index].clone());
        if let Some(label) = before.label {
            let next = &block[after.range.start..after.range.end.min(after.range.start + CELL)];
            let moved = sources[label].matching(next, after.range.start);
            // Of two stretches that both explain the bytes, neither is preferred.
            if after.label.is_none() {
                segments[index - 1].range.end += moved;
                segments[index].range.start += moved;
            }
        }
        if let (None, Some(label)) = (before.label, segments[index].label) {
            let mut start = segments[index].range.start;
            let least = segments[index - 1].range.start.max(start.saturating_sub(CELL));
            while start > least && sources[label].matching(&block[start - 1..start], start - 1) == 1 {
                start -= 1;
            }
            segments[index - 1].range.end = start;
            segments[index].range.start = start;
        }
    }
    segments.retain(|segment| !segment.range.is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(bytes: Vec<u8>) -> CandidateSource {
        CandidateSource::Block(Candidate { bytes, unknown: Vec::new() })
    }

    fn cut(found: &[u8], sources: &[CandidateSource]) -> Vec<(Range<usize>, Label)> {
        segments(found, &sources.iter().collect::<Vec<_>>())
            .into_iter()
            .map(|segment| (segment.range, segment.label))
            .collect()
    }

    #[test]
    fn stretches_end_at_the_exact_byte() {
        let wanted: Vec<u8> = (1..=200).collect();
        let mut found = wanted.clone();
        found[37..90].fill(0);
        let sources = [block(wanted), CandidateSource::Byte(0)];
        assert_eq!(cut(&found, &sources), [(0..37, Some(0)), (37..90, Some(1)), (90..200, Some(0))]);
    }

    #[test]
    fn a_byte_that_nothing_explains_is_a_stretch_of_its_own() {
        let wanted: Vec<u8> = (1..=100).collect();
        let mut found = wanted.clone();
        found[50] = 0;
        assert_eq!(cut(&found, &[block(wanted)]), [(0..50, Some(0)), (50..51, None), (51..100, Some(0))]);
    }

    #[test]
    fn the_first_of_equals_is_taken() {
        let bytes = vec![0; 64];
        assert_eq!(cut(&bytes, &[block(bytes.clone()), CandidateSource::Byte(0)]), [(0..64, Some(0))]);
        assert_eq!(cut(&bytes, &[CandidateSource::Byte(1)]), [(0..64, None)]);
    }
}
