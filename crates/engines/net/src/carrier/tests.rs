use std::time::Duration;

use socket2::{Domain, Type};

use super::*;

/// Two ends of a stream, whose calls wait for a millisecond at most.
fn ends() -> (Socket, Socket) {
    let (one, other) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
    for socket in [&one, &other] {
        socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        socket.set_write_timeout(Some(Duration::from_millis(1))).unwrap();
    }
    (one, other)
}

fn content(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at * 31 + at / 251) as u8).collect()
}

#[test]
fn a_call_moves_what_it_can_and_waits_for_a_limited_time() {
    let (one, other) = ends();
    let mut received = [0; 100];
    assert_eq!(receive(&other, &mut received), TransferStep::Wait, "nothing came");
    assert_eq!(send(&one, &content(60), None, false), TransferStep::Moved(60));
    assert_eq!(receive(&other, &mut received), TransferStep::Moved(60), "less than there is room for");
    assert_eq!(received[..60], content(60));
    let mut sent = 0;
    while let TransferStep::Moved(count) = send(&one, &content(65536), None, true) {
        sent += count;
    }
    assert!(sent > 0, "the buffers of a socket end");
    assert_eq!(send(&one, &content(65536), None, true), TransferStep::Wait, "the peer takes nothing");
}

#[test]
fn a_peer_that_is_gone_ends_a_stream_and_fails_what_is_sent() {
    let (one, other) = ends();
    drop(other);
    assert_eq!(receive(&one, &mut [0; 8]), TransferStep::End);
    assert_eq!(send(&one, b"data", None, false), TransferStep::Failed(libc::EPIPE));
    let mut pipe = SocketPipe::new(false).unwrap();
    assert_eq!(pipe.receive(&one, &mut [0; 8]), TransferStep::End);
    assert_eq!(pipe.send(&one, &mut content(8), false), TransferStep::Failed(libc::EPIPE));
}

#[test]
fn a_pipe_carries_the_bytes_of_a_socket_both_ways() {
    for copies in [false, true] {
        let (one, other) = ends();
        let (mut to, mut from) = (SocketPipe::new(copies).unwrap(), SocketPipe::new(false).unwrap());
        assert_eq!(from.receive(&other, &mut [0; 8]), TransferStep::Wait, "nothing came");
        let (mut data, mut received) = (content(200_000), vec![0; 200_000]);
        let (mut sent, mut taken) = (0, 0);
        while taken < received.len() {
            if sent < data.len()
                && let TransferStep::Moved(count) = to.send(&one, &mut data[sent..], true)
            {
                sent += count;
            }
            if let TransferStep::Moved(count) = from.receive(&other, &mut received[taken..]) {
                taken += count;
            }
        }
        assert!(received == data, "copies: {copies}");
    }
}

#[test]
fn bytes_that_a_pipe_copies_may_change_afterwards() {
    let (one, other) = ends();
    let mut pipe = SocketPipe::new(true).unwrap();
    let mut data = content(4096);
    assert_eq!(pipe.send(&one, &mut data, false), TransferStep::Moved(4096));
    data.fill(0);
    let mut received = vec![0; 4096];
    assert_eq!(receive(&other, &mut received), TransferStep::Moved(4096));
    assert!(received == content(4096));
}
