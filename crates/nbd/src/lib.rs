//! The network block device protocol, as its public specification (`doc/proto.md` and `doc/uri.md` of the NBD project) defines it: what
//! a client needs without TLS.
//!
//! - [`uri`]: where an export is, such as `nbd+unix:///disk?socket=/tmp/nbd.sock`.
//! - [`open`]: connects to a server, and negotiates which export is used, how large it is and what it can do.
//! - [`wire`]: the form of requests and replies afterwards. Sending them is the business of the engine.

mod channel;
mod error;
mod handshake;
pub mod uri;
pub mod wire;

pub use error::NbdError;
pub use handshake::{BlockSizes, Export, ExportFlags};
pub use uri::{Address, Uri};

use std::io;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use channel::Channel;
use socket2::Socket;

/// The export of a URI, ready for requests, by a socket that does not block. `stopped` ends the wait for a server that is slow to answer.
///
/// # Errors
/// The server cannot be reached, does not have the export or breaks the protocol.
pub fn open(uri: &Uri, stopped: &dyn Fn() -> bool) -> Result<(Socket, Export), NbdError> {
    let mut channel = Channel::open(&uri.address, stopped)?;
    let export = handshake::negotiate(&mut channel, &uri.export)?;
    Ok((channel.into_socket(), export))
}

/// What a URI leads to: connects, looks and disconnects.
///
/// # Errors
/// As [`open`].
pub fn describe(uri: &Uri) -> Result<Export, NbdError> {
    look(uri, &|| false)
}

/// A server that is asked for what a URI leads to while others are.
#[derive(Debug)]
pub struct Asked {
    told: Receiver<Result<Export, NbdError>>,
    began: Instant,
    limit: Duration,
}

impl Asked {
    /// Begins to ask. The server, and what finds the address of its name, may take as long as the limit.
    ///
    /// # Errors
    /// There are no more threads.
    pub fn begin(uri: Uri, limit: Duration) -> io::Result<Self> {
        let (tell, told) = mpsc::channel();
        let began = Instant::now();
        // Later than `answer`, which says that there is no answer. The search for the address of a name cannot be stopped.
        let stopped = move || began.elapsed() >= 2 * limit;
        let ask = move || {
            // The wait may be over.
            let _ = tell.send(look(&uri, &stopped));
        };
        thread::Builder::new().name("ferrio-nbd".to_owned()).spawn(ask)?;
        Ok(Asked { told, began, limit })
    }

    /// What the server says.
    ///
    /// # Errors
    /// As [`open`], and that there is no answer within the limit.
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

/// Tells the server that no request follows. It does not answer.
pub fn disconnect(socket: &Socket) {
    let goodbye = wire::request(wire::Command::Disconnect, 0, 0, 0, 0);
    // The server notices the end of the connection in any case.
    let _ = socket.send_with_flags(&goodbye, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT);
}
