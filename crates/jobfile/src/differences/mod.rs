//! Where this program means to differ from fio: one table for values, one for everything else.
//!
//! `docs/differences.md` is made from both. Each row of values carries an example that the tests read both ways. To
//! add a difference of grammar, command line or course of a run, add a row to the file of its subject in `behaviour`.

mod behaviour;
#[cfg(test)]
mod tests;
mod values;

pub use behaviour::BEHAVIOUR;
pub use values::VALUES;

/// A value that fio reads in an odd way.
#[derive(Debug, Clone, Copy)]
pub struct ValueDifference {
    /// Stays the same from version to version.
    pub id: &'static str,
    /// Lines of a job, the last of which shows the difference: `option=value`.
    pub example: &'static [&'static str],
    /// What fio takes the value for: `10 us`; `nothing` if it skips it.
    pub fio: &'static str,
    /// What this program makes of it by default.
    pub ferrio: Outcome,
    /// Why.
    pub why: &'static str,
}

/// What becomes of a value that fio reads in an odd way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Read as fio does.
    Kept,
    /// Refused; the help says how fio reads it.
    Refused,
    /// Read as it was meant, which is this.
    Meant(&'static str),
}

/// A difference of grammar, command line or behaviour.
#[derive(Debug, Clone, Copy)]
pub struct BehaviourDifference {
    /// Stays the same from version to version.
    pub id: &'static str,
    /// What fio does.
    pub fio: &'static str,
    /// What this program does.
    pub ferrio: &'static str,
    /// Why.
    pub why: &'static str,
}
