//! Tests of sysbench.

mod articles;
mod compared;
pub mod figures;
mod readers;
