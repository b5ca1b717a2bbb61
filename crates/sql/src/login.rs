//! Where a server is, and who asks.

use std::path::PathBuf;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A TCP port.
    Tcp {
        /// Name or address.
        host: String,
        /// Port.
        port: u16,
    },
    /// A Unix socket.
    Socket(PathBuf),
}

/// What is needed for a connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The server.
    pub address: Address,
    /// The user.
    pub user: String,
    /// The password; may be empty.
    pub password: String,
    /// The database, or schema.
    pub database: String,
    /// The connection is encrypted, or it is refused.
    pub tls: bool,
    /// Data is compressed where the database can do that.
    pub compression: bool,
}
