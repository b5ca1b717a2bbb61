//! Traces with one I/O per line in fixed fields: the CSV files of published traces, and tables whose first line names the columns, such as
//! the output of biosnoop.

mod header;
mod layouts;

use super::event::{LineError, TraceContents, TraceEvent, TraceEventKind};
use super::fields::{duration_ns, whole, words};
use super::kind::{RequestKind, check_range};
pub use header::NO_COLUMN;
use header::{header, require};
pub use layouts::{ALIBABA, MSR, SPC, SYSTOR, TENCENT, TraceLayout};

/// ns in a second.
const SECOND: u64 = 1_000_000_000;
const MILLI: u64 = 1_000_000;
const MICRO: u64 = 1000;
/// Bytes of a sector.
const SECTOR: u64 = 512;
/// The meaning of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnMeaning {
    /// Start of the I/O, in units of this many nanoseconds.
    Begin(u64),
    /// End of the I/O.
    End(u64),
    /// Duration of the I/O.
    Latency(u64),
    /// Time in the queue before the I/O.
    Queued(u64),
    /// Read, write, and so on.
    Kind,
    /// 0 for reads, 1 for writes.
    KindNumber,
    /// Start of the data, in units of this many bytes.
    Offset(u64),
    /// Length of the data.
    Length(u64),
    /// The file or device; several fields are joined with `_`.
    Target,
    /// Number of the process.
    Pid,
    /// Name of the process, which may contain blanks.
    Command,
    /// Any other field.
    Other,
}

impl ColumnMeaning {
    fn is_time(&self) -> bool {
        matches!(self, ColumnMeaning::Begin(_) | ColumnMeaning::End(_))
    }
}

/// Reads lines of a layout, or of a table whose first line names the columns.
#[derive(Debug, Default)]
pub struct ColumnParser {
    /// `None` for a table.
    layout: Option<&'static TraceLayout>,
    columns: Vec<ColumnMeaning>,
    has_commas: bool,
    /// Whether the unit of times is unknown, until a row shows it.
    lacks_unit: bool,
}

impl ColumnParser {
    /// A parser for published traces with this layout.
    #[must_use]
    pub fn of(layout: &'static TraceLayout) -> Self {
        let columns = layout.columns.to_vec();
        ColumnParser { layout: Some(layout), columns, has_commas: true, lacks_unit: false }
    }

    /// Reads a table with column names in the first line.
    #[must_use]
    pub fn named() -> Self {
        ColumnParser::default()
    }

    /// Reads a line.
    ///
    /// # Errors
    /// The line does not have this format.
    pub fn line(&mut self, line: &[u8], found: &mut TraceContents) -> Result<(), LineError> {
        if let Some(layout) = self.layout {
            if line.eq_ignore_ascii_case(layout.header.as_bytes()) {
                return Ok(());
            }
        } else {
            let has_commas = line.contains(&b',');
            if let Some((columns, has_unit)) = header(line, has_commas) {
                require(&columns)?;
                self.lacks_unit = !has_unit;
                (self.columns, self.has_commas) = (columns, has_commas);
                return Ok(());
            }
            if self.columns.is_empty() {
                // biosnoop prints messages before its table.
                return match line {
                    _ if line.starts_with(b"Trac") || line.starts_with(b"Attach") => Ok(()),
                    _ => Err("it comes before the line with the names of the columns".into()),
                };
            }
        }
        if self.lacks_unit {
            self.assume_unit(line, found);
        }
        self.io(line, found)
    }

    /// Derives the unit of times from their size in the first row: seconds, unless they would be thousands of years.
    fn assume_unit(&mut self, line: &[u8], found: &mut TraceContents) {
        let Some(at) = self.columns.iter().position(ColumnMeaning::is_time) else { return };
        let field = if self.has_commas { comma_separated(line).nth(at) } else { words(line).nth(at) };
        let Some(seconds) = field.and_then(|field| duration_ns(field, 1)) else { return };
        let (unit, name) = match seconds {
            0..100_000_000_000 => (SECOND, "seconds"),
            100_000_000_000..100_000_000_000_000 => (MILLI, "milliseconds"),
            100_000_000_000_000..100_000_000_000_000_000 => (MICRO, "microseconds"),
            _ => (1, "nanoseconds"),
        };
        match &mut self.columns[at] {
            ColumnMeaning::Begin(of) | ColumnMeaning::End(of) => *of = unit,
            _ => {}
        }
        self.lacks_unit = false;
        found.remarks.assumed_unit = Some(name);
    }

    fn io(&self, line: &[u8], found: &mut TraceContents) -> Result<(), LineError> {
        let mut row = TraceRow::default();
        if self.has_commas {
            let mut fields = comma_separated(line);
            for &column in &self.columns {
                row.fill(column, fields.next().ok_or_else(|| self.wrong_number())?)?;
            }
            if fields.next().is_some() {
                return Err(self.wrong_number());
            }
        } else {
            // Words beyond the number of columns are part of the command name.
            let count = words(line).count();
            let surplus = match count.checked_sub(self.columns.len()) {
                Some(0) => 0,
                Some(more) if self.columns.contains(&ColumnMeaning::Command) => more,
                _ => return Err(self.wrong_number()),
            };
            let mut fields = words(line);
            for &column in &self.columns {
                let words = if column == ColumnMeaning::Command { 1 + surplus } else { 1 };
                for field in fields.by_ref().take(words) {
                    row.fill(column, field)?;
                }
            }
        }
        row.finish(self.layout.map_or("", |layout| layout.prefix), found)
    }

    fn wrong_number(&self) -> LineError {
        format!("{} fields are expected", self.columns.len()).into()
    }
}

/// The fields of a line.
#[derive(Default)]
struct TraceRow<'a> {
    begin: u64,
    end: Option<u64>,
    took: Option<u64>,
    queued: u64,
    kind: Option<RequestKind>,
    offset: Option<u64>,
    len: Option<u64>,
    names: [&'a [u8]; 2],
    pid: Option<u32>,
}

impl<'a> TraceRow<'a> {
    fn fill(&mut self, column: ColumnMeaning, field: &'a [u8]) -> Result<(), LineError> {
        let time = |unit| duration_ns(field, unit).ok_or_else(|| invalid("time", field));
        match column {
            ColumnMeaning::Begin(unit) => self.begin = time(unit)?,
            ColumnMeaning::End(unit) => self.end = Some(time(unit)?),
            // Traces leave the field empty where it is unknown.
            ColumnMeaning::Latency(unit) => self.took = duration_ns(field, unit),
            ColumnMeaning::Queued(unit) => self.queued = duration_ns(field, unit).unwrap_or(0),
            ColumnMeaning::Kind => {
                self.kind = Some(RequestKind::from_word(field).ok_or_else(|| invalid("kind of I/O", field))?)
            }
            ColumnMeaning::KindNumber => {
                self.kind = Some(match field {
                    b"0" => RequestKind::READ,
                    b"1" => RequestKind::WRITE,
                    _ => return Err(invalid("kind of I/O", field)),
                });
            }
            // Flushes have no offset: tools print -1 or 2^64-1.
            ColumnMeaning::Offset(_) if field == b"-1" => self.offset = None,
            ColumnMeaning::Offset(unit) => {
                let offset: u64 = whole(field).ok_or_else(|| invalid("offset", field))?;
                self.offset = offset.checked_mul(unit);
            }
            ColumnMeaning::Length(unit) => {
                let len: u64 = whole(field).ok_or_else(|| invalid("length", field))?;
                self.len = Some(len.checked_mul(unit).ok_or_else(|| invalid("length", field))?);
            }
            ColumnMeaning::Target => {
                let at = usize::from(!self.names[0].is_empty());
                self.names[at] = field;
            }
            ColumnMeaning::Pid => self.pid = whole(field),
            ColumnMeaning::Command | ColumnMeaning::Other => {}
        }
        Ok(())
    }

    fn finish(self, prefix: &str, found: &mut TraceContents) -> Result<(), LineError> {
        let len = self.len.unwrap_or(0);
        let kind = self.kind.ok_or("it has no kind of I/O")?;
        let actions = kind.actions(len);
        let offset = if len == 0 { 0 } else { self.offset.ok_or("the offset is too large")? };
        check_range(offset, len)?;
        let begin = |end: u64| end.saturating_sub(self.took.unwrap_or(0)).saturating_sub(self.queued);
        let time_ns = self.end.map_or(self.begin, begin);
        let [first, second] = self.names;
        let target = match (prefix.is_empty(), second.is_empty()) {
            (true, true) => found.targets.number(first),
            _ => {
                let joint: &[u8] = if second.is_empty() { b"" } else { b"_" };
                found.targets.number(&[prefix.as_bytes(), first, joint, second].concat())
            }
        };
        if actions.iter().all(Option::is_none) {
            found.skip(kind.skip());
        }
        for (action, len) in actions.into_iter().flatten() {
            let offset = if len == 0 { 0 } else { offset };
            let what = TraceEventKind::Io { action, offset, len };
            found.events.push(TraceEvent { time_ns, took_ns: self.took, pid: self.pid, target, what });
        }
        Ok(())
    }
}

fn comma_separated(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

fn invalid(what: &str, field: &[u8]) -> LineError {
    format!("`{}` is no {what}", String::from_utf8_lossy(&field[..field.len().min(40)])).into()
}

#[cfg(test)]
mod tests;
