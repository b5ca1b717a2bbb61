//! Connections to servers, all at once.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use ferrio_hosts::{Carrier as _, Ends};
use nix::errno::Errno;

use super::address::Address;

/// How long a server may take to accept a connection: a host that is gone does not say so.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections that are opened at a time.
const AT_A_TIME: usize = 64;

/// A connection to a server.
pub struct Connected {
    pub ends: Ends,
    /// The address that was dialled, for names of files; empty for a local socket, which has none.
    pub address: String,
}

/// Connects to all addresses.
pub fn connect_all<'a>(addresses: impl Iterator<Item = &'a Address>) -> Vec<io::Result<Connected>> {
    let addresses: Vec<&Address> = addresses.collect();
    let mut connected = Vec::new();
    for some in addresses.chunks(AT_A_TIME) {
        thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|address| scope.spawn(|| connect(address))).collect();
            let lost = || Err(io::Error::other("the connecting thread ended"));
            connected.extend(threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())));
        });
    }
    connected
}

fn connect(address: &Address) -> io::Result<Connected> {
    if let Address::Socket(path) = address {
        let ends = UnixStream::connect(path)?.split()?;
        return Ok(Connected { ends, address: String::new() });
    }
    let found = address.resolve(false).map_err(io::Error::other)?;
    let mut refused = io::Error::from(Errno::EADDRNOTAVAIL);
    for address in found {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => return Ok(Connected { ends: stream.split()?, address: dialled(address) }),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// The numbers of an address.
fn dialled(address: SocketAddr) -> String {
    address.ip().to_canonical().to_string()
}
