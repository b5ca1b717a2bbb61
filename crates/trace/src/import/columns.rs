//! Traces with one I/O per line in fixed fields: the CSV files of published traces, and tables whose first line names the columns, such as
//! the output of biosnoop.

use super::event::{LineError, TraceContents, TraceEvent, TraceEventKind};
use super::fields::{duration_ns, whole, words};
use super::kind::{RequestKind, check_range};

const SECOND: u64 = 1_000_000_000;
const MILLI: u64 = 1_000_000;
const MICRO: u64 = 1000;
/// A tick of Windows file times, in nanoseconds.
const TICK: u64 = 100;
/// Bytes of a sector.
const SECTOR: u64 = 512;
/// The beginning of the message about a missing column.
pub const NO_COLUMN: &str = "no column has";

/// The meaning of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnMeaning {
    /// Start of the I/O, in units of this many nanoseconds.
    Begin(u64),
    /// End of the I/O.
    End(u64),
    /// Duration of the I/O.
    Took(u64),
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

/// The layout of a published trace.
#[derive(Debug)]
pub struct TraceLayout {
    columns: &'static [ColumnMeaning],
    /// The first line of some of its files.
    header: &'static str,
    /// The prefix of names of devices.
    prefix: &'static str,
}

/// Microsoft Research, Cambridge: enterprise servers, 2007.
pub const MSR: TraceLayout = TraceLayout {
    columns: &[
        ColumnMeaning::Begin(TICK),
        ColumnMeaning::Target,
        ColumnMeaning::Target,
        ColumnMeaning::Kind,
        ColumnMeaning::Offset(1),
        ColumnMeaning::Length(1),
        ColumnMeaning::Took(TICK),
    ],
    header: "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    prefix: "",
};

/// SYSTOR '17: a virtual desktop infrastructure.
pub const SYSTOR: TraceLayout = TraceLayout {
    columns: &[
        ColumnMeaning::Begin(SECOND),
        ColumnMeaning::Took(SECOND),
        ColumnMeaning::Kind,
        ColumnMeaning::Target,
        ColumnMeaning::Offset(1),
        ColumnMeaning::Length(1),
    ],
    header: "Timestamp,Response,IOType,LUN,Offset,Size",
    prefix: "lun",
};

/// Alibaba Cloud block traces, 2020.
pub const ALIBABA: TraceLayout = TraceLayout {
    columns: &[
        ColumnMeaning::Target,
        ColumnMeaning::Kind,
        ColumnMeaning::Offset(1),
        ColumnMeaning::Length(1),
        ColumnMeaning::Begin(MICRO),
    ],
    header: "device_id,opcode,offset,length,timestamp",
    prefix: "device",
};

/// Tencent cloud block storage, 2018.
pub const TENCENT: TraceLayout = TraceLayout {
    columns: &[
        ColumnMeaning::Begin(SECOND),
        ColumnMeaning::Offset(SECTOR),
        ColumnMeaning::Length(SECTOR),
        ColumnMeaning::KindNumber,
        ColumnMeaning::Target,
    ],
    header: "Timestamp,Offset,Size,IOType,VolumeID",
    prefix: "volume",
};

/// The format of the Storage Performance Council: the OLTP and search traces of the University of Massachusetts.
pub const SPC: TraceLayout = TraceLayout {
    columns: &[
        ColumnMeaning::Target,
        ColumnMeaning::Offset(SECTOR),
        ColumnMeaning::Length(1),
        ColumnMeaning::Kind,
        ColumnMeaning::Begin(SECOND),
    ],
    header: "ASU,LBA,Size,Opcode,Timestamp",
    prefix: "asu",
};

/// Reads lines of a layout, or of a table whose first line names the columns.
#[derive(Debug)]
pub struct ColumnParser {
    columns: Vec<ColumnMeaning>,
    header: &'static str,
    prefix: &'static str,
    by_commas: bool,
    /// Whether the first line names the columns.
    named: bool,
    /// Whether the unit of times is unknown, until a row shows it.
    lacks_unit: bool,
}

impl ColumnParser {
    /// Reads a published trace.
    #[must_use]
    pub fn of(layout: &'static TraceLayout) -> Self {
        let TraceLayout { columns, header, prefix } = layout;
        ColumnParser {
            columns: columns.to_vec(),
            header,
            prefix,
            by_commas: true,
            named: false,
            lacks_unit: false,
        }
    }

    /// Reads a table with column names in the first line.
    #[must_use]
    pub fn named() -> Self {
        ColumnParser {
            columns: Vec::new(),
            header: "",
            prefix: "",
            by_commas: false,
            named: true,
            lacks_unit: false,
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// The line does not have this format.
    pub fn line(&mut self, line: &[u8], found: &mut TraceContents) -> Result<(), LineError> {
        if self.named {
            let by_commas = line.contains(&b',');
            if let Some((columns, has_unit)) = header(line, by_commas) {
                require(&columns)?;
                self.lacks_unit = !has_unit;
                (self.columns, self.by_commas) = (columns, by_commas);
                return Ok(());
            }
            if self.columns.is_empty() {
                // biosnoop prints messages before its table.
                return match line {
                    _ if line.starts_with(b"Trac") || line.starts_with(b"Attach") => Ok(()),
                    _ => Err("it comes before the line with the names of the columns".into()),
                };
            }
        } else if line.eq_ignore_ascii_case(self.header.as_bytes()) {
            return Ok(());
        }
        if self.lacks_unit {
            self.assume_unit(line, found);
        }
        self.io(line, found)
    }

    /// Derives the unit of times from their size in the first row: seconds, unless they would be thousands of years.
    fn assume_unit(&mut self, line: &[u8], found: &mut TraceContents) {
        let is_time =
            |column: &ColumnMeaning| matches!(column, ColumnMeaning::Begin(_) | ColumnMeaning::End(_));
        let Some(at) = self.columns.iter().position(is_time) else { return };
        let field = match self.by_commas {
            true => line.split(|&byte| byte == b',').nth(at).map(<[u8]>::trim_ascii),
            false => words(line).nth(at),
        };
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
        if self.by_commas {
            let mut fields = line.split(|&byte| byte == b',');
            for &column in &self.columns {
                let field = fields.next().ok_or_else(|| self.wrong_number())?;
                row.fill(column, field.trim_ascii())?;
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
        row.finish(self.prefix, found)
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
        let time = |unit| duration_ns(field, unit).ok_or_else(|| no("time", field));
        match column {
            ColumnMeaning::Begin(unit) => self.begin = time(unit)?,
            ColumnMeaning::End(unit) => self.end = Some(time(unit)?),
            // Traces leave the field empty where it is unknown.
            ColumnMeaning::Took(unit) => self.took = duration_ns(field, unit),
            ColumnMeaning::Queued(unit) => self.queued = duration_ns(field, unit).unwrap_or(0),
            ColumnMeaning::Kind => {
                self.kind = Some(RequestKind::from_word(field).ok_or_else(|| no("kind of I/O", field))?)
            }
            ColumnMeaning::KindNumber => {
                self.kind = Some(match field {
                    b"0" => RequestKind::READ,
                    b"1" => RequestKind::WRITE,
                    _ => return Err(no("kind of I/O", field)),
                });
            }
            // Flushes have no offset: tools print -1 or 2^64-1.
            ColumnMeaning::Offset(_) if field == b"-1" => self.offset = None,
            ColumnMeaning::Offset(unit) => {
                let offset: u64 = whole(field).ok_or_else(|| no("offset", field))?;
                self.offset = offset.checked_mul(unit);
            }
            ColumnMeaning::Length(unit) => {
                let len: u64 = whole(field).ok_or_else(|| no("length", field))?;
                self.len = Some(len.checked_mul(unit).ok_or_else(|| no("length", field))?);
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

fn no(what: &str, field: &[u8]) -> LineError {
    format!("`{}` is no {what}", String::from_utf8_lossy(&field[..field.len().min(40)])).into()
}

/// Parses the line of column names, and returns whether it names the unit of times; `None` if it is not such a line.
fn header(line: &[u8], by_commas: bool) -> Option<(Vec<ColumnMeaning>, bool)> {
    let names: Vec<&[u8]> = if by_commas {
        line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect()
    } else {
        words(line).collect()
    };
    // Rows contain numbers; column names contain none except in units.
    let is_name = |name: &&[u8]| name.first().is_some_and(|byte| byte.is_ascii_alphabetic());
    if names.len() < 3 || !names.iter().all(is_name) {
        return None;
    }
    let has_latency = names.iter().any(|name| matches!(column(name, false), ColumnMeaning::Took(_)));
    let columns: Vec<ColumnMeaning> = names.iter().map(|name| column(name, has_latency)).collect();
    let time = columns
        .iter()
        .position(|column| matches!(column, ColumnMeaning::Begin(_) | ColumnMeaning::End(_)))?;
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
        "lat" | "latency" | "response" | "responsetime" | "duration" => ColumnMeaning::Took(unit_or(MILLI)),
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
fn require(columns: &[ColumnMeaning]) -> Result<(), LineError> {
    let has = |wanted: fn(&ColumnMeaning) -> bool| columns.iter().any(wanted);
    let missing = [
        (has(|column| matches!(column, ColumnMeaning::Kind)), "the kind of I/O (T, TYPE, RWBS)"),
        (has(|column| matches!(column, ColumnMeaning::Offset(_))), "where it begins (SECTOR, OFFSET)"),
        (has(|column| matches!(column, ColumnMeaning::Length(_))), "its length (BYTES, SECTORS)"),
    ];
    match missing.iter().find(|(has, _)| !has) {
        None => Ok(()),
        Some((_, what)) => Err(format!("{NO_COLUMN} {what}").into()),
    }
}

#[cfg(test)]
mod tests;
