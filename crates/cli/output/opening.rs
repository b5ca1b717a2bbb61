//! The report's file before the run: opens it, and finds out whether its reader may block.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use ferrio_job::Compat;
use ferrio_machine::{FileClaims, open_file};
use nix::fcntl::OFlag;

use crate::error::Error;
use crate::settings::ProgramSettings;

/// Called `fio`, truncates the report's file, if there is one, before the jobs are read: debug lines and errors precede the report there. Called
/// `ferrio`, does nothing: the previous report stays until the new one replaces it. A file that another process has claimed is not
/// truncated. This process holds its claim to the file until the claims are dropped.
///
/// # Errors
/// The file cannot be created.
pub fn begin_file(settings: &mut ProgramSettings) -> Result<(Option<File>, FileClaims), Error> {
    match settings.output.file() {
        Some(name) if settings.compat == Compat::Fio => {
            let Ok(claims) = FileClaims::new([Path::new(name)]) else {
                settings.shares_output = true;
                return Ok((None, FileClaims::default()));
            };
            open_output(name, true)?;
            Ok((Some(open_output(name, false)?), claims))
        }
        _ => Ok((None, FileClaims::default())),
    }
}

/// True if a report goes to a pipe, a socket or a terminal, whose reader may block the writer.
pub fn may_block(settings: &ProgramSettings) -> bool {
    let files = settings.files_of_formats.iter().map(|(_, name)| name.as_str());
    settings.output.path().into_iter().chain(files).any(|name| {
        fs::metadata(name).is_ok_and(|about| {
            let kind = about.file_type();
            kind.is_fifo() || kind.is_socket() || kind.is_char_device() && about.rdev() != NULL_DEVICE
        })
    })
}

/// The device number of `/dev/null`, null(4).
const NULL_DEVICE: u64 = 1 << 8 | 3;

/// Opens a report file for writing: truncates it, or appends to it.
pub(super) fn open_output(name: &str, truncate: bool) -> Result<File, Error> {
    let start = if truncate { OFlag::O_TRUNC } else { OFlag::O_APPEND };
    let opened = open_file(name, OFlag::O_WRONLY | OFlag::O_CREAT | start, 0o666);
    opened.map_err(|error| Error::OpenOutput { name: name.to_owned(), error })
}

/// The file whose creation requests a report of the run so far.
pub fn status_file() -> PathBuf {
    let dir = ["TMPDIR", "TEMP"].into_iter().filter_map(env::var_os).find(|dir| !dir.is_empty());
    Path::new(&dir.unwrap_or_else(|| "/tmp".into())).join("fio-dump-status")
}
