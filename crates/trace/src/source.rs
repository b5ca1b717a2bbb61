//! Opens traces and logs: files, and standard input by the name `-`.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;

use ferrio_machine::open_to_read;

/// The name of standard input.
pub const STDIN: &str = "-";

/// Opens a file, or standard input.
///
/// # Errors
pub fn open_source(name: &OsStr) -> io::Result<File> {
    if name == STDIN {
        return Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?));
    }
    open_to_read(name)
}

/// The name of a source in messages.
#[must_use]
pub fn source_name(name: &OsStr) -> String {
    if name == STDIN { "standard input".to_owned() } else { name.display().to_string() }
}
