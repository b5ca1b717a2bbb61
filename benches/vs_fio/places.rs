//! Files and devices to read from: made when first asked for, gone when the bench ends.
//!
//! The file lies in cargo's own directory for such things, is written, synced and read once, so that it is clean and in the page
//! cache. The device is `/dev/zram0`, compressed memory, filled with bytes that do not compress, so that reading one block is
//! little more than copying it.

use std::fs::{self, File};
use std::io::{self, Read, Write};

use tempfile::TempDir;

use crate::work::{Place, SIZE};

const DEVICE: &str = "/dev/zram0";
const DEVICE_SIZE: &str = "/sys/block/zram0/disksize";
const DEVICE_RESET: &str = "/sys/block/zram0/reset";

/// What was made so far.
#[derive(Debug, Default)]
pub(crate) struct Places {
    file: Option<CachedFile>,
    device: Option<RamDevice>,
}

impl Places {
    /// The path of a place, `None` for [`Place::Nothing`].
    pub(crate) fn find(&mut self, place: Place) -> io::Result<Option<&str>> {
        match place {
            Place::Nothing => Ok(None),
            Place::CachedFile => {
                if self.file.is_none() {
                    self.file = Some(CachedFile::create()?);
                }
                Ok(self.file.as_ref().map(|file| file.path.as_str()))
            }
            Place::RamDevice => {
                if self.device.is_none() {
                    self.device = Some(RamDevice::find()?);
                }
                Ok(self.device.as_ref().map(|_| DEVICE))
            }
        }
    }
}

/// A file in the page cache; removed with its directory.
#[derive(Debug)]
struct CachedFile {
    _directory: TempDir,
    path: String,
}

impl CachedFile {
    fn create() -> io::Result<CachedFile> {
        let directory = TempDir::with_prefix_in("vs_fio", env!("CARGO_TARGET_TMPDIR"))?;
        let path = directory.path().join("data");
        fill(&File::create(&path)?)?;
        io::copy(&mut File::open(&path)?, &mut io::sink())?;
        Ok(CachedFile { _directory: directory, path: path.to_string_lossy().into_owned() })
    }
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
