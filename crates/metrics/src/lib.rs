//! `--metrics`: serves metrics in the OpenMetrics text format over HTTP while jobs run, for Prometheus and compatible readers.
//!
//! [`MetricsServer`] answers requests in its own thread. A request waits for a text that is rendered after its arrival: the run polls
//! [`MetricsServer::is_wanted`] and passes one to [`MetricsServer::publish`]. Nothing is rendered unless a client asks.
#![forbid(unsafe_code)]

mod address;
pub mod request;
mod server;

pub use address::{MetricsAddress, NoAddress};
pub use server::{BindError, MetricsServer};
