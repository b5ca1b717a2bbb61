//! The address to serve: `PORT`, on this machine only, or `ADDRESS:PORT`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// The address of the server. A port alone means the loopback interface: other machines are served only on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricsAddress(pub SocketAddr);

/// A text is not an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "give a port, as in 9100, to serve this machine only, or an IP address and a port, as in 0.0.0.0:9100 or [::]:9100, to serve others too"
)]
pub struct NoAddress;

impl FromStr for MetricsAddress {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let port = || text.parse().map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
        text.parse().or_else(|_| port()).map(MetricsAddress).map_err(|_| NoAddress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_serves_this_machine_only() {
        let address = |text: &str| text.parse().map(|MetricsAddress(address)| address.to_string());
        assert_eq!(address("9100").as_deref(), Ok("127.0.0.1:9100"));
        assert_eq!(address("0.0.0.0:9100").as_deref(), Ok("0.0.0.0:9100"));
        assert_eq!(address("[::]:0").as_deref(), Ok("[::]:0"));
        for text in ["", "localhost:9100", "65536", "::1", "9100/metrics", "10.0.0.1"] {
            assert_eq!(address(text), Err(NoAddress), "{text}");
        }
    }
}
