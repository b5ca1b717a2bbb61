use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use ferrio_engine::testing::file_with;

use super::*;

const NEVER: &dyn Fn() -> bool = &|| false;

fn network(protocol: Protocol) -> Network {
    Network { protocol, ttl: 1, ..Network::default() }
}

/// A listener for TCP on a port of the kernel's choice, and the network of a job that connects to it.
fn listener(change: impl Fn(&mut Network)) -> (Network, Socket, Network) {
    let mut receiver = Network { receives: true, waits_for_peer: true, ..network(Protocol::Tcp) };
    change(&mut receiver);
    let socket = bound(&receiver, None).unwrap();
    let port = socket.local_addr().unwrap().as_socket().unwrap().port();
    let mut sender =
        Network { host: Some("127.0.0.1".to_owned()), port, sends: true, ..network(Protocol::Tcp) };
    change(&mut sender);
    (receiver, socket, sender)
}

fn connect(network: &Network) -> Result<Option<Socket>, EngineError> {
    let address = peer_address(network).unwrap().unwrap();
    connected(network, &address, NEVER)
}

#[test]
fn options_of_sockets_are_set_at_the_end_that_needs_them() {
    let (receiver, listening, sender) = listener(|network| {
        network.nodelay = true;
        network.window_size = 65536;
        network.mss = 1000;
    });
    let usual = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let connection = connect(&sender).unwrap().unwrap();
    let accepted = accepted(&receiver, &listening, NEVER).unwrap().unwrap();
    // The kernel doubles what is asked for.
    assert_eq!(connection.send_buffer_size().unwrap(), 131_072);
    assert_eq!(accepted.recv_buffer_size().unwrap(), 131_072);
    assert_eq!(connection.recv_buffer_size().unwrap(), usual.recv_buffer_size().unwrap());
    assert!(connection.tcp_nodelay().unwrap() && accepted.tcp_nodelay().unwrap());
    assert!(connection.tcp_mss().unwrap() <= 1000, "{}", connection.tcp_mss().unwrap());
    let timeouts = [connection.read_timeout(), accepted.write_timeout()].map(Result::unwrap);
    assert!(timeouts.into_iter().all(|time| time.is_some_and(|time| time <= 2 * WAIT_TIMEOUT)));
}

#[test]
fn pingpong_sizes_both_buffers() {
    let (_, listening, _) = listener(|network| (network.pingpong, network.window_size) = (true, 65536));
    assert_eq!(listening.recv_buffer_size().unwrap(), 131_072);
    assert_eq!(listening.send_buffer_size().unwrap(), 131_072);
}

#[test]
fn a_stopped_job_neither_accepts_nor_connects() {
    let (receiver, listening, _) = listener(|_| ());
    assert!(accepted(&receiver, &listening, &|| true).unwrap().is_none());
}

#[test]
fn a_peer_that_does_not_listen_is_an_error_with_advice() {
    let (_, listening, sender) = listener(|_| ());
    drop(listening);
    let error = connect(&sender).err().unwrap();
    assert_eq!((error.func.as_str(), error.errno()), ("connect", libc::ECONNREFUSED));
    assert!(error.to_string().contains("start the job with `listen`"), "{error}");
}

#[test]
fn an_address_is_of_the_family_of_the_protocol() {
    let address = |protocol, host: &str| {
        let network = Network { host: Some(host.to_owned()), port: 7, ..network(protocol) };
        peer_address(&network).map_err(|e| e.to_string())
    };
    let ip =
        |protocol, host: &str| address(protocol, host).unwrap().unwrap().as_socket().unwrap().to_string();
    assert_eq!(ip(Protocol::Tcp, "127.0.0.1"), "127.0.0.1:7");
    assert_eq!(ip(Protocol::Udpv6, "::1"), "[::1]:7");
    let refused = address(Protocol::Tcpv6, "127.0.0.1").unwrap_err();
    assert!(refused.contains("hostname=127.0.0.1 has no IPv6 address"), "{refused}");
    let refused = address(Protocol::Vsock, "localhost").unwrap_err();
    assert!(refused.contains("hostname=localhost: the peer of protocol=vsock is a number"), "{refused}");
    let vsock = address(Protocol::Vsock, "3").unwrap().unwrap();
    assert_eq!(vsock.as_vsock_address(), Some((3, 7)));
    assert!(peer_address(&network(Protocol::Tcp)).unwrap().is_none(), "a job that waits knows no peer");
}

#[test]
fn a_multicast_sender_has_an_interface_and_a_time_to_live() {
    let network = Network {
        host: Some("239.1.2.3".to_owned()),
        interface: Some("127.0.0.1".to_owned()),
        ttl: 7,
        ..network(Protocol::Udp)
    };
    let group = peer_address(&network).unwrap().unwrap();
    let socket = sender(&network, &group).unwrap();
    assert_eq!(socket.multicast_ttl_v4().unwrap(), 7);
    assert_eq!(socket.multicast_if_v4().unwrap(), Ipv4Addr::LOCALHOST);
    let alone = Network { host: Some("127.0.0.1".to_owned()), ..network.clone() };
    let socket = sender(&alone, &peer_address(&alone).unwrap().unwrap()).unwrap();
    assert_eq!(socket.multicast_ttl_v4().unwrap(), 1, "`ttl` is for groups");
}

#[test]
fn an_interface_that_cannot_be_is_refused() {
    let refused = |protocol, group: &str, interface: &str| {
        let (host, interface) = (Some(group.to_owned()), Some(interface.to_owned()));
        let network = Network { host, interface, receives: true, ..network(protocol) };
        let group = peer_address(&network).unwrap();
        bound(&network, group.as_ref()).err().unwrap().to_string()
    };
    let error = refused(Protocol::Udp, "239.1.2.3", "lo");
    assert!(error.contains("interface=lo: give the IPv4 address of the interface"), "{error}");
    let error = refused(Protocol::Udpv6, "ff12::5", "::1");
    assert!(error.contains("interface=::1: give the name of the interface, such as eth0"), "{error}");
}

fn unix(path: &Path) -> Network {
    Network { socket_path: path.to_owned(), waits_for_peer: true, receives: true, ..network(Protocol::Unix) }
}

#[test]
fn a_socket_of_the_file_system_is_for_everybody_and_replaces_an_old_one() {
    let beside = file_with(b"");
    let path = beside.path().with_extension("socket");
    let network = unix(&path);
    for _ in 0..2 {
        // The second one finds that of the first, to which nobody listens any more.
        let listening = bound(&network, None).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o777);
        let connection = connect(&network).unwrap().unwrap();
        assert!(accepted(&network, &listening, NEVER).unwrap().is_some());
        drop(connection);
    }
    remove_socket(&network);
    assert!(!path.exists());
}

#[test]
fn a_file_at_the_path_of_a_socket_stays_there() {
    let file = file_with(b"precious");
    let network = unix(file.path());
    let error = bound(&network, None).err().unwrap();
    assert_eq!((error.func.as_str(), error.errno()), ("bind", libc::EADDRINUSE));
    remove_socket(&network);
    assert_eq!(fs::read(file.path()).unwrap(), b"precious");
}
