//! The peer of a job with a network engine, and how the two are connected.

use std::path::PathBuf;

use crate::choice::choices;

choices! {
    /// `protocol=`: how the bytes get to the peer.
    pub enum Protocol default Tcp {
        Tcp: "tcp", "TCP over IPv4";
        Tcpv6: "tcpv6", "TCP over IPv6";
        Udp: "udp", "UDP over IPv4";
        Udpv6: "udpv6", "UDP over IPv6";
        Unix: "unix", "A stream socket of the file system";
        Vsock: "vsock", "A stream between a virtual machine and its host";
    }
}

impl Protocol {
    /// True for datagrams, false for streams.
    #[must_use]
    pub fn is_datagram(self) -> bool {
        matches!(self, Protocol::Udp | Protocol::Udpv6)
    }

    /// True for TCP.
    #[must_use]
    pub fn is_tcp(self) -> bool {
        matches!(self, Protocol::Tcp | Protocol::Tcpv6)
    }

    /// True for IPv6.
    #[must_use]
    pub fn is_ipv6(self) -> bool {
        matches!(self, Protocol::Tcpv6 | Protocol::Udpv6)
    }

    /// True for TCP and UDP.
    #[must_use]
    pub fn is_ip(self) -> bool {
        self.is_datagram() || self.is_tcp()
    }
}

/// The options of the network engines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// `protocol`
    pub protocol: Protocol,
    /// `hostname`: the peer, or a multicast group to receive from.
    pub host: Option<String>,
    /// Where the socket of `protocol=unix` is.
    pub socket_path: PathBuf,
    /// `port` of this job, clones counted in.
    pub port: u16,
    /// The peer comes to this job (`listen`, and what receives datagrams or from a Unix socket).
    pub waits_for_peer: bool,
    /// The job reads.
    pub receives: bool,
    /// The job writes.
    pub sends: bool,
    /// Bytes go through a pipe (`netsplice`).
    pub splices: bool,
    /// `nodelay`
    pub nodelay: bool,
    /// `pingpong`: each unit is sent back.
    pub pingpong: bool,
    /// `interface` for multicast datagrams.
    pub interface: Option<String>,
    /// `ttl` of multicast datagrams.
    pub ttl: u32,
    /// `window_size`: bytes of socket buffers, 0 for the system's choice.
    pub window_size: u32,
    /// `mss`: bytes of the largest TCP segment, 0 for the system's choice.
    pub mss: u32,
}
