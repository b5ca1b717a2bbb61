//! Creates, binds, connects and accepts sockets as the job's options say.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::time::Duration;

use ferrio_engine::EngineError;
use ferrio_job::{Network, Protocol};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{Domain, SockAddr, Socket, Type};

/// Longest wait of a call before the loop checks the run time and stop requests.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_millis(10);
const WAIT_MS: u8 = 10;

/// Maximum number of connections that wait to be accepted.
const BACKLOG: i32 = 10;

/// Any process of this or another machine.
const VSOCK_ANY: u32 = u32::MAX;

/// The address of the peer or its multicast group. `None` for a job that waits for its peer.
pub(crate) fn peer_address(network: &Network) -> Result<Option<SockAddr>, EngineError> {
    if network.protocol == Protocol::Unix {
        let address = SockAddr::unix(&network.socket_path);
        return address.map(Some).map_err(|e| EngineError::new("socket path", e));
    }
    let Some(host) = &network.host else { return Ok(None) };
    if network.protocol == Protocol::Vsock {
        let cid = host.parse().map_err(|_| {
            EngineError::new("parse CID", Errno::EINVAL)
                .hint(format!("hostname={host}: the peer of protocol=vsock is a number"))
        })?;
        return Ok(Some(SockAddr::vsock(cid, u32::from(network.port))));
    }
    let v6 = network.protocol.is_ipv6();
    let found = (host.as_str(), network.port).to_socket_addrs().map_err(|e| {
        let text = e.to_string();
        let reason = text.rsplit(": ").next().unwrap_or(&text);
        EngineError::new(format!("getaddrinfo: {reason}"), Errno::EINVAL)
            .hint(format!("hostname={host} has no address"))
    })?;
    let kind = if v6 { "IPv6" } else { "IPv4" };
    found.into_iter().find(|address| address.is_ipv6() == v6).map(|address| Some(address.into())).ok_or_else(
        || {
            EngineError::new("getaddrinfo: Name or service not known", Errno::EINVAL)
                .hint(format!("hostname={host} has no {kind} address"))
        },
    )
}

/// Creates an unconnected socket.
fn socket(network: &Network) -> Result<Socket, EngineError> {
    let domain = match network.protocol {
        Protocol::Tcp | Protocol::Udp => Domain::IPV4,
        Protocol::Tcpv6 | Protocol::Udpv6 => Domain::IPV6,
        Protocol::Unix => Domain::UNIX,
        Protocol::Vsock => Domain::VSOCK,
    };
    let kind = if network.protocol.is_datagram() { Type::DGRAM } else { Type::STREAM };
    Socket::new(domain, kind, None).map_err(|e| EngineError::new("socket", e))
}

/// Sets `window_size` and `mss`.
fn set_sizes(socket: &Socket, network: &Network) -> Result<(), EngineError> {
    let set = |name: &str, result: io::Result<()>| result.map_err(|e| EngineError::new(name, e));
    let window = network.window_size as usize;
    if window > 0 {
        if network.receives || network.pingpong {
            set("setsockopt rcvbuf window size", socket.set_recv_buffer_size(window))?;
        }
        if network.sends || network.pingpong {
            set("setsockopt sndbuf window size", socket.set_send_buffer_size(window))?;
        }
    }
    if network.mss > 0 && network.protocol.is_tcp() {
        set("setsockopt TCP_MAXSEG", socket.set_tcp_mss(network.mss))?;
    }
    Ok(())
}

fn set_no_delay(socket: &Socket, network: &Network) -> Result<(), EngineError> {
    if network.nodelay && network.protocol.is_tcp() {
        socket.set_tcp_nodelay(true).map_err(|e| EngineError::new("setsockopt TCP_NODELAY", e))?;
    }
    Ok(())
}

/// Limits the waits of all later calls to [`WAIT_TIMEOUT`].
fn limit_waits(socket: &Socket) -> Result<(), EngineError> {
    let limited = socket
        .set_read_timeout(Some(WAIT_TIMEOUT))
        .and_then(|()| socket.set_write_timeout(Some(WAIT_TIMEOUT)));
    limited.map_err(|e| EngineError::new("setsockopt timeout", e))
}

/// Creates a socket that waits for peers: it listens for connections, or is bound to the port of datagrams.
pub(crate) fn bound(network: &Network, group: Option<&SockAddr>) -> Result<Socket, EngineError> {
    let socket = socket(network)?;
    let address = match network.protocol {
        Protocol::Unix => {
            remove_socket(network);
            SockAddr::unix(&network.socket_path).map_err(|e| EngineError::new("bind", e))?
        }
        Protocol::Vsock => SockAddr::vsock(VSOCK_ANY, u32::from(network.port)),
        protocol if protocol.is_ipv6() => SocketAddr::from((Ipv6Addr::UNSPECIFIED, network.port)).into(),
        _ => SocketAddr::from((Ipv4Addr::UNSPECIFIED, network.port)).into(),
    };
    if network.protocol.is_ip() {
        socket.set_reuse_address(true).map_err(|e| EngineError::new("setsockopt SO_REUSEADDR", e))?;
        socket.set_reuse_port(true).map_err(|e| EngineError::new("setsockopt SO_REUSEPORT", e))?;
    }
    set_sizes(&socket, network)?;
    socket.bind(&address).map_err(|e| EngineError::new("bind", e))?;
    if network.protocol == Protocol::Unix {
        // Must be set before a peer can connect.
        let everybody = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(&network.socket_path, everybody)
            .map_err(|e| EngineError::new("chmod", e))?;
    }
    if let Some(group) = group {
        join(&socket, network, group)?;
    }
    if network.protocol.is_datagram() {
        limit_waits(&socket)?;
    } else {
        socket.listen(BACKLOG).map_err(|e| EngineError::new("listen", e))?;
    }
    Ok(socket)
}

/// Removes the socket of an earlier listener. Other files are kept.
pub(crate) fn remove_socket(network: &Network) {
    let path = &network.socket_path;
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        // If this fails, binding reports that the address is in use.
        let _ = std::fs::remove_file(path);
    }
}

/// Accepts the first connection; `None` if the job is stopped first.
pub(crate) fn accepted(
    network: &Network,
    listener: &Socket,
    stopped: &dyn Fn() -> bool,
) -> Result<Option<Socket>, EngineError> {
    while !stopped() {
        if !is_ready(listener, PollFlags::POLLIN)? {
            continue;
        }
        match listener.accept() {
            Ok((socket, _)) => {
                set_no_delay(&socket, network)?;
                limit_waits(&socket)?;
                return Ok(Some(socket));
            }
            // The peer has given up meanwhile.
            Err(e) if e.raw_os_error() == Some(libc::ECONNABORTED) => {}
            Err(e) => return Err(EngineError::new("accept", e)),
        }
    }
    Ok(None)
}

/// Connects to the peer; `None` if the job is stopped before the peer answers.
pub(crate) fn connected(
    network: &Network,
    address: &SockAddr,
    stopped: &dyn Fn() -> bool,
) -> Result<Option<Socket>, EngineError> {
    let socket = socket(network)?;
    set_no_delay(&socket, network)?;
    set_sizes(&socket, network)?;
    let failed = |e: io::Error| {
        EngineError::new("connect", e).hint_for(|errno| match errno {
            libc::ECONNREFUSED | libc::ENOENT => Some("start the job with `listen` at the other end first"),
            libc::ENODEV | libc::ETIMEDOUT | libc::ECONNRESET if network.protocol == Protocol::Vsock => Some(
                "hostname=2 is the host of a virtual machine; hostname=1 is this machine itself, if the kernel module vsock_loopback is loaded",
            ),
            _ => None,
        })
    };
    socket.set_nonblocking(true).map_err(failed)?;
    match socket.connect(address) {
        Ok(()) => {}
        Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => {
            while !is_ready(&socket, PollFlags::POLLOUT)? {
                if stopped() {
                    return Ok(None);
                }
            }
            if let Some(e) = socket.take_error().map_err(failed)? {
                return Err(failed(e));
            }
        }
        Err(e) => return Err(failed(e)),
    }
    socket.set_nonblocking(false).map_err(failed)?;
    limit_waits(&socket)?;
    Ok(Some(socket))
}

/// Creates a socket that sends datagrams.
pub(crate) fn sender(network: &Network, address: &SockAddr) -> Result<Socket, EngineError> {
    let socket = socket(network)?;
    set_sizes(&socket, network)?;
    if is_multicast(address) {
        set_multicast(&socket, network)?;
    }
    limit_waits(&socket)?;
    Ok(socket)
}

fn is_multicast(address: &SockAddr) -> bool {
    address.as_socket().is_some_and(|address| address.ip().is_multicast())
}

fn set_multicast(socket: &Socket, network: &Network) -> Result<(), EngineError> {
    let failed = |e| EngineError::new("setsockopt IP_MULTICAST_IF", e);
    if network.protocol.is_ipv6() {
        if let Some(index) = interface_index(network)? {
            socket.set_multicast_if_v6(index).map_err(failed)?;
        }
        return socket
            .set_multicast_hops_v6(network.ttl)
            .map_err(|e| EngineError::new("setsockopt IPV6_MULTICAST_HOPS", e));
    }
    if let Some(address) = interface_address(network)? {
        socket.set_multicast_if_v4(&address).map_err(failed)?;
    }
    socket.set_multicast_ttl_v4(network.ttl).map_err(|e| EngineError::new("setsockopt IP_MULTICAST_TTL", e))
}

/// Joins a multicast group.
fn join(socket: &Socket, network: &Network, group: &SockAddr) -> Result<(), EngineError> {
    let joined = match group.as_socket().map(|address| address.ip()) {
        Some(IpAddr::V4(group)) => {
            let interface = interface_address(network)?.unwrap_or(Ipv4Addr::UNSPECIFIED);
            socket.join_multicast_v4(&group, &interface)
        }
        Some(IpAddr::V6(group)) => socket.join_multicast_v6(&group, interface_index(network)?.unwrap_or(0)),
        None => Ok(()),
    };
    joined.map_err(|e| {
        EngineError::new("setsockopt IP_ADD_MEMBERSHIP", e).hint_for(|errno| {
            (errno == libc::EINVAL).then_some("hostname= of a receiver is the address of a multicast group")
        })
    })
}

fn interface_address(network: &Network) -> Result<Option<Ipv4Addr>, EngineError> {
    let parsed = network.interface.as_deref().map(|text| {
        text.parse().map_err(|_| {
            EngineError::new("interface", Errno::EINVAL)
                .hint(format!("interface={text}: give the IPv4 address of the interface"))
        })
    });
    parsed.transpose()
}

fn interface_index(network: &Network) -> Result<Option<u32>, EngineError> {
    let Some(name) = network.interface.as_deref() else { return Ok(None) };
    let index = ferrio_machine::text_of_file(format!("/sys/class/net/{name}/ifindex"));
    let index = index.ok().and_then(|text| text.trim().parse().ok());
    index.map(Some).ok_or_else(|| {
        EngineError::new("interface", Errno::ENODEV)
            .hint(format!("interface={name}: give the name of the interface, such as eth0"))
    })
}

/// Waits for an event, for [`WAIT_TIMEOUT`] at most. A signal ends the wait early.
fn is_ready(socket: &Socket, event: PollFlags) -> Result<bool, EngineError> {
    let mut waiting = [PollFd::new(socket.as_fd(), event)];
    match poll(&mut waiting, PollTimeout::from(WAIT_MS)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(errno) => Err(EngineError::new("poll", errno)),
    }
}

#[cfg(test)]
mod tests;
