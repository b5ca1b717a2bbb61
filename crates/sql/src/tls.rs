//! TLS of a connection. It keeps others from reading along; it does not prove who the server is, as database clients do not either when they
//! are only told to encrypt: servers make a certificate for themselves at their first start, which no authority has signed.

use std::io::ErrorKind;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};

use crate::socket::Socket;
use crate::{Address, SqlError};

pub(crate) type TlsStream = StreamOwned<ClientConnection, Socket>;

/// Encrypts a connection; the handshake is complete afterwards.
pub(crate) fn encrypt(mut socket: Socket, address: &Address) -> Result<TlsStream, SqlError> {
    let mut connection = connection(address).map_err(|error| SqlError::Unsupported(error.to_string()))?;
    while connection.is_handshaking() {
        match connection.complete_io(&mut socket) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(SqlError::Lost(format!("no TLS: {error}")));
            }
            _ => {}
        }
    }
    Ok(StreamOwned::new(connection, socket))
}

fn connection(address: &Address) -> Result<ClientConnection, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    let host = match address {
        Address::Tcp { host, .. } => host.clone(),
        Address::Socket(_) => "localhost".to_owned(),
    };
    let name = ServerName::try_from(host).map_err(|error| rustls::Error::General(error.to_string()))?;
    ClientConnection::new(Arc::new(config), name)
}

/// Accepts each certificate whose owner has its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
