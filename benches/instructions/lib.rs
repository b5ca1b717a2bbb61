//! Counts the instructions that a program executes in user space, with callgrind, a tool of valgrind.
//!
//! Unlike time, the count hardly depends on the load and the speed of the machine. It depends on the compiler, and a little on the
//! version of valgrind and on the instruction sets of the CPU, because libc chooses its copy loops by them.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::io;
use std::process::{Command, ExitStatus};

/// The line of callgrind's summary with the count.
const SUMMARY: &str = "Collected :";

/// Why there is no count.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// No program named valgrind in the path.
    #[error("valgrind is not installed (apt-get install valgrind)")]
    NoValgrind,
    /// valgrind could not be started.
    #[error("valgrind: {0}")]
    Start(io::Error),
    /// The program failed, or callgrind printed no count.
    #[error("callgrind: {status}: {stderr}")]
    Failed {
        /// How valgrind ended: as the program did.
        status: ExitStatus,
        /// What both wrote to stderr.
        stderr: String,
    },
}

/// The line that `valgrind --version` prints.
///
/// # Errors
/// [`CountError::NoValgrind`] or [`CountError::Start`].
pub fn valgrind_version() -> Result<String, CountError> {
    let output = Command::new("valgrind").arg("--version").output().map_err(of_start)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a program from start to exit and returns the number of its instructions, threads included, and what it wrote to stdout.
///
/// # Errors
/// Any [`CountError`].
pub fn count<S: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = S>,
) -> Result<(u64, String), CountError> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", program])
        .args(arguments)
        .output()
        .map_err(of_start)?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let count = stderr.lines().find_map(|line| line.split_once(SUMMARY)?.1.trim().parse().ok());
    match count {
        Some(count) if output.status.success() => {
            Ok((count, String::from_utf8_lossy(&output.stdout).into_owned()))
        }
        _ => Err(CountError::Failed { status: output.status, stderr: stderr.into_owned() }),
    }
}

fn of_start(error: io::Error) -> CountError {
    if error.kind() == io::ErrorKind::NotFound { CountError::NoValgrind } else { CountError::Start(error) }
}
