//! Reports in fio's form how options were parsed (`--debug=parse` of a program that is called `fio`): scripts read these lines.

use ferrio_job::debug_class::FIO_PARSE;
use log::{Level, debug, log_enabled};

use crate::catalogue::{Multi, Opt, OptionRow, ValueKind};
use crate::value::{Amount, Argument, SteadyLimit, Value};

/// Reports an option, the text of its value and the parsed value.
pub(crate) fn option(row: &OptionRow, text: Option<&str>, value: &Value) {
    if !log_enabled!(target: FIO_PARSE, Level::Debug) {
        return;
    }
    debug!(target: FIO_PARSE, "handle_option={}, ptr={}", row.name, text.unwrap_or("(null)"));
    let kind = kind(row);
    let read = read(value);
    // A list is read piece by piece, each with all that follows it.
    let mut rest = text;
    for at in 0..read.len().max(1) {
        debug!(target: FIO_PARSE, "__handle_option={}, type={kind}, ptr={}", row.name, rest.unwrap_or("(null)"));
        match read.get(at) {
            Some(FioNumber::Whole(number)) => debug!(target: FIO_PARSE, "  ret=0, out={number}"),
            Some(FioNumber::Float(number)) => debug!(target: FIO_PARSE, "  out={number:.6}"),
            None => {}
        }
        rest = rest.and_then(|rest| Some(rest.split_once([',', ':', '-'])?.1)).or(rest);
    }
    if row.opt == Opt::Steadystate
        && let Value::Word(criterion, argument) = value
    {
        steady_state(criterion, argument);
    }
}

/// A number as fio stores it.
enum FioNumber {
    Whole(u64),
    Float(f64),
}

/// The parsed numbers; none for other values.
fn read(value: &Value) -> Vec<FioNumber> {
    let whole = |numbers: &[u64]| numbers.iter().copied().map(FioNumber::Whole).collect();
    match value {
        Value::Switch(on) => whole(&[u64::from(*on)]),
        Value::Int(number) => whole(&[number.cast_unsigned()]),
        Value::Size(number) | Value::Time(number) => whole(&[*number]),
        Value::Amount(Amount::Bytes(bytes)) => whole(&[*bytes]),
        // A percentage is a number below 2^64.
        Value::Amount(Amount::Percent(percent)) => whole(&[u64::MAX - u64::from(*percent)]),
        Value::Range(low, high) if low == high => whole(&[*low]),
        Value::Range(low, high) => whole(&[*low, *high]),
        // The last of fewer values counts for all directions that follow.
        Value::Directions(numbers) => {
            let mut given: Vec<u64> = numbers.iter().flatten().copied().collect();
            while given.len() > 1 && given.last() == given.get(given.len() - 2) {
                given.pop();
            }
            whole(&given)
        }
        Value::Floats(numbers, _) => numbers.iter().copied().map(FioNumber::Float).collect(),
        _ => Vec::new(),
    }
}

/// fio's name for the grammar of a value.
fn kind(row: &OptionRow) -> &'static str {
    let has_32_bits = row.max.is_some_and(|max| max <= i128::from(u32::MAX));
    match row.kind {
        ValueKind::Flag => "OPT_STR_SET",
        ValueKind::Bool => "OPT_BOOL",
        ValueKind::Int | ValueKind::Size | ValueKind::Time if has_32_bits => "OPT_INT",
        ValueKind::Size if row.multi != Multi::No => "OPT_ULL",
        ValueKind::Int | ValueKind::Size | ValueKind::SizeRange => "OPT_STR_VAL",
        ValueKind::SizeZone => "OPT_STR_VAL_ZONE",
        ValueKind::Time | ValueKind::TimeRange => "OPT_STR_VAL_TIME",
        ValueKind::Range => "OPT_RANGE",
        ValueKind::Float | ValueKind::FloatList => "OPT_FLOAT_LIST",
        ValueKind::Str | ValueKind::StrList => "OPT_STR_STORE",
        ValueKind::EnumList => "OPT_STR_MULTI",
        ValueKind::Bssplit => "OPT_STR_ULL",
        _ if row.opt == Opt::Ioengine => "OPT_STR_STORE",
        _ => "OPT_STR",
    }
}

/// Reports the limit of a steady state, for which fio has its own words.
fn steady_state(criterion: &str, argument: &Argument) {
    let Argument::Limit(SteadyLimit { limit, percent }) = argument else { return };
    if *percent {
        debug!(target: FIO_PARSE, "set steady state threshold to {limit:.6}%");
    } else if criterion.starts_with("bw") {
        debug!(target: FIO_PARSE, "set steady state BW threshold to {limit}");
    } else if criterion.starts_with("iops") {
        debug!(target: FIO_PARSE, "set steady state IOPS threshold to {limit:.6}");
    }
}
