//! Options that change nothing in the company they are in: one row says which options, when, and why.
//!
//! Each subject has its rows in a table `INERT`; `status` reads all of them. An option that never has an effect has the reason in the
//! catalogue instead. An option that another job may bring to life (`exit_what` by its `exitall`) has no row.

use ferrio_jobfile::{Job, Opt};

/// Options that are inert together.
pub(crate) struct Inert {
    /// The options. All rows of one option are in one table, and the first of them that applies gives the reason.
    pub(crate) opts: &'static [Opt],
    /// Whether the other options of the job leave these without effect.
    pub(crate) when: fn(&Job) -> bool,
    /// A phrase without an end.
    pub(crate) reason: &'static str,
}

/// The table `INERT` of a subject, each row as `options: when; reason;`.
macro_rules! inert {
    ($($($opt:ident)+: $when:expr; $reason:literal;)+) => {
        pub(crate) const INERT: &[crate::inert::Inert] = &[$(crate::inert::Inert {
            opts: &[$(ferrio_jobfile::Opt::$opt),+],
            when: $when,
            reason: $reason,
        }),+];
    };
}
pub(crate) use inert;
