//! Addresses of `--server` and `--client`, in fio's words: `HOST`, `HOST,PORT`, `,PORT`, `ip6:ADDRESS,PORT`, `sock:PATH`.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use thiserror::Error;

/// The port where there is none in an address.
pub const DEFAULT_PORT: u16 = 8765;

/// The host of clients that name none.
const THIS_HOST: &str = "localhost";

/// Which addresses of a host count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// An address, as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A port of a host.
    Port {
        /// Its name or numbers; empty means any host for a server and this one for a client.
        host: String,
        family: Family,
        port: u16,
    },
    /// A local socket.
    Socket(PathBuf),
}

/// Why an address cannot be used.
#[derive(Debug, Error)]
pub enum AddressError {
    /// A port that is no number from 1 to 65535.
    #[error("bad server port {0}")]
    Port(String),
    /// A name that nobody knows.
    #[error("failed to resolve <{host}> ({reason})")]
    Unknown {
        /// The name.
        host: String,
        /// The resolver's words.
        reason: String,
    },
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// The port is wrong. Names are not looked up here.
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        if let Some(path) = text.strip_prefix("sock:") {
            return Ok(Address::Socket(path.into()));
        }
        let (family, rest) = match text.split_once(':') {
            Some(("ip" | "ip4", rest)) => (Family::V4, rest),
            Some(("ip6", rest)) => (Family::V6, rest),
            _ => (Family::V4, text),
        };
        let port_alone = rest.strip_prefix(':').filter(|_| family == Family::V4);
        let (host, port) = match (port_alone, rest.split_once(',')) {
            (Some(port), _) => ("", Some(port)),
            (None, Some((host, port))) => (host, Some(port)),
            (None, None) => (rest, None),
        };
        let port = port.map_or(Ok(DEFAULT_PORT), port_of)?;
        Ok(Address::Port { host: host.to_owned(), family, port })
    }

    /// The name in reports of clients: what the user wrote, without type and port.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Address::Port { host, .. } if host.is_empty() => THIS_HOST.to_owned(),
            Address::Port { host, .. } => host.clone(),
            Address::Socket(path) => path.display().to_string(),
        }
    }

    /// The port in reports, which sockets have too.
    #[must_use]
    pub const fn port(&self) -> u16 {
        match self {
            Address::Port { port, .. } => *port,
            Address::Socket(_) => DEFAULT_PORT,
        }
    }

    /// The addresses that a server listens on or a client connects to; none for a socket.
    ///
    /// # Errors
    /// The name is unknown, or has no address of this family.
    pub fn resolve(&self, is_server: bool) -> Result<Vec<SocketAddr>, AddressError> {
        let Address::Port { host, family, port } = self else { return Ok(Vec::new()) };
        let host = match (host.as_str(), family, is_server) {
            ("", Family::V4, true) => "0.0.0.0",
            ("", Family::V6, true) => "::",
            ("", Family::V4, false) => "127.0.0.1",
            ("", Family::V6, false) => "::1",
            (host, ..) => host,
        };
        let unknown = |reason: String| AddressError::Unknown { host: host.to_owned(), reason };
        let found = (host, *port).to_socket_addrs().map_err(|error| unknown(reason_of(&error)))?;
        let found: Vec<_> = found.filter(|address| address.is_ipv6() == (*family == Family::V6)).collect();
        if found.is_empty() { Err(unknown("No address of this family".to_owned())) } else { Ok(found) }
    }
}

/// The address as a server shows it: numbers and port, or the path.
pub fn shown(address: SocketAddr) -> String {
    format!("{},{}", address.ip(), address.port())
}

impl fmt::Display for Address {
    /// As in messages about connections.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Port { port, .. } => write!(f, "{}:{port}", self.name()),
            Address::Socket(path) => write!(f, "{}", path.display()),
        }
    }
}

fn port_of(text: &str) -> Result<u16, AddressError> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let port = is_number.then(|| text.parse::<u16>().ok()).flatten();
    port.filter(|port| *port != 0).ok_or_else(|| AddressError::Port(text.to_owned()))
}

/// The resolver's reason, without what the standard library puts in front.
fn reason_of(error: &io::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(": ").map_or(text.clone(), |(_, reason)| reason.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn port(host: &str, family: Family, port: u16) -> Address {
        Address::Port { host: host.to_owned(), family, port }
    }

    fn parsed(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    #[test]
    fn all_forms_of_fio_are_read() {
        for text in ["", "ip:", "ip4:"] {
            assert_eq!(parsed(text), port("", Family::V4, DEFAULT_PORT), "{text}");
        }
        for text in [",4444", ":4444", "ip:,4444", "ip::4444"] {
            assert_eq!(parsed(text), port("", Family::V4, 4444), "{text}");
        }
        for text in ["node1,4444", "ip:node1,4444", "ip4:node1,4444"] {
            assert_eq!(parsed(text), port("node1", Family::V4, 4444), "{text}");
        }
        assert_eq!(parsed("ip6:::1,4444"), port("::1", Family::V6, 4444));
        assert_eq!(parsed("ip6:"), port("", Family::V6, DEFAULT_PORT));
        assert_eq!(parsed("ip6:,9"), port("", Family::V6, 9));
        assert_eq!(parsed("sock:a,b:c"), Address::Socket("a,b:c".into()));
        // Not an address with a port: the name is looked up and not found.
        assert_eq!(parsed("127.0.0.1:4444"), port("127.0.0.1:4444", Family::V4, DEFAULT_PORT));
        assert_eq!(parsed("IP:x"), port("IP:x", Family::V4, DEFAULT_PORT));
    }

    #[test]
    fn a_port_is_a_number_from_1_to_65535() {
        for text in ["0", "65536", "99999", "abc", "", "-1", "+1", " 1", "1,2"] {
            let error = Address::parse(&format!("h,{text}")).unwrap_err();
            assert_eq!(error.to_string(), format!("bad server port {text}"));
        }
        assert_eq!(parsed("h,65535").port(), 65535);
    }

    #[test]
    fn an_empty_host_is_any_for_servers_and_this_one_for_clients() {
        let first = |text: &str, is_server| parsed(text).resolve(is_server).unwrap()[0].to_string();
        assert_eq!((first(",1", true), first(",1", false)), ("0.0.0.0:1".into(), "127.0.0.1:1".into()));
        assert_eq!((first("ip6:,1", true), first("ip6:,1", false)), ("[::]:1".into(), "[::1]:1".into()));
        assert_eq!(shown(parsed("ip6:::1,2").resolve(true).unwrap()[0]), "::1,2");
        assert_eq!(shown(parsed("4444").resolve(true).unwrap()[0]), "0.0.17.92,8765");
    }

    #[test]
    fn names_in_reports_have_no_type_and_no_port() {
        let names = ["ip:h,1", "sock:d/s", ",5"].map(|text| (parsed(text).name(), parsed(text).to_string()));
        let want = [("h", "h:1"), ("d/s", "d/s"), ("localhost", "localhost:5")];
        assert_eq!(names, want.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert_eq!(parsed("sock:s").port(), DEFAULT_PORT);
    }

    proptest! {
        #[test]
        fn any_text_is_an_address_or_a_bad_port(text in ".{0,40}") {
            match Address::parse(&text) {
                Ok(Address::Socket(path)) => prop_assert_eq!(format!("sock:{}", path.display()), text),
                Ok(Address::Port { host, port, .. }) => {
                    prop_assert!(text.contains(&host) && port != 0);
                }
                Err(AddressError::Port(port)) => prop_assert!(text.ends_with(&port)),
                Err(error) => prop_assert!(false, "{}", error),
            }
        }

        #[test]
        fn host_and_port_come_back(host in "[a-z0-9.-]{1,20}", port in 1u16..) {
            let address = parsed(&format!("ip4:{host},{port}"));
            prop_assert_eq!((address.name(), address.port()), (host, port));
        }
    }
}
