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

use std::sync::mpsc;
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

/// What a URI leads to: connects, looks and disconnects. With `limit`, waits no longer than that for the server and for the address of its
/// name; without, as long as [`open`].
///
/// # Errors
/// As [`open`], and that the server does not answer in time.
pub fn describe(uri: &Uri, limit: Option<Duration>) -> Result<Export, NbdError> {
    let Some(limit) = limit else { return look(uri, &|| false) };
    let (tell, told) = mpsc::channel();
    let (asked, began) = (uri.clone(), Instant::now());
    // The standard library resolves names as long as that takes. The channel ends before the thread does.
    let has_to_end = move || began.elapsed() >= 2 * limit;
    let ask = move || tell.send(look(&asked, &has_to_end)).unwrap_or_default();
    let thread = thread::Builder::new().name("ferrio-nbd".to_owned()).spawn(ask);
    thread.map_err(|source| NbdError::Connect { address: None, source })?;
    told.recv_timeout(limit).unwrap_or(Err(NbdError::Silent { limit }))
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
