//! NVMe commands in the kernel's format: 72 bytes, most of them the numbered 32-bit words of the command.

/// `NVME_URING_CMD_IO`: `_IOWR('N', 0x80, struct nvme_uring_cmd)`.
pub const PASSTHROUGH: u32 = 0xc048_4e80;
/// `NVME_URING_CMD_IO_VEC`: with segments in place of address and length.
pub const PASSTHROUGH_VECTORED: u32 = 0xc048_4e81;

/// Opcodes of the NVM command set.
pub mod opcode {
    /// Commit data to the medium.
    pub const FLUSH: u8 = 0x00;
    /// Write.
    pub const WRITE: u8 = 0x01;
    /// Read.
    pub const READ: u8 = 0x02;
    /// Mark blocks invalid, without data.
    pub const WRITE_UNCORRECTABLE: u8 = 0x04;
    /// Set blocks to zero, without data.
    pub const WRITE_ZEROES: u8 = 0x08;
    /// Dataset management: deallocate ranges.
    pub const DATASET_MANAGEMENT: u8 = 0x09;
    /// Check blocks inside the device, without data.
    pub const VERIFY: u8 = 0x0c;
}

/// Flags in word 12 of reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RwFlags {
    /// Write to the medium, not only into a cache (bit 30).
    pub force_unit_access: bool,
    /// Write Zeroes may deallocate (bit 25).
    pub deallocate: bool,
    /// The device inserts and strips the protection information (bit 29).
    pub protection_action: bool,
    /// The device checks guards (bit 28).
    pub check_guard: bool,
    /// The device checks application tags (bit 27).
    pub check_app_tag: bool,
    /// The device checks reference tags (bit 26).
    pub check_reference_tag: bool,
}

impl RwFlags {
    const fn bits(self) -> u32 {
        (self.force_unit_access as u32) << 30
            | (self.protection_action as u32) << 29
            | (self.check_guard as u32) << 28
            | (self.check_app_tag as u32) << 27
            | (self.check_reference_tag as u32) << 26
            | (self.deallocate as u32) << 25
    }
}

/// An NVM command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// See [`opcode`].
    pub opcode: u8,
    /// Namespace ID.
    pub namespace: u32,
    /// Address of the metadata.
    pub metadata: u64,
    /// Size of the metadata in bytes.
    pub metadata_length: u32,
    /// Address of the data, or of the segments.
    pub data: u64,
    /// Bytes of the data, or number of segments.
    pub data_length: u32,
    /// Words 2 and 3.
    pub words_2_3: [u32; 2],
    /// Words 10 to 15.
    pub words_10_15: [u32; 6],
}

impl Command {
    /// Maximum number of blocks of [`Command::of_blocks`].
    pub const MAX_BLOCKS: u32 = 1 << 16;

    /// A command for `blocks` blocks from `first`. `blocks` is at least 1 and at most [`Command::MAX_BLOCKS`].
    #[must_use]
    pub fn of_blocks(opcode: u8, namespace: u32, first: u64, blocks: u32, flags: RwFlags) -> Self {
        let mut command = Command { opcode, namespace, ..Command::default() };
        command.words_10_15[0] = first as u32;
        command.words_10_15[1] = (first >> 32) as u32;
        // The number of blocks has 16 bits and counts from 0.
        command.words_10_15[2] = (blocks.saturating_sub(1) & 0xffff) | flags.bits();
        command
    }

    /// A command that commits written data to the medium.
    #[must_use]
    pub fn flush(namespace: u32) -> Self {
        Command { opcode: opcode::FLUSH, namespace, ..Command::default() }
    }

    /// A command that deallocates `ranges` ranges, which the data lists.
    #[must_use]
    pub fn deallocate(namespace: u32, ranges: u32) -> Self {
        let mut command = Command { opcode: opcode::DATASET_MANAGEMENT, namespace, ..Command::default() };
        command.words_10_15[0] = ranges.saturating_sub(1) & 0xff;
        command.words_10_15[1] = 1 << 2;
        command.data_length = ranges * size_of::<Range>() as u32;
        command
    }

    /// Sets the tags of the first block, which the device checks or starts counting from.
    #[must_use]
    pub fn tags(mut self, reference: u64, app: u16, app_mask: u16) -> Self {
        self.words_10_15[4] = reference as u32;
        // The upper 16 bits of 48-bit reference tags.
        self.words_2_3[1] = (reference >> 32) as u32 & 0xffff;
        self.words_10_15[5] = u32::from(app_mask) << 16 | u32::from(app);
        self
    }

    /// Encodes the command as `struct nvme_uring_cmd`, in the 80 bytes that a submission queue entry has for it.
    #[must_use]
    pub fn encode(&self) -> [u8; 80] {
        let mut bytes = [0; 80];
        bytes[0] = self.opcode;
        let mut put = |at: usize, number: &[u8]| bytes[at..at + number.len()].copy_from_slice(number);
        put(4, &self.namespace.to_ne_bytes());
        put(8, &self.words_2_3[0].to_ne_bytes());
        put(12, &self.words_2_3[1].to_ne_bytes());
        put(16, &self.metadata.to_ne_bytes());
        put(24, &self.data.to_ne_bytes());
        put(32, &self.metadata_length.to_ne_bytes());
        put(36, &self.data_length.to_ne_bytes());
        for (index, word) in self.words_10_15.iter().enumerate() {
            put(40 + 4 * index, &word.to_ne_bytes());
        }
        bytes
    }
}

/// A range of blocks to deallocate, in the device's format.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range([u8; 16]);

impl Range {
    /// A range of `blocks` blocks from `first`.
    #[must_use]
    pub fn new(first: u64, blocks: u32) -> Self {
        let mut bytes = [0; 16];
        bytes[4..8].copy_from_slice(&blocks.to_le_bytes());
        bytes[8..].copy_from_slice(&first.to_le_bytes());
        Range(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> [u32; 18] {
        let bytes = command.encode();
        assert_eq!(bytes[72..], [0; 8], "timeout and beyond");
        std::array::from_fn(|at| u32::from_ne_bytes(bytes[4 * at..][..4].try_into().unwrap()))
    }

    #[test]
    fn a_read_has_every_field_in_its_place() {
        let read = Command {
            data: 0x1111_2222_3333_4444,
            data_length: 4096,
            metadata: 0x5555_6666_7777_8888,
            metadata_length: 64,
            ..Command::of_blocks(opcode::READ, 3, 0x1_2345_6789, 8, RwFlags::default())
        };
        let want = [
            0x02,
            3,
            0,
            0,
            0x7777_8888,
            0x5555_6666,
            0x3333_4444,
            0x1111_2222,
            64,
            4096,
            0x2345_6789,
            1,
            7,
            0,
            0,
            0,
            0,
            0,
        ];
        assert_eq!(words(&read), want);
    }

    #[test]
    fn each_flag_is_a_bit_of_word_12() {
        let bits = |change: fn(&mut RwFlags)| {
            let mut flags = RwFlags::default();
            change(&mut flags);
            words(&Command::of_blocks(opcode::WRITE, 1, 0, 1, flags))[12]
        };
        assert_eq!(bits(|_| ()), 0);
        assert_eq!(bits(|f| f.force_unit_access = true), 1 << 30);
        assert_eq!(bits(|f| f.protection_action = true), 1 << 29);
        assert_eq!(bits(|f| f.check_guard = true), 1 << 28);
        assert_eq!(bits(|f| f.check_app_tag = true), 1 << 27);
        assert_eq!(bits(|f| f.check_reference_tag = true), 1 << 26);
        assert_eq!(bits(|f| f.deallocate = true), 1 << 25);
    }

    #[test]
    fn a_command_carries_up_to_65536_blocks() {
        let nlb = |blocks| Command::of_blocks(opcode::READ, 1, 0, blocks, RwFlags::default()).words_10_15[2];
        assert_eq!([1, 2, 65536].map(nlb), [0, 1, 0xffff]);
    }

    #[test]
    fn a_flush_has_nothing_but_its_namespace() {
        let mut want = [0; 18];
        want[1] = 9;
        assert_eq!(words(&Command::flush(9)), want);
    }

    #[test]
    fn a_deallocation_lists_its_ranges() {
        let command = words(&Command::deallocate(1, 2));
        assert_eq!((command[0], command[9], command[10], command[11]), (0x09, 32, 1, 4));
        let want = [0, 0, 0, 0, 8, 0, 0, 0, 0x21, 0x43, 0x65, 0x87, 1, 0, 0, 0];
        assert_eq!(Range::new(0x1_8765_4321, 8), Range(want));
    }

    #[test]
    fn tags_are_in_their_words() {
        let command = Command::of_blocks(opcode::WRITE, 1, 0, 1, RwFlags::default());
        let tagged = words(&command.tags(0x1234_5678_9abc, 0x55aa, 0xff00));
        assert_eq!((tagged[3], tagged[14], tagged[15]), (0x1234, 0x5678_9abc, 0xff00_55aa));
    }
}
