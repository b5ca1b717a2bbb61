//! One text in the dialect of job files, line by line.
//!
//! An adapter turns each line into the plain ini that `serde_ini`'s parser reads: comments and trailing
//! control characters go, variables are replaced, option names without `=` get one. A table beside it
//! remembers where everything stood.

use std::convert::Infallible;

use serde_ini::Parser;
use serde_ini::parse::{Error, Item, SyntaxError};

use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::origin::{Origin, Sources, count};

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    /// `[name]`.
    Section(String, Origin),
    /// `include file`; the origin is the file name's.
    Include(String, Origin),
    /// `name=value` or `name`.
    Assignment(Assignment),
    /// A line that makes no sense; with the name if it was to begin a section.
    Broken(Box<Diagnostic>, Option<String>),
}

/// An option as it stands in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assignment {
    /// Name as written, expanded.
    pub(crate) name: String,
    /// Value as written, expanded and trimmed; `None` without a `=`.
    pub(crate) value: Option<String>,
    /// Where the name stands.
    pub(crate) origin: Origin,
    /// Where the value stands.
    pub(crate) value_origin: Origin,
    /// Whether the value is literally what stands there, so that parts of it can be pointed at.
    pub(crate) literal: bool,
    /// The blanks between the `=` and the value.
    pub(crate) indent: String,
    /// Whether a keyword was replaced, so that the value may be arithmetic.
    pub(crate) keyword: bool,
    /// Names of variables without value.
    pub(crate) unset: Vec<String>,
}

/// What the table beside the ini lines knows of one.
struct Place {
    origin: Origin,
    value_origin: Origin,
    /// The value as it stands in the text.
    value: Option<String>,
    is_include: bool,
    /// Whether the line is not proper text.
    garbled: bool,
    /// Whether the expanded line has a value.
    assigned: bool,
    indent: String,
    keyword: bool,
    unset: Vec<String>,
}

/// Marks an option name whose first character would mean something else to an ini parser.
const ESCAPE: char = '\\';

/// Reads text number `source`.
pub(crate) fn entries(sources: &Sources, source: u32, environment: &Environment) -> Vec<Entry> {
    let mut lines = Vec::new();
    let mut places = Vec::new();
    for number in 1..=sources.lines(source) {
        if let Some((line, place)) = adapt(sources.line(source, number), source, number, environment) {
            let garbled = place.garbled;
            lines.push(line);
            places.push(place);
            // One complaint is enough for a file that is no text at all.
            if garbled {
                break;
            }
        }
    }
    let parser = Parser::new(lines.iter().map(Ok::<_, Infallible>));
    let entries = parser.zip(places).zip(&lines);
    entries.filter_map(|((item, place), line)| entry(item, place, line)).collect()
}

/// One line as an ini line with its place; `None` if it says nothing.
fn adapt(raw: &str, source: u32, line: u32, environment: &Environment) -> Option<(String, Place)> {
    let raw = if line == 1 { raw.trim_start_matches('\u{feff}') } else { raw };
    let end = raw.find([';', '#']).unwrap_or(raw.len());
    let kept = raw[..end].trim_end_matches(|sign: char| sign.is_whitespace() || sign.is_control());
    let text = kept.trim_start();
    if text.is_empty() {
        return None;
    }
    let at = |start: usize, piece: &str| Origin::File {
        source,
        line,
        column: count(&kept[..start]) + 1,
        length: count(piece),
    };
    let start = kept.len() - text.len();
    let mut place = Place {
        origin: at(start, text),
        value_origin: at(start, text),
        value: None,
        is_include: false,
        garbled: false,
        assigned: false,
        indent: String::new(),
        keyword: false,
        unset: Vec::new(),
    };
    if let Some(garbled) = text.find(char::REPLACEMENT_CHARACTER) {
        place.garbled = true;
        place.origin = at(start + garbled, "?");
        return Some((String::new(), place));
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

/// The blanks behind the `=` of a line.
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
fn entry(item: Result<Item, Error<Infallible>>, place: Place, line: &str) -> Option<Entry> {
    if place.garbled {
        let diagnostic = Diagnostic::error("text that is not UTF-8", place.origin);
        return Some(Entry::Broken(Box::new(diagnostic.label("unreadable from here")), None));
    }
    Some(match item {
        Ok(Item::Section { name }) => Entry::Section(name, place.origin),
        Ok(Item::Value { value, .. }) if place.is_include => Entry::Include(value, place.value_origin),
        Ok(Item::Value { key, value }) => Entry::Assignment(Assignment {
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
            let (message, label) = match error {
                SyntaxError::SectionNotClosed if line.contains(']') => {
                    ("text after the `]` of a section", "the section's name ends before this line does")
                }
                SyntaxError::SectionNotClosed => ("section without `]`", "the closing `]` is missing"),
                SyntaxError::SectionName => ("section name with a `]` in it", "a name ends at the first `]`"),
                SyntaxError::MissingEquals => ("not an option", "`name=value` is expected"),
            };
            let section =
                line.strip_prefix('[').map(|rest| rest.split(']').next().unwrap_or(rest).to_owned());
            Entry::Broken(Box::new(Diagnostic::error(message, place.origin).label(label)), section)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Entry> {
        let mut sources = Sources::default();
        let source = sources.add("x.fio", text.to_owned());
        entries(&sources, source, &Environment::default())
    }

    fn pairs(text: &str) -> Vec<(String, Option<String>)> {
        let assignments = read(text).into_iter().filter_map(|entry| match entry {
            Entry::Assignment(assignment) => Some((assignment.name, assignment.value)),
            _ => None,
        });
        assignments.collect()
    }

    #[test]
    fn comments_blanks_and_line_ends_go() {
        let text = "\u{feff}[a] ; one\r\n \t size \t= 4k ; x\r\n;bs=1k\n\n  # c\nthread\u{1}\r\nrw=read";
        let want = [("size", Some("4k")), ("thread", None), ("rw", Some("read"))];
        let want: Vec<_> = want.map(|(name, value)| (name.to_owned(), value.map(str::to_owned))).into();
        assert_eq!(pairs(text), want);
        assert!(matches!(&read(text)[0], Entry::Section(name, _) if name == "a"));
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
        let Entry::Assignment(bs) = &entries[1] else { panic!("{entries:?}") };
        assert_eq!(bs.origin, Origin::File { source: 0, line: 2, column: 3, length: 2 });
        assert_eq!(bs.value_origin, Origin::File { source: 0, line: 2, column: 9, length: 2 });
    }

    #[test]
    fn names_that_look_like_something_else_survive() {
        let environment = Environment { var: Box::new(|_| Some("[;x".to_owned())), ..Environment::default() };
        let mut sources = Sources::default();
        let source = sources.add("x", "${X}=${X}\n\\y\n".to_owned());
        let entries = entries(&sources, source, &environment);
        let names = entries.iter().map(|entry| match entry {
            Entry::Assignment(Assignment { name, value, .. }) => (name.as_str(), value.as_deref()),
            other => panic!("{other:?}"),
        });
        assert_eq!(names.collect::<Vec<_>>(), [("[;x", Some("[;x")), ("\\y", None)]);
    }

    #[test]
    fn includes_take_a_blank_or_an_equals_sign() {
        for text in ["include f.inc", "include=f.inc", "include \t = f.inc ; c"] {
            assert!(matches!(&read(text)[..], [Entry::Include(name, _)] if name == "f.inc"), "{text}");
        }
        assert_eq!(pairs("includexf"), [("includexf".to_owned(), None)]);
    }

    #[test]
    fn section_lines_that_do_not_close_are_errors() {
        for text in ["[a", "[a] b", "[a]b]"] {
            assert!(matches!(&read(text)[..], [Entry::Broken(_, Some(name))] if name == "a"), "{text}");
        }
        for (text, want) in [("[]", ""), ("[ a ]", " a "), ("[a b]", "a b")] {
            assert!(matches!(&read(text)[..], [Entry::Section(name, _)] if name == want), "{text}");
        }
    }

    #[test]
    fn a_file_that_is_no_text_is_complained_of_once() {
        for text in ["[a]\nbs=\u{fffd}\nrw=\u{fffd}\n", "[a]\n\u{fffd}\n[b\n\u{fffd}"] {
            assert!(matches!(&read(text)[..], [Entry::Section(..), Entry::Broken(..)]), "{text}");
        }
    }
}
