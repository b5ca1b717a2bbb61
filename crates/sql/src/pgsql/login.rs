//! The beginning of a connection: TLS, and who the user is.

use std::io::{Read, Write};

use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use super::messages::{Messages, lost, malformed, server_error};
use crate::socket::Socket;
use crate::stream::{Stream, refuse_tls};
use crate::{Login, SqlError};

/// Connects and logs in.
pub(super) fn log_in(login: &Login) -> Result<Messages, SqlError> {
    refuse_tls(login.tls)?;
    let socket = Socket::connect(&login.address).map_err(SqlError::Unreachable)?;
    let mut stream = Stream::Plain(socket);
    if login.tls {
        stream = encrypt(stream, login)?;
    }
    let mut messages = Messages::new(stream);
    let parameters = [
        ("user", login.user.as_str()),
        ("database", &login.database),
        ("client_encoding", "UTF8"),
        ("application_name", "ferrio"),
    ];
    let parameters = parameters.into_iter().filter(|(_, value)| !value.is_empty());
    frontend::startup_message(parameters, messages.output()).map_err(lost)?;
    messages.send().map_err(lost)?;
    prove(&mut messages, login)?;
    messages.stream_mut().wait_without_limit().map_err(lost)?;
    Ok(messages)
}

fn encrypt(mut stream: Stream, login: &Login) -> Result<Stream, SqlError> {
    let (mut request, mut answer) = (BytesMut::new(), [0]);
    frontend::ssl_request(&mut request);
    stream.write_all(&request).map_err(lost)?;
    stream.read_exact(&mut answer).map_err(lost)?;
    match answer {
        [b'S'] => stream.encrypt(&login.address),
        _ => Err(SqlError::Unsupported("the server does not offer TLS".to_owned())),
    }
}

/// Answers the server's questions until it is ready for statements.
fn prove(messages: &mut Messages, login: &Login) -> Result<(), SqlError> {
    let mut scram: Option<ScramSha256> = None;
    let without_scram = || malformed("an answer to a question that was not asked");
    loop {
        match messages.receive()? {
            Message::AuthenticationCleartextPassword => {
                frontend::password_message(login.password.as_bytes(), messages.output()).map_err(lost)?;
                messages.send().map_err(lost)?;
            }
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(login.user.as_bytes(), login.password.as_bytes(), body.salt());
                frontend::password_message(hash.as_bytes(), messages.output()).map_err(lost)?;
                messages.send().map_err(lost)?;
            }
            Message::AuthenticationSasl(_) => {
                let begun = ScramSha256::new(login.password.as_bytes(), ChannelBinding::unsupported());
                frontend::sasl_initial_response(SCRAM_SHA_256, begun.message(), messages.output())
                    .map_err(lost)?;
                messages.send().map_err(lost)?;
                scram = Some(begun);
            }
            Message::AuthenticationSaslContinue(body) => {
                let scram = scram.as_mut().ok_or_else(without_scram)?;
                scram.update(body.data()).map_err(lost)?;
                frontend::sasl_response(scram.message(), messages.output()).map_err(lost)?;
                messages.send().map_err(lost)?;
            }
            Message::AuthenticationSaslFinal(body) => {
                scram.as_mut().ok_or_else(without_scram)?.finish(body.data()).map_err(lost)?;
            }
            Message::AuthenticationGss | Message::AuthenticationSspi | Message::AuthenticationKerberosV5 => {
                return Err(SqlError::Unsupported(format!(
                    "the server wants Kerberos for the user \"{}\"; choose scram-sha-256, md5, password or trust in its pg_hba.conf",
                    login.user
                )));
            }
            Message::ErrorResponse(body) => return Err(SqlError::Server(server_error(&body))),
            Message::ReadyForQuery(_) => return Ok(()),
            _ => {}
        }
    }
}
