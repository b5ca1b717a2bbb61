//! Connections to servers, all at once.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use ferrio_hosts::{Carrier as _, Ends};
use nix::errno::Errno;

use super::address::Address;
use super::tls::Tls;

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

/// Connects to all addresses, over TLS if that is given.
pub fn connect_all<'a>(
    addresses: impl Iterator<Item = &'a Address>,
    tls: Option<&Tls>,
) -> Vec<io::Result<Connected>> {
    let addresses: Vec<&Address> = addresses.collect();
    let mut connected = Vec::new();
    for some in addresses.chunks(AT_A_TIME) {
        thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|address| scope.spawn(|| connect(address, tls))).collect();
            let lost = || Err(io::Error::other("the connecting thread ended"));
            connected.extend(threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())));
        });
    }
    connected
}

fn connect(address: &Address, tls: Option<&Tls>) -> io::Result<Connected> {
    if let Address::Socket(path) = address {
        let ends = UnixStream::connect(path)?.split()?;
        return Ok(Connected { ends, address: String::new() });
    }
    let found = address.resolve(false).map_err(io::Error::other)?;
    // The certificate has to be for what the user wrote.
    let name = address.name();
    let mut refused = io::Error::from(Errno::EADDRNOTAVAIL);
    for address in found {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => {
                let ends = match tls {
                    Some(tls) => tls.connected(stream, &name)?,
                    None => stream.split()?,
                };
                return Ok(Connected { ends, address: dialled(address) });
            }
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// The numbers of an address.
fn dialled(address: SocketAddr) -> String {
    address.ip().to_canonical().to_string()
}
