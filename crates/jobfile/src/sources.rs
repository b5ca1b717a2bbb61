//! The texts of job files, which the places of diagnostics refer to.

use std::ops::Range;

/// All texts read.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<SourceText>,
}

#[derive(Debug, Clone)]
struct SourceText {
    name: String,
    text: String,
    /// Byte offset at which each line starts.
    starts: Vec<usize>,
    /// Byte offsets of replacement characters for bytes that are not UTF-8.
    not_utf8: Vec<usize>,
}

impl Sources {
    /// Adds a text and returns its number. Bytes that are not UTF-8 become replacement characters.
    pub(crate) fn add(&mut self, name: &str, bytes: &[u8]) -> u32 {
        let mut text = String::with_capacity(bytes.len());
        let mut not_utf8 = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                not_utf8.push(text.len());
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        self.files.push(SourceText { name: name.to_owned(), text, starts, not_utf8 });
        (self.files.len() - 1) as u32
    }

    /// Name of a text as the user gave it, empty if there is no such text.
    pub fn name(&self, source: u32) -> &str {
        self.files.get(source as usize).map_or("", |file| &file.name)
    }

    /// Names of all texts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.name.as_str())
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

    /// Byte offset of the first replacement character in these bytes of a line.
    pub(crate) fn not_utf8(&self, source: u32, line: u32, within: Range<usize>) -> Option<usize> {
        let file = self.files.get(source as usize)?;
        let start = *(line as usize).checked_sub(1).and_then(|at| file.starts.get(at))?;
        let first = file.not_utf8.partition_point(|&at| at < start + within.start);
        file.not_utf8.get(first).map(|at| at - start).filter(|&at| at < within.end)
    }

    /// Number of lines of a text.
    pub(crate) fn lines(&self, source: u32) -> u32 {
        self.files.get(source as usize).map_or(0, |file| file.starts.len() as u32)
    }
}
