//! `ferrio check`: describes the run that the arguments would start, and its risks, without running it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ferrio_check::{CheckStatus, EndTrigger, Facts, Report, WholeRun};
use ferrio_job::Compat;
use ferrio_jobfile::{Environment, Problems, Sources};
use ferrio_logs::bandwidth_log_names;
use ferrio_metrics::MetricsAddress;
use ferrio_plan::PlanOptions;
use ferrio_report::{Format, Formats};

use super::subcommand::Invocation;
use crate::arguments::{self, CommandLine, Item, values_of};
use crate::error::Error;
use crate::escaped_stream;
use crate::hosts::check_on_hosts;
use crate::inputs::is_any_of;
use crate::junit::JunitFile;
use crate::messages::{Messages, print_text};
use crate::option_values::{Intervals, word_and_file};
use crate::options::{OPTIONS, ProgramOption, ROWS};
use crate::output::Output;
use crate::report_stream::ReportStream;
use crate::reported_run::check_thresholds;
use crate::settings::{Action, ProgramSettings, ReportDestination};
use crate::{diagnose, job_files};

/// Exit status for warnings with `--deny-warnings`.
const DENIED_STATUS: u8 = 2;
/// Exit status if the run would not start, or a job would fail at once.
const ERROR_STATUS: u8 = 1;
/// Time limit for servers: a check answers within a second.
const SERVER_TIMEOUT: Duration = Duration::from_millis(800);
/// Index of the first argument after `check`.
const FIRST_ARGUMENT: u32 = 2;

/// Help text after the usage.
pub const LONG_HELP: &str = "\
Takes the arguments of a run. These affect the check:
      --output-format FORMATS  normal (text) or json
      --output FILE            Write the result to FILE instead of standard output
      --section NAME           Check only the jobs of this section; may be repeated
      --readonly               Refuse jobs that write or trim
      --warnings-fatal         Treat warnings about jobs as errors
      --deny-warnings          Exit with status 2 if there are warnings

Exit status: 0 no errors, 1 errors, 2 warnings with --deny-warnings
";

/// Checks the jobs of the arguments. A document, if one is asked for, has the errors that would stop a run before its first job.
///
/// # Errors
/// The command line or a job file is invalid, or the result cannot be written.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let line = arguments::read(invocation.arguments, FIRST_ARGUMENT, ROWS, Compat::Ferrio);
    *invocation.messages = Messages::of(&line.items, line.compat);
    let answer = ErrorDocument::of(&line.items);
    if line.mistakes.is_empty() && line.items.iter().any(|item| item.is(ProgramOption::Help)) {
        return print_text(&invocation.command.text());
    }
    let messages = *invocation.messages;
    let checked = check(line, messages);
    if let (Err(error), Some(answer)) = (&checked, answer)
        && let Err(unwritten) = answer.refused(error)
    {
        messages.show(&[unwritten.diagnostic()], &Sources::default());
    }
    checked
}

fn check(line: CommandLine, messages: Messages) -> Result<u8, Error> {
    let compat = line.compat;
    let mut items = line.into_items()?;
    let before = items.len();
    items.retain(|item| !item.is(ProgramOption::DenyWarnings));
    let deny = items.len() < before;
    let mut settings = diagnose::settings(&items, compat)?;
    if settings.sweep.is_some() {
        return Err(nothing_to_check(
            "checks one run: leave out --repeat and --sweep, which check all runs before the first",
        ));
    }
    if settings.action != Action::Run {
        return Err(nothing_to_check(
            "cannot be combined with --parse-only, --showcmd or options that only print information",
        ));
    }
    let has_answer = |formats: Formats| formats.has(Format::Normal) || formats.has(Format::Json);
    if !has_answer(settings.all_formats()) {
        let message =
            "`ferrio check` prints text or JSON: use --output-format=normal or --output-format=json";
        return Err(Error::refusal("invalid-program-option", message, None));
    }
    // Only runs have the other formats.
    if let Some(hosts) = settings.hosts.clone() {
        settings.files_of_formats.retain(|(format, _)| has_answer(Formats::only(*format)));
        let report = check_on_hosts::report(&items, &settings, &hosts, messages)?;
        write_texts(messages, &settings, |_| report.text(), &report.json())?;
        return Ok(status(report.status, deny));
    }
    let report = examine(&items, &settings, job_files::environment_of_check())?;
    settings.files_of_formats.retain(|(format, _)| has_answer(Formats::only(*format)));
    settings.notes.iter().filter(|_| messages.shows_warnings()).for_each(|note| messages.note(note));
    write(messages, &settings, &report)?;
    Ok(status(report.status, deny))
}

fn status(verdict: CheckStatus, deny: bool) -> u8 {
    match verdict {
        CheckStatus::Errors => ERROR_STATUS,
        CheckStatus::Warnings if deny => DENIED_STATUS,
        CheckStatus::Warnings | CheckStatus::Clean => 0,
    }
}

/// The check of a host of a run, with job files from `environment`: the result, or the errors that would stop its part before the first
/// job.
#[must_use]
pub fn of_host(words: &[OsString], environment: Environment) -> Report {
    let line = arguments::read(words, 1, OPTIONS, Compat::Ferrio);
    let compat = line.compat;
    let report = line.into_items().and_then(|items| {
        let settings = diagnose::settings(&items, compat)?;
        examine(&items, &settings, environment)
    });
    report.unwrap_or_else(|error| match error {
        Error::Problems(problems) => ferrio_check::refused(&problems),
        other => {
            let diagnostics = vec![other.diagnostic()];
            ferrio_check::refused(&Problems { diagnostics, sources: Sources::default() })
        }
    })
}

fn nothing_to_check(why: &str) -> Error {
    Error::refusal("nothing-to-check", format!("`ferrio check` {why}"), None)
}

fn examine(items: &[Item], settings: &ProgramSettings, environment: Environment) -> Result<Report, Error> {
    let set = job_files::read(items, settings, environment)?;
    if set.jobs.is_empty() {
        return Err(job_files::no_jobs(items, &settings.sections));
    }
    let options = PlanOptions {
        describes_only: true,
        server_patience: Some(SERVER_TIMEOUT),
        ..settings.plan_options()
    };
    let plan = ferrio_plan::plan(&set, &options).map_err(Error::Problems)?;
    settings.interval_report.as_ref().map_or(Ok(()), Intervals::check_path)?;
    settings.check_outputs(&set.sources, Some(&plan))?;
    // Nothing is created unless it is written.
    settings.junit.as_deref().map(JunitFile::begin).transpose()?;
    settings.metrics.map_or(Ok(()), MetricsAddress::check)?;
    check_thresholds(&plan, settings)?;
    Ok(ferrio_check::check(
        &set,
        &plan,
        &Facts::ask(&plan, whole_run(settings)),
        settings.trigger.as_ref().map(trigger),
    ))
}

/// The files that the run opens besides those of its jobs.
fn whole_run(settings: &ProgramSettings) -> WholeRun {
    WholeRun {
        state_directory: settings.aux_path.clone(),
        logs: settings
            .bandwidth_log
            .as_deref()
            .map(bandwidth_log_names)
            .into_iter()
            .flatten()
            .map(PathBuf::from)
            .collect(),
        trigger_file: settings.trigger.as_ref().and_then(|trigger| trigger.file.clone()),
    }
}

fn trigger(trigger: &ferrio_runner::Trigger) -> EndTrigger {
    EndTrigger {
        file: trigger.file.clone(),
        timeout_seconds: trigger.timeout.map(|timeout| timeout.as_secs_f64()),
        command: trigger.command.clone(),
    }
}

/// ReportDestination of the document about an error, found even if the command line is invalid. Diagnostics on standard error replace the text.
struct ErrorDocument {
    /// A file; `None` for standard output.
    to: Option<String>,
    /// The job files of the command line, which must not be overwritten.
    job_files: Vec<String>,
}

impl ErrorDocument {
    /// `None` if the command line does not ask for JSON.
    fn of(items: &[Item]) -> Option<Self> {
        // A list with mistakes may ask for it too.
        let json = |item| {
            let (word, file) = word_and_file(item);
            let format = Format::of_word(word.trim())?;
            let file = file.filter(|file| !file.is_empty()).map(str::to_owned);
            Formats::only(format).has(Format::Json).then_some(file)
        };
        let wanted =
            values_of(items, ProgramOption::OutputFormat).flat_map(|list| list.split(',')).find_map(json);
        wanted.map(|file| ErrorDocument {
            to: file.or_else(|| values_of(items, ProgramOption::Output).next_back().map(str::to_owned)),
            job_files: arguments::files_of(items).cloned().collect(),
        })
    }

    /// Writes the document. An error of writing it cannot be reported anywhere.
    fn refused(&self, error: &Error) -> Result<(), Error> {
        let no_sources = Sources::default();
        let (report, sources) = match error {
            Error::Help
            | Error::OpenOutput { .. }
            | Error::WriteOutput { .. }
            | Error::ReportElsewhere { .. }
            | Error::ReplacesInput { .. } => return Ok(()),
            Error::Problems(problems) => (ferrio_check::refused(problems), &problems.sources),
            other => {
                let diagnostics = vec![other.diagnostic()];
                let problems = Problems { diagnostics, sources: Sources::default() };
                (ferrio_check::refused(&problems), &no_sources)
            }
        };
        let text = ferrio_check::json(&report);
        let Some(name) = &self.to else {
            return print_text(&text).map(drop);
        };
        let path = Path::new(name);
        if is_any_of(path, self.job_files.iter().map(String::as_str).chain(sources.names())) {
            return Err(Error::ReplacesInput {
                what: "report",
                name: name.clone(),
                input: "a job file".to_owned(),
            });
        }
        let stream = ReportStream::whole(path);
        stream.map_err(|error| Error::OpenOutput { name: name.clone(), error })?.store(&text, name)
    }
}

/// Writes the result in the requested formats.
fn write(messages: Messages, settings: &ProgramSettings, report: &Report) -> Result<(), Error> {
    let text = |is_coloured| ferrio_check::text(report, is_coloured);
    write_texts(messages, settings, text, &ferrio_check::json(report))
}

/// Writes the text, which may be coloured, and the document in the requested formats.
fn write_texts(
    messages: Messages,
    settings: &ProgramSettings,
    text: impl Fn(bool) -> String,
    json: &str,
) -> Result<(), Error> {
    let mut output = Output::open(settings, messages)?;
    if settings.formats.has(Format::Normal) {
        let is_stdout = settings.output == ReportDestination::Stdout;
        let is_coloured = is_stdout && messages.colors(escaped_stream::stdout().get_ref());
        output.write_coloured(&text(is_coloured));
    }
    if settings.formats.has(Format::Json) {
        output.write(json);
    }
    output.write_to_files(Format::Normal, &text(false));
    output.write_to_files(Format::Json, json);
    output.close()
}
