//! What sysbench's tests of databases and its scripts have in common: the options of the database, connections that count what they do and
//! know which errors begin an event again, and the random numbers.
//!
//! Nothing here prints: a failure has its lines in the words of sysbench, and whoever runs the test shows them.

#![forbid(unsafe_code)]

mod connection;
mod counters;
mod dry_run;
mod failure;
mod options;
mod random;
mod unique;
mod zipfian;

pub use connection::{Connect, Target, TestConnection};
pub use counters::{Counters, SqlCounts, ThreadCounters};
pub use failure::{CallFailure, Consequence};
pub use options::{DatabaseOptions, Driver, IgnoredErrors};
pub use random::{Distribution, RandomNumbers, RandomOptions};
pub use unique::UniqueNumbers;
