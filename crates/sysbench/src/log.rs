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

/// A mistake, already reported, after which nothing runs.
#[derive(Debug)]
pub struct Refusal;

/// Writes messages and text; workers may write lines too.
pub struct Log(Mutex<State>);

struct State {
    verbosity: u8,
    out: Box<dyn Write + Send>,
    /// Standard output is left to a document.
    is_left: bool,
    mistakes: Box<dyn Write + Send>,
    /// The last line, and how many more of it have not been written.
    last: String,
    repeated: u64,
    failed: Option<io::Error>,
}

impl Log {
    /// With these as standard output and standard error, and sysbench's own verbosity.
    pub fn to(out: Box<dyn Write + Send>, mistakes: Box<dyn Write + Send>) -> Self {
        let state = State {
            verbosity: 3,
            out,
            is_left: false,
            mistakes,
            last: String::new(),
            repeated: 0,
            failed: None,
        };
        Log(Mutex::new(state))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, messages up to this level.
    pub fn set_verbosity(&self, verbosity: u8) {
        self.state().verbosity = verbosity;
    }

    /// From now on, standard output is left to a document.
    pub fn leave_stdout(&self) {
        let mut state = self.state();
        state.is_left = true;
        state.verbosity = state.verbosity.min(Level::Warning as u8);
    }

    /// True if messages of this level are written.
    pub fn shows(&self, level: Level) -> bool {
        self.state().verbosity >= level as u8
    }

    /// A line. Of lines that are equal and follow each other only the first is written, and then how many there were.
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

    /// Text of several lines, written as it is.
    pub fn text(&self, level: Level, text: &str) {
        let mut state = self.state();
        if state.verbosity >= level as u8 && !text.is_empty() {
            state.write(text);
        }
    }

    /// Text that every verbosity shows.
    pub fn always(&self, text: &str) {
        self.state().write(text);
    }

    /// Writes the document that standard output is left to.
    pub fn document(&self, text: &str) {
        let mut state = self.state();
        let written = state.out.write_all(text.as_bytes()).and_then(|()| state.out.flush());
        state.note(written);
    }

    /// Reports a mistake that ends the program.
    pub fn refuse(&self, message: &str) -> Refusal {
        self.line(Level::Fatal, message);
        Refusal
    }

    /// Reports a mistake in the command line.
    pub fn mistake(&self, message: &str) -> Refusal {
        let mut state = self.state();
        // Nobody reads a closed standard error.
        let _ = state.mistakes.write_all(format!("{message}\n").as_bytes());
        Refusal
    }

    /// Ends with what is left to say. Returns why something could not be written.
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
        if self.is_left {
            // Nobody reads a closed standard error.
            let _ = self.mistakes.write_all(all.as_bytes());
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
