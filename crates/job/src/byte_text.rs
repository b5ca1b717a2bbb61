//! Bytes as text for people.

const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Rounded: `4KiB`, `1.5GiB`, `66GiB`; below 1024 `512B`.
#[must_use]
pub fn short_bytes(bytes: u64) -> String {
    let mut scaled = bytes as f64;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    // Below 100 with at most one decimal, others without.
    let rounded = if scaled < 100.0 { (scaled * 10.0).round() / 10.0 } else { scaled.round() };
    let unit = UNITS[unit];
    if rounded.fract() == 0.0 { format!("{rounded:.0}{unit}") } else { format!("{rounded:.1}{unit}") }
}

/// Not rounded, in the largest unit that divides it: `4KiB`, `3200KiB`, `1000 bytes`.
#[must_use]
pub fn exact_bytes(bytes: u64) -> String {
    let unit = (bytes.trailing_zeros() / 10) as usize;
    match (bytes, unit) {
        (0, _) | (_, 0) => crate::counted(bytes, "byte"),
        _ => format!("{}{}", bytes >> (10 * unit), UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_short() {
        let shown = [0, 512, 4096, 1536, 1 << 30, 3_u64 << 29, 71_000_000_000, u64::MAX].map(short_bytes);
        assert_eq!(shown, ["0B", "512B", "4KiB", "1.5KiB", "1GiB", "1.5GiB", "66.1GiB", "16EiB"]);
    }

    #[test]
    fn exact_bytes_lose_nothing() {
        let shown = [0, 1, 1000, 4096, 3_276_800, 260 << 30, (1 << 30) + 1].map(exact_bytes);
        assert_eq!(
            shown,
            ["0 bytes", "1 byte", "1000 bytes", "4KiB", "3200KiB", "260GiB", "1073741825 bytes"]
        );
    }
}
