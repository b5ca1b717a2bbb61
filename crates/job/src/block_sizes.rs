//! How long I/Os are.

/// Block sizes of one direction, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// Smallest I/O.
    pub min: u64,
    /// Largest I/O; equal to `min` for a fixed size.
    pub max: u64,
    /// Alignment of random offsets (`ba`), `min` unless given.
    pub align: u64,
}

/// One size of a `bssplit` with its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShare {
    /// Bytes; may be no multiple of the smallest size, to which I/Os are rounded down.
    pub bytes: u64,
    /// Share in percent, at least 1. All shares of a direction may add up to more or less than 100: the last entry takes what the
    /// others leave.
    pub percent: u32,
}
