//! Turns entries of a log into steps, as the `replay_*` options modify them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use ferrio_job::{Direction, LoggedFile, ReplayAction, ReplayRules, ReplayStep, ReplaySummary};

use crate::step_error::EntryProblem;
use crate::{FileAction, IoAction, LogAction, LogLine};

/// Makes steps of the entries of a log or trace, and summarizes them.
#[derive(Debug)]
pub struct StepBuilder {
    rules: ReplayRules,
    summary: ReplaySummary,
    /// Index in the log of each file that a line has added.
    index: HashMap<Vec<u8>, u32>,
    /// The file of the previous line: most often also that of the next one.
    last: Option<u32>,
    /// Number of times that each file is open.
    open: Vec<u32>,
    /// Time of the previous line.
    previous_us: u64,
    /// Sum of the waits so far.
    waits_us: u64,
    /// Whether there was a read, write, trim or wait.
    works: bool,
}

impl StepBuilder {
    /// A builder without entries.
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

    /// The summary of the entries so far.
    #[must_use]
    pub fn summary(&self) -> &ReplaySummary {
        &self.summary
    }

    /// Delays the following steps until this time after the start. For entries that are added without times.
    pub(crate) fn wait(&mut self, until_us: u64) {
        self.waits_us = until_us;
    }

    /// The step of an entry, if it has one.
    ///
    /// # Errors
    /// The entry cannot be replayed.
    pub fn add(&mut self, line: &LogLine<'_>) -> Result<Option<ReplayStep>, EntryProblem> {
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
            return Err(EntryProblem::Unusable(format!(
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

    fn add_file(&mut self, name: &[u8]) -> Result<(), EntryProblem> {
        let file = u32::try_from(self.summary.files.len()).unwrap_or(u32::MAX);
        if file >= ReplayStep::MAX_FILES {
            let message = format!("more than {} files", ReplayStep::MAX_FILES);
            return Err(EntryProblem::Unusable(message));
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

    /// Opens a file. One that several jobs of the recorded run had open stays open until the last of them closes it.
    fn open(&mut self, file: u32) -> Option<ReplayStep> {
        let open = &mut self.open[file as usize];
        *open += 1;
        (*open == 1).then(|| self.step(ReplayAction::Open, file, 0, 0))
    }

    fn close(&mut self, file: u32, name: &[u8]) -> Result<Option<ReplayStep>, EntryProblem> {
        let open = &mut self.open[file as usize];
        let Some(left) = open.checked_sub(1) else {
            return Err(EntryProblem::Skipped(format!("the file {} is closed but not open", shown(name))));
        };
        *open = left;
        Ok((left == 0).then(|| self.step(ReplayAction::Close, file, 0, 0)))
    }

    fn io(
        &mut self,
        file: u32,
        action: IoAction,
        offset: u64,
        len: u64,
        name: &[u8],
    ) -> Result<Option<ReplayStep>, EntryProblem> {
        if self.skips(action) {
            return Ok(None);
        }
        if self.open[file as usize] == 0 {
            let message = format!("the file {} is used before a line opens it", shown(name));
            return Err(EntryProblem::Unusable(message));
        }
        let action = match action {
            IoAction::Sync => return Ok(Some(self.step(ReplayAction::Sync, file, 0, 0))),
            IoAction::Datasync => return Ok(Some(self.step(ReplayAction::Datasync, file, 0, 0))),
            IoAction::Read => ReplayAction::Read,
            IoAction::Write => ReplayAction::Write,
            IoAction::Trim => ReplayAction::Trim,
        };
        let offset = if self.rules.scale > 1 { offset / self.rules.scale } else { offset };
        // `align` is a power of two.
        let offset = offset & !(self.rules.align - 1);
        if len == 0 {
            return Err(EntryProblem::Skipped("an I/O of 0 bytes".to_owned()));
        }
        if offset.checked_add(len).is_none_or(|end| i64::try_from(end).is_err()) {
            return Err(EntryProblem::Skipped("an I/O beyond 2^63 bytes".to_owned()));
        }
        if len >> ReplayStep::LEN_BITS > 0 {
            return Err(EntryProblem::Skipped(format!("an I/O of 2^{} bytes or more", ReplayStep::LEN_BITS)));
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

    fn step(&mut self, action: ReplayAction, file: u32, offset: u64, len: u64) -> ReplayStep {
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

    /// Waits add up from the first line with a time; a time that goes back adds none.
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
