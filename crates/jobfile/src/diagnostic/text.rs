//! Diagnostics for a person: the message, the place, the line with a caret, and advice.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use ferrio_job::{Diagnostic, Origin, Severity};

use crate::sources::Sources;

/// At most this many diagnostics are shown; more of them have one cause.
pub(super) const SHOWN: usize = 200;

/// Diagnostics as text for a person: place, the user's line, caret, advice; each ends with an empty line. Of
/// very many only the first are shown.
pub fn diagnostics_render(diagnostics: &[Diagnostic], sources: &Sources, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for diagnostic in diagnostics.iter().take(SHOWN) {
        text.push_str(&render(diagnostic, sources, &renderer));
        text.push_str("\n\n");
    }
    if let Some(more) = diagnostics.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        text.push_str(&format!("... and {more} more\n\n"));
    }
    text
}

pub(super) fn render(diagnostic: &Diagnostic, sources: &Sources, renderer: &Renderer) -> String {
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
            Snippet::source(place.line).path(STAND_IN.to_string()).line_start(place.number as usize);
        group = group.element(snippet.annotation(annotation));
    } else if let Some(label) = label {
        group = group.element(Level::NOTE.message(label));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    let text = renderer.render(&[group]);
    match place.zip(text.split_once(STAND_IN)) {
        Some((place, (before, after))) => {
            let numbers = |sign: char| sign == ':' || sign.is_ascii_digit();
            format!("{before}{}{}", place.name, after.trim_start_matches(numbers))
        }
        None => text,
    }
}

/// Replaces the name of a place while the renderer works, which writes line and column after it. No other
/// text has it: [`printable`] sees to that.
const STAND_IN: char = '\u{f8ff}';

/// A piece of what the user wrote.
struct Excerpt<'a> {
    /// How the place is called.
    name: String,
    /// Number before the line: of the line in its file, or of the argument.
    number: u32,
    line: &'a str,
    column: u32,
    length: u32,
}

impl<'a> Excerpt<'a> {
    fn of(origin: &'a Origin, sources: &'a Sources) -> Option<Excerpt<'a>> {
        match origin {
            Origin::File { source, line, column, length } => Some(Excerpt {
                name: format!("{}:{line}:{column}", printable(sources.name(*source))),
                number: *line,
                line: sources.line(*source, *line),
                column: *column,
                length: *length,
            }),
            Origin::Argument { index, text, column, length } => Some(Excerpt {
                name: format!("argument {index}: {}", printable(text)),
                number: *index,
                line: text,
                column: *column,
                length: *length,
            }),
            Origin::Builtin => None,
        }
    }

    /// Bytes of the marked part.
    fn span(&self) -> std::ops::Range<usize> {
        let start = self.column.saturating_sub(1) as usize;
        let mut bounds = self.line.char_indices().map(|(at, _)| at).chain(std::iter::once(self.line.len()));
        let from = bounds.clone().nth(start).unwrap_or(self.line.len());
        let to = bounds.nth(start + self.length as usize).unwrap_or(self.line.len());
        from..to
    }
}

/// Without line ends, which a variable may have brought in.
fn printable(text: &str) -> String {
    let safe = |sign: char| !sign.is_control() && sign != STAND_IN;
    text.chars().map(|sign| if safe(sign) { sign } else { char::REPLACEMENT_CHARACTER }).collect()
}
