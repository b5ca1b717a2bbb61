//! `--fail-if`: limits that the figures of a run must keep.
//!
//! A [`Threshold`] is read from an expression such as `mail: read.clat.p99 > 5ms`. [`inapplicable`] finds those that can apply to no job of
//! a plan before it runs, and [`judge`] applies them to the report. `figures` is the one table of figures that can be limited.
#![forbid(unsafe_code)]

mod expression;
mod figures;
mod inapplicable;
mod judge;

pub use expression::{ExpressionError, Threshold};
pub use inapplicable::{InapplicableThreshold, inapplicable};
pub use judge::{Judgement, judge};
