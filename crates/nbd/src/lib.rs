//! A client of the network block device protocol without TLS, after the public specification (`doc/proto.md` and `doc/uri.md` of the NBD
//! project).
//!
//! - [`uri`]: the address of an export, such as `nbd+unix:///disk?socket=/tmp/nbd.sock`.
//! - [`open`]: connects to a server, and negotiates the export, its size and its capabilities.
//! - [`wire`]: the form of requests and replies afterwards. The engine sends them.

mod channel;
mod error;
mod handshake;
pub mod uri;
pub mod wire;

pub use error::NbdError;
pub use handshake::{Export, ExportBlockSizes, ExportFlags};
pub use uri::{Address, Uri};

use std::io;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use channel::Connection;
use socket2::Socket;

/// Opens the export of a URI for requests over a non-blocking socket. `stopped` ends the wait for a slow server.
///
/// # Errors
/// The server cannot be reached, does not have the export or violates the protocol.
pub fn open(uri: &Uri, stopped: &dyn Fn() -> bool) -> Result<(Socket, Export), NbdError> {
    let mut channel = Connection::open(&uri.address, stopped)?;
    let export = handshake::negotiate(&mut channel, &uri.export)?;
    Ok((channel.into_socket(), export))
}

/// Describes the export of a URI: connects, negotiates and disconnects.
///
/// # Errors
/// Those of [`open`].
pub fn describe(uri: &Uri) -> Result<Export, NbdError> {
    look(uri, &|| false)
}

/// A query to a server that runs beside queries to other servers.
#[derive(Debug)]
pub struct ServerQuery {
    told: Receiver<Result<Export, NbdError>>,
    began: Instant,
    limit: Duration,
}

impl ServerQuery {
    /// Starts a query. The server and the resolution of its name may each take as long as the limit.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn begin(uri: Uri, limit: Duration) -> io::Result<Self> {
        let (tell, told) = mpsc::channel();
        let began = Instant::now();
        // Later than `answer`, which reports the timeout. The resolution of a name cannot be interrupted.
        let stopped = move || began.elapsed() >= 2 * limit;
        let ask = move || {
            // The receiver may have given up.
            let _ = tell.send(look(&uri, &stopped));
        };
        thread::Builder::new().name("ferrio-nbd".to_owned()).spawn(ask)?;
        Ok(ServerQuery { told, began, limit })
    }

    /// Waits for the answer of the server.
    ///
    /// # Errors
    /// Those of [`open`], and a timeout.
    pub fn answer(self) -> Result<Export, NbdError> {
        let left = self.limit.saturating_sub(self.began.elapsed());
        self.told.recv_timeout(left).unwrap_or(Err(NbdError::Silent { limit: self.limit }))
    }
}

fn look(uri: &Uri, stopped: &dyn Fn() -> bool) -> Result<Export, NbdError> {
    let (socket, export) = open(uri, stopped)?;
    disconnect(&socket);
    Ok(export)
}

/// Tells the server that no request follows. The server does not answer.
pub fn disconnect(socket: &Socket) {
    let goodbye = wire::request(wire::RequestType::Disconnect, 0, 0, 0, 0);
    // The server notices the end of the connection in any case.
    let _ = socket.send_with_flags(&goodbye, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT);
}
