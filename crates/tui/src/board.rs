//! The state of the run that the view shows: figures, messages, and whether the run is ending.

use ferrio_report::LiveTable;

/// The state of the run that the view shows.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    pub(crate) table: LiveTable,
    /// Number of messages so far.
    pub(crate) messages: u64,
    /// The last message on one line; the current preparation before the first message.
    pub(crate) message: String,
    /// Whether the run was asked to end.
    pub(crate) is_ending: bool,
}

impl Board {
    pub(crate) fn new(table: LiveTable) -> Self {
        Board { table, messages: 0, message: String::new(), is_ending: false }
    }

    /// Sets the current preparation, which is not a message.
    pub(crate) fn set_activity(&mut self, text: &str) {
        if self.messages == 0 {
            self.message = one_line(text);
        }
    }

    /// Adds a message.
    pub(crate) fn add_message(&mut self, text: &str) {
        self.messages += 1;
        self.message = one_line(text);
    }
}

/// The text on one line. It may contain names with control characters, which terminals would interpret.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_control() || c == ' ').filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_one_line_and_no_escape_sequences() {
        assert_eq!(one_line("\nfio: a\u{1b}[31m failed\r\n  badly\t.\n"), "fio: a [31m failed badly .");
        assert_eq!(one_line(""), "");
    }
}
