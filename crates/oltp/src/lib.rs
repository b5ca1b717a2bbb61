//! sysbench's load on databases: its eleven tests, and what they have in common with scripts.
//!
//! Tests and scripts share the options of the database, connections that count what they do and know which errors begin an event again,
//! and random numbers. `session` has the events of the tests, `tables` their commands beside `run`. Nothing here prints: texts go to an
//! `Output`, and a failure has its lines in the words of sysbench.

#![forbid(unsafe_code)]

mod bulk_insert;
mod connection;
mod counters;
mod dry_run;
mod failure;
mod options;
mod output;
mod random;
mod sender;
mod session;
mod statements;
mod tables;
mod test;
mod unique;
mod zipfian;

pub use ferrio_sql::Driver;

pub use bulk_insert::BulkInsert;
pub use connection::{Connect, Target, TestConnection};
pub use counters::{Counters, SqlCounts, ThreadCounters};
pub use failure::{CallFailure, Consequence};
pub use options::{DatabaseOptions, IgnoredErrors};
pub use output::Output;
pub use random::{Distribution, RandomNumbers, RandomOptions};
pub use session::{OltpRun, OltpSessions};
pub use tables::{CommandFailed, Filling, TableCommand};
pub use test::{OltpOptions, OltpTest};
pub use unique::UniqueNumbers;
