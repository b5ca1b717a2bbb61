//! Errors of setting an engine up.

use std::io;

/// A failed set-up call: which one, the kernel's answer, and what the user can do about it.
#[derive(Debug, thiserror::Error)]
#[error("{func}: {source}{}", hint.as_deref().map(|h| format!(" ({h})")).unwrap_or_default())]
pub struct EngineError {
    /// The call that failed, in fio's `func=` words (`io_queue_init`, `mmap`, `open(FILE)`).
    pub func: String,
    /// The kernel's answer.
    #[source]
    pub source: io::Error,
    /// What to change.
    pub hint: Option<String>,
}

impl EngineError {
    /// An error of the call `func`.
    #[must_use]
    pub fn new(func: impl Into<String>, source: io::Error) -> Self {
        EngineError { func: func.into(), source, hint: None }
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The errno, EIO when the error is not one of the kernel's.
    #[must_use]
    pub fn errno(&self) -> i32 {
        self.source.raw_os_error().unwrap_or(libc::EIO)
    }
}
