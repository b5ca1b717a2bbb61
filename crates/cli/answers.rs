//! What is said without running anything: versions, help on options and engines, job files as command lines.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use ferrio_job::{Diagnostic, Origin};
use ferrio_jobfile::{Help, JobSet, cmdhelp, enghelp, showcmd};
use ferrio_plan::ENGINES;
use ferrio_report::{DebugOptions, InflateError, debug_words, idle_calibration, inflate_log, start_debug};

use crate::exit::Stop;
use crate::messages::Messages;
use crate::output::Output;
use crate::program::{FIO_VERSION, Program, Question};
use crate::selftest;

/// Answers a question about the program.
///
/// # Errors
/// Standard output cannot be written to.
pub fn answer(question: &Question, messages: Messages) -> Result<u8, Stop> {
    let help = match question {
        Question::Version => Help::found(format!("{}\n", version(called_fio()))),
        // As with fio, not finding an option is no failure; not finding an engine is.
        Question::Options(name) => Help { failed: false, ..cmdhelp(name.as_deref()) },
        Question::Engines(what) => {
            let (engine, option) = match what.as_deref().map(|what| what.split_once(',')) {
                Some(Some((engine, option))) => (Some(engine), Some(option)),
                _ => (what.as_deref(), None),
            };
            enghelp(&ENGINES.map(|engine| engine.name()), engine, option)
        }
        Question::DebugClasses => Help::found(format!("fio: dumping debug options:{}\n", debug_words())),
        Question::Log(file) => return inflate(file),
        Question::Checksums(names) => {
            return printed(|out| selftest::checksums(names.as_deref(), out, messages));
        }
        Question::Copies(names) => return printed(|out| selftest::copies(names.as_deref(), out, messages)),
        Question::Clocks => return printed(selftest::clocks),
        Question::UnitWork => match ferrio_runner::idle::calibrate() {
            Ok(unit) => Help::found(idle_calibration(unit)),
            Err(error) => {
                let message = format!("CPU idleness cannot be measured: {error}");
                messages.note(&Diagnostic::error(message, Origin::Builtin).code("no-cpu-idleness"));
                return Ok(1);
            }
        },
    };
    help.complaints.iter().for_each(|complaint| messages.note(complaint));
    printed(|out| out.write_all(help.text.as_bytes()).map(|()| !help.failed))
}

/// Prints a compressed log.
fn inflate(path: &Path) -> Result<u8, Stop> {
    let name = || path.display().to_string();
    let file = File::open(path).map_err(|error| Stop::OpenLog { name: name(), error })?;
    match inflate_log(file, &mut io::stdout().lock()) {
        Ok(()) => Ok(0),
        // Whoever reads, `head` say, has seen enough.
        Err(InflateError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Err(InflateError::Write(error)) => {
            Err(Stop::WriteOutput { name: "standard output".to_owned(), error })
        }
        Err(InflateError::Read(error)) => Err(Stop::OpenLog { name: name(), error }),
        Err(error) => Err(Stop::Log { name: name(), error }),
    }
}

/// Lets `write` write to standard output; the status is 1 if it says false.
///
/// # Errors
/// Standard output cannot be written to.
pub fn printed(write: impl FnOnce(&mut dyn Write) -> io::Result<bool>) -> Result<u8, Stop> {
    let mut stdout = io::stdout();
    let written = write(&mut stdout).and_then(|good| stdout.flush().map(|()| good));
    // Whoever reads, `head` say, has seen enough.
    if written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        return Ok(0);
    }
    let good = written.map_err(|error| Stop::WriteOutput { name: "standard output".to_owned(), error })?;
    Ok(u8::from(!good))
}

/// Says which debug classes were chosen, and lets them speak.
pub fn debug(messages: Messages, options: &DebugOptions) {
    options.said().iter().for_each(|line| messages.note(line));
    start_debug(options, messages.debug_form());
}

/// Tells what is odd about options, on standard error.
pub fn warn(messages: Messages, program: &Program, set: &JobSet) {
    if !messages.advises() {
        return;
    }
    messages.show(&set.warnings, &set.sources);
    program.notes.iter().for_each(|note| messages.note(note));
}

/// `--showcmd` and `--parse-only`.
///
/// # Errors
/// An engine of the command line does not exist, or the output cannot be written to.
pub fn show(messages: Messages, program: &Program, set: &JobSet) -> Result<u8, Stop> {
    ferrio_plan::check_engines(set).map_err(Stop::Problems)?;
    let mut output = Output::open(program, messages)?;
    if program.showcmd {
        output.write(&showcmd(set));
    }
    output.close()?;
    Ok(0)
}

/// Scripts that call the program `fio` read fio's version line.
fn version(called_fio: bool) -> String {
    let own = env!("CARGO_PKG_VERSION");
    if called_fio { FIO_VERSION.to_owned() } else { format!("ferrio {own} ({FIO_VERSION} compatible)") }
}

fn called_fio() -> bool {
    let name = std::env::args_os().next();
    name.is_some_and(|name| Path::new(&name).file_name().is_some_and(|name| name == "fio"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_line_follows_the_name_the_program_is_called_by() {
        assert_eq!(version(true), "fio-3.42");
        assert_eq!(version(false), format!("ferrio {} (fio-3.42 compatible)", env!("CARGO_PKG_VERSION")));
    }
}
