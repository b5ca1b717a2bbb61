//! Mistakes in what the user wrote, and how they are shown: to a person in `text.rs`, to a program in `json.rs`.

mod json;
mod text;

use ferrio_job::Diagnostic;

use crate::sources::Sources;
pub use json::diagnostics_json;
pub use text::diagnostics_render;

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

    /// All diagnostics for a program: one JSON object per line.
    pub fn json(&self) -> String {
        diagnostics_json(&self.diagnostics, &self.sources)
    }
}

#[cfg(test)]
mod tests;
