//! Differences in grammar, command line and behaviour, by subject.

mod buffers;
mod command_line;
mod grammar;
mod jobs;
mod output;
mod workload;

use super::row::BehaviourDifference;

/// All of them. `docs/differences.md` keeps this order.
pub const BEHAVIOUR: &[&[BehaviourDifference]] =
    &[grammar::ROWS, jobs::ROWS, command_line::ROWS, buffers::ROWS, workload::ROWS, output::ROWS];
