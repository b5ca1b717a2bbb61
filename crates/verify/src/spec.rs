//! The verification that a job asks for.

use ferrio_job::{JobSpec, Pattern, Verify};
use thiserror::Error;

use crate::{BlockPattern, HeaderLayout, PatternError, VerifyMethod};

/// The verification of a job, with all implications of its options resolved.
#[derive(Clone, Debug)]
pub struct VerifySpec {
    /// `verify`.
    pub method: VerifyMethod,
    /// `verify_layout`: the layout of headers that are written, and expected.
    pub layout: HeaderLayout,
    /// Whether blocks may have headers of any layout, because another program may have written them.
    pub any_layout: bool,
    /// Bytes that carry one header, from [`resolve_interval`](crate::resolve_interval).
    pub interval: u32,
    /// Whether each block is one interval whatever its length (`bs_unaligned`).
    pub whole_blocks: bool,
    /// `verify_offset`, bytes; 0 when not given.
    pub offset: u32,
    /// Number of the job, from 1.
    pub thread: u32,
    /// Whether `verify_header_seed` is in effect: the seed is compared where one is expected.
    pub header_seed: bool,
    /// Whether `verify_write_sequence` is in effect: the number of the write is compared where one is expected.
    pub write_sequence: bool,
    /// `verify_fatal`: whether the check of a block stops after its first bad interval.
    pub fatal: bool,
    /// `verify_pattern` replaces the random body.
    pub pattern: Option<BlockPattern>,
}

impl VerifySpec {
    /// Resolves the options of a job.
    ///
    /// # Errors
    /// The pattern cannot be used.
    pub fn of(job: &JobSpec, verify: &Verify) -> Result<Self, SpecError> {
        let pattern = verify
            .pattern
            .clone()
            .map(|Pattern { bytes, offsets }| BlockPattern::new(bytes, offsets, verify.pattern_interval));
        Ok(VerifySpec {
            method: verify.method,
            layout: verify.layout,
            // The blocks of a writing job have the header that it asks for: another header is that of data that should have been replaced.
            any_layout: !job.writes_data(),
            interval: verify.interval,
            whole_blocks: job.bs_unaligned,
            offset: verify.offset,
            thread: job.number,
            header_seed: job.checks_header_seed(verify),
            write_sequence: job.checks_write_sequence(verify),
            fatal: verify.fatal,
            pattern: pattern.transpose()?,
        })
    }
}

/// A reason why a job cannot verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// The pattern cannot be used.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The method needs a pattern.
    #[error("verify={} needs verify_pattern", .0.word())]
    PatternMissing(VerifyMethod),
    /// Releases that write this layout do not support the digest.
    #[error("verify={} does not work with verify_layout={}: these releases of fio store no SHA-512", .method.word(), .layout.word())]
    NoDigest {
        /// The method.
        method: VerifyMethod,
        /// `verify_layout`
        layout: HeaderLayout,
    },
    /// The header would be exchanged with part of itself.
    #[error("verify_offset={offset} reaches into the header: with verify={} it must be {header} or more", .method.word())]
    OffsetInHeader {
        /// The given value, bytes.
        offset: u32,
        /// The method.
        method: VerifyMethod,
        /// Bytes of header and digest.
        header: u32,
    },
    /// The header would leave its interval.
    #[error(
        "verify_offset={offset} and a header of {header} bytes reach beyond the verify interval of {interval} bytes"
    )]
    OffsetBeyondInterval {
        /// The given value, bytes.
        offset: u32,
        /// Bytes of header and digest.
        header: u32,
        /// Bytes.
        interval: u32,
    },
}
