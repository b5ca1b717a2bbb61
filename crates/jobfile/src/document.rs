//! One text in the dialect of job files, line by line.
//!
//! An adapter turns each line into plain ini for the parser of `serde_ini`: it removes comments and trailing control
//! characters, replaces variables and adds the `=` to option names without one. A table records the original places.

mod listing;
mod unreadable;

use std::convert::Infallible;
use std::ops::Range;

use serde_ini::Parser;
use serde_ini::parse::{Error, Item, SyntaxError};

use ferrio_job::{Diagnostic, Origin};

use crate::environment::Environment;
use crate::sources::Sources;
use crate::value::Dialect;
use unreadable::Unreadable;

/// The meaning of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LineEntry {
    /// `[name]`.
    Section(String, Origin),
    /// `include file`, with the place of the file name.
    Include(String, Origin),
    /// `name=value` or `name`.
    Assignment(Assignment),
    /// An invalid line, with the name if it was meant to begin a section.
    Broken(Box<Diagnostic>, Option<String>),
}

/// An option as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Assignment {
    /// Name, with variables replaced.
    pub(crate) name: String,
    /// Value, trimmed and with variables replaced; `None` without a `=`.
    pub(crate) value: Option<String>,
    /// The place of the name.
    pub(crate) origin: Origin,
    /// The place of the value.
    pub(crate) value_origin: Origin,
    /// Whether the value is the literal text of the file, so that messages can point at parts of it.
    pub(crate) literal: bool,
    /// The blanks between the `=` and the value.
    pub(crate) indent: String,
    /// Whether a keyword such as `$ncpus` was replaced: the value may be arithmetic.
    pub(crate) has_keyword: bool,
    /// Names of variables without a value.
    pub(crate) unset: Vec<String>,
}

impl Assignment {
    /// The assignment of a command line, with the words of the host replaced.
    pub(crate) fn with_host(self, environment: &Environment) -> Self {
        match self.value.as_deref().and_then(|value| environment.with_host(value)) {
            Some((value, has_keyword)) => {
                Assignment { value: Some(value), has_keyword, literal: false, ..self }
            }
            None => self,
        }
    }
}

/// Details of a line that its ini form does not contain.
#[derive(Default)]
struct LineDetails {
    /// All but the name; the value is as written, before variables are replaced.
    written: Assignment,
    is_include: bool,
    /// The name of a section, where fio finds another one than the parser does.
    section: Option<String>,
    /// The reason why the line cannot be read as text.
    unreadable: Option<Unreadable>,
    /// Whether the line has a value after variables are replaced.
    assigned: bool,
}

/// Maximum length of a line in bytes, as in fio.
const MAX_LINE_BYTES: usize = 8191;

/// Maximum length of a section name in bytes, as in fio.
const MAX_NAME_BYTES: usize = 254;

/// Precedes an option name whose first character has another meaning in ini files.
const ESCAPE: char = '\\';

/// Reads text number `source`.
pub(crate) fn entries(sources: &Sources, source: u32, environment: &Environment) -> Vec<LineEntry> {
    if let Some(broken) = listing::find(sources, source) {
        return vec![broken];
    }
    let mut lines = Vec::new();
    let mut places = Vec::new();
    let pieces = (1..=sources.lines(source)).flat_map(|line| {
        let pieces = pieces(sources.line(source, line), environment.dialect).into_iter();
        pieces.map(move |piece| (line, piece))
    });
    for (line, piece) in pieces {
        let piece = LinePart::new(sources, source, line, piece, environment.dialect);
        if let Some((line, place)) = adapt(&piece, environment) {
            // One error is enough for a file that is not text.
            let hopeless = matches!(place.unreadable, Some(Unreadable::NotUtf8 | Unreadable::Nul));
            lines.push(line);
            places.push(place);
            if hopeless {
                break;
            }
        }
    }
    let parser = Parser::new(lines.iter().map(Ok::<_, Infallible>));
    let entries = parser.zip(places).zip(&lines);
    entries.filter_map(|((item, place), line)| entry(item, place, line)).collect()
}

/// The parts of a line that are read as lines of their own: fio divides long lines.
fn pieces(line: &str, dialect: Dialect) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while dialect == Dialect::Fio && line.len() - start > MAX_LINE_BYTES {
        let end = boundary(line, start + MAX_LINE_BYTES);
        pieces.push(start..end);
        start = end;
    }
    pieces.push(start..line.len());
    pieces
}

/// The last character boundary at or before byte `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// A part of a line, up to the end of its text: without comment and trailing blanks.
struct LinePart<'a> {
    sources: &'a Sources,
    source: u32,
    line: u32,
    /// Offset of its first byte in the line.
    start: usize,
    kept: &'a str,
}

impl<'a> LinePart<'a> {
    fn new(sources: &'a Sources, source: u32, line: u32, piece: Range<usize>, dialect: Dialect) -> Self {
        let start = piece.start;
        let raw = &sources.line(source, line)[piece];
        let ends_line = |sign: char| matches!(sign, ';' | '#') || (dialect == Dialect::Fio && sign == '\0');
        let end = raw.find(ends_line).unwrap_or(raw.len());
        let kept = raw[..end].trim_end_matches(|sign: char| sign.is_whitespace() || sign.is_control());
        LinePart { sources, source, line, start, kept }
    }

    /// The text without leading blanks.
    fn text(&self) -> &'a str {
        self.kept.trim_start()
    }

    /// The place of `text`, which begins at byte `from` of the piece.
    fn origin(&self, from: usize, text: &str) -> Origin {
        let before = &self.sources.line(self.source, self.line)[..self.start + from];
        Origin::File {
            source: self.source,
            line: self.line,
            column: characters(before) + 1,
            length: characters(text),
        }
    }

    /// The place of a text that the piece ends with.
    fn origin_of_end(&self, text: &str) -> Origin {
        self.origin(self.kept.len() - text.len(), text)
    }
}

/// A piece as ini, with its details; `None` for empty lines and comments.
fn adapt(piece: &LinePart<'_>, environment: &Environment) -> Option<(String, LineDetails)> {
    let text = piece.text();
    if text.is_empty() {
        return None;
    }
    let origin = piece.origin_of_end(text);
    let written = Assignment { origin: origin.clone(), value_origin: origin, ..Assignment::default() };
    let mut details = LineDetails { written, ..LineDetails::default() };
    if let Some((why, origin)) = unreadable::find(piece, environment.dialect) {
        details.unreadable = Some(why);
        details.written.origin = origin;
        return Some((text.to_owned(), details));
    }
    if text.starts_with('[') {
        details.section = (environment.dialect == Dialect::Fio).then(|| fio_section(text));
        return Some((text.to_owned(), details));
    }
    let included = match environment.dialect {
        Dialect::Ferrio => include(text),
        // One character of any kind follows the word.
        Dialect::Fio => text.strip_prefix("include").map(|rest| rest.get(1..).unwrap_or_default()),
    };
    if let Some(name) = included {
        details.written.value_origin = piece.origin_of_end(name);
        (details.is_include, details.assigned) = (true, true);
        return Some((format!("include={name}"), details));
    }
    adapt_assignment(piece, environment, details)
}

/// An option as ini, with its details; `None` if its variables leave nothing.
fn adapt_assignment(
    piece: &LinePart<'_>,
    environment: &Environment,
    mut details: LineDetails,
) -> Option<(String, LineDetails)> {
    let text = piece.text();
    let written = &mut details.written;
    if let Some((name, value)) = text.split_once('=') {
        let value = value.trim_start();
        written.origin = piece.origin(piece.kept.len() - text.len(), name.trim_end());
        written.value_origin = piece.origin_of_end(value);
        written.value = Some(value.to_owned());
    }
    let expanded = environment.expand(text);
    written.indent = indent(&expanded.text).to_owned();
    written.has_keyword = expanded.has_keyword;
    written.unset = expanded.unset;
    details.assigned = expanded.text.contains('=');
    let text = expanded.text.trim();
    if text.is_empty() {
        return None;
    }
    let escape = if text.starts_with(['[', ';', '#', ESCAPE]) { "\\" } else { "" };
    let equals = if details.assigned { "" } else { "=" };
    Some((format!("{escape}{text}{equals}"), details))
}

/// The blanks after the `=` of a line.
fn indent(text: &str) -> &str {
    let value = text.split_once('=').map_or("", |(_, value)| value);
    &value[..value.len() - value.trim_start().len()]
}

/// The name of a section as fio reads it: the line without its first and last character, cut at the longest length of a name.
fn fio_section(text: &str) -> String {
    let end = text.char_indices().next_back().map_or(0, |(at, _)| at);
    let name = text.get(1..end).unwrap_or_default();
    name[..boundary(name, MAX_NAME_BYTES)].to_owned()
}

/// The file name of an include line.
fn include(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("include")?;
    let name = rest.trim_start();
    match name.strip_prefix('=') {
        Some(name) => Some(name.trim_start()),
        None if rest.is_empty() || name.len() < rest.len() => Some(name),
        None => None,
    }
}

/// The meaning of an ini item in a job file.
fn entry(item: Result<Item, Error<Infallible>>, details: LineDetails, line: &str) -> Option<LineEntry> {
    let LineDetails { written, is_include, section, unreadable, assigned } = details;
    if let Some(why) = unreadable {
        let section = match (why, item) {
            (Unreadable::LongName(_), Ok(Item::Section { name })) => Some(name),
            (Unreadable::ByteOrderMark, _) => bracketed(line.trim_start_matches('\u{feff}')),
            _ => None,
        };
        return Some(LineEntry::Broken(Box::new(why.diagnostic(written.origin)), section));
    }
    if let Some(name) = section {
        return Some(LineEntry::Section(name, written.origin));
    }
    Some(match item {
        Ok(Item::Section { name }) => LineEntry::Section(name, written.origin),
        Ok(Item::Value { value, .. }) if is_include => LineEntry::Include(value, written.value_origin),
        Ok(Item::Value { key, value }) => LineEntry::Assignment(Assignment {
            name: key.strip_prefix(ESCAPE).map(str::to_owned).unwrap_or(key),
            literal: written.value.as_deref() == Some(&value),
            value: assigned.then_some(value),
            ..written
        }),
        Ok(Item::Empty | Item::Comment { .. }) => return None,
        Err(Error::Inner(never)) => match never {},
        Err(Error::Syntax(error)) => {
            let (code, message, label) = match error {
                SyntaxError::SectionNotClosed if line.contains(']') => (
                    "text-after-section",
                    "text after the `]` of a section header",
                    "nothing may follow the `]`",
                ),
                SyntaxError::SectionNotClosed => {
                    ("unclosed-section", "section header without `]`", "the closing `]` is missing")
                }
                SyntaxError::SectionName => {
                    ("bracket-in-section", "section name with a `]` in it", "a name ends at the first `]`")
                }
                SyntaxError::MissingEquals => ("not-an-option", "not an option", "`name=value` is expected"),
            };
            let name = bracketed(line);
            let suggestion = name.as_ref().map(|name| format!("[{name}]"));
            let diagnostic = Diagnostic::error(message, written.origin).code(code).label(label);
            LineEntry::Broken(Box::new(Diagnostic { suggestion, ..diagnostic }), name)
        }
    })
}

/// The name of the section that a line was meant to begin.
fn bracketed(line: &str) -> Option<String> {
    line.strip_prefix('[').map(|rest| rest.split(']').next().unwrap_or(rest).to_owned())
}

fn characters(text: &str) -> u32 {
    text.chars().count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn read(text: &str) -> Vec<LineEntry> {
        let mut sources = Sources::default();
        let source = sources.add("x.fio", text.as_bytes());
        entries(&sources, source, &Environment::default())
    }

    fn pairs(text: &str) -> Vec<(String, Option<String>)> {
        let assignments = read(text).into_iter().filter_map(|entry| match entry {
            LineEntry::Assignment(assignment) => Some((assignment.name, assignment.value)),
            _ => None,
        });
        assignments.collect()
    }

    #[test]
    fn comments_blanks_and_line_ends_are_removed() {
        let text = "[a] ; one\r\n \t size \t= 4k ; x\r\n;bs=1k\n\n  # c\nthread\u{1}\r\nrw=read";
        let want = [("size", Some("4k")), ("thread", None), ("rw", Some("read"))];
        let want: Vec<_> = want.map(|(name, value)| (name.to_owned(), value.map(str::to_owned))).into();
        assert_eq!(pairs(text), want);
        assert!(matches!(&read(text)[0], LineEntry::Section(name, _) if name == "a"));
    }

    #[test]
    fn only_the_first_equals_sign_divides() {
        assert_eq!(
            pairs("description=a=b=\"c d\""),
            [("description".to_owned(), Some("a=b=\"c d\"".to_owned()))]
        );
        assert_eq!(pairs("size="), [("size".to_owned(), Some(String::new()))]);
    }

    #[test]
    fn places_are_those_of_the_text() {
        let entries = read("[a]\n  bs =  4k # x\n");
        let LineEntry::Assignment(bs) = &entries[1] else { panic!("{entries:?}") };
        assert_eq!(bs.origin, Origin::File { source: 0, line: 2, column: 3, length: 2 });
        assert_eq!(bs.value_origin, Origin::File { source: 0, line: 2, column: 9, length: 2 });
    }

    #[test]
    fn names_that_look_like_something_else_survive() {
        let environment = Environment { var: Box::new(|_| Some("[;x".to_owned())), ..Environment::default() };
        let mut sources = Sources::default();
        let source = sources.add("x", b"${X}=${X}\n\\y\n");
        let entries = entries(&sources, source, &environment);
        let names = entries.iter().map(|entry| match entry {
            LineEntry::Assignment(Assignment { name, value, .. }) => (name.as_str(), value.as_deref()),
            other => panic!("{other:?}"),
        });
        assert_eq!(names.collect::<Vec<_>>(), [("[;x", Some("[;x")), ("\\y", None)]);
    }

    #[test]
    fn includes_take_a_blank_or_an_equals_sign() {
        for text in ["include f.inc", "include=f.inc", "include \t = f.inc ; c"] {
            assert!(matches!(&read(text)[..], [LineEntry::Include(name, _)] if name == "f.inc"), "{text}");
        }
        assert_eq!(pairs("includexf"), [("includexf".to_owned(), None)]);
    }

    #[test]
    fn section_lines_that_do_not_close_are_errors() {
        for text in ["[a", "[a] b", "[a]b]"] {
            assert!(matches!(&read(text)[..], [LineEntry::Broken(_, Some(name))] if name == "a"), "{text}");
        }
        for (text, want) in [("[]", ""), ("[ a ]", " a "), ("[a b]", "a b")] {
            assert!(matches!(&read(text)[..], [LineEntry::Section(name, _)] if name == want), "{text}");
        }
    }

    fn read_like_fio(text: &[u8]) -> Vec<LineEntry> {
        let mut sources = Sources::default();
        let source = sources.add("x.fio", text);
        entries(&sources, source, &Environment { dialect: Dialect::Fio, ..Environment::default() })
    }

    fn value(entry: &LineEntry) -> (&str, &str) {
        let LineEntry::Assignment(Assignment { name, value, .. }) = entry else { panic!("{entry:?}") };
        (name, value.as_deref().unwrap_or_default())
    }

    #[test]
    fn to_fio_a_long_line_is_several_and_a_long_name_is_cut() {
        let text = format!("[a]\nname={}bs=4k\n# {}rw=read\n", "x".repeat(8186), "y".repeat(8189));
        let lines = read_like_fio(text.as_bytes());
        assert_eq!(value(&lines[1]).1.len(), 8186);
        assert_eq!((value(&lines[2]), value(&lines[3])), (("bs", "4k"), ("rw", "read")));
        let LineEntry::Assignment(bs) = &lines[2] else { panic!("{lines:?}") };
        assert_eq!(bs.origin, Origin::File { source: 0, line: 2, column: 8192, length: 2 });
        // A character of two bytes is not divided.
        let lines = read_like_fio(format!("nam={}bs=4k\n", "ü".repeat(4094)).as_bytes());
        assert_eq!(value(&lines[0]).1.chars().count(), 4093);
        let name = read_like_fio(format!("[{}]\n", "n".repeat(300)).as_bytes());
        assert!(matches!(&name[0], LineEntry::Section(name, _) if name.len() == 254));
    }

    #[test]
    fn to_fio_a_line_ends_at_a_zero_byte_and_a_description_may_be_of_any_bytes() {
        let lines = read_like_fio(b"[a\0b]\ndescription=gr\xfcn\0x\nbs=4k\0,8k\n\0rw=read\n");
        assert!(matches!(&lines[0], LineEntry::Section(name, _) if name.is_empty()), "{lines:?}");
        assert_eq!(value(&lines[1]), ("description", "gr\u{fffd}n"));
        assert_eq!((value(&lines[2]), lines.len()), (("bs", "4k"), 3));
        let file = read_like_fio(b"[a]\nfilename=gr\xfcn\n");
        assert!(matches!(&file[1], LineEntry::Broken(found, _) if found.code == "not-utf-8"), "another file");
    }

    fn broken(text: &[u8]) -> Vec<&'static str> {
        let mut sources = Sources::default();
        let source = sources.add("x.fio", text);
        let entries = entries(&sources, source, &Environment::default()).into_iter();
        let codes = entries.filter_map(|entry| match entry {
            LineEntry::Broken(diagnostic, _) => Some(diagnostic.code),
            _ => None,
        });
        codes.collect()
    }

    #[test]
    fn a_file_that_is_not_text_is_one_error() {
        for text in [b"[a]\nbs=\xff\nrw=\xff\n".as_slice(), b"[a]\n\xff\n[b\n\xff", b"[\xff]\nbs=1\n"] {
            assert_eq!(broken(text), ["not-utf-8"], "{text:?}");
        }
        assert_eq!(broken(b"[\0a\0]\0\n\0\n\0"), ["nul-byte"]);
    }

    #[test]
    fn comments_may_contain_bytes_that_are_not_text() {
        assert_eq!(broken(b"[a] ; gr\xfc\xdfe\n# \xff\0\nbs=4k;\xff\n"), [""; 0]);
    }

    #[test]
    fn a_replacement_character_is_text_like_any_other() {
        let want = [("description".to_owned(), Some("a\u{fffd}b".to_owned()))];
        assert_eq!(pairs("description=a\u{fffd}b"), want);
        assert_eq!(broken("description=\u{fffd}".as_bytes()), [""; 0]);
        let mixed = [b"x=\xef\xbf\xbd \xef\xbf\xbd ; \xff\ny=\xef\xbf\xbd".as_slice(), b"\xff\n"].concat();
        assert_eq!(broken(&mixed), ["not-utf-8"]);
    }

    #[test]
    fn a_byte_order_mark_is_refused() {
        let entries = read("\u{feff}[a]\nbs=4k\n");
        let [LineEntry::Broken(diagnostic, Some(name)), LineEntry::Assignment(_)] = &entries[..] else {
            panic!("{entries:?}")
        };
        assert_eq!((diagnostic.code, name.as_str()), ("byte-order-mark", "a"));
        assert_eq!(pairs("[a]\ndescription=\u{feff}\n").len(), 1, "anywhere else it is a character");
    }

    #[test]
    fn a_line_is_whole_up_to_its_limit_and_refused_beyond_it() {
        let line = |bytes: usize| format!("[a]\nname={}\nbs=4k\n", "x".repeat(bytes - 5));
        assert_eq!(pairs(&line(8191))[0].1.as_ref().map(String::len), Some(8186));
        assert_eq!(broken(line(8192).as_bytes()), ["long-line"]);
        assert_eq!(pairs(&line(8192)).len(), 1, "the lines after it are read");
        let comment = format!("[a]\nbs=4k ;{}\n# {}\n", "x".repeat(9000), "y".repeat(9000));
        assert_eq!((broken(comment.as_bytes()).len(), pairs(&comment).len()), (0, 1));
    }

    #[test]
    fn a_section_name_is_whole_up_to_its_limit_and_refused_beyond_it() {
        let name = |bytes: usize| format!("[{}]\nbs=4k\n", "n".repeat(bytes));
        assert!(matches!(&read(&name(254))[0], LineEntry::Section(name, _) if name.len() == 254));
        assert_eq!(broken(name(255).as_bytes()), ["long-name"]);
    }
}
