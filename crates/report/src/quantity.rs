//! Figures with a unit, as tables and messages show them: four digits and the prefix of the unit.

use serde::Serialize;

/// In which unit a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A number per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Milliseconds.
    Milliseconds,
    /// Bytes.
    Bytes,
    /// A number.
    Count,
    /// Percent.
    Percent,
}

/// A number with four digits and the prefix of its unit; a count with all its digits.
#[must_use]
pub fn quantity(value: f64, unit: Unit) -> String {
    let (value, steps, scale): (f64, &[&str], f64) = match unit {
        Unit::PerSecond => (value, &["", "k", "M", "G"], 1000.0),
        Unit::BytesPerSecond => (value, &["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"], 1024.0),
        Unit::Bytes => (value, &["B", "KiB", "MiB", "GiB", "TiB"], 1024.0),
        Unit::Nanoseconds => (value, &["ns", "us", "ms", "s"], 1000.0),
        Unit::Milliseconds => (value * 1e6, &["ns", "us", "ms", "s"], 1000.0),
        Unit::Count => return format!("{value:.0}"),
        Unit::Percent => return format!("{value:.1} %"),
    };
    let (mut value, mut step) = (value, 0);
    while value >= scale && step + 1 < steps.len() {
        value /= scale;
        step += 1;
    }
    let digits = if value >= 1000.0 {
        0
    } else if value >= 100.0 {
        1
    } else if value >= 10.0 {
        2
    } else {
        3
    };
    let digits = if step == 0 && value.fract() == 0.0 { 0 } else { digits };
    let space = if unit == Unit::PerSecond { "" } else { " " };
    format!("{value:.digits$}{space}{}", steps[step])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_has_four_digits_and_a_prefix() {
        let shown = [
            quantity(999.0, Unit::PerSecond),
            quantity(12_345.0, Unit::PerSecond),
            quantity(1024.0 * 1024.0, Unit::BytesPerSecond),
            quantity(4096.0, Unit::Bytes),
            quantity(7_213_000.0, Unit::Nanoseconds),
            quantity(1500.0, Unit::Milliseconds),
            quantity(12_345_678.0, Unit::Count),
            quantity(12.34, Unit::Percent),
        ];
        let want = ["999", "12.35k", "1.000 MiB/s", "4.000 KiB", "7.213 ms", "1.500 s", "12345678", "12.3 %"];
        assert_eq!(shown, want);
    }
}
