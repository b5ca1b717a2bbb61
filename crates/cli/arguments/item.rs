//! The parts of a command line: options and job files.

use ferrio_job::ArgOrigin;

use crate::options::ProgramOption;

/// An option or a job file on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An option of the program itself.
    Program {
        /// The option.
        option: ProgramOption,
        /// `None` for a flag, or where the value is optional.
        value: Option<String>,
        /// The place on the command line.
        origin: ArgOrigin,
    },
    /// An option of a job; `name` begins a new job.
    Job {
        /// Name or alias, in full.
        name: String,
        /// `None` for an option that needs none.
        value: Option<String>,
        /// The place on the command line.
        origin: ArgOrigin,
    },
    /// A job file; `-` is standard input.
    File(String),
}

impl Item {
    /// True for this option of the program.
    pub fn is(&self, wanted: ProgramOption) -> bool {
        matches!(self, Item::Program { option, .. } if *option == wanted)
    }

    /// The value of this option of the program, and its place.
    pub fn value_of(&self, wanted: ProgramOption) -> Option<(&str, &ArgOrigin)> {
        match self {
            Item::Program { option, value: Some(value), origin } if *option == wanted => {
                Some((value, origin))
            }
            _ => None,
        }
    }
}

/// The names of the job files, from left to right.
pub fn files_of(items: &[Item]) -> impl Iterator<Item = &String> {
    items.iter().filter_map(|item| match item {
        Item::File(name) => Some(name),
        _ => None,
    })
}

/// The values of an option of the program, from left to right.
pub fn values_of(items: &[Item], option: ProgramOption) -> impl DoubleEndedIterator<Item = &str> {
    items.iter().filter_map(move |item| item.value_of(option)).map(|(value, _)| value)
}
