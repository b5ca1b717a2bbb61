//! Mutual TLS over TCP: both ends have a certificate, and both check that of the other one against the same CA.
//!
//! The two threads of a connection read and write a pair of local sockets; a third one, the pump, moves bytes between its end of the pair and
//! the network. So no lock is held while anybody waits, and reading never waits for writing.

mod pump;

use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection};
use thiserror::Error;

use crate::carrier::{Carrier, Closer, Ends};
use pump::Pump;

/// The pump's stack: a handshake checks signatures.
const PUMP_STACK: usize = 512 << 10;

/// The files of one end, in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// Its certificate, and those between it and the CA.
    pub cert: PathBuf,
    /// The key of the certificate.
    pub key: PathBuf,
    /// The certificates of the CA that signs those of all ends.
    pub ca: PathBuf,
}

/// Why there is no TLS.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file cannot be read, or has something else.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Certificate and key do not fit, or are of a kind that is not known.
    #[error("{0}")]
    Identity(#[from] rustls::Error),
    /// There is nothing to check certificates against.
    #[error("{0}")]
    Verifier(#[from] rustls::server::VerifierBuilderError),
}

/// Certificate, key and CA of one end.
#[derive(Clone, Debug)]
pub struct Tls {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// A file cannot be read or has something else, or they do not fit.
    pub fn new(files: &TlsFiles) -> Result<Tls, TlsError> {
        let chain = certificates(&files.cert)?;
        let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| in_file(&files.key, error))?;
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&files.ca)? {
            roots.add(certificate).map_err(|error| in_file(&files.ca, error))?;
        }
        let (provider, roots) = (Arc::new(ring::default_provider()), Arc::new(roots));
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])?
            .with_root_certificates(Arc::clone(&roots))
            .with_client_auth_cert(chain.clone(), key.clone_key())?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider)).build()?;
        let server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)?;
        Ok(Tls { client: Arc::new(client), server: Arc::new(server) })
    }

    /// The coordinator's end of a connection to the server `host`, whose certificate has to be for this name or address.
    ///
    /// # Errors
    ///
    /// The name is none, or the kernel refuses.
    pub fn connected(&self, stream: TcpStream, host: &str) -> io::Result<Ends> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::clone(&self.client), name).map_err(io::Error::other)?;
        carried(stream, connection.into())
    }

    /// The agent's end of a connection.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn accepted(&self, stream: TcpStream) -> io::Result<Ends> {
        let connection = ServerConnection::new(Arc::clone(&self.server)).map_err(io::Error::other)?;
        carried(stream, connection.into())
    }
}

fn in_file(path: &Path, reason: impl ToString) -> TlsError {
    TlsError::File { path: path.to_owned(), reason: reason.to_string() }
}

/// At least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let found: Vec<_> = found.map_err(|error| in_file(path, error))?;
    if found.is_empty() {
        return Err(in_file(path, "there is no certificate in it (-----BEGIN CERTIFICATE-----)"));
    }
    Ok(found)
}

/// Why a connection ended, once it has.
type Reason = Arc<Mutex<Option<String>>>;

/// Ends the near socket of a pump, and so the pump and the connection.
struct PumpCloser {
    near: UnixStream,
    reason: Reason,
    /// Ends when the last byte of this end is sent.
    sent: Receiver<()>,
}

impl Closer for PumpCloser {
    fn close(&mut self) {
        let _ = self.near.shutdown(Shutdown::Both);
    }

    fn flush(&mut self, timeout: Duration) {
        let _ = self.near.shutdown(Shutdown::Write);
        let _ = self.sent.recv_timeout(timeout);
    }

    fn last_words(&mut self) -> Option<String> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn carried(network: TcpStream, connection: Connection) -> io::Result<Ends> {
    network.set_nodelay(true)?;
    network.set_nonblocking(true)?;
    let (near, far) = UnixStream::pair()?;
    far.set_nonblocking(true)?;
    let reason = Reason::default();
    let (unsent, sent) = channel();
    let closer = PumpCloser { near: near.try_clone()?, reason: Arc::clone(&reason), sent };
    let pump = Pump::new(connection, network, far, unsent);
    let run = move || {
        pump.run(|why| *reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(why));
    };
    thread::Builder::new().stack_size(PUMP_STACK).spawn(run)?;
    Ok(Ends { closer: Box::new(closer), ..near.split()? })
}
