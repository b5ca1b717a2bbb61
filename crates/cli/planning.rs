//! From a command line whose settings are read to a planned run: job files, messages before the run, and the answers to what needs the jobs
//! but does not run them.

use std::fs::File;

use ferrio_job::{AsFio, Compat, Diagnostic, FioWords, Prefix};
use ferrio_jobfile::{Environment, JobSet, Sources, showcmd};
use ferrio_report::{Format, start_debug};
use ferrio_stats::ClockReading;

use crate::arguments::Item;
use crate::error::Error;
use crate::hosts::limits::Limits;
use crate::job_files;
use crate::messages::Messages;
use crate::options::ProgramOption;
use crate::output::{Output, begin_file};
use crate::planned_run::PlannedRun;
use crate::reported_run::announce;
use crate::settings::{Action, ProgramSettings};

/// What a command line came to.
pub enum Planned {
    /// It asked for something else than a run, which is done, with this status.
    Answered(u8),
    Run(Box<PlannedRun>),
}

/// Plans the jobs of a command line, with job files and variables from `environment`. `server` is the address of this host as a client of fio
/// knows it, and the jobs stay within `limits`. The clock is calibrated over the time since `calibration`.
///
/// # Errors
/// Nothing can be run.
pub fn plan(
    items: &[Item],
    mut settings: ProgramSettings,
    environment: Environment,
    server: Option<&str>,
    limits: &Limits,
    messages: Messages,
    calibration: ClockReading,
) -> Result<Planned, Error> {
    let has_text = settings.formats.has(Format::Normal);
    let (file, claims) = begin_file(&mut settings)?;
    // As in fio, `--output` directs only messages about later options into its file.
    let noted_in = file.as_ref().filter(|_| is_before(items, ProgramOption::Output, ProgramOption::Debug));
    messages.debug_notes(settings.debug.notes(), has_text, noted_in);
    let for_lines = file.as_ref().and_then(|file| file.try_clone().ok());
    start_debug(&settings.debug, messages.debug_writer(has_text, file));
    let mut set = job_files::read(items, &settings, environment)
        .map_err(|error| without_report_lines(error, messages, for_lines.as_ref()))?;
    limits.check_jobs(&set)?;
    if let Some(server) = server {
        set.jobs.iter_mut().for_each(|job| {
            job.server = Some(server.to_owned());
            // As on fio's servers, the files of a client are one list of jobs.
            job.first_of_file = false;
        });
    }
    let set = set;
    // Messages about the command line and the job files precede those about the planned jobs.
    let preface = || set.warnings.iter().chain(&settings.notes);
    let show_preface = || {
        let shown = preface().filter(|diagnostic| messages.shows(diagnostic));
        shown.for_each(|diagnostic| match messages.place(diagnostic) {
            AsFio::Report => messages.report_line(diagnostic, &set.sources, for_lines.as_ref()),
            AsFio::Stderr | AsFio::Hidden => messages.line(diagnostic, &set.sources),
        });
    };
    settings.check_outputs(&set.sources, None)?;
    let runs_jobs = matches!(settings.action, Action::Run | Action::MergeTraces) && !set.jobs.is_empty();
    if !runs_jobs {
        show_preface();
    }
    match settings.action {
        Action::Parse => return show(&set, "", &settings, messages).map(Planned::Answered),
        Action::ShowCommands => {
            return show(&set, &showcmd(&set), &settings, messages).map(Planned::Answered);
        }
        Action::MergeTraces if set.jobs.is_empty() => return Ok(Planned::Answered(0)),
        _ if set.jobs.is_empty() => return Err(job_files::no_jobs(items, &settings.sections)),
        _ => {}
    }
    let planned = ferrio_plan::plan(&set, &settings.plan_options()).inspect_err(|_| show_preface());
    let mut plan = planned.map_err(Error::Problems)?;
    limits.check_plan(&plan, &set.sources)?;
    plan.diagnostics.splice(..0, preface().cloned());
    if settings.action == Action::MergeTraces {
        announce(&plan, &set.sources, &settings, messages)?;
        let failed = plan.jobs.iter().filter_map(|job| Some((job.setup_error.as_ref()?, &job.spec.name)));
        let lines: Vec<_> = failed.map(|(error, job)| error.diagnostic(job)).collect();
        lines.iter().for_each(|line| messages.note(line));
        return Ok(Planned::Answered(u8::from(!lines.is_empty())));
    }
    let run = PlannedRun { claims, ..PlannedRun::new(plan, set.sources, settings, messages, calibration) };
    Ok(Planned::Run(Box::new(run)))
}

/// Called `fio`, prints the reasons of some errors where the report goes, as fio does, and removes them from `error`.
fn without_report_lines(mut error: Error, messages: Messages, file: Option<&File>) -> Error {
    if let Error::Problems(problems) = &mut error
        && messages.are_of_fio()
        && messages.are_text()
    {
        let removed = problems.diagnostics.iter_mut().filter(|problem| problem.code == "removed-option");
        for problem in removed {
            if let FioWords::FailedParsing(reason) = &mut problem.fio
                && let Some(reason) = reason.take()
            {
                let line = Diagnostic::note(reason).prefix(Prefix::None);
                messages.report_line(&line, &Sources::default(), file);
            }
        }
    }
    error
}

/// True if the option `first` is given, and `second` is not given before it.
fn is_before(items: &[Item], first: ProgramOption, second: ProgramOption) -> bool {
    let place = |option| items.iter().position(|item| item.is(option));
    place(first).is_some_and(|first| place(second).is_none_or(|second| first < second))
}

/// `--showcmd` and `--parse-only`: checks the engines of the jobs, then writes `text`. `--showcmd` accepts an engine that is missing
/// here: fio may have it.
fn show(set: &JobSet, text: &str, settings: &ProgramSettings, messages: Messages) -> Result<u8, Error> {
    let only_command_line = settings.compat == Compat::Fio || settings.action == Action::ShowCommands;
    ferrio_plan::check_engines(set, only_command_line).map_err(Error::Problems)?;
    let mut output = Output::open(settings, messages)?;
    output.write_commands(text);
    output.close().map(|()| 0)
}
