//! Parses numbers in the fields of a line.

/// A whole number.
pub fn whole<T: std::str::FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// A decimal number of units of `unit_ns` nanoseconds in nanoseconds: 1.5 with a unit of a second is 1500000000. Digits below a nanosecond
/// are dropped.
pub fn duration_ns(field: &[u8], unit_ns: u64) -> Option<u64> {
    let point = field.iter().position(|&byte| byte == b'.');
    let (whole_part, fraction) = match point {
        Some(at) => (&field[..at], &field[at + 1..]),
        None => (field, &b""[..]),
    };
    if whole_part.is_empty() || !field.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
        return None;
    }
    let mut ns = whole::<u64>(whole_part)?.checked_mul(unit_ns)?;
    let mut unit = unit_ns;
    for digit in fraction {
        if !digit.is_ascii_digit() {
            return None;
        }
        unit /= 10;
        ns = ns.checked_add(u64::from(digit - b'0') * unit)?;
    }
    Some(ns)
}

/// The words of a line, which are separated by blanks.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(duration_ns(b"1455592201.123456", 1_000_000_000), Some(1_455_592_201_123_456_000));
        assert_eq!(duration_ns(b"0.74", 1_000_000), Some(740_000));
        assert_eq!(duration_ns(b"128166372003061629", 100), Some(12_816_637_200_306_162_900));
        assert_eq!(duration_ns(b"1.0000000009", 1_000_000_000), Some(1_000_000_000));
        assert_eq!(duration_ns(b"5.", 1000), Some(5000));
    }

    #[test]
    fn other_texts_are_no_decimals() {
        for text in ["", ".", ".5", "-1", "1e3", "1.2.3", "0x1", " 1", "1.a", "99999999999999999999"] {
            assert_eq!(duration_ns(text.as_bytes(), 1_000_000_000), None, "{text}");
        }
        assert_eq!(duration_ns(b"18446744073709551615", 100), None);
    }

    proptest! {
        #[test]
        fn nanoseconds_come_back(ns in 0..u64::MAX / 2) {
            let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            prop_assert_eq!(duration_ns(text.as_bytes(), 1_000_000_000), Some(ns));
        }
    }
}
