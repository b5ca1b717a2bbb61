//! Numbers as fio scales them: a limited number of significant digits, a prefix, a unit (`9.77KiB`, `1205.6KiB`, `20.7k`).

use std::time::Duration;

/// The system of prefixes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefixes {
    /// Steps of 1024: Ki, Mi, Gi...
    Binary,
    /// Steps of 1000: k, M, G...
    Decimal,
}

impl Prefixes {
    /// The system of a `kb_base`: decimal for 1000, binary otherwise.
    #[must_use]
    pub const fn of_kb_base(kb_base: u32) -> Self {
        if kb_base == 1000 { Prefixes::Decimal } else { Prefixes::Binary }
    }

    /// The other system, for the figure in parentheses.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Prefixes::Binary => Prefixes::Decimal,
            Prefixes::Decimal => Prefixes::Binary,
        }
    }

    /// The factor between a prefix and the next.
    pub(crate) const fn step(self) -> u64 {
        match self {
            Prefixes::Binary => 1024,
            Prefixes::Decimal => 1000,
        }
    }

    fn name(self, index: usize) -> &'static str {
        const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
        const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
        let names = match self {
            Prefixes::Binary => BINARY,
            Prefixes::Decimal => DECIMAL,
        };
        names.get(index).copied().unwrap_or("")
    }
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberUnit {
    /// No unit after the prefix.
    None,
    /// `B`
    Bytes,
    /// `B/s`
    BytesPerSecond,
    /// `bit/s`; the value is bytes per second and is multiplied by 8.
    BitsPerSecond,
}

impl NumberUnit {
    const fn name(self) -> &'static str {
        match self {
            NumberUnit::None => "",
            NumberUnit::Bytes => "B",
            NumberUnit::BytesPerSecond => "B/s",
            NumberUnit::BitsPerSecond => "bit/s",
        }
    }
}

/// Formats `value` with about `figures` significant digits at most.
///
/// As in fio, whose text scripts parse, three integer digits never have a decimal at four figures, and rounding may add a digit.
#[must_use]
pub fn num(value: u64, figures: u8, prefixes: Prefixes, unit: NumberUnit) -> String {
    scaled(value, figures, prefixes, 0, unit)
}

/// Like [`num`], for a value in KiB (or kB).
#[must_use]
pub fn num_of_kilo(value: u64, figures: u8, prefixes: Prefixes, unit: NumberUnit) -> String {
    scaled(value, figures, prefixes, 1, unit)
}

fn scaled(value: u64, figures: u8, prefixes: Prefixes, first_prefix: usize, unit: NumberUnit) -> String {
    let step = prefixes.step();
    // A report that was read may lack the number of figures; it is at least 1.
    let figures = usize::from(figures).max(1);
    let mut value = if unit == NumberUnit::BitsPerSecond { value.wrapping_mul(8) } else { value };
    let mut prefix = first_prefix;
    let mut remainder = None;
    while digits(value) > figures {
        remainder = Some(value % step);
        value /= step;
        prefix += 1;
    }
    let suffix = [prefixes.name(prefix), unit.name()].concat();
    let Some(remainder) = remainder else {
        return format!("{value}{suffix}");
    };
    let room = figures.saturating_sub(digits(value));
    if room <= 1 {
        if remainder >= step / 2 {
            value += 1;
        }
        return format!("{value}{suffix}");
    }
    let fraction = format!("{:.*}", room - 1, remainder as f64 / step as f64);
    if fraction.starts_with('1') {
        value += 1;
    }
    let decimals = fraction.split_once('.').map_or("", |(_, decimals)| decimals);
    format!("{value}.{decimals}{suffix}")
}

/// Number of decimal digits; 1 for 0.
#[must_use]
pub fn digits(value: u64) -> usize {
    value.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// `part` of `whole` as an integer rate: floor(`part` * 1000 / `ms`), 0 when no time has passed.
#[must_use]
pub fn per_second(part: u64, ms: u64) -> u64 {
    u128::from(part)
        .checked_mul(1000)
        .and_then(|scaled| scaled.checked_div(u128::from(ms)))
        .map_or(0, |rate| u64::try_from(rate).unwrap_or(u64::MAX))
}

/// Rounds a time down to milliseconds.
#[must_use]
pub fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The value, or 0 if it is NaN or infinite.
#[must_use]
pub fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// `part` in percent of `whole`; 0 if `whole` is 0.
#[must_use]
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(value: u64, figures: u8) -> String {
        num(value, figures, Prefixes::Binary, NumberUnit::Bytes)
    }

    fn decimal(value: u64, figures: u8) -> String {
        num(value, figures, Prefixes::Decimal, NumberUnit::Bytes)
    }

    #[test]
    fn a_number_has_a_figure_at_least() {
        for value in [0, 9, 10, 9999, u64::MAX] {
            assert_eq!((binary(value, 0), decimal(value, 0)), (binary(value, 1), decimal(value, 1)));
        }
    }

    #[test]
    fn four_figures_in_both_systems() {
        for (value, in_binary, in_decimal) in [
            (4096, "4096B", "4096B"),
            (9999, "9999B", "9999B"),
            (10_000, "9.77KiB", "10.0kB"),
            (10_239, "10.00KiB", "10.2kB"),
            (16_384, "16.0KiB", "16.4kB"),
            (65_536, "64.0KiB", "65.5kB"),
            (102_400, "100KiB", "102kB"),
            (99_999, "97.7KiB", "100.0kB"),
            (999_950, "977KiB", "1000kB"),
            (1_048_576, "1024KiB", "1049kB"),
            (1_536_000, "1500KiB", "1536kB"),
        ] {
            assert_eq!((binary(value, 4), decimal(value, 4)), (in_binary.into(), in_decimal.into()));
        }
    }

    #[test]
    fn other_numbers_of_figures() {
        assert_eq!((binary(1_234_567, 6), decimal(1_234_567, 6)), ("1205.6KiB".into(), "1234.6kB".into()));
        let in_binary = [1, 2, 3, 4, 5].map(|figures| binary(10_239, figures));
        assert_eq!(in_binary, ["10KiB", "10KiB", "10.0KiB", "10.00KiB", "10239B"]);
        assert_eq!([1, 3, 5].map(|figures| decimal(10_239, figures)), ["0MB", "10kB", "10239B"]);
        assert_eq!(binary(10_240, 1), "0MiB");
    }

    #[test]
    fn latencies_have_six_figures_and_no_unit() {
        let latency = |value| num(value, 6, Prefixes::Decimal, NumberUnit::None);
        assert_eq!(latency(5_681_812), "5681.8k");
        assert_eq!(latency(12_345_678), "12346k");
        assert_eq!(latency(999_999), "999999");
    }

    #[test]
    fn bits_are_eight_times_the_bytes() {
        let bits = |prefixes| num(20_981_760, 6, prefixes, NumberUnit::BitsPerSecond);
        assert_eq!(
            (bits(Prefixes::Binary), bits(Prefixes::Decimal)),
            ("163920Kibit/s".into(), "167854kbit/s".into())
        );
    }

    #[test]
    fn a_value_in_kilobytes_starts_one_prefix_up() {
        assert_eq!(num_of_kilo(5044, 4, Prefixes::Binary, NumberUnit::BytesPerSecond), "5044KiB/s");
        assert_eq!(num_of_kilo(10_240, 4, Prefixes::Binary, NumberUnit::BytesPerSecond), "10.0MiB/s");
    }

    #[test]
    fn the_largest_number_has_a_prefix() {
        assert_eq!(binary(u64::MAX, 4), "16.0EiB");
        assert_eq!(decimal(u64::MAX, 4), "18.4EB");
    }

    #[test]
    fn rates_and_shares_of_nothing_are_zero() {
        assert_eq!((per_second(5, 0), per_second(3000, 1001)), (0, 2997));
        assert_eq!((percent(5, 0), percent(1, 4)), (0.0, 25.0));
    }
}
