//! Private options of mmap.

use crate::catalogue::macros::rows;
use crate::catalogue::row::OptionRow;

pub(in crate::catalogue) const ROWS: &[OptionRow] = rows! {
    [Engines(&["mmap"]); "engine" / "mmap"] {
        Thp: "thp", Int, Plain, max 4294967295;
            Works; "Ask for huge pages on the mapping";
    }
};
