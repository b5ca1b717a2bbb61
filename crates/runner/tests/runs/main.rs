//! Whole runs of small plans: which jobs start when, what ends them, what they do to each other.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod commands;
mod ending;
mod errors;
mod fileio;
mod interim;
mod interval;
mod schedule;
mod start_line;
mod support;
