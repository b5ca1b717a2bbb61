//! A panic while the view is on the terminal.

#![allow(clippy::unwrap_used)]

use std::env;
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use ferrio_plan::testing::{default_job, plan};
use ferrio_tui::{LiveView, Terminal};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};

/// What follows all that the program writes.
const END: &[u8] = b"\0end";

#[test]
#[ignore = "the other test runs it, on a terminal"]
fn a_thread_panics() {
    let terminal = Terminal::open().unwrap();
    let view = LiveView::start(terminal, &plan([default_job("a")]), false).unwrap();
    let bug = thread::spawn(|| panic!("a bug"));
    assert!(bug.join().is_err());
    drop(view);
}

#[test]
fn the_terminal_is_given_back_before_the_message() {
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
    let stream = || Stdio::from(slave.try_clone().unwrap());
    let mut command = Command::new("setsid");
    command.arg("--ctty").arg(env::current_exe().unwrap());
    command.args(["--exact", "a_thread_panics", "--ignored", "--nocapture"]).env("TERM", "xterm");
    let mut child = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().unwrap();
    let reader = thread::spawn(move || {
        let (mut master, mut bytes, mut buffer) = (File::from(master), Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = master.read(&mut buffer) {
            bytes.extend_from_slice(&buffer[..count]);
            if bytes.ends_with(END) {
                break;
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let status = child.wait().unwrap();
    let flags = tcgetattr(&slave).unwrap().local_flags;
    File::from(slave).write_all(END).unwrap();
    let text = reader.join().unwrap();
    assert!(status.success(), "{text:?}");
    assert!(flags.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG), "{flags:?}");
    let at = |what: &str| {
        let found: Vec<usize> = text.match_indices(what).map(|(at, _)| at).collect();
        assert_eq!(found.len(), 1, "{what:?} in {text:?}");
        found[0]
    };
    let [enter, leave, message] = ["\u{1b}[?1049h", "\u{1b}[?1049l", "a bug"].map(at);
    assert!(enter < leave && leave < message, "{text:?}");
}
