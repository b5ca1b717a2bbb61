//! The failure of a check, and the messages that fio prints for it.

use std::fmt;

use ferrio_job::{Diagnostic, Origin, Prefix};
use thiserror::Error;

use crate::{Digest, MAGIC, VERSION, VerifyMethod};

/// A failed check of a block, with at least one failed interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockMismatch {
    /// Offset of the block in its file, bytes.
    pub offset: u64,
    /// Bytes of the block.
    pub len: u64,
    /// In ascending order of offsets.
    pub failures: Vec<IntervalFailure>,
}

/// A failed interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalFailure {
    /// Offset of the interval in its file, bytes.
    pub offset: u64,
    /// Bytes of the interval.
    pub len: u64,
    /// The problem.
    pub problem: IntervalProblem,
}

/// The first error in an interval. `Display` writes it without its place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IntervalProblem {
    /// There is no room for a header of the method and any data.
    #[error("no room for a header and data")]
    NoRoom,
    /// No header.
    #[error("bad magic header {0:x}, wanted {MAGIC:x}")]
    Magic(u16),
    /// A header of another layout.
    #[error(
        "unsupported header version {0:x}, wanted {VERSION:x}. Are you trying to verify across versions of fio?"
    )]
    Version(u8),
    /// A header of another block or write, or of an interval of another length.
    #[error("bad header {name} {found}, wanted {wanted}")]
    Field {
        /// fio's name of the field: `length`, `rand_seed`, `offset` or `numberio`.
        name: &'static str,
        /// The value in the header.
        found: u64,
        /// The expected value.
        wanted: u64,
    },
    /// The header itself is damaged.
    #[error("bad header crc {found:x}, calculated {computed:x}")]
    HeaderChecksum {
        /// The checksum in the header.
        found: u32,
        /// The checksum of the other bytes of the header.
        computed: u32,
    },
    /// A trimmed block contains other bytes than zeros.
    #[error("block offset {at}")]
    NotZero {
        /// Index of the first of them.
        at: u64,
    },
    /// The data is damaged.
    #[error("digest {}, calculated {}", .0.stored, .0.computed)]
    Digest(Box<BadDigest>),
    /// The data differs from the pattern.
    #[error("byte {found:02x}, wanted {wanted:02x}")]
    Pattern {
        /// The byte on disk.
        found: u8,
        /// The byte of the pattern.
        wanted: u8,
        /// Index of the byte in the interval, or since the pattern last restarted.
        at: u64,
        /// Type byte and method's code, if writer and reader used different methods.
        media: Option<(u8, u8)>,
    },
}

/// Both digests of damaged data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadDigest {
    /// The reader's method.
    pub method: VerifyMethod,
    /// The digest on disk.
    pub stored: Digest,
    /// The digest of the data.
    pub computed: Digest,
    /// Type byte of a writer that used another method.
    pub media: Option<u8>,
}

impl BlockMismatch {
    pub(crate) fn of_whole_block(offset: u64, len: u64, problem: IntervalProblem) -> Box<Self> {
        let failures = vec![IntervalFailure { offset, len, problem }];
        Box::new(BlockMismatch { offset, len, failures })
    }

    /// The messages to the user, one per line, as fio writes them to stderr. `file` is the name of the file; `flags` is fio's word for the
    /// state of the I/O: `0x8` in a job that reads, `0x88` when written blocks are read back. `of_interval` returns further lines about a
    /// failure.
    #[must_use]
    pub fn diagnostics(
        &self,
        file: &str,
        flags: u32,
        mut of_interval: impl FnMut(&IntervalFailure) -> Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        let mut lines = Vec::new();
        let line = |prefix, message| {
            Diagnostic::error(message, Origin::Builtin).code("verify-mismatch").prefix(prefix)
        };
        for failure @ IntervalFailure { offset, len, problem } in &self.failures {
            let mut add = |prefix, message| lines.push(line(prefix, message));
            let BlockMismatch { offset: block, len: block_len, .. } = self;
            let place = |more: fmt::Arguments<'_>| {
                format!(
                    "at file {file} offset {offset}, length {len} (requested block: offset={block}, length={block_len}{more})"
                )
            };
            let media = match problem {
                IntervalProblem::Digest(bad) => {
                    let BadDigest { method, stored, computed, media } = &**bad;
                    let name = &method.word()[..method.word().len().min(8)];
                    let place = place(format_args!(", flags={flags:x}"));
                    add(Prefix::None, format!("{name}: verify failed {place}"));
                    add(Prefix::None, format!("       Expected CRC: {stored}"));
                    add(Prefix::None, format!("       Received CRC: {computed}"));
                    media.map(|media| (media, method.code()))
                }
                IntervalProblem::Pattern { found, wanted, at, media } => {
                    let bits = (found ^ wanted).count_ones();
                    let place = place(format_args!(", flags={flags:x}"));
                    add(
                        Prefix::Program,
                        format!("got pattern '{found:02x}', wanted '{wanted:02x}'. Bad bits {bits}"),
                    );
                    add(Prefix::Program, format!("bad pattern block offset {at}"));
                    add(Prefix::None, format!("pattern: verify failed {place}"));
                    *media
                }
                IntervalProblem::NotZero { .. } => {
                    let place = format!("at file {file} offset {offset}, length {len}");
                    add(Prefix::None, format!("verify failed for zeroed data {place}, {problem}"));
                    None
                }
                _ => {
                    add(Prefix::None, format!("verify: {problem} {}", place(format_args!(""))));
                    None
                }
            };
            lines.append(&mut of_interval(failure));
            if let Some((media, given)) = media {
                lines.push(line(
                    Prefix::Program,
                    format!("verify type mismatch ({media} media, {given} given)"),
                ));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_job::Compat;

    fn lines(len: u64, problem: IntervalProblem) -> Vec<String> {
        let failure = IntervalFailure { offset: 5120, len, problem };
        let mismatch = BlockMismatch { offset: 4096, len: 4096, failures: vec![failure] };
        mismatch.diagnostics("f", 0x88, |_| Vec::new()).iter().map(|note| note.line(Compat::Fio)).collect()
    }

    #[test]
    fn a_bad_header_is_one_line() {
        let place = " at file f offset 5120, length 1024 (requested block: offset=4096, length=4096)";
        let cases = [
            (IntervalProblem::Magic(0), "bad magic header 0, wanted acca"),
            (
                IntervalProblem::Version(0x80),
                "unsupported header version 80, wanted 81. Are you trying to verify across versions of fio?",
            ),
            (
                IntervalProblem::Field { name: "length", found: 16_781_312, wanted: 4096 },
                "bad header length 16781312, wanted 4096",
            ),
            (
                IntervalProblem::Field { name: "rand_seed", found: 1, wanted: 2 },
                "bad header rand_seed 1, wanted 2",
            ),
            (
                IntervalProblem::Field { name: "offset", found: 65535, wanted: 4096 },
                "bad header offset 65535, wanted 4096",
            ),
            (
                IntervalProblem::Field { name: "numberio", found: 9, wanted: 1 },
                "bad header numberio 9, wanted 1",
            ),
            (
                IntervalProblem::HeaderChecksum { found: 0x6ac0_3200, computed: 0x6ac0_323d },
                "bad header crc 6ac03200, calculated 6ac0323d",
            ),
        ];
        for (problem, text) in cases {
            assert_eq!(lines(1024, problem), [format!("verify: {text}{place}")]);
        }
    }

    #[test]
    fn a_bad_digest_shows_both_and_says_when_the_types_differ() {
        let problem = IntervalProblem::Digest(Box::new(BadDigest {
            method: VerifyMethod::Crc32c,
            stored: Digest::of(&[0x1a, 0xb6, 0x8a, 0x36]),
            computed: Digest::of(&[0x37, 0x8d, 0x51, 0x1d]),
            media: Some(2),
        }));
        assert_eq!(
            lines(1024, problem),
            [
                "crc32c: verify failed at file f offset 5120, length 1024 (requested block: offset=4096, length=4096, flags=88)",
                "       Expected CRC: 1ab68a36",
                "       Received CRC: 378d511d",
                "fio: verify type mismatch (2 media, 5 given)",
            ]
        );
    }

    #[test]
    fn a_bad_pattern_names_byte_and_bits() {
        let problem = IntervalProblem::Pattern { found: 0x55, wanted: 0x22, at: 105, media: None };
        assert_eq!(
            lines(4096, problem),
            [
                "fio: got pattern '55', wanted '22'. Bad bits 6",
                "fio: bad pattern block offset 105",
                "pattern: verify failed at file f offset 5120, length 4096 (requested block: offset=4096, length=4096, flags=88)",
            ]
        );
    }
}
