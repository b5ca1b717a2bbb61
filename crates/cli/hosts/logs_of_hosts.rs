//! The logs that hosts send: files in the directory of the coordinator or client, with the name of the host behind theirs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ferrio_job::{Diagnostic, FioWords, Origin, reason};

/// The log files of a run.
#[derive(Debug, Default)]
pub struct LogsOfHosts {
    /// By server and the name that the log has there; none for a log that cannot be written.
    files: HashMap<(usize, String), Option<File>>,
    /// Names that are taken.
    taken: Vec<PathBuf>,
}

/// A server, and what its logs may be called.
#[derive(Clone, Copy, Debug)]
pub struct LogSource<'a> {
    /// Its number.
    pub at: usize,
    /// As the user wrote it.
    pub name: &'a str,
    pub port: u16,
    /// The texts of its job files: a directory that is in none of them is no place for its logs.
    pub texts: &'a [String],
}

impl LogsOfHosts {
    /// Adds a piece to a log. Returns what is wrong with it, once.
    pub fn add(&mut self, source: LogSource<'_>, log: &str, piece: &str) -> Option<Diagnostic> {
        let file = match self.files.entry((source.at, log.to_owned())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => match create(source, log, &mut self.taken) {
                Ok(file) => new.insert(Some(file)),
                Err(problem) => {
                    new.insert(None);
                    return Some(*problem);
                }
            },
        };
        let open = file.as_mut()?;
        let bytes = STANDARD.decode(piece).map_err(|_| io::Error::other("the server sent a damaged piece"));
        let error = bytes.and_then(|bytes| open.write_all(&bytes)).err()?;
        *file = None;
        Some(problem(log, "write", &error))
    }
}

fn create(source: LogSource<'_>, log: &str, taken: &mut Vec<PathBuf>) -> Result<File, Box<Diagnostic>> {
    let path = path_of(source, log, taken).ok_or_else(|| {
        Box::new(problem(log, "open", &io::Error::other("no log of this name is expected")))
    })?;
    let created = match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => fs::create_dir_all(parent).and_then(|()| File::create(&path)),
        None => File::create(&path),
    };
    taken.push(path.clone());
    created.map_err(|error| Box::new(problem(&path.display().to_string(), "open", &error)))
}

/// The path of a log here; `None` for a name that no log of these jobs has. The server may be hostile: it chooses no directory, and no name
/// without the ending.
fn path_of(source: LogSource<'_>, log: &str, taken: &[PathBuf]) -> Option<PathBuf> {
    let path = Path::new(log);
    let is_log = log.ends_with(".log") || log.ends_with(".log.fz");
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    let directory = path.parent()?.to_str()?;
    let is_known = directory.is_empty() || source.texts.iter().any(|text| text.contains(directory));
    if !is_log || goes_up || !is_known || log.contains('\0') {
        return None;
    }
    // A host may be the path of a socket.
    let name = format!("{log}.{}", source.name.replace('/', "_"));
    let others = [format!("{name}.{}", source.port), format!("{name}.{}.{}", source.port, source.at)];
    [name].into_iter().chain(others).map(PathBuf::from).find(|path| !taken.contains(path))
}

fn problem(log: &str, what: &str, error: &io::Error) -> Diagnostic {
    let reason = reason(error);
    let line = format!("fio: f{what} log {log} : {reason}");
    let message = format!("cannot {what} the log {log}: {reason}");
    let problem = Diagnostic::warning(message, Origin::Builtin).code("log-error");
    problem.in_fio(FioWords::Lines(vec![line]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source<'a>(at: usize, name: &'a str, texts: &'a [String]) -> LogSource<'a> {
        LogSource { at, name, port: 8765, texts }
    }

    #[test]
    fn names_have_the_server_behind_them_and_are_used_once() {
        let path = |at, name, taken: &[PathBuf]| path_of(source(at, name, &[]), "L_bw.1.log", taken).unwrap();
        let first = path(0, "h", &[]);
        assert_eq!(first, Path::new("L_bw.1.log.h"));
        let second = path(1, "h", std::slice::from_ref(&first));
        assert_eq!(second, Path::new("L_bw.1.log.h.8765"));
        assert_eq!(path(2, "h", &[first, second]), Path::new("L_bw.1.log.h.8765.2"));
        assert_eq!(path(0, "srv/s", &[]), Path::new("L_bw.1.log.srv_s"));
    }

    #[test]
    fn a_server_chooses_no_directory_and_no_other_kind_of_file() {
        let texts = ["write_bw_log=/logs/L\nwrite_lat_log=sub/L".to_owned()];
        let is_allowed = |log: &str| path_of(source(0, "h", &texts), log, &[]).is_some();
        for log in ["a_bw.1.log", "/logs/L_bw.1.log", "sub/L_lat.log", "L_bw.1.log.fz"] {
            assert!(is_allowed(log), "{log}");
        }
        for log in ["../a.log", "/etc/cron.d/a.log", ".bashrc", "sub/../../a.log", "other/a.log", "a.log/b"] {
            assert!(!is_allowed(log), "{log}");
        }
    }

    #[test]
    fn pieces_become_a_file_in_a_directory_that_is_created() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("sub/a_bw.1.log").display().to_string();
        let texts = [log.clone()];
        let mut logs = LogsOfHosts::default();
        for piece in ["", "MSwgMg==", "Cg=="] {
            assert_eq!(logs.add(source(0, "h", &texts), &log, piece), None);
        }
        assert_eq!(fs::read_to_string(format!("{log}.h")).unwrap(), "1, 2\n");
        let damaged = logs.add(source(0, "h", &texts), &log, "%").unwrap();
        assert!(damaged.message.contains("a damaged piece"), "{}", damaged.message);
        // Said once.
        assert_eq!(logs.add(source(0, "h", &texts), &log, "Cg=="), None);
    }
}
