//! Diagnostics for programs: one JSON object per line, as compilers print them.
//!
//! Every object has every key; what does not apply is `null`. `rendered` is the text a person would get.

use annotate_snippets::Renderer;
use serde::Serialize;

use super::text::{SHOWN, render};
use ferrio_job::Origin;
use ferrio_job::{Diagnostic, Severity};

use crate::sources::Sources;

/// The object of one diagnostic.
#[derive(Debug, Serialize)]
struct JsonDiagnostic<'a> {
    severity: &'static str,
    code: &'a str,
    message: &'a str,
    /// Names of the jobs it is about.
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
    text: Option<&'a str>,
    label: Option<&'a str>,
    help: Option<&'a str>,
    /// What to write instead of the marked part.
    suggestion: Option<&'a str>,
    rendered: String,
}

/// Diagnostics as JSON, one object per line. Of very many only the first are shown, as in the text.
pub fn diagnostics_json(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let renderer = Renderer::plain();
    let mut text = String::new();
    for diagnostic in diagnostics.iter().take(SHOWN) {
        line(diagnostic, sources, &renderer, &mut text);
    }
    if let Some(more) = diagnostics.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        let note = Diagnostic::note(format!("... and {more} more")).code("too-many");
        line(&note, sources, &renderer, &mut text);
    }
    text
}

fn line(diagnostic: &Diagnostic, sources: &Sources, renderer: &Renderer, text: &mut String) {
    let message = message(diagnostic, sources, renderer);
    // A struct of texts and numbers cannot fail to become JSON.
    text.push_str(&serde_json::to_string(&message).unwrap_or_default());
    text.push('\n');
}

fn message<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources, renderer: &Renderer) -> JsonDiagnostic<'a> {
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
        file: None,
        argument: None,
        line: None,
        column: None,
        length: None,
        text: None,
        label: Some(diagnostic.label.as_str()).filter(|label| !label.is_empty()),
        help: diagnostic.help.as_deref(),
        suggestion: diagnostic.suggestion.as_deref(),
        rendered,
    };
    match &diagnostic.origin {
        Origin::File { source, line, column, length } => JsonDiagnostic {
            file: Some(sources.name(*source)),
            line: Some(*line),
            column: Some(*column),
            length: Some(*length),
            text: Some(sources.line(*source, *line)),
            ..message
        },
        Origin::Argument { index, text, column, length } => JsonDiagnostic {
            argument: Some(*index),
            column: Some(*column),
            length: Some(*length),
            text: Some(text),
            ..message
        },
        Origin::Builtin => message,
    }
}
