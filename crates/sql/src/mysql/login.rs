//! The beginning of a connection: capabilities, TLS, and who the user is.

use std::io;

use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest};
use mysql_common::proto::MySerialize;

use super::answer::{lost, malformed, server_error};
use super::compression::Transport;
use super::packets::Packets;
use super::public_key;
use crate::socket::Socket;
use crate::stream::{Stream, refuse_tls};
use crate::{Login, SqlError};

/// What this client can do. The server may be able to do less.
const CAPABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_LONG_PASSWORD)
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);

/// The largest packet that the server may send: the protocol's own limit.
const MAX_PACKET: u32 = 1 << 30;

/// `utf8mb4_general_ci`
const CHARACTER_SET: u8 = 45;

const NONCE: usize = 20;

/// A user who is logged in.
#[derive(Debug)]
pub(crate) struct Session {
    pub(super) packets: Packets,
    /// Sets of rows end with an OK packet, and nothing separates columns from rows.
    pub(super) deprecate_eof: bool,
}

/// Connects and logs in.
pub(super) fn log_in(login: &Login) -> Result<Session, SqlError> {
    refuse_tls(login.tls)?;
    let socket = Socket::connect(&login.address).map_err(SqlError::Unreachable)?;
    let mut packets = Packets::new(Transport::Plain(Stream::Plain(socket)));
    let greeting = packets.receive().map_err(SqlError::Unreachable)?;
    if greeting.first() == Some(&0xff) {
        return Err(server_error(greeting));
    }
    if !has_sound_length(greeting) {
        return Err(malformed());
    }
    let greeting: HandshakePacket<'static> =
        ParseBuf(greeting).parse::<HandshakePacket<'_>>(()).map_err(lost)?.into_owned();
    let offered = Offer::of(&greeting, login)?;
    if login.tls {
        let request = SslRequest::new(offered.capabilities, MAX_PACKET, CHARACTER_SET)
            .with_mariadb_capabilities(offered.mariadb);
        send(&mut packets, |payload| request.serialize(payload))?;
        packets = packets.map_transport(|transport| match transport {
            Transport::Plain(stream) => stream.encrypt(&login.address).map(Transport::Plain),
            compressed @ Transport::Compressed(_) => Ok(compressed),
        })?;
    }
    let (plugin, nonce) =
        (greeting.auth_plugin().unwrap_or(AuthPlugin::MysqlNativePassword), greeting.nonce());
    // A server that wants what this client does not know may still let the user choose: it asks again.
    let first = match plugin {
        AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password => plugin.borrow(),
        _ => AuthPlugin::MysqlNativePassword,
    };
    let proof = proof(&first, login, &nonce, packets.transport().stream())?;
    let database = (!login.database.is_empty()).then_some(login.database.as_bytes());
    let response = HandshakeResponse::new(
        Some(proof),
        (5, 5, 3),
        Some(login.user.as_bytes()),
        database,
        Some(first),
        offered.capabilities,
        None,
        MAX_PACKET,
    )
    .with_mariadb_ext_capabilities(offered.mariadb);
    send(&mut packets, |payload| response.serialize(payload))?;
    prove(&mut packets, login, nonce)?;
    packets.wait_without_limit().map_err(lost)?;
    if offered.capabilities.contains(CapabilityFlags::CLIENT_COMPRESS) {
        packets = packets.map_transport(|transport| Ok::<_, SqlError>(transport.compressed()))?;
    }
    let deprecate_eof = offered.capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
    Ok(Session { packets, deprecate_eof })
}

/// The length of the random bytes of a greeting, which `mysql_common` computes with as it is, is one.
fn has_sound_length(greeting: &[u8]) -> bool {
    /// From the end of the server's version: the connection, random bytes, capabilities, character set and status.
    const OFFSET: usize = 4 + 9 + 2 + 1 + 2 + 2;
    let version = greeting.get(1..).unwrap_or_default();
    let length = version.iter().position(|byte| *byte == 0).and_then(|end| version.get(end + 1 + OFFSET));
    length.is_none_or(u8::is_ascii)
}

/// What client and server both can do.
struct Offer {
    capabilities: CapabilityFlags,
    mariadb: MariadbCapabilities,
}

impl Offer {
    fn of(greeting: &HandshakePacket<'_>, login: &Login) -> Result<Offer, SqlError> {
        let mut wanted = CAPABILITIES;
        if login.compression {
            wanted |= CapabilityFlags::CLIENT_COMPRESS;
        }
        if login.tls {
            wanted |= CapabilityFlags::CLIENT_SSL;
        }
        if login.database.is_empty() {
            wanted -= CapabilityFlags::CLIENT_CONNECT_WITH_DB;
        }
        let capabilities = wanted & greeting.capabilities();
        let needed = CapabilityFlags::CLIENT_PROTOCOL_41 | CapabilityFlags::CLIENT_SECURE_CONNECTION;
        if !capabilities.contains(needed) {
            return Err(SqlError::Unsupported("the server is older than MySQL 4.1".to_owned()));
        }
        if login.tls && !capabilities.contains(CapabilityFlags::CLIENT_SSL) {
            return Err(SqlError::Unsupported("the server does not offer TLS".to_owned()));
        }
        // MariaDB sends the columns of a prepared statement again only if they have changed. It says so by leaving out a flag of MySQL.
        let mariadb = if capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF)
            && !greeting.capabilities().contains(CapabilityFlags::CLIENT_LONG_PASSWORD)
        {
            greeting.mariadb_ext_capabilities() & MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA
        } else {
            MariadbCapabilities::empty()
        };
        Ok(Offer { capabilities, mariadb })
    }
}

fn send(packets: &mut Packets, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), SqlError> {
    write(packets.reply());
    packets.send().map_err(lost)
}

/// What proves that the user knows the password.
fn proof(plugin: &AuthPlugin<'_>, login: &Login, nonce: &[u8], stream: &Stream) -> Result<Vec<u8>, SqlError> {
    match plugin {
        AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password | AuthPlugin::Ed25519 => {
            let data = plugin.gen_data(Some(&login.password), nonce);
            Ok(data.map(|data| data.to_vec()).unwrap_or_default())
        }
        AuthPlugin::MysqlClearPassword if stream.is_private() => Ok(clear_password(login)),
        AuthPlugin::MysqlClearPassword => Err(SqlError::Unsupported(
            "the server asks for the password in clear text, which is only sent over TLS or a Unix socket"
                .to_owned(),
        )),
        // The server asks the kernel who the user is.
        AuthPlugin::Other(name) if matches!(name.as_ref(), b"unix_socket" | b"auth_socket") => Ok(Vec::new()),
        other => Err(SqlError::Unsupported(format!(
            "the server wants the authentication method `{}` for the user '{}'; choose mysql_native_password, caching_sha2_password or ed25519 for this user",
            String::from_utf8_lossy(other.as_bytes()),
            login.user
        ))),
    }
}

fn clear_password(login: &Login) -> Vec<u8> {
    [login.password.as_bytes(), b"\0"].concat()
}

/// Answers the server's questions until the user is logged in.
fn prove(packets: &mut Packets, login: &Login, mut nonce: Vec<u8>) -> Result<(), SqlError> {
    loop {
        let packet = packets.receive().map_err(lost)?.to_vec();
        match packet.as_slice() {
            [0x00, ..] => return Ok(()),
            [0xff, ..] => return Err(server_error(&packet)),
            [0xfe, _, ..] => {
                let request: AuthSwitchRequest<'_> = ParseBuf(&packet).parse(()).map_err(lost)?;
                nonce = request.plugin_data().to_vec();
                if !matches!(request.auth_plugin(), AuthPlugin::Ed25519) {
                    nonce.truncate(NONCE);
                }
                let proof = proof(&request.auth_plugin(), login, &nonce, packets.transport().stream())?;
                send(packets, |payload| payload.extend_from_slice(&proof))?;
            }
            // caching_sha2_password: the server remembers the user.
            [0x01, 3] => {}
            // It does not, and needs the password itself.
            [0x01, 4] if packets.transport().stream().is_private() => {
                let password = clear_password(login);
                send(packets, |payload| payload.extend_from_slice(&password))?;
            }
            [0x01, 4] => send(packets, |payload| payload.push(2))?,
            [0x01, key @ ..] => {
                let encrypted = public_key::encrypt_password(key, &login.password, &nonce)
                    .map_err(SqlError::Unsupported)?;
                send(packets, |payload| payload.extend_from_slice(&encrypted))?;
            }
            _ => return Err(lost(io::Error::from(io::ErrorKind::InvalidData))),
        }
    }
}
