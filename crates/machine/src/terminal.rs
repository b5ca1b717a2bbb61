//! The terminal that the program writes to.

use std::os::fd::AsFd;

use rustix::termios::{isatty, tcgetwinsize};

/// The width of the terminal that `stream` is connected to; `None` if it is not a terminal or its width is unknown.
#[must_use]
pub fn terminal_columns(stream: impl AsFd) -> Option<usize> {
    let stream = stream.as_fd();
    let columns = isatty(stream).then(|| tcgetwinsize(stream).ok()).flatten()?.ws_col;
    (columns > 0).then_some(usize::from(columns))
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
}
