//! `ferrio check`: describes the run that the arguments would start and its risks, without running it.

use std::io;

use ferrio_check::{CheckStatus, EndTrigger, Facts, Report};
use ferrio_job::Character;
use ferrio_plan::PlanOptions;
use ferrio_report::Format;

use super::subcommand::Invocation;
use crate::arguments::{self, Item};
use crate::error::Error;
use crate::execute::check_thresholds;
use crate::messages::{Messages, print};
use crate::options::{self, JOBS, ProgramOption, own_flag};
use crate::output::Output;
use crate::settings::{Action, ProgramSettings};
use crate::{diagnose, job_files};

/// Status if there are warnings and `--deny-warnings` is given.
const DENIED: u8 = 2;
/// Status if the run would not start, or a job would fail at once.
const WRONG: u8 = 1;
/// The number of the first argument after `check`.
const FIRST_ARGUMENT: u32 = 2;
/// The name of its own option.
const DENY: &str = "deny-warnings";

/// Help below the usage.
pub const DETAILS: &str = "\
Takes the arguments of a run. These affect the check:
      --output-format FORMATS  normal (text) or json
      --output FILE            Write the result to FILE instead of standard output
      --section NAME           Check only the jobs of this section; may be repeated
      --readonly               Refuse jobs that write or trim
      --warnings-fatal         Treat warnings about jobs as errors
      --deny-warnings          Exit with status 2 if there are warnings

Exit status: 0 no errors, 1 errors, 2 warnings with --deny-warnings
";

/// The options that only `check` has.
pub const OPTIONS: &[ProgramOption] = &[own_flag(DENY, JOBS, "Exit with status 2 if there are warnings")];

/// Checks the jobs of the arguments.
///
/// # Errors
/// All errors that would stop a run before its first job.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let (scanned, character) =
        arguments::read(invocation.arguments, FIRST_ARGUMENT, &all_options(), Character::Ferrio);
    let read = scanned.as_ref().unwrap_or_else(|invalid| &invalid.items);
    *invocation.messages = Messages::of(read, character);
    let messages = *invocation.messages;
    let mut items = scanned.map_err(diagnose::command_line)?;
    if items.iter().any(|item| item.is_program_option("help")) {
        return print(|out| out.write_all(invocation.command.text().as_bytes()).map(|()| true));
    }
    let before = items.len();
    items.retain(|item| !item.is_program_option(DENY));
    let deny = items.len() < before;
    let settings = ProgramSettings::read(&items, character)
        .map_err(|error| diagnose::settings(error, &items, character))?;
    if settings.sweep.is_some() {
        return Err(Error::SweepToCheck);
    }
    if settings.action != Action::Run {
        return Err(Error::NothingToCheck);
    }
    if !settings.formats.has(Format::Normal) && !settings.formats.has(Format::Json) {
        return Err(Error::NoAnswerFormat);
    }
    let report = match examine(&items, &settings) {
        Ok(report) => report,
        Err(Error::Problems(problems)) => {
            if settings.formats.has(Format::Json) {
                write(messages, &settings, &ferrio_check::refused(&problems), false)?;
            }
            return Err(Error::Problems(problems));
        }
        Err(other) => return Err(other),
    };
    settings.notes.iter().filter(|_| messages.shows_warnings()).for_each(|note| messages.note(note));
    write(messages, &settings, &report, true)?;
    Ok(match report.status {
        CheckStatus::Errors => WRONG,
        CheckStatus::Warnings if deny => DENIED,
        CheckStatus::Warnings | CheckStatus::Clean => 0,
    })
}

fn examine(items: &[Item], settings: &ProgramSettings) -> Result<Report, Error> {
    let set = job_files::read(items, settings, job_files::environment())?;
    if set.jobs.is_empty() {
        return Err(job_files::no_jobs(items, &settings.sections));
    }
    let options = PlanOptions { describes_only: true, ..settings.plan_options() };
    let plan = ferrio_plan::plan(&set, &options).map_err(Error::Problems)?;
    settings.check_interval_path()?;
    check_thresholds(&plan, settings)?;
    Ok(ferrio_check::check(&set, &plan, &Facts::ask(&plan), settings.trigger.as_ref().map(trigger)))
}

fn trigger(trigger: &ferrio_runner::Trigger) -> EndTrigger {
    EndTrigger {
        file: trigger.file.clone(),
        timeout_seconds: trigger.timeout.map(|timeout| timeout.as_secs_f64()),
        command: trigger.command.clone(),
    }
}

/// Writes the result in the chosen formats. For refused jobs, diagnostics on standard error replace the text.
fn write(
    messages: Messages,
    settings: &ProgramSettings,
    report: &Report,
    as_text: bool,
) -> Result<(), Error> {
    let mut output = Output::open(settings, messages)?;
    if settings.formats.has(Format::Normal) && as_text {
        output
            .write(&ferrio_check::text(report, settings.output.is_none() && messages.colors(&io::stdout())));
    }
    if settings.formats.has(Format::Json) {
        output.write(&ferrio_check::json(report));
    }
    output.close()
}

fn all_options() -> Vec<ProgramOption> {
    options::OPTIONS.iter().chain(OPTIONS).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_the_option_that_only_check_has() {
        assert!(DETAILS.contains(&format!("--{DENY}")));
        assert!(options::OPTIONS.iter().all(|option| option.name != DENY));
    }
}
