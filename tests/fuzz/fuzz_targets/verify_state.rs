//! A saved verify state, as a job loads it and as `ferrio verify-state` shows it.

#![cfg_attr(feature = "fuzzer", no_main)]

mod target;

use ferrio_verify::{StateFile, VerifyState};

target::target!(|data: &[u8]| {
    read(data);
    // Nearly every input has a wrong length and a wrong checksum, so what follows them is tried with the right ones, too.
    if let Some((version, rest)) = data.split_first() {
        let checksum = crc32c::crc32c(rest) ^ !0;
        for crc in [checksum, !checksum] {
            let mut file = Vec::with_capacity(24 + rest.len());
            for word in [u64::from(*version), rest.len() as u64, u64::from(crc)] {
                file.extend_from_slice(&word.to_le_bytes());
            }
            file.extend_from_slice(rest);
            read(&file);
        }
    }
});

fn read(bytes: &[u8]) {
    match VerifyState::decode(bytes) {
        Ok(state) => {
            let coverage = state.coverage(32);
            for number in [0, 1, state.number.wrapping_sub(1), state.number, u64::MAX] {
                let _ = coverage.of(number);
            }
            // A name ends with a NUL byte in files that are written, not in all that can be read.
            let mut again = state.clone();
            again.job.truncate(63);
            assert_eq!(VerifyState::decode(&state.encode()), Ok(again));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Err(damage) = StateFile::read(bytes).content {
        assert!(!damage.to_string().is_empty());
    }
}
