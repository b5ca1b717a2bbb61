//! One log file: created empty at the start, given up at the first error.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use crate::errors::strerror;

/// A log file. It has no buffer: whoever writes comes with many rows at once.
#[derive(Debug)]
pub(super) struct LogFile {
    name: String,
    /// `None` when it is opened for each write.
    file: Option<File>,
    given_up: bool,
    problem: Option<String>,
}

impl LogFile {
    /// Creates or empties the file `name`. A file that does not stay open is opened again for each write.
    pub(super) fn create(name: String, stays_open: bool) -> Self {
        match File::create(&name) {
            Ok(file) => {
                LogFile { name, file: Some(file).filter(|_| stays_open), given_up: false, problem: None }
            }
            Err(error) => {
                let problem = Some(format!("cannot create {name}: {}", reason(&error)));
                LogFile { name, file: None, given_up: true, problem }
            }
        }
    }

    /// True while rows are of use.
    pub(super) fn is_written(&self) -> bool {
        !self.given_up
    }

    /// Writes rows to the end. After a failure the file stays as it is and further rows are dropped.
    pub(super) fn append(&mut self, rows: &[u8]) {
        if self.given_up || rows.is_empty() {
            return;
        }
        let written = match &mut self.file {
            Some(file) => file.write_all(rows),
            None => {
                OpenOptions::new().append(true).open(&self.name).and_then(|mut file| file.write_all(rows))
            }
        };
        if let Err(error) = written {
            let Self { name, .. } = self;
            self.problem = Some(format!("cannot write {name}: {}; the log ends there", reason(&error)));
            self.given_up = true;
            self.file = None;
        }
    }

    /// The job is over; rows that come all the same are written nevertheless.
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
