//! Information printed without running a job: versions, help on options and engines, compressed logs, and micro-benchmarks.

use std::io;
use std::path::Path;

use ferrio_job::{Compat, Diagnostic, EngineKind, Origin, Prefix};
use ferrio_jobfile::{Help, cmdhelp, enghelp};
use ferrio_logs::{InflateError, inflate_log};
use ferrio_machine::{RetryInterrupted, open_to_read};
use ferrio_report::{debug_words, idle_calibration};
use nix::errno::Errno;

use crate::error::Error;
use crate::escaped_stream;
use crate::messages::{Messages, print, print_text};
use crate::selftest;
use crate::settings::{FIO_VERSION, Query};

/// Prints the requested information and returns the exit status.
///
/// # Errors
/// Standard output cannot be written to.
pub fn answer(query: &Query, compat: Compat, messages: Messages) -> Result<u8, Error> {
    let help = match query {
        Query::Version => Help::found(format!("{}\n", version(compat))),
        // As in fio, an unknown option is no failure, but an unknown engine is one.
        Query::Options(name) => Help { failed: false, ..cmdhelp(name.as_deref(), compat) },
        Query::Engines(what) => {
            let (engine, option) = match what.as_deref().map(|what| what.split_once(',')) {
                Some(Some((engine, option))) => (Some(engine), Some(option)),
                _ => (what.as_deref(), None),
            };
            // As in fio, the list omits `external`: such an engine is chosen by its path, not by this name alone.
            let is_wanted = |engine: &&EngineKind| {
                engine.is_built_in() && (what.is_some() || **engine != EngineKind::External)
            };
            let engines: Vec<_> =
                EngineKind::ALL.iter().filter(is_wanted).map(|engine| engine.word()).collect();
            enghelp(&engines, engine, option)
        }
        Query::DebugClasses => {
            Help::found(format!("{}: dumping debug options:{}\n", compat.word(), debug_words()))
        }
        Query::InflateLog(file) => return inflate(file),
        Query::CrcTest(names) => {
            return print(|out| selftest::checksums(names.as_deref(), out, messages));
        }
        Query::MemcpyTest(names) => {
            return print(|out| selftest::copies(names.as_deref(), out, messages));
        }
        Query::CpuClockTest => return print(selftest::clocks),
        Query::IdleCalibration => match ferrio_runner::idle::calibrate() {
            Ok(unit) => Help::found(idle_calibration(unit)),
            Err(error) => {
                let message = format!("CPU idleness cannot be measured: {error}");
                messages.note(&Diagnostic::error(message, Origin::Builtin).code("no-cpu-idleness"));
                return Ok(1);
            }
        },
    };
    let is_engine = matches!(query, Query::Engines(_));
    for complaint in &help.complaints {
        // fio prints its own messages about engines on stdout, but failures to load one on stderr.
        match complaint.prefix {
            Prefix::None if is_engine && messages.are_of_fio() && messages.are_text() => {
                print_text(&format!("{}\n", complaint.message))?;
            }
            _ => messages.note(complaint),
        }
    }
    print(|out| out.write_all(help.text.as_bytes()).map(|()| !help.failed))
}

/// Prints a compressed log.
fn inflate(path: &Path) -> Result<u8, Error> {
    let name = || path.display().to_string();
    let file = open_to_read(path).map_err(|error| Error::OpenLog { name: name(), error })?;
    if ferrio_runner::stdout::was_closed() {
        return Err(Error::stdout(Errno::EBADF.into()));
    }
    match inflate_log(RetryInterrupted(file), &mut escaped_stream::stdout()) {
        Ok(()) => Ok(0),
        // The reader, for example `head`, has seen enough.
        Err(InflateError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Err(InflateError::Write(error)) => Err(Error::stdout(error)),
        Err(InflateError::Read(error)) => Err(Error::OpenLog { name: name(), error }),
        Err(error) => Err(Error::Log { name: name(), error }),
    }
}

/// The version line; scripts that call the program `fio` expect fio's.
pub fn version(compat: Compat) -> String {
    match compat {
        Compat::Fio => FIO_VERSION.to_owned(),
        Compat::Ferrio => format!("ferrio {} ({FIO_VERSION} compatible)", env!("CARGO_PKG_VERSION")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_line_follows_the_character() {
        assert_eq!(version(Compat::Fio), "fio-3.42");
        assert_eq!(
            version(Compat::Ferrio),
            format!("ferrio {} (fio-3.42 compatible)", env!("CARGO_PKG_VERSION"))
        );
    }
}
