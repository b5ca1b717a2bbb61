//! How the data of a job is verified: the options, and the values of `verify=` with their codes and sizes in the format.

use crate::Pattern;
use crate::choice::choices;

/// `verify` and the options below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verify {
    /// How blocks are checked.
    pub method: VerifyMethod,
    /// Bytes that carry one header.
    pub interval: u32,
    /// `verify_layout` (ferrio's own option).
    pub layout: HeaderLayout,
    /// `verify_offset`, bytes; 0 when not given.
    pub offset: u32,
    /// `verify_pattern`.
    pub pattern: Option<Pattern>,
    /// `verify_pattern_interval`: the pattern starts again at every multiple of this, bytes; 0 lets it run through the block.
    pub pattern_interval: u32,
    /// `verify_fatal`.
    pub fatal: bool,
    /// `verify_dump`: bad blocks are saved in files, and what should have been there.
    pub dump: bool,
    /// `verify_async`: this many threads check what the job reads; with 0 it does so itself.
    pub threads: u32,
    /// `verify_async_cpus`: where these threads may run; empty for anywhere the job may.
    pub thread_cpus: Vec<u32>,
    /// `verify_only`: nothing is written, what an earlier run of the job wrote is read back.
    pub only: bool,
    /// `do_verify`: read everything back after writing.
    pub read_back: bool,
    /// `verify_backlog` and its batch: batches in which blocks are checked while the job writes.
    pub backlog: Backlog,
    /// `experimental_verify`: the choices of a pass are made again to find what it wrote. Nothing is remembered.
    pub regenerates: bool,
    /// `trim_percentage` and the options below it.
    pub trims: BlockTrims,
    /// `verify_header_seed` when given.
    pub header_seed: Option<bool>,
    /// `verify_write_sequence` when given.
    pub write_sequence: Option<bool>,
    /// `verify_policy`
    pub policy: VerifyPolicy,
    /// `verify_state_save`: what was written is saved in a file when the job ends.
    pub saves_state: bool,
    /// `verify_state_load`: only what the file says was written is checked.
    pub loads_state: bool,
}

/// Batches of written blocks that are checked or trimmed between the I/Os of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// A batch begins when the number of blocks in the list of written ones is a multiple of this; 0 for no batches.
    pub every: u64,
    /// Blocks of a batch.
    pub batch: u64,
}

/// Trims of written blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockTrims {
    /// `trim_percentage`: share of the blocks that are marked to be trimmed.
    pub percentage: u32,
    /// `trim_backlog` and its batch: batches in which marked blocks are trimmed.
    pub backlog: Backlog,
    /// `trim_verify_zero`: trimmed blocks must be zeros. Otherwise they are not read back.
    pub must_be_zero: bool,
}

impl Backlog {
    /// True when there are any.
    #[must_use]
    pub fn is_active(self) -> bool {
        self.every > 0
    }
}

impl BlockTrims {
    /// True when blocks are marked.
    #[must_use]
    pub fn mark(self) -> bool {
        self.percentage > 0
    }

    /// True when blocks are trimmed.
    #[must_use]
    pub fn is_active(self) -> bool {
        self.mark() && self.backlog.is_active()
    }
}

choices! {
    /// Which writes are checked: what is read back after writing, and what a state file covers.
    pub enum VerifyPolicy default Completed {
        Completed: "completed", "Blocks that were written";
        Fsynced: "fsynced", "Blocks that were synced";
    }
}

/// Whether the writes of a pass may overwrite blocks of the same pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrites {
    /// No place is written twice.
    Never,
    /// A write may begin or end within an older block, but what is there then can be checked without knowing which block it is of.
    Parts,
    /// A write may replace older blocks or parts of them, which can no longer be checked.
    Blocks,
}

/// The state of a random generator, as verify state files have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratorState {
    /// A generator of 32 bits.
    Narrow([u32; 3]),
    /// A generator of 64 bits.
    Wide([u64; 5]),
}

/// Bytes of the header that a verified block begins with, in the current layout.
pub const HEADER_BYTES: usize = 48;

choices! {
    /// Which releases of fio can check the headers that are written.
    pub enum HeaderLayout default Current {
        /// 48 bytes with a version, 0x81.
        Current: "current", "48 bytes: fio 3.41 and later";
        /// 40 bytes without a version.
        Fio340: "fio-3.40", "40 bytes: fio up to 3.40";
    }
}

impl HeaderLayout {
    /// Bytes of the header.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            HeaderLayout::Current => HEADER_BYTES,
            HeaderLayout::Fio340 => 40,
        }
    }

    /// Bytes of header and digest at the start of each interval: the checked data begins there.
    #[must_use]
    pub fn overhead(self, method: VerifyMethod) -> usize {
        if method.has_header() { self.bytes() + method.digest_bytes() } else { 0 }
    }
}

choices! {
    /// How blocks are verified.
    pub enum VerifyMethod {
        ! "0", "No verification";
        Md5: "md5", "MD5";
        Crc64: "crc64", "64-bit CRC";
        /// Most significant bit first.
        Crc32: "crc32", "32-bit CRC";
        = Crc32c: "crc32c-intel";
        /// Castagnoli.
        Crc32c: "crc32c", "CRC-32C, in hardware where available";
        /// CRC-16/ARC.
        Crc16: "crc16", "16-bit CRC";
        /// The CRC of MMC cards.
        Crc7: "crc7", "7-bit CRC";
        Sha1: "sha1", "SHA-1";
        /// It deviates from SHA-256, as fio does.
        Sha256: "sha256", "SHA-256";
        Sha512: "sha512", "SHA-512";
        Sha3_224: "sha3-224", "SHA-3, 224 bits";
        Sha3_256: "sha3-256", "SHA-3, 256 bits";
        Sha3_384: "sha3-384", "SHA-3, 384 bits";
        Sha3_512: "sha3-512", "SHA-3, 512 bits";
        /// XXH32 with seed 1.
        Xxhash: "xxhash", "xxHash";
        Meta: "meta", "Headers only";
        Pattern: "pattern", "verify_pattern without a header";
        PatternHdr: "pattern_hdr", "verify_pattern with a header";
        /// Blocks are read back but not checked.
        Null: "null", "Read back, check nothing";
    }
}

impl VerifyMethod {
    /// The type byte of the header, and bytes of the stored digest, which follows the header.
    const fn format(self) -> (u8, usize) {
        match self {
            VerifyMethod::Meta => (1, 0),
            VerifyMethod::Md5 => (2, 16),
            VerifyMethod::Crc64 => (3, 8),
            VerifyMethod::Crc32 => (4, 4),
            VerifyMethod::Crc32c => (5, 4),
            VerifyMethod::Crc16 => (7, 2),
            VerifyMethod::Crc7 => (8, 1),
            VerifyMethod::Sha256 => (9, 64),
            VerifyMethod::Sha512 => (10, 128),
            VerifyMethod::Sha3_224 => (11, 28),
            VerifyMethod::Sha3_256 => (12, 32),
            VerifyMethod::Sha3_384 => (13, 48),
            VerifyMethod::Sha3_512 => (14, 64),
            VerifyMethod::Xxhash => (15, 4),
            VerifyMethod::Sha1 => (16, 20),
            VerifyMethod::PatternHdr => (17, 0),
            VerifyMethod::Pattern => (18, 0),
            VerifyMethod::Null => (19, 0),
        }
    }

    /// The type byte of the header.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.format().0
    }

    /// The method of a type byte found on disk. 6 is what old releases wrote for CRC-32C computed in hardware.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        const BY_CODE: [Option<VerifyMethod>; 20] = {
            let mut methods = [None; 20];
            let mut at = 0;
            while at < VerifyMethod::ALL.len() {
                methods[VerifyMethod::ALL[at].code() as usize] = Some(VerifyMethod::ALL[at]);
                at += 1;
            }
            methods[6] = Some(VerifyMethod::Crc32c);
            methods
        };
        *BY_CODE.get(usize::from(code))?
    }

    /// Bytes of the stored digest, which follows the header.
    #[must_use]
    pub const fn digest_bytes(self) -> usize {
        self.format().1
    }

    /// True when blocks carry a header.
    #[must_use]
    pub fn has_header(self) -> bool {
        !matches!(self, VerifyMethod::Pattern | VerifyMethod::Null)
    }

    /// True when blocks carry a digest.
    #[must_use]
    pub fn has_digest(self) -> bool {
        self.digest_bytes() > 0
    }

    /// True when the method needs `verify_pattern`.
    #[must_use]
    pub fn needs_pattern(self) -> bool {
        matches!(self, VerifyMethod::Pattern | VerifyMethod::PatternHdr)
    }

    /// Bytes of header and digest in the current layout.
    #[must_use]
    pub fn overhead(self) -> usize {
        HeaderLayout::Current.overhead(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Choice;

    #[test]
    fn names_and_codes_lead_back_to_the_method() {
        for &method in VerifyMethod::ALL {
            assert_eq!(VerifyMethod::from_word(method.word()), Some(method));
            assert_eq!(VerifyMethod::from_code(method.code()), Some(method));
        }
    }

    #[test]
    fn both_spellings_of_crc32c_and_both_codes_are_one_method() {
        assert_eq!(VerifyMethod::from_word("crc32c-intel"), Some(VerifyMethod::Crc32c));
        assert_eq!(VerifyMethod::from_code(6), Some(VerifyMethod::Crc32c));
    }

    #[test]
    fn zero_and_unknown_words_and_codes_are_no_method() {
        for word in ["0", "", "foo", "MD5"] {
            assert_eq!(VerifyMethod::from_word(word), None);
        }
        for code in [0, 20, 255] {
            assert_eq!(VerifyMethod::from_code(code), None);
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
            assert_eq!(VerifyMethod::from_word(name).map(VerifyMethod::overhead), Some(size), "{name}");
        }
    }
}
