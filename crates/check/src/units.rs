//! Bytes, times and lists as short texts.

pub(crate) use ferrio_job::short_bytes as bytes;

/// A block size in the form of job files: `4k`, `1m`, `1536`.
pub(crate) fn block(bytes: u64) -> String {
    let units = [(1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    let exact = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    exact.map_or_else(|| bytes.to_string(), |(unit, letter)| format!("{}{letter}", bytes / unit))
}

/// `250ms`, `1.5s`, `2m30s`, `3h20m`, `2d4h`.
pub(crate) fn time(seconds: f64) -> String {
    let ms = (seconds * 1000.0).round() as u64;
    let (s, m, h) = (ms / 1000, ms / 60_000, ms / 3_600_000);
    let two = |large: u64, letter: &str, small: u64, below: &str| match small {
        0 => format!("{large}{letter}"),
        small => format!("{large}{letter}{small}{below}"),
    };
    match (h, m, s) {
        (24.., ..) => two(h / 24, "d", h % 24, "h"),
        (1.., ..) => two(h, "h", m % 60, "m"),
        (_, 1.., _) => two(m, "m", s % 60, "s"),
        (_, _, 1..) => trimmed(ms as f64 / 1000.0, "s"),
        _ if ms == 0 && seconds > 0.0 => "<1ms".to_owned(),
        _ => format!("{ms}ms"),
    }
}

/// A list such as `swap in use, partition sda1`.
pub(crate) fn listed(things: &[impl ToString]) -> String {
    things.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// At most the first `most` elements: `a, b and 3 more`.
pub(crate) fn listed_in_part(things: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = and_more(things.len().saturating_sub(most));
    listed(&things.take(most).collect::<Vec<_>>()) + &more
}

/// ` and 3 more`, or nothing.
pub(crate) fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" and {more} more") }
}

/// A value with at most one decimal below 100, and without decimals otherwise.
fn trimmed(value: f64, unit: &str) -> String {
    let rounded = if value < 100.0 { (value * 10.0).round() / 10.0 } else { value.round() };
    if rounded.fract() == 0.0 { format!("{rounded:.0}{unit}") } else { format!("{rounded:.1}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_short() {
        let shown = [0, 512, 4096, 1536, 1 << 30, 3_u64 << 29, 71_000_000_000, u64::MAX].map(bytes);
        assert_eq!(shown, ["0B", "512B", "4KiB", "1.5KiB", "1GiB", "1.5GiB", "66.1GiB", "16EiB"]);
        assert_eq!([512, 4096, 1536, 1 << 20].map(block), ["512", "4k", "1536", "1m"]);
    }

    #[test]
    fn times_have_at_most_two_units() {
        let shown = [0.0, 0.00001, 0.4, 1.5, 60.0, 150.0, 3600.0, 12_000.0, 187_200.0].map(time);
        assert_eq!(shown, ["0ms", "<1ms", "400ms", "1.5s", "1m", "2m30s", "1h", "3h20m", "2d4h"]);
    }
}
