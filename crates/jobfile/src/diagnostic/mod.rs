//! What is wrong with what the user wrote, and how it is shown.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::origin::{Origin, Sources};

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Nothing is run.
    Error,
    /// Worth knowing; the run goes on.
    Warning,
    /// Goes with the diagnostic before it.
    Note,
}

/// One thing to tell the user.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, with the user's own text.
    pub message: String,
    /// Where.
    pub origin: Origin,
    /// Text beside the caret; may be empty.
    pub label: String,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without label or help.
    pub fn error(message: impl Into<String>, origin: Origin) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            origin,
            label: String::new(),
            help: None,
        }
    }

    /// A warning without label or help.
    pub fn warning(message: impl Into<String>, origin: Origin) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message, origin) }
    }

    /// The same with a text beside the caret.
    pub fn label(self, label: impl Into<String>) -> Diagnostic {
        Diagnostic { label: label.into(), ..self }
    }

    /// The same with advice.
    pub fn help(self, help: impl Into<String>) -> Diagnostic {
        Diagnostic { help: Some(help.into()), ..self }
    }
}

/// Why there is no job set: everything found wrong.
#[derive(Debug, Clone)]
pub struct Problems {
    /// Everything found wrong, in reading order.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts the diagnostics point into.
    pub sources: Sources,
}

impl Problems {
    /// All diagnostics as text for a person, with terminal colours if `colour`.
    pub fn render(&self, colour: bool) -> String {
        diagnostics_render(&self.diagnostics, &self.sources, colour)
    }
}

/// So many diagnostics are shown; who has more has one cause for them.
const SHOWN: usize = 200;

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

fn render(diagnostic: &Diagnostic, sources: &Sources, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(printable(&diagnostic.message));
    let place = match &diagnostic.origin {
        Origin::File { source, line, column, length } => {
            let path = printable(sources.name(*source));
            Some((sources.line(*source, *line), Some((path, *line)), *column, *length))
        }
        Origin::Argument { text, column, length, .. } => Some((text.as_str(), None, *column, *length)),
        Origin::Builtin => None,
    };
    let mut group = Group::with_title(title);
    if let Some((line, path, column, length)) = place.filter(|_| diagnostic.severity != Severity::Note) {
        let at = |characters: usize| line.char_indices().nth(characters).map_or(line.len(), |(at, _)| at);
        let start = column.saturating_sub(1) as usize;
        let annotation = AnnotationKind::Primary.span(at(start)..at(start + length as usize));
        let snippet = match path {
            Some((path, number)) => Snippet::source(line).path(path).line_start(number as usize),
            None => Snippet::source(line).path("command line"),
        };
        let label = (!diagnostic.label.is_empty()).then(|| printable(&diagnostic.label));
        group = group.element(snippet.annotation(annotation.label(label)));
    } else if !diagnostic.label.is_empty() {
        group = group.element(Level::NOTE.message(printable(&diagnostic.label)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    renderer.render(&[group])
}

/// Without line ends, which a variable may have brought in.
fn printable(text: &str) -> String {
    text.chars().map(|sign| if sign.is_control() { char::REPLACEMENT_CHARACTER } else { sign }).collect()
}

#[cfg(test)]
mod tests;
