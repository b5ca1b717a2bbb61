//! `--fail-if`: limits that the figures of a run must keep.
//!
//! A [`Threshold`] is read from an expression such as `mail: read.clat.p99 > 5ms`. [`unmet`] finds those that can apply to no job of a plan,
//! before it runs, and [`judge`] says what they find in the report. `figures` is the one table of what can be limited.
#![forbid(unsafe_code)]

mod applies;
mod expression;
mod figures;
mod judge;

pub use applies::{Unmet, unmet};
pub use expression::{Comparison, ExpressionError, Threshold};
pub use judge::{Judgement, judge};
