//! One log file: created empty at the start, given up at the first error.

use std::fs::File;
use std::io::{self, Write};

use crate::errors::strerror;

/// A log file. It has no buffer: whoever writes comes with many rows at once.
#[derive(Debug)]
pub(super) struct LogFile {
    name: String,
    /// `None` once closed or given up.
    file: Option<File>,
    problem: Option<String>,
}

impl LogFile {
    /// Creates or empties the file `name`.
    pub(super) fn create(name: String) -> Self {
        let (file, problem) = match File::create(&name) {
            Ok(file) => (Some(file), None),
            Err(error) => (None, Some(format!("cannot create {name}: {}", reason(&error)))),
        };
        LogFile { name, file, problem }
    }

    /// True while rows are of use.
    pub(super) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Writes rows to the end. After a failure the file stays as it is and further rows are dropped.
    pub(super) fn append(&mut self, rows: &[u8]) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(rows) {
            self.problem =
                Some(format!("cannot write {}: {}; the log ends there", self.name, reason(&error)));
            self.file = None;
        }
    }

    /// No more rows will come.
    pub(super) fn close(&mut self) {
        self.file = None;
    }

    /// What went wrong, told once.
    pub(super) fn take_problem(&mut self) -> Option<String> {
        self.problem.take()
    }
}

fn reason(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), strerror)
}
