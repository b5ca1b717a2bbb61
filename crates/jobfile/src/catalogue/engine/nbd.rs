//! Private options of nbd.

use crate::catalogue::macros::rows;
use crate::catalogue::row::OptionRow;

pub(in crate::catalogue) const ROWS: &[OptionRow] = rows! {
    [Engines(&["nbd"]); "engine" / "nbd"] {
        Uri: "uri", Str, Plain;
            Works; "NBD export to use: nbd://host[:port]/export or nbd+unix:///export?socket=/path";
    }
};
