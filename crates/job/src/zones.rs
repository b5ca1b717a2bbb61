//! Zones of a file that are worked on one after the other.

/// Zones of `zonemode=strided`, in bytes, each at least 1 but `skip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zones {
    /// Bytes to do in a zone before the next one.
    pub size: u64,
    /// Length of a zone.
    pub range: u64,
    /// Gap between two zones.
    pub skip: u64,
}
