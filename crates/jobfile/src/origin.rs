//! Where things were written: texts of job files, and places in them or on the command line.

/// A place something was written at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Origin {
    /// In a job file or a file included by one.
    File {
        /// Number of the text in [`Sources`].
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
        /// Position of the argument, as counted by whoever read the command line.
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
        let length = count(&self.text);
        Origin::Argument { index: self.index, text: self.text.clone(), column: 1, length }
    }

    /// The option name at the beginning of the argument, dashes included.
    pub fn name_origin(&self) -> Origin {
        let name = self.text.split(['=', ' ']).next().unwrap_or(&self.text);
        Origin::Argument { index: self.index, text: self.text.clone(), column: 1, length: count(name) }
    }

    /// The value at the end of the argument; the whole argument if it does not end so.
    pub fn value_origin(&self, value: &str) -> Origin {
        match self.text.strip_suffix(value) {
            Some(before) if !value.is_empty() => {
                let (column, length) = (count(before) + 1, count(value));
                Origin::Argument { index: self.index, text: self.text.clone(), column, length }
            }
            _ => self.origin(),
        }
    }
}

impl Origin {
    /// The part of this place that starts `start` characters in and is `length` characters long.
    pub(crate) fn part(&self, start: usize, length: usize) -> Origin {
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

/// The texts that were read.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<Source>,
}

#[derive(Debug, Clone)]
struct Source {
    name: String,
    text: String,
    /// Byte offset at which each line starts.
    starts: Vec<usize>,
    /// Byte offsets of replacement characters that stand for bytes that are no UTF-8.
    garbled: Vec<usize>,
}

impl Sources {
    /// Adds a text; returns its number. Replacement characters stand for what is not UTF-8 in it.
    pub(crate) fn add(&mut self, name: &str, bytes: &[u8]) -> u32 {
        let mut text = String::with_capacity(bytes.len());
        let mut garbled = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                garbled.push(text.len());
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        self.files.push(Source { name: name.to_owned(), text, starts, garbled });
        (self.files.len() - 1) as u32
    }

    /// Name of a text as the user gave it, empty if there is no such text.
    pub fn name(&self, source: u32) -> &str {
        self.files.get(source as usize).map_or("", |file| &file.name)
    }

    /// One line without its end, from 1; empty if there is no such line.
    pub fn line(&self, source: u32, line: u32) -> &str {
        let Some(file) = self.files.get(source as usize) else { return "" };
        let Some(&start) = (line as usize).checked_sub(1).and_then(|at| file.starts.get(at)) else {
            return "";
        };
        let end = file.starts.get(line as usize).map_or(file.text.len(), |&next| next - 1);
        file.text.get(start..end).unwrap_or("").trim_end_matches('\r')
    }

    /// Where the first `length` bytes of a line hold something that is not UTF-8: byte offset within the line.
    pub(crate) fn garbled(&self, source: u32, line: u32, length: usize) -> Option<usize> {
        let file = self.files.get(source as usize)?;
        let start = *(line as usize).checked_sub(1).and_then(|at| file.starts.get(at))?;
        let first = file.garbled.partition_point(|&at| at < start);
        file.garbled.get(first).map(|at| at - start).filter(|&at| at < length)
    }

    /// Number of lines of a text.
    pub(crate) fn lines(&self, source: u32) -> u32 {
        self.files.get(source as usize).map_or(0, |file| file.starts.len() as u32)
    }
}

/// Length in characters.
pub(crate) fn count(text: &str) -> u32 {
    text.chars().count() as u32
}
