//! Reads the blocks of a file or device with several hashing threads.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use ferrio_job::reason;
use ferrio_machine::{block_device_bytes, open_file, retry_interrupted};
use ferrio_verify::{Digest, VerifyMethod};
use nix::fcntl::OFlag;
use nix::sys::uio::pread;

use super::DedupeOptions;

/// Bytes read at once, unless a block is larger.
const CHUNK_BYTES: usize = 1 << 20;
/// Alignment of buffers for O_DIRECT.
const BUFFER_ALIGNMENT: usize = 4096;

/// The MD5 sum of a block.
pub type BlockSum = [u8; 16];

/// The index of the first block of a chunk, and the sums of all its blocks.
pub type HashedChunk = (u64, Vec<BlockSum>);

/// The reason why blocks cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DedupeError {
    #[error("{}", reason(.0))]
    Io(#[from] io::Error),
    #[error(
        "cannot allocate {0} MiB to remember the blocks that were read: raise the memory limit (ulimit -v), or free memory"
    )]
    NoMemory(u64),
    #[error("it is neither a file nor a block device")]
    NoFile,
    #[error("it is shorter than a block of {0} bytes: give a smaller one with -b")]
    TooShort(usize),
    #[error("O_DIRECT needs blocks of a multiple of 512 bytes, not of {0}: change -b or leave out -o 1")]
    Unaligned(usize),
}

/// The file to read.
pub struct BlockReader {
    file: File,
    block_bytes: usize,
    blocks: u64,
}

impl BlockReader {
    /// Opens the file for reading.
    ///
    /// # Errors
    /// It has no blocks, or cannot be opened.
    pub fn open(path: &Path, request: &DedupeOptions) -> Result<Self, DedupeError> {
        let block_bytes = request.block_bytes;
        if request.is_direct && !block_bytes.is_multiple_of(512) {
            return Err(DedupeError::Unaligned(block_bytes));
        }
        let flags = if request.is_direct { OFlag::O_DIRECT } else { OFlag::empty() };
        let metadata = path.metadata()?;
        let bytes = match metadata.file_type() {
            kind if kind.is_file() => metadata.len(),
            kind if kind.is_block_device() => block_device_bytes(path)?,
            _ => return Err(DedupeError::NoFile),
        };
        let blocks = bytes / block_bytes as u64;
        if blocks == 0 {
            return Err(DedupeError::TooShort(block_bytes));
        }
        let file = open_file(path, OFlag::O_RDONLY | flags, 0)?;
        Ok(BlockReader { file, block_bytes, blocks })
    }

    /// Number of whole blocks; at least 1.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Size of all blocks in bytes.
    pub fn bytes(&self) -> u64 {
        self.blocks * self.block_bytes as u64
    }

    /// A buffer for `blocks` blocks.
    pub fn buffer(&self, blocks: usize) -> AlignedBuffer {
        let len = blocks * self.block_bytes;
        let bytes = vec![0; len + BUFFER_ALIGNMENT];
        let start = bytes.as_ptr().align_offset(BUFFER_ALIGNMENT);
        AlignedBuffer { bytes, start, len }
    }

    /// Reads blocks from index `first` on.
    ///
    /// # Errors
    /// The blocks cannot be read, or the file was truncated.
    pub fn read(&self, first: u64, bytes: &mut [u8]) -> io::Result<()> {
        let (mut offset, mut rest) = (first * self.block_bytes as u64, bytes);
        while !rest.is_empty() {
            let read = retry_interrupted(|| pread(&self.file, rest, offset as i64))?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            offset += read as u64;
            rest = &mut rest[read..];
        }
        Ok(())
    }

    /// Reads all blocks with several threads, and calls `take` with their sums in the calling thread, in any order.
    ///
    /// # Errors
    /// A block cannot be read, or `take` fails.
    pub fn hash(
        &self,
        threads: usize,
        mut take: impl FnMut(HashedChunk) -> Result<(), DedupeError>,
    ) -> Result<(), DedupeError> {
        let next = AtomicU64::new(0);
        let (sender, sums) = sync_channel(2 * threads);
        thread::scope(|scope| {
            // Dropped before waiting for the threads: their sends then fail, which ends them.
            let sums = sums;
            for _ in 0..threads {
                let (sender, next) = (sender.clone(), &next);
                thread::Builder::new().spawn_scoped(scope, move || self.hash_chunks(next, &sender))?;
            }
            drop(sender);
            sums.iter().try_for_each(|hashed: io::Result<HashedChunk>| take(hashed?))
        })
    }

    fn hash_chunks(&self, next: &AtomicU64, sender: &SyncSender<io::Result<HashedChunk>>) {
        let most = (CHUNK_BYTES / self.block_bytes).max(1);
        let mut buffer = self.buffer(most);
        loop {
            let first = next.fetch_add(most as u64, Ordering::Relaxed);
            if first >= self.blocks {
                return;
            }
            let blocks = (self.blocks - first).min(most as u64) as usize;
            let bytes = &mut buffer.bytes()[..blocks * self.block_bytes];
            let hashed = self
                .read(first, bytes)
                .map(|()| (first, bytes.chunks_exact(self.block_bytes).map(sum).collect()));
            let is_over = hashed.is_err();
            if sender.send(hashed).is_err() || is_over {
                return;
            }
        }
    }
}

fn sum(block: &[u8]) -> BlockSum {
    let mut sum = BlockSum::default();
    sum.copy_from_slice(Digest::compute(VerifyMethod::Md5, block).as_bytes());
    sum
}

/// Memory that O_DIRECT can read into.
pub struct AlignedBuffer {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    /// The aligned bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}
