//! Bytes to repeat: `buffer_pattern`, `verify_pattern`.

/// A fill pattern: bytes to repeat, with places for the block's offset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pattern {
    /// The bytes; zeroes where an offset goes.
    pub bytes: Vec<u8>,
    /// Where in `bytes` an 8-byte block offset (`%o`) goes.
    pub offsets: Vec<usize>,
}
