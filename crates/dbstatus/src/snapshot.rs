//! Tables as the clients of databases print them: `mariadb` and `mysql` separated by tabs or in boxes, `psql` aligned, expanded or as CSV,
//! with or without their header. A line of `/proc/PID/stat` has the CPU time of a process.

use std::collections::HashMap;

/// The first columns of the tables that have a meaning, as their headers name them.
const NAME_COLUMNS: [&str; 2] = ["variable_name", "name"];
const TABLES: [&str; 6] = ["checkpoints_timed", "num_timed", "wal_records", "backend_type", "datid", "now_s"];
/// Units of time in `/proc/PID/stat`, per second: the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// The variables, counters and tables of a server at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Values by their names in lower case.
    values: HashMap<String, String>,
    /// Units of values that have one.
    units: HashMap<String, String>,
    /// Rows of other tables, by the name of their first column.
    rows: HashMap<&'static str, Vec<Row>>,
    /// CPU time of processes, s.
    cpu_s: Option<f64>,
}

/// Values by column.
type Row = HashMap<String, String>;

/// The table that the next rows belong to.
enum Header {
    /// Names and values, and perhaps a unit.
    Names,
    /// The columns of a table.
    Columns(&'static str, Vec<String>),
}

impl Snapshot {
    /// Reads a text; lines that are no rows of a table are left out.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut snapshot = Snapshot::default();
        let mut header = Header::Names;
        let mut record: Option<Row> = None;
        for line in text.lines() {
            if let Some(seconds) = cpu_seconds(line) {
                snapshot.cpu_s = Some(snapshot.cpu_s.unwrap_or(0.0) + seconds);
                continue;
            }
            if line.starts_with("-[ RECORD ") {
                snapshot.add_record(record.replace(Row::new()));
                continue;
            }
            let cells = cells(line);
            if let Some(row) = &mut record {
                if let [name, value] = &cells[..] {
                    row.insert(name.to_lowercase(), value.clone());
                    continue;
                }
                snapshot.add_record(record.take());
            }
            match header_of(&cells) {
                Some(new) => header = new,
                None => snapshot.add_row(&header, cells),
            }
        }
        snapshot.add_record(record);
        snapshot
    }

    /// Adds a table that a server sent.
    pub fn add_table(&mut self, columns: &[String], rows: Vec<Vec<String>>) {
        let header = header_of(columns).unwrap_or(Header::Names);
        rows.into_iter().for_each(|row| self.add_row(&header, row));
    }

    /// Adds the CPU time of processes, from their lines of `/proc/PID/stat`.
    pub fn add_processes(&mut self, lines: &str) {
        for seconds in lines.lines().filter_map(cpu_seconds) {
            self.cpu_s = Some(self.cpu_s.unwrap_or(0.0) + seconds);
        }
    }

    fn add_row(&mut self, header: &Header, cells: Vec<String>) {
        match header {
            Header::Names => self.add_value(&cells),
            Header::Columns(table, columns) if cells.len() == columns.len() => {
                let row = columns.iter().cloned().zip(cells).collect();
                self.rows.entry(table).or_default().push(row);
            }
            Header::Columns(..) => {}
        }
    }

    fn add_value(&mut self, cells: &[String]) {
        if let [name, value, unit @ ..] = cells
            && !name.is_empty()
            && unit.len() <= 1
        {
            let name = name.to_lowercase();
            if let Some(unit) = unit.first().filter(|unit| !unit.is_empty()) {
                self.units.insert(name.clone(), unit.clone());
            }
            self.values.insert(name, value.clone());
        }
    }

    /// Adds a row that was printed with a line for each column.
    fn add_record(&mut self, record: Option<Row>) {
        let Some(row) = record else { return };
        if let (Some(name), Some(value)) = (row.get("name"), row.get("setting")) {
            self.add_value(&[name.clone(), value.clone(), row.get("unit").cloned().unwrap_or_default()]);
        } else if let Some(table) = TABLES.into_iter().find(|first| row.contains_key(*first)) {
            self.rows.entry(table).or_default().push(row);
        }
    }

    /// The value of a variable or counter, in any case.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(&name.to_lowercase()).map(String::as_str)
    }

    /// The unit of a value.
    pub(crate) fn unit(&self, name: &str) -> Option<&str> {
        self.units.get(name).map(String::as_str)
    }

    /// The rows of the table with this first column.
    pub(crate) fn rows(&self, first_column: &str) -> &[Row] {
        self.rows.get(first_column).map_or(&[], Vec::as_slice)
    }

    /// CPU time that the server's processes have used, in seconds, if the text has their lines of `/proc/PID/stat`.
    pub(crate) fn cpu_s(&self) -> Option<f64> {
        self.cpu_s
    }
}

/// The header that a line is.
fn header_of(cells: &[String]) -> Option<Header> {
    let first = cells.first()?.to_lowercase();
    if NAME_COLUMNS.contains(&first.as_str()) {
        return Some(Header::Names);
    }
    let table = TABLES.into_iter().find(|table| *table == first).filter(|_| cells.len() > 2)?;
    Some(Header::Columns(table, cells.iter().map(|cell| cell.to_lowercase()).collect()))
}

/// The cells of a line of a table: between tabs, bars or commas, in this order of preference.
fn cells(line: &str) -> Vec<String> {
    let is_border = |text: &str| !text.is_empty() && text.bytes().all(|byte| b"+-".contains(&byte));
    let line = line.trim_end_matches('\r');
    if is_border(line.trim()) {
        return Vec::new();
    }
    if line.contains('\t') {
        return line.split('\t').map(|cell| cell.trim().to_owned()).collect();
    }
    if let Some(boxed) = line.strip_prefix('|').and_then(|rest| rest.trim_end().strip_suffix('|')) {
        return boxed.split('|').map(|cell| cell.trim().to_owned()).collect();
    }
    let quoted = line.starts_with('"');
    match line.find(['|', ',']).map(|at| &line[at..=at]) {
        Some("|") if !quoted => line.split('|').map(|cell| cell.trim().to_owned()).collect(),
        Some(_) => csv_cells(line),
        None => Vec::new(),
    }
}

/// The cells of a line of CSV; two quotes in a quoted cell are one.
fn csv_cells(line: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let (mut cell, mut is_quoted) = (String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => cell.extend(characters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

/// The CPU time in a line of `/proc/PID/stat`, that of its ended children included.
fn cpu_seconds(line: &str) -> Option<f64> {
    let (pid, rest) = line.split_once(" (")?;
    pid.parse::<u32>().ok()?;
    let (_, fields) = rest.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // utime, stime, cutime and cstime, which proc(5) counts from 1 and from the process id on as 14 to 17.
    let times = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok());
    times.sum::<Option<u64>>().map(|ticks| ticks as f64 / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests;
