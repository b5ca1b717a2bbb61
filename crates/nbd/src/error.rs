//! Errors on the way to a usable export.

use std::io;
use std::time::Duration;

use nix::errno::Errno;

/// Longest wait of each step of connecting.
pub(crate) const STEP_TIMEOUT: Duration = Duration::from_secs(30);

/// A reason why an export cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NbdError {
    /// The URI is invalid, or not supported here.
    #[error("{0}")]
    Uri(String),
    /// The server cannot be reached.
    #[error("connect: {}{}", remote(.address.as_deref()), words(.source))]
    Connect {
        /// `host:port`; `None` for a Unix socket.
        address: Option<String>,
        /// The error of the kernel.
        source: io::Error,
    },
    /// The connection failed during the handshake.
    #[error("the server {what} during the handshake: {}", words(.source))]
    Broken {
        /// The failed step.
        what: &'static str,
        /// The error of the kernel.
        source: io::Error,
    },
    /// The server did not answer within the caller's limit.
    #[error(
        "no answer within {} ms; a run waits up to {} s in each step of connecting",
        limit.as_millis(),
        STEP_TIMEOUT.as_secs()
    )]
    Silent {
        /// The limit.
        limit: Duration,
    },
    /// The server denies this client the export.
    #[error("the server refuses the export \"{export}\": {reason}")]
    Refused {
        /// Name of the export.
        export: String,
        /// The server's text, or the meaning of its error number.
        reason: String,
        /// The nearest errno.
        errno: Errno,
    },
    /// The server violates the protocol.
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

/// The text of an errno without its number.
fn words(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), |errno| Errno::from_raw(errno).desc().to_owned())
}
