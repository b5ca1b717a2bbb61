//! Private options of mtd.

use crate::catalogue::macros::rows;
use crate::catalogue::row::OptionRow;

pub(in crate::catalogue) const ROWS: &[OptionRow] = rows! {
    [Engines(&["mtd"]); "engine" / "mtd"] {
        SkipBad: "skip_bad", Bool, Plain, default "0";
            Works; "Pass over blocks that are known to be bad";
    }
};
