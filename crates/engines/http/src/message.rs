//! The messages to the server, each of which is about one object.

use std::fmt;

/// A request for an object.
#[derive(Clone, Copy)]
pub(crate) struct HttpRequest<'a> {
    pub(crate) method: &'static str,
    pub(crate) path: &'a str,
    /// Offsets of the first and last byte.
    pub(crate) range: Option<(u64, u64)>,
    pub(crate) body: &'a [u8],
}

#[derive(Clone)]
pub(crate) struct HttpHeader {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    /// True if the value must not be printed.
    pub(crate) is_secret: bool,
}

impl HttpHeader {
    pub(crate) fn plain(name: &'static str, value: impl Into<String>) -> Self {
        HttpHeader { name, value: value.into(), is_secret: false }
    }

    pub(crate) fn secret(name: &'static str, value: impl Into<String>) -> Self {
        HttpHeader { name, value: value.into(), is_secret: true }
    }
}

impl fmt::Display for HttpHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, if self.is_secret { "***" } else { &self.value })
    }
}
