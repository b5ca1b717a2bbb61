//! The network engines: what they put on the wire, both ends by fio and by ferrio, and ends that wait for nobody.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

use nix::sys::signal::Signal;

use crate::support::{Invocation, Run, Running, TestDir, document_within, number, skipped, until};

const OPEN: &[u8] = b"link\0\0\0\x98";
const CLOSE: &[u8] = b"knil\x89\0\0\0";

/// A port below those that the kernel hands out, for this test alone.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        // Runs of the tests at the same time begin at different places.
        let first = 20_000 + (std::process::id() % 1000) as u16 * 10;
        let port = first + NEXT.fetch_add(1, Relaxed) % 2000;
        if TcpListener::bind(("0.0.0.0", port)).is_ok() && UdpSocket::bind(("0.0.0.0", port)).is_ok() {
            return port;
        }
    }
}

/// True when a process listens on the port, or is bound to it.
fn is_bound(port: u16, protocol: &str) -> bool {
    let kind = if protocol.starts_with("udp") { "udp" } else { "tcp" };
    [kind.to_owned(), format!("{kind}6")].iter().any(|table| {
        let table = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        table.lines().skip(1).any(|line| {
            let mut words = line.split_whitespace().skip(1);
            let bound = words.next().is_some_and(|address| address.ends_with(&format!(":{port:04X}")));
            bound && (kind == "udp" || words.nth(1) == Some("0A"))
        })
    })
}

/// A job of sixteen units of 4 KiB.
fn job<'a>(dir: &'a TestDir, is_fio: bool, words: &[String]) -> Invocation<'a> {
    let mut all: Vec<String> =
        ["--output-format=json", "--name=j", "--size=64k", "--bs=4k"].map(str::to_owned).into();
    all.extend_from_slice(words);
    if is_fio { dir.fio(&all) } else { dir.ferrio(&all) }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// A ferrio that waits for its peer on a port.
fn listening(dir: &TestDir, port: u16, more: &str) -> Running {
    let protocol = if more.contains("udp") { "udp" } else { "tcp" };
    let listen = if protocol == "tcp" { "--listen" } else { "" };
    let all = words(&format!("--ioengine=net --port={port} {listen} {more}"));
    let mut running = job(dir, false, &all).start();
    running.until("a listener", || is_bound(port, protocol));
    running
}

/// Runs a receiver and a sender, of which the first waits.
fn transfer(receiver_is_fio: bool, sender_is_fio: bool, engines: [&str; 2], protocol: &str, more: &str) {
    let dir = TestDir::new();
    let port = free_port();
    let what =
        format!("{engines:?} {protocol} {more}, fio receives: {receiver_is_fio}, sends: {sender_is_fio}");
    let (host, datagram) =
        (if protocol.ends_with("v6") { "::1" } else { "127.0.0.1" }, protocol.starts_with("udp"));
    let listen = if datagram { "" } else { "--listen" };
    let [receiving, sending] = engines;
    let receiver = words(&format!(
        "--ioengine={receiving} --protocol={protocol} --port={port} {listen} --rw=read {more}"
    ));
    let mut receiver = job(&dir, receiver_is_fio, &receiver).start();
    receiver.until("a listener", || is_bound(port, protocol));
    let host = if more.contains("--hostname=") { String::new() } else { format!("--hostname={host}") };
    // Datagrams are lost if they come too fast.
    let rate = if datagram { "--rate_iops=2000" } else { "" };
    let sender = words(&format!(
        "--ioengine={sending} --protocol={protocol} --port={port} {host} --rw=write {rate} {more}"
    ));
    // fio may print a line before the document.
    let document = |run: Run| document_within(&run.succeeded().stdout).0;
    let sender = document(job(&dir, sender_is_fio, &sender).run());
    let receiver = document(receiver.wait());
    let figures = |report, direction: &str| {
        ["io_bytes", "total_ios"].map(|figure| number(report, &format!("/jobs/0/{direction}/{figure}")))
    };
    assert_eq!(figures(&sender, "write"), [65536, 16], "{what}");
    assert_eq!(figures(&receiver, "read"), [65536, 16], "{what}");
    assert_eq!(number(&receiver, "/jobs/0/read/drop_ios"), 0, "{what}");
}

/// The receiver checks what the sender wrote. Other methods have headers, which fio up to 3.40 writes in another form than later versions.
const CHECKED: &str = "--verify=pattern --verify_pattern=0xdeadbeef --do_verify=0";

const ENDS: [[bool; 2]; 3] = [[true, false], [false, true], [false, false]];

#[test]
fn fio_and_ferrio_receive_what_the_other_sends_by_tcp() {
    needs!("fio");
    for [receiver, sender] in ENDS {
        transfer(receiver, sender, ["net", "net"], "tcp", CHECKED);
        transfer(receiver, sender, ["net", "net"], "tcp", "--pingpong --nodelay=1 --window_size=64k");
    }
}

#[test]
fn fio_and_ferrio_understand_each_other_by_ipv6() {
    needs!("fio");
    for [receiver, sender] in ENDS {
        transfer(receiver, sender, ["net", "net"], "tcpv6", "");
    }
}

#[test]
fn fio_and_ferrio_receive_what_the_other_sends_by_udp() {
    needs!("fio");
    for [receiver, sender] in ENDS {
        transfer(receiver, sender, ["net", "net"], "udp", "");
        transfer(receiver, sender, ["net", "net"], "udp", "--pingpong");
    }
}

#[test]
fn fio_and_ferrio_receive_what_the_other_sends_to_a_group() {
    needs!("fio");
    for [receiver, sender] in ENDS {
        let group = "--hostname=239.255.70.11 --interface=127.0.0.1 --ttl=0";
        transfer(receiver, sender, ["net", "net"], "udp", group);
    }
}

#[test]
fn fio_and_ferrio_splice_to_each_other() {
    needs!("fio");
    for [receiver, sender] in ENDS {
        transfer(receiver, sender, ["netsplice", "netsplice"], "tcp", "");
        transfer(receiver, sender, ["net", "netsplice"], "tcp", CHECKED);
    }
}

/// The bytes on the wire of a ferrio that sends four units by TCP.
fn sent_by_tcp(engine: &str, more: &str) -> Vec<u8> {
    let dir = TestDir::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let all = words(&format!(
        "--ioengine={engine} --port={port} --hostname=127.0.0.1 --rw=write --buffer_pattern=0x41424344 {more}"
    ));
    let running = job(&dir, false, &all).start();
    let mut bytes = Vec::new();
    listener.accept().unwrap().0.read_to_end(&mut bytes).unwrap();
    assert_eq!(number(&running.wait().succeeded().json(), "/jobs/0/write/io_bytes"), 65536);
    bytes
}

#[test]
fn a_tcp_stream_is_the_data_and_a_message_that_ends_it() {
    for engine in ["net", "netsplice"] {
        let bytes = sent_by_tcp(engine, "");
        let (data, end) = bytes.split_at(65536);
        assert_eq!(end, CLOSE, "{engine}");
        assert!(data.chunks(4).all(|chunk| chunk == b"ABCD"), "{engine}");
    }
}

#[test]
fn spliced_blocks_are_those_of_their_offsets() {
    // A page that the socket has must not be changed for the next block.
    transfer(false, false, ["net", "netsplice"], "tcp", "--verify=crc32c --do_verify=0 --size=64k");
}

#[test]
fn udp_has_a_message_before_and_after_numbered_datagrams() {
    let dir = TestDir::new();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    let all = words(&format!(
        "--ioengine=net --protocol=udp --port={port} --hostname=127.0.0.1 --rw=write --size=12k \
         --buffer_pattern=0x41"
    ));
    let running = job(&dir, false, &all).start();
    let mut datagrams = Vec::new();
    while datagrams.last().is_none_or(|last: &Vec<u8>| last != CLOSE) {
        let mut bytes = vec![0; 8192];
        let count = socket.recv(&mut bytes).unwrap();
        bytes.truncate(count);
        datagrams.push(bytes);
    }
    running.wait().succeeded();
    assert_eq!((datagrams.len(), &*datagrams[0]), (5, OPEN));
    for (number, datagram) in datagrams[1..4].iter().enumerate() {
        let mut want = vec![0x41; 4096 - 24];
        want.extend_from_slice(&0x6573_7571_6e55_6563_u64.to_le_bytes());
        want.extend_from_slice(&(number as u64).to_le_bytes());
        want.extend_from_slice(&4096_u64.to_le_bytes());
        assert!(*datagram == want, "datagram {number}");
    }
}

#[test]
fn datagrams_that_never_come_are_counted() {
    let dir = TestDir::new();
    let port = free_port();
    let running = listening(&dir, port, "--rw=read --protocol=udp");
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    peer.connect(("127.0.0.1", port)).unwrap();
    peer.send(OPEN).unwrap();
    for number in [0_u64, 1, 4, 5] {
        let mut datagram = vec![7; 4096 - 24];
        for field in [0x6573_7571_6e55_6563, number, 4096] {
            datagram.extend_from_slice(&field.to_le_bytes());
        }
        peer.send(&datagram).unwrap();
    }
    peer.send(CLOSE).unwrap();
    let mut answer = [0; 16];
    assert_eq!(peer.recv(&mut answer).unwrap(), CLOSE.len());
    assert_eq!(answer[..8], *CLOSE);
    let report = running.wait().succeeded().json();
    let figures = ["io_bytes", "total_ios", "drop_ios"];
    assert_eq!(figures.map(|figure| number(&report, &format!("/jobs/0/read/{figure}"))), [16384, 4, 2]);
}

#[test]
fn a_receiver_puts_units_together_and_ends_with_the_stream() {
    for end in [CLOSE, b""] {
        let dir = TestDir::new();
        let port = free_port();
        let running = listening(&dir, port, "--rw=read");
        let mut peer = TcpStream::connect(("127.0.0.1", port)).unwrap();
        peer.set_nodelay(true).unwrap();
        (0..10).for_each(|_| peer.write_all(&[7; 1024]).unwrap());
        (0..2).for_each(|_| peer.write_all(&[7; 1024]).unwrap());
        peer.write_all(end).unwrap();
        drop(peer);
        let run = running.wait().succeeded();
        let vanished =
            run.stderr.contains("j: the peer closed the connection without sending the close message");
        assert_eq!(vanished, end.is_empty(), "{}", run.stderr);
        let report = run.json();
        let figures = ["io_bytes", "total_ios", "short_ios"];
        assert_eq!(figures.map(|figure| number(&report, &format!("/jobs/0/read/{figure}"))), [12288, 3, 0]);
    }
}

#[test]
fn a_job_that_waits_for_its_peer_ends_at_a_signal() {
    let dir = TestDir::new();
    let port = free_port();
    for more in ["--rw=read", "--rw=read --protocol=udp"] {
        let running = listening(&dir, port, more);
        running.signal(Signal::SIGINT);
        assert_eq!(number(&running.wait().json(), "/jobs/0/read/total_ios"), 0, "{more}");
    }
    // The peer is there and sends nothing.
    let mut running = listening(&dir, port, "--rw=read");
    let _peer = TcpStream::connect(("127.0.0.1", port)).unwrap();
    running.until("the acceptance", || !has_pending(port));
    running.signal(Signal::SIGINT);
    assert_eq!(number(&running.wait().json(), "/jobs/0/read/total_ios"), 0);
}

/// True while a connection to the port waits to be accepted.
fn has_pending(port: u16) -> bool {
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let address = format!(":{port:04X}");
    let listener = |line: &&str| line.split_whitespace().nth(3) == Some("0A");
    // For a listener the receive queue is the number of connections.
    table.lines().filter(listener).any(|line| {
        let mut words = line.split_whitespace().skip(1);
        words.next().is_some_and(|local| local.ends_with(&address))
            && words.nth(2).is_some_and(|queues| !queues.ends_with(":00000000"))
    })
}

#[test]
fn the_run_time_of_a_receiver_ends_while_it_waits_for_data() {
    let dir = TestDir::new();
    let port = free_port();
    let running = listening(&dir, port, "--rw=read --runtime=1");
    let mut peer = TcpStream::connect(("127.0.0.1", port)).unwrap();
    peer.write_all(&[7; 5000]).unwrap();
    let report = running.wait().succeeded().json();
    let figures = ["io_bytes", "total_ios"];
    assert_eq!(figures.map(|figure| number(&report, &format!("/jobs/0/read/{figure}"))), [4096, 1]);
    let mut rest = Vec::new();
    // It says goodbye: there was data that it did not read, so the connection may be reset afterwards.
    let _ = peer.read_to_end(&mut rest);
    assert!(CLOSE.starts_with(&rest));
}

#[test]
fn the_run_time_of_a_sender_ends_while_the_peer_takes_nothing() {
    let dir = TestDir::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let all =
        words(&format!("--ioengine=net --port={port} --hostname=127.0.0.1 --rw=write --size=1g --runtime=1"));
    let running = job(&dir, false, &all).start();
    let _peer = listener.accept().unwrap();
    let report = running.wait().succeeded().json();
    let [bytes, ios] = ["io_bytes", "total_ios"].map(|f| number(&report, &format!("/jobs/0/write/{f}")));
    assert!(bytes > 0 && bytes == ios * 4096, "{bytes} bytes, {ios} I/Os");
}

#[test]
fn both_ends_in_one_job_file_need_no_delay_and_clones_have_ports_of_their_own() {
    let dir = TestDir::new();
    let port = loop {
        let port = free_port();
        if TcpListener::bind(("0.0.0.0", port + 1)).is_ok() {
            free_port();
            break port;
        }
    };
    let file = dir.job(&format!(
        "[global]\nioengine=net\nport={port}\nsize=64k\nbs=4k\nnumjobs=2\nloops=2\n\
         [send]\nhostname=127.0.0.1\nrw=write\n[receive]\nlisten\nrw=read\n"
    ));
    let run = dir.ferrio(&["--output-format=json", &file]).run().succeeded();
    let report = run.json();
    for (job, direction) in ["write", "write", "read", "read"].into_iter().enumerate() {
        assert_eq!(number(&report, &format!("/jobs/{job}/{direction}/io_bytes")), 2 * 65536);
    }
}

#[test]
fn net_reports_bits_and_netsplice_bytes() {
    for (engine, unit) in [("net", "bit/s"), ("netsplice", "B/s")] {
        let dir = TestDir::new();
        let port = free_port();
        let file = dir.job(&format!(
            "[global]\nioengine={engine}\nport={port}\nsize=64k\nbs=4k\n\
             [receive]\nlisten\nrw=read\n[send]\nhostname=127.0.0.1\nrw=write\n"
        ));
        let run = dir.ferrio(&[file]).run().succeeded();
        let line = run.stdout.lines().find(|line| line.contains("READ: bw=")).expect("a line of the group");
        assert!(line.split([' ', ',']).any(|word| word.starts_with("bw=") && word.ends_with(unit)), "{line}");
        assert!(run.messages().contains("waiting for connection"), "{}", run.messages());
    }
}

#[test]
fn unix_sockets_carry_all_bytes_and_are_gone_afterwards() {
    let dir = TestDir::new();
    let socket = dir.work().join("socket");
    let receiver = words("--ioengine=net --protocol=unix --filename=socket --rw=read --verify=crc32c");
    let receiver = job(&dir, false, &receiver).start();
    let listens = || fs::read_to_string("/proc/net/unix").is_ok_and(|table| table.contains(" socket\n"));
    until("socket", || socket.exists() && listens());
    let sender =
        words("--ioengine=net --protocol=unix --filename=socket --rw=write --verify=crc32c --do_verify=0");
    let sender = job(&dir, false, &sender).run().succeeded().json();
    assert_eq!(number(&sender, "/jobs/0/write/io_bytes"), 65536);
    assert_eq!(number(&receiver.wait().succeeded().json(), "/jobs/0/read/io_bytes"), 65536);
    assert!(!socket.exists());
}

/// fio ends with error 106 when it has moved all bytes: its close message names the peer of a socket that is connected.
#[test]
fn fio_and_ferrio_receive_what_the_other_sends_by_unix_sockets() {
    needs!("fio");
    for [receiver_is_fio, sender_is_fio] in ENDS {
        let dir = TestDir::new();
        let socket = dir.work().join("unix");
        let end = |rw: &str| words(&format!("--ioengine=net --protocol=unix --filename=unix --rw={rw}"));
        let receiver = job(&dir, receiver_is_fio, &end("read")).start();
        let listens = || fs::read_to_string("/proc/net/unix").is_ok_and(|table| table.contains(" unix\n"));
        until("socket", || socket.exists() && listens());
        let sender = job(&dir, sender_is_fio, &end("write")).run();
        let ends = [(receiver.wait(), receiver_is_fio, "read"), (sender, sender_is_fio, "write")];
        for (run, is_fio, direction) in ends {
            let report = document_within(&run.ended_with(i32::from(is_fio)).stdout).0;
            assert_eq!(number(&report, "/jobs/0/error"), if is_fio { 106 } else { 0 });
            assert_eq!(number(&report, &format!("/jobs/0/{direction}/io_bytes")), 65536);
        }
    }
}

#[test]
fn a_virtual_machine_talks_to_itself_or_is_told_what_that_takes() {
    if !fs::exists("/dev/vsock").unwrap() {
        return skipped("protocol=vsock", "this kernel has no AF_VSOCK");
    }
    let dir = TestDir::new();
    let end = |words_of_end: &str| {
        words(&format!("--ioengine=net --protocol=vsock --port={} {words_of_end}", free_port()))
    };
    let alone = job(&dir, false, &end("--hostname=1 --rw=write")).run().ended_with(1);
    let errno = number(&alone.json(), "/jobs/0/error");
    assert!(
        alone.messages().contains("if the kernel module vsock_loopback is loaded"),
        "{}",
        alone.messages()
    );
    if !fs::exists("/sys/module/vsock_loopback").unwrap() {
        skipped("protocol=vsock between two jobs", &format!("vsock_loopback is not loaded (errno {errno})"));
        return;
    }
    let receiver = end("--rw=read --listen");
    let port = &receiver[2];
    let mut running = job(&dir, false, &receiver).start();
    running.until("a listener", || {
        let sender = [words("--ioengine=net --protocol=vsock --hostname=1 --rw=write"), vec![port.clone()]];
        job(&dir, false, &sender.concat()).run().status == Some(0)
    });
    assert_eq!(number(&running.wait().succeeded().json(), "/jobs/0/read/io_bytes"), 65536);
}

#[test]
fn a_file_of_the_user_is_not_replaced_by_a_socket() {
    let dir = TestDir::new();
    fs::write(dir.work().join("mine"), "precious").unwrap();
    let receiver = words("--ioengine=net --protocol=unix --filename=mine --rw=read");
    let report = job(&dir, false, &receiver).run().ended_with(1).json();
    assert_eq!(number(&report, "/jobs/0/error"), 98);
    assert_eq!(dir.read("mine"), "precious");
}

#[test]
fn a_peer_that_is_not_there_is_an_error_with_advice() {
    let dir = TestDir::new();
    let refused = words(&format!("--ioengine=net --port={} --hostname=127.0.0.1 --rw=write", free_port()));
    let run = job(&dir, false, &refused).run().ended_with(1);
    assert_eq!(number(&run.json(), "/jobs/0/error"), 111);
    assert!(run.messages().contains("start the job with `listen` at the other end first"));
    let unknown = words("--ioengine=net --port=9 --hostname=no-such-host.invalid --rw=write");
    let run = job(&dir, false, &unknown).run().ended_with(1);
    assert!(run.messages().contains("hostname=no-such-host.invalid has no address"), "{}", run.messages());
}
