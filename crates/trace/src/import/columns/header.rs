//! The line of a table that names its columns.

use super::super::event::LineError;
use super::super::fields::words;
use super::{ColumnMeaning, MICRO, MILLI, SECOND, SECTOR, comma_separated};

/// The beginning of the message about a missing column.
pub const NO_COLUMN: &str = "no column has";

/// Parses the line of column names, and returns whether it names the unit of times; `None` if it is not such a line.
pub(super) fn header(line: &[u8], has_commas: bool) -> Option<(Vec<ColumnMeaning>, bool)> {
    let names: Vec<&[u8]> = if has_commas { comma_separated(line).collect() } else { words(line).collect() };
    // Rows contain numbers; column names contain none except in units.
    let is_name = |name: &&[u8]| name.first().is_some_and(|byte| byte.is_ascii_alphabetic());
    if names.len() < 3 || !names.iter().all(is_name) {
        return None;
    }
    let has_latency = names.iter().any(|name| matches!(column(name, false), ColumnMeaning::Latency(_)));
    let columns: Vec<ColumnMeaning> = names.iter().map(|name| column(name, has_latency)).collect();
    let time = columns.iter().position(ColumnMeaning::is_time)?;
    let (_, unit) = name_and_unit(&String::from_utf8_lossy(names[time]).to_ascii_lowercase());
    Some((columns, unit.is_some()))
}

/// The name of a column without its unit, and the unit in nanoseconds.
fn name_and_unit(text: &str) -> (&str, Option<u64>) {
    let (word, unit) = match text.split_once('(') {
        Some((word, unit)) => (word, unit.trim_end_matches(')')),
        None => match text.rsplit_once('_') {
            Some((word, unit @ ("s" | "ms" | "us" | "ns"))) => (word, unit),
            _ => (text, ""),
        },
    };
    let unit = match unit {
        "s" => Some(SECOND),
        "ms" => Some(MILLI),
        "us" => Some(MICRO),
        "ns" => Some(1),
        _ => None,
    };
    (word, unit)
}

/// The meaning of a column by its name. The time of an I/O with a latency is that of its end, as in biosnoop.
fn column(name: &[u8], has_latency: bool) -> ColumnMeaning {
    let text = String::from_utf8_lossy(name).to_ascii_lowercase();
    let (word, unit) = name_and_unit(&text);
    let unit_or = |default| unit.unwrap_or(default);
    match word {
        "time" | "timestamp" | "ts" | "end" if has_latency => ColumnMeaning::End(unit_or(SECOND)),
        "time" | "timestamp" | "ts" | "start" | "begin" => ColumnMeaning::Begin(unit_or(SECOND)),
        "lat" | "latency" | "response" | "responsetime" | "duration" => {
            ColumnMeaning::Latency(unit_or(MILLI))
        }
        "que" | "queued" => ColumnMeaning::Queued(unit_or(MILLI)),
        "t" | "type" | "op" | "opcode" | "rw" | "rwbs" | "iotype" => ColumnMeaning::Kind,
        "sector" | "lba" => ColumnMeaning::Offset(SECTOR),
        "offset" => ColumnMeaning::Offset(1),
        "bytes" | "size" | "length" | "len" => ColumnMeaning::Length(1),
        "sectors" | "nr_sector" | "nr_sectors" => ColumnMeaning::Length(SECTOR),
        "disk" | "dev" | "device" | "lun" | "volume" | "file" => ColumnMeaning::Target,
        "pid" => ColumnMeaning::Pid,
        "comm" | "command" | "process" => ColumnMeaning::Command,
        _ => ColumnMeaning::Other,
    }
}

/// Refuses tables that lack a column that an I/O log needs.
pub(super) fn require(columns: &[ColumnMeaning]) -> Result<(), LineError> {
    let has = |wanted: fn(&ColumnMeaning) -> bool| columns.iter().any(wanted);
    let missing = [
        (columns.contains(&ColumnMeaning::Kind), "the kind of I/O (T, TYPE, RWBS)"),
        (has(|column| matches!(column, ColumnMeaning::Offset(_))), "where it begins (SECTOR, OFFSET)"),
        (has(|column| matches!(column, ColumnMeaning::Length(_))), "its length (BYTES, SECTORS)"),
    ];
    match missing.iter().find(|(has, _)| !has) {
        None => Ok(()),
        Some((_, what)) => Err(format!("{NO_COLUMN} {what}").into()),
    }
}
