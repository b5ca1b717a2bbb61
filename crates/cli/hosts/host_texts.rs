//! What hosts say during a run, for the user.

use std::collections::BTreeSet;

use ferrio_hosts::Stream;
use serde_json::{Value, json};

use crate::messages::Messages;

/// The texts of hosts, with their names. What several hosts say alike, as they do about the same jobs, is shown once.
pub struct HostTexts {
    /// Programs read the messages.
    are_json: bool,
    /// Lines that a run would print on standard output are shown.
    shows_output: bool,
    seen: BTreeSet<String>,
}

impl HostTexts {
    /// `shows_output` is for reports as text, where nothing on standard output disturbs a document.
    #[must_use]
    pub fn new(messages: Messages, shows_output: bool) -> Self {
        let are_json = !messages.are_text();
        HostTexts { are_json, shows_output: shows_output && !are_json, seen: BTreeSet::new() }
    }

    /// A text of a host as the user sees it; `None` if it is not shown.
    pub fn shown(&mut self, host: &str, stream: Stream, text: &str) -> Option<String> {
        let text = text.trim_matches('\n');
        let is_wanted = stream == Stream::Error || self.shows_output;
        if !is_wanted || text.trim().is_empty() || !self.seen.insert(text.to_owned()) {
            return None;
        }
        let line = |line: &str| match self.are_json {
            true => labelled_object(host, line),
            false => format!("<{host}> {line}\n"),
        };
        Some(text.lines().map(line).collect())
    }
}

/// A message that is a JSON object, with the host in it. A program that a job starts may print something else.
fn labelled_object(host: &str, line: &str) -> String {
    let object = match serde_json::from_str(line) {
        Ok(Value::Object(mut object)) => {
            object.insert("host".to_owned(), host.into());
            Value::Object(object)
        }
        _ => json!({ "severity": "note", "message": line, "host": host }),
    };
    format!("{object}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(are_json: bool) -> HostTexts {
        HostTexts { are_json, shows_output: !are_json, seen: BTreeSet::new() }
    }

    #[test]
    fn what_two_hosts_say_alike_is_shown_once() {
        let mut texts = texts(false);
        let shown = texts.shown("n1", Stream::Error, "\nwarning: one\n  = two\n").unwrap();
        assert_eq!(shown, "<n1> warning: one\n<n1>   = two\n");
        assert_eq!(texts.shown("n2", Stream::Error, "warning: one\n  = two\n"), None);
        assert_eq!(texts.shown("n2", Stream::Output, "a: (g=0)\n").unwrap(), "<n2> a: (g=0)\n");
        assert_eq!(texts.shown("n2", Stream::Output, "\n"), None);
    }

    #[test]
    fn messages_for_programs_stay_one_object_a_line() {
        let mut texts = texts(true);
        let shown = texts.shown("n1", Stream::Error, "{\"severity\":\"warning\",\"message\":\"m\"}\nhello\n");
        let want = "{\"severity\":\"warning\",\"message\":\"m\",\"host\":\"n1\"}\n\
                    {\"severity\":\"note\",\"message\":\"hello\",\"host\":\"n1\"}\n";
        assert_eq!(shown.unwrap(), want);
        assert_eq!(texts.shown("n1", Stream::Output, "Starting\n"), None);
    }
}
