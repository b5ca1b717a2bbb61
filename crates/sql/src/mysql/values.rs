//! Values of parameters and columns. All values of rows become the texts that the server itself would send.

use std::fmt::Write as _;

use mysql_common::constants::{ColumnFlags, ColumnType};
use mysql_common::packets::Column;

use super::lengths::{length_encoded, write_length};
use crate::{Row, Value};

/// The type of a parameter.
pub(super) fn type_of(value: &Value<'_>) -> u8 {
    (match value {
        Value::Null => ColumnType::MYSQL_TYPE_NULL,
        Value::Int(_) => ColumnType::MYSQL_TYPE_LONGLONG,
        Value::Double(_) => ColumnType::MYSQL_TYPE_DOUBLE,
        Value::Text(_) => ColumnType::MYSQL_TYPE_VAR_STRING,
    }) as u8
}

/// Appends the value of a parameter.
pub(super) fn write_value(value: &Value<'_>, payload: &mut Vec<u8>) {
    match value {
        Value::Null => {}
        Value::Int(value) => payload.extend_from_slice(&value.to_le_bytes()),
        Value::Double(value) => payload.extend_from_slice(&value.to_le_bytes()),
        Value::Text(text) => {
            write_length(text.len(), payload);
            payload.extend_from_slice(text);
        }
    }
}

/// A row of an answer to a text.
pub(super) fn text_row(mut packet: &[u8], columns: usize) -> Option<Row> {
    let mut row = Vec::with_capacity(columns);
    for _ in 0..columns {
        if let Some((0xfb, rest)) = packet.split_first() {
            row.push(None);
            packet = rest;
        } else {
            row.push(Some(take_text(&mut packet)?));
        }
    }
    Some(row)
}

/// A row of an answer to a prepared statement: a byte 0, a bit for each `NULL`, and the other values.
pub(super) fn binary_row(packet: &[u8], columns: &[Column]) -> Option<Row> {
    let (nulls, mut values) = packet.get(1..)?.split_at_checked((columns.len() + 9) / 8)?;
    let mut row = Vec::with_capacity(columns.len());
    for (i, column) in columns.iter().enumerate() {
        let is_null = nulls[(i + 2) / 8] & 1 << ((i + 2) % 8) != 0;
        row.push(if is_null { None } else { Some(text_of(column, &mut values)?) });
    }
    values.is_empty().then_some(row)
}

/// The text of one value.
fn text_of(column: &Column, values: &mut &[u8]) -> Option<Vec<u8>> {
    let is_unsigned = column.flags().contains(ColumnFlags::UNSIGNED_FLAG);
    let text = match column.column_type() {
        ColumnType::MYSQL_TYPE_TINY => integer(
            take(values)?,
            is_unsigned,
            |b| u8::from_le_bytes(b).into(),
            |b| i8::from_le_bytes(b).into(),
        ),
        ColumnType::MYSQL_TYPE_SHORT | ColumnType::MYSQL_TYPE_YEAR => integer(
            take(values)?,
            is_unsigned,
            |b| u16::from_le_bytes(b).into(),
            |b| i16::from_le_bytes(b).into(),
        ),
        ColumnType::MYSQL_TYPE_LONG | ColumnType::MYSQL_TYPE_INT24 => integer(
            take(values)?,
            is_unsigned,
            |b| u32::from_le_bytes(b).into(),
            |b| i32::from_le_bytes(b).into(),
        ),
        ColumnType::MYSQL_TYPE_LONGLONG => {
            integer(take(values)?, is_unsigned, u64::from_le_bytes, i64::from_le_bytes)
        }
        ColumnType::MYSQL_TYPE_FLOAT => float(f32::from_le_bytes(take(values)?), column.decimals()),
        ColumnType::MYSQL_TYPE_DOUBLE => float(f64::from_le_bytes(take(values)?), column.decimals()),
        ColumnType::MYSQL_TYPE_DATE => date(&take_text(values)?, None)?,
        ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_TIMESTAMP => {
            date(&take_text(values)?, Some(column.decimals()))?
        }
        ColumnType::MYSQL_TYPE_TIME => time(&take_text(values)?, column.decimals())?,
        _ => return take_text(values),
    };
    Some(text.into_bytes())
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (value, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*value)
}

fn take_text(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let (length, rest) = length_encoded(bytes)?;
    let (text, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(text.to_vec())
}

fn integer<const N: usize>(
    bytes: [u8; N],
    is_unsigned: bool,
    unsigned: impl Fn([u8; N]) -> u64,
    signed: impl Fn([u8; N]) -> i64,
) -> String {
    if is_unsigned { unsigned(bytes).to_string() } else { signed(bytes).to_string() }
}

/// Without a number of decimals, the shortest text that is the same number.
fn float(value: impl Into<f64> + std::fmt::Display, decimals: u8) -> String {
    if decimals < NO_DECIMALS { format!("{value:.*}", usize::from(decimals)) } else { value.to_string() }
}

/// The number of decimals of a floating-point column that has none.
const NO_DECIMALS: u8 = 31;

/// A date, and a time of day if the column has one. What is 0 at the end is not sent.
fn date(value: &[u8], time_decimals: Option<u8>) -> Option<String> {
    let mut bytes = [0; 11];
    bytes.get_mut(..value.len())?.copy_from_slice(value);
    let year = u16::from_le_bytes([bytes[0], bytes[1]]);
    let mut text = format!("{year:04}-{:02}-{:02}", bytes[2], bytes[3]);
    if let Some(decimals) = time_decimals {
        write!(text, " {:02}:{:02}:{:02}", bytes[4], bytes[5], bytes[6]).ok()?;
        write_fraction(&mut text, [bytes[7], bytes[8], bytes[9], bytes[10]], decimals)?;
    }
    Some(text)
}

/// A time, which may be negative and longer than a day.
fn time(value: &[u8], decimals: u8) -> Option<String> {
    let mut bytes = [0; 12];
    bytes.get_mut(..value.len())?.copy_from_slice(value);
    let days = u32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
    let hours = u64::from(days) * 24 + u64::from(bytes[5]);
    let sign = if bytes[0] == 0 { "" } else { "-" };
    let mut text = format!("{sign}{hours:02}:{:02}:{:02}", bytes[6], bytes[7]);
    write_fraction(&mut text, [bytes[8], bytes[9], bytes[10], bytes[11]], decimals)?;
    Some(text)
}

fn write_fraction(text: &mut String, microseconds: [u8; 4], decimals: u8) -> Option<()> {
    let microseconds = u32::from_le_bytes(microseconds);
    match usize::from(decimals) {
        0 => {}
        decimals => {
            let digits = format!("{microseconds:06}");
            write!(text, ".{}", digits.get(..decimals.min(6))?).ok()?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_written_as_the_server_writes_them() {
        assert_eq!(date(b"\xea\x07\x02\x01", None).unwrap(), "2026-02-01");
        assert_eq!(date(b"", Some(0)).unwrap(), "0000-00-00 00:00:00");
        assert_eq!(date(b"\xea\x07\x02\x01\x0a\x14\x1e", Some(0)).unwrap(), "2026-02-01 10:20:30");
        assert_eq!(
            date(b"\xea\x07\x02\x01\x0a\x14\x1e\x40\xe2\x01\0", Some(3)).unwrap(),
            "2026-02-01 10:20:30.123"
        );
        assert_eq!(time(b"\x01\x02\0\0\0\x01\x02\x03", 0).unwrap(), "-49:02:03");
        assert_eq!(time(b"", 6).unwrap(), "00:00:00.000000");
        assert_eq!(date(&[0; 12], Some(0)), None);
    }

    #[test]
    fn rows_of_texts_have_nulls_and_end_where_they_end() {
        assert_eq!(text_row(b"\x02ab\xfb\0", 3), Some(vec![Some(b"ab".to_vec()), None, Some(Vec::new())]));
        assert_eq!(text_row(b"\x05ab", 1), None);
    }
}
