//! Where things were written: places in job files or on the command line.

/// A place something was written at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Origin {
    /// In a job file or a file included by one.
    File {
        /// Number of the text in `Sources` of the job-file reader.
        source: u32,
        /// Line, from 1.
        line: u32,
        /// Column in characters, from 1.
        column: u32,
        /// Characters covered; may be 0.
        length: u32,
    },
    /// On the command line.
    Argument {
        /// Position of the argument, as counted by the code that read the command line.
        index: u32,
        /// The argument as typed.
        text: String,
        /// Column in characters within `text`, from 1.
        column: u32,
        /// Characters covered; may be 0.
        length: u32,
    },
    /// Nowhere: made by the program.
    #[default]
    Builtin,
}

/// A command-line argument that an option came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArgOrigin {
    /// Position of the argument.
    pub index: u32,
    /// The argument as typed; `--rw read` and `--rw=read` alike.
    pub text: String,
}

impl ArgOrigin {
    /// The whole argument.
    pub fn origin(&self) -> Origin {
        self.part(1, count(&self.text))
    }

    /// The option name at the beginning of the argument, dashes included.
    pub fn name_origin(&self) -> Origin {
        let name = self.text.split(['=', ' ']).next().unwrap_or(&self.text);
        self.part(1, count(name))
    }

    /// The value at the end of the argument; the whole argument if it does not end so.
    pub fn value_origin(&self, value: &str) -> Origin {
        match self.text.strip_suffix(value) {
            Some(before) if !value.is_empty() => self.part(count(before) + 1, count(value)),
            _ => self.origin(),
        }
    }

    fn part(&self, column: u32, length: u32) -> Origin {
        Origin::Argument { index: self.index, text: self.text.clone(), column, length }
    }
}

impl Origin {
    /// The part of this place that starts `start` characters in and is `length` characters long.
    pub fn part(&self, start: usize, length: usize) -> Origin {
        let mut part = self.clone();
        if let Origin::File { column, length: whole, .. } | Origin::Argument { column, length: whole, .. } =
            &mut part
            && start + length <= *whole as usize
        {
            *column += start as u32;
            *whole = length as u32;
        }
        part
    }
}

/// Length in characters.
fn count(text: &str) -> u32 {
    text.chars().count() as u32
}
