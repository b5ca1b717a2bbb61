//! Takes the terminal and gives it back; decides whether it can show the view.

use std::env;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use crate::style::TerminalStyle;

/// The controlling terminal of this process.
const TTY: &str = "/dev/tty";

/// A reason why the view cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum NoTerminal {
    /// The process has no controlling terminal.
    #[error("there is no terminal to draw on: {TTY} cannot be opened: {}", ferrio_job::reason(.0))]
    Closed(io::Error),
    /// The terminal can show only lines of text.
    #[error("this terminal can only show lines of text: TERM is {}", quoted_term(.0))]
    Dumb(String),
    /// The terminal cannot be set up.
    #[error("the terminal cannot be set up: {}", ferrio_job::reason(.0))]
    SetUp(io::Error),
}

fn quoted_term(term: &str) -> String {
    if term.is_empty() { "not set".to_owned() } else { format!("`{term}`") }
}

/// A terminal that can show the view, in its original state.
#[derive(Debug)]
pub struct Terminal {
    tty: File,
}

impl Terminal {
    /// Opens the terminal that controls this process, regardless of its standard streams. Nothing is written to it.
    ///
    /// # Errors
    /// There is no terminal, or the variable TERM says that it can show only lines of text.
    pub fn open() -> Result<Self, NoTerminal> {
        let tty = File::options().read(true).write(true).open(TTY).map_err(NoTerminal::Closed)?;
        let term = env::var("TERM").unwrap_or_default();
        if matches!(term.as_str(), "" | "dumb") {
            return Err(NoTerminal::Dumb(term));
        }
        Ok(Terminal { tty })
    }

    /// The open terminal device.
    #[must_use]
    pub fn stream(&self) -> &File {
        &self.tty
    }

    pub(crate) fn style(&self, has_colors: bool) -> TerminalStyle {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
        TerminalStyle { has_colors, has_unicode: has_unicode(&locale, &env::var("TERM").unwrap_or_default()) }
    }

    /// The source of keys: standard input if that is a terminal.
    pub(crate) fn keys(&self) -> io::Result<Keys> {
        let stdin = io::stdin();
        if stdin.is_terminal() { Ok(Keys::Stdin(stdin)) } else { self.tty.try_clone().map(Keys::Tty) }
    }
}

/// The Linux console supports UTF-8, but has no characters for bars.
fn has_unicode(locale: &str, term: &str) -> bool {
    let charset = locale.split_once('.').map_or("", |(_, charset)| charset);
    let charset = charset.split('@').next().unwrap_or_default().replace('-', "");
    charset.eq_ignore_ascii_case("utf8") && term != "linux"
}

/// The source of keys.
#[derive(Debug)]
pub(crate) enum Keys {
    Stdin(io::Stdin),
    Tty(File),
}

/// The screen of a terminal, which the view takes and gives back.
#[derive(Debug)]
pub(crate) struct TerminalScreen {
    tty: File,
    is_taken: AtomicBool,
    /// Whether the screen was given back for good.
    is_over: AtomicBool,
}

impl TerminalScreen {
    /// A screen that is given back when a thread panics, before the panic is printed.
    pub(crate) fn new(terminal: Terminal) -> Arc<Self> {
        let [is_taken, is_over] = <[AtomicBool; 2]>::default();
        let screen = Arc::new(TerminalScreen { tty: terminal.tty, is_taken, is_over });
        let of_hook = Arc::clone(&screen);
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            of_hook.end();
            of_hook.give_back();
            print(info);
        }));
        screen
    }

    pub(crate) fn stream(&self) -> &File {
        &self.tty
    }

    /// Takes the terminal: switches to its second screen, hides the cursor, and reads keys unbuffered.
    pub(crate) fn take(&self) -> io::Result<()> {
        enable_raw_mode()?;
        self.is_taken.store(true, SeqCst);
        execute!(&self.tty, EnterAlternateScreen, Hide).inspect_err(|_| self.give_back())
    }

    /// Restores the terminal.
    pub(crate) fn give_back(&self) {
        if self.is_taken.swap(false, SeqCst) {
            // A terminal that has gone needs no restoring.
            let _ = execute!(&self.tty, LeaveAlternateScreen, Show);
            let _ = disable_raw_mode();
        }
    }

    /// Ends drawing.
    pub(crate) fn end(&self) {
        self.is_over.store(true, SeqCst);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_terminal_with_utf_8_has_bars() {
        for locale in ["en_GB.UTF-8", "C.utf8", "de_DE.UTF-8@euro"] {
            assert!(has_unicode(locale, "xterm-256color") && !has_unicode(locale, "linux"), "{locale}");
        }
        for locale in ["", "C", "POSIX", "de_DE.ISO-8859-1", "de_DE@euro"] {
            assert!(!has_unicode(locale, "xterm"), "{locale}");
        }
    }
}
