//! What hosts say during a run, for the user.

use std::collections::BTreeSet;

use ferrio_hosts::Stream;

use crate::messages::Messages;

/// Shows the texts of hosts with their names. What several hosts say alike, as they do about the same jobs, is shown once.
pub struct HostTexts {
    messages: Messages,
    /// Lines that a run would print on standard output are shown.
    shows_output: bool,
    shown: BTreeSet<String>,
}

impl HostTexts {
    /// `shows_output` is for reports as text, where nothing on standard output disturbs a document.
    #[must_use]
    pub fn new(messages: Messages, shows_output: bool) -> Self {
        HostTexts { messages, shows_output, shown: BTreeSet::new() }
    }

    /// Shows a text of a host.
    pub fn show(&mut self, host: &str, stream: Stream, text: &str) {
        let text = text.trim_end_matches('\n');
        if text.trim().is_empty() || !self.shown.insert(text.to_owned()) {
            return;
        }
        match stream {
            Stream::Output if !self.shows_output => {}
            _ => self.messages.write(&labelled(host, text)),
        }
    }
}

/// The lines with the host's name before each.
fn labelled(host: &str, text: &str) -> String {
    text.lines().map(|line| format!("<{host}> {line}\n")).collect()
}
