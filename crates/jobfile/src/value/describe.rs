//! Describes parsed values in a few words.

use ferrio_job::counted;

use super::model::{Amount, SplitEntry, Value};
use crate::catalogue::{OptionRow, ValueKind, ValueUnit};

/// The meaning of a value of `row`, for example `10 us` or `4096 bytes`.
pub(crate) fn describe(row: &OptionRow, value: &Value) -> String {
    let amount = |number: u64| match (row.kind, row.unit) {
        (ValueKind::Time | ValueKind::TimeRange, _) => time(number),
        (_, ValueUnit::Bytes) => counted(number, "byte"),
        (_, ValueUnit::BytesPerSecond) => format!("{}/s", counted(number, "byte")),
        _ => number.to_string(),
    };
    let span = |low: u64, high: u64| match low == high {
        true => amount(low),
        false => format!("{} to {}", amount(low), amount(high)),
    };
    match value {
        Value::Nothing => "nothing".to_owned(),
        Value::Numbers(numbers) if numbers.is_empty() => "no CPU at all".to_owned(),
        Value::Switch(on) => if *on { "on" } else { "off" }.to_owned(),
        // Other numbers are unsigned.
        Value::Int(number) if *number < 0 && row.min.is_some_and(|min| min < 0) => number.to_string(),
        Value::Int(number) => amount(*number as u64),
        Value::Size(number) | Value::Time(number) => amount(*number),
        Value::Amount(Amount::Bytes(bytes)) => amount(*bytes),
        Value::Amount(Amount::Percent(percent)) => format!("{percent}%"),
        Value::Amount(Amount::Zones(zones)) => counted(*zones, "zone"),
        Value::Range(low, high) => span(*low, *high),
        Value::Directions(values) => directions(values, |&number| amount(number)),
        Value::Ranges(ranges) => directions(ranges, |&(low, high)| span(low, high)),
        Value::Splits(lists) => directions(lists, |splits| joined(splits, split)),
        Value::Floats(numbers, _) if numbers.is_empty() => "an empty list".to_owned(),
        Value::Floats(numbers, _) => joined(numbers, f64::to_string),
        Value::Word(word, argument) => format!("{word}{argument}"),
        Value::Engine(name, None) => name.clone(),
        Value::Engine(name, Some(path)) => format!("{name}:{path}"),
        Value::Words(words, None) => words.join(","),
        Value::Words(words, Some(argument)) => format!("{}:{argument}", words.join(",")),
        Value::Text(text) => format!("the text `{text}`"),
        Value::List(names) if names.is_empty() => "an empty list".to_owned(),
        Value::List(names) => joined(names, |name| format!("`{name}`")),
        Value::Numbers(numbers) => joined(numbers, u32::to_string),
        Value::Pattern(pattern) => counted(pattern.bytes.len() as u64, "byte"),
        Value::Nodes(nodes) => nodes.to_string(),
        Value::Priorities(_) => "priorities by block size".to_owned(),
        Value::Errors(lists) => joined(lists, |errors| joined(errors, i32::to_string)),
    }
}

/// The value of all directions, or that of each.
fn directions<T: PartialEq>(values: &[Option<T>; 3], show: impl Fn(&T) -> String) -> String {
    let [read, write, trim] =
        values.each_ref().map(|value| value.as_ref().map_or("nothing".to_owned(), &show));
    if read == write && write == trim {
        read
    } else {
        format!("{read} for reads, {write} for writes, {trim} for trims")
    }
}

fn split(split: &SplitEntry) -> String {
    match split.percent {
        Some(percent) => format!("{percent}% {}", counted(split.bytes, "byte")),
        None => counted(split.bytes, "byte"),
    }
}

fn joined<T>(list: &[T], show: impl Fn(&T) -> String) -> String {
    list.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// Microseconds in the largest unit that divides them.
fn time(us: u64) -> String {
    match us {
        0 => "0 s".to_owned(),
        _ if us.is_multiple_of(1_000_000) => format!("{} s", us / 1_000_000),
        _ if us.is_multiple_of(1_000) => format!("{} ms", us / 1_000),
        _ => format!("{us} us"),
    }
}
