//! A namespace as a job uses it: sizes of data and metadata, and the commands that read and write its blocks.

use ferrio_engine::Request;
use ferrio_job::{PassthroughOptions, ProtectionOptions, WriteMode};
use ferrio_nvme::{Command, GuardFormat, Namespace, RwFlags, opcode};

use crate::protection::{Guard, Protection};

/// A namespace with the formats that the job uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JobNamespace {
    pub(super) namespace: Namespace,
    /// Bytes of a block in the data buffer of an I/O.
    pub(super) block: u32,
    /// Bytes of metadata of a block that an I/O moves.
    metadata: u32,
    /// Protection information that the program computes and checks.
    pub(super) own: Option<Protection>,
}

impl JobNamespace {
    /// # Errors
    /// The reason why the job cannot use the namespace.
    pub(super) fn new(namespace: Namespace, options: &ProtectionOptions) -> Result<Self, &'static str> {
        let metadata = namespace.transferred_metadata(options.by_device);
        let own = match namespace.protection {
            Some(format) if !options.by_device => {
                if let Some(text) = namespace.unsupported_protection(options.by_device) {
                    return Err(text);
                }
                let guard = if format.guard == GuardFormat::Bits16 { Guard::Crc16 } else { Guard::Crc64 };
                let offset = if format.is_first { 0 } else { metadata as usize - guard.bytes() };
                Some(Protection { guard, offset, has_reference_tag: format.kind != 3 })
            }
            _ => None,
        };
        Ok(JobNamespace { namespace, block: namespace.block_bytes(options.by_device), metadata, own })
    }

    pub(super) fn first_block(&self, request: &Request) -> u64 {
        request.offset / u64::from(self.block)
    }

    /// The number of blocks; `u32::MAX` if there are more.
    pub(super) fn blocks(&self, request: &Request) -> u32 {
        u32::try_from(request.len / u64::from(self.block)).unwrap_or(u32::MAX)
    }

    /// Bytes of metadata in a separate buffer.
    pub(super) fn separate_metadata(&self, request: &Request) -> u32 {
        if self.namespace.is_extended { 0 } else { self.metadata * self.blocks(request) }
    }

    /// Calls `each` with the number, data and metadata of each block of an I/O.
    pub(super) fn for_each_block<E>(
        &self,
        request: &Request,
        data: &mut [u8],
        metadata: &mut [u8],
        mut each: impl FnMut(u64, &[u8], &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = self.namespace.data_bytes as usize;
        let first = self.first_block(request);
        if self.namespace.is_extended {
            let blocks = data.chunks_exact_mut(self.block as usize).map(|block| block.split_at_mut(bytes));
            return (first..).zip(blocks).try_for_each(|(lba, (data, metadata))| each(lba, data, metadata));
        }
        let blocks = data.chunks_exact(bytes).zip(metadata.chunks_exact_mut(self.metadata as usize));
        (first..).zip(blocks).try_for_each(|(lba, (data, metadata))| each(lba, data, metadata))
    }

    /// The command for a read or write, without addresses.
    pub(super) fn rw_command(
        &self,
        request: &Request,
        mode: Option<WriteMode>,
        options: &PassthroughOptions,
        protection: &ProtectionOptions,
    ) -> Command {
        let (operation, fua) = match mode {
            None => (opcode::READ, options.fua_reads),
            Some(WriteMode::Write) => (opcode::WRITE, options.fua_writes),
            Some(WriteMode::Uncor) => (opcode::WRITE_UNCORRECTABLE, false),
            Some(WriteMode::Zeroes) => (opcode::WRITE_ZEROES, options.fua_writes),
            Some(WriteMode::Verify) => (opcode::VERIFY, options.fua_writes),
        };
        let mut flags = RwFlags {
            force_unit_access: fua,
            deallocate: options.deallocates && mode == Some(WriteMode::Zeroes),
            ..RwFlags::default()
        };
        let first = self.first_block(request);
        let protected = self.namespace.protection.filter(|_| operation != opcode::WRITE_UNCORRECTABLE);
        if protected.is_some() {
            flags.protection_action = protection.by_device;
            flags.check_guard = protection.checks.guard;
            flags.check_app_tag = protection.checks.app_tag;
            flags.check_reference_tag = protection.checks.reference_tag;
        }
        let command = Command::of_blocks(operation, self.namespace.id, first, self.blocks(request), flags);
        let Some(format) = protected else { return command };
        let reference = match (format.kind, format.guard) {
            (3, _) => 0,
            (_, GuardFormat::Bits16) => first & 0xffff_ffff,
            _ => first & 0xffff_ffff_ffff,
        };
        command.tags(reference, protection.app_tag, protection.app_tag_mask)
    }
}
