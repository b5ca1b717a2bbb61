//! From the lines of a log to the steps of its replay, as the `replay_*` options change them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;

use ferrio_job::{Replay, ReplayAction, ReplayStep};
use ferrio_jobfile::{Job, Opt};
use ferrio_trace::{FileAction, IoAction, LogAction, LogLine};

/// What the `replay_*` options change.
#[derive(Debug)]
pub(super) struct Rules {
    no_stall: bool,
    time_scale: u64,
    scale: u64,
    align: u64,
    redirect: Option<PathBuf>,
    skips: [bool; 4],
}

impl Rules {
    pub(super) fn of(job: &Job, readonly: bool) -> Self {
        let options = &job.options;
        let skipped = options.words(Opt::ReplaySkip).map_or(Vec::new(), |(words, _)| words);
        let [read, write, trim, sync] = ["read", "write", "trim", "sync"].map(|word| skipped.contains(&word));
        Rules {
            no_stall: options.value(Opt::ReplayNoStall),
            time_scale: options.value::<u64>(Opt::ReplayTimeScale).max(1),
            scale: options.value::<u64>(Opt::ReplayScale).max(1),
            align: options.value::<u64>(Opt::ReplayAlign).max(1),
            redirect: options.text(Opt::ReplayRedirect).map(PathBuf::from),
            skips: [read, write || readonly, trim || readonly, sync],
        }
    }

    fn skips(&self, action: IoAction) -> bool {
        match action {
            IoAction::Read => self.skips[0],
            IoAction::Write => self.skips[1],
            IoAction::Trim => self.skips[2],
            IoAction::Sync => self.skips[3],
            IoAction::Datasync => false,
        }
    }
}

/// What is wrong with a line.
pub(super) enum Problem {
    /// It is passed over.
    Skipped(String),
    /// The log cannot be replayed.
    Fatal(String),
}

/// Collects the steps of a log.
pub(super) struct StepBuilder<'a> {
    rules: &'a Rules,
    log: Replay,
    /// Index in the log of each file that a line has added.
    index: HashMap<OsString, u32>,
    /// How often each file is open.
    open: Vec<u32>,
    /// Time of the line before.
    previous_us: u64,
    /// Sum of the waits so far.
    waits_us: u64,
    /// A read, write, trim or wait is among the steps.
    works: bool,
}

impl<'a> StepBuilder<'a> {
    pub(super) fn new(rules: &'a Rules) -> Self {
        StepBuilder {
            rules,
            log: Replay::default(),
            index: HashMap::new(),
            open: Vec::new(),
            previous_us: 0,
            waits_us: 0,
            works: false,
        }
    }

    pub(super) fn add(&mut self, line: LogLine) -> Result<(), Problem> {
        self.tick(line.time_us);
        let name = match &self.rules.redirect {
            Some(path) => path.clone().into_os_string(),
            None => line.name,
        };
        if line.what == LogAction::File(FileAction::Add) {
            self.add_file(name);
            return Ok(());
        }
        if let LogAction::Wait { until_ms } = line.what {
            if !self.rules.no_stall {
                self.step(ReplayAction::Wait, 0, until_ms, 0);
            }
            self.works = true;
            return Ok(());
        }
        let Some(&file) = self.index.get(&name) else {
            return Err(Problem::Fatal(format!("the file {} is used before a line adds it", name.display())));
        };
        match line.what {
            LogAction::File(action) => self.open_or_close(file, action, &name),
            LogAction::Io { action, offset, len } => self.io(file, action, offset, len, &name),
            LogAction::Wait { .. } => Ok(()),
        }
    }

    fn add_file(&mut self, name: OsString) {
        if !self.index.contains_key(&name) {
            let file = u32::try_from(self.log.files.len()).unwrap_or(u32::MAX);
            self.log.files.push(PathBuf::from(&name));
            self.open.push(0);
            self.index.insert(name, file);
        }
    }

    /// A file that several jobs of the recorded run had open is open until the last of them closes it.
    fn open_or_close(&mut self, file: u32, action: FileAction, name: &OsString) -> Result<(), Problem> {
        let open = &mut self.open[file as usize];
        match action {
            FileAction::Add => {}
            FileAction::Open => {
                *open += 1;
                if *open == 1 {
                    self.step(ReplayAction::Open, file, 0, 0);
                }
            }
            FileAction::Close if *open == 0 => {
                return Err(Problem::Skipped(format!("the file {} is closed but not open", name.display())));
            }
            FileAction::Close => {
                *open -= 1;
                if *open == 0 {
                    self.step(ReplayAction::Close, file, 0, 0);
                }
            }
        }
        Ok(())
    }

    fn io(
        &mut self,
        file: u32,
        action: IoAction,
        offset: u64,
        len: u32,
        name: &OsString,
    ) -> Result<(), Problem> {
        if self.rules.skips(action) {
            return Ok(());
        }
        if self.open[file as usize] == 0 {
            return Err(Problem::Fatal(format!(
                "the file {} is used before a line opens it",
                name.display()
            )));
        }
        let offset = offset / self.rules.scale;
        let offset = offset - offset % self.rules.align;
        let action = match action {
            IoAction::Sync => return self.sync(ReplayAction::Sync, file),
            IoAction::Datasync => return self.sync(ReplayAction::Datasync, file),
            IoAction::Read => ReplayAction::Read,
            IoAction::Write => ReplayAction::Write,
            IoAction::Trim => ReplayAction::Trim,
        };
        if len == 0 {
            return Err(Problem::Skipped("an I/O of 0 bytes".to_owned()));
        }
        if offset.checked_add(u64::from(len)).is_none_or(|end| i64::try_from(end).is_err()) {
            return Err(Problem::Skipped("an I/O beyond 2^63 bytes".to_owned()));
        }
        self.works = true;
        self.step(action, file, offset, len);
        Ok(())
    }

    fn sync(&mut self, action: ReplayAction, file: u32) -> Result<(), Problem> {
        self.step(action, file, 0, 0);
        Ok(())
    }

    fn step(&mut self, action: ReplayAction, file: u32, offset: u64, len: u32) {
        let due = u128::from(self.waits_us) * 100 / u128::from(self.rules.time_scale);
        let due_us = if self.rules.no_stall { 0 } else { u64::try_from(due).unwrap_or(u64::MAX) };
        self.log.steps.push(ReplayStep { due_us, action, file, len, offset });
    }

    /// Waits add up from the first line with a time, and none is added where time goes back.
    fn tick(&mut self, time_us: u64) {
        if self.previous_us > 0 {
            self.waits_us = self.waits_us.saturating_add(time_us.saturating_sub(self.previous_us));
        }
        self.previous_us = time_us;
    }

    /// The log; `None` if it does nothing.
    pub(super) fn finish(mut self) -> Option<Replay> {
        self.log.steps.shrink_to_fit();
        self.works.then_some(self.log)
    }
}
