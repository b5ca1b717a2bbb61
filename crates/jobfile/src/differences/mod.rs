//! The deliberate differences from fio: one table for values and one for everything else.
//!
//! `docs/differences.md` is generated from both. Each row of the value table has an example, which the tests read both ways. A
//! difference in grammar, command line or behaviour is a row in the file of its subject in `behaviour`.

mod behaviour;
mod row;
#[cfg(test)]
mod tests;
mod values;

pub use behaviour::BEHAVIOUR;
pub use row::{BehaviourDifference, ValueDifference, ValueTreatment};
pub use values::VALUES;
