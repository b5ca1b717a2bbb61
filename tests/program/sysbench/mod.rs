//! Tests of sysbench.

mod aggregates;
mod articles;
mod compared;
pub mod figures;
mod readers;
#[cfg(feature = "lua")]
mod scripts;
