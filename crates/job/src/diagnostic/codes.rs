//! The codes of messages, and what follows from each.

mod table;

pub use table::SUBJECTS;

/// The code of one kind of message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// Words joined by dashes.
    pub name: &'static str,
    /// One line that says what the code means.
    pub meaning: &'static str,
    /// Where warnings and notes with this code go when the program is called `fio`. Errors are shown in any case.
    pub as_fio: AsFio,
    /// A file that the run was to write beside its report is missing or incomplete. The run goes on, but has not succeeded; fio's has.
    pub means_lost_file: bool,
}

/// Where a program that is called `fio` shows a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsFio {
    /// On standard error: fio has it there, or it is too important to be left out.
    Stderr,
    /// Among the lines of the report, in front of terse lines, too; a JSON document has it among its notes only.
    Report,
    /// Nowhere: fio has no such message.
    Hidden,
}

/// Codes about one subject.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// Heading.
    pub name: &'static str,
    /// The codes about it.
    pub codes: &'static [Code],
}

/// The row of a code.
#[must_use]
pub fn find(name: &str) -> Option<&'static Code> {
    SUBJECTS.iter().flat_map(|subject| subject.codes).find(|code| code.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_words_joined_by_dashes_and_stand_once() {
        let mut names: Vec<_> =
            SUBJECTS.iter().flat_map(|subject| subject.codes).map(|code| code.name).collect();
        let is_code = |name: &str| {
            let word = |word: &str| {
                !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            };
            name.split('-').all(word)
        };
        assert!(names.iter().all(|name| is_code(name)));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
