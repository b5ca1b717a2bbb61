//! Reading the blocks of a file or device, with several threads that hash them.

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

use super::Request;

/// Bytes that are read at once, unless a block is larger.
const CHUNK: usize = 1 << 20;
/// Buffers are aligned to this for O_DIRECT.
const ALIGNMENT: usize = 4096;

/// The MD5 sum of a block.
pub type Sum = [u8; 16];

/// The first block of a chunk, and the sums of all its blocks.
pub type Hashed = (u64, Vec<Sum>);

/// Why blocks cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
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

/// The file.
pub struct Source {
    file: File,
    block_bytes: usize,
    blocks: u64,
}

impl Source {
    /// Opens the file for reading.
    ///
    /// # Errors
    /// It has no blocks, or cannot be opened.
    pub fn open(path: &Path, request: &Request) -> Result<Self, Problem> {
        let block_bytes = request.block_bytes;
        if request.is_direct && !block_bytes.is_multiple_of(512) {
            return Err(Problem::Unaligned(block_bytes));
        }
        let flags = if request.is_direct { OFlag::O_DIRECT } else { OFlag::empty() };
        let metadata = path.metadata()?;
        let bytes = match metadata.file_type() {
            kind if kind.is_file() => metadata.len(),
            kind if kind.is_block_device() => block_device_bytes(path)?,
            _ => return Err(Problem::NoFile),
        };
        let blocks = bytes / block_bytes as u64;
        if blocks == 0 {
            return Err(Problem::TooShort(block_bytes));
        }
        let file = open_file(path, OFlag::O_RDONLY | flags, 0)?;
        Ok(Source { file, block_bytes, blocks })
    }

    /// How many whole blocks there are, at least 1.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The bytes of all blocks.
    pub fn bytes(&self) -> u64 {
        self.blocks * self.block_bytes as u64
    }

    /// A buffer for this many blocks.
    pub fn buffer(&self, blocks: usize) -> Buffer {
        let len = blocks * self.block_bytes;
        let bytes = vec![0; len + ALIGNMENT];
        let start = bytes.as_ptr().align_offset(ALIGNMENT);
        Buffer { bytes, start, len }
    }

    /// Reads blocks from number `first` on.
    ///
    /// # Errors
    /// They cannot be read, or the file has become shorter.
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

    /// Reads all blocks with these threads and calls `take` with their sums, in the calling thread, in any order.
    ///
    /// # Errors
    /// A block cannot be read, or `take` fails.
    pub fn hash(
        &self,
        threads: usize,
        mut take: impl FnMut(Hashed) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let next = AtomicU64::new(0);
        let (sender, sums) = sync_channel(2 * threads);
        thread::scope(|scope| {
            // Dropped before the threads are waited for: what they still send fails, and they end.
            let sums = sums;
            for _ in 0..threads {
                let (sender, next) = (sender.clone(), &next);
                thread::Builder::new().spawn_scoped(scope, move || self.hash_chunks(next, &sender))?;
            }
            drop(sender);
            sums.iter().try_for_each(|hashed: io::Result<Hashed>| take(hashed?))
        })
    }

    fn hash_chunks(&self, next: &AtomicU64, sender: &SyncSender<io::Result<Hashed>>) {
        let most = (CHUNK / self.block_bytes).max(1);
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

fn sum(block: &[u8]) -> Sum {
    let mut sum = Sum::default();
    sum.copy_from_slice(Digest::compute(VerifyMethod::Md5, block).as_bytes());
    sum
}

/// Memory that O_DIRECT can read into.
pub struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Buffer {
    /// The aligned bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}
