//! Traces with one I/O per line in fields of fixed meaning: the CSV files of published traces, and tables whose first line names their
//! columns, such as the output of biosnoop.

use super::event::{Event, Found, LineError, What};
use super::fields::{duration_ns, whole, words};
use super::kind::{Kind, check_range};

const SECOND: u64 = 1_000_000_000;
const MILLI: u64 = 1_000_000;
const MICRO: u64 = 1000;
/// A tick of Windows file times.
const TICK: u64 = 100;
/// Bytes of a sector.
const SECTOR: u64 = 512;
/// What the reason of a table without a needed column begins with.
pub const NO_COLUMN: &str = "no column has";

/// What a field means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// When the I/O began, in units of this many nanoseconds.
    Begin(u64),
    /// When it ended.
    End(u64),
    /// How long it took.
    Took(u64),
    /// How long it waited before.
    Queued(u64),
    /// Read, write, …
    Kind,
    /// 0 for reads, 1 for writes.
    KindNumber,
    /// Where it begins, in units of this many bytes.
    Offset(u64),
    /// Its length.
    Length(u64),
    /// The file or device; several fields are joined with `_`.
    Target,
    /// The process.
    Pid,
    /// The name of the process, which may have blanks in it.
    Command,
    /// Something else.
    Other,
}

/// The layout of a published trace.
#[derive(Debug)]
pub struct Layout {
    columns: &'static [Column],
    /// The line that some files begin with.
    header: &'static str,
    /// What the name of a device begins with.
    prefix: &'static str,
}

/// Microsoft Research, Cambridge: enterprise servers, 2007.
pub const MSR: Layout = Layout {
    columns: &[
        Column::Begin(TICK),
        Column::Target,
        Column::Target,
        Column::Kind,
        Column::Offset(1),
        Column::Length(1),
        Column::Took(TICK),
    ],
    header: "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    prefix: "",
};

/// SYSTOR '17: a virtual desktop infrastructure.
pub const SYSTOR: Layout = Layout {
    columns: &[
        Column::Begin(SECOND),
        Column::Took(SECOND),
        Column::Kind,
        Column::Target,
        Column::Offset(1),
        Column::Length(1),
    ],
    header: "Timestamp,Response,IOType,LUN,Offset,Size",
    prefix: "lun",
};

/// Alibaba Cloud block traces, 2020.
pub const ALIBABA: Layout = Layout {
    columns: &[Column::Target, Column::Kind, Column::Offset(1), Column::Length(1), Column::Begin(MICRO)],
    header: "device_id,opcode,offset,length,timestamp",
    prefix: "device",
};

/// Tencent cloud block storage, 2018.
pub const TENCENT: Layout = Layout {
    columns: &[
        Column::Begin(SECOND),
        Column::Offset(SECTOR),
        Column::Length(SECTOR),
        Column::KindNumber,
        Column::Target,
    ],
    header: "Timestamp,Offset,Size,IOType,VolumeID",
    prefix: "volume",
};

/// The format of the Storage Performance Council: the OLTP and search traces of the University of Massachusetts.
pub const SPC: Layout = Layout {
    columns: &[
        Column::Target,
        Column::Offset(SECTOR),
        Column::Length(1),
        Column::Kind,
        Column::Begin(SECOND),
    ],
    header: "ASU,LBA,Size,Opcode,Timestamp",
    prefix: "asu",
};

/// Reads lines of a layout, or of a table whose first line names the columns.
#[derive(Debug)]
pub struct Columns {
    columns: Vec<Column>,
    header: &'static str,
    prefix: &'static str,
    by_commas: bool,
    /// True if the columns come from the first line.
    named: bool,
    /// True until a row has shown the unit of times whose column names none.
    lacks_unit: bool,
}

impl Columns {
    /// Reads a published trace.
    #[must_use]
    pub fn of(layout: &'static Layout) -> Self {
        let Layout { columns, header, prefix } = layout;
        Columns {
            columns: columns.to_vec(),
            header,
            prefix,
            by_commas: true,
            named: false,
            lacks_unit: false,
        }
    }

    /// Reads a table with a line of names at its top.
    #[must_use]
    pub fn named() -> Self {
        Columns {
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
    /// It is none of this format.
    pub fn line(&mut self, line: &[u8], found: &mut Found) -> Result<(), LineError> {
        if self.named {
            let by_commas = line.contains(&b',');
            if let Some((columns, has_unit)) = header(line, by_commas) {
                require(&columns)?;
                self.lacks_unit = !has_unit;
                (self.columns, self.by_commas) = (columns, by_commas);
                return Ok(());
            }
            if self.columns.is_empty() {
                // biosnoop says what it does before its table.
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

    /// Takes the unit of times from their size in the first row: seconds, unless they would be thousands of years.
    fn assume_unit(&mut self, line: &[u8], found: &mut Found) {
        let is_time = |column: &Column| matches!(column, Column::Begin(_) | Column::End(_));
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
            Column::Begin(of) | Column::End(of) => *of = unit,
            _ => {}
        }
        self.lacks_unit = false;
        found.remarks.assumed_unit = Some(name);
    }

    fn io(&self, line: &[u8], found: &mut Found) -> Result<(), LineError> {
        let mut row = Row::default();
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
            // Words beyond the number of columns are part of the name of the command.
            let count = words(line).count();
            let surplus = match count.checked_sub(self.columns.len()) {
                Some(0) => 0,
                Some(more) if self.columns.contains(&Column::Command) => more,
                _ => return Err(self.wrong_number()),
            };
            let mut fields = words(line);
            for &column in &self.columns {
                let words = if column == Column::Command { 1 + surplus } else { 1 };
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
struct Row<'a> {
    begin: u64,
    end: Option<u64>,
    took: Option<u64>,
    queued: u64,
    kind: Option<Kind>,
    offset: Option<u64>,
    len: Option<u64>,
    names: [&'a [u8]; 2],
    pid: Option<u32>,
}

impl<'a> Row<'a> {
    fn fill(&mut self, column: Column, field: &'a [u8]) -> Result<(), LineError> {
        let time = |unit| duration_ns(field, unit).ok_or_else(|| no("time", field));
        match column {
            Column::Begin(unit) => self.begin = time(unit)?,
            Column::End(unit) => self.end = Some(time(unit)?),
            // Traces leave it empty where it is unknown.
            Column::Took(unit) => self.took = duration_ns(field, unit),
            Column::Queued(unit) => self.queued = duration_ns(field, unit).unwrap_or(0),
            Column::Kind => self.kind = Some(Kind::from_word(field).ok_or_else(|| no("kind of I/O", field))?),
            Column::KindNumber => {
                self.kind = Some(match field {
                    b"0" => Kind::READ,
                    b"1" => Kind::WRITE,
                    _ => return Err(no("kind of I/O", field)),
                });
            }
            // Flushes have no place: tools print -1 or 2^64-1.
            Column::Offset(_) if field == b"-1" => self.offset = None,
            Column::Offset(unit) => {
                let offset: u64 = whole(field).ok_or_else(|| no("offset", field))?;
                self.offset = offset.checked_mul(unit);
            }
            Column::Length(unit) => {
                let len: u64 = whole(field).ok_or_else(|| no("length", field))?;
                self.len = Some(len.checked_mul(unit).ok_or_else(|| no("length", field))?);
            }
            Column::Target => {
                let at = usize::from(!self.names[0].is_empty());
                self.names[at] = field;
            }
            Column::Pid => self.pid = whole(field),
            Column::Command | Column::Other => {}
        }
        Ok(())
    }

    fn finish(self, prefix: &str, found: &mut Found) -> Result<(), LineError> {
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
            let what = What::Io { action, offset, len };
            found.events.push(Event { time_ns, took_ns: self.took, pid: self.pid, target, what });
        }
        Ok(())
    }
}

fn no(what: &str, field: &[u8]) -> LineError {
    format!("`{}` is no {what}", String::from_utf8_lossy(&field[..field.len().min(40)])).into()
}

/// The columns that a line names, and whether it names the unit of times; `None` unless it is such a line.
fn header(line: &[u8], by_commas: bool) -> Option<(Vec<Column>, bool)> {
    let names: Vec<&[u8]> = if by_commas {
        line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect()
    } else {
        words(line).collect()
    };
    // Rows have numbers, names of columns have none but for their units.
    let is_name = |name: &&[u8]| name.first().is_some_and(|byte| byte.is_ascii_alphabetic());
    if names.len() < 3 || !names.iter().all(is_name) {
        return None;
    }
    let has_latency = names.iter().any(|name| matches!(column(name, false), Column::Took(_)));
    let columns: Vec<Column> = names.iter().map(|name| column(name, has_latency)).collect();
    let time = columns.iter().position(|column| matches!(column, Column::Begin(_) | Column::End(_)))?;
    let (_, unit) = name_and_unit(&String::from_utf8_lossy(names[time]).to_ascii_lowercase());
    Some((columns, unit.is_some()))
}

/// The name of a column without its unit, and that in nanoseconds.
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

/// The meaning of a column with this name. The time of an I/O with a latency is that of its end, as biosnoop has it.
fn column(name: &[u8], has_latency: bool) -> Column {
    let text = String::from_utf8_lossy(name).to_ascii_lowercase();
    let (word, unit) = name_and_unit(&text);
    let unit_or = |default| unit.unwrap_or(default);
    match word {
        "time" | "timestamp" | "ts" | "end" if has_latency => Column::End(unit_or(SECOND)),
        "time" | "timestamp" | "ts" | "start" | "begin" => Column::Begin(unit_or(SECOND)),
        "lat" | "latency" | "response" | "responsetime" | "duration" => Column::Took(unit_or(MILLI)),
        "que" | "queued" => Column::Queued(unit_or(MILLI)),
        "t" | "type" | "op" | "opcode" | "rw" | "rwbs" | "iotype" => Column::Kind,
        "sector" | "lba" => Column::Offset(SECTOR),
        "offset" => Column::Offset(1),
        "bytes" | "size" | "length" | "len" => Column::Length(1),
        "sectors" | "nr_sector" | "nr_sectors" => Column::Length(SECTOR),
        "disk" | "dev" | "device" | "lun" | "volume" | "file" => Column::Target,
        "pid" => Column::Pid,
        "comm" | "command" | "process" => Column::Command,
        _ => Column::Other,
    }
}

/// Refuses tables that do not say what an I/O log must say.
fn require(columns: &[Column]) -> Result<(), LineError> {
    let has = |wanted: fn(&Column) -> bool| columns.iter().any(wanted);
    let missing = [
        (has(|column| matches!(column, Column::Kind)), "the kind of I/O (T, TYPE, RWBS)"),
        (has(|column| matches!(column, Column::Offset(_))), "where it begins (SECTOR, OFFSET)"),
        (has(|column| matches!(column, Column::Length(_))), "its length (BYTES, SECTORS)"),
    ];
    match missing.iter().find(|(has, _)| !has) {
        None => Ok(()),
        Some((_, what)) => Err(format!("{NO_COLUMN} {what}").into()),
    }
}

#[cfg(test)]
mod tests;
