//! Character devices of disks and flash, as described in `/sys/dev/char`: SCSI generic devices and memory technology devices.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::devices::device_number;
use crate::files::{entries, sys_figure};

/// Bytes per unit of `size` of a block device.
const SECTOR: u64 = 512;

/// A SCSI generic device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScsiGeneric {
    /// Bytes of the disk behind it, if it is one.
    pub size: Option<u64>,
    /// Bytes of a logical block of that disk.
    pub block: Option<u64>,
}

impl ScsiGeneric {
    /// The device at a path; `None` for anything else.
    #[must_use]
    pub fn at(path: &Path) -> Option<Self> {
        Self::described_in(&directory(path)?)
    }

    fn described_in(here: &Path) -> Option<Self> {
        if !is_of(here, "scsi_generic") {
            return None;
        }
        let disks = entries(&here.join("device/block"));
        let size = disks.iter().find_map(|disk| sys_figure(&disk.join("size")));
        let block = disks.iter().find_map(|disk| sys_figure(&disk.join("queue/logical_block_size")));
        Some(ScsiGeneric { size: size.map(|sectors| sectors.saturating_mul(SECTOR)), block })
    }
}

/// The bytes of a memory technology device (raw flash); `None` for anything else.
#[must_use]
pub fn flash_bytes(path: &Path) -> Option<u64> {
    flash_described_in(&directory(path)?)
}

fn flash_described_in(here: &Path) -> Option<u64> {
    if is_of(here, "mtd") { sys_figure(&here.join("size")) } else { None }
}

/// The directory that describes the character device at a path.
pub(crate) fn directory(path: &Path) -> Option<PathBuf> {
    let found = fs::metadata(path).ok().filter(|found| found.file_type().is_char_device())?;
    let (major, minor) = device_number(found.rdev());
    Some(PathBuf::from(format!("/sys/dev/char/{major}:{minor}")))
}

/// Whether the device that is described here belongs to this subsystem.
pub(crate) fn is_of(here: &Path, subsystem: &str) -> bool {
    fs::canonicalize(here.join("subsystem")).is_ok_and(|path| path.ends_with(subsystem))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn devices_have_the_sizes_of_their_disks_and_their_flash() {
        let sys = tempfile::tempdir().unwrap();
        let device = |name: &str, subsystem: &str, figures: &[(&str, &str)]| {
            let (here, class) = (sys.path().join(name), sys.path().join("class").join(subsystem));
            fs::create_dir_all(&here).unwrap();
            fs::create_dir_all(&class).unwrap();
            symlink(class, here.join("subsystem")).unwrap();
            for (name, text) in figures {
                fs::create_dir_all(here.join(name).parent().unwrap()).unwrap();
                fs::write(here.join(name), text).unwrap();
            }
            here
        };
        let figures =
            [("device/block/sda/size", "16384\n"), ("device/block/sda/queue/logical_block_size", "4096\n")];
        let disk = device("21:0", "scsi_generic", &figures);
        let tape = device("21:1", "scsi_generic", &[]);
        let flash = device("90:0", "mtd", &[("size", "4194304\n")]);
        assert_eq!(
            ScsiGeneric::described_in(&disk),
            Some(ScsiGeneric { size: Some(8 << 20), block: Some(4096) })
        );
        assert_eq!(ScsiGeneric::described_in(&tape), Some(ScsiGeneric { size: None, block: None }));
        assert_eq!(ScsiGeneric::described_in(&flash), None);
        assert_eq!((flash_described_in(&flash), flash_described_in(&disk)), (Some(4 << 20), None));
        assert_eq!(
            (ScsiGeneric::at(Path::new("/dev/null")), flash_bytes(Path::new("/dev/null"))),
            (None, None)
        );
    }
}
