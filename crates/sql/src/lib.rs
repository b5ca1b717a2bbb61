//! Connections to databases. [`Connection`] is what a test of a database needs of one, and each database is a file that implements it.
//!
//! It knows statements and rows, not tests: which statements are sent, and what an error means for a run, is its caller's business.

#![forbid(unsafe_code)]

mod client;
mod connection;
mod driver;
mod error;
mod input;
mod login;
mod mysql;
mod pgsql;
mod reply;
mod socket;
mod stream;
#[cfg(feature = "tls")]
mod tls;
mod value;

pub use connection::{Connection, StatementId};
pub use driver::Driver;
pub use error::{ServerError, SqlError};
pub use login::{Address, Login};
pub use reply::{Keep, Reply, ReplyKind, Row};
pub use value::Value;
