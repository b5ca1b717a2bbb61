//! The deliberate differences from fio: one table for values and one for everything else.
//!
//! `docs/differences.md` is generated from both. Each row of the value table has an example, which the tests read both ways. A
//! difference in grammar, command line or behaviour is a row in the file of its subject in `behaviour`.

mod behaviour;
#[cfg(test)]
mod tests;
mod values;

pub use behaviour::BEHAVIOUR;
pub use values::VALUES;

/// A value that fio reads in an unexpected way.
#[derive(Debug, Clone, Copy)]
pub struct ValueDifference {
    /// A stable identifier.
    pub id: &'static str,
    /// Lines of a job, `option=value`; the last one shows the difference.
    pub example: &'static [&'static str],
    /// How fio reads the value: `10 us`, or `nothing` if it skips it.
    pub fio: &'static str,
    /// How ferrio reads it by default.
    pub ferrio: Outcome,
    /// Why.
    pub why: &'static str,
}

/// How ferrio treats a value that fio reads in an unexpected way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Read as fio does.
    Kept,
    /// Refused; the message says how fio reads it.
    Refused,
    /// Read as this, which is what was meant.
    Meant(&'static str),
}

/// A difference in grammar, command line or behaviour.
#[derive(Debug, Clone, Copy)]
pub struct BehaviourDifference {
    /// A stable identifier.
    pub id: &'static str,
    /// What fio does.
    pub fio: &'static str,
    /// What ferrio does.
    pub ferrio: &'static str,
    /// Why.
    pub why: &'static str,
}
