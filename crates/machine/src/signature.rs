//! What the first bytes of a device say is on it, for machines without udev.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The last signature ends before this.
const LOOKED_AT: usize = 0x1_0048;

/// Signatures: what is there, at which byte, and the bytes.
const SIGNATURES: [(&str, usize, &[u8]); 9] = [
    ("ext", 0x438, &[0x53, 0xef]),
    ("xfs", 0, b"XFSB"),
    ("btrfs", 0x1_0040, b"_BHRfS_M"),
    ("f2fs", 0x400, &[0x10, 0x20, 0xf5, 0xf2]),
    ("crypto_LUKS", 0, b"LUKS\xba\xbe"),
    ("LVM2_member", 512, b"LABELONE"),
    ("linux_raid_member", 4096, &[0xfc, 0x4e, 0x2b, 0xa9]),
    ("swap", 4086, b"SWAPSPACE2"),
    ("partition table", 512, b"EFI PART"),
];

/// The first signature found; `None` where there is none or the device cannot be read.
pub(crate) fn read(device: &Path) -> Option<&'static str> {
    let mut start = Vec::with_capacity(LOOKED_AT);
    match File::open(device).ok()?.take(LOOKED_AT as u64).read_to_end(&mut start) {
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => None,
        _ => of(&start),
    }
}

fn of(start: &[u8]) -> Option<&'static str> {
    let there = |(_, at, bytes): &&(&str, usize, &[u8])| start.get(*at..*at + bytes.len()) == Some(*bytes);
    SIGNATURES.iter().find(there).map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_found_at_their_places() {
        for (name, at, bytes) in SIGNATURES {
            let mut start = vec![0; LOOKED_AT];
            start[at..at + bytes.len()].copy_from_slice(bytes);
            assert_eq!(of(&start), Some(name));
            assert_eq!(of(&start[..at + bytes.len() - 1]), None, "{name} is cut off");
        }
        assert_eq!((of(&[]), of(&[0; LOOKED_AT])), (None, None));
    }

    #[test]
    fn a_device_that_cannot_be_read_says_nothing() {
        assert_eq!(read(Path::new("/no/such/device")), None);
    }
}
