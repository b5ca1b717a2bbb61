//! Private options of external engines.

use crate::catalogue::macros::rows;
use crate::catalogue::row::OptionRow;

pub(in crate::catalogue) const ROWS: &[OptionRow] = rows! {
    [Engines(&["external"]); "engine" / "external"] {
        ExternalOptions: "external_options", Str, Plain;
            Works; "Text that the engine gets as it is, for options of its own (ferrio only)";
    }
};
