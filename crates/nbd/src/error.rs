//! What can go wrong before an export can be used.

use std::io;
use std::time::Duration;

use nix::errno::Errno;

/// Longest wait of each step of connecting.
pub(crate) const STEP_TIMEOUT: Duration = Duration::from_secs(30);

/// Why an export cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NbdError {
    /// The URI is not one, or not one that works here.
    #[error("{0}")]
    Uri(String),
    /// No connection to the server.
    #[error("connect: {}{}", remote(.address.as_deref()), words(.source))]
    Connect {
        /// `host:port`; none for a socket of the file system.
        address: Option<String>,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The connection failed during the handshake.
    #[error("the server {what} during the handshake: {}", words(.source))]
    Broken {
        /// What happened.
        what: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// No answer in a time that the caller has limited.
    #[error(
        "no answer within {} ms; a run waits up to {} s in each step of connecting",
        limit.as_millis(),
        STEP_TIMEOUT.as_secs()
    )]
    Silent {
        /// The time.
        limit: Duration,
    },
    /// The server does not let this client use the export.
    #[error("the server refuses the export \"{export}\": {reason}")]
    Refused {
        /// Its name.
        export: String,
        /// The server's words, or the meaning of its answer.
        reason: String,
        /// The nearest errno.
        errno: Errno,
    },
    /// The other end does not follow the protocol.
    #[error("no NBD server: {0}")]
    Protocol(String),
}

impl NbdError {
    /// The nearest errno.
    #[must_use]
    pub fn errno(&self) -> i32 {
        match self {
            NbdError::Uri(_) => libc::EINVAL,
            NbdError::Connect { source, .. } | NbdError::Broken { source, .. } => {
                source.raw_os_error().unwrap_or(libc::EIO)
            }
            NbdError::Silent { .. } => libc::ETIMEDOUT,
            NbdError::Refused { errno, .. } => *errno as i32,
            NbdError::Protocol(_) => libc::EPROTO,
        }
    }
}

fn remote(address: Option<&str>) -> String {
    address.map(|address| format!("{address}: could not connect to remote host: ")).unwrap_or_default()
}

/// The words of an errno, without its number.
fn words(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), |errno| Errno::from_raw(errno).desc().to_owned())
}
