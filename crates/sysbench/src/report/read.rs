//! Reads documents of tests of sysbench back.

use serde::Deserialize;
use serde::de::IgnoredAny;
use thiserror::Error;

use super::FORMAT_VERSION;
use super::document::SysbenchDocument;

/// A key that all documents of sysbench have, and reports of jobs do not.
const OWN_KEY: &str = "\"events_per_second\"";

/// Why a document of sysbench cannot be used.
#[derive(Debug, Error)]
pub enum DocumentError {
    /// It is damaged.
    #[error("this document of `ferrio sysbench` is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    /// A newer ferrio wrote it.
    #[error(
        "this document of `ferrio sysbench` has version {0}, and this program reads version {FORMAT_VERSION}"
    )]
    Newer(u32),
}

/// The keys that make a document one of sysbench.
#[derive(Deserialize)]
struct DocumentKeys {
    version: u32,
    #[serde(rename = "test")]
    _test: IgnoredAny,
    #[serde(rename = "settings")]
    _settings: IgnoredAny,
    #[serde(rename = "report")]
    _report: IgnoredAny,
}

impl SysbenchDocument {
    /// Reads a text; `None` if it is no document of sysbench.
    ///
    /// # Errors
    /// It is one, and damaged or of a newer version.
    pub fn read(text: &str) -> Option<Result<Self, DocumentError>> {
        if !text.trim_start().starts_with('{') || !text.contains(OWN_KEY) {
            return None;
        }
        // Nothing but JSON is recognized: the error of another reader says what is wrong with the rest.
        let keys: DocumentKeys = serde_json::from_str(text).ok()?;
        if keys.version > FORMAT_VERSION {
            return Some(Err(DocumentError::Newer(keys.version)));
        }
        Some(serde_json::from_str(text).map_err(DocumentError::from))
    }
}
