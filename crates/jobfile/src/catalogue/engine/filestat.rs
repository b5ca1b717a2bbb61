//! Private options of filestat and dirstat.

use crate::catalogue::macros::rows;
use crate::catalogue::row::OptionRow;

pub(in crate::catalogue) const ROWS: &[OptionRow] = rows! {
    [Engines(&["filestat", "dirstat"]); "engine" / "filestat"] {
        StatType: "stat_type", Enum, Plain, of StatType;
            Works; "Call measured by the stat engines";
    }
};
