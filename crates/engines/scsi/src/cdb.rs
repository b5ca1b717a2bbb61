//! Command descriptor blocks, as the standards SPC and SBC define them. Numbers are big-endian.

/// Maximum number of blocks of a 10-byte command.
const BLOCKS_10: u32 = 0xffff;

/// A command of 6 to 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cdb {
    bytes: [u8; 16],
    len: u8,
}

impl Cdb {
    /// The bytes of the command.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn new(len: u8, opcode: u8) -> Self {
        let mut bytes = [0; 16];
        bytes[0] = opcode;
        Cdb { bytes, len }
    }

    fn put(mut self, at: usize, value: &[u8]) -> Self {
        self.bytes[at..at + value.len()].copy_from_slice(value);
        self
    }
}

/// A range of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRange {
    /// Number of the first block.
    pub first: u64,
    /// Number of blocks.
    pub count: u32,
}

/// Commands for a range of blocks that have a 10-byte and a 16-byte form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeCommand {
    /// READ
    Read,
    /// WRITE
    Write,
    /// WRITE AND VERIFY
    WriteAndVerify,
    /// VERIFY
    Verify,
    /// WRITE SAME
    WriteSame,
    /// SYNCHRONIZE CACHE
    SynchronizeCache,
}

impl RangeCommand {
    const fn opcodes(self) -> (u8, u8) {
        match self {
            RangeCommand::Read => (0x28, 0x88),
            RangeCommand::Write => (0x2a, 0x8a),
            RangeCommand::WriteAndVerify => (0x2e, 0x8e),
            RangeCommand::Verify => (0x2f, 0x8f),
            RangeCommand::WriteSame => (0x41, 0x93),
            RangeCommand::SynchronizeCache => (0x35, 0x91),
        }
    }
}

/// FUA of reads and writes: access the medium, not a volatile cache.
pub const FUA: u8 = 1 << 3;
/// BYTCHK of VERIFY: compares all data.
pub const COMPARE_ALL: u8 = 1 << 1;
/// BYTCHK of VERIFY: compares one block of data with each block of the medium.
pub const COMPARE_ONE: u8 = 3 << 1;
/// NDOB of WRITE SAME(16): the device writes zeros or a pattern of its own, and no data is sent.
pub const NO_DATA_OUT: u8 = 1;

/// A command for a range, in 10 bytes if they suffice. `flags` are those of the second byte.
#[must_use]
pub fn range(command: RangeCommand, flags: u8, blocks: BlockRange) -> Cdb {
    match u32::try_from(blocks.first) {
        Ok(first) if first < u32::MAX && blocks.count <= BLOCKS_10 => {
            let count = (blocks.count as u16).to_be_bytes();
            Cdb::new(10, command.opcodes().0).put(1, &[flags]).put(2, &first.to_be_bytes()).put(7, &count)
        }
        _ => range_16(command, flags, blocks),
    }
}

/// A command for a range, always in 16 bytes.
#[must_use]
pub fn range_16(command: RangeCommand, flags: u8, blocks: BlockRange) -> Cdb {
    let (first, count) = (blocks.first.to_be_bytes(), blocks.count.to_be_bytes());
    Cdb::new(16, command.opcodes().1).put(1, &[flags]).put(2, &first).put(10, &count)
}

/// WRITE STREAM(16) to an open stream.
#[must_use]
pub fn write_stream(flags: u8, stream: u16, blocks: BlockRange) -> Option<Cdb> {
    let count = u16::try_from(blocks.count).ok()?;
    let cdb = Cdb::new(16, 0x9a).put(1, &[flags]).put(2, &blocks.first.to_be_bytes());
    Some(cdb.put(10, &stream.to_be_bytes()).put(12, &count.to_be_bytes()))
}

/// Bytes that a device returns when it opens a stream.
pub const OPENED_STREAM_LEN: usize = 8;

/// STREAM CONTROL that opens a stream; [`opened_stream`] reads its number from the answer.
#[must_use]
pub fn open_stream() -> Cdb {
    stream_control(1, 0, OPENED_STREAM_LEN as u32)
}

/// STREAM CONTROL that closes a stream.
#[must_use]
pub fn close_stream(stream: u16) -> Cdb {
    stream_control(2, stream, 0)
}

fn stream_control(action: u8, stream: u16, answer: u32) -> Cdb {
    let cdb = Cdb::new(16, 0x9e).put(1, &[action << 5 | 0x14]);
    cdb.put(4, &stream.to_be_bytes()).put(10, &answer.to_be_bytes())
}

/// The number of the stream in the device's answer to [`open_stream`].
#[must_use]
pub fn opened_stream(answer: &[u8; OPENED_STREAM_LEN]) -> u16 {
    u16::from_be_bytes([answer[4], answer[5]])
}

/// Size of the parameter list of an UNMAP of one range.
pub const UNMAP_LIST_LEN: usize = 24;

/// UNMAP of one range, with [`unmap_list`] as data.
#[must_use]
pub fn unmap() -> Cdb {
    Cdb::new(10, 0x42).put(7, &(UNMAP_LIST_LEN as u16).to_be_bytes())
}

/// The parameter list of an UNMAP: lengths, then the range.
#[must_use]
pub fn unmap_list(blocks: BlockRange) -> [u8; UNMAP_LIST_LEN] {
    let mut list = [0; UNMAP_LIST_LEN];
    // The lengths of the rest of the list, and of the descriptor.
    list[0..2].copy_from_slice(&22_u16.to_be_bytes());
    list[2..4].copy_from_slice(&16_u16.to_be_bytes());
    list[8..16].copy_from_slice(&blocks.first.to_be_bytes());
    list[16..20].copy_from_slice(&blocks.count.to_be_bytes());
    list
}

/// Size of the answer to READ CAPACITY(10).
pub const CAPACITY_10_LEN: usize = 8;
/// Size of the answer to READ CAPACITY(16).
pub const CAPACITY_16_LEN: usize = 32;

/// READ CAPACITY(10)
#[must_use]
pub fn read_capacity_10() -> Cdb {
    Cdb::new(10, 0x25)
}

/// READ CAPACITY(16)
#[must_use]
pub fn read_capacity_16() -> Cdb {
    Cdb::new(16, 0x9e).put(1, &[0x10]).put(10, &(CAPACITY_16_LEN as u32).to_be_bytes())
}

/// The capacity of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Number of the last block.
    pub last_block: u64,
    /// Block size in bytes.
    pub block: u32,
}

impl Capacity {
    /// Parses the answer to READ CAPACITY(10). `None` if the device is too large for it.
    #[must_use]
    pub fn from_10(answer: &[u8; CAPACITY_10_LEN]) -> Option<Self> {
        let [last_block, block] = [0, 4].map(|at| u32::from_be_bytes([0, 1, 2, 3].map(|i| answer[at + i])));
        (last_block < u32::MAX).then_some(Capacity { last_block: last_block.into(), block })
    }

    /// Parses the answer to READ CAPACITY(16).
    #[must_use]
    pub fn from_16(answer: &[u8; CAPACITY_16_LEN]) -> Self {
        let number =
            |from: usize, to: usize| answer[from..to].iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        Capacity { last_block: number(0, 8), block: number(8, 12) as u32 }
    }

    /// Size of the device in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.last_block.saturating_add(1).saturating_mul(self.block.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: BlockRange = BlockRange { first: 0x0102_0304, count: 0x0506 };

    #[test]
    fn commands_of_ten_bytes_have_the_block_in_four_and_the_count_in_two() {
        for (command, flags, opcode) in [
            (RangeCommand::Read, 0, 0x28),
            (RangeCommand::Read, FUA, 0x28),
            (RangeCommand::Write, FUA, 0x2a),
            (RangeCommand::WriteAndVerify, 0, 0x2e),
            (RangeCommand::Verify, COMPARE_ALL, 0x2f),
            (RangeCommand::Verify, COMPARE_ONE, 0x2f),
            (RangeCommand::WriteSame, 0, 0x41),
            (RangeCommand::SynchronizeCache, 0, 0x35),
        ] {
            let want = [opcode, flags, 1, 2, 3, 4, 0, 5, 6, 0];
            assert_eq!(range(command, flags, HERE).bytes(), want, "{command:?}");
        }
        assert_eq!([FUA, COMPARE_ALL, COMPARE_ONE, NO_DATA_OUT], [0x08, 0x02, 0x06, 0x01]);
    }

    #[test]
    fn commands_of_sixteen_bytes_have_the_block_in_eight_and_the_count_in_four() {
        for (command, opcode) in [
            (RangeCommand::Read, 0x88),
            (RangeCommand::Write, 0x8a),
            (RangeCommand::WriteAndVerify, 0x8e),
            (RangeCommand::Verify, 0x8f),
            (RangeCommand::WriteSame, 0x93),
            (RangeCommand::SynchronizeCache, 0x91),
        ] {
            let blocks = BlockRange { first: 0x0102_0304_0506_0708, count: 0x090a_0b0c };
            let want = [opcode, FUA, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0];
            assert_eq!(range(command, FUA, blocks).bytes(), want, "{command:?}");
        }
    }

    #[test]
    fn sixteen_bytes_are_taken_when_ten_are_too_few() {
        let len = |first, count| range(RangeCommand::Read, 0, BlockRange { first, count }).bytes().len();
        assert_eq!([len(0, 1), len(0xffff_fffe, 0xffff)], [10, 10]);
        assert_eq!([len(0xffff_ffff, 1), len(1 << 32, 1), len(0, 0x1_0000)], [16, 16, 16]);
        assert_eq!(range_16(RangeCommand::WriteSame, NO_DATA_OUT, HERE).bytes().len(), 16);
    }

    #[test]
    fn streams_are_opened_written_and_closed() {
        assert_eq!(open_stream().bytes(), [0x9e, 0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0]);
        assert_eq!(opened_stream(&[7, 0, 0, 0, 0x12, 0x34, 0, 0]), 0x1234);
        assert_eq!(
            close_stream(0x1234).bytes(),
            [0x9e, 0x54, 0, 0, 0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        );
        let want = [0x9a, FUA, 0, 0, 0, 0, 1, 2, 3, 4, 0x12, 0x34, 5, 6, 0, 0];
        assert_eq!(write_stream(FUA, 0x1234, HERE).unwrap().bytes(), want);
        assert_eq!(write_stream(0, 1, BlockRange { first: 0, count: 0x1_0000 }), None);
    }

    #[test]
    fn an_unmap_has_a_list_of_ranges() {
        assert_eq!(unmap().bytes(), [0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0]);
        let want = [0, 22, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 5, 6, 0, 0, 0, 0];
        assert_eq!(unmap_list(HERE), want);
    }

    #[test]
    fn capacities_are_the_last_block_and_its_length() {
        assert_eq!(read_capacity_10().bytes(), [0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(read_capacity_16().bytes(), [0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0]);
        let small = Capacity::from_10(&[0, 0, 0x3f, 0xff, 0, 0, 2, 0]).unwrap();
        assert_eq!((small, small.bytes()), (Capacity { last_block: 0x3fff, block: 512 }, 8 << 20));
        assert_eq!(Capacity::from_10(&[0xff, 0xff, 0xff, 0xff, 0, 0, 2, 0]), None, "too large for it");
        let mut answer = [0; CAPACITY_16_LEN];
        answer[3..12].copy_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0x10, 0]);
        let large = Capacity::from_16(&answer);
        assert_eq!((large.last_block, large.block), (1 << 32, 4096));
    }
}
