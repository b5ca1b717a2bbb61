//! From the lines of a log to the steps of its replay, as the `replay_*` options change them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{BufReader, Chain, Cursor, Read};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use ferrio_job::{Direction, LoggedFile, ReplayAction, ReplayRules, ReplayStep, ReplaySummary};

use crate::block_trace::TraceSteps;
use crate::{FileAction, IoAction, LogAction, LogLine, ReadError, Reader, TraceReader, is_block_trace};

/// Bytes that tell block traces from logs.
const BEGIN: usize = 4;

/// Bytes of a block trace that are read at once.
const BUFFER: usize = 1 << 16;

/// Reads the steps of a log or of a block trace, one after the other.
#[derive(Debug)]
pub struct StepReader<R>(Steps<R>);

#[derive(Debug)]
enum Steps<R> {
    Log(Box<LogSteps<R>>),
    Trace(Box<TraceSteps<BufReader<Begun<R>>>>),
}

/// A source of which the first bytes are read already.
type Begun<R> = Chain<Cursor<Vec<u8>>, R>;

/// Reads the steps of a log.
#[derive(Debug)]
struct LogSteps<R> {
    reader: Reader<Begun<R>>,
    steps: StepBuilder,
}

/// What is wrong with a log while it is read.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// A line is passed over.
    #[error("{message}")]
    Skipped {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// The log cannot be replayed.
    #[error("line {line}: {message}")]
    Unusable {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
}

impl<R: Read> StepReader<R> {
    /// Begins with the first bytes, which tell traces from logs.
    ///
    /// # Errors
    /// They are those of neither.
    pub fn new(mut source: R, rules: ReplayRules) -> Result<Self, ReadError> {
        let mut first = Vec::with_capacity(BEGIN);
        source.by_ref().take(BEGIN as u64).read_to_end(&mut first)?;
        let is_trace = is_block_trace(&first);
        let source = Cursor::new(first).chain(source);
        Ok(StepReader(if is_trace {
            let trace =
                TraceReader::new(BufReader::with_capacity(BUFFER, source)).map_err(ReadError::Trace)?;
            Steps::Trace(Box::new(TraceSteps::new(trace, rules)))
        } else {
            let (reader, steps) = (Reader::new(source)?, StepBuilder::new(rules));
            Steps::Log(Box::new(LogSteps { reader, steps }))
        }))
    }

    /// The next step; `None` at the end. After a line or record that is skipped the log goes on.
    ///
    /// # Errors
    /// A line or record is skipped, or the log cannot be replayed or read.
    pub fn next_step(&mut self) -> Result<Option<ReplayStep>, StepError> {
        match &mut self.0 {
            Steps::Log(log) => log.next_step(),
            Steps::Trace(trace) => trace.next_step(),
        }
    }

    /// What is known of the log as far as it is read.
    pub fn summary(&self) -> &ReplaySummary {
        match &self.0 {
            Steps::Log(log) => log.steps.summary(),
            Steps::Trace(trace) => trace.summary(),
        }
    }

    /// True for a block trace, whose entries are records. Those of a log are lines.
    pub fn is_trace(&self) -> bool {
        matches!(self.0, Steps::Trace(_))
    }

    /// At the end of a block trace: what to know about its replay.
    pub fn notes(&self) -> Vec<String> {
        match &self.0 {
            Steps::Log(_) => Vec::new(),
            Steps::Trace(trace) => trace.notes(),
        }
    }

    /// At the end of a block trace: how many requests that change data are left out because of `--readonly`.
    pub fn changes_left_out(&self) -> u64 {
        match &self.0 {
            Steps::Log(_) => 0,
            Steps::Trace(trace) => trace.changes_left_out(),
        }
    }

    /// What is known of the whole log, at its end; `None` if the log does nothing.
    pub fn finish(self) -> Option<ReplaySummary> {
        match self.0 {
            Steps::Log(log) => log.steps.finish(),
            Steps::Trace(trace) => trace.finish(),
        }
    }
}

impl<R: Read> LogSteps<R> {
    fn next_step(&mut self) -> Result<Option<ReplayStep>, StepError> {
        loop {
            let added = match self.reader.next_entry()? {
                None => return Ok(None),
                Some(Ok(line)) => self.steps.add(&line),
                Some(Err(bad)) => Err(Problem::Skipped(bad.to_string())),
            };
            match added {
                Ok(None) => {}
                Ok(step) => return Ok(step),
                Err(problem) => return Err(problem.in_line(self.reader.line_number())),
            }
        }
    }
}

/// What is wrong with a line.
#[derive(Debug)]
pub enum Problem {
    /// It is passed over.
    Skipped(String),
    /// The log cannot be replayed.
    Unusable(String),
}

impl Problem {
    pub(crate) fn in_line(self, line: u64) -> StepError {
        match self {
            Problem::Skipped(message) => StepError::Skipped { line, message },
            Problem::Unusable(message) => StepError::Unusable { line, message },
        }
    }
}

/// Makes steps of the entries of a log or trace, and sums them up.
#[derive(Debug)]
pub struct StepBuilder {
    rules: ReplayRules,
    summary: ReplaySummary,
    /// Index in the log of each file that a line has added.
    index: HashMap<Vec<u8>, u32>,
    /// The file of the line before: most often also that of the next one.
    last: Option<u32>,
    /// How often each file is open.
    open: Vec<u32>,
    /// Time of the line before.
    previous_us: u64,
    /// Sum of the waits so far.
    waits_us: u64,
    /// A read, write, trim or wait is among the entries.
    works: bool,
}

impl StepBuilder {
    /// For the entries of a whole log.
    #[must_use]
    pub fn new(rules: ReplayRules) -> Self {
        StepBuilder {
            rules,
            summary: ReplaySummary::default(),
            index: HashMap::new(),
            last: None,
            open: Vec::new(),
            previous_us: 0,
            waits_us: 0,
            works: false,
        }
    }

    /// What is known of the entries so far.
    #[must_use]
    pub fn summary(&self) -> &ReplaySummary {
        &self.summary
    }

    /// Everything from here on is due this long after the start. For entries that are not added with times.
    pub(crate) fn wait(&mut self, until_us: u64) {
        self.waits_us = until_us;
    }

    /// The step that an entry asks for, if it does.
    ///
    /// # Errors
    /// The entry cannot be replayed.
    pub fn add(&mut self, line: &LogLine<'_>) -> Result<Option<ReplayStep>, Problem> {
        self.tick(line.time_us);
        if let LogAction::Wait { until_ms } = line.what {
            self.works = true;
            return Ok((!self.rules.no_stall).then(|| self.step(ReplayAction::Wait, 0, until_ms, 0)));
        }
        let known = self.find(line.name);
        if line.what == LogAction::File(FileAction::Add) {
            return if known.is_some() { Ok(None) } else { self.add_file(line.name).map(|()| None) };
        }
        let Some(file) = known else {
            return Err(Problem::Unusable(format!(
                "the file {} is used before a line adds it",
                shown(line.name)
            )));
        };
        match line.what {
            LogAction::File(FileAction::Open) => Ok(self.open(file)),
            LogAction::File(_) => self.close(file, line.name),
            LogAction::Io { action, offset, len } => self.io(file, action, offset, len, line.name),
            LogAction::Wait { .. } => Ok(None),
        }
    }

    /// The summary of all entries; `None` if they do nothing.
    #[must_use]
    pub fn finish(self) -> Option<ReplaySummary> {
        self.works.then_some(self.summary)
    }

    /// The index of a file that was added.
    fn find(&mut self, name: &[u8]) -> Option<u32> {
        if self.rules.redirect.is_some() {
            return (!self.summary.files.is_empty()).then_some(0);
        }
        if let Some(last) = self.last
            && self.summary.files[last as usize].path.as_os_str().as_bytes() == name
        {
            return self.last;
        }
        let found = self.index.get(name).copied();
        self.last = found.or(self.last);
        found
    }

    fn add_file(&mut self, name: &[u8]) -> Result<(), Problem> {
        let file = u32::try_from(self.summary.files.len()).unwrap_or(u32::MAX);
        if file >= ReplayStep::MAX_FILES {
            let message = format!("more than {} files", ReplayStep::MAX_FILES);
            return Err(Problem::Unusable(message));
        }
        let path = match &self.rules.redirect {
            Some(path) => path.clone(),
            None => {
                self.index.insert(name.to_vec(), file);
                PathBuf::from(OsString::from_vec(name.to_vec()))
            }
        };
        self.summary.files.push(LoggedFile { path, end: 0 });
        self.open.push(0);
        Ok(())
    }

    /// A file that several jobs of the recorded run had open is open until the last of them closes it.
    fn open(&mut self, file: u32) -> Option<ReplayStep> {
        let open = &mut self.open[file as usize];
        *open += 1;
        (*open == 1).then(|| self.step(ReplayAction::Open, file, 0, 0))
    }

    fn close(&mut self, file: u32, name: &[u8]) -> Result<Option<ReplayStep>, Problem> {
        let open = &mut self.open[file as usize];
        let Some(left) = open.checked_sub(1) else {
            return Err(Problem::Skipped(format!("the file {} is closed but not open", shown(name))));
        };
        *open = left;
        Ok((left == 0).then(|| self.step(ReplayAction::Close, file, 0, 0)))
    }

    fn io(
        &mut self,
        file: u32,
        action: IoAction,
        offset: u64,
        len: u32,
        name: &[u8],
    ) -> Result<Option<ReplayStep>, Problem> {
        if self.skips(action) {
            return Ok(None);
        }
        if self.open[file as usize] == 0 {
            let message = format!("the file {} is used before a line opens it", shown(name));
            return Err(Problem::Unusable(message));
        }
        let action = match action {
            IoAction::Sync => return Ok(Some(self.step(ReplayAction::Sync, file, 0, 0))),
            IoAction::Datasync => return Ok(Some(self.step(ReplayAction::Datasync, file, 0, 0))),
            IoAction::Read => ReplayAction::Read,
            IoAction::Write => ReplayAction::Write,
            IoAction::Trim => ReplayAction::Trim,
        };
        let offset = if self.rules.scale > 1 { offset / self.rules.scale } else { offset };
        // A power of two.
        let offset = offset & !(self.rules.align - 1);
        if len == 0 {
            return Err(Problem::Skipped("an I/O of 0 bytes".to_owned()));
        }
        if offset.checked_add(u64::from(len)).is_none_or(|end| i64::try_from(end).is_err()) {
            return Err(Problem::Skipped("an I/O beyond 2^63 bytes".to_owned()));
        }
        self.works = true;
        Ok(Some(self.step(action, file, offset, len)))
    }

    fn skips(&self, action: IoAction) -> bool {
        match action {
            IoAction::Read => self.rules.skips[Direction::Read],
            IoAction::Write => self.rules.skips[Direction::Write],
            IoAction::Trim => self.rules.skips[Direction::Trim],
            IoAction::Sync => self.rules.skips_syncs,
            IoAction::Datasync => false,
        }
    }

    fn step(&mut self, action: ReplayAction, file: u32, offset: u64, len: u32) -> ReplayStep {
        let due_us = match (self.rules.no_stall, self.rules.time_scale) {
            (true, _) => 0,
            (false, 100) => self.waits_us,
            (false, percent) => {
                let due = u128::from(self.waits_us) * 100 / u128::from(percent.max(1));
                u64::try_from(due).unwrap_or(u64::MAX)
            }
        };
        let step = ReplayStep::new(due_us, action, file, offset, len);
        self.summary.add(&step);
        step
    }

    /// Waits add up from the first line with a time, and none is added where time goes back.
    fn tick(&mut self, time_us: u64) {
        if self.previous_us > 0 {
            self.waits_us = self.waits_us.saturating_add(time_us.saturating_sub(self.previous_us));
        }
        self.previous_us = time_us;
    }
}

fn shown(name: &[u8]) -> impl std::fmt::Display + '_ {
    String::from_utf8_lossy(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps of a log, and what is wrong with it.
    fn read(log: &str, rules: ReplayRules) -> (Vec<ReplayStep>, Vec<String>, Option<ReplaySummary>) {
        let mut reader = StepReader::new(log.as_bytes(), rules).unwrap();
        let (mut steps, mut problems) = (Vec::new(), Vec::new());
        loop {
            match reader.next_step() {
                Ok(Some(step)) => steps.push(step),
                Ok(None) => break,
                Err(error @ StepError::Unusable { .. }) => {
                    problems.push(error.to_string());
                    break;
                }
                Err(StepError::Skipped { line, message }) => problems.push(format!("{line}: {message}")),
                Err(error) => problems.push(error.to_string()),
            }
        }
        (steps, problems, reader.finish())
    }

    const LOG: &str = "fio version 3 iolog\n1 a add\n1 b add\n2 a open\n3 a write 10000 512\n4 b open\n\
                       5 b read 4096 4096\n9 a sync 0 0\n10 a close\n10 b close\n";

    #[test]
    fn lines_of_several_files_become_steps_with_their_files() {
        let (steps, problems, summary) = read(LOG, ReplayRules::default());
        use ReplayAction::{Close, Open, Read, Sync, Write};
        let want = [
            ReplayStep::new(1, Open, 0, 0, 0),
            ReplayStep::new(2, Write, 0, 10000, 512),
            ReplayStep::new(3, Open, 1, 0, 0),
            ReplayStep::new(4, Read, 1, 4096, 4096),
            ReplayStep::new(8, Sync, 0, 0, 0),
            ReplayStep::new(9, Close, 0, 0, 0),
            ReplayStep::new(9, Close, 1, 0, 0),
        ];
        assert_eq!((steps.as_slice(), problems.len()), (&want[..], 0));
        let summary = summary.unwrap();
        let files: Vec<_> =
            summary.files.iter().map(|file| (file.path.to_str().unwrap(), file.end)).collect();
        assert_eq!(files, [("a", 10512), ("b", 8192)]);
        assert_eq!((summary.bytes(), summary.syncs, summary.last_due_us), (4608, 1, 9));
    }

    #[test]
    fn rules_change_offsets_times_files_and_kinds() {
        let skips = ferrio_job::PerDirection([true, false, false]);
        let redirect = Some(PathBuf::from("c"));
        let rules =
            ReplayRules { time_scale: 50, scale: 2, align: 4096, redirect, skips, ..Default::default() };
        let (steps, _, summary) = read(LOG, rules);
        use ReplayAction::{Close, Open, Sync, Write};
        let want = [
            ReplayStep::new(2, Open, 0, 0, 0),
            ReplayStep::new(4, Write, 0, 4096, 512),
            ReplayStep::new(16, Sync, 0, 0, 0),
            ReplayStep::new(18, Close, 0, 0, 0),
        ];
        assert_eq!(steps, want);
        assert_eq!(summary.unwrap().files, [LoggedFile { path: PathBuf::from("c"), end: 4608 }]);
    }

    #[test]
    fn problems_have_the_number_of_their_line() {
        let log = "fio version 2 iolog\nd add\nd open\nd read 0 0\nbad\nd read 0 1\nd close\nd close\ne open\nd open\n";
        let (steps, problems, _) = read(log, ReplayRules::default());
        assert_eq!(steps.len(), 3);
        let want = [
            "4: an I/O of 0 bytes",
            "5: bad iolog2: bad",
            "8: the file d is closed but not open",
            "line 9: the file e is used before a line adds it",
        ];
        assert_eq!(problems, want);
    }

    #[test]
    fn a_log_that_does_nothing_has_no_summary() {
        assert_eq!(read("fio version 2 iolog\nd add\nd open\nd sync 0 0\n", ReplayRules::default()).2, None);
        let (steps, _, summary) = read(
            "fio version 2 iolog\nd add\nd wait 5 0\n",
            ReplayRules { no_stall: true, ..Default::default() },
        );
        assert_eq!((steps.len(), summary.is_some()), (0, true));
    }
}
