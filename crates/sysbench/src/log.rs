//! The output of the front end: sysbench's messages by level, and text such as the header and the report.
//!
//! All of it goes to standard output and at once, as in sysbench, except for mistakes in the command line, which go to standard error. If
//! standard output is for a document, the messages go to standard error too and the rest is left out.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Levels of `--verbosity`: each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Errors that end the program.
    Fatal,
    /// Warnings.
    Warning = 2,
    /// The header and the report.
    Notice,
    /// The reasons why threads end.
    Info,
    /// Each request.
    Debug,
}

impl Level {
    const fn prefix(self) -> &'static str {
        match self {
            Level::Fatal => "FATAL: ",
            Level::Warning => "WARNING: ",
            Level::Debug => "DEBUG: ",
            Level::Notice | Level::Info => "",
        }
    }
}

/// An error that was already reported; nothing runs after it.
#[derive(Debug)]
pub struct Refusal;

/// Writes messages and text; workers may write lines too.
pub struct Log(Mutex<State>);

struct State {
    verbosity: u8,
    out: Box<dyn Write + Send>,
    /// People see what goes to standard output.
    is_terminal: bool,
    /// Standard output is reserved for a document in a structured format.
    stdout_is_reserved: bool,
    err: Box<dyn Write + Send>,
    /// The last line, and how many more of it have not been written.
    last: String,
    repeated: u64,
    failed: Option<io::Error>,
}

impl Log {
    /// A log that writes to these streams, with sysbench's default verbosity.
    pub fn to(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>) -> Self {
        let state = State {
            verbosity: 3,
            out,
            is_terminal: false,
            stdout_is_reserved: false,
            err,
            last: String::new(),
            repeated: 0,
            failed: None,
        };
        Log(Mutex::new(state))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the highest level of messages that are written.
    pub fn set_verbosity(&self, verbosity: u8) {
        self.state().verbosity = verbosity;
    }

    /// Reserves standard output for a document in a structured format: all else goes to standard error.
    pub fn leave_stdout(&self) {
        let mut state = self.state();
        state.stdout_is_reserved = true;
        state.verbosity = state.verbosity.min(Level::Warning as u8);
    }

    /// Says whether people see what goes to standard output.
    pub fn set_terminal(&self, is_terminal: bool) {
        self.state().is_terminal = is_terminal;
    }

    /// True if people see what goes to standard output.
    pub fn is_terminal(&self) -> bool {
        self.state().is_terminal
    }

    /// True if messages of this level are written.
    pub fn shows(&self, level: Level) -> bool {
        self.state().verbosity >= level as u8
    }

    /// Writes a line. Of consecutive equal lines, only the first is written, followed by their number.
    pub fn line(&self, level: Level, message: &str) {
        let mut state = self.state();
        if state.verbosity < level as u8 {
            return;
        }
        let line = format!("{}{message}\n", level.prefix());
        if line == state.last {
            state.repeated += 1;
            return;
        }
        state.write(&line);
        state.last = line;
    }

    /// Writes text of several lines as it is.
    pub fn text(&self, level: Level, text: &str) {
        let mut state = self.state();
        if state.verbosity >= level as u8 && !text.is_empty() {
            state.write(text);
        }
    }

    /// Writes text at every verbosity.
    pub fn always(&self, text: &str) {
        self.state().write(text);
    }

    /// Writes the document that standard output is reserved for.
    pub fn document(&self, text: &str) {
        let mut state = self.state();
        let written = state.out.write_all(text.as_bytes()).and_then(|()| state.out.flush());
        state.note(written);
    }

    /// Reports an error that ends the program.
    pub fn refuse(&self, message: &str) -> Refusal {
        self.line(Level::Fatal, message);
        Refusal
    }

    /// Reports an error in the command line.
    pub fn mistake(&self, message: &str) -> Refusal {
        let mut state = self.state();
        // Errors of standard error are ignored: there is nowhere to report them.
        let _ = state.err.write_all(format!("{message}\n").as_bytes());
        Refusal
    }

    /// Writes the number of repetitions that is pending. Returns the first error of writing.
    pub fn finish(&self) -> Option<io::Error> {
        let mut state = self.state();
        state.write("");
        state.failed.take()
    }
}

impl State {
    fn write(&mut self, text: &str) {
        let mut all = String::new();
        if self.repeated > 0 {
            all = format!("(last message repeated {} times)\n", self.repeated);
        }
        self.repeated = 0;
        self.last.clear();
        all.push_str(text);
        if self.stdout_is_reserved {
            // Errors of standard error are ignored: there is nowhere to report them.
            let _ = self.err.write_all(all.as_bytes());
            return;
        }
        let written = self.out.write_all(all.as_bytes()).and_then(|()| self.out.flush());
        self.note(written);
    }

    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.failed.get_or_insert(error);
        }
    }
}

#[cfg(test)]
pub mod testing {
    //! A log that tests read.

    use std::sync::Arc;

    use super::*;

    /// The bytes written to one stream.
    #[derive(Clone, Default)]
    pub struct Stream(Arc<Mutex<Vec<u8>>>);

    impl Stream {
        /// The text so far.
        pub fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Stream {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A log with its standard output and standard error.
    pub fn log() -> (Log, Stream, Stream) {
        let (out, mistakes) = (Stream::default(), Stream::default());
        (Log::to(Box::new(out.clone()), Box::new(mistakes.clone())), out, mistakes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_are_counted() {
        let (log, out, _) = testing::log();
        log.set_verbosity(5);
        for _ in 0..3 {
            log.line(Level::Debug, "a");
        }
        log.line(Level::Info, "b");
        log.line(Level::Info, "b");
        log.text(Level::Notice, "report\n");
        log.line(Level::Info, "b");
        assert!(log.finish().is_none());
        let expected =
            "DEBUG: a\n(last message repeated 2 times)\nb\n(last message repeated 1 times)\nreport\nb\n";
        assert_eq!(out.text(), expected);
    }

    #[test]
    fn each_level_includes_those_before_it() {
        let (log, out, mistakes) = testing::log();
        log.set_verbosity(2);
        log.line(Level::Info, "hidden");
        log.text(Level::Notice, "hidden");
        log.line(Level::Warning, "shown");
        log.refuse("shown too");
        log.always("always\n");
        log.mistake("of the command line");
        assert_eq!(out.text(), "WARNING: shown\nFATAL: shown too\nalways\n");
        assert_eq!(mistakes.text(), "of the command line\n");
    }
}
