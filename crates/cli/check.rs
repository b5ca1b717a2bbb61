//! `ferrio check`: what a run of the same arguments would do, and what speaks against it. Nothing is run.

use std::ffi::OsString;
use std::io::{self, Write};

use ferrio_check::{Facts, Report, Status, Trigger};
use ferrio_plan::PlanOptions;

use crate::arguments::{self, Item, ProgramOption, Takes};
use crate::exit::Stop;
use crate::jobs;
use crate::messages::{Messages, colour};
use crate::options;
use crate::output::Output;
use crate::program::Program;

/// Status when there are warnings and `--deny-warnings` was given.
const DENIED: u8 = 2;
/// Status when a run would refuse to start, or a job of it would fail at once.
const WRONG: u8 = 1;
/// The word `check` is the first argument of the command line.
const FIRST: u32 = 2;
/// The option that only `check` has.
const DENY: &str = "deny-warnings";

const HELP: &str = "\
Says what a run would do, and what speaks against it; runs nothing

Usage: ferrio check [OPTIONS] [JOB OPTIONS] [JOB FILES]...

Takes the arguments of a run. Those that concern the check:
      --output-format FORMATS  normal (text) or json
      --output FILE            Write the answer to FILE instead of standard output
      --section NAME           Check only the jobs of this section; may be repeated
      --readonly               Refuse jobs that write or trim
      --warnings-fatal         What a run would refuse with this option is an error
      --deny-warnings          End with status 2 when there are warnings

Status: 0 nothing or warnings, 1 errors, 2 warnings with --deny-warnings
";

/// Checks the jobs of `words`, the arguments behind `check`; `messages` learns how to speak as soon as it is known.
///
/// # Errors
/// Everything that would stop a run before its first job.
pub fn run(words: impl Iterator<Item = OsString>, messages: &mut Messages) -> Result<u8, Stop> {
    let scanned = arguments::read(words, FIRST, &all_options());
    *messages = Messages::of(scanned.as_ref().unwrap_or_else(|misread| &misread.items));
    let mut items = scanned?;
    if items.iter().any(|item| is_program_option(item, "help")) {
        let written = io::stdout().write_all(HELP.as_bytes());
        return written
            .map(|()| 0)
            .map_err(|error| Stop::WriteOutput { name: "standard output".to_owned(), error });
    }
    let before = items.len();
    items.retain(|item| !is_program_option(item, DENY));
    let deny = items.len() < before;
    let program = Program::read(&items).map_err(|error| Stop::program(error, &items))?;
    if program.question.is_some() || program.parse_only || program.showcmd || program.merge_blktrace_only {
        return Err(Stop::NothingToCheck);
    }
    if !program.formats.normal && !program.formats.json {
        return Err(Stop::NoAnswerFormat);
    }
    let report = match examine(&items, &program) {
        Ok(report) => report,
        Err(Stop::Problems(problems)) => {
            if program.formats.json {
                write(*messages, &program, &ferrio_check::refused(&problems), false)?;
            }
            return Err(Stop::Problems(problems));
        }
        Err(other) => return Err(other),
    };
    program.notes.iter().filter(|_| messages.advises()).for_each(|note| messages.note(note));
    write(*messages, &program, &report, true)?;
    Ok(match report.status {
        Status::Errors => WRONG,
        Status::Warnings if deny => DENIED,
        Status::Warnings | Status::Clean => 0,
    })
}

fn examine(items: &[Item], program: &Program) -> Result<Report, Stop> {
    let set = jobs::read(items, &program.sections, program.strict)?;
    if set.jobs.is_empty() {
        return Err(Stop::no_jobs(items, &program.sections));
    }
    let options = PlanOptions { readonly: program.readonly, warnings_fatal: program.warnings_fatal };
    let plan = ferrio_plan::plan(&set, &options).map_err(Stop::Problems)?;
    program.intervals_have_a_place()?;
    Ok(ferrio_check::check(&set, &plan, &Facts::ask(&plan), program.trigger.as_ref().map(trigger)))
}

fn trigger(trigger: &ferrio_runner::Trigger) -> Trigger {
    Trigger {
        file: trigger.file.clone(),
        timeout_seconds: trigger.timeout.map(|timeout| timeout.as_secs_f64()),
        command: trigger.command.clone(),
    }
}

/// The answer in the formats asked for; diagnostics of refused jobs stand on standard error instead of the text.
fn write(messages: Messages, program: &Program, report: &Report, as_text: bool) -> Result<(), Stop> {
    let mut output = Output::open(program, messages)?;
    if program.formats.normal && as_text {
        output.write(&ferrio_check::text(report, program.output.is_none() && colour(&io::stdout())));
    }
    if program.formats.json {
        output.write(&ferrio_check::json(report));
    }
    output.close()
}

fn all_options() -> Vec<ProgramOption> {
    let deny = ProgramOption { name: DENY.to_owned(), letter: None, takes: Takes::Nothing, ends_scan: false };
    options::options().into_iter().chain([deny]).collect()
}

fn is_program_option(item: &Item, wanted: &str) -> bool {
    matches!(item, Item::Program { name, .. } if name == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_the_option_that_only_check_has() {
        assert!(HELP.contains(&format!("--{DENY}")));
        assert_eq!(all_options().len(), options::options().len() + 1);
    }
}
