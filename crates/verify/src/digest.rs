//! The checksums in the form in which fio stores them. Most are the published algorithm; where fio differs, the function says how.

use std::fmt;
use std::sync::LazyLock;

use crc::{CRC_7_MMC, Crc, Table};
use crc_fast::{CrcAlgorithm, CrcParams, checksum, checksum_with_params};
use md5::Md5;
use sha1::Sha1;
use sha2::Sha512;
use sha2::block_api::compress256;
use sha3::{Digest as _, Sha3_224, Sha3_256, Sha3_384, Sha3_512};

use crate::VerifyMethod;

/// Inverted neither before nor after.
static CRC64: LazyLock<CrcParams> =
    LazyLock::new(|| CrcParams::new("crc64", 64, 0xad93_d235_94c9_35a9, 0, true, 0, 0xe9c6_d914_c4b8_d9ca));
/// POSIX `cksum` without the length and the final inversion.
static CRC32: LazyLock<CrcParams> =
    LazyLock::new(|| CrcParams::new("crc32", 32, 0x04c1_1db7, 0, false, 0, 0x89a1_897f));
static CRC7: Crc<u8, Table<16>> = Crc::<u8, Table<16>>::new(&CRC_7_MMC);

/// Bytes of the longest digest.
const CAPACITY: usize = 128;

/// A digest in the byte order on disk. Formats as lower-case hex.
#[derive(Clone, Copy)]
pub struct Digest {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Digest {
    /// The digest of `data`; empty for methods without one.
    #[must_use]
    pub fn compute(method: VerifyMethod, data: &[u8]) -> Self {
        match method {
            VerifyMethod::Meta | VerifyMethod::PatternHdr | VerifyMethod::Pattern | VerifyMethod::Null => {
                Digest::of(&[])
            }
            VerifyMethod::Crc64 => Digest::of(&checksum_with_params(*CRC64, data).to_le_bytes()),
            VerifyMethod::Crc32 => Digest::of(&checksum_with_params(*CRC32, data).to_le_bytes()[..4]),
            VerifyMethod::Crc32c => Digest::of(&crc32c_raw(data).to_le_bytes()),
            VerifyMethod::Crc16 => Digest::of(&checksum(CrcAlgorithm::Crc16Arc, data).to_le_bytes()[..2]),
            VerifyMethod::Crc7 => Digest::of(&[CRC7.checksum(data)]),
            VerifyMethod::Md5 => Digest::of(&Md5::digest(data)),
            VerifyMethod::Sha1 => sha1_field(data),
            VerifyMethod::Sha256 => sha256_field(data),
            VerifyMethod::Sha512 => sha512_field(data),
            VerifyMethod::Sha3_224 => Digest::of(&Sha3_224::digest(data)),
            VerifyMethod::Sha3_256 => Digest::of(&Sha3_256::digest(data)),
            VerifyMethod::Sha3_384 => Digest::of(&Sha3_384::digest(data)),
            VerifyMethod::Sha3_512 => Digest::of(&Sha3_512::digest(data)),
            VerifyMethod::Xxhash => Digest::of(&xxhash_rust::xxh32::xxh32(data, 1).to_le_bytes()),
        }
    }

    /// A digest found on disk, truncated to the longest length.
    pub(crate) fn of(field: &[u8]) -> Self {
        let len = field.len().min(CAPACITY);
        let mut bytes = [0; CAPACITY];
        bytes[..len].copy_from_slice(&field[..len]);
        Digest { bytes, len }
    }

    /// The bytes in disk order.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Digest {}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// CRC-32C without the final inversion: the digest of `crc32c`, and the checksum of every header.
pub(crate) fn crc32c_raw(data: &[u8]) -> u32 {
    !crc32c::crc32c(data)
}

/// The five state words in little-endian order instead of the standard's.
fn sha1_field(data: &[u8]) -> Digest {
    let mut field = [0; 20];
    field.copy_from_slice(&Sha1::digest(data));
    field.as_chunks_mut::<4>().0.iter_mut().for_each(|word| word.reverse());
    Digest::of(&field)
}

/// The message length in the padding is little-endian; of the state only the low byte of each word is stored, followed by the
/// last 56 bytes of the padded message.
fn sha256_field(data: &[u8]) -> Digest {
    const INITIAL: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let mut state = INITIAL;
    let (blocks, rest) = data.as_chunks::<64>();
    compress256(&mut state, blocks);
    // The remainder, the marker and eight bytes of length fill one block or two.
    let mut tail = [[0; 64]; 2];
    let used = if rest.len() + 9 <= 64 { 1 } else { 2 };
    tail[0][..rest.len()].copy_from_slice(rest);
    tail[0][rest.len()] = 0x80;
    tail[used - 1][56..].copy_from_slice(&bits(data).to_le_bytes());
    compress256(&mut state, &tail[..used]);
    let mut field = tail[used - 1];
    for (byte, word) in field.iter_mut().zip(state) {
        *byte = word as u8;
    }
    Digest::of(&field)
}

/// The standard digest, followed by the last 64 bytes of the padded message.
fn sha512_field(data: &[u8]) -> Digest {
    let rest = data.as_chunks::<128>().1;
    let mut tail = [[0; 128]; 2];
    let used = if rest.len() + 17 <= 128 { 1 } else { 2 };
    tail[0][..rest.len()].copy_from_slice(rest);
    tail[0][rest.len()] = 0x80;
    tail[used - 1][120..].copy_from_slice(&bits(data).to_be_bytes());
    let mut field = tail[used - 1];
    field[..64].copy_from_slice(&Sha512::digest(data));
    Digest::of(&field)
}

fn bits(data: &[u8]) -> u64 {
    8 * data.len() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::Sha256;

    use super::*;

    fn hex(method: VerifyMethod, data: &[u8]) -> String {
        Digest::compute(method, data).to_string()
    }

    #[test]
    fn the_digits_1_to_9_have_fios_check_values() {
        let sha512 = format!("{}{}0048", Digest::of(&Sha512::digest(b"123456789")), "00".repeat(62));
        let values = [
            (VerifyMethod::Crc7, "75"),
            (VerifyMethod::Crc16, "3dbb"),
            (VerifyMethod::Crc32, "7f89a189"),
            (VerifyMethod::Crc32c, "7c6df91c"),
            (VerifyMethod::Crc64, "cad9b8c414d9c6e9"),
            (VerifyMethod::Xxhash, "8c9161f2"),
            (VerifyMethod::Md5, "25f9e794323b453885f5181f1b624d0b"),
            (VerifyMethod::Sha1, "1dbcc3f773048e809967df2a4cc3cc654134aea7"),
            (VerifyMethod::Sha512, &sha512),
        ];
        for (method, value) in values {
            assert_eq!(hex(method, b"123456789"), value, "{}", method.word());
        }
        let sha256 = format!("ce5cfcf3bda18ae93980{}4800000000000000", "00".repeat(46));
        assert_eq!(hex(VerifyMethod::Sha256, b"123456789"), sha256);
    }

    #[test]
    fn sha3_of_nothing_is_the_published_one() {
        assert_eq!(
            hex(VerifyMethod::Sha3_224, b""),
            "6b4e03423667dbb73b6e15454f0eb1abd4597f9a1b078e3f5b5a6bc7"
        );
        let wide = hex(VerifyMethod::Sha3_256, b"");
        assert_eq!(wide, "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a");
        assert!(hex(VerifyMethod::Sha3_384, b"").starts_with("0c63a75b845e4f7d01107d852e4c2485"));
        assert!(hex(VerifyMethod::Sha3_512, b"").starts_with("a69f73cca23a9ac5c8b567dc185a756e"));
    }

    #[test]
    fn every_digest_has_the_length_that_the_method_promises() {
        for &method in VerifyMethod::ALL {
            assert_eq!(Digest::compute(method, b"x").as_bytes().len(), method.digest_bytes());
        }
    }

    /// The deviating SHA-256 with the standard's byte order restored: must be the standard's low bytes.
    fn low_bytes_with_standard_length(data: &[u8]) -> Vec<u8> {
        Sha256::digest(data).iter().skip(3).step_by(4).copied().collect()
    }

    #[test]
    fn sha256_deviates_in_the_length_field_only() {
        // Without data the length is zero in either byte order.
        let field = Digest::compute(VerifyMethod::Sha256, b"");
        assert_eq!(field.as_bytes()[..8], low_bytes_with_standard_length(b""));
        assert_ne!(
            hex(VerifyMethod::Sha256, b"a")[..16],
            Digest::of(&low_bytes_with_standard_length(b"a")).to_string()
        );
    }

    proptest! {
        #[test]
        fn the_stored_tail_of_a_sha_field_is_the_padded_message(data in prop::collection::vec(any::<u8>(), 0..400)) {
            let padded = |block: usize, length: &[u8]| {
                let mut message = data.clone();
                message.push(0x80);
                while !(message.len() + length.len()).is_multiple_of(block) {
                    message.push(0);
                }
                message.extend(length);
                message
            };
            let message = padded(64, &bits(&data).to_le_bytes());
            let field = Digest::compute(VerifyMethod::Sha256, &data);
            prop_assert_eq!(&field.as_bytes()[8..], &message[message.len() - 56..]);
            let message = padded(128, &u128::from(bits(&data)).to_be_bytes());
            let field = Digest::compute(VerifyMethod::Sha512, &data);
            prop_assert_eq!(&field.as_bytes()[..64], &Sha512::digest(&data)[..]);
            prop_assert_eq!(&field.as_bytes()[64..], &message[message.len() - 64..]);
        }

        #[test]
        fn bitwise_crcs_agree(data in prop::collection::vec(any::<u8>(), 0..3000)) {
            let reflected = |poly: u64, init: u64| {
                data.iter().fold(init, |crc, &byte| {
                    (0..8).fold(crc ^ u64::from(byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { poly } else { 0 })
                })
            };
            let of = |method| Digest::compute(method, &data);
            prop_assert_eq!(of(VerifyMethod::Crc64), Digest::of(&reflected(0x95ac_9329_ac4b_c9b5, 0).to_le_bytes()));
            prop_assert_eq!(of(VerifyMethod::Crc16), Digest::of(&reflected(0xa001, 0).to_le_bytes()[..2]));
            prop_assert_eq!(of(VerifyMethod::Crc32c), Digest::of(&reflected(0x82f6_3b78, 0xffff_ffff).to_le_bytes()[..4]));
            let crc32 = data.iter().fold(0u32, |crc, &byte| {
                (0..8).fold(crc ^ u32::from(byte) << 24, |crc, _| crc << 1 ^ if crc >> 31 == 1 { 0x04c1_1db7 } else { 0 })
            });
            prop_assert_eq!(of(VerifyMethod::Crc32), Digest::of(&crc32.to_le_bytes()));
            let crc7 = data.iter().fold(0u8, |crc, &byte| {
                (0..8).rev().fold(crc, |crc, bit| {
                    (crc << 1 & 0x7f) ^ if crc >> 6 ^ (byte >> bit & 1) == 1 { 9 } else { 0 }
                })
            });
            prop_assert_eq!(of(VerifyMethod::Crc7), Digest::of(&[crc7]));
        }
    }
}
