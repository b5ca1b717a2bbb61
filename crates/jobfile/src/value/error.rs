//! A mistake in a value, and the part of it that is wrong.

/// A reason why a value is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueError {
    /// The kind of mistake, as in [`ferrio_job::Diagnostic`].
    pub(crate) code: &'static str,
    /// Byte offset of the offending part within the value text.
    pub(crate) start: usize,
    /// Bytes of the offending part.
    pub(crate) length: usize,
    /// The reason, short.
    pub(crate) label: Box<str>,
    /// The remedy.
    pub(crate) help: Option<String>,
    /// The message, if it differs from the usual one about an invalid value.
    pub(crate) message: Option<Box<str>>,
    /// The word that was probably meant.
    pub(crate) suggestion: Option<&'static str>,
    /// The reason in fio's words, if it has a line for it.
    pub(crate) fio: Option<Box<str>>,
}

/// A part of a value text that remembers where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextPiece<'a> {
    /// The part itself.
    pub(crate) text: &'a str,
    /// Byte offset within the value text.
    pub(crate) at: usize,
}

impl ValueError {
    /// Adds advice.
    pub(crate) fn help(self, help: impl Into<String>) -> ValueError {
        ValueError { help: Some(help.into()), ..self }
    }

    /// Adds fio's line for the reason.
    pub(crate) fn in_fio(self, fio: impl Into<String>) -> ValueError {
        ValueError { fio: Some(fio.into().into_boxed_str()), ..self }
    }

    /// Sets the kind of mistake.
    pub(crate) fn code(self, code: &'static str) -> ValueError {
        ValueError { code, ..self }
    }
}

/// The digits that a text begins with.
pub(crate) fn leading_digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

impl<'a> TextPiece<'a> {
    /// The whole of a value text.
    pub(crate) fn whole(text: &'a str) -> TextPiece<'a> {
        TextPiece { text, at: 0 }
    }

    /// The bytes from `start` to `end` of this piece, which must be character boundaries.
    pub(crate) fn part(self, start: usize, end: usize) -> TextPiece<'a> {
        TextPiece { text: &self.text[start..end], at: self.at + start }
    }

    /// Removes blanks at both ends.
    pub(crate) fn trim(self) -> TextPiece<'a> {
        let left = self.text.trim_start();
        TextPiece { text: left.trim_end(), at: self.at + self.text.len() - left.len() }
    }

    /// Removes a separator at the end: lists may have one after their last element.
    pub(crate) fn without_last(self, separator: char) -> TextPiece<'a> {
        TextPiece { text: self.text.strip_suffix(separator).unwrap_or(self.text), ..self }
    }

    /// The parts before and after the first `separator`.
    pub(crate) fn cut(self, separator: char) -> (TextPiece<'a>, Option<TextPiece<'a>>) {
        match self.text.find(separator) {
            Some(at) => (self.part(0, at), Some(self.part(at + separator.len_utf8(), self.text.len()))),
            None => (self, None),
        }
    }

    /// The pieces between `separator`s.
    pub(crate) fn split(self, separator: char) -> impl Iterator<Item = TextPiece<'a>> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let (piece, after) = rest?.cut(separator);
            rest = after;
            Some(piece)
        })
    }

    /// A error in this piece.
    pub(crate) fn error(self, label: impl Into<String>) -> ValueError {
        ValueError {
            code: "invalid-value",
            start: self.at,
            length: self.text.len(),
            label: label.into().into_boxed_str(),
            help: None,
            message: None,
            suggestion: None,
            fio: None,
        }
    }
}
