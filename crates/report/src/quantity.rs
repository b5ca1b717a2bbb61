//! Figures for comparison by people: four digits and a suitable unit (`13.56k`, `142.6 MiB/s`, `36.51 us`).

use serde::Serialize;

/// The base unit of a figure.
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

impl Unit {
    /// The units of a figure, in ascending order, and the factor between one and the next.
    #[must_use]
    pub const fn steps(self) -> (&'static [&'static str], f64) {
        match self {
            Unit::PerSecond => (&["", "k", "M", "G"], 1000.0),
            Unit::BytesPerSecond => (&["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"], 1024.0),
            Unit::Nanoseconds => (&["ns", "us", "ms", "s"], 1000.0),
            Unit::Milliseconds => (&["ms", "s"], 1000.0),
            Unit::Bytes => (&["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024.0),
            Unit::Count => (&[""], 1.0),
            Unit::Percent => (&["%"], 1.0),
        }
    }

    /// The separator between a figure and its unit.
    #[must_use]
    pub const fn space(self) -> &'static str {
        if matches!(self, Unit::PerSecond | Unit::Count) { "" } else { " " }
    }

    /// Formats a figure with four digits and the largest suitable unit; a count has all its digits.
    #[must_use]
    pub fn text(self, figure: f64) -> String {
        let (steps, scale) = self.steps();
        let (mut value, mut step) = (figure, 0);
        while value >= scale && step + 1 < steps.len() {
            value /= scale;
            step += 1;
        }
        let digits = match value {
            _ if step == 0 && value.fract() == 0.0 => 0,
            1000.0.. => 0,
            100.0.. => 1,
            10.0.. => 2,
            _ => 3,
        };
        format!("{value:.digits$}{}{}", self.space(), steps[step])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits_and_whole_small_ones_no_point() {
        let latencies =
            [0.0, 7.0, 7.25, 999.0, 36_512.0, 4_077_000.0, 12e9, 5e12].map(|ns| Unit::Nanoseconds.text(ns));
        assert_eq!(
            latencies,
            ["0 ns", "7 ns", "7.250 ns", "999 ns", "36.51 us", "4.077 ms", "12.00 s", "5000 s"]
        );
        assert_eq!([Unit::PerSecond.text(999.4), Unit::PerSecond.text(13_560.0)], ["999.4", "13.56k"]);
        assert_eq!([Unit::Count.text(12_345_678.0), Unit::Percent.text(12.34)], ["12345678", "12.34 %"]);
        assert_eq!([Unit::Bytes.text(4096.0), Unit::Milliseconds.text(1500.0)], ["4.000 KiB", "1.500 s"]);
        assert_eq!(Unit::BytesPerSecond.text(142.6 * 1048576.0), "142.6 MiB/s");
    }
}
