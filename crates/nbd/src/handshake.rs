//! The negotiation between connecting and the first request: the export, its size and its capabilities.
//!
//! Supports the newstyle of the protocol, with `NBD_OPT_GO` where the server has it and `NBD_OPT_EXPORT_NAME` otherwise, and the oldstyle,
//! which has no negotiation.

use nix::errno::Errno;

use crate::NbdError;
use crate::channel::Connection;
use crate::wire::{u16_at, u32_at, u64_at};

/// Begins every handshake: `NBDMAGIC`.
const MAGIC: u64 = 0x4e42_444d_4147_4943;
/// Follows in the newstyle, and begins every option: `IHAVEOPT`.
const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// Follows in the oldstyle.
const OLDSTYLE_MAGIC: u64 = 0x0000_4202_8186_1253;
/// Begins every reply to an option.
const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;

/// Flag of both ends: unknown options are answered.
const FIXED_NEWSTYLE: u16 = 1;
/// Flag of both ends: no zeros follow the answer to [`OPTION_EXPORT_NAME`].
const NO_ZEROES: u16 = 2;
/// Number of these zeros.
const ZEROES: usize = 124;

const OPTION_EXPORT_NAME: u32 = 1;
const OPTION_GO: u32 = 7;
const OPTION_STRUCTURED_REPLY: u32 = 8;

/// Most replies to one option; a few are usual.
const MAX_REPLIES: u32 = 1000;

const REPLY_ACK: u32 = 1;
const REPLY_INFO: u32 = 3;
/// Set in replies that are errors.
const REPLY_ERROR: u32 = 1 << 31;
const ERROR_UNSUPPORTED: u32 = REPLY_ERROR | 1;

const INFO_EXPORT: u16 = 0;
const INFO_BLOCK_SIZE: u16 = 3;

/// Most bytes of a reply to an option: a name, a text and a few numbers.
const MAX_REPLY_BYTES: u32 = 16 << 10;

/// Capabilities of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportFlags(u16);

impl ExportFlags {
    /// Flags in the form of the protocol.
    #[must_use]
    pub const fn new(bits: u16) -> Self {
        ExportFlags(bits)
    }

    const fn has(self, bit: u16) -> bool {
        // If the first bit is not set, the others have no meaning.
        self.0 & 1 != 0 && self.0 & (1 << bit) != 0
    }

    #[must_use]
    /// Whether the server refuses writes.
    pub const fn is_read_only(self) -> bool {
        self.has(1)
    }

    /// Whether written data can be flushed to stable storage.
    #[must_use]
    pub const fn can_flush(self) -> bool {
        self.has(2)
    }

    /// Whether a write can be on stable storage before it is answered.
    #[must_use]
    pub const fn can_fua(self) -> bool {
        self.has(3)
    }

    /// Whether ranges can be discarded.
    #[must_use]
    pub const fn can_trim(self) -> bool {
        self.has(5)
    }
}

/// Limits of the sizes of requests, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportBlockSizes {
    /// Offsets and lengths must be multiples of it.
    pub min: u32,
    /// Most data of one request.
    pub max: u32,
}

/// The limits if the server states none: all offsets and lengths. The largest length is a limit of clients; servers may close the
/// connection at a smaller one.
const ANY_SIZE: ExportBlockSizes = ExportBlockSizes { min: 1, max: 64 << 20 };

/// The properties of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Export {
    /// Bytes.
    pub size: u64,
    /// Capabilities.
    pub flags: ExportFlags,
    /// Limits of requests.
    pub block: ExportBlockSizes,
}

/// Negotiates the use of an export.
pub(crate) fn negotiate(channel: &mut Connection<'_>, export: &str) -> Result<Export, NbdError> {
    let magic: [u8; 8] = channel.receive()?;
    if u64_at(&magic, 0) != MAGIC {
        let begin = String::from_utf8_lossy(&magic);
        return Err(NbdError::Protocol(format!("it begins with {:?} instead of \"NBDMAGIC\"", begin)));
    }
    match u64_at(&channel.receive::<8>()?, 0) {
        OPTION_MAGIC => newstyle(channel, export),
        OLDSTYLE_MAGIC => oldstyle(channel, export),
        other => Err(NbdError::Protocol(format!("its version {other:#x} of the handshake is unknown"))),
    }
}

/// The server has one export and describes it.
fn oldstyle(channel: &mut Connection<'_>, export: &str) -> Result<Export, NbdError> {
    let bytes: [u8; 12 + ZEROES] = channel.receive()?;
    if !export.is_empty() {
        return Err(NbdError::Refused {
            export: export.to_owned(),
            reason: "the server speaks the old form of the protocol, in which exports have no names: leave the name out"
                .to_owned(),
            errno: Errno::ENOENT,
        });
    }
    Ok(Export { size: u64_at(&bytes, 0), flags: ExportFlags(u16_at(&bytes, 10)), block: ANY_SIZE })
}

fn newstyle(channel: &mut Connection<'_>, export: &str) -> Result<Export, NbdError> {
    let server = u16_at(&channel.receive::<2>()?, 0);
    let flags = server & (FIXED_NEWSTYLE | NO_ZEROES);
    channel.send(&u32::from(flags).to_be_bytes())?;
    if flags & FIXED_NEWSTYLE != 0 {
        // Where the server has structured replies, errors come with an explanation and zeros need not be sent.
        send_option(channel, OPTION_STRUCTURED_REPLY, &[])?;
        receive_reply(channel, OPTION_STRUCTURED_REPLY)?;
        if let Some(found) = go(channel, export)? {
            return Ok(found);
        }
    }
    export_name(channel, export, flags & NO_ZEROES != 0)
}

/// `NBD_OPT_GO`; `None` if the server does not know it.
fn go(channel: &mut Connection<'_>, export: &str) -> Result<Option<Export>, NbdError> {
    let mut data = Vec::with_capacity(export.len() + 8);
    data.extend_from_slice(&(export.len() as u32).to_be_bytes());
    data.extend_from_slice(export.as_bytes());
    data.extend_from_slice(&1_u16.to_be_bytes());
    data.extend_from_slice(&INFO_BLOCK_SIZE.to_be_bytes());
    send_option(channel, OPTION_GO, &data)?;
    let mut found = None;
    let mut block = ANY_SIZE;
    for _ in 0..MAX_REPLIES {
        let (kind, data) = receive_reply(channel, OPTION_GO)?;
        match kind {
            REPLY_INFO if data.len() >= 12 && u16_at(&data, 0) == INFO_EXPORT => {
                found = Some((u64_at(&data, 2), ExportFlags(u16_at(&data, 10))));
            }
            REPLY_INFO if data.len() >= 14 && u16_at(&data, 0) == INFO_BLOCK_SIZE => {
                block = ExportBlockSizes { min: u32_at(&data, 2).max(1), max: u32_at(&data, 10) };
            }
            // Other facts about the export are not needed.
            REPLY_INFO => {}
            REPLY_ACK => {
                let Some((size, flags)) = found else {
                    return Err(NbdError::Protocol("it does not say how large the export is".to_owned()));
                };
                return Ok(Some(Export { size, flags, block }));
            }
            ERROR_UNSUPPORTED => return Ok(None),
            error if error & REPLY_ERROR != 0 => return Err(refusal(export, error, &data)),
            other => return Err(NbdError::Protocol(format!("its reply {other} to an option is unknown"))),
        }
    }
    Err(NbdError::Protocol(format!(
        "it sent more than {MAX_REPLIES} replies to one option without a last one"
    )))
}

/// `NBD_OPT_EXPORT_NAME`, which servers answer by closing the connection if they do not have the export.
fn export_name(channel: &mut Connection<'_>, export: &str, no_zeroes: bool) -> Result<Export, NbdError> {
    send_option(channel, OPTION_EXPORT_NAME, export.as_bytes())?;
    let bytes: [u8; 10] = channel.receive().map_err(|error| match error {
        NbdError::Broken { source, .. } if source.raw_os_error() == Some(libc::ENOTCONN) => {
            NbdError::Refused {
                export: export.to_owned(),
                reason: "it closed the connection, as servers do that have no export of this name".to_owned(),
                errno: Errno::ENOENT,
            }
        }
        error => error,
    })?;
    if !no_zeroes {
        channel.receive::<ZEROES>()?;
    }
    Ok(Export { size: u64_at(&bytes, 0), flags: ExportFlags(u16_at(&bytes, 8)), block: ANY_SIZE })
}

fn send_option(channel: &mut Connection<'_>, option: u32, data: &[u8]) -> Result<(), NbdError> {
    let mut bytes = Vec::with_capacity(16 + data.len());
    bytes.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
    bytes.extend_from_slice(&option.to_be_bytes());
    bytes.extend_from_slice(&(data.len() as u32).to_be_bytes());
    bytes.extend_from_slice(data);
    channel.send(&bytes)
}

/// The type of a reply and its data.
fn receive_reply(channel: &mut Connection<'_>, option: u32) -> Result<(u32, Vec<u8>), NbdError> {
    let header: [u8; 20] = channel.receive()?;
    let (magic, about, kind, len) =
        (u64_at(&header, 0), u32_at(&header, 8), u32_at(&header, 12), u32_at(&header, 16));
    if magic != OPTION_REPLY_MAGIC || about != option || len > MAX_REPLY_BYTES {
        return Err(NbdError::Protocol(format!("its answer to option {option} is not one")));
    }
    let mut data = vec![0; len as usize];
    channel.fill(&mut data)?;
    Ok((kind, data))
}

/// The meaning of an error, with the server's explanation.
fn refusal(export: &str, error: u32, data: &[u8]) -> NbdError {
    let (meaning, errno) = match error & !REPLY_ERROR {
        2 => ("it is forbidden", Errno::EACCES),
        3 => ("the request is invalid", Errno::EINVAL),
        4 => ("its platform cannot do it", Errno::ENOTSUP),
        5 => ("it requires TLS, which is not available here", Errno::EPROTONOSUPPORT),
        6 => ("there is no export of this name", Errno::ENOENT),
        7 => ("it is shutting down", Errno::ESHUTDOWN),
        8 => ("it requires block sizes that were not negotiated", Errno::EINVAL),
        9 => ("the name is too long", Errno::ENAMETOOLONG),
        _ => ("it does not say why", Errno::EIO),
    };
    let said: String = String::from_utf8_lossy(data).chars().filter(|c| !c.is_control()).take(256).collect();
    let reason = if said.is_empty() { meaning.to_owned() } else { format!("{meaning} ({said})") };
    NbdError::Refused { export: export.to_owned(), reason, errno }
}

#[cfg(test)]
mod tests;
