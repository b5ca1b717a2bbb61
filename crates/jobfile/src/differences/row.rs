//! What a row of either table says.

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
    pub ferrio: ValueTreatment,
    /// Why.
    pub why: &'static str,
}

/// How ferrio treats a value that fio reads in an unexpected way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueTreatment {
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
