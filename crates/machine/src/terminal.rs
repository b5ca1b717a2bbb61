//! The terminals of the program: those that it writes to, and its controlling terminal.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::process::getpgrp;
use rustix::termios::{isatty, tcgetpgrp, tcgetwinsize};

use crate::interruptions::open_to_read;

/// The width of the terminal that `stream` is connected to; `None` if it is not a terminal or its width is unknown.
#[must_use]
pub fn terminal_columns(stream: impl AsFd) -> Option<usize> {
    let stream = stream.as_fd();
    let columns = isatty(stream).then(|| tcgetwinsize(stream).ok()).flatten()?.ws_col;
    (columns > 0).then_some(usize::from(columns))
}

/// Whether this process has a controlling terminal.
#[must_use]
pub fn has_terminal() -> bool {
    open_to_read("/dev/tty").is_ok()
}

/// Standard input, if it is a terminal that may be read now. The kernel stops a background process that reads its controlling terminal.
#[must_use]
pub fn terminal_input() -> Option<OwnedFd> {
    readable_terminal(io::stdin())
}

fn readable_terminal(stream: impl AsFd) -> Option<OwnedFd> {
    let stream = stream.as_fd();
    // A terminal that does not control this process has no foreground.
    let is_readable = isatty(stream) && tcgetpgrp(stream).map_or(true, |group| group == getpgrp());
    is_readable.then(|| stream.try_clone_to_owned().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use nix::pty::{Winsize, openpty};

    use super::*;

    #[test]
    fn a_terminal_has_columns_and_a_file_has_none() {
        let size = |ws_col| Winsize { ws_row: 24, ws_col, ws_xpixel: 0, ws_ypixel: 0 };
        assert_eq!(terminal_columns(openpty(&size(60), None).unwrap().slave), Some(60));
        assert_eq!(terminal_columns(openpty(&size(0), None).unwrap().slave), None, "it does not say");
        assert_eq!(terminal_columns(File::open("/dev/null").unwrap()), None);
    }

    #[test]
    fn a_terminal_that_does_not_control_the_process_can_be_read_and_a_file_is_none() {
        assert!(readable_terminal(openpty(None, None).unwrap().slave).is_some());
        assert!(readable_terminal(File::open("/dev/null").unwrap()).is_none());
    }
}
