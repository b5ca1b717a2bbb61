//! Names in one line of a table or message, whatever characters they have.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with its control characters shown: `\n`, `\t`, and others as `\x1b`.
#[must_use]
pub fn in_one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => line.push_str("\\n"),
            '\t' => line.push_str("\\t"),
            control if control.is_control() => {
                // Writing to a string does not fail.
                let _ = write!(line, "\\x{:02x}", u32::from(control));
            }
            other => line.push(other),
        }
    }
    Cow::Owned(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_shown_and_all_else_stays() {
        assert_eq!(in_one_line("a\u{1b}[31m\r\n\tö\u{9b}"), "a\\x1b[31m\\x0d\\n\\tö\\x9b");
        assert!(matches!(in_one_line("plain \\n ö"), Cow::Borrowed(_)));
    }
}
