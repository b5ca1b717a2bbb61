//! Reads a verify state file for display, including damaged files and those of old releases.
//!
//! [`VerifyState`] is the state that a job loads.

use crate::digest::crc32c_raw;
use crate::state::{HEADER, NAME, VerifyState, name_at, u32_at, u64_at};

/// Version 3: position of the job's name after the header.
const OLD_NAME: usize = 88;
/// Version 3: bytes of the entry of a completed write.
const OLD_ENTRY: usize = 16;

/// A state file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFile {
    /// Version in the header; missing parts of a header count as 0.
    pub version: u64,
    /// Length of the rest according to the header.
    pub size: u64,
    /// Checksum in the header.
    pub crc: u64,
    /// The contents after the header.
    pub content: Result<StateContent, StateDamage>,
}

/// The contents of a state file for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateContent {
    /// Name of the job.
    pub name: Vec<u8>,
    /// Slots, or the queue depth.
    pub depth: u32,
    /// Writes issued.
    pub number: u64,
    /// Number of the job.
    pub index: u64,
    /// Writes in flight; see [`VerifyState::slots`].
    pub slots: Vec<Option<u64>>,
    /// Version 3: file and offset of the last completed writes, in place of `slots`.
    pub completions: Option<Vec<(u64, u64)>>,
}

/// A reason why a file cannot be shown, in fio's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateDamage {
    /// It is shorter or longer than its header says.
    #[error("Size mismatch")]
    Size,
    /// The checksum does not match.
    #[error("crc mismatch {computed:x} != {:x}", *stored as u32)]
    Crc {
        /// The checksum of the bytes.
        computed: u64,
        /// The checksum in the header.
        stored: u64,
    },
    /// The layout is unknown.
    #[error("Unsupported version {0}")]
    Version(u64),
    /// The parts do not fit together.
    #[error("verify state is corrupt")]
    Corrupt,
}

impl StateFile {
    /// Decodes the contents of a file.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let mut header = [0; HEADER];
        let length = bytes.len().min(HEADER);
        header[..length].copy_from_slice(&bytes[..length]);
        let [version, size, crc] = [0, 8, 16].map(|at| u64_at(&header, at));
        StateFile { version, size, crc, content: content(bytes, version, size, crc) }
    }
}

fn content(bytes: &[u8], version: u64, size: u64, crc: u64) -> Result<StateContent, StateDamage> {
    let rest = bytes.get(HEADER..).filter(|rest| rest.len() as u64 == size).ok_or(StateDamage::Size)?;
    let computed = u64::from(crc32c_raw(rest));
    if computed != crc {
        return Err(StateDamage::Crc { computed, stored: crc });
    }
    match version {
        3 => old_content(rest).ok_or(StateDamage::Corrupt),
        5 | 7 => {
            let state = VerifyState::decode(bytes).map_err(|_| StateDamage::Corrupt)?;
            let depth = u32::try_from(state.slots.len()).unwrap_or(u32::MAX);
            let VerifyState { number, index, job, slots, .. } = state;
            Ok(StateContent { name: job, depth, number, index, slots, completions: None })
        }
        _ => Err(StateDamage::Version(version)),
    }
}

/// The layout of version 3, which fio up to 3.33 writes.
fn old_content(rest: &[u8]) -> Option<StateContent> {
    let (fixed, entries) = rest.split_at_checked(OLD_NAME + NAME)?;
    let count = usize::try_from(u64_at(fixed, 0)).ok()?;
    let entries = entries.as_chunks::<OLD_ENTRY>().0.get(..count)?;
    let completions = entries.iter().map(|entry| (u64_at(entry, 0), u64_at(entry, 8))).collect();
    Some(StateContent {
        name: name_at(fixed, OLD_NAME),
        depth: u32_at(fixed, 8),
        number: u64_at(fixed, 16),
        index: u64_at(fixed, 24),
        slots: Vec::new(),
        completions: Some(completions),
    })
}

#[cfg(test)]
mod tests {
    use ferrio_job::GeneratorState;
    use proptest::prelude::*;

    use super::*;

    fn state() -> Vec<u8> {
        let generator = GeneratorState::Narrow([1, 2, 3]);
        VerifyState { number: 9, index: 2, generator, job: b"job".to_vec(), slots: vec![Some(7), None] }
            .encode()
    }

    #[test]
    fn damage_is_found_in_fios_order() {
        let damage = |change: fn(&mut Vec<u8>)| {
            let mut bytes = state();
            change(&mut bytes);
            StateFile::read(&bytes).content.map_err(|damage| damage.to_string())
        };
        let good = damage(|_| {}).unwrap();
        assert_eq!((good.number, good.index, good.depth, good.slots), (9, 2, 2, vec![Some(7), None]));
        assert_eq!(damage(|bytes| bytes.push(0)), Err("Size mismatch".to_owned()));
        assert_eq!(damage(|bytes| bytes.truncate(10)), Err("Size mismatch".to_owned()));
        assert_eq!(damage(|bytes| bytes[0] = 6), Err("Unsupported version 6".to_owned()));
        assert!(damage(|bytes| bytes[40] ^= 1).unwrap_err().starts_with("crc mismatch "));
        assert!(damage(|bytes| (bytes[0], bytes[40]) = (6, 99)).unwrap_err().starts_with("crc mismatch "));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 24..300), version in 0..9_u64) {
            let size = bytes.len() as u64 - 24;
            let crc = u64::from(crc32c_raw(&bytes[24..]));
            for (at, word) in [(0, version), (8, size), (16, crc)] {
                bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
            }
            let _ = StateFile::read(&bytes);
        }
    }
}
