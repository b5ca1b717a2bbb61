//! The values of `verify=`: their names, their codes in the header and the size of what follows the header.

use crate::HEADER_BYTES;

/// How blocks are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Header only.
    Meta,
    /// MD5.
    Md5,
    /// A 64-bit CRC.
    Crc64,
    /// A 32-bit CRC, most significant bit first.
    Crc32,
    /// CRC-32C (Castagnoli).
    Crc32c,
    /// CRC-16/ARC.
    Crc16,
    /// CRC-7 as MMC cards use it.
    Crc7,
    /// SHA-1.
    Sha1,
    /// SHA-256 with a deviation that fio made part of the format.
    Sha256,
    /// SHA-512.
    Sha512,
    /// SHA3-224.
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// XXH32 with seed 1.
    Xxhash,
    /// Header, and a pattern instead of a checksum.
    PatternHdr,
    /// A pattern without header.
    Pattern,
    /// Blocks are read back but not looked at.
    Null,
}

impl Method {
    /// The method of an option value. `None` for `0` (no verification) and for unknown words.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "meta" => Method::Meta,
            "md5" => Method::Md5,
            "crc64" => Method::Crc64,
            "crc32" => Method::Crc32,
            "crc32c" | "crc32c-intel" => Method::Crc32c,
            "crc16" => Method::Crc16,
            "crc7" => Method::Crc7,
            "sha1" => Method::Sha1,
            "sha256" => Method::Sha256,
            "sha512" => Method::Sha512,
            "sha3-224" => Method::Sha3_224,
            "sha3-256" => Method::Sha3_256,
            "sha3-384" => Method::Sha3_384,
            "sha3-512" => Method::Sha3_512,
            "xxhash" => Method::Xxhash,
            "pattern_hdr" => Method::PatternHdr,
            "pattern" => Method::Pattern,
            "null" => Method::Null,
            _ => return None,
        })
    }

    /// The option value.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Meta => "meta",
            Method::Md5 => "md5",
            Method::Crc64 => "crc64",
            Method::Crc32 => "crc32",
            Method::Crc32c => "crc32c",
            Method::Crc16 => "crc16",
            Method::Crc7 => "crc7",
            Method::Sha1 => "sha1",
            Method::Sha256 => "sha256",
            Method::Sha512 => "sha512",
            Method::Sha3_224 => "sha3-224",
            Method::Sha3_256 => "sha3-256",
            Method::Sha3_384 => "sha3-384",
            Method::Sha3_512 => "sha3-512",
            Method::Xxhash => "xxhash",
            Method::PatternHdr => "pattern_hdr",
            Method::Pattern => "pattern",
            Method::Null => "null",
        }
    }

    /// The type byte of the header.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Method::Meta => 1,
            Method::Md5 => 2,
            Method::Crc64 => 3,
            Method::Crc32 => 4,
            Method::Crc32c => 5,
            Method::Crc16 => 7,
            Method::Crc7 => 8,
            Method::Sha256 => 9,
            Method::Sha512 => 10,
            Method::Sha3_224 => 11,
            Method::Sha3_256 => 12,
            Method::Sha3_384 => 13,
            Method::Sha3_512 => 14,
            Method::Xxhash => 15,
            Method::Sha1 => 16,
            Method::PatternHdr => 17,
            Method::Pattern => 18,
            Method::Null => 19,
        }
    }

    /// The method of a type byte found on disk. 6 is what old releases wrote for CRC-32C computed in hardware.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        const BY_CODE: [Method; 19] = [
            Method::Meta,
            Method::Md5,
            Method::Crc64,
            Method::Crc32,
            Method::Crc32c,
            Method::Crc32c,
            Method::Crc16,
            Method::Crc7,
            Method::Sha256,
            Method::Sha512,
            Method::Sha3_224,
            Method::Sha3_256,
            Method::Sha3_384,
            Method::Sha3_512,
            Method::Xxhash,
            Method::Sha1,
            Method::PatternHdr,
            Method::Pattern,
            Method::Null,
        ];
        BY_CODE.get(usize::from(code).checked_sub(1)?).copied()
    }

    /// Bytes of the stored digest, which follows the header.
    #[must_use]
    pub fn digest_bytes(self) -> usize {
        match self {
            Method::Meta | Method::PatternHdr | Method::Pattern | Method::Null => 0,
            Method::Crc7 => 1,
            Method::Crc16 => 2,
            Method::Crc32 | Method::Crc32c | Method::Xxhash => 4,
            Method::Crc64 => 8,
            Method::Md5 => 16,
            Method::Sha1 => 20,
            Method::Sha3_224 => 28,
            Method::Sha3_256 => 32,
            Method::Sha3_384 => 48,
            Method::Sha256 | Method::Sha3_512 => 64,
            Method::Sha512 => 128,
        }
    }

    /// True when blocks carry a header.
    #[must_use]
    pub fn has_header(self) -> bool {
        !matches!(self, Method::Pattern | Method::Null)
    }

    /// True when blocks carry a digest.
    #[must_use]
    pub fn has_digest(self) -> bool {
        self.digest_bytes() > 0
    }

    /// True when the method is nothing without `verify_pattern`.
    #[must_use]
    pub fn needs_pattern(self) -> bool {
        matches!(self, Method::Pattern | Method::PatternHdr)
    }

    /// Bytes of header and digest at the start of each interval: the checked data begins there.
    #[must_use]
    pub fn overhead(self) -> usize {
        if self.has_header() { HEADER_BYTES + self.digest_bytes() } else { 0 }
    }
}

#[cfg(test)]
pub(crate) const ALL: [Method; 18] = [
    Method::Meta,
    Method::Md5,
    Method::Crc64,
    Method::Crc32,
    Method::Crc32c,
    Method::Crc16,
    Method::Crc7,
    Method::Sha256,
    Method::Sha512,
    Method::Sha3_224,
    Method::Sha3_256,
    Method::Sha3_384,
    Method::Sha3_512,
    Method::Xxhash,
    Method::Sha1,
    Method::PatternHdr,
    Method::Pattern,
    Method::Null,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_lead_back_to_the_method() {
        for method in ALL {
            assert_eq!(Method::parse(method.name()), Some(method));
            assert_eq!(Method::from_code(method.code()), Some(method));
        }
    }

    #[test]
    fn both_spellings_of_crc32c_and_both_codes_are_one_method() {
        assert_eq!(Method::parse("crc32c-intel"), Some(Method::Crc32c));
        assert_eq!(Method::from_code(6), Some(Method::Crc32c));
    }

    #[test]
    fn zero_and_unknown_words_and_codes_are_no_method() {
        for word in ["0", "", "foo", "MD5"] {
            assert_eq!(Method::parse(word), None);
        }
        for code in [0, 20, 255] {
            assert_eq!(Method::from_code(code), None);
        }
    }

    #[test]
    fn data_begins_where_fio_begins_it() {
        let sizes = [
            ("meta", 48),
            ("pattern_hdr", 48),
            ("crc7", 49),
            ("crc16", 50),
            ("crc32", 52),
            ("crc32c", 52),
            ("xxhash", 52),
            ("crc64", 56),
            ("md5", 64),
            ("sha1", 68),
            ("sha3-224", 76),
            ("sha3-256", 80),
            ("sha3-384", 96),
            ("sha256", 112),
            ("sha3-512", 112),
            ("sha512", 176),
            ("pattern", 0),
            ("null", 0),
        ];
        for (name, size) in sizes {
            assert_eq!(Method::parse(name).map(Method::overhead), Some(size), "{name}");
        }
    }
}
