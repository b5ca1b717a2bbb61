//! One text in the dialect of job files, line by line.
//!
//! An adapter turns each line into the plain ini that `serde_ini`'s parser reads: comments and trailing
//! control characters go, variables are replaced, option names without `=` get one. A table beside it
//! remembers where everything stood.

use std::convert::Infallible;

use serde_ini::Parser;
use serde_ini::parse::{Error, Item, SyntaxError};

use crate::environment::Environment;
use ferrio_job::Diagnostic;
use ferrio_job::Origin;

use crate::sources::Sources;

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LineEntry {
    /// `[name]`.
    Section(String, Origin),
    /// `include file`; the origin is the file name's.
    Include(String, Origin),
    /// `name=value` or `name`.
    Assignment(Assignment),
    /// A line that makes no sense; with the name if it was to begin a section.
    Broken(Box<Diagnostic>, Option<String>),
}

/// An option as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assignment {
    /// Name as written, expanded.
    pub(crate) name: String,
    /// Value as written, expanded and trimmed; `None` without a `=`.
    pub(crate) value: Option<String>,
    /// Where the name is.
    pub(crate) origin: Origin,
    /// Where the value is.
    pub(crate) value_origin: Origin,
    /// Whether the value is literally the text of the file, so that messages can point at parts of it.
    pub(crate) literal: bool,
    /// The blanks between the `=` and the value.
    pub(crate) indent: String,
    /// Whether a keyword was replaced, so that the value may be arithmetic.
    pub(crate) keyword: bool,
    /// Names of variables without value.
    pub(crate) unset: Vec<String>,
}

/// What the table beside the ini lines knows of one.
struct LineDetails {
    origin: Origin,
    value_origin: Origin,
    /// The value as written.
    value: Option<String>,
    is_include: bool,
    /// What is wrong with the line as a text, if anything is.
    unreadable: Option<Unreadable>,
    /// Whether the expanded line has a value.
    assigned: bool,
    indent: String,
    keyword: bool,
    unset: Vec<String>,
}

/// Why a line cannot be read whatever it says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unreadable {
    NotUtf8,
    Nul,
    ByteOrderMark,
    Long(usize),
    LongName(usize),
}

/// The most bytes of a line that fio reads as one.
const LINE: usize = 8191;

/// The most bytes of a section's name that fio reads.
const NAME: usize = 254;

/// Marks an option name whose first character would mean something else to an ini parser.
const ESCAPE: char = '\\';

/// Reads text number `source`.
pub(crate) fn entries(sources: &Sources, source: u32, environment: &Environment) -> Vec<LineEntry> {
    let mut lines = Vec::new();
    let mut places = Vec::new();
    for number in 1..=sources.lines(source) {
        if let Some((line, place)) = adapt(sources, source, number, environment) {
            // One complaint is enough for a file that is no text at all.
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

/// One line as an ini line with its place; `None` if it says nothing.
fn adapt(
    sources: &Sources,
    source: u32,
    line: u32,
    environment: &Environment,
) -> Option<(String, LineDetails)> {
    let raw = sources.line(source, line);
    let end = raw.find([';', '#']).unwrap_or(raw.len());
    let kept = raw[..end].trim_end_matches(|sign: char| sign.is_whitespace() || sign.is_control());
    let text = kept.trim_start();
    if text.is_empty() {
        return None;
    }
    let at = |start: usize, piece: &str| Origin::File {
        source,
        line,
        column: characters(&kept[..start]) + 1,
        length: characters(piece),
    };
    let start = kept.len() - text.len();
    let mut place = LineDetails {
        origin: at(start, text),
        value_origin: at(start, text),
        value: None,
        is_include: false,
        unreadable: None,
        assigned: false,
        indent: String::new(),
        keyword: false,
        unset: Vec::new(),
    };
    let name = text.strip_prefix('[').map_or(0, |name| name.trim_end_matches(']').len());
    let garbled = sources.garbled(source, line, kept.len());
    let unreadable = garbled.map(|from| (Unreadable::NotUtf8, from, "?"));
    let unreadable = unreadable.or_else(|| kept.find('\0').map(|from| (Unreadable::Nul, from, "?")));
    let unreadable = unreadable.or_else(|| match text {
        _ if line == 1 && raw.starts_with('\u{feff}') => Some((Unreadable::ByteOrderMark, 0, "\u{feff}")),
        _ if kept.len() > LINE => Some((Unreadable::Long(kept.len()), start, text)),
        _ if name > NAME => Some((Unreadable::LongName(name), start, text)),
        _ => None,
    });
    if let Some((why, from, piece)) = unreadable {
        place.unreadable = Some(why);
        place.origin = at(from, piece);
        return Some((text.to_owned(), place));
    }
    if text.starts_with('[') {
        return Some((text.to_owned(), place));
    }
    if let Some(name) = include(text) {
        place.value_origin = at(kept.len() - name.len(), name);
        (place.is_include, place.assigned) = (true, true);
        return Some((format!("include={name}"), place));
    }
    if let Some((name, value)) = text.split_once('=') {
        let value = value.trim_start();
        place.origin = at(start, name.trim_end());
        place.value_origin = at(kept.len() - value.len(), value);
        place.value = Some(value.to_owned());
    }
    let expanded = environment.expand(text);
    place.assigned = expanded.text.contains('=');
    place.indent = indent(&expanded.text).to_owned();
    place.keyword = expanded.keyword;
    place.unset = expanded.unset;
    let text = expanded.text.trim();
    if text.is_empty() {
        return None;
    }
    let escape = if text.starts_with(['[', ';', '#', ESCAPE]) { "\\" } else { "" };
    let equals = if place.assigned { "" } else { "=" };
    Some((format!("{escape}{text}{equals}"), place))
}

/// The blanks after the `=` of a line.
fn indent(text: &str) -> &str {
    let value = text.split_once('=').map_or("", |(_, value)| value);
    &value[..value.len() - value.trim_start().len()]
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

/// What an ini item means in a job file.
fn entry(item: Result<Item, Error<Infallible>>, place: LineDetails, line: &str) -> Option<LineEntry> {
    if let Some(why) = place.unreadable {
        let section = match (why, item) {
            (Unreadable::LongName(_), Ok(Item::Section { name })) => Some(name),
            (Unreadable::ByteOrderMark, _) => bracketed(line.trim_start_matches('\u{feff}')),
            _ => None,
        };
        return Some(LineEntry::Broken(Box::new(unreadable(why, place.origin)), section));
    }
    Some(match item {
        Ok(Item::Section { name }) => LineEntry::Section(name, place.origin),
        Ok(Item::Value { value, .. }) if place.is_include => LineEntry::Include(value, place.value_origin),
        Ok(Item::Value { key, value }) => LineEntry::Assignment(Assignment {
            name: key.strip_prefix(ESCAPE).map(str::to_owned).unwrap_or(key),
            literal: place.value.as_deref() == Some(&value),
            value: place.assigned.then_some(value),
            origin: place.origin,
            value_origin: place.value_origin,
            indent: place.indent,
            keyword: place.keyword,
            unset: place.unset,
        }),
        Ok(Item::Empty | Item::Comment { .. }) => return None,
        Err(Error::Inner(never)) => match never {},
        Err(Error::Syntax(error)) => {
            let (code, message, label) = match error {
                SyntaxError::SectionNotClosed if line.contains(']') => (
                    "text-after-section",
                    "text after the `]` of a section",
                    "the section's name ends before this line does",
                ),
                SyntaxError::SectionNotClosed => {
                    ("unclosed-section", "section without `]`", "the closing `]` is missing")
                }
                SyntaxError::SectionName => {
                    ("bracket-in-section", "section name with a `]` in it", "a name ends at the first `]`")
                }
                SyntaxError::MissingEquals => ("not-an-option", "not an option", "`name=value` is expected"),
            };
            let name = bracketed(line);
            let suggestion = name.as_ref().map(|name| format!("[{name}]"));
            let diagnostic = Diagnostic::error(message, place.origin).code(code).label(label);
            LineEntry::Broken(Box::new(Diagnostic { suggestion, ..diagnostic }), name)
        }
    })
}

/// The name of the section that a line was to begin.
fn bracketed(line: &str) -> Option<String> {
    line.strip_prefix('[').map(|rest| rest.split(']').next().unwrap_or(rest).to_owned())
}

fn unreadable(why: Unreadable, origin: Origin) -> Diagnostic {
    match why {
        Unreadable::NotUtf8 => Diagnostic::error("text that is not UTF-8", origin)
            .code("not-utf-8")
            .label("unreadable from here")
            .help("save the file as UTF-8; other bytes are allowed in comments only"),
        Unreadable::Nul => Diagnostic::error("a NUL byte in the text", origin)
            .code("nul-byte")
            .label("unreadable from here")
            .help("job files are plain text; convert UTF-16 to UTF-8"),
        Unreadable::ByteOrderMark => Diagnostic::error("the file begins with a byte order mark", origin)
            .code("byte-order-mark")
            .label("an invisible U+FEFF precedes this line")
            .help("save the file as UTF-8 without a byte order mark"),
        Unreadable::Long(bytes) => Diagnostic::error(format!("a line of {bytes} bytes"), origin.part(0, 1))
            .code("long-line")
            .label(format!("the limit is {LINE}"))
            .help("give the option several times, or use a shorter value"),
        Unreadable::LongName(bytes) => {
            Diagnostic::error(format!("a section name of {bytes} bytes"), origin.part(0, 1))
                .code("long-name")
                .label(format!("the limit is {NAME}"))
        }
    }
}

fn characters(text: &str) -> u32 {
    text.chars().count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<LineEntry> {
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
    fn comments_blanks_and_line_ends_go() {
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
    fn a_file_that_is_no_text_is_complained_of_once() {
        for text in [b"[a]\nbs=\xff\nrw=\xff\n".as_slice(), b"[a]\n\xff\n[b\n\xff", b"[\xff]\nbs=1\n"] {
            assert_eq!(broken(text), ["not-utf-8"], "{text:?}");
        }
        assert_eq!(broken(b"[\0a\0]\0\n\0\n\0"), ["nul-byte"]);
    }

    #[test]
    fn bytes_that_are_no_text_may_stand_in_comments() {
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
    fn a_byte_order_mark_is_no_part_of_a_job_file() {
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
