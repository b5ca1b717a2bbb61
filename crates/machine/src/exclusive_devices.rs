//! Block devices that are held exclusively, in any mount namespace.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;

use crate::interruptions::open_file;

/// Attempts to open a device: another process that checks at the same moment holds it for an instant.
const ATTEMPTS: u32 = 10;
/// Time between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Whether the block device at this path, or a partition of it, is held exclusively: by a file system mounted in any mount namespace, by
/// swap, or by a device built on it. False if that cannot be determined, for lack of permission for example. Takes 50 ms if it is held.
#[must_use]
pub fn is_held(device: &Path) -> bool {
    // The kernel refuses an exclusive open of a device that has an exclusive owner.
    let exclusively = OFlag::O_RDONLY | OFlag::O_EXCL | OFlag::O_NONBLOCK;
    let is_busy = || {
        let error = open_file(device, exclusively, 0).err();
        error.is_some_and(|error| error.raw_os_error() == Some(Errno::EBUSY as i32))
    };
    (0..ATTEMPTS).all(|attempt| {
        if attempt > 0 {
            sleep(RETRY_INTERVAL);
        }
        is_busy()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_or_no_device_is_not_held() {
        assert!(!is_held("/dev/null".as_ref()) && !is_held("/nowhere".as_ref()));
    }
}
