//! Whether the program behaves as ferrio or as fio.

use crate::choice::choices;

choices! {
    /// `--as`, the variable `FERRIO_AS`, or the name that the program is called by.
    pub enum Compat default Ferrio {
        Ferrio: "ferrio", "Refuses values that nobody means, and warns about misleading figures";
        Fio: "fio", "Reads values as fio does, and prints what fio prints";
    }
}
