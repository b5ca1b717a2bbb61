//! Pauses between the I/Os of a job.

use std::time::Duration;

use crate::choice::choices;

/// `thinktime` and the options below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Think {
    /// Length of a pause; zero for none.
    pub time: Duration,
    /// Part of a pause that keeps the CPU busy, at most `time`.
    pub spin: Duration,
    /// A pause follows this many I/Os; `None` when only `iotime` decides.
    pub blocks: Option<u32>,
    /// `blocks` counts issued I/Os, not completed ones.
    pub at_issue: bool,
    /// A pause follows this much time without one; zero when only `blocks` decides.
    pub iotime: Duration,
    /// `thinkcycles`: turns of an empty loop after each I/O.
    pub cycles: u32,
}

choices! {
    /// `thinktime_blocks_type`: which I/Os `thinktime_blocks` counts.
    pub enum ThinktimeBlocksType default Complete {
        Complete: "complete", "Count completed blocks";
        Issue: "issue", "Count issued blocks";
    }
}
