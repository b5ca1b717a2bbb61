//! Handshakes with servers of a few lines: what the client sends is compared with what the protocol wants.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::*;
use crate::{Address, ServerQuery, Uri, describe};

/// A place for a socket, removed with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let place = std::env::temp_dir().join(format!("ferrio-nbd-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        Place(place)
    }

    fn socket(&self) -> PathBuf {
        self.0.join("s")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a client finds at a server that does `serve` with one connection.
fn found(
    name: &str,
    export: &str,
    serve: impl FnOnce(&mut UnixStream) + Send + 'static,
) -> Result<Export, NbdError> {
    let place = Place::new(name);
    let listener = UnixListener::bind(place.socket()).unwrap();
    let server = thread::spawn(move || serve(&mut listener.accept().unwrap().0));
    let found = describe(&Uri { address: Address::Unix(place.socket()), export: export.to_owned() });
    server.join().unwrap();
    found
}

/// Asserts that the client sends these bytes.
#[track_caller]
fn expect(stream: &mut UnixStream, want: &[u8]) {
    let mut got = vec![0; want.len()];
    stream.read_exact(&mut got).unwrap();
    assert_eq!(got, want);
}

fn send(stream: &mut UnixStream, parts: &[&[u8]]) {
    parts.iter().for_each(|part| stream.write_all(part).unwrap());
}

const REPLY: &[u8] = &[0, 3, 0xe8, 0x89, 4, 0x55, 0x65, 0xa9];

/// A reply to an option.
fn reply(stream: &mut UnixStream, option: u32, kind: u32, data: &[u8]) {
    let len = (data.len() as u32).to_be_bytes();
    send(stream, &[REPLY, &option.to_be_bytes(), &kind.to_be_bytes(), &len, data]);
}

fn greet(stream: &mut UnixStream, flags: [u8; 2]) {
    send(stream, &[b"NBDMAGIC", b"IHAVEOPT", &flags]);
    expect(stream, &[0, 0, 0, flags[1]]);
}

const ASKS_FOR_STRUCTURE: &[u8] = b"IHAVEOPT\0\0\0\x08\0\0\0\0";
/// `NBD_OPT_GO` for the export `disk`, with its block sizes.
const GOES: &[u8] = b"IHAVEOPT\0\0\0\x07\0\0\0\x0c\0\0\0\x04disk\0\x01\0\x03";
const DISCONNECTS: &[u8] = b"\x25\x60\x95\x13\0\0\0\x02";

#[test]
fn a_server_of_today_tells_size_flags_and_block_sizes() {
    let export = found("go", "disk", |stream| {
        greet(stream, [0, 3]);
        expect(stream, ASKS_FOR_STRUCTURE);
        reply(stream, 8, 1, &[]);
        expect(stream, GOES);
        reply(stream, 7, 3, &[0, 3, 0, 0, 2, 0, 0, 0, 0x10, 0, 2, 0, 0, 0]);
        reply(stream, 7, 3, &[0, 1, b'x']);
        reply(stream, 7, 3, &[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0b0010_1101]);
        reply(stream, 7, 1, &[]);
        expect(stream, DISCONNECTS);
    })
    .unwrap();
    assert_eq!((export.size, export.block), (1 << 32, ExportBlockSizes { min: 512, max: 32 << 20 }));
    let flags = export.flags;
    assert!(flags.can_flush() && flags.can_fua() && flags.can_trim() && !flags.is_read_only());
}

#[test]
fn a_server_without_the_newer_options_is_asked_by_name() {
    for zeroes in [true, false] {
        let export = found(&format!("name-{zeroes}"), "disk", move |stream| {
            greet(stream, [0, if zeroes { 1 } else { 3 }]);
            expect(stream, ASKS_FOR_STRUCTURE);
            reply(stream, 8, ERROR_UNSUPPORTED, b"what is that?");
            expect(stream, GOES);
            reply(stream, 7, ERROR_UNSUPPORTED, &[]);
            expect(stream, b"IHAVEOPT\0\0\0\x01\0\0\0\x04disk");
            send(stream, &[&[0, 0, 0, 0, 0, 0, 0x20, 0], &[0, 3], &vec![0; if zeroes { 124 } else { 0 }]]);
            expect(stream, DISCONNECTS);
        })
        .unwrap();
        assert_eq!((export.size, export.block), (8192, ANY_SIZE));
        assert!(export.flags.is_read_only() && !export.flags.can_flush());
    }
}

#[test]
fn the_first_newstyle_has_names_only() {
    let export = found("first", "", |stream| {
        greet(stream, [0, 0]);
        expect(stream, b"IHAVEOPT\0\0\0\x01\0\0\0\0");
        send(stream, &[&[0, 0, 0, 0, 0, 0, 0x20, 0], &[0, 1], &[0; 124]]);
    });
    assert_eq!(export.unwrap().size, 8192);
}

#[test]
fn the_oldstyle_has_one_export_without_a_name() {
    let old = |stream: &mut UnixStream| {
        send(stream, &[b"NBDMAGIC", &[0, 0, 0x42, 2, 0x81, 0x86, 0x12, 0x53]]);
        send(stream, &[&[0, 0, 0, 0, 0, 0, 0x40, 0], &[0, 0, 0, 5], &[0; 124]]);
    };
    let export = found("old", "", old).unwrap();
    assert_eq!((export.size, export.flags.can_flush()), (16384, true));
    let refused = found("old-name", "disk", old).unwrap_err();
    assert!(refused.to_string().contains("exports have no names"), "{refused}");
}

/// The error of a server that answers `NBD_OPT_GO` like this.
fn refused(name: &str, kind: u32, data: &'static [u8]) -> (String, i32) {
    let error = found(name, "disk", move |stream| {
        greet(stream, [0, 3]);
        expect(stream, ASKS_FOR_STRUCTURE);
        reply(stream, 8, ERROR_UNSUPPORTED, &[]);
        expect(stream, GOES);
        reply(stream, 7, kind, data);
    })
    .unwrap_err();
    (error.to_string(), error.errno())
}

#[test]
fn a_refusal_has_the_reason_and_the_words_of_the_server() {
    let (message, errno) = refused("unknown", 0x8000_0006, b"no \x1b[31msuch\n disk");
    let want = "the server refuses the export \"disk\": there is no export of this name (no [31msuch disk)";
    assert_eq!((&*message, errno), (want, libc::ENOENT));
    let (message, errno) = refused("tls", 0x8000_0005, b"");
    assert!(message.ends_with("it requires TLS, which is not available here"), "{message}");
    assert_eq!(errno, libc::EPROTONOSUPPORT);
}

#[test]
fn a_server_that_hangs_up_has_no_such_export() {
    let error = found("hangs-up", "disk", |stream| {
        greet(stream, [0, 2]);
        expect(stream, b"IHAVEOPT\0\0\0\x01\0\0\0\x04disk");
    })
    .unwrap_err();
    assert!(error.to_string().contains("no export of this name"), "{error}");
    assert_eq!(error.errno(), libc::ENOENT);
}

#[test]
fn what_does_not_speak_the_protocol_is_said_to() {
    let error = found("http", "", |stream| send(stream, &[b"HTTP/1.1 400 Bad Request\r\n"])).unwrap_err();
    assert_eq!(error.to_string(), "no NBD server: it begins with \"HTTP/1.1\" instead of \"NBDMAGIC\"");
    let error = found("version", "", |stream| send(stream, &[b"NBDMAGICMYDATAAA"])).unwrap_err();
    assert!(error.to_string().contains("version 0x4d59444154414141"), "{error}");
    // An answer of that length would be a reason to run out of memory.
    let (message, errno) = {
        let error = found("long", "disk", |stream| {
            greet(stream, [0, 3]);
            expect(stream, ASKS_FOR_STRUCTURE);
            send(stream, &[REPLY, &8_u32.to_be_bytes(), &1_u32.to_be_bytes(), &u32::MAX.to_be_bytes()]);
        })
        .unwrap_err();
        (error.to_string(), error.errno())
    };
    assert_eq!((&*message, errno), ("no NBD server: its answer to option 8 is not one", libc::EPROTO));
    let (message, _) = refused("sizeless", REPLY_ACK, &[]);
    assert!(message.contains("does not say how large"), "{message}");
}

#[test]
fn a_server_that_closes_the_connection_is_said_to() {
    let error = found("closes", "", |_| {}).unwrap_err();
    let want = "the server closed the connection during the handshake: Transport endpoint is not connected";
    assert_eq!((error.to_string(), error.errno()), (want.to_owned(), libc::ENOTCONN));
}

#[test]
fn a_missing_server_is_an_error_of_connect() {
    let nobody = Uri { address: Address::Unix(Path::new("/nowhere/s").into()), export: String::new() };
    let error = describe(&nobody).unwrap_err();
    assert_eq!(
        (error.to_string(), error.errno()),
        ("connect: No such file or directory".to_owned(), libc::ENOENT)
    );
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let nobody = Uri { address: Address::Tcp("127.0.0.1".to_owned(), port), export: String::new() };
    let want = format!("connect: 127.0.0.1:{port}: could not connect to remote host: Connection refused");
    assert_eq!(
        ServerQuery::begin(nobody, Duration::from_secs(60)).unwrap().answer().unwrap_err().to_string(),
        want
    );
}
