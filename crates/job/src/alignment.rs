//! Requirements of engines on offsets, block sizes and files, in the words of the run that refuses them and of the check that foresees it.

use crate::{Direction, JobSpec};

/// Bytes of a page: what engines that map files map and write back together.
pub const PAGE_BYTES: u64 = 4096;

/// `func=` of a file that cannot be mapped as persistent memory, which is what fio prints.
pub const NOT_PERSISTENT_MEMORY: &str = "file_name does not point to persistent memory";

/// The remedy for such a file.
pub const PERSISTENT_MEMORY_NEEDED: &str =
    "the file system has to be on persistent memory and mounted with DAX; `mmap` works on any other";

/// The reason why a region of a file that begins at this offset cannot be mapped, if it cannot.
#[must_use]
pub fn offset_within_page(offset: u64) -> Option<String> {
    (!offset.is_multiple_of(PAGE_BYTES)).then(|| {
        format!("a mapping begins at a page boundary, but offset {offset} is not a multiple of {PAGE_BYTES}")
    })
}

/// The reason why a job with `ioengine=mmap` cannot write its blocks back, if it cannot: msync(2) takes whole pages.
#[must_use]
pub fn blocks_of_partial_pages(spec: &JobSpec) -> Option<String> {
    let syncs = spec.opening.direct && spec.events.is_none()
        || spec.durability.fsync > 0
        || spec.durability.fdatasync > 0;
    let is_whole = |bytes: u64| bytes.is_multiple_of(PAGE_BYTES);
    let are_whole = Direction::ALL
        .into_iter()
        .filter(|&direction| spec.rw.does(direction))
        .map(|direction| &spec.block[direction])
        .all(|block| is_whole(block.min) && is_whole(block.max) && is_whole(block.align));
    (syncs && !are_whole).then(|| {
        format!(
            "the mmap engine writes back whole pages: with direct, fsync or fdatasync every block size and alignment must be a \
             multiple of {PAGE_BYTES} bytes"
        )
    })
}

/// The reason why a command of a device with blocks of `block` bytes cannot move this range of bytes, if it cannot.
#[must_use]
pub fn not_whole_blocks(offset: u64, len: u64, block: u64) -> Option<String> {
    let is_whole = |bytes: u64| block > 0 && bytes.is_multiple_of(block);
    (!is_whole(offset) || !is_whole(len))
        .then(|| format!("read/write not sector aligned: the device has blocks of {block} bytes"))
}
