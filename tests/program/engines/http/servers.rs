//! The servers of the packages in `tests/servers/requirements.txt`: an S3 server that checks signatures, and a WebDAV server.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::{TestDir, installed, number, skipped, text};

/// A server that a test has started; it ends with its standard input.
pub struct Server {
    process: Child,
    /// The output of the server when it was ready.
    pub ready: Value,
}

impl Server {
    fn start(program: &str, arguments: &[&str]) -> Option<Server> {
        let python = environment()?.join("bin/python");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers").join(program);
        let mut process = Command::new(python)
            .arg(script)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{program}: {error}: {line}"));
        Some(Server { process, ready })
    }

    /// The S3 server, with an empty bucket `bucket`; `None`, and a word about it, where it is not installed.
    pub fn s3() -> Option<Server> {
        Server::start("s3.py", &[])
    }

    /// The WebDAV server on this directory, with one of its ways to ask who is there.
    pub fn dav(directory: &Path, authentication: &str) -> Option<Server> {
        Server::start("dav.py", &[directory.to_str().unwrap(), authentication])
    }

    /// A server with TLS and a certificate for `localhost` that no authority has signed; also the path of the certificate.
    pub fn dav_by_tls(dir: &TestDir) -> Option<(Server, PathBuf)> {
        let (certificate, key) = (dir.beside("certificate.pem"), dir.beside("key.pem"));
        let run = Command::new(installed("openssl"))
            .args([
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=ferrio test server",
            ])
            .args([
                "-addext",
                "subjectAltName=DNS:localhost",
                "-addext",
                "basicConstraints=critical,CA:FALSE",
                "-keyout",
                key.to_str().unwrap(),
            ])
            .args(["-out", certificate.to_str().unwrap()])
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let [work, pem, secret] =
            [&dir.work(), &certificate, &key].map(|path| path.to_str().unwrap().to_owned());
        let server = Server::start("dav.py", &[&work, "none", &pem, &secret])?;
        Some((server, certificate))
    }

    pub fn port(&self) -> u64 {
        number(&self.ready, "/port")
    }

    /// Key id and key of a user of the S3 server.
    pub fn keys(&self) -> [String; 2] {
        ["/id", "/key"].map(|path| text(&self.ready, path).to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// The Python environment of the servers. The CI has one; elsewhere it is made by hand, because it is downloaded.
fn environment() -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("servers-venv");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers");
    let wanted = fs::read(sources.join("requirements.txt")).unwrap();
    if fs::read(directory.join("installed.txt")).is_ok_and(|installed| installed == wanted) {
        return Some(directory);
    }
    assert!(env::var_os("CI").is_none(), "the CI runs tests/servers/setup");
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    skipped(&test, "its server is not installed: tests/servers/setup installs it");
    None
}
