//! A job as a list of options, entries of its log, and the numbers in both.

use std::fmt;

/// Options of one job, `name=value` each, in the order they are written.
#[derive(Clone, Debug)]
pub struct JobOptions {
    name: String,
    options: Vec<(String, String)>,
}

impl JobOptions {
    /// A job of this name with the options of `text`, separated by blanks.
    pub fn new(name: &str, text: &str) -> Self {
        let options = text.split_whitespace().map(|word| {
            let (name, value) = word.split_once('=').unwrap_or_else(|| panic!("{word} has no value"));
            (name.to_owned(), value.to_owned())
        });
        JobOptions { name: name.to_owned(), options: options.collect() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value given last.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn switch(&self, name: &str) -> bool {
        self.get(name) == Some("1")
    }

    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.options.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The section of a job file.
    pub fn section(&self) -> String {
        let options: String = self.all().map(|(name, value)| format!("{name}={value}\n")).collect();
        format!("[{}]\n{options}", self.name)
    }
}

impl fmt::Display for JobOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.all().map(|(name, value)| format!("{name}={value}")).collect();
        write!(f, "{}", words.join(" "))
    }
}

/// A line of a log: an I/O or a sync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub action: &'static str,
    pub file: usize,
    pub offset: u64,
    pub len: u64,
}

impl Entry {
    pub fn io(action: &'static str, file: usize, offset: u64, len: u64) -> Self {
        Entry { action, file, offset, len }
    }

    /// A sync; its offset in the log is that of the I/O before and says nothing.
    pub fn sync(action: &'static str, file: usize) -> Self {
        Entry { action, file, offset: 0, len: 0 }
    }
}

/// A number with a binary suffix.
pub fn size(text: &str) -> u64 {
    let (digits, shift) = match text.strip_suffix('k') {
        Some(digits) => (digits, 10),
        None => text.strip_suffix('m').map_or((text, 0), |digits| (digits, 20)),
    };
    digits.parse::<u64>().unwrap_or_else(|error| panic!("{text}: {error}")) << shift
}

/// `read,write,trim`: what is missing at the end is as the one before, an empty one is not given.
pub fn numbers<T: Copy>(text: &str, read: impl Fn(&str) -> T) -> [Option<T>; 3] {
    let mut parts = text.split(',');
    let mut last = None;
    [(); 3].map(|()| {
        if let Some(part) = parts.next().filter(|part| !part.is_empty()) {
            last = Some(read(part));
        }
        last
    })
}
