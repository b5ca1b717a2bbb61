//! One log, read in one pass.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use ferrio_job::LogKind;
use ferrio_stats::{Latency, cell_of, saturating_add_to};

use crate::compressed::{InflateError, inflate_log};
use crate::histogram::HistogramRow;
use crate::name::LogName;
use crate::row_reader::{LayoutHint, Numbers, RowLayout, SampleRow};

/// A reason why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogReadError {
    /// An error of input.
    #[error("{}", ferrio_job::reason(.0))]
    Io(io::Error),
    /// A compressed log is damaged or cut off.
    #[error("{0}")]
    Inflate(InflateError),
    /// Several jobs wrote rows that stand for windows of time into one log.
    #[error("its rows are those of several jobs, which nothing tells apart")]
    SeveralJobs,
    /// A line is no row of a log.
    #[error("line {line} is no row of a log: `{text}`")]
    Row {
        /// Number of the line, from 1.
        line: usize,
        /// Beginning of the line.
        text: String,
    },
}

/// A log that was read.
#[derive(Clone, Debug)]
pub struct LogContent {
    /// The name of the file, taken apart.
    pub name: LogName,
    /// Reads, writes and trims.
    pub directions: [DirectionContent; 3],
}

/// The contents of a log about one direction.
#[derive(Clone, Debug, Default)]
pub struct DirectionContent {
    /// Single I/Os.
    pub singles: SingleIos,
    /// Rows that stand for windows, in the order of the log.
    pub windows: Vec<WindowRow>,
    /// All latencies, if the log is about latencies of single I/Os or about histograms.
    pub latency: Latency,
}

/// Single I/Os, summed up in slices of time.
#[derive(Clone, Debug)]
pub struct SingleIos {
    /// When the first slice begins, ms in the time of the log.
    pub origin_ms: u64,
    /// Length of a slice, ms.
    pub step_ms: u64,
    /// Slices of this length from the origin on.
    pub slices: Vec<TimeSlice>,
    /// Time of the last I/O, ms in the time of the log.
    pub last_ms: u64,
}

/// I/Os that completed in one slice of time.
#[derive(Clone, Debug, Default)]
pub struct TimeSlice {
    /// Completed I/Os.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of the latencies, ns.
    pub sum_ns: u64,
    /// The largest latency, ns.
    pub max_ns: u64,
    /// Samples by the bucket of their latency, as in the `cells` of a series.
    pub cells: BTreeMap<u64, u64>,
}

/// A row that stands for the I/Os of a window.
#[derive(Clone, Debug)]
pub struct WindowRow {
    /// ms in the time of the log.
    pub end_ms: u64,
    /// The mean of the I/Os or the value that `log_window_value` chose; 0 in histograms.
    pub value: u64,
    /// The largest value, if the log has this column.
    pub maximum: Option<u64>,
    /// Samples by bucket, as in [`TimeSlice`]; only in histograms.
    pub cells: BTreeMap<u64, u64>,
}

/// Length of the shortest slice of time, ms. Rows of ferrio's own figures over time are half a second.
pub const MIN_SLICE_MS: u64 = 125;

/// Pieces at most. With one more, pairs become one.
const MAX_SLICES: usize = 480;

/// Times from here on are counted from 1970 (`log_alternate_epoch`), ms: no run takes three years.
pub const EPOCH_MS: u64 = 100_000_000_000;

impl Default for SingleIos {
    fn default() -> Self {
        SingleIos { origin_ms: 0, step_ms: MIN_SLICE_MS, slices: Vec::new(), last_ms: 0 }
    }
}

impl SingleIos {
    /// The slice of this time.
    fn at(&mut self, time_ms: u64) -> &mut TimeSlice {
        if self.slices.is_empty() && time_ms >= EPOCH_MS {
            self.origin_ms = time_ms;
        }
        self.last_ms = self.last_ms.max(time_ms);
        let since = time_ms.saturating_sub(self.origin_ms);
        while since / self.step_ms >= MAX_SLICES as u64 {
            self.halve();
        }
        let place = (since / self.step_ms) as usize;
        if place >= self.slices.len() {
            self.slices.resize_with(place + 1, TimeSlice::default);
        }
        &mut self.slices[place]
    }

    fn halve(&mut self) {
        let slices = std::mem::take(&mut self.slices);
        for (at, slice) in slices.into_iter().enumerate() {
            match self.slices.last_mut() {
                Some(last) if at % 2 == 1 => last.add(&slice),
                _ => self.slices.push(slice),
            }
        }
        self.step_ms *= 2;
    }
}

impl TimeSlice {
    /// Adds the I/Os of another slice.
    pub fn add(&mut self, other: &TimeSlice) {
        saturating_add_to(&mut self.ios, other.ios);
        saturating_add_to(&mut self.bytes, other.bytes);
        saturating_add_to(&mut self.sum_ns, other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        add_cells(&mut self.cells, &other.cells);
    }
}

/// Adds counts of cells.
pub fn add_cells(to: &mut BTreeMap<u64, u64>, from: &BTreeMap<u64, u64>) {
    for (&cell, &count) in from {
        saturating_add_to(to.entry(cell).or_default(), count);
    }
}

impl LogContent {
    /// Reads a log with this name.
    ///
    /// # Errors
    /// The log cannot be read, or has a line that is no row of such a log.
    pub fn read(name: LogName, mut log: impl Read) -> Result<Self, LogReadError> {
        let compressed = name.compressed;
        let mut lines = Lines::new(name);
        let read = if compressed {
            inflate_log(log, &mut lines).map_err(|error| match error {
                InflateError::Read(error) | InflateError::Write(error) => LogReadError::Io(error),
                error => LogReadError::Inflate(error),
            })
        } else {
            io::copy(&mut log, &mut lines).map(|_| ()).map_err(LogReadError::Io)
        };
        lines.end(read)
    }

    /// True if the log has rows that stand for windows of time.
    pub fn has_windows(&self) -> bool {
        self.name.kind != LogKind::Histogram
            && self.directions.iter().any(|direction| !direction.windows.is_empty())
    }

    fn add(&mut self, row: SampleRow) {
        let direction = &mut self.directions[row.direction];
        if row.block_size == 0 {
            let window = WindowRow {
                end_ms: row.time_ms,
                value: row.value,
                maximum: row.maximum,
                cells: BTreeMap::new(),
            };
            direction.windows.push(window);
            return;
        }
        let slice = direction.singles.at(row.time_ms);
        slice.ios += 1;
        saturating_add_to(&mut slice.bytes, row.block_size);
        if self.name.kind.is_latency() {
            saturating_add_to(&mut slice.sum_ns, row.value);
            slice.max_ns = slice.max_ns.max(row.value);
            *slice.cells.entry(cell_of(row.value)).or_default() += 1;
            direction.latency.record(row.value);
        }
    }

    fn add_histogram(&mut self, row: HistogramRow) {
        let direction = &mut self.directions[row.direction];
        let mut cells = BTreeMap::new();
        for (ns, count) in row.bins {
            saturating_add_to(cells.entry(cell_of(ns)).or_default(), count);
            direction.latency.record_n(ns, count);
        }
        direction.windows.push(WindowRow { end_ms: row.time_ms, value: 0, maximum: None, cells });
    }
}

/// Takes the bytes of a log and reads them line by line.
struct Lines {
    file: LogContent,
    layout: Option<RowLayout>,
    /// Rows from before the layout was known.
    undecided: Vec<Numbers>,
    /// The beginning of a line whose end is still to come.
    rest: Vec<u8>,
    /// Lines so far.
    count: usize,
    error: Option<LogReadError>,
}

/// Bytes of a line that an error shows.
const SHOWN: usize = 60;

/// A line is at most this long: a row of a histogram has 1856 counts.
const MAX_LINE_BYTES: usize = 64 << 10;

impl Lines {
    fn new(name: LogName) -> Self {
        let file = LogContent { name, directions: Default::default() };
        Lines { file, layout: None, undecided: Vec::new(), rest: Vec::new(), count: 0, error: None }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), LogReadError> {
        self.count += 1;
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        let is_row = if self.file.name.kind == LogKind::Histogram {
            HistogramRow::read(line).map(|row| self.file.add_histogram(row))
        } else {
            Numbers::read(line).and_then(|numbers| self.row(numbers))
        };
        is_row.ok_or_else(|| LogReadError::Row {
            line: self.count,
            text: String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).escape_debug().collect(),
        })
    }

    fn row(&mut self, numbers: Numbers) -> Option<()> {
        match (numbers.layout_hint()?, self.layout) {
            (LayoutHint::Only(only), None) => self.decide(only),
            (LayoutHint::Either, None) => {
                self.undecided.push(numbers);
                return Some(());
            }
            (LayoutHint::Only(only), Some(layout)) if only != layout => return None,
            _ => {}
        }
        self.file.add(numbers.row(self.layout?));
        Some(())
    }

    fn decide(&mut self, layout: RowLayout) {
        self.layout = Some(layout);
        for numbers in std::mem::take(&mut self.undecided) {
            self.file.add(numbers.row(layout));
        }
    }

    /// The log that was read, unless there was an error.
    fn end(mut self, read: Result<(), LogReadError>) -> Result<LogContent, LogReadError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        read?;
        let rest = std::mem::take(&mut self.rest);
        self.line(&rest)?;
        self.decide(self.layout.unwrap_or(RowLayout::Plain));
        // In a log of one job, the windows of a direction follow each other.
        let is_mixed = |logged: &DirectionContent| {
            logged.windows.windows(2).any(|pair| pair[1].end_ms <= pair[0].end_ms)
        };
        match self.file.name.number {
            None if self.file.directions.iter().any(is_mixed) => Err(LogReadError::SeveralJobs),
            _ => Ok(self.file),
        }
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut begun = std::mem::take(&mut self.rest);
        let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
        let result = lines.try_for_each(|line| {
            let ended = line.ends_with(b"\n");
            if ended && begun.is_empty() {
                return self.line(line);
            }
            begun.extend_from_slice(line);
            if ended || begun.len() > MAX_LINE_BYTES {
                self.line(&begun)?;
                begun.clear();
            }
            Ok(())
        });
        self.rest = begun;
        result.map(|()| bytes.len()).map_err(|error| {
            self.error = Some(error);
            io::Error::from(io::ErrorKind::InvalidData)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
