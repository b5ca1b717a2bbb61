//! Logins of MySQL 8 and statements of MySQL 5.6, which Debian does not have: servers that are scripted here.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::thread;

use ferrio_sql::{Address, Connection, Driver, Keep, Login, ReplyKind, SqlError};
use num_bigint::BigUint;
use sha2::Digest as _;

const NONCE: &[u8; 20] = b"abcdefgh0123456789AB";
const OK: &[u8] = b"\0\0\0\x02\0\0\0";

/// A key of 512 bits, made by `openssl genrsa`, and its private exponent.
const PEM: &str = "\
-----BEGIN PUBLIC KEY-----\n\
MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAJeonwitLJOk3APRp228F71bZIdjURor\n\
QMF2jXiXF3JZ2hKicSBYcLYOODOv2FPcD2qjYis9fiJbseqdroVaeksCAwEAAQ==\n\
-----END PUBLIC KEY-----";
const PRIVATE: &str = "15ba1d9693a0b8423d16faf93e9a5cd84ef89700de849e3fb7b7b14ade72887a2872d7f50ada0742b4be0b3c7e74263ae94512a310dad1f690d9c2c63ddb8de9";

const LONG_PASSWORD: u32 = 1;
const PROTOCOL_41: u32 = 1 << 9;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;
const DEPRECATE_EOF: u32 = 1 << 24;
const MYSQL_5_6: u32 = LONG_PASSWORD | PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH;
const MYSQL_8: u32 = MYSQL_5_6 | DEPRECATE_EOF;

/// One end of a connection, which speaks packets.
struct Server<S> {
    stream: S,
    sequence: u8,
}

impl<S: Read + Write> Server<S> {
    fn send(&mut self, payload: &[u8]) {
        let length = (payload.len() as u32).to_le_bytes();
        self.stream.write_all(&[&length[..3], &[self.sequence], payload].concat()).unwrap();
        self.sequence += 1;
    }

    fn receive(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header).unwrap();
        self.sequence = header[3] + 1;
        let mut payload = vec![0; usize::from(header[0]) | usize::from(header[1]) << 8];
        self.stream.read_exact(&mut payload).unwrap();
        payload
    }

    /// Greets, and returns what the client answers.
    fn greet(&mut self, capabilities: u32, plugin: &str) -> Vec<u8> {
        let [low, low2, high, high2] = capabilities.to_le_bytes();
        let mut greeting = b"\x0a8.0.36\0\x01\0\0\0".to_vec();
        greeting.extend_from_slice(&NONCE[..8]);
        greeting.extend_from_slice(&[0, low, low2, 255, 2, 0, high, high2, 21]);
        greeting.extend_from_slice(&[0; 10]);
        greeting.extend_from_slice(&NONCE[8..]);
        greeting.push(0);
        greeting.extend_from_slice(plugin.as_bytes());
        greeting.push(0);
        self.send(&greeting);
        self.receive()
    }
}

fn login(address: Address) -> Login {
    Login {
        address,
        user: "sbtest".to_owned(),
        password: "secret".to_owned(),
        database: String::new(),
        tls: false,
        compression: false,
    }
}

/// What a client gets that logs in over TCP to a server that does this.
fn with_server<T>(
    serve: impl FnOnce(&mut Server<std::net::TcpStream>) + Send,
    talk: impl FnOnce(Result<Box<dyn Connection + Send>, SqlError>) -> T,
) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::scope(|scope| {
        let server = scope.spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            serve(&mut Server { stream, sequence: 0 });
        });
        let address = Address::Tcp { host: "127.0.0.1".to_owned(), port };
        let result = talk(Driver::Mysql.connect(&login(address)));
        server.join().unwrap();
        result
    })
}

/// The client has proved that it knows the password, as `caching_sha2_password` wants it.
fn expect_proof(response: &[u8]) {
    let sha = |bytes: &[u8]| sha2::Sha256::digest(bytes).to_vec();
    let (once, twice) = (sha(b"secret"), sha(&sha(b"secret")));
    let mask = sha(&[&twice, &NONCE[..]].concat());
    let proof: Vec<u8> = once.iter().zip(mask).map(|(a, b)| a ^ b).collect();
    assert!(response.windows(32).any(|bytes| bytes == proof));
    assert!(response.windows(7).any(|bytes| bytes == b"sbtest\0"));
}

#[test]
fn a_user_whom_mysql_8_remembers_logs_in_with_a_hash() {
    let serve = |server: &mut Server<_>| {
        expect_proof(&server.greet(MYSQL_8, "caching_sha2_password"));
        server.send(&[1, 3]);
        server.send(OK);
    };
    with_server(serve, |result| assert!(result.is_ok(), "{:?}", result.err()));
}

#[test]
fn without_tls_mysql_8_gets_the_password_encrypted_with_its_key() {
    let serve = |server: &mut Server<_>| {
        expect_proof(&server.greet(MYSQL_8, "caching_sha2_password"));
        server.send(&[1, 4]);
        assert_eq!(server.receive(), [2], "it asks for the key");
        server.send(&[b"\x01", PEM.as_bytes()].concat());
        assert_eq!(decrypt(&server.receive()), b"secret\0");
        server.send(OK);
    };
    with_server(serve, |result| assert!(result.is_ok(), "{:?}", result.err()));
}

/// Decrypts with the private key, and undoes the padding (OAEP) and the combination with the nonce.
fn decrypt(encrypted: &[u8]) -> Vec<u8> {
    let base64: String = PEM.lines().filter(|line| !line.starts_with('-')).collect();
    let der = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, base64).unwrap();
    // The modulus is followed by the exponent, an integer of three bytes.
    let modulus = BigUint::from_bytes_be(&der[der.len() - 5 - 64..der.len() - 5]);
    let private = BigUint::parse_bytes(PRIVATE.as_bytes(), 16).unwrap();
    let block = BigUint::from_bytes_be(encrypted).modpow(&private, &modulus).to_bytes_be();
    assert_eq!(block.len(), 63, "the first byte is 0");
    let mask = |seed: &[u8], length: usize| -> Vec<u8> {
        use sha1::Digest as _;
        (0..4_u32).flat_map(|i| sha1::Sha1::digest([seed, &i.to_be_bytes()].concat())).take(length).collect()
    };
    let (seed, data) = block.split_at(20);
    let seed: Vec<u8> = seed.iter().zip(mask(data, 20)).map(|(a, b)| a ^ b).collect();
    let data: Vec<u8> = data.iter().zip(mask(&seed, data.len())).map(|(a, b)| a ^ b).collect();
    let begin = 20 + data[20..].iter().position(|byte| *byte == 1).unwrap() + 1;
    data[begin..].iter().zip(NONCE).map(|(a, b)| a ^ b).collect()
}

#[test]
fn on_a_socket_mysql_8_gets_the_password_itself() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let mut server = Server { stream: listener.accept().unwrap().0, sequence: 0 };
        expect_proof(&server.greet(MYSQL_8, "caching_sha2_password"));
        server.send(&[1, 4]);
        assert_eq!(server.receive(), b"secret\0");
        server.send(OK);
    });
    let result = Driver::Mysql.connect(&login(Address::Socket(path)));
    assert!(result.is_ok(), "{:?}", result.err());
    server.join().unwrap();
}

#[test]
fn what_cannot_be_answered_is_named() {
    let cases: [(&[u8], &str); 4] = [
        (
            b"\xfesha256_password\0abcdefghijklmnopqrst\0",
            "the authentication method `sha256_password` for the user 'sbtest'",
        ),
        (
            b"\xfemysql_clear_password\0",
            "the password in clear text, which is only sent over TLS or a Unix socket",
        ),
        (
            b"\x01-----BEGIN PUBLIC KEY-----AAAA-----END",
            "public key, which the password has to be encrypted with, is unreadable",
        ),
        (b"\xff\x15\x04#28000Access denied", "Access denied"),
    ];
    for (question, message) in cases {
        let serve = |server: &mut Server<_>| {
            server.greet(MYSQL_8, "caching_sha2_password");
            server.send(question);
        };
        let error = with_server(serve, |result| result.err().unwrap());
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn an_answer_of_mysql_5_6_has_a_packet_behind_its_columns() {
    let serve = |server: &mut Server<_>| {
        server.greet(MYSQL_5_6, "mysql_native_password");
        server.send(OK);
        for _ in 0..2 {
            assert_eq!(server.receive(), b"\x03SELECT a");
            server.send(b"\x01");
            server.send(b"\x03def\0\0\0\x01a\0\x0c\x3f\0\x0b\0\0\0\x03\0\0\0\0\0");
            server.send(b"\xfe\0\0\x02\0");
            server.send(b"\x0242");
            server.send(b"\xfb");
            server.send(b"\xfe\0\0\x02\0");
        }
    };
    with_server(serve, |result| {
        let mut connection = result.unwrap();
        let reply = connection.query("SELECT a", Keep::Rows).unwrap();
        assert_eq!((reply.kind, reply.columns), (ReplyKind::Rows(2), vec!["a".to_owned()]));
        assert_eq!(reply.rows, [[Some(b"42".to_vec())], [None]]);
        let counted = connection.query("SELECT a", Keep::Count).unwrap();
        assert_eq!((counted.kind, counted.rows), (ReplyKind::Rows(2), Vec::new()));
    });
}
