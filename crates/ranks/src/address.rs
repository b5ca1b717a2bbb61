//! Addresses: those that are stated, ports that follow from a job's identity, and the addresses that this host has.

use std::net::{IpAddr, Ipv6Addr, TcpListener};

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// A name, or numbers without brackets.
    pub host: String,
    /// Not 0.
    pub port: u16,
}

impl HostPort {
    /// `HOST:PORT`, or `[ADDRESS]:PORT` with an IPv6 address.
    pub fn parse(text: &str) -> Option<HostPort> {
        let (host, port) = text.rsplit_once(':')?;
        let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(address) => address,
            None if host.contains(':') => return None,
            None => host,
        };
        let port = port.parse().ok().filter(|&port| port != 0)?;
        (!host.is_empty()).then(|| HostPort { host: host.to_owned(), port })
    }
}

/// How many ports follow from an identity: another program may have the first.
const DERIVED: u64 = 4;

/// The ports that a run of this identity uses where none is stated. They are below those that the kernel gives to connections.
pub fn derived_ports(job: &str) -> Vec<u16> {
    const LOWEST: u64 = 12_000;
    const SPAN: u64 = 20_000;
    // FNV-1a: the same in all versions and on all machines.
    let hash = job.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let port = |at| LOWEST + (hash % SPAN + at * SPAN / DERIVED) % SPAN;
    (0..DERIVED).filter_map(|at| u16::try_from(port(at)).ok()).collect()
}

/// A listening socket on a port of this host: on the address alone if it is one of loopback, otherwise on all, because a name may resolve
/// to an address of loopback here and to another elsewhere.
pub fn listen(host: &str, port: u16) -> std::io::Result<TcpListener> {
    match host.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => TcpListener::bind((address, port)),
        // IPv4 as well; without IPv6 in the kernel, IPv4 alone.
        _ => TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).or_else(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse | std::io::ErrorKind::PermissionDenied => Err(error),
            _ => TcpListener::bind(("0.0.0.0", port)),
        }),
    }
}

/// Addresses of this host at most that others are told.
const MAX_ADDRESSES: usize = 16;

/// The addresses under which others may reach this host, loopback last: for ranks beside this one where there is no network.
pub fn own_addresses() -> Vec<String> {
    let all = nix::ifaddrs::getifaddrs().into_iter().flatten();
    let address = |interface: nix::ifaddrs::InterfaceAddress| -> Option<IpAddr> {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
    };
    let mut found: Vec<IpAddr> = all.filter_map(address).filter(|address| !is_link_local(address)).collect();
    found.sort_by_key(|address| (address.is_loopback(), address.is_ipv6()));
    found.dedup();
    found.truncate(MAX_ADDRESSES);
    found.iter().map(IpAddr::to_string).collect()
}

/// An address that means nothing without an interface.
fn is_link_local(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_follow_from_the_identity_and_differ() {
        let ports = derived_ports("7.0");
        assert_eq!(ports, derived_ports("7.0"));
        assert!(ports != derived_ports("7.1") && ports.len() == 4, "{ports:?}");
        for job in ["", "7.0", "prterun-vm-77@1"] {
            let mut ports = derived_ports(job);
            assert!(ports.iter().all(|port| (12_000..32_000).contains(port)), "{ports:?}");
            ports.sort_unstable();
            ports.dedup();
            assert_eq!(ports.len(), 4, "{job}");
        }
    }

    #[test]
    fn this_host_has_an_address() {
        let addresses = own_addresses();
        assert!(addresses.iter().any(|address| address == "127.0.0.1"), "{addresses:?}");
    }

    #[test]
    fn loopback_is_not_seen_from_outside() {
        let local = listen("127.0.0.1", 0).unwrap().local_addr().unwrap();
        assert!(local.ip().is_loopback());
        assert!(listen("some-name", 0).unwrap().local_addr().unwrap().ip().is_unspecified());
    }
}
