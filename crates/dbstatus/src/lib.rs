//! Job files of database models from the counters of a running server, divided by its transactions.
//!
//! `snapshot` reads the text that a server's client prints. `innodb` and `postgres` say what each counter means for the model, and
//! `model_job` writes the job file, which says where each value comes from. Nothing here connects to a server.

#![forbid(unsafe_code)]

mod counters;
mod error;
mod innodb;
mod model_job;
mod postgres;
mod snapshot;

pub use error::StatusError;
pub use innodb::{QUERY as INNODB_QUERY, innodb_job};
pub use model_job::{GivenFigures, ModelJob};
pub use postgres::{QUERIES as POSTGRES_QUERIES, postgres_job};
pub use snapshot::Snapshot;
