//! Namespace properties, from Identify: the size, and the format of blocks.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use ferrio_machine::open_to_read;

/// `NVME_IOCTL_ID`
const NAMESPACE_ID: libc::Ioctl = 0x4e40;
/// `NVME_IOCTL_ADMIN_CMD`: `_IOWR('N', 0x41, struct nvme_passthru_cmd)`.
const ADMIN_COMMAND: libc::Ioctl = 0xc048_4e41u32 as libc::Ioctl;
const IDENTIFY: u8 = 0x06;
/// Size of the data that Identify returns.
const IDENTIFY_BYTES: usize = 4096;
/// CNS values of Identify: the namespace, and its properties specific to the NVM command set.
const CNS_NAMESPACE: u32 = 0x00;
const CNS_NVM_NAMESPACE: u32 = 0x05;

/// Size of the guard in the protection information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardFormat {
    /// 16 bits; protection information of 8 bytes.
    Bits16,
    /// 32 bits; protection information of 16 bytes.
    Bits32,
    /// 64 bits; protection information of 16 bytes.
    Bits64,
}

/// Protection information of the blocks of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtectionFormat {
    /// 1, 2 or 3; in type 3 reference tags are not block numbers.
    pub kind: u8,
    /// True if the protection information is at the start of the metadata, false if at the end.
    pub is_first: bool,
    /// Size of the guard.
    pub guard: GuardFormat,
    /// Size of the storage tag in bits.
    pub storage_tag_bits: u8,
}

impl ProtectionFormat {
    /// Size of the protection information in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self.guard {
            GuardFormat::Bits16 => 8,
            GuardFormat::Bits32 | GuardFormat::Bits64 => 16,
        }
    }
}

/// Size and format of an NVMe namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Namespace ID (NSID).
    pub id: u32,
    /// Number of logical blocks.
    pub blocks: u64,
    /// Bytes of data per block.
    pub data_bytes: u32,
    /// Bytes of metadata per block.
    pub metadata_bytes: u32,
    /// True if the metadata of each block follows its data in the same buffer.
    pub is_extended: bool,
    /// Format of the protection information, if blocks have it.
    pub protection: Option<ProtectionFormat>,
}

/// The reason why a file is not usable as a namespace.
#[derive(Debug)]
pub enum NamespaceError {
    /// The file is not a character device.
    NotCharacterDevice,
    /// The NSID request failed: not an NVMe device.
    NoNamespaceId(io::Error),
    /// Identify failed.
    Identify(io::Error),
    /// Identify returned invalid data.
    Format,
}

impl Namespace {
    /// Opens the namespace at a path, such as `/dev/ng0n1`.
    ///
    /// # Errors
    /// The path is not an NVMe namespace, or Identify failed.
    pub fn at(path: &Path) -> Result<Self, NamespaceError> {
        let found = fs::metadata(path).map_err(|_| NamespaceError::NotCharacterDevice)?;
        if !found.file_type().is_char_device() {
            return Err(NamespaceError::NotCharacterDevice);
        }
        let file = open_to_read(path).map_err(NamespaceError::NoNamespaceId)?;
        Self::of(file.as_raw_fd())
    }

    /// Queries the namespace of a descriptor.
    ///
    /// # Errors
    /// The descriptor is not an NVMe namespace, or Identify failed.
    pub fn of(fd: RawFd) -> Result<Self, NamespaceError> {
        // SAFETY: the call has no argument and touches no memory of this process.
        let id = u32::try_from(unsafe { libc::ioctl(fd, NAMESPACE_ID, 0) }).ok().filter(|&id| id > 0);
        let id = id.ok_or_else(|| NamespaceError::NoNamespaceId(io::Error::last_os_error()))?;
        let namespace = identify(fd, id, CNS_NAMESPACE).map_err(NamespaceError::Identify)?;
        // NVMe 1.x devices lack this.
        let nvm_namespace =
            identify(fd, id, CNS_NVM_NAMESPACE).unwrap_or_else(|_| Box::new([0; IDENTIFY_BYTES]));
        Self::parse(id, &namespace, &nvm_namespace).ok_or(NamespaceError::Format)
    }

    /// Parses the data of both Identify commands. `None` if it is invalid.
    #[must_use]
    pub fn parse(id: u32, namespace: &[u8; 4096], nvm_namespace: &[u8; 4096]) -> Option<Self> {
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        let (formats, chosen, protection) = (namespace[25], namespace[26], namespace[29]);
        // The two upper bits are valid only with more than 16 formats.
        let upper = if formats >= 16 { chosen >> 5 & 3 } else { 0 };
        let format = usize::from(upper << 4 | chosen & 0xf);
        let of_format = &namespace[128 + 4 * format..][..4];
        let shift = of_format[2];
        if !(9..32).contains(&shift) {
            return None;
        }
        let metadata_bytes = number(&of_format[..2]) as u32;
        let extended = number(&nvm_namespace[12 + 4 * format..][..4]);
        let guard = match extended >> 7 & 3 {
            0 => GuardFormat::Bits16,
            1 => GuardFormat::Bits32,
            2 => GuardFormat::Bits64,
            _ => return None,
        };
        let kind = protection & 7;
        let protection = (kind != 0).then_some(ProtectionFormat {
            kind,
            is_first: protection & 8 != 0,
            guard,
            storage_tag_bits: extended as u8 & 0x7f,
        });
        if protection.is_some_and(|protection| protection.bytes() > metadata_bytes) {
            return None;
        }
        Some(Namespace {
            id,
            blocks: number(&namespace[..8]),
            data_bytes: 1 << shift,
            metadata_bytes,
            is_extended: chosen & 0x10 != 0 && metadata_bytes > 0,
            protection,
        })
    }

    /// Bytes per block in the data buffer of an I/O. If the device inserts and strips the protection information and the metadata has
    /// nothing else, the buffer has no metadata.
    #[must_use]
    pub fn block_bytes(&self, protection_by_device: bool) -> u32 {
        if self.is_extended {
            self.data_bytes + self.transferred_metadata(protection_by_device)
        } else {
            self.data_bytes
        }
    }

    /// Bytes of metadata per block that an I/O moves.
    #[must_use]
    pub fn transferred_metadata(&self, protection_by_device: bool) -> u32 {
        let is_all = |protection: ProtectionFormat| protection.bytes() == self.metadata_bytes;
        if protection_by_device && self.protection.is_some_and(is_all) { 0 } else { self.metadata_bytes }
    }
}

/// Sends an Identify command.
fn identify(fd: RawFd, namespace: u32, cns: u32) -> io::Result<Box<[u8; IDENTIFY_BYTES]>> {
    let mut answer = Box::new([0; IDENTIFY_BYTES]);
    let mut command = crate::Command {
        opcode: IDENTIFY,
        namespace,
        data: answer.as_mut_ptr() as u64,
        data_length: IDENTIFY_BYTES as u32,
        ..crate::Command::default()
    };
    command.words_10_15[0] = cns;
    let mut bytes = command.encode();
    // SAFETY: the kernel reads and writes one struct of 72 bytes and, through it, writes `IDENTIFY_BYTES` bytes to `answer`; both live until the
    // call returns.
    match unsafe { libc::ioctl(fd, ADMIN_COMMAND, bytes.as_mut_ptr()) } {
        0 => Ok(answer),
        status if status > 0 => Err(io::Error::from_raw_os_error(libc::EIO)),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Format 1 of two: `metadata` bytes beside blocks of 1 << `shift`.
    fn answer(metadata: u16, shift: u8, chosen: u8, protection: u8) -> Box<[u8; 4096]> {
        let mut answer = Box::new([0; 4096]);
        answer[..8].copy_from_slice(&0x1_0000u64.to_le_bytes());
        (answer[25], answer[26], answer[29]) = (1, chosen, protection);
        answer[132..134].copy_from_slice(&metadata.to_le_bytes());
        answer[134] = shift;
        answer
    }

    fn parse(metadata: u16, shift: u8, chosen: u8, protection: u8) -> Option<Namespace> {
        Namespace::parse(7, &answer(metadata, shift, chosen, protection), &[0; 4096])
    }

    #[test]
    fn a_plain_namespace_has_a_size_and_blocks() {
        let want = Namespace {
            id: 7,
            blocks: 0x1_0000,
            data_bytes: 4096,
            metadata_bytes: 0,
            is_extended: false,
            protection: None,
        };
        assert_eq!(parse(0, 12, 0x01, 0), Some(want));
        assert_eq!(parse(0, 12, 0x11, 0), Some(want), "there is nothing to extend blocks by");
        assert_eq!((want.block_bytes(true), want.transferred_metadata(false)), (4096, 0));
    }

    #[test]
    fn metadata_is_beside_the_data_or_behind_each_block() {
        let [beside, behind] = [0x01, 0x11].map(|chosen| parse(64, 12, chosen, 0).unwrap());
        assert_eq!((beside.block_bytes(true), beside.transferred_metadata(true)), (4096, 64));
        assert_eq!((behind.block_bytes(true), behind.transferred_metadata(true)), (4160, 64));
    }

    #[test]
    fn the_device_hides_metadata_that_is_nothing_but_protection_information() {
        let namespace = parse(8, 9, 0x11, 0b1001).unwrap();
        let protection = namespace.protection.unwrap();
        assert_eq!((protection.kind, protection.is_first, protection.bytes()), (1, true, 8));
        assert_eq!((namespace.block_bytes(true), namespace.block_bytes(false)), (512, 520));
        let larger = parse(16, 9, 0x11, 0b0011).unwrap();
        assert_eq!((larger.block_bytes(true), larger.protection.unwrap().is_first), (528, false));
    }

    #[test]
    fn guards_of_64_bits_are_in_the_second_answer() {
        let mut nvm_namespace = [0; 4096];
        nvm_namespace[16..20].copy_from_slice(&(2u32 << 7 | 3).to_le_bytes());
        let namespace = Namespace::parse(1, &answer(16, 12, 0x01, 1), &nvm_namespace).unwrap();
        let protection = namespace.protection.unwrap();
        assert_eq!((protection.guard, protection.storage_tag_bits), (GuardFormat::Bits64, 3));
    }

    #[test]
    fn formats_beyond_the_sixteenth_have_two_bits_more() {
        let mut bytes = answer(0, 12, 0b0010_0001, 0);
        assert_eq!(
            Namespace::parse(1, &bytes, &[0; 4096]).unwrap().data_bytes,
            4096,
            "there are two formats"
        );
        bytes[25] = 16;
        bytes[128 + 4 * 17 + 2] = 9;
        assert_eq!(Namespace::parse(1, &bytes, &[0; 4096]).unwrap().data_bytes, 512);
    }

    #[test]
    fn answers_without_sense_are_none() {
        assert_eq!(parse(0, 0, 0x01, 0), None, "a block of one byte");
        assert_eq!(parse(4, 9, 0x01, 1), None, "no room for the protection information");
    }

    #[test]
    fn other_files_are_told_from_namespaces() {
        let error = |path: &str| Namespace::at(Path::new(path)).unwrap_err();
        assert!(matches!(error("/"), NamespaceError::NotCharacterDevice));
        assert!(matches!(error("/dev/null"), NamespaceError::NoNamespaceId(_)));
    }
}
