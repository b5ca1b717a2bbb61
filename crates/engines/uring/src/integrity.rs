//! Metadata and protection information of block devices by io_uring: an attribute of each read and write (Linux 6.13), for devices that
//! report their format (`FS_IOC_GETLBMD_CAP`, Linux 6.17).

use std::os::fd::RawFd;

use ferrio_engine::sync_ops::outcome;
use ferrio_engine::{EngineError, FileSet, Op, Request};
use ferrio_job::{JobSpec, ProtectionOptions};
use io_uring::squeue::Entry;
use nix::errno::Errno;

use crate::protection::{Guard, Protection, ProtectionMismatch};

/// `FS_IOC_GETLBMD_CAP`: `_IOWR(0x15, 2, struct logical_block_metadata_cap)`.
const GET_METADATA_CAPABILITIES: libc::Ioctl = 0xc010_1502u32 as libc::Ioctl;
/// `LBMD_PI_CAP_INTEGRITY`, `LBMD_PI_CAP_REFTAG`
const HAS_INTEGRITY: u32 = 1;
const HAS_REFERENCE_TAG: u32 = 2;
/// `LBMD_PI_CSUM_*`
const CRC_16_T10_DIF: u8 = 2;
const CRC_64_NVME: u8 = 4;
/// `IORING_RW_ATTR_FLAG_PI`
const ATTRIBUTE_IS_PROTECTION: u64 = 1;
/// `IO_INTEGRITY_CHK_*`
const CHECK_GUARD: u16 = 1;
const CHECK_REFERENCE_TAG: u16 = 2;
const CHECK_APP_TAG: u16 = 4;

/// `struct logical_block_metadata_cap`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MetadataCapabilities {
    flags: u32,
    interval: u16,
    size: u8,
    opaque_size: u8,
    opaque_offset: u8,
    pi_size: u8,
    pi_offset: u8,
    guard_type: u8,
    app_tag_size: u8,
    reference_tag_size: u8,
    storage_tag_size: u8,
    reserved: u8,
}

/// `struct io_uring_attr_pi`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ProtectionAttribute {
    flags: u16,
    app_tag: u16,
    length: u32,
    address: u64,
    seed: u64,
    reserved: u64,
}

/// Format of the metadata of each block of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MetadataFormat {
    /// Bytes of data per block.
    interval: usize,
    /// Bytes of metadata per block.
    metadata: usize,
    protection: Protection,
}

/// The metadata of a job's I/Os.
pub(crate) struct Integrity {
    options: ProtectionOptions,
    /// Names of the files, for messages.
    names: Vec<String>,
    files: Vec<Option<MetadataFormat>>,
    /// `md_per_io_size` bytes for each unit, contiguous.
    metadata: Box<[u8]>,
    attributes: Box<[ProtectionAttribute]>,
}

impl Integrity {
    /// `None` for a job without metadata.
    pub(crate) fn new(spec: &JobSpec) -> Option<Self> {
        let options = spec.engine_options.protection.clone();
        let units = spec.depth.iodepth.max(1) as usize;
        (options.metadata_bytes > 0).then(|| Integrity {
            names: spec.files.iter().map(|file| file.path.display().to_string()).collect(),
            files: Vec::new(),
            metadata: vec![0; options.metadata_bytes as usize * units].into_boxed_slice(),
            attributes: vec![ProtectionAttribute::default(); units].into_boxed_slice(),
            options,
        })
    }

    /// Queries the metadata format of each open file.
    pub(crate) fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.files.clear();
        files.files.iter().enumerate().try_for_each(|(index, file)| {
            self.files.push(None);
            self.attach_one(index, file.raw_fd())
        })
    }

    /// Queries the metadata format of one file, unless it was just closed.
    pub(crate) fn attach_one(&mut self, index: usize, fd: RawFd) -> Result<(), EngineError> {
        if fd < 0 {
            return Ok(());
        }
        let name = self.names.get(index).map_or("", String::as_str);
        let refused = |errno: Errno, text: String| {
            EngineError::new(format!("open({name})"), errno).hint(format!("{name}: {text}"))
        };
        let capabilities = query_capabilities(fd).map_err(|errno| {
            let number = errno as i32;
            let text = format!("failed to query protection information capabilities; error {number}");
            refused(
                errno,
                format!("{text}. md_per_io_size needs a block device that keeps metadata, and Linux 6.17"),
            )
        })?;
        let blocks = blocks(&capabilities).map_err(|text| refused(Errno::EOPNOTSUPP, text))?;
        self.files[index] = Some(blocks);
        Ok(())
    }

    /// Attaches metadata to a read or write. `entry` is the entry of the request.
    pub(crate) fn add(&mut self, request: &Request, entry: &mut Entry) -> Result<(), Errno> {
        let blocks = self.format_of(request)?;
        let (first, unit) = (request.offset / blocks.interval as u64, request.unit as usize);
        let length = request.len as usize / blocks.interval * blocks.metadata;
        let per_unit = self.options.metadata_bytes as usize;
        let metadata = self.metadata[unit * per_unit..][..per_unit].get_mut(..length).ok_or(Errno::EINVAL)?;
        if request.op == Op::Write && !self.options.by_device {
            // SAFETY: the contract of Request: the buffer is valid for `len` bytes, and nothing writes to it meanwhile.
            let data = unsafe { std::slice::from_raw_parts(request.buffer, request.len as usize) };
            let pairs = data.chunks_exact(blocks.interval).zip(metadata.chunks_exact_mut(blocks.metadata));
            for (lba, (data, metadata)) in (first..).zip(pairs) {
                blocks.protection.fill_in(data, metadata, lba, &self.options);
            }
        }
        let checks = self.options.checks;
        let flag = |asked: bool, flag| if asked { flag } else { 0 };
        self.attributes[unit] = ProtectionAttribute {
            flags: flag(checks.guard, CHECK_GUARD)
                | flag(checks.reference_tag, CHECK_REFERENCE_TAG)
                | flag(checks.app_tag, CHECK_APP_TAG),
            app_tag: self.options.app_tag,
            length: length as u32,
            address: metadata.as_mut_ptr() as u64,
            seed: if checks.reference_tag { first & 0xffff_ffff } else { 0 },
            reserved: 0,
        };
        set_attribute(entry, &raw const self.attributes[unit]);
        Ok(())
    }

    /// Checks the metadata of a read.
    pub(crate) fn check(&self, request: &Request) -> Result<(), ProtectionMismatch> {
        let Ok(blocks) = self.format_of(request) else { return Ok(()) };
        if self.options.by_device {
            return Ok(());
        }
        // SAFETY: the contract of Request: the buffer is valid for `len` bytes, and the kernel is done with it.
        let data = unsafe { std::slice::from_raw_parts(request.buffer, request.len as usize) };
        let per_unit = self.options.metadata_bytes as usize;
        let metadata = &self.metadata[request.unit as usize * per_unit..][..per_unit];
        let pairs = data.chunks_exact(blocks.interval).zip(metadata.chunks_exact(blocks.metadata));
        (request.offset / blocks.interval as u64..).zip(pairs).try_for_each(|(lba, (data, metadata))| {
            blocks.protection.check(data, metadata, lba, &self.options)
        })
    }

    /// The name of the file of a request.
    pub(crate) fn name(&self, request: &Request) -> &str {
        self.names.get(request.file as usize).map_or("", String::as_str)
    }

    fn format_of(&self, request: &Request) -> Result<MetadataFormat, Errno> {
        self.files.get(request.file as usize).copied().flatten().ok_or(Errno::EBADF)
    }
}

/// Queries the metadata capabilities of a file.
fn query_capabilities(fd: RawFd) -> Result<MetadataCapabilities, Errno> {
    let mut capabilities = MetadataCapabilities::default();
    // SAFETY: the kernel writes one struct of this size, which lives until the call returns.
    let answer =
        outcome(i64::from(unsafe { libc::ioctl(fd, GET_METADATA_CAPABILITIES, &raw mut capabilities) }));
    if answer < 0 { Err(Errno::from_raw(-answer as i32)) } else { Ok(capabilities) }
}

/// The metadata format of a file, if io_uring supports it.
fn blocks(capabilities: &MetadataCapabilities) -> Result<MetadataFormat, String> {
    if capabilities.flags & HAS_INTEGRITY == 0 || capabilities.interval == 0 || capabilities.size == 0 {
        return Err("Protection information not supported".to_owned());
    }
    if capabilities.storage_tag_size > 0 {
        return Err("Storage tag not supported".to_owned());
    }
    let guard = match capabilities.guard_type {
        CRC_16_T10_DIF => Guard::Crc16,
        CRC_64_NVME => Guard::Crc64,
        other => return Err(format!("unsupported checksum type {other}")),
    };
    let offset = usize::from(capabilities.pi_offset);
    if offset + guard.bytes() > usize::from(capabilities.size) {
        return Err("Protection information not supported".to_owned());
    }
    let has_reference_tag = capabilities.flags & HAS_REFERENCE_TAG != 0;
    Ok(MetadataFormat {
        interval: capabilities.interval.into(),
        metadata: capabilities.size.into(),
        protection: Protection { guard, offset, has_reference_tag },
    })
}

/// Sets the attribute of an entry for a read or write: the last 16 of its 64 bytes, which reads and writes leave empty.
fn set_attribute(entry: &mut Entry, attribute: *const ProtectionAttribute) {
    const _: () = assert!(size_of::<Entry>() == 64);
    let fields = std::ptr::from_mut(entry).cast::<u64>();
    // SAFETY: an entry is a plain struct of 64 bytes aligned to 8, and these two fields are 8-byte numbers.
    unsafe {
        fields.add(6).write(attribute as u64);
        fields.add(7).write(ATTRIBUTE_IS_PROTECTION);
    }
}

#[cfg(test)]
mod tests {
    use ferrio_engine::testing::{file_with, open};
    use ferrio_job::ProtectionChecks;
    use ferrio_plan::testing::default_job;
    use io_uring::opcode::Write;
    use io_uring::types::Fd;

    use super::*;

    const NVME: MetadataCapabilities = MetadataCapabilities {
        flags: 3,
        interval: 512,
        size: 8,
        opaque_size: 0,
        opaque_offset: 0,
        pi_size: 8,
        pi_offset: 0,
        guard_type: 2,
        app_tag_size: 2,
        reference_tag_size: 4,
        storage_tag_size: 0,
        reserved: 0,
    };

    fn integrity(change: impl FnOnce(&mut ProtectionOptions)) -> Integrity {
        let mut spec = default_job("metadata");
        spec.depth.iodepth = 2;
        let options = &mut spec.engine_options.protection;
        *options = ProtectionOptions {
            metadata_bytes: 64,
            by_device: false,
            checks: ProtectionChecks { guard: true, reference_tag: true, app_tag: false },
            app_tag: 0x1234,
            app_tag_mask: 0xffff,
        };
        change(options);
        let mut integrity = Integrity::new(&spec).unwrap();
        integrity.files = vec![Some(blocks(&NVME).unwrap())];
        integrity
    }

    fn request(op: Op, data: &mut [u8]) -> Request {
        let (offset, len) = (512 * 0x1_0000_0007, data.len() as u64);
        Request { op, unit: 1, file: 0, len, priority: 0, offset, buffer: data.as_mut_ptr() }
    }

    #[test]
    fn layouts_have_the_sizes_that_the_kernel_expects() {
        assert_eq!((size_of::<MetadataCapabilities>(), size_of::<ProtectionAttribute>()), (16, 32));
        assert_eq!(GET_METADATA_CAPABILITIES as u32 >> 16 & 0x3fff, 16);
    }

    #[test]
    fn a_device_is_used_if_its_metadata_is_protection_information_of_a_known_kind() {
        let with = |change: fn(&mut MetadataCapabilities)| {
            let mut capabilities = NVME;
            change(&mut capabilities);
            blocks(&capabilities).map_err(|text| text.to_string())
        };
        assert_eq!(with(|_| ()).unwrap().protection.guard, Guard::Crc16);
        assert_eq!(
            with(|c| (c.guard_type, c.size, c.pi_offset) = (4, 64, 48)).unwrap().protection.offset,
            48
        );
        assert_eq!(with(|c| c.flags = 0).unwrap_err(), "Protection information not supported");
        assert_eq!(with(|c| c.storage_tag_size = 2).unwrap_err(), "Storage tag not supported");
        assert_eq!(with(|c| c.guard_type = 1).unwrap_err(), "unsupported checksum type 1");
        assert!(with(|c| c.pi_offset = 4).is_err(), "the tuple is larger than the metadata");
    }

    #[test]
    fn a_write_carries_its_guards_and_the_kernel_is_told_what_to_check() {
        let mut integrity = integrity(|_| ());
        let mut data = vec![7; 1024];
        let request = request(Op::Write, &mut data);
        let mut entry = Write::new(Fd(0), request.buffer, request.len as u32).build();
        integrity.add(&request, &mut entry).unwrap();
        let metadata = &integrity.metadata[64..80];
        assert_eq!((&metadata[4..8], &metadata[12..16]), (&[0, 0, 0, 7][..], &[0, 0, 0, 8][..]));
        let want = ProtectionAttribute {
            flags: CHECK_GUARD | CHECK_REFERENCE_TAG,
            app_tag: 0x1234,
            length: 16,
            address: metadata.as_ptr() as u64,
            seed: 7,
            reserved: 0,
        };
        assert_eq!(integrity.attributes[1], want);
        // SAFETY: an entry is a plain struct of 64 bytes.
        let fields: [u64; 8] = unsafe { std::mem::transmute(entry) };
        assert_eq!(fields[6..], [&raw const integrity.attributes[1] as u64, 1]);
        assert_eq!(integrity.check(&request), Ok(()));
        data[600] = 8;
        assert_eq!(integrity.check(&request).unwrap_err().lba, 0x1_0000_0008);
    }

    #[test]
    fn the_device_makes_its_own_guards_and_checks_them() {
        let mut integrity = integrity(|options| options.by_device = true);
        let mut data = vec![7; 512];
        let request = request(Op::Write, &mut data);
        integrity.add(&request, &mut Write::new(Fd(0), request.buffer, request.len as u32).build()).unwrap();
        assert!(integrity.metadata.iter().all(|&byte| byte == 0));
        assert_eq!(integrity.check(&request), Ok(()));
    }

    #[test]
    fn an_io_with_more_blocks_than_there_is_metadata_for_is_refused() {
        let mut integrity = integrity(|_| ());
        let mut data = vec![7; 512 * 9];
        let request = request(Op::Read, &mut data);
        let mut entry = Write::new(Fd(0), request.buffer, request.len as u32).build();
        assert_eq!(integrity.add(&request, &mut entry), Err(Errno::EINVAL));
    }

    #[test]
    fn a_file_without_metadata_is_refused_with_its_name() {
        let file = file_with(&[0; 512]);
        let mut integrity = integrity(|_| ());
        integrity.names = vec!["data".to_owned()];
        let error = integrity.attach(&open(&file, libc::O_RDWR).unwrap()).unwrap_err();
        assert_eq!(error.func, "open(data)");
        let hint = error.hint.unwrap_or_default();
        assert!(
            hint.starts_with("data: failed to query protection information capabilities; error "),
            "{hint}"
        );
    }
}
