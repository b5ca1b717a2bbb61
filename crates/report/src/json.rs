//! The JSON document in fio's layout: two blanks per level, ` : ` between key and value, floats with six decimals.
//!
//! Unlike fio, it escapes everything that JSON requires, so that no job name can break the document.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::model::RunReport;

impl RunReport {
    /// Formats the document, including the final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_fio_json(self)
    }
}

/// Formats a document in fio's layout, including the final newline.
pub(crate) fn to_fio_json(document: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, FioFormatter::default());
    // Writing to memory cannot fail, and all keys of the trees are text or finite numbers.
    let written = document.serialize(&mut serializer);
    debug_assert!(written.is_ok(), "{written:?}");
    bytes.push(b'\n');
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Formats a document on one line, with all digits, for programs.
pub(crate) fn to_one_line(document: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    // The same serializer, since each makes all trees' code once more.
    let formatter = FioFormatter { is_one_line: true, ..FioFormatter::default() };
    document.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// fio's layout as a formatter for serde_json.
#[derive(Default)]
struct FioFormatter {
    /// Not fio's layout but no layout at all.
    is_one_line: bool,
    level: usize,
    /// True if the object or array being written has no members yet.
    empty: bool,
}

impl FioFormatter {
    fn open(&mut self, out: &mut (impl io::Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.level += 1;
        self.empty = true;
        out.write_all(bracket)
    }

    fn close(&mut self, out: &mut (impl io::Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.level -= 1;
        if self.empty && !self.is_one_line {
            out.write_all(b"\n")?;
        }
        self.empty = false;
        self.start_line(out)?;
        out.write_all(bracket)
    }

    fn member(&mut self, out: &mut (impl io::Write + ?Sized), first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        self.start_line(out)
    }

    fn start_line(&self, out: &mut (impl io::Write + ?Sized)) -> io::Result<()> {
        if self.is_one_line {
            return Ok(());
        }
        write!(out, "\n{:width$}", "", width = 2 * self.level)
    }
}

impl Formatter for FioFormatter {
    fn write_f64<W: ?Sized + io::Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        if self.is_one_line { write!(out, "{value:?}") } else { write!(out, "{value:.6}") }
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.member(out, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(if self.is_one_line { b":" } else { b" : " })
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _out: &mut W) -> io::Result<()> {
        self.empty = false;
        Ok(())
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.member(out, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, _out: &mut W) -> io::Result<()> {
        self.empty = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pairs;

    fn pairs<V>(list: Vec<(&str, V)>) -> Pairs<String, V> {
        Pairs(list.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    fn laid_out(value: &impl Serialize) -> String {
        let mut bytes = Vec::new();
        value.serialize(&mut Serializer::with_formatter(&mut bytes, FioFormatter::default())).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn members_are_on_lines_of_their_own() {
        let value = pairs(vec![("a", vec![1, 2]), ("b", vec![3])]);
        assert_eq!(laid_out(&value), "{\n  \"a\" : [\n    1,\n    2\n  ],\n  \"b\" : [\n    3\n  ]\n}");
    }

    #[test]
    fn an_empty_bracket_holds_an_empty_line() {
        assert_eq!(laid_out(&Pairs::<String, u64>(vec![])), "{\n\n}");
        let nested = pairs(vec![("a", Vec::<u64>::new()), ("b", vec![])]);
        assert_eq!(laid_out(&nested), "{\n  \"a\" : [\n\n  ],\n  \"b\" : [\n\n  ]\n}");
        assert_eq!(laid_out(&vec![Vec::<u64>::new()]), "[\n  [\n\n  ]\n]");
    }

    #[test]
    fn floats_have_six_decimals_and_no_exponent() {
        assert_eq!(
            laid_out(&pairs(vec![("f", 1e9), ("g", 1e-9)])),
            "{\n  \"f\" : 1000000000.000000,\n  \"g\" : 0.000000\n}"
        );
    }

    #[test]
    fn options_are_repeated_and_percentiles_are_not() {
        let value = pairs(vec![("bs", "4k"), ("bs", "8k")]);
        assert_eq!(laid_out(&value), "{\n  \"bs\" : \"4k\",\n  \"bs\" : \"8k\"\n}");
        let percentiles = Pairs(vec![(50.0, 1_u64), (50.000_000_1, 2), (99.0, 3)]);
        assert_eq!(laid_out(&percentiles), "{\n  \"50.000000\" : 2,\n  \"99.000000\" : 3\n}");
    }

    #[test]
    fn hostile_text_parses_back() {
        let text = "q\" b\\ tab\t nl\n nul\0 bell\x07 del\x7f é 日本 \u{2028}";
        let json = laid_out(&pairs(vec![(text, text)]));
        let back: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&json).unwrap();
        assert_eq!(back[text], text);
        assert!(json.contains("é") && json.contains("b\\\\"), "only what must be escaped is: {json}");
    }
}
