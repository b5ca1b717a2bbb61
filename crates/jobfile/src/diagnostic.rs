//! Diagnostics about the user's text: for people as text, for programs as JSON, and with suggestions.
//!
//! Text has the message, the place, the line with a caret, and advice. JSON is one object per line, as compilers print
//! it: every object has every key, `null` where it does not apply, and `rendered` is the text for a person.

use std::borrow::Cow;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use ferrio_job::{Compat, Diagnostic, FioWords, Origin, Severity};
use serde::Serialize;

use crate::catalogue::Opt;
use crate::sources::Sources;

/// The problems that prevent a job set.
#[derive(Debug, Clone)]
pub struct Problems {
    /// All problems in reading order.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that the diagnostics point into.
    pub sources: Sources,
}

impl Problems {
    /// All diagnostics as text for a person, with terminal colours if `colour`.
    pub fn render(&self, colour: bool) -> String {
        diagnostics_render(&self.diagnostics, &self.sources, colour)
    }
}

/// Most diagnostics that are shown; larger numbers have one cause.
const MAX_SHOWN: usize = 200;

/// Diagnostics as text for a person; each ends with an empty line. At most the first 200 are shown.
pub fn diagnostics_render(diagnostics: &[Diagnostic], sources: &Sources, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let shown = diagnostics.iter().take(MAX_SHOWN).map(|diagnostic| render(diagnostic, sources, &renderer));
    shown.chain(more(diagnostics)).map(|text| text + "\n\n").collect()
}

/// Diagnostics as a program that is called `fio` prints them: fio's lines in place of the message, then the place and advice.
pub fn diagnostics_render_as_fio(diagnostics: &[Diagnostic], sources: &Sources, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let shown = diagnostics.iter().take(MAX_SHOWN).map(|diagnostic| {
        let text = render(diagnostic, sources, &renderer);
        let below_message = text.split_once('\n').map(|(_, rest)| format!("\n{rest}"));
        format!("{}{}", fio_lines(diagnostic, sources), below_message.unwrap_or_default())
    });
    shown.chain(more(diagnostics)).map(|text| text + "\n\n").collect()
}

/// The lines of fio for a diagnostic.
fn fio_lines(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let written = || printable(&written(&diagnostic.origin, sources));
    let meant = diagnostic.suggestion.iter();
    let meant = meant.map(|word| format!("Did you mean {}?", word.trim_start_matches('-')));
    let lines = match &diagnostic.fio {
        FioWords::Message => vec![printable(&diagnostic.line(Compat::Fio))],
        FioWords::FailedParsing(reason) => {
            let reason = reason.iter().map(|reason| printable(reason));
            reason.chain([format!("fio: failed parsing {}", written())]).collect()
        }
        FioWords::Unrecognized => {
            [printable(&diagnostic.line(Compat::Fio))].into_iter().chain(meant).collect()
        }
        FioWords::BadOption => [format!("Bad option <{}>", written())].into_iter().chain(meant).collect(),
        FioWords::OutsideSection => {
            vec![format!("fio: option <{}> outside of [] job section", written())]
        }
        FioWords::Lines(lines) => lines.iter().map(|line| printable(line)).collect(),
    };
    lines.join("\n")
}

/// The option at a place, as fio quotes it: a line without its comment, or an argument without its dashes.
fn written(origin: &Origin, sources: &Sources) -> String {
    match origin {
        Origin::File { source, line, .. } => {
            let line = masked(sources.line(*source, *line));
            line.split([';', '#']).next().unwrap_or(&line).trim().to_owned()
        }
        Origin::Argument { text, .. } => {
            let text = masked(text);
            let text = text.trim_start_matches('-');
            match text.split_once([' ', '=']) {
                Some((name, value)) => format!("{name}={value}"),
                None => text.to_owned(),
            }
        }
        Origin::Builtin => String::new(),
    }
}

/// The line about diagnostics that are not shown.
fn more(diagnostics: &[Diagnostic]) -> Option<String> {
    let more = diagnostics.len().saturating_sub(MAX_SHOWN);
    (more > 0).then(|| format!("... and {more} more"))
}

fn render(diagnostic: &Diagnostic, sources: &Sources, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(printable(&diagnostic.message)));
    let place = Excerpt::of(&diagnostic.origin, sources).filter(|_| diagnostic.severity != Severity::Note);
    let label = (!diagnostic.label.is_empty()).then(|| printable(&diagnostic.label));
    if let Some(place) = &place {
        let annotation = AnnotationKind::Primary.span(place.span()).label(label);
        let snippet =
            Snippet::source(&*place.line).path(PLACE_NAME.to_string()).line_start(place.number as usize);
        group = group.element(snippet.annotation(annotation));
    } else if let Some(label) = label {
        group = group.element(Level::NOTE.message(label));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    let text = renderer.render(&[group]);
    match place.zip(text.split_once(PLACE_NAME)) {
        Some((place, (before, after))) => {
            let numbers = |sign: char| sign == ':' || sign.is_ascii_digit();
            format!("{before}{}{}", place.name, after.trim_start_matches(numbers))
        }
        None => text,
    }
}

/// Replaces the name of a place until the text is rendered, because the renderer adds line and column to it. No other text contains it,
/// because [`printable`] replaces it.
const PLACE_NAME: char = '\u{f8ff}';

/// The part of the user's text that a diagnostic is about.
struct Excerpt<'a> {
    /// Name of the place.
    name: String,
    /// Number of the line in its file, or of the argument.
    number: u32,
    line: Cow<'a, str>,
    column: u32,
    length: u32,
}

impl<'a> Excerpt<'a> {
    fn of(origin: &'a Origin, sources: &'a Sources) -> Option<Excerpt<'a>> {
        match origin {
            Origin::File { source, line, column, length } => Some(Excerpt {
                name: format!("{}:{line}:{column}", printable(sources.name(*source))),
                number: *line,
                line: shown(masked(sources.line(*source, *line))),
                column: *column,
                length: *length,
            }),
            Origin::Argument { index, text, column, length } => Some(Excerpt {
                name: format!("argument {index}: {}", printable(&masked(text))),
                number: *index,
                line: shown(masked(text)),
                column: *column,
                length: *length,
            }),
            Origin::Builtin => None,
        }
    }

    /// Range of the marked part in bytes.
    fn span(&self) -> std::ops::Range<usize> {
        let start = self.column.saturating_sub(1) as usize;
        let mut bounds = self.line.char_indices().map(|(at, _)| at).chain(std::iter::once(self.line.len()));
        let from = bounds.clone().nth(start).unwrap_or(self.line.len());
        let to = bounds.nth(start + self.length as usize).unwrap_or(self.line.len());
        from..to
    }
}

/// A line or argument with asterisks for each character of a password or key.
#[must_use]
pub fn masked(line: &str) -> Cow<'_, str> {
    let begin = line.len() - line.trim_start().len();
    let Some(end) = line[begin..].find([' ', '=']) else { return Cow::Borrowed(line) };
    let (name, value) = line.split_at(begin + end);
    let option = name[begin..].trim_start_matches('-');
    if !Opt::named(option).any(Opt::is_secret) {
        return Cow::Borrowed(line);
    }
    let hide = |sign| if matches!(sign, ' ' | '=') { sign } else { '*' };
    Cow::Owned(value.chars().fold(name.to_owned(), |line, sign| line + hide(sign).encode_utf8(&mut [0; 4])))
}

/// A line in which each character takes one column. The renderer replaces all control characters but those above ASCII.
fn shown(line: Cow<'_, str>) -> Cow<'_, str> {
    const ABOVE_ASCII: std::ops::RangeInclusive<char> = '\u{80}'..='\u{9f}';
    let is_control = |sign| ABOVE_ASCII.contains(&sign);
    if !line.contains(is_control) {
        return line;
    }
    line.replace(is_control, "\u{fffd}").into()
}

/// A text without control characters; a variable may contain line ends.
fn printable(text: &str) -> String {
    let safe = |sign: char| !sign.is_control() && sign != PLACE_NAME;
    text.chars().map(|sign| if safe(sign) { sign } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// The object of one diagnostic.
#[derive(Debug, Default, Serialize)]
struct JsonDiagnostic<'a> {
    severity: &'static str,
    code: &'a str,
    message: &'a str,
    /// Names of the affected jobs.
    jobs: Option<&'a [String]>,
    /// Name of the job file, as given.
    file: Option<&'a str>,
    /// Number of the command-line argument, from 1.
    argument: Option<u32>,
    /// In the file, from 1.
    line: Option<u32>,
    /// In characters from 1, in the line or in the argument.
    column: Option<u32>,
    /// In characters; may be 0.
    length: Option<u32>,
    /// The line or the argument.
    text: Option<Cow<'a, str>>,
    label: Option<&'a str>,
    help: Option<&'a str>,
    /// The replacement for the marked part.
    suggestion: Option<&'a str>,
    rendered: String,
}

/// Diagnostics as JSON, one object per line; at most the first 200.
pub fn diagnostics_json(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let renderer = Renderer::plain();
    let more = more(diagnostics).map(|more| Diagnostic::note(more).code("too-many"));
    let line = |diagnostic| {
        // Serialization of a struct of texts and numbers cannot fail.
        serde_json::to_string(&json(diagnostic, sources, &renderer)).unwrap_or_default() + "\n"
    };
    diagnostics.iter().take(MAX_SHOWN).chain(&more).map(line).collect()
}

fn json<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources, renderer: &Renderer) -> JsonDiagnostic<'a> {
    let rendered = format!("{}\n", render(diagnostic, sources, renderer));
    let message = JsonDiagnostic {
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        code: diagnostic.code,
        message: &diagnostic.message,
        jobs: Some(diagnostic.jobs.as_slice()).filter(|jobs| !jobs.is_empty()),
        label: Some(diagnostic.label.as_str()).filter(|label| !label.is_empty()),
        help: diagnostic.help.as_deref(),
        suggestion: diagnostic.suggestion.as_deref(),
        rendered,
        ..JsonDiagnostic::default()
    };
    match &diagnostic.origin {
        Origin::File { source, line, column, length } => JsonDiagnostic {
            file: Some(sources.name(*source)),
            line: Some(*line),
            column: Some(*column),
            length: Some(*length),
            text: Some(masked(sources.line(*source, *line))),
            ..message
        },
        Origin::Argument { index, text, column, length } => JsonDiagnostic {
            argument: Some(*index),
            column: Some(*column),
            length: Some(*length),
            text: Some(masked(text)),
            ..message
        },
        Origin::Builtin => message,
    }
}

/// The word nearest to `typed`, if it is near enough for a typing error to be likely; the first of equals.
pub fn nearest<'a>(typed: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Names are short, so a long text is not a misspelt one.
    if typed.len() > 64 {
        return None;
    }
    let length = typed.chars().count();
    // A word that has nothing in common with the text is not a candidate.
    let allowed = length.div_ceil(3).min(length.saturating_sub(1));
    // Names are ASCII, and each missing or additional character is a difference.
    let possible = words.filter(|word| word.len().abs_diff(length) <= allowed);
    let distances = possible.map(|word| match typed.eq_ignore_ascii_case(word) {
        true => (0, word),
        false => (strsim::damerau_levenshtein(typed, word), word),
    });
    let best = distances.min_by_key(|&(distance, _)| distance)?;
    (best.0 <= allowed).then_some(best.1)
}

#[cfg(test)]
mod tests;
