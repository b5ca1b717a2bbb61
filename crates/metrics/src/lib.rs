//! `--metrics`: an OpenMetrics text over HTTP while jobs run, for Prometheus and everything that reads it.
//!
//! [`MetricsServer`] answers requests in a thread of its own. A request asks for a text that is made after it came: the run looks at
//! [`MetricsServer::is_wanted`] from time to time and gives one to [`MetricsServer::publish`]. So nothing is made that nobody reads.
#![forbid(unsafe_code)]

mod address;
pub mod request;
mod server;

pub use address::{MetricsAddress, NoAddress};
pub use server::{BindError, MetricsServer};
