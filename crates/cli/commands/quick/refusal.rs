//! Why nothing is measured.

use ferrio_job::{Diagnostic, Origin};

/// Why nothing is measured, and what to do.
#[derive(Debug)]
pub struct Refusal {
    /// Why.
    pub message: String,
    help: String,
}

impl Refusal {
    /// With what to do instead.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Refusal { message: message.into(), help: help.into() }
    }

    /// As a message.
    pub fn diagnostic(self) -> Diagnostic {
        let error = Diagnostic::error(self.message, Origin::Builtin).code("quick");
        Diagnostic { help: Some(self.help), ..error }
    }
}
