//! Chooses the likeliest explanation from the stretches of a block.

use std::ops::Range;

use super::body::{ROW, moved_seed};
use super::failed_block::FailedBlock;
use super::identity::WriteIdentity;
use super::segments::{CandidateSource, Stretch, segments};
use super::sources::{ExpectedBlock, SourceKind};
use super::{Damage, DamageKind, DamagedPart, FoundWrite, WrongByte};
use crate::{HeaderLayout, layout};

/// Most differing bytes that are listed one by one, whatever they contain.
const MAX_LISTED_BYTES: usize = 8;
/// Parts of other blocks are searched for at multiples of this.
const SECTOR: usize = 512;
/// Positions at which a stretch is searched for elsewhere in the block.
const PROBES: usize = 8;

pub(super) fn conclude(failed: &FailedBlock<'_>) -> Damage {
    let wanted = failed.expected_block();
    let mut sources = failed.sources(&wanted);
    let mut cut = cut(failed, &sources);
    if wanted.is_known
        && let Some(by) = shift_of_unexplained(failed, &wanted, &cut)
    {
        let moved = wanted.block.moved(by, &failed.raw);
        sources.push((SourceKind::Shifted(by), CandidateSource::Block(moved)));
        cut = self::cut(failed, &sources);
    }
    Conclusion { failed, wanted, sources, cut }.damage()
}

fn cut(failed: &FailedBlock<'_>, sources: &[(SourceKind, CandidateSource)]) -> Vec<Stretch> {
    let blocks: Vec<&CandidateSource> = sources.iter().map(|(_, source)| source).collect();
    segments(&failed.raw, &blocks)
}

/// Searches for the unexplained bytes elsewhere in the expected block.
fn shift_of_unexplained(failed: &FailedBlock<'_>, wanted: &ExpectedBlock, cut: &[Stretch]) -> Option<i64> {
    let unexplained = cut.iter().filter(|segment| segment.label.is_none() && segment.range.len() >= 2 * ROW);
    // At several positions: any of them may also be damaged, or in a header that is only partly known.
    let mut probes = unexplained.flat_map(|segment| {
        let Range { start, end } = segment.range;
        (0..PROBES).map(move |probe| start + (end - start - ROW) * probe / (PROBES - 1))
    });
    probes.by_ref().take(6).find_map(|at| {
        let probe = &failed.raw[at..at + ROW];
        let is_telling = probe.iter().any(|&byte| byte != probe[0]);
        let mut places = wanted.block.bytes.windows(ROW).enumerate().filter(|(_, bytes)| bytes == &probe);
        let (from, _) = places.next().filter(|_| is_telling)?;
        // Patterns repeat: of all shifts that explain the bytes, the shortest is the likeliest.
        let nearest = places.map(|(from, _)| from).chain([from]).min_by_key(|&from| from.abs_diff(at))?;
        Some(at as i64 - nearest as i64).filter(|&by| by != 0)
    })
}

struct Conclusion<'a, 'b> {
    failed: &'b FailedBlock<'a>,
    wanted: ExpectedBlock,
    sources: Vec<(SourceKind, CandidateSource)>,
    cut: Vec<Stretch>,
}

impl Conclusion<'_, '_> {
    fn damage(&self) -> Damage {
        let wrong: Vec<&Stretch> =
            self.cut.iter().filter(|segment| self.content(segment) != Some(SourceKind::Expected)).collect();
        let Some(content) = self.most_of(&wrong) else { return self.damaged_header() };
        let names_write = wrong.iter().any(|segment| self.is_named_write(segment));
        let differing = self.differing(&wrong);
        // A lost trim leaves more wrong bytes.
        let is_few = differing.len() <= MAX_LISTED_BYTES && (!names_write || self.failed.trimmed);
        if self.wanted.is_known && is_few {
            return self.few_bytes(&differing);
        }
        let of_content = || wrong.iter().filter(|segment| self.content(segment) == content);
        let range = hull(of_content().map(|segment| segment.range.clone()));
        let bytes = |segments: &mut dyn Iterator<Item = &&Stretch>| -> usize {
            segments.map(|segment| segment.range.len()).sum()
        };
        let unexplained_bytes = bytes(&mut wrong.iter().filter(|segment| self.content(segment) != content));
        let is_whole = bytes(&mut wrong.iter()) == self.failed.raw.len();
        let differing = self.wanted.is_known.then_some(differing.len() as u64);
        let base = Damage {
            differing,
            unexplained_bytes: unexplained_bytes as u64,
            part: self.part(of_content().map(|segment| segment.range.clone())),
            range: range.start as u64..range.end as u64,
            ..self.failed.whole_block(DamageKind::Unknown)
        };
        match content {
            Some(SourceKind::Fill(fill)) => {
                let kind = if fill == 0 { DamageKind::Zeros } else { DamageKind::Ones };
                Damage { kind, fill: Some(fill), ..base }
            }
            Some(SourceKind::Shifted(by)) => Damage { kind: DamageKind::Shifted, shift: Some(by), ..base },
            Some(SourceKind::HeaderlessBody(_)) => Damage { kind: DamageKind::NoHeader, ..base },
            _ if !names_write && self.lacks_header(&wrong) => Damage { kind: DamageKind::NoHeader, ..base },
            Some(SourceKind::Write(identity)) => self.other_write(&identity, is_whole, base),
            // The expected contents are not among the wrong stretches.
            None | Some(SourceKind::Expected) => {
                let mut stretches = of_content().map(|segment| &self.failed.raw[segment.range.clone()]);
                let fill = stretches.clone().next().and_then(|bytes| bytes.first().copied());
                let fill = fill.filter(|fill| stretches.all(|bytes| bytes.iter().all(|byte| byte == fill)));
                let kind = match fill {
                    Some(_) => DamageKind::OtherFill,
                    None if is_whole => DamageKind::Unknown,
                    None if base.part == DamagedPart::Header => DamageKind::Header,
                    None => DamageKind::WrongPart,
                };
                Damage { kind, fill, ..base }
            }
        }
    }

    fn content(&self, segment: &Stretch) -> Option<SourceKind> {
        segment.label.map(|label| self.sources[label].0)
    }

    fn is_named_write(&self, segment: &Stretch) -> bool {
        matches!(self.content(segment), Some(SourceKind::Write(WriteIdentity { number: Some(_), .. })))
    }

    /// Without any header, a mostly wrong body is not one that was written with `verify`.
    fn lacks_header(&self, wrong: &[&Stretch]) -> bool {
        let bytes: usize = wrong.iter().map(|segment| segment.range.len()).sum();
        self.wanted.is_guess && 2 * bytes > self.failed.raw.len() && self.failed.has_rows()
    }

    /// The contents of most wrong bytes; `None` if no byte is wrong.
    fn most_of(&self, wrong: &[&Stretch]) -> Option<Option<SourceKind>> {
        let mut totals: Vec<(Option<SourceKind>, usize)> = Vec::new();
        for segment in wrong {
            let content = self.content(segment);
            match totals.iter_mut().find(|(known, _)| *known == content) {
                Some((_, total)) => *total += segment.range.len(),
                None => totals.push((content, segment.range.len())),
            }
        }
        totals.into_iter().rev().max_by_key(|&(_, total)| total).map(|(content, _)| content)
    }

    /// The bytes that differ from the expected ones.
    fn differing(&self, wrong: &[&Stretch]) -> Vec<usize> {
        let places = wrong.iter().flat_map(|segment| segment.range.clone());
        places.filter(|&at| !self.wanted.block.allows(at, self.failed.raw[at])).collect()
    }

    fn few_bytes(&self, differing: &[usize]) -> Damage {
        let (Some(&first), Some(&last)) = (differing.first(), differing.last()) else {
            return self.damaged_header();
        };
        let byte = WrongByte {
            at: first as u64,
            found: self.failed.raw[first],
            wanted: self.wanted.block.bytes[first],
        };
        let is_flip = first == last && (byte.found ^ byte.wanted).is_power_of_two();
        Damage {
            range: first as u64..last as u64 + 1,
            differing: Some(differing.len() as u64),
            part: self.part(differing.iter().map(|&at| at..at + 1)),
            byte: Some(byte),
            ..self.failed.whole_block(if is_flip { DamageKind::BitFlip } else { DamageKind::FewBytes })
        }
    }

    /// Everything that can be checked is right, but a check failed: the damage is in a part of a header that cannot be known.
    fn damaged_header(&self) -> Damage {
        let mismatch = self.failed.evidence.mismatch;
        let start = mismatch.failures.first().map_or(0, |failure| failure.offset - mismatch.offset);
        let start = start + u64::from(self.failed.verifier.spec.offset);
        let end = start + self.failed.overhead as u64;
        Damage { range: start..end, part: DamagedPart::Header, ..self.failed.whole_block(DamageKind::Header) }
    }

    /// The damaged bytes are those of another write.
    fn other_write(&self, identity: &WriteIdentity, is_whole: bool, base: Damage) -> Damage {
        let evidence = self.failed.evidence;
        let named = identity.number.is_some();
        let has_seeds = self.failed.verifier.spec.pattern.is_none();
        let piece = has_seeds.then(|| self.piece_of(identity.seed)).flatten();
        let trimmed = self.failed.trimmed;
        let in_header = |number| layout::number(self.failed.layout, number);
        let wanted = match trimmed {
            true => evidence.expected.number.map(in_header),
            false => self.wanted.identity.and_then(|wanted| wanted.number),
        };
        let in_pass = piece.map(|(number, _)| in_header(number));
        let number = identity.number.map(in_header).or(in_pass.filter(|_| !evidence.drawn.repeated));
        let is_moved = !named && piece.is_some_and(|(_, by)| by != 0);
        let thread = match trimmed {
            true => Some(self.failed.verifier.spec.thread as u16),
            false => self.wanted.identity.and_then(|wanted| wanted.thread),
        };
        let found = FoundWrite {
            offset: Some(identity.offset).filter(|&offset| named || offset != base.offset),
            number,
            job: identity.thread,
        };
        // The seeds that this job has drawn are known: a header with its number and another seed is of another run.
        let drawn = number.filter(|_| evidence.is_own && has_seeds).and_then(|n| evidence.drawn.of_number(n));
        // A job that writes each place once has no other version of a block.
        let is_elsewhere = !named
            && evidence.is_own
            && !evidence.overwrites
            && in_pass.zip(wanted).is_some_and(|(found, wanted)| found != wanted);
        let kind = if identity.offset != base.offset || is_moved || is_elsewhere {
            DamageKind::OtherBlock
        } else if evidence.is_own && identity.thread.is_some_and(|job| Some(job) != thread) {
            DamageKind::OtherJob
        } else if drawn.is_some_and(|seed| seed != identity.seed) {
            DamageKind::OtherRun
        } else if trimmed {
            DamageKind::LostTrim
        } else if number == wanted && number.is_some() {
            DamageKind::OtherRun
        } else if !is_whole {
            DamageKind::TornWrite
        } else if self.is_later(number, wanted) {
            DamageKind::NewerVersion
        } else if number.is_some() && wanted.is_some() {
            DamageKind::OlderVersion
        } else {
            DamageKind::OtherRun
        };
        // Zeros have no number.
        let wanted_number = wanted.filter(|_| !trimmed);
        Damage { kind, found: Some(found), wanted_number, ..base }
    }

    /// Whether a write came after the expected one. Old headers have only the low half of the numbers.
    fn is_later(&self, number: Option<u64>, wanted: Option<u64>) -> bool {
        self.failed.layout == HeaderLayout::Current
            && number.zip(wanted).is_some_and(|(number, wanted)| number > wanted)
    }

    /// The write that has drawn a seed, or one whose body matches that seed after a shift by whole sectors, and the number of rows of the
    /// shift.
    fn piece_of(&self, seed: u64) -> Option<(u64, i64)> {
        let drawn = self.failed.evidence.drawn;
        let sectors = (self.failed.raw.len() / SECTOR) as i64;
        let nearest_first = (0..=sectors).flat_map(|sector| [sector, -sector]);
        nearest_first
            .map(|sector| sector * (SECTOR / ROW) as i64)
            .find_map(|rows| drawn.number_of(moved_seed(seed, rows)).map(|number| (number, rows)))
    }

    /// The part of the block that contains these stretches.
    fn part(&self, stretches: impl Iterator<Item = Range<usize>>) -> DamagedPart {
        let (overhead, place) = (self.failed.overhead, self.failed.verifier.spec.offset as usize);
        let step = self.failed.step;
        let (mut header, mut data) = (false, false);
        for Range { start, end } in stretches {
            // The two intervals at the ends are only partly covered; all between them entirely.
            for interval in [start / step, (end - 1) / step] {
                let begins = interval * step + place;
                header |= overhead > 0 && start < begins + overhead && end > begins;
                let (from, to) = (start.max(interval * step), end.min((interval + 1) * step));
                data |= from < begins.min(to) || to > (begins + overhead).max(from);
            }
        }
        match (header, data) {
            (true, true) => DamagedPart::Both,
            (true, false) => DamagedPart::Header,
            _ => DamagedPart::Data,
        }
    }
}

/// The range from the first byte of the stretches to the last.
fn hull(stretches: impl Iterator<Item = Range<usize>>) -> Range<usize> {
    stretches.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end)).unwrap_or_default()
}
