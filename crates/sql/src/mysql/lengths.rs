//! Integers whose first byte may be their length.

/// An integer whose first byte may be its length, and what follows it.
pub(super) fn length_encoded(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let size = match first {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        0xfb | 0xff => return None,
        small => return Some((u64::from(*small), rest)),
    };
    let (bytes, rest) = rest.split_at_checked(size)?;
    Some((bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)), rest))
}

/// Appends such an integer.
pub(super) fn write_length(length: usize, payload: &mut Vec<u8>) {
    let bytes = length.to_le_bytes();
    match length {
        0..0xfb => payload.push(bytes[0]),
        0xfb..0x1_0000 => {
            payload.push(0xfc);
            payload.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..0x100_0000 => {
            payload.push(0xfd);
            payload.extend_from_slice(&bytes[..3]);
        }
        _ => {
            payload.push(0xfe);
            payload.extend_from_slice(&(length as u64).to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_all_sizes_are_read() {
        assert_eq!(length_encoded(b"\xfa!"), Some((250, &b"!"[..])));
        assert_eq!(length_encoded(b"\xfc\x01\x02!"), Some((513, &b"!"[..])));
        assert_eq!(length_encoded(b"\xfd\x01\x02\x03"), Some((197_121, &b""[..])));
        assert_eq!(length_encoded(b"\xfe\x01\0\0\0\0\0\0\0"), Some((1, &b""[..])));
        assert_eq!(length_encoded(b"\xfc\x01"), None);
        assert_eq!(length_encoded(b"\xfb"), None);
    }

    #[test]
    fn lengths_of_texts_are_written_as_they_are_read() {
        for length in [0, 250, 251, 65_535, 65_536, 1 << 24] {
            let mut payload = Vec::new();
            write_length(length, &mut payload);
            assert_eq!(length_encoded(&payload), Some((length as u64, &b""[..])));
        }
    }
}
