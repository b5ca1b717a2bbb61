//! Merges documents of `ferrio sysbench` of several machines.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use ferrio_compare::{Directory, SideError, read_document};
use ferrio_logs::LogName;
use ferrio_machine::is_same_file;
use ferrio_report::Format;
use ferrio_sysbench::report::{NamedDocument, merged};

use super::refusal;
use crate::error::Error;
use crate::messages::print_text;
use crate::output_file::OutputFile;

/// The formats that documents of sysbench become, the default first.
pub const FORMATS: [Format; 2] = [Format::Normal, Format::Json];

/// The documents, if the first file is one of sysbench.
///
/// # Errors
/// It is, and another file cannot be read or is none.
pub fn documents(paths: &[&PathBuf]) -> Result<Option<Vec<NamedDocument>>, Error> {
    let mut files = paths.iter().flat_map(|path| files(path));
    let Some(first) = files.next() else { return Ok(None) };
    let first = match read_document(&first) {
        Ok(first) => first,
        Err(error @ SideError::Sysbench { .. }) => return Err(failure(&error)),
        // Whoever reads reports says what is wrong with the file.
        Err(_) => return Ok(None),
    };
    let others = files.map(|path| read_document(&path).map_err(|error| failure(&error)));
    std::iter::once(Ok(first)).chain(others).collect::<Result<_, _>>().map(Some)
}

/// The reports of a directory, or the file itself. Logs are for reports of jobs.
fn files(path: &Path) -> Vec<PathBuf> {
    match fs::metadata(path).is_ok_and(|about| about.is_dir()) {
        true => Directory::read(path).map(|found| found.reports).unwrap_or_default(),
        false if LogName::of(path).is_some() => Vec::new(),
        false => vec![path.to_owned()],
    }
}

/// The documents together, in this format.
///
/// # Errors
/// They do not add up, or there is no such format of them.
pub fn aggregate(documents: &[NamedDocument], format: Option<Format>) -> Result<String, Error> {
    let help = "for documents of `ferrio sysbench`, the format is normal, which is text, or json";
    let all = merged(documents).map_err(|error| refusal(error.to_string(), None))?;
    match format {
        None | Some(Format::Normal) => Ok(all.aggregate_text()),
        Some(Format::Json) => Ok(all.to_json()),
        Some(other) => {
            Err(refusal(format!("the format {} is for reports of jobs", other.word()), Some(help)))
        }
    }
}

/// Writes the text to standard output, or to the file.
///
/// # Errors
/// It cannot be written.
pub fn write(text: &str, output: Option<&PathBuf>, documents: &[NamedDocument]) -> Result<u8, Error> {
    let Some(output) = output.filter(|output| output.as_path() != Path::new("-")) else {
        return print_text(text);
    };
    if let Some(input) = documents.iter().find(|input| is_same_file(Path::new(&input.name), output)) {
        let message = format!("the report would replace {}, which it is made from", input.name);
        return Err(refusal(message, Some("write it to another file")));
    }
    let name = || output.display().to_string();
    let mut file = OutputFile::begin(output).map_err(|error| Error::OpenOutput { name: name(), error })?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.keep());
    written.map(|_| 0).map_err(|error| Error::WriteOutput { name: name(), error })
}

fn failure(error: &SideError) -> Error {
    let help = matches!(error, SideError::NotSysbench { .. })
        .then_some("give documents of `ferrio sysbench` alone, or reports of jobs alone");
    refusal(error.to_string(), help)
}
