//! Chooses the command for an I/O from the options and the range.

use ferrio_engine::Op;
use ferrio_job::{SgWriteMode, not_whole_blocks};

use crate::cdb::{
    self, BlockRange, COMPARE_ALL, COMPARE_ONE, Cdb, FUA, NO_DATA_OUT, RangeCommand, UNMAP_LIST_LEN,
};

/// Options that select commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandOptions {
    pub(crate) write_mode: SgWriteMode,
    pub(crate) read_fua: bool,
    pub(crate) write_fua: bool,
    /// `stream_id`, or 0 if the engine opens a stream.
    pub(crate) stream: u16,
}

/// A command and its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScsiCommand {
    NoData(Cdb),
    /// Reads this many bytes into the buffer.
    DataIn(Cdb, u32),
    /// Sends this many bytes of the buffer.
    DataOut(Cdb, u32),
    /// Sends a parameter list.
    ParameterList(Cdb, [u8; UNMAP_LIST_LEN]),
}

/// The reason why no command can perform an I/O, which fails with EINVAL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnsupportedIo(pub(crate) String);

impl CommandOptions {
    /// The command for an I/O on a device with blocks of `block` bytes; writes go to this stream.
    pub(crate) fn command(
        &self,
        op: Op,
        offset: u64,
        len: u64,
        block: u32,
        stream: u16,
    ) -> Result<ScsiCommand, UnsupportedIo> {
        match op {
            Op::Read => {
                let flags = if self.read_fua { FUA } else { 0 };
                let blocks = blocks(offset, len, block)?;
                Ok(ScsiCommand::DataIn(cdb::range(RangeCommand::Read, flags, blocks), data_len(len)?))
            }
            Op::Write => self.write(blocks(offset, len, block)?, len, block, stream),
            Op::Trim => blocks(offset, len, block)
                .map(|b| ScsiCommand::ParameterList(cdb::unmap(), cdb::unmap_list(b))),
            // The whole cache: a partial sync could miss data of the range.
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => {
                let all = BlockRange { first: 0, count: 0 };
                Ok(ScsiCommand::NoData(cdb::range(RangeCommand::SynchronizeCache, 0, all)))
            }
        }
    }

    fn write(
        &self,
        blocks: BlockRange,
        len: u64,
        block: u32,
        stream: u16,
    ) -> Result<ScsiCommand, UnsupportedIo> {
        let fua = if self.write_fua { FUA } else { 0 };
        Ok(match self.write_mode {
            SgWriteMode::Write => {
                ScsiCommand::DataOut(cdb::range(RangeCommand::Write, fua, blocks), data_len(len)?)
            }
            SgWriteMode::WriteAndVerify => {
                ScsiCommand::DataOut(cdb::range(RangeCommand::WriteAndVerify, 0, blocks), data_len(len)?)
            }
            SgWriteMode::WriteSame => {
                ScsiCommand::DataOut(cdb::range(RangeCommand::WriteSame, 0, blocks), block)
            }
            SgWriteMode::WriteSameNdob => {
                ScsiCommand::NoData(cdb::range_16(RangeCommand::WriteSame, NO_DATA_OUT, blocks))
            }
            SgWriteMode::VerifyBytchk00 => ScsiCommand::NoData(cdb::range(RangeCommand::Verify, 0, blocks)),
            SgWriteMode::VerifyBytchk01 => {
                ScsiCommand::DataOut(cdb::range(RangeCommand::Verify, COMPARE_ALL, blocks), data_len(len)?)
            }
            SgWriteMode::VerifyBytchk11 => {
                ScsiCommand::DataOut(cdb::range(RangeCommand::Verify, COMPARE_ONE, blocks), block)
            }
            SgWriteMode::WriteStream => match cdb::write_stream(fua, stream, blocks) {
                Some(cdb) => ScsiCommand::DataOut(cdb, data_len(len)?),
                None => {
                    return Err(UnsupportedIo("WRITE STREAM has at most 65535 blocks: lower bs".to_owned()));
                }
            },
        })
    }
}

/// Converts a range of bytes to blocks.
fn blocks(offset: u64, len: u64, block: u32) -> Result<BlockRange, UnsupportedIo> {
    if let Some(why) = not_whole_blocks(offset, len, block.into()) {
        return Err(UnsupportedIo(why));
    }
    let count = u32::try_from(len / u64::from(block))
        .map_err(|_| UnsupportedIo("a command has at most 4294967295 blocks: lower bs".to_owned()))?;
    Ok(BlockRange { first: offset / u64::from(block), count })
}

/// The length of a command's data in bytes.
fn data_len(len: u64) -> Result<u32, UnsupportedIo> {
    u32::try_from(len).map_err(|_| UnsupportedIo("a command moves less than 4 GiB: lower bs".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(commands: CommandOptions, op: Op) -> ScsiCommand {
        commands.command(op, 1 << 20, 8192, 512, 9).unwrap()
    }

    /// The bytes of a command, and how many bytes it sends.
    fn written(write_mode: SgWriteMode, write_fua: bool) -> (Vec<u8>, u32) {
        match made(CommandOptions { write_mode, write_fua, ..CommandOptions::default() }, Op::Write) {
            ScsiCommand::NoData(cdb) => (cdb.bytes().to_vec(), 0),
            ScsiCommand::DataOut(cdb, len) => (cdb.bytes().to_vec(), len),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_mode_of_writing_has_its_command_and_its_data() {
        // Block 2048, 16 blocks.
        let ten = |opcode: u8, flags: u8| vec![opcode, flags, 0, 0, 8, 0, 0, 0, 16, 0];
        assert_eq!(written(SgWriteMode::Write, false), (ten(0x2a, 0), 8192));
        assert_eq!(written(SgWriteMode::Write, true), (ten(0x2a, FUA), 8192));
        assert_eq!(written(SgWriteMode::WriteAndVerify, true), (ten(0x2e, 0), 8192));
        assert_eq!(written(SgWriteMode::WriteSame, true), (ten(0x41, 0), 512), "one block is sent");
        let ndob = vec![0x93, 1, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 16, 0, 0];
        assert_eq!(written(SgWriteMode::WriteSameNdob, false), (ndob, 0));
        assert_eq!(written(SgWriteMode::VerifyBytchk00, false), (ten(0x2f, 0), 0));
        assert_eq!(written(SgWriteMode::VerifyBytchk01, false), (ten(0x2f, 2), 8192));
        assert_eq!(written(SgWriteMode::VerifyBytchk11, false), (ten(0x2f, 6), 512));
        let stream = vec![0x9a, FUA, 0, 0, 0, 0, 0, 0, 8, 0, 0, 9, 0, 16, 0, 0];
        assert_eq!(written(SgWriteMode::WriteStream, true), (stream, 8192));
    }

    #[test]
    fn reads_trims_and_syncs_have_commands_too() {
        let read = |read_fua| match made(CommandOptions { read_fua, ..CommandOptions::default() }, Op::Read) {
            ScsiCommand::DataIn(cdb, 8192) => cdb.bytes().to_vec(),
            other => panic!("{other:?}"),
        };
        assert_eq!(read(false), [0x28, 0, 0, 0, 8, 0, 0, 0, 16, 0]);
        assert_eq!(read(true), [0x28, FUA, 0, 0, 8, 0, 0, 0, 16, 0]);
        let ScsiCommand::ParameterList(cdb, list) = made(CommandOptions::default(), Op::Trim) else {
            panic!()
        };
        assert_eq!((cdb.bytes()[0], &list[14..20]), (0x42, &[8, 0, 0, 0, 0, 16][..]));
        for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(2)] {
            let ScsiCommand::NoData(cdb) = made(CommandOptions::default(), op) else { panic!("{op:?}") };
            assert_eq!(cdb.bytes(), [0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
    }

    #[test]
    fn what_a_command_has_no_room_for_is_refused() {
        let command = |op, len| CommandOptions::default().command(op, 0, len, 512, 0);
        assert!(command(Op::Read, 4 << 30).unwrap_err().0.contains("less than 4 GiB"));
        assert!(command(Op::Write, 4 << 30).unwrap_err().0.contains("less than 4 GiB"));
        let Ok(ScsiCommand::ParameterList(_, list)) = command(Op::Trim, 5 << 30) else { panic!() };
        assert_eq!(list[16..20], (10_u32 << 20).to_be_bytes());
        assert!(command(Op::Trim, 2 << 40).unwrap_err().0.contains("at most 4294967295 blocks"));
    }

    #[test]
    fn ranges_that_are_no_whole_blocks_are_refused() {
        let refused =
            |offset, len, block| CommandOptions::default().command(Op::Read, offset, len, block, 0).is_err();
        assert_eq!([refused(0, 1000, 512), refused(512, 4096, 4096), refused(0, 512, 0)], [true; 3]);
        let commands = CommandOptions { write_mode: SgWriteMode::WriteStream, ..CommandOptions::default() };
        let refused = commands.command(Op::Write, 0, 65536 * 512, 512, 1).unwrap_err();
        assert!(refused.0.contains("at most 65535 blocks"));
    }
}
