//! The directory of a series: a report for each run, in a directory for each point.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ferrio_job::{Diagnostic, Origin, reason};
use ferrio_machine::{local_now, names_in};
use ferrio_sweep::SweepPoint;

use crate::error::Error;

/// Where the reports are.
#[derive(Debug)]
pub struct Results {
    directory: PathBuf,
}

impl Results {
    /// Creates the directory, or takes one that is empty. Without a name it has that of the moment.
    ///
    /// # Errors
    /// It has something in it, or cannot be created.
    pub fn create(wanted: Option<&Path>) -> Result<Self, Error> {
        let directory = match wanted {
            Some(wanted) => wanted.to_owned(),
            None => new_directory(&local_now().strftime("ferrio-results-%Y%m%d-%H%M%S").to_string())
                .map_err(|error| {
                    refusal(format!("cannot create a directory for results: {}", reason(&error)))
                })?,
        };
        let refuse = |why: &str| refusal(format!("the directory for results {} {why}", directory.display()));
        let in_directory = |error: io::Error| refuse(&format!("cannot be used: {}", reason(&error)));
        match names_in(&directory).and_then(|mut names| names.next().transpose()) {
            Ok(None) => {}
            Ok(Some(_)) => return Err(refuse("is not empty")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&directory).map_err(in_directory)?;
            }
            Err(error) => return Err(in_directory(error)),
        }
        Ok(Results { directory })
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// The directory of a point.
    pub fn of_point(&self, point: &SweepPoint) -> PathBuf {
        if point.directory.is_empty() {
            self.directory.clone()
        } else {
            self.directory.join(&point.directory)
        }
    }

    /// The file for the report of a run, in its directory, which exists then.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn file(&self, point: &SweepPoint, repetition: u32) -> Result<PathBuf, Error> {
        let directory = self.of_point(point);
        fs::create_dir_all(&directory)
            .map_err(|error| refusal(format!("cannot create {}: {}", directory.display(), reason(&error))))?;
        Ok(directory.join(format!("{repetition}.json")))
    }
}

/// Creates a directory of this name, or with a number behind it: two series may begin in the same second.
fn new_directory(name: &str) -> io::Result<PathBuf> {
    let mut directory = PathBuf::from(name);
    let mut number = 1;
    loop {
        match fs::create_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            created => return created.map(|()| directory),
        }
        directory = PathBuf::from(format!("{name}-{number}"));
    }
}

fn refusal(message: String) -> Error {
    Error::refusal("output-error", message, Some("choose another directory with --results"))
}

/// Renames the report of a run that does not count, so that nobody compares it. There may be none. Returns what the user should know if that
/// fails.
pub fn set_aside(report: &Path, why: &str) -> Option<Diagnostic> {
    let mut name = report.as_os_str().to_owned();
    name.push(format!(".{why}"));
    let error = fs::rename(report, name).err().filter(|error| error.kind() != io::ErrorKind::NotFound)?;
    let message = format!(
        "{} cannot be renamed: {}. It is the report of a run that was {why}: remove it, or a comparison includes it",
        report.display(),
        reason(&error)
    );
    Some(Diagnostic::error(message, Origin::Builtin).code("run-failed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_of_one_second_have_directories_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().join("r").display().to_string();
        let made: Vec<PathBuf> = (0..3).map(|_| new_directory(&name).unwrap()).collect();
        assert_eq!(made, ["", "-2", "-3"].map(|end| PathBuf::from(format!("{name}{end}"))));
        assert!(new_directory("/proc/none/r").is_err());
    }
}
