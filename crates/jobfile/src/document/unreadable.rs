//! Lines that cannot be read as text, with the reasons.

use ferrio_job::{Diagnostic, Origin};

use super::{LinePart, MAX_LINE_BYTES, MAX_NAME_BYTES};
use crate::catalogue::Opt;
use crate::value::Dialect;

/// A reason why a line cannot be read as text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    NotUtf8,
    Nul,
    ByteOrderMark,
    Long(usize),
    LongName(usize),
}

/// The reason why a nonempty part cannot be read, and the place of the offending text.
pub(super) fn find(piece: &LinePart<'_>, dialect: Dialect) -> Option<(Unreadable, Origin)> {
    let (kept, text) = (piece.kept, piece.text());
    let found = |why, from| Some((why, piece.origin(from, "?")));
    let bytes = piece.start..piece.start + kept.len();
    let not_utf8 = piece.sources.not_utf8(piece.source, piece.line, bytes);
    // fio takes any byte in a description; only reports show it, and they replace what is not UTF-8.
    if let Some(at) = not_utf8.filter(|_| dialect == Dialect::Ferrio || !is_description(text)) {
        return found(Unreadable::NotUtf8, at - piece.start);
    }
    if let Some(at) = kept.find('\0') {
        return found(Unreadable::Nul, at);
    }
    if piece.line == 1 && kept.starts_with('\u{feff}') {
        return found(Unreadable::ByteOrderMark, 0);
    }
    if kept.len() > MAX_LINE_BYTES {
        return Some((Unreadable::Long(kept.len()), piece.origin_of_end(text)));
    }
    let name = text.strip_prefix('[').map_or(0, |name| name.trim_end_matches(']').len());
    (name > MAX_NAME_BYTES && dialect == Dialect::Ferrio)
        .then(|| (Unreadable::LongName(name), piece.origin_of_end(text)))
}

/// Whether a line sets the description of a job.
fn is_description(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| name.trim_end() == Opt::Description.row().name)
}

impl Unreadable {
    /// The error about a line that is unreadable at `origin`.
    pub(super) fn diagnostic(self, origin: Origin) -> Diagnostic {
        match self {
            Unreadable::NotUtf8 => Diagnostic::error("text that is not UTF-8", origin)
                .code("not-utf-8")
                .label("unreadable from here")
                .help("save the file as UTF-8; other bytes are allowed in comments only"),
            Unreadable::Nul => Diagnostic::error("a NUL byte in the text", origin)
                .code("nul-byte")
                .label("unreadable from here")
                .help("job files are plain text; convert UTF-16 to UTF-8"),
            Unreadable::ByteOrderMark => Diagnostic::error("the file begins with a byte order mark", origin)
                .code("byte-order-mark")
                .label("an invisible U+FEFF precedes this line")
                .help("save the file as UTF-8 without a byte order mark"),
            Unreadable::Long(bytes) => {
                Diagnostic::error(format!("the line has {bytes} bytes"), origin.part(0, 1))
                    .code("long-line")
                    .label(format!("the limit is {MAX_LINE_BYTES}"))
                    .help("give the option several times, or use a shorter value")
            }
            Unreadable::LongName(bytes) => {
                Diagnostic::error(format!("the section name has {bytes} bytes"), origin.part(0, 1))
                    .code("long-name")
                    .label(format!("the limit is {MAX_NAME_BYTES}"))
            }
        }
    }
}
