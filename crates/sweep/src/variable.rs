//! A swept option: `iodepth=1,4,16`, `iodepth=8..128`, `rwmixread=0..100:25`.

use ferrio_jobfile::{Opt, size_factor};

/// Most points of a sweep.
pub const MAX_POINTS: usize = 1000;

/// A swept option and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepVariable {
    /// `OPTION` or `JOB:OPTION`, as written.
    pub name: String,
    /// At least one, without duplicates.
    pub values: Vec<String>,
}

/// A reason why a text is not a swept option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// There is no `=`, or nothing before it.
    #[error("write OPTION=VALUE,VALUE or OPTION=FIRST..LAST")]
    Form,
    /// A value is missing between commas.
    #[error("a value is expected before and after each comma")]
    EmptyValue,
    /// A value appears twice.
    #[error("the value `{0}` is there twice")]
    Twice(String),
    /// The ends of a range are not numbers with the same unit.
    #[error(
        "`{0}` is no range: both ends are whole numbers with the same unit, such as 8..128 or 4k..64k; list other values by comma"
    )]
    NoRange(String),
    /// The last value is below the first.
    #[error("the range `{0}` ends below its start")]
    Descending(String),
    /// A range that doubles starts at 0.
    #[error("the range `{0}` doubles from 0: begin with 1, or give a step: 0..100:25")]
    FromZero(String),
    /// Doubling or steps miss the last value.
    #[error("the range `{range}` misses its last value: it has {before} and then {after}")]
    Misses {
        /// The range.
        range: String,
        /// The last value within the range.
        before: String,
        /// The next value.
        after: String,
    },
    /// The step of a range is not a number, or is 0.
    #[error("the step of `{0}` is a whole number above 0")]
    Step(String),
    /// More values than a sweep may have points.
    #[error("more than {MAX_POINTS} values")]
    TooMany,
}

impl SweepVariable {
    /// Reads `OPTION=VALUE,VALUE`. A value may be a range: `8..128` doubles, `10..50:10` has steps. If there is a semicolon among the
    /// values, values are separated by semicolons instead of commas.
    ///
    /// The text has another form.
    pub fn parse(text: &str) -> Result<Self, VariableError> {
        let (name, list) = text.split_once('=').ok_or(VariableError::Form)?;
        if name.trim().is_empty() || name.ends_with(':') {
            return Err(VariableError::Form);
        }
        let separator = if list.contains(';') { ';' } else { ',' };
        let mut values: Vec<String> = Vec::new();
        for value in list.split(separator).map(str::trim) {
            if value.is_empty() {
                return Err(VariableError::EmptyValue);
            }
            for value in expanded(value)? {
                if values.contains(&value) {
                    return Err(VariableError::Twice(value));
                }
                values.push(value);
            }
            if values.len() > MAX_POINTS {
                return Err(VariableError::TooMany);
            }
        }
        Ok(SweepVariable { name: name.trim().to_owned(), values })
    }

    /// The option without the job.
    #[must_use]
    pub fn option(&self) -> &str {
        self.name.rsplit_once(':').map_or(&self.name, |(_, option)| option)
    }

    /// Whether a larger value means more load, all else being equal.
    #[must_use]
    pub fn is_load(&self) -> bool {
        const LOADS: [Opt; 5] = [Opt::Iodepth, Opt::Numjobs, Opt::Rate, Opt::RateIops, Opt::TransactionRate];
        Opt::named(self.option()).any(|opt| LOADS.contains(&opt))
    }

    /// Whether the values are ascending numbers.
    #[must_use]
    pub fn ascends(&self) -> bool {
        let numbers: Option<Vec<u128>> = self.values.iter().map(|value| magnitude(value)).collect();
        numbers.is_some_and(|numbers| numbers.is_sorted())
    }
}

/// The size of a number such as `4` or `64k`.
fn magnitude(value: &str) -> Option<u128> {
    let (number, unit) = number(value)?;
    let factor = if unit.is_empty() { 1 } else { size_factor(&unit.to_ascii_lowercase(), 1024)? };
    Some(u128::from(number) * u128::from(factor))
}

/// A whole number and the text after it.
fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// The values of a range, or the single value.
fn expanded(text: &str) -> Result<Vec<String>, VariableError> {
    let Some((first, rest)) = text.split_once("..").filter(|(first, _)| number(first).is_some()) else {
        return Ok(vec![text.to_owned()]);
    };
    let no_range = || VariableError::NoRange(text.to_owned());
    let (last, step) = rest.split_once(':').map_or((rest, None), |(last, step)| (last, Some(step)));
    let ((low, low_unit), (high, high_unit)) =
        (number(first).ok_or_else(no_range)?, number(last).ok_or_else(no_range)?);
    // In the unit of the first value; a last value in a larger unit is converted.
    let (unit, high) = match (low_unit, high_unit) {
        (low, other) if low.eq_ignore_ascii_case(other) => (low, high),
        (low, other) => {
            let factor = |unit: &str| match unit {
                "" => Some(1),
                unit => size_factor(&unit.to_ascii_lowercase(), 1024).filter(|_| unit.len() == 1),
            };
            let (low_factor, high_factor) =
                (factor(low).ok_or_else(no_range)?, factor(other).ok_or_else(no_range)?);
            if high_factor < low_factor {
                return Err(no_range());
            }
            (low, high.checked_mul(high_factor / low_factor).ok_or_else(no_range)?)
        }
    };
    let step = match step {
        None => None,
        Some(step) => match number(step) {
            Some((step, own)) if step > 0 && (own.is_empty() || own.eq_ignore_ascii_case(unit)) => Some(step),
            _ => return Err(VariableError::Step(text.to_owned())),
        },
    };
    if high < low {
        return Err(VariableError::Descending(text.to_owned()));
    }
    if low == 0 && step.is_none() && high > 0 {
        return Err(VariableError::FromZero(text.to_owned()));
    }
    let mut values = vec![low];
    let mut value = low;
    while value < high {
        let next = match step {
            Some(step) => value.checked_add(step),
            None => value.checked_mul(2),
        };
        let next = next.ok_or_else(no_range)?;
        if next > high {
            let [before, after] = [value, next].map(|value| format_number(value, unit));
            return Err(VariableError::Misses { range: text.to_owned(), before, after });
        }
        values.push(next);
        value = next;
        if values.len() > MAX_POINTS {
            return Err(VariableError::TooMany);
        }
    }
    Ok(values.into_iter().map(|value| format_number(value, unit)).collect())
}

/// A number with its unit; whole thousands of a size unit are written in the next one: `1024k` is `1m`.
fn format_number(mut value: u64, unit: &str) -> String {
    const UNITS: [&str; 6] = ["", "k", "m", "g", "t", "p"];
    // A number without a unit stays as it is: 1024 requests are not 1k.
    let Some(mut at) = UNITS.iter().position(|other| unit.eq_ignore_ascii_case(other)).filter(|&at| at > 0)
    else {
        return format!("{value}{unit}");
    };
    let first = at;
    while value > 0 && value.is_multiple_of(1024) && at + 1 < UNITS.len() {
        value /= 1024;
        at += 1;
    }
    format!("{value}{}", if at == first { unit } else { UNITS[at] })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(list: &str) -> String {
        SweepVariable::parse(&format!("x={list}"))
            .unwrap_or_else(|error| panic!("{list}: {error}"))
            .values
            .join(" ")
    }

    #[test]
    fn ranges_double_or_have_steps() {
        assert_eq!(values("8..128"), "8 16 32 64 128");
        assert_eq!(values("10..50:10"), "10 20 30 40 50");
        assert_eq!(values("0..100:50,7"), "0 50 100 7");
        assert_eq!(values("4k..64k"), "4k 8k 16k 32k 64k");
    }

    #[test]
    fn units_grow_and_values_are_kept_as_written() {
        assert_eq!(values("256k..2m"), "256k 512k 1m 2m");
        assert_eq!(values("512..2k"), "512 1024 2048");
        assert_eq!(values("1s..4s"), "1s 2s 4s");
        assert_eq!(values("psync, ../a ,libaio"), "psync ../a libaio");
        assert_eq!(values("4k,8k;16k"), "4k,8k 16k");
        assert_eq!(values("5..5"), "5");
    }

    #[test]
    fn what_is_no_list_is_refused_with_the_reason() {
        for (text, reason) in [
            ("iodepth", "write OPTION=VALUE,VALUE or OPTION=FIRST..LAST"),
            ("=1", "write OPTION=VALUE,VALUE or OPTION=FIRST..LAST"),
            ("a:=1", "write OPTION=VALUE,VALUE or OPTION=FIRST..LAST"),
            ("x=", "a value is expected before and after each comma"),
            ("x=1,,2", "a value is expected before and after each comma"),
            ("x=1,2,1", "the value `1` is there twice"),
            ("x=8..100", "the range `8..100` misses its last value: it has 64 and then 128"),
            ("x=0..25:10", "the range `0..25:10` misses its last value: it has 20 and then 30"),
            ("x=8..4", "the range `8..4` ends below its start"),
            ("x=0..8", "the range `0..8` doubles from 0: begin with 1, or give a step: 0..100:25"),
            ("x=1..8:0", "the step of `1..8:0` is a whole number above 0"),
            ("x=1..9999999:1", "more than 1000 values"),
        ] {
            assert_eq!(SweepVariable::parse(text).unwrap_err().to_string(), reason, "{text}");
        }
        for text in ["x=1..", "x=1..x", "x=1s..4ms", "x=1k..4s", "x=4m..8k"] {
            assert!(matches!(SweepVariable::parse(text), Err(VariableError::NoRange(_))), "{text}");
        }
    }

    #[test]
    fn some_options_are_load() {
        let is_load = |text: &str| SweepVariable::parse(text).unwrap().is_load();
        assert!(is_load("iodepth=1") && is_load("a:b:rate_iops=1") && !is_load("bs=4k") && !is_load("no=1"));
        let ascends = |text: &str| SweepVariable::parse(text).unwrap().ascends();
        assert!(ascends("x=1,4,1k") && !ascends("x=4,1") && !ascends("x=a,b"));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[a-z:]{0,3}=?[0-9kms.,:;é]{0,30}") {
            let _ = SweepVariable::parse(&text);
        }

        #[test]
        fn doubling_reaches_its_end(low in 1u64..100, times in 0u32..10) {
            let high = low << times;
            let text = format!("x={low}..{high}");
            let values = SweepVariable::parse(&text).unwrap().values;
            prop_assert_eq!(values.len(), times as usize + 1);
            prop_assert_eq!(values.last().unwrap(), &high.to_string());
        }
    }
}
