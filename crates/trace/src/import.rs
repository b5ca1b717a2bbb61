//! Converts traces of other programs to I/O logs: [`import`] reads lines, and writes a log of version 3.
//!
//! Each format has a module: [`blkparse`], [`columns`] (published traces and biosnoop) and `strace`. A module turns lines into [`event`]s.
//! [`guess`] recognises the format of a trace by its first lines. [`select`] leaves I/Os out, [`names`] chooses the names of files in the
//! log, `order` sorts nearly sorted events, and [`ImportSummary`] counts. Memory grows not with the trace, but only with the number of its
//! files and processes.

pub mod blkparse;
pub mod columns;
pub mod event;
mod fields;
mod format;
mod kind;
mod lines;
pub mod names;
mod order;
pub mod select;
mod strace;
mod summary;

use std::io::{self, BufRead, Read as _};

pub use format::{TraceFormat, TraceParser, guess, missing_column};
pub use summary::{BadLines, FileSummary, ImportSummary};

use crate::{FileAction, IologWriter, LogError};
use event::{SkipReason, TraceContents, TraceEvent, TraceEventKind};
use lines::TraceLines;
use names::{LogNames, NameRules};
use order::{QueueDepth, SortWindow};
use select::ImportSelection;

/// Bytes of a trace that are examined to guess its format.
const HEAD_BYTES: u64 = 256 << 10;

/// Time of the first I/O in a log. fio starts to wait at the first line whose time is not 0, so a log that began at 0 would lose the
/// pause after its first I/O.
const FIRST_US: u64 = 1;

/// Longest I/O in a log: the largest length of a system call.
const MAX_IO_BYTES: u64 = 0x7fff_f000;

/// Lines after which a trace is rejected if most of them do not fit the format.
const MIN_JUDGED_LINES: u64 = 10_000;

/// The settings of an import.
#[derive(Debug)]
pub struct ImportSettings {
    /// The selection of I/Os.
    pub selection: ImportSelection,
    /// The names of files in the log.
    pub naming: NameRules,
    /// Number of events that are held back for sorting.
    pub window: usize,
    /// Whether times are kept. Otherwise the log begins with its first I/O.
    pub keeps_times: bool,
    /// Largest percentage of lines that may not fit the format.
    pub max_bad_lines_percent: f64,
}

impl ImportSettings {
    /// Whether there are too many bad lines.
    fn refuses(&self, bad: u64, lines: u64) -> bool {
        bad as f64 * 100.0 > self.max_bad_lines_percent * lines as f64
    }
}

/// A reason why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The trace cannot be read.
    #[error("cannot read the trace: {}", ferrio_job::reason(.0))]
    Read(#[from] io::Error),
    /// The log cannot be written.
    #[error("{}: {}", .0, ferrio_job::reason(&.0.source))]
    Write(#[from] LogError),
    /// Too many lines do not fit the format.
    #[error("{} of {} lines do not fit the format {format}; the first is line {}: {}", .bad.count, .lines, .bad.first_number(), .bad.first_reason())]
    WrongFormat {
        /// The format.
        format: &'static str,
        /// Number of lines read.
        lines: u64,
        /// The lines that do not fit.
        bad: BadLines,
    },
    /// The log would contain no I/O.
    #[error("no I/O of the trace is left for the log")]
    Nothing(Box<ImportSummary>),
}

/// The first lines of a trace.
///
/// # Errors
/// The trace cannot be read.
pub fn head(source: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// Converts a trace to a log.
///
/// # Errors
/// The trace cannot be read, has another format or no I/O, or the log cannot be written.
pub fn import(
    source: impl BufRead,
    format: TraceFormat,
    mut parser: TraceParser,
    settings: &ImportSettings,
    log: IologWriter,
) -> Result<ImportSummary, ImportError> {
    let mut lines = TraceLines::new(source);
    let mut found = TraceContents::default();
    let mut conversion = Conversion {
        settings,
        depth: QueueDepth::default(),
        is_over: false,
        order: SortWindow::new(settings.window),
        names: LogNames::new(&settings.naming),
        log,
        zero_ns: None,
        summary: ImportSummary::default(),
    };
    let mut bad = BadLines::default();
    while let Some((number, line)) = lines.next_line()? {
        let fits = match line {
            Some(line) => parser.line(line, &mut found).and_then(|()| found.refuse_too_long()),
            None => Err(lines::TOO_LONG.into()),
        };
        if let Err(why) = fits {
            bad.add(number, line.unwrap_or_default(), &why);
        }
        if number >= MIN_JUDGED_LINES && bad.count > number / 2 && settings.refuses(bad.count, number) {
            return Err(ImportError::WrongFormat { format: format.word(), lines: number, bad });
        }
        conversion.take(&mut found)?;
        if conversion.is_over {
            break;
        }
    }
    if !conversion.is_over {
        parser.finish(&mut found);
        if let Err(why) = found.refuse_too_long() {
            bad.add(lines.number(), b"", &why);
        }
    }
    let (lines, is_cut) = (lines.number(), conversion.is_over);
    if settings.refuses(bad.count, lines) {
        return Err(ImportError::WrongFormat { format: format.word(), lines, bad });
    }
    let mut summary = conversion.finish(&mut found)?;
    (summary.lines, summary.bad, summary.remarks, summary.skipped) =
        (lines, bad, found.remarks, found.skipped);
    summary.is_cut = is_cut;
    // A parser measures the queue depth before the selection leaves I/Os out, so its figure is right only if the selection is everything.
    if settings.selection.is_everything() {
        summary.deepest = summary.deepest.max(found.remarks.deepest);
    }
    summary.targets = found.targets;
    if summary.ios() == 0 {
        return Err(ImportError::Nothing(Box::new(summary)));
    }
    Ok(summary)
}

/// The state of a conversion.
struct Conversion<'a> {
    settings: &'a ImportSettings,
    depth: QueueDepth,
    /// Whether no later I/O can be in the log.
    is_over: bool,
    order: SortWindow,
    names: LogNames<'a>,
    log: IologWriter,
    /// Time of the first event, for which the log has [`FIRST_US`].
    zero_ns: Option<u64>,
    summary: ImportSummary,
}

impl Conversion<'_> {
    /// Takes the events of a line.
    fn take(&mut self, found: &mut TraceContents) -> Result<(), ImportError> {
        let mut left_out = 0;
        for event in found.events.drain(..) {
            if !self.settings.selection.takes(&event, &found.targets) {
                left_out += u64::from(event.what != TraceEventKind::Close);
                continue;
            }
            if let Some(event) = self.order.push(event) {
                left_out += self.write(event, &found.targets)?;
            }
        }
        found.skipped[SkipReason::LeftOut as usize] += left_out;
        Ok(())
    }

    fn finish(mut self, found: &mut TraceContents) -> Result<ImportSummary, ImportError> {
        while let Some(event) = self.order.pop() {
            let left_out = self.write(event, &found.targets)?;
            found.skipped[SkipReason::LeftOut as usize] += left_out;
        }
        let end_us = self.summary.last_us.unwrap_or(0);
        for name in self.names.open_files() {
            self.log.file(end_us, name.as_ref(), FileAction::Close)?;
        }
        self.summary.files = self.names.files(&found.targets);
        (self.summary.late, self.summary.deepest) = (self.order.late(), self.depth.deepest());
        self.log.finish()?;
        Ok(self.summary)
    }

    /// Writes the next event. Returns the number of events left out because of their time: 0 or 1.
    fn write(&mut self, event: TraceEvent, targets: &event::Targets) -> Result<u64, ImportError> {
        // A file that is closed without any I/O was never opened in the log.
        let is_close = event.what == TraceEventKind::Close;
        if is_close && !self.names.is_open(event.target) {
            return Ok(0);
        }
        let begin = *self.zero_ns.get_or_insert(event.time_ns);
        let since = event.time_ns.saturating_sub(begin);
        if !is_close && !self.settings.selection.covers(since, self.summary.ios()) {
            self.is_over |= self.settings.selection.ends_before(since, self.summary.ios());
            return Ok(1);
        }
        self.depth.follow(&event);
        let time_us = if self.settings.keeps_times {
            (event.time_ns / 1000).max(FIRST_US)
        } else {
            // Time that was left out at the beginning is not a pause.
            (since.saturating_sub(self.settings.selection.from_ns)) / 1000 + FIRST_US
        };
        let time_us = time_us.max(self.summary.last_us.unwrap_or(0));
        self.summary.first_us.get_or_insert(time_us);
        self.summary.last_us = Some(time_us);
        let file = self.names.file(event.target, targets);
        let was_added = std::mem::replace(&mut file.is_added, true);
        let was_open = std::mem::replace(&mut file.is_open, !is_close);
        let TraceEventKind::Io { action, offset, len } = event.what else {
            self.log.file(time_us, &file.name, FileAction::Close)?;
            return Ok(0);
        };
        if !was_added {
            self.log.file(time_us, &file.name, FileAction::Add)?;
        }
        if !was_open {
            self.log.file(time_us, &file.name, FileAction::Open)?;
        }
        file.usage.add(action, offset, len);
        let mut at = offset;
        let mut rest = len;
        loop {
            let part = rest.min(MAX_IO_BYTES);
            self.log.io(time_us, &file.name, action.word(), at, part)?;
            self.summary.count(action, part);
            (at, rest) = (at + part, rest - part);
            if rest == 0 {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests;
