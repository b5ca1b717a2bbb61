//! The program's options that a command line has, with their values.

use std::any::Any;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::command;
use crate::options::{OPTIONS, ProgramOption, ProgramOptionRow};

/// The program's options that a command line has, with their values.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenOptions {
    matches: ArgMatches,
}

impl GivenOptions {
    /// Parses options that are written as `--name` or `--name=value`.
    ///
    /// # Errors
    /// A value is wrong, or help is requested.
    pub(super) fn read(options: impl Iterator<Item = String>) -> Result<Self, clap::Error> {
        let words = std::iter::once("ferrio".to_owned()).chain(options);
        command().try_get_matches_from(words).map(|matches| GivenOptions { matches })
    }

    /// True if the option is there.
    pub fn has(&self, option: ProgramOption) -> bool {
        self.matches.value_source(option.row().name) == Some(ValueSource::CommandLine)
    }

    /// The rows of the options that are there, in the order of the table.
    pub fn rows(&self) -> impl Iterator<Item = &'static ProgramOptionRow> {
        OPTIONS.iter().filter(|row| self.has(row.option))
    }

    /// The last value of an option. Its type is that of the parser in the table.
    pub fn value<T: Any + Clone + Send + Sync>(&self, option: ProgramOption) -> Option<T> {
        self.matches.get_many(option.row().name)?.next_back().cloned()
    }

    /// The last value of an option whose values are texts, unless it is empty.
    pub fn text(&self, option: ProgramOption) -> Option<String> {
        self.value(option).filter(|text: &String| !text.is_empty())
    }

    /// All values of an option that adds up.
    pub fn values<T: Any + Clone + Send + Sync>(&self, option: ProgramOption) -> Vec<T> {
        self.matches.get_many(option.row().name).unwrap_or_default().cloned().collect()
    }
}
