//! Verify state files: the progress of a job's writes when it ended or was stopped, so that a later run checks exactly the written blocks.
//!
//! The format is fio's, version 7. The fio of Debian 12 (3.33) uses version 3, whose block headers differ too, so its states are refused.
//! [`Coverage`] says which blocks a state covers.

use ferrio_job::GeneratorState;

use crate::digest::crc32c_raw;

/// The version that is written.
const VERSION: u64 = 7;
/// Versions with the same layout.
const READABLE: [u64; 2] = [5, VERSION];
/// Bytes before those that the length and the checksum cover.
pub(crate) const HEADER: usize = 24;
/// Bytes between the header and the slots.
const FIXED: usize = 144;
/// Bytes of the job's name, with at least one NUL.
pub(crate) const NAME: usize = 64;
/// A slot without a write.
const EMPTY: u64 = u64::MAX;

/// The contents of a state file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyState {
    /// Number of writes that the job had issued, or that its last sync covered.
    pub number: u64,
    /// Number of the job in its run, from 0.
    pub index: u64,
    /// State of its generator of offsets. No program reads it.
    pub generator: GeneratorState,
    /// Name of the job, truncated to 63 bytes in the file.
    pub job: Vec<u8>,
    /// Numbers of the writes in flight, one slot for each place of the queue, followed by those of failed writes.
    pub slots: Vec<Option<u64>>,
}

/// A reason why bytes are not a state file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// It ends within the header.
    #[error("failed reading verify state header")]
    ShortHeader,
    /// It has another layout.
    #[error("unsupported ({0}) version in verify state header")]
    Version(u64),
    /// It ends before the length in its header. fio's word, which scripts may look for.
    #[error("failed reading verity state")]
    Cut,
    /// The checksum is wrong, or the parts do not fit together.
    #[error("verify state is corrupt")]
    Corrupt,
}

impl VerifyState {
    /// Encodes the contents of the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut rest = Vec::with_capacity(FIXED + 8 * self.slots.len());
        // A queue has at most 2^32 places; failed writes beyond that number are not listed.
        let depth = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        rest.extend_from_slice(&depth.to_le_bytes());
        rest.extend_from_slice(&[0; 4]);
        rest.extend_from_slice(&self.number.to_le_bytes());
        rest.extend_from_slice(&self.index.to_le_bytes());
        match self.generator {
            GeneratorState::Narrow(words) => {
                rest.extend_from_slice(&0_u64.to_le_bytes());
                rest.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            }
            GeneratorState::Wide(words) => {
                rest.extend_from_slice(&1_u64.to_le_bytes());
                rest.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            }
        }
        rest.resize(FIXED - NAME, 0);
        rest.extend_from_slice(&self.job[..self.job.len().min(NAME - 1)]);
        rest.resize(FIXED, 0);
        let slots = self.slots.iter().take(depth as usize);
        rest.extend(slots.flat_map(|slot| slot.unwrap_or(EMPTY).to_le_bytes()));
        let header = [VERSION, rest.len() as u64, u64::from(crc32c_raw(&rest))];
        [header.map(u64::to_le_bytes).as_flattened(), &rest].concat()
    }

    /// Decodes the contents of a file; bytes after the length in the header are ignored.
    ///
    /// # Errors
    /// The bytes are not a state, are of another version, or are damaged.
    pub fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        let header = bytes.get(..HEADER).ok_or(StateError::ShortHeader)?;
        let version = u64_at(header, 0);
        if !READABLE.contains(&version) {
            return Err(StateError::Version(version));
        }
        let length = usize::try_from(u64_at(header, 8)).map_err(|_| StateError::Cut)?;
        let rest = bytes[HEADER..].get(..length).ok_or(StateError::Cut)?;
        if u64_at(header, 16) != u64::from(crc32c_raw(rest)) || rest.len() < FIXED {
            return Err(StateError::Corrupt);
        }
        let depth = u64::from(u32_at(rest, 0));
        if (rest.len() - FIXED) as u64 != depth * 8 {
            return Err(StateError::Corrupt);
        }
        let generator = match u64_at(rest, 24) {
            0 => GeneratorState::Narrow(std::array::from_fn(|at| u32_at(rest, 32 + 4 * at))),
            _ => GeneratorState::Wide(std::array::from_fn(|at| u64_at(rest, 32 + 8 * at))),
        };
        let slots = rest[FIXED..].chunks_exact(8).map(|slot| Some(u64_at(slot, 0)).filter(|&n| n != EMPTY));
        Ok(VerifyState {
            number: u64_at(rest, 8),
            index: u64_at(rest, 16),
            generator,
            job: name_at(rest, FIXED - NAME),
            slots: slots.collect(),
        })
    }

    /// The writes that a job with this `iodepth` checks.
    #[must_use]
    pub fn coverage(&self, iodepth: u32) -> Coverage {
        let sorted = |slots: &[Option<u64>]| {
            let mut numbers: Vec<u64> = slots.iter().flatten().copied().collect();
            numbers.sort_unstable();
            numbers
        };
        let (in_flight, failed) = self.slots.split_at(self.slots.len().min(iodepth as usize));
        Coverage { number: self.number, in_flight: sorted(in_flight), failed: sorted(failed) }
    }
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word))
}

/// The job's name, which ends at the first NUL.
pub(crate) fn name_at(bytes: &[u8], at: usize) -> Vec<u8> {
    bytes[at..at + NAME].iter().copied().take_while(|&byte| byte != 0).collect()
}

/// The writes that a state covers, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    number: u64,
    in_flight: Vec<u64>,
    failed: Vec<u64>,
}

/// The decision about the block of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteCoverage {
    /// The block is checked.
    Check,
    /// The write had failed: the block is skipped.
    Skip,
    /// Checking ends before this block.
    Stop(CoverageEnd),
}

/// A reason why checking stops at a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoverageEnd {
    /// Write `number` had not been issued; this many had.
    #[error("Stop verify because seq {number} >= {issued}")]
    NotWritten {
        /// The write.
        number: u64,
        /// Number of writes that had been issued.
        issued: u64,
    },
    /// This write was in flight.
    #[error("Stop verify because seq {0} was an inflight write")]
    InFlight(u64),
}

impl Coverage {
    /// The decision about the block of write `number`.
    #[must_use]
    pub fn of(&self, number: u64) -> WriteCoverage {
        if self.failed.binary_search(&number).is_ok() {
            WriteCoverage::Skip
        } else if number >= self.number {
            WriteCoverage::Stop(CoverageEnd::NotWritten { number, issued: self.number })
        } else if self.in_flight.binary_search(&number).is_ok() {
            WriteCoverage::Stop(CoverageEnd::InFlight(number))
        } else {
            WriteCoverage::Check
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn state(number: u64, slots: &[Option<u64>]) -> VerifyState {
        VerifyState {
            number,
            index: 2,
            generator: GeneratorState::Narrow([0x1111_1111, 0x2222_2222, 0x3333_3333]),
            job: b"job".to_vec(),
            slots: slots.to_vec(),
        }
    }

    #[test]
    fn the_layout_is_fios_byte_for_byte() {
        let bytes = state(9, &[Some(7), None]).encode();
        assert_eq!(bytes.len(), 184);
        let hex = |range: std::ops::Range<usize>| {
            bytes[range].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        assert_eq!(hex(0..16), "0700000000000000a000000000000000");
        assert_eq!(hex(20..32), "000000000200000000000000");
        assert_eq!(hex(32..56), "090000000000000002000000000000000000000000000000");
        assert_eq!(hex(56..72), "11111111222222223333333300000000");
        assert!(bytes[72..104].iter().all(|&byte| byte == 0));
        assert_eq!(&bytes[104..108], b"job\0");
        assert!(bytes[108..168].iter().all(|&byte| byte == 0));
        assert_eq!(hex(168..184), "0700000000000000ffffffffffffffff");
        let sum = u64_at(&bytes, 16);
        assert_eq!(sum, u64::from(!::crc32c::crc32c(&bytes[24..])));
    }

    #[test]
    fn a_wide_generator_has_five_words_and_a_flag() {
        let wide = VerifyState { generator: GeneratorState::Wide([1, 2, 3, 4, 5]), ..state(0, &[]) };
        let words: Vec<u64> = wide.encode()[48..104].chunks(8).map(|word| u64_at(word, 0)).collect();
        assert_eq!(words, [1, 1, 2, 3, 4, 5, 0]);
    }

    #[test]
    fn a_state_of_fio_3_42_is_read() {
        let mut bytes = state(9, &[None]).encode();
        bytes[0] = 5;
        assert_eq!(VerifyState::decode(&bytes), Ok(state(9, &[None])));
    }

    #[test]
    fn other_versions_are_refused_by_their_number() {
        for version in [3, 4, 6, 8] {
            let mut bytes = state(9, &[]).encode();
            bytes[0] = version;
            assert_eq!(VerifyState::decode(&bytes), Err(StateError::Version(u64::from(version))));
        }
    }

    #[test]
    fn a_cut_file_is_refused_wherever_it_ends() {
        let bytes = state(4, &[None, Some(3)]).encode();
        for end in 0..bytes.len() {
            let want = if end < HEADER { StateError::ShortHeader } else { StateError::Cut };
            assert_eq!(VerifyState::decode(&bytes[..end]), Err(want), "{end} bytes");
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let good = state(4, &[None, Some(3)]).encode();
        for bit in 0..good.len() * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            // Bit 1 of the first byte makes version 5 of it, which has the same layout.
            assert_eq!(VerifyState::decode(&bytes).is_ok(), bit == 1, "bit {bit}");
        }
    }

    #[test]
    fn a_length_that_does_not_fit_the_slots_is_corrupt() {
        let mut bytes = state(4, &[None]).encode();
        bytes[24] = 9;
        let sum = u64::from(crc32c_raw(&bytes[24..]));
        bytes[16..24].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(VerifyState::decode(&bytes), Err(StateError::Corrupt));
    }

    #[test]
    fn a_block_is_checked_until_something_was_not_written() {
        let coverage = state(4, &[Some(2), None, Some(0), Some(9)]).coverage(2);
        assert_eq!(coverage.of(0), WriteCoverage::Skip);
        assert_eq!(coverage.of(1), WriteCoverage::Check);
        assert_eq!(coverage.of(2), WriteCoverage::Stop(CoverageEnd::InFlight(2)));
        let beyond = CoverageEnd::NotWritten { number: 4, issued: 4 };
        assert_eq!(coverage.of(4), WriteCoverage::Stop(beyond));
        assert_eq!(beyond.to_string(), "Stop verify because seq 4 >= 4");
        assert_eq!(CoverageEnd::InFlight(2).to_string(), "Stop verify because seq 2 was an inflight write");
        assert_eq!(coverage.of(9), WriteCoverage::Skip, "a failed write is skipped whatever its number");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            number: u64,
            index: u64,
            wide: bool,
            words: [u64; 5],
            job in "[^\0]{0,15}",
            slots in prop::collection::vec(prop::option::of(0..u64::MAX), 0..40)
        ) {
            let generator = if wide {
                GeneratorState::Wide(words)
            } else {
                GeneratorState::Narrow([words[0] as u32, words[1] as u32, words[2] as u32])
            };
            let state = VerifyState { number, index, generator, job: job.into_bytes(), slots };
            prop_assert_eq!(VerifyState::decode(&state.encode()), Ok(state));
        }

        #[test]
        fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400), checked: bool, size: bool) {
            // Random headers get no further than the version, so most of them are made plausible.
            if bytes.len() >= HEADER {
                bytes[..8].copy_from_slice(&VERSION.to_le_bytes());
                let length = (bytes.len() - HEADER) as u64;
                if size {
                    bytes[8..16].copy_from_slice(&length.to_le_bytes());
                }
                if checked {
                    let sum = u64::from(crc32c_raw(&bytes[HEADER..]));
                    bytes[16..24].copy_from_slice(&sum.to_le_bytes());
                }
            }
            if let Ok(state) = VerifyState::decode(&bytes) {
                let _ = state.coverage(3).of(state.number);
            }
        }
    }
}
