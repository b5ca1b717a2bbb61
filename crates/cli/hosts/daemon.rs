//! `--daemonize`: a server in the background, and the file with its process number.
//!
//! The server listens before its process exists: this process opens the socket, starts the program again with the socket as its standard
//! input, and writes the file. So a mistake is reported where the user sees it, and nothing is left running.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ferrio_job::{Diagnostic, FioWords, Origin, reason};
use nix::sys::signal::kill;
use nix::unistd::{Pid, dup2_stdin, setsid};

use super::address::Address;
use super::listener::Listener;
use crate::error::Error;

/// Tells a process that it is the server in the background, and the file with its number.
pub const VARIABLE: &str = "FERRIO_DAEMON";

/// The file with the number of a server, which goes with the server.
#[derive(Debug)]
pub struct PidFile(PathBuf);

impl Drop for PidFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Starts the program again with the same words as a server in the background.
///
/// # Errors
/// The file names a server that runs or cannot be written, or the process cannot be started.
pub fn start(mut listener: Listener, pid_file: &Path) -> Result<u8, Error> {
    if is_server(pid_file) {
        let message = format!("a server runs already: its process is the one in {}", pid_file.display());
        return Err(refusal(message, "fio: pidfile pid exists and server appears alive".to_owned()));
    }
    let path = std::path::absolute(pid_file).unwrap_or_else(|_| pid_file.to_owned());
    let unwritable = |error: io::Error| {
        let message = format!("cannot write the file {}: {}", pid_file.display(), reason(&error));
        refusal(message, format!("fio: failed opening pid file {}", pid_file.display()))
    };
    let mut file = create(pid_file).map_err(unwritable)?;
    let spawn = || {
        let listener = listener.as_fd().try_clone_to_owned()?;
        let mut command = Command::new("/proc/self/exe");
        let mut words = std::env::args_os();
        command.arg0(words.next().unwrap_or_default()).args(words).env(VARIABLE, &path);
        command.stdin(listener).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let started = spawn().and_then(|mut child| {
        let written = file.write_all(format!("{}\n", child.id()).as_bytes());
        // Nobody would know of it.
        written.inspect_err(|_| drop(child.kill()))
    });
    if let Err(error) = started {
        let _ = fs::remove_file(pid_file);
        return Err(unwritable(error));
    }
    listener.keep_file();
    Ok(0)
}

/// The listener of this process, if it is a server in the background. It leaves the terminal.
///
/// # Errors
/// The kernel refuses.
pub fn inherited(address: &Address) -> io::Result<Option<(Listener, PidFile)>> {
    let Some(path) = std::env::var_os(VARIABLE) else { return Ok(None) };
    let listener = Listener::inherited(io::stdin().as_fd().try_clone_to_owned()?, address)?;
    setsid()?;
    // Nobody listens once the listener is closed.
    dup2_stdin(File::open("/dev/null")?)?;
    Ok(Some((listener, PidFile(path.into()))))
}

/// True if the file has the number of a process that is a server. An empty or garbled file, and another process with a number that a
/// server had, do not count.
fn is_server(pid_file: &Path) -> bool {
    let text = fs::read_to_string(pid_file).unwrap_or_default();
    let Ok(number) = text.trim().parse::<i32>() else { return false };
    let words = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
    let is_server =
        words.split(|byte| *byte == 0).any(|word| word.starts_with(b"--server") || word.starts_with(b"-S"));
    number > 0 && is_server && kill(Pid::from_raw(number), None).is_ok()
}

/// Creates the file, in place of one of a server that is gone.
fn create(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn refusal(message: String, line: String) -> Error {
    let diagnostic = Diagnostic::error(message, Origin::Builtin).code("server-daemon");
    diagnostic.in_fio(FioWords::Lines(vec![line])).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_that_is_a_server_keeps_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pid");
        assert!(!is_server(&file));
        // This process lives and is none; a garbled file names none.
        for text in [format!("{}\n", std::process::id()), String::new(), "x\n".to_owned(), "-1\n".to_owned()]
        {
            fs::write(&file, text).unwrap();
            assert!(!is_server(&file));
        }
    }
}
