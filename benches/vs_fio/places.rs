//! Files and devices to read from: made when first asked for, gone when the bench ends.
//!
//! The cached file lies in cargo's own directory for such things, is written, synced and read, so that it is clean and in the page
//! cache. The device is `/dev/zram0`, compressed memory, filled with bytes that do not compress, so that reading one block is
//! little more than copying it.

use std::fs::{self, File};
use std::io::{self, Read, Write};

use tempfile::TempDir;

use crate::work::{Place, SIZE};

const DEVICE: &str = "/dev/zram0";
const DEVICE_SIZE: &str = "/sys/block/zram0/disksize";
const DEVICE_RESET: &str = "/sys/block/zram0/reset";

/// A directory of tmpfs.
const MEMORY: &str = "/dev/shm";

/// What was made so far.
#[derive(Debug, Default)]
pub(crate) struct Places {
    cached: Option<TempFile>,
    memory: Option<TempFile>,
    directory: Option<TempDir>,
    device: Option<RamDevice>,
}

impl Places {
    /// The path of a place, `None` for [`Place::Nothing`].
    pub(crate) fn find(&mut self, place: Place) -> io::Result<Option<String>> {
        match place {
            Place::Nothing => return Ok(None),
            Place::CachedFile if self.cached.is_none() => {
                self.cached = Some(TempFile::create(env!("CARGO_TARGET_TMPDIR"))?);
            }
            Place::MemoryFile if self.memory.is_none() => self.memory = Some(TempFile::create(MEMORY)?),
            Place::MemoryDirectory if self.directory.is_none() => {
                self.directory = Some(directory_in_memory()?);
            }
            Place::RamDevice if self.device.is_none() => self.device = Some(RamDevice::find()?),
            _ => {}
        }
        Ok(match place {
            Place::Nothing => None,
            Place::CachedFile => self.cached.as_ref().map(|file| file.path.clone()),
            Place::MemoryFile => self.memory.as_ref().map(|file| file.path.clone()),
            Place::MemoryDirectory => {
                self.directory.as_ref().map(|directory| directory.path().to_string_lossy().into_owned())
            }
            Place::RamDevice => self.device.as_ref().map(|_| DEVICE.to_owned()),
        })
    }

    /// Reads the cached file again: the kernel may have dropped pages of it since the last round.
    pub(crate) fn refresh(&self, place: Place) -> io::Result<()> {
        match &self.cached {
            Some(file) if place == Place::CachedFile => read(&file.path),
            _ => Ok(()),
        }
    }
}

/// A directory on tmpfs, for files and logs.
pub(crate) fn directory_in_memory() -> io::Result<TempDir> {
    TempDir::with_prefix_in("vs_fio", MEMORY)
}

/// A file full of random bytes; removed with its directory.
#[derive(Debug)]
struct TempFile {
    _directory: TempDir,
    path: String,
}

impl TempFile {
    fn create(parent: &str) -> io::Result<TempFile> {
        let directory = TempDir::with_prefix_in("vs_fio", parent)?;
        let path = directory.path().join("data").to_string_lossy().into_owned();
        fill(&File::create(&path)?)?;
        read(&path)?;
        Ok(TempFile { _directory: directory, path })
    }
}

/// Reads a file into the page cache.
fn read(path: &str) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut piece = vec![0; 1 << 20];
    while file.read(&mut piece)? > 0 {}
    Ok(())
}

/// The device.
#[derive(Debug)]
struct RamDevice {
    /// It had no size: it is to have none afterwards.
    ours: bool,
}

impl RamDevice {
    /// Sets the device up if nobody did. One that is set up belongs to somebody: it is read as it is.
    fn find() -> io::Result<RamDevice> {
        let found =
            fs::read_to_string(DEVICE_SIZE).map_err(|e| told(&e, "no RAM-backed block device", DEVICE))?;
        match found.trim().parse().unwrap_or(0) {
            0 => {}
            size if size < SIZE => {
                let reason = format!("{DEVICE} is in use and smaller than {SIZE} bytes");
                return Err(io::Error::other(reason));
            }
            _ => {
                File::open(DEVICE).map_err(|e| told(&e, "cannot be read", DEVICE))?;
                return Ok(RamDevice { ours: false });
            }
        }
        fs::write(DEVICE_SIZE, "1G").map_err(|e| told(&e, "cannot be set up", DEVICE))?;
        let device = RamDevice { ours: true };
        fill(&File::options().write(true).open(DEVICE)?)?;
        Ok(device)
    }
}

impl Drop for RamDevice {
    fn drop(&mut self) {
        if self.ours
            && let Err(error) = fs::write(DEVICE_RESET, "1")
        {
            eprintln!("vs_fio: {}", told(&error, "could not be reset and still holds memory", DEVICE));
        }
    }
}

/// Writes [`SIZE`] random bytes and waits until they are there.
fn fill(mut file: &File) -> io::Result<()> {
    let mut random = File::open("/dev/urandom")?;
    let mut piece = vec![0; 1 << 20];
    for _ in 0..SIZE / piece.len() as u64 {
        random.read_exact(&mut piece)?;
        file.write_all(&piece)?;
    }
    file.sync_all()
}

fn told(error: &io::Error, what: &str, path: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {what}: {error}"))
}
