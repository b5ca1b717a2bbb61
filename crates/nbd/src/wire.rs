//! Requests and replies once an export is open. All numbers are big-endian.

/// Begins every request.
const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Begins a simple reply.
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// Begins a chunk of a structured reply.
pub const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

/// Bytes of a request without its data.
pub const REQUEST_LEN: usize = 28;
/// Bytes of a simple reply without its data.
pub const SIMPLE_REPLY_LEN: usize = 16;
/// Bytes of the header of a chunk.
pub const CHUNK_HEADER_LEN: usize = 20;

/// Requests that the write is on stable storage before it is answered (force unit access).
pub const FLAG_FUA: u16 = 1;

/// A type of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum RequestType {
    /// Read a range.
    Read = 0,
    /// Write a range.
    Write = 1,
    /// No request follows.
    Disconnect = 2,
    /// Ensures that all completed writes are on stable storage before this is answered.
    Flush = 3,
    /// Discard a range.
    Trim = 4,
}

/// Encodes a request. The server returns the cookie with its reply.
#[must_use]
pub fn request(command: RequestType, flags: u16, cookie: u64, offset: u64, len: u32) -> [u8; REQUEST_LEN] {
    let mut bytes = [0; REQUEST_LEN];
    bytes[0..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
    bytes[4..6].copy_from_slice(&flags.to_be_bytes());
    bytes[6..8].copy_from_slice(&(command as u16).to_be_bytes());
    bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
    bytes[16..24].copy_from_slice(&offset.to_be_bytes());
    bytes[24..28].copy_from_slice(&len.to_be_bytes());
    bytes
}

/// A simple reply, or the header of a chunk of a structured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The whole answer; the data of a read without an error follows.
    Simple {
        /// The server's error number, 0 for success.
        error: u32,
        /// The cookie of the request.
        cookie: u64,
    },
    /// A part of an answer; `len` bytes follow.
    Chunk {
        /// Whether no other chunk of this answer follows.
        last: bool,
        /// The type of the contents.
        kind: ChunkKind,
        /// The cookie of the request.
        cookie: u64,
        /// Bytes that follow.
        len: u32,
    },
}

/// The contents of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// Nothing.
    None,
    /// An offset, and the data there.
    Data,
    /// An offset and a length: a range of zeros.
    Hole,
    /// An error number and a text; `true` if an offset follows.
    Error(bool),
    /// A type that this client did not request.
    Unknown(u16),
}

impl ChunkKind {
    fn of(kind: u16) -> Self {
        match kind {
            0 => ChunkKind::None,
            1 => ChunkKind::Data,
            2 => ChunkKind::Hole,
            0x8002 => ChunkKind::Error(true),
            // All error chunks begin like NBD_REPLY_TYPE_ERROR; only that of NBD_REPLY_TYPE_ERROR_OFFSET, above, has an offset.
            0x8000.. => ChunkKind::Error(false),
            kind => ChunkKind::Unknown(kind),
        }
    }
}

impl Reply {
    /// Decodes the reply at the start of the bytes, and returns its length too. `None` if more bytes are needed.
    ///
    /// # Errors
    /// The magic number at the start, if it is not that of a reply.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Reply, usize)>, u32> {
        if bytes.len() < 4 {
            return Ok(None);
        }
        match u32_at(bytes, 0) {
            SIMPLE_REPLY_MAGIC if bytes.len() >= SIMPLE_REPLY_LEN => {
                let reply = Reply::Simple { error: u32_at(bytes, 4), cookie: u64_at(bytes, 8) };
                Ok(Some((reply, SIMPLE_REPLY_LEN)))
            }
            STRUCTURED_REPLY_MAGIC if bytes.len() >= CHUNK_HEADER_LEN => {
                let reply = Reply::Chunk {
                    last: bytes[5] & 1 != 0,
                    kind: ChunkKind::of(u16_at(bytes, 6)),
                    cookie: u64_at(bytes, 8),
                    len: u32_at(bytes, 16),
                };
                Ok(Some((reply, CHUNK_HEADER_LEN)))
            }
            SIMPLE_REPLY_MAGIC | STRUCTURED_REPLY_MAGIC => Ok(None),
            magic => Err(magic),
        }
    }
}

/// The errno for an error number of the protocol. Unknown numbers are treated as an invalid request.
#[must_use]
pub fn errno(error: u32) -> i32 {
    match error {
        1 => libc::EPERM,
        5 => libc::EIO,
        12 => libc::ENOMEM,
        28 => libc::ENOSPC,
        75 => libc::EOVERFLOW,
        95 => libc::EOPNOTSUPP,
        108 => libc::ESHUTDOWN,
        _ => libc::EINVAL,
    }
}

/// The 16 bits at `at`.
///
/// # Panics
/// If there are fewer bytes. This and the functions below rely on the caller to check the length.
#[must_use]
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// The 32 bits at `at`.
///
/// # Panics
/// If there are fewer bytes.
#[must_use]
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) << 16 | u32::from(u16_at(bytes, at + 2))
}

/// The 64 bits at `at`.
///
/// # Panics
/// If there are fewer bytes.
#[must_use]
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) << 32 | u64::from(u32_at(bytes, at + 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_fields_in_order() {
        let bytes =
            request(RequestType::Write, FLAG_FUA, 0x0102_0304_0506_0708, 0x1112_1314_1516_1718, 0x2122_2324);
        let want = [
            0x25, 0x60, 0x95, 0x13, 0, 1, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
            0x17, 0x18, 0x21, 0x22, 0x23, 0x24,
        ];
        assert_eq!(bytes, want);
    }

    #[test]
    fn a_simple_reply_has_an_error_and_a_cookie() {
        let bytes = [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 1, 2, 99];
        let want = Reply::Simple { error: 28, cookie: 0x102 };
        assert_eq!(Reply::parse(&bytes), Ok(Some((want, 16))));
        assert_eq!(Reply::parse(&bytes[..15]), Ok(None));
        assert_eq!(Reply::parse(&bytes[..3]), Ok(None));
        assert_eq!(Reply::parse(&bytes[1..]), Err(0x4466_9800));
    }

    #[test]
    fn a_chunk_has_a_type_and_a_length() {
        let chunk = |flags, kind: u16| {
            let [high, low] = kind.to_be_bytes();
            let bytes = [0x66, 0x8e, 0x33, 0xef, 0, flags, high, low, 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 0, 0];
            match Reply::parse(&bytes) {
                Ok(Some((Reply::Chunk { last, kind, cookie: 7, len: 65536 }, 20))) => (last, kind),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(chunk(1, 0), (true, ChunkKind::None));
        assert_eq!(chunk(0, 1), (false, ChunkKind::Data));
        assert_eq!(chunk(1, 2), (true, ChunkKind::Hole));
        assert_eq!(chunk(1, 0x8001), (true, ChunkKind::Error(false)));
        assert_eq!(chunk(1, 0x8002), (true, ChunkKind::Error(true)));
        assert_eq!(chunk(1, 5), (true, ChunkKind::Unknown(5)));
    }

    #[test]
    fn errors_outside_the_protocol_are_invalid_requests() {
        assert_eq!([1, 5, 28, 95].map(errno), [libc::EPERM, libc::EIO, libc::ENOSPC, libc::EOPNOTSUPP]);
        assert_eq!(errno(2), libc::EINVAL);
    }
}
