//! Zones of a file that are worked on one after the other.

use crate::choice::choices;

choices! {
    /// `zonemode`: what the zone options mean.
    pub enum ZoneMode default None {
        None: "none", "No zones";
        Strided: "strided", "Zones made by zonesize and zoneskip";
        /// Not available here.
        Zbd: "zbd", "Zones of a zoned block device";
    }
}

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
