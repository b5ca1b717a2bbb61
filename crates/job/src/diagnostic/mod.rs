//! Messages to the user about options, jobs and runs: a code, a place, the text and what to do. Errors of system calls are
//! worded as in the C library, which users know and tools grep for.

pub mod codes;

use std::io;

use crate::{Compat, Origin};
pub use codes::AsFio;

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Nothing is run.
    Error,
    /// Worth knowing; the run goes on.
    Warning,
    /// Goes with the diagnostic before it.
    Note,
}

/// The beginning of a message's line where people read it. Programs get the message alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Prefix {
    /// The program as the user calls it: `fio: `, as most messages of fio, or `ferrio: `.
    #[default]
    Program,
    /// The name of the job.
    Job,
    /// `note: `
    Note,
    /// Nothing.
    None,
}

/// The lines that fio prints for an error. A program that is called `fio` prints them in place of the message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum FioWords {
    /// The message with its prefix.
    #[default]
    Message,
    /// `fio: failed parsing bs=foo`, after the reason, if fio has a line for it.
    FailedParsing(Option<String>),
    /// The message with its prefix, and `Did you mean bs?`.
    Unrecognized,
    /// `Bad option <bsize=4k>`, and `Did you mean bs?`.
    BadOption,
    /// `fio: option <bs=4k> outside of [] job section`
    OutsideSection,
    /// These lines.
    Lines(Vec<String>),
}

/// One message to the user.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The kind of mistake in words joined by dashes; stays the same from version to version, whatever the
    /// message says.
    pub code: &'static str,
    /// The problem, with the user's own text.
    pub message: String,
    /// The jobs it is about, each once; empty when it concerns no job or all of them.
    pub jobs: Vec<String>,
    /// The beginning of its line.
    pub prefix: Prefix,
    /// How fio words it.
    pub fio: FioWords,
    /// Where.
    pub origin: Origin,
    /// Text beside the caret; may be empty.
    pub label: String,
    /// Advice.
    pub help: Option<String>,
    /// A replacement for the text at `origin`, where one text is likely to be meant.
    pub suggestion: Option<String>,
}

/// The code of a diagnostic that was not given one of its own.
const GENERAL: &str = "invalid-job";

impl Diagnostic {
    /// An error of the general kind `invalid-job`, without label or help.
    pub fn error(message: impl Into<String>, origin: Origin) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code: GENERAL,
            message: message.into(),
            jobs: Vec::new(),
            prefix: Prefix::default(),
            fio: FioWords::default(),
            origin,
            label: String::new(),
            help: None,
            suggestion: None,
        }
    }

    /// A warning without label or help.
    pub fn warning(message: impl Into<String>, origin: Origin) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message, origin) }
    }

    /// A note without place, label or help.
    pub fn note(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Note, code: "note", ..Diagnostic::error(message, Origin::Builtin) }
    }

    /// Sets the kind of mistake, one of [`codes`].
    pub fn code(self, code: &'static str) -> Diagnostic {
        debug_assert!(codes::find(code).is_some(), "the code {code} is not in the table");
        Diagnostic { code, ..self }
    }

    /// Sets the place.
    pub fn at(self, origin: Origin) -> Diagnostic {
        Diagnostic { origin, ..self }
    }

    /// Adds a job that it is about.
    pub fn job(mut self, name: impl Into<String>) -> Diagnostic {
        self.jobs.push(name.into());
        self
    }

    /// Sets the beginning of its line.
    pub fn prefix(self, prefix: Prefix) -> Diagnostic {
        Diagnostic { prefix, ..self }
    }

    /// Sets fio's words.
    pub fn in_fio(self, fio: FioWords) -> Diagnostic {
        Diagnostic { fio, ..self }
    }

    /// Sets the text beside the caret.
    pub fn label(self, label: impl Into<String>) -> Diagnostic {
        Diagnostic { label: label.into(), ..self }
    }

    /// Sets the advice.
    pub fn help(self, help: impl Into<String>) -> Diagnostic {
        Diagnostic { help: Some(help.into()), ..self }
    }

    /// Sets the text that was probably meant.
    pub fn suggest(self, text: impl Into<String>) -> Diagnostic {
        Diagnostic { suggestion: Some(text.into()), ..self }
    }

    /// Where a program that is called `fio` shows it.
    pub fn as_fio(&self) -> AsFio {
        match codes::find(self.code) {
            Some(code) if self.severity != Severity::Error => code.as_fio,
            _ => AsFio::Stderr,
        }
    }

    /// The message as one line of text: prefix and message, without severity, place and advice.
    pub fn line(&self, compat: Compat) -> String {
        match (self.line_label(compat), self.lines_of_fio(compat)) {
            (_, Some(lines)) => lines.join("\n"),
            (Some(label), None) => format!("{label}: {}", self.message),
            (None, None) => self.message.clone(),
        }
    }

    /// The lines that fio prints instead, if they are known.
    fn lines_of_fio(&self, compat: Compat) -> Option<&[String]> {
        match (compat, &self.fio) {
            (Compat::Fio, FioWords::Lines(lines)) => Some(lines),
            _ => None,
        }
    }

    /// The word before the message in its line.
    pub fn line_label(&self, compat: Compat) -> Option<&str> {
        match (self.prefix, self.jobs.first()) {
            _ if self.lines_of_fio(compat).is_some() => None,
            (Prefix::Job, Some(job)) => Some(job),
            (Prefix::Program | Prefix::Job, _) => Some(compat.word()),
            (Prefix::Note, _) => Some("note"),
            (Prefix::None, _) => None,
        }
    }
}

/// The text of the C library for an errno, without the number: `No space left on device`.
#[must_use]
pub fn strerror(errno: i32) -> String {
    let text = io::Error::from_raw_os_error(errno).to_string();
    text.strip_suffix(&format!(" (os error {errno})")).unwrap_or(&text).to_owned()
}

/// An error in the words of [`strerror`], or in its own words if it has no errno.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), strerror)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_the_c_library_words_them() {
        assert_eq!(strerror(28), "No space left on device");
        assert_eq!(strerror(5), "Input/output error");
        assert_eq!(strerror(99_999), "Unknown error 99999");
    }

    #[test]
    fn an_error_without_errno_has_its_own_words() {
        assert_eq!(reason(&io::Error::from_raw_os_error(2)), "No such file or directory");
        assert_eq!(reason(&io::Error::from(io::ErrorKind::NotFound)), "entity not found");
    }
}
