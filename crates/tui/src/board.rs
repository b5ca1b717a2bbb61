//! What is known of the run: figures, messages, and whether it is about to end.

use ferrio_report::LiveTable;

/// What is known of the run.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    pub(crate) table: LiveTable,
    /// Messages so far.
    pub(crate) messages: u64,
    /// The last of them, on one line; before the first one, what is done before the jobs run.
    pub(crate) message: String,
    /// The run was asked to end.
    pub(crate) is_ending: bool,
}

impl Board {
    pub(crate) fn new(table: LiveTable) -> Self {
        Board { table, messages: 0, message: String::new(), is_ending: false }
    }

    /// What is done before the jobs run, which is no message.
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

/// The words of a text in one line. It may have names with control characters, which terminals obey.
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
