//! Protection information stored with each block, computed and checked by the program (`pi_act=0`).
//!
//! Each block has a guard (a CRC of its data), an application tag and a reference tag (the block number). NVMe and T10 define two formats:
//! 16-bit guards in 8 bytes and 64-bit guards in 16 bytes. All numbers are big-endian.

use std::fmt;

use crc::{CRC_16_T10_DIF, CRC_64_NVME, Crc, Table};
use ferrio_job::ProtectionOptions;

static CRC_16: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_T10_DIF);
static CRC_64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_NVME);

/// Application tag that disables the checks of a block.
const APP_TAG_UNCHECKED: u16 = 0xffff;

/// Format of the protection information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// 2 bytes of guard, 2 of application tag, 4 of reference tag.
    Crc16,
    /// 8 bytes of guard, 2 of application tag, 6 of reference tag.
    Crc64,
}

impl Guard {
    /// Size of the protection information of a block in bytes.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Guard::Crc16 => 8,
            Guard::Crc64 => 16,
        }
    }

    /// The reference tag of block `lba`, truncated to the format's width.
    const fn reference(self, lba: u64) -> u64 {
        match self {
            Guard::Crc16 => lba & 0xffff_ffff,
            Guard::Crc64 => lba & 0xffff_ffff_ffff,
        }
    }
}

/// Position and format of the protection information of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Protection {
    pub(crate) guard: Guard,
    /// Bytes of metadata before the protection information; the guard covers them too.
    pub(crate) offset: usize,
    /// True if reference tags are block numbers (types 1 and 2); other reference tags are ignored.
    pub(crate) has_reference_tag: bool,
}

impl Protection {
    /// Fills in the protection information of one block.
    pub(crate) fn fill_in(&self, data: &[u8], metadata: &mut [u8], lba: u64, options: &ProtectionOptions) {
        let guard = self.compute_guard(data, metadata);
        let reference = if self.has_reference_tag { self.guard.reference(lba) } else { 0 };
        let tuple = &mut metadata[self.offset..][..self.guard.bytes()];
        match self.guard {
            Guard::Crc16 => {
                tuple[..2].copy_from_slice(&(guard as u16).to_be_bytes());
                tuple[2..4].copy_from_slice(&options.app_tag.to_be_bytes());
                tuple[4..].copy_from_slice(&(reference as u32).to_be_bytes());
            }
            Guard::Crc64 => {
                tuple[..8].copy_from_slice(&guard.to_be_bytes());
                tuple[8..10].copy_from_slice(&options.app_tag.to_be_bytes());
                tuple[10..].copy_from_slice(&reference.to_be_bytes()[2..]);
            }
        }
    }

    /// Checks the protection information of one block, for the fields that `pi_chk` selects.
    pub(crate) fn check(
        &self,
        data: &[u8],
        metadata: &[u8],
        lba: u64,
        options: &ProtectionOptions,
    ) -> Result<(), ProtectionMismatch> {
        let tuple = &metadata[self.offset..][..self.guard.bytes()];
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        let (guard, app, reference) = match self.guard {
            Guard::Crc16 => (number(&tuple[..2]), number(&tuple[2..4]), number(&tuple[4..])),
            Guard::Crc64 => (number(&tuple[..8]), number(&tuple[8..10]), number(&tuple[10..])),
        };
        if app == u64::from(APP_TAG_UNCHECKED) {
            return Ok(());
        }
        let compare = |asked, field, expected, actual| {
            if asked && expected != actual {
                Err(ProtectionMismatch { field, lba, expected, actual })
            } else {
                Ok(())
            }
        };
        let checks = options.checks;
        compare(checks.guard, "Guard", self.compute_guard(data, metadata), guard)?;
        let mask = u64::from(options.app_tag_mask);
        compare(checks.app_tag, "APPTAG", u64::from(options.app_tag) & mask, app & mask)?;
        compare(
            checks.reference_tag && self.has_reference_tag,
            "REFTAG",
            self.guard.reference(lba),
            reference,
        )
    }

    fn compute_guard(&self, data: &[u8], metadata: &[u8]) -> u64 {
        let before = &metadata[..self.offset];
        match self.guard {
            Guard::Crc16 => {
                let mut digest = CRC_16.digest();
                digest.update(data);
                digest.update(before);
                u64::from(digest.finalize())
            }
            Guard::Crc64 => {
                let mut digest = CRC_64.digest();
                digest.update(data);
                digest.update(before);
                digest.finalize()
            }
        }
    }
}

/// A block that does not match its protection information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProtectionMismatch {
    pub(crate) field: &'static str,
    pub(crate) lba: u64,
    pub(crate) expected: u64,
    pub(crate) actual: u64,
}

impl fmt::Display for ProtectionMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProtectionMismatch { field, lba, expected, actual } = self;
        write!(f, "{field} compare error: LBA: {lba} Expected={expected:x}, Actual={actual:x}")
    }
}

#[cfg(test)]
mod tests {
    use ferrio_job::ProtectionChecks;

    use super::*;

    fn options() -> ProtectionOptions {
        ProtectionOptions {
            checks: ProtectionChecks { guard: true, reference_tag: true, app_tag: true },
            app_tag: 0x1234,
            app_tag_mask: 0xffff,
            ..ProtectionOptions::default()
        }
    }

    #[test]
    fn guards_are_those_of_the_standards() {
        // The check values of both CRCs, and the examples of SBC-3.
        assert_eq!(CRC_16.checksum(b"123456789"), 0xd0db);
        assert_eq!(CRC_16.checksum(&[0xff; 32]), 0xa293);
        let counting: Vec<u8> = (0..32).collect();
        assert_eq!(CRC_16.checksum(&counting), 0x0224);
        assert_eq!(CRC_64.checksum(b"123456789"), 0xae8b_1486_0a79_9888);
        // From the NVM Command Set specification.
        assert_eq!(CRC_64.checksum(&[0; 4096]), 0x6482_d367_eb22_b64e);
        assert_eq!(CRC_64.checksum(&[0xff; 4096]), 0xc0dd_ba73_02ec_a3ac);
    }

    #[test]
    fn a_sealed_block_has_its_fields_in_big_endian_order() {
        let narrow = Protection { guard: Guard::Crc16, offset: 0, has_reference_tag: true };
        let mut metadata = [0; 8];
        narrow.fill_in(b"123456789", &mut metadata, 0x1_2345_6789, &options());
        assert_eq!(metadata, [0xd0, 0xdb, 0x12, 0x34, 0x23, 0x45, 0x67, 0x89]);
        let wide = Protection { guard: Guard::Crc64, ..narrow };
        let mut metadata = [0; 16];
        wide.fill_in(b"123456789", &mut metadata, 0x12_3456_789a_bcde, &options());
        let want =
            [0xae, 0x8b, 0x14, 0x86, 0x0a, 0x79, 0x98, 0x88, 0x12, 0x34, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde];
        assert_eq!(metadata, want);
    }

    #[test]
    fn metadata_before_the_tuple_is_guarded_and_the_rest_is_left_alone() {
        let protection = Protection { guard: Guard::Crc16, offset: 4, has_reference_tag: false };
        let mut metadata = *b"6789........!!!!";
        protection.fill_in(b"12345", &mut metadata, 7, &options());
        assert_eq!(&metadata, b"6789\xd0\xdb\x12\x34\0\0\0\0!!!!");
    }

    #[test]
    fn what_pi_chk_names_is_checked_and_nothing_else() {
        for guard in [Guard::Crc16, Guard::Crc64] {
            let protection = Protection { guard, offset: 0, has_reference_tag: true };
            let (data, mut metadata) = ([5; 512], [0; 16]);
            protection.fill_in(&data, &mut metadata, 9, &options());
            let check = |data: &[u8], metadata: &[u8], lba, options| {
                protection.check(data, metadata, lba, &options).map_err(|mismatch| mismatch.field)
            };
            assert_eq!(check(&data, &metadata, 9, options()), Ok(()));
            assert_eq!(check(&[6; 512], &metadata, 9, options()), Err("Guard"));
            assert_eq!(check(&data, &metadata, 10, options()), Err("REFTAG"));
            let other_tag = ProtectionOptions { app_tag: 0x1235, ..options() };
            assert_eq!(check(&data, &metadata, 9, other_tag.clone()), Err("APPTAG"));
            assert_eq!(
                check(&data, &metadata, 9, ProtectionOptions { app_tag_mask: 0xff00, ..other_tag }),
                Ok(())
            );
            let nothing = ProtectionOptions { checks: ProtectionChecks::default(), ..options() };
            assert_eq!(check(&[6; 512], &metadata, 10, nothing), Ok(()));
        }
    }

    #[test]
    fn a_block_that_was_never_written_is_not_checked() {
        let protection = Protection { guard: Guard::Crc16, offset: 0, has_reference_tag: true };
        assert_eq!(protection.check(&[0; 512], &[0xff; 8], 3, &options()), Ok(()));
    }

    #[test]
    fn a_mismatch_names_the_block_and_both_values() {
        let mismatch = ProtectionMismatch { field: "REFTAG", lba: 12, expected: 12, actual: 255 };
        assert_eq!(mismatch.to_string(), "REFTAG compare error: LBA: 12 Expected=c, Actual=ff");
    }
}
