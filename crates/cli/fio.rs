//! The front end that takes fio's command line and job files.

use std::ffi::OsString;
use std::fs::File;

use ferrio_hosts::{Ends, PlanText};
use ferrio_job::{AsFio, Compat, Diagnostic, FioWords, Plan, Prefix};
use ferrio_jobfile::{Environment, JobSet, Sources, showcmd};
use ferrio_machine::FileClaims;
use ferrio_report::{Format, start_debug};
use ferrio_stats::ClockReading;

use crate::arguments::{self, Item};
use crate::error::Error;
use crate::execute::leak;
use crate::hosts::ranks::{self, RankPart};
use crate::hosts::{client, coordinator, server};
use crate::messages::Messages;
use crate::options::{OPTIONS, ProgramOption};
use crate::output::{Output, begin_file};
use crate::reported_run::{announce, run_and_report};
use crate::settings::{Action, ProgramSettings};
use crate::{diagnose, job_files, outcome, queries, sweep};

/// A run that is planned.
pub struct PlannedRun {
    pub plan: &'static Plan,
    /// The texts that the plan's diagnostics point into.
    pub sources: Sources,
    pub settings: ProgramSettings,
    pub messages: Messages,
    /// The file of the report, in a call as fio.
    pub claims: FileClaims,
    /// The clock is calibrated over the time since then.
    pub calibration: ClockReading,
}

/// Who gives a command line.
#[derive(Clone, Copy)]
pub enum Caller<'a> {
    /// The user.
    User,
    /// The coordinator of a run on many hosts.
    Coordinator(&'a PlanText),
}

/// What a command line came to.
pub enum Planned {
    /// It asked for something else than a run, which is done, with this status.
    Answered(u8),
    Run(Box<PlannedRun>),
    /// This process is an agent of rank 0.
    Agent(Ends),
}

/// What the program does next.
pub enum Next {
    /// It ends with this status.
    End(u8),
    /// It is an agent of rank 0 of a launcher.
    Agent(Ends),
}

/// Runs what the arguments ask for. Sets `messages` to the format that they ask for.
///
/// # Errors
/// Nothing can be run, or the report cannot be written.
pub fn run(words: &[OsString], compat: Compat, messages: &mut Messages) -> Result<Next, Error> {
    let run = match plan(words, compat, job_files::environment(), Caller::User, messages) {
        Ok(Planned::Answered(status)) => return Ok(Next::End(status)),
        Ok(Planned::Run(run)) => run,
        Ok(Planned::Agent(ends)) => return Ok(Next::Agent(ends)),
        Err(error) if !messages.are_of_fio() && ranks::leaves_to_rank_0(words, &error) => {
            return Ok(Next::End(0));
        }
        Err(error) => return Err(error),
    };
    let plan = run.plan;
    let Some(outcome) = run_and_report(*run, None)? else { return Ok(Next::End(0)) };
    let status = outcome::status(plan, &outcome);
    if outcome.result.abandoned > 0 {
        // Their threads hang in the kernel, and may hold its lock of the address space (`mmap_lock`).
        ferrio_runner::exit_at_once(status);
    }
    Ok(Next::End(status))
}

/// Plans what the arguments ask for, with job files and variables from `environment`. Sets `messages` to the format that they ask for.
///
/// # Errors
/// Nothing can be run.
pub fn plan(
    words: &[OsString],
    compat: Compat,
    environment: Environment,
    caller: Caller<'_>,
    messages: &mut Messages,
) -> Result<Planned, Error> {
    // Reading and planning the jobs takes about as long as the calibration.
    let calibration = ClockReading::now();
    let line = arguments::read(words, 1, OPTIONS, compat);
    let compat = line.compat;
    *messages = Messages::of(&line.items, compat);
    let messages = *messages;
    let items = line.into_items()?;
    if let Caller::Coordinator(_) = caller {
        refuse_words_of_users(&items)?;
    } else if items.iter().any(|item| item.is(ProgramOption::Server)) {
        return server::run(&items, compat, messages).map(Planned::Answered);
    } else if items.iter().any(|item| item.is(ProgramOption::Client)) {
        return client::run(&items, compat, messages).map(Planned::Answered);
    }
    let mut settings = diagnose::settings(&items, compat)?;
    // The variables of a launcher are those of the coordinator, or of who has started it.
    let rank = match caller {
        Caller::User => ranks::of_process(&settings)?,
        Caller::Coordinator(_) => None,
    };
    if settings.action != Action::Run && rank.as_ref().is_some_and(|me| me.rank > 0) {
        return Ok(Planned::Answered(0));
    }
    if let Action::Answer(query) = &settings.action {
        return queries::answer(query, compat, messages).map(Planned::Answered);
    }
    if let Some(wanted) = &settings.sweep {
        return sweep::run(&items, &settings, wanted, messages).map(Planned::Answered);
    }
    if let Some(me) = rank.filter(|_| settings.action == Action::Run) {
        return ranks::run(&me, &items, &settings, messages).map(|part| match part {
            RankPart::Ended(status) => Planned::Answered(status),
            RankPart::Agent(ends) => Planned::Agent(ends),
        });
    }
    if let Some(hosts) = settings.hosts.as_ref().filter(|_| settings.action == Action::Run) {
        return coordinator::run(&items, &settings, hosts, messages).map(Planned::Answered);
    }
    let has_text = settings.formats.has(Format::Normal);
    let (file, claims) = begin_file(&mut settings)?;
    // As in fio, `--output` directs only messages about later options into its file.
    let noted_in = file.as_ref().filter(|_| is_before(&items, ProgramOption::Output, ProgramOption::Debug));
    messages.debug_notes(settings.debug.notes(), has_text, noted_in);
    let for_lines = file.as_ref().and_then(|file| file.try_clone().ok());
    start_debug(&settings.debug, messages.debug_writer(has_text, file));
    let mut set = job_files::read(&items, &settings, environment)
        .map_err(|error| without_report_lines(error, messages, for_lines.as_ref()))?;
    if let Caller::Coordinator(PlanText { address: Some(address), .. }) = caller {
        set.jobs.iter_mut().for_each(|job| {
            job.server = Some(address.clone());
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
        _ if set.jobs.is_empty() => return Err(job_files::no_jobs(&items, &settings.sections)),
        _ => {}
    }
    let planned = ferrio_plan::plan(&set, &settings.plan_options()).inspect_err(|_| show_preface());
    let mut plan = planned.map_err(Error::Problems)?;
    plan.diagnostics.splice(..0, preface().cloned());
    if settings.action == Action::MergeTraces {
        announce(&plan, &set.sources, &settings, messages)?;
        let failed = plan.jobs.iter().filter_map(|job| Some((job.setup_error.as_ref()?, &job.spec.name)));
        let lines: Vec<_> = failed.map(|(error, job)| error.diagnostic(job)).collect();
        lines.iter().for_each(|line| messages.note(line));
        return Ok(Planned::Answered(u8::from(!lines.is_empty())));
    }
    let run = PlannedRun { plan: leak(plan), sources: set.sources, settings, messages, claims, calibration };
    Ok(Planned::Run(Box::new(run)))
}

/// Refuses options that no coordinator sends: they would start programs, or write files that nobody asked this host for.
fn refuse_words_of_users(items: &[Item]) -> Result<(), Error> {
    let refused = items.iter().filter_map(|item| match item {
        Item::Program { option, origin, .. } if !option.row().is_for_agents() => {
            let message = format!("--{option} is no option for an agent");
            Some(Diagnostic::error(message, origin.name_origin()).code("not-on-hosts"))
        }
        _ => None,
    });
    let refused: Vec<Diagnostic> = refused.collect();
    if refused.is_empty() { Ok(()) } else { Err(refused.into()) }
}

/// The behaviour that the arguments ask for; that of `ferrio` without a word about it.
pub fn compat_of(words: &[OsString]) -> Compat {
    arguments::read(words, 1, OPTIONS, Compat::Ferrio).compat
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

/// The format of messages that the arguments ask for, whatever else is wrong.
pub fn messages(words: &[OsString]) -> Messages {
    Messages::of(&arguments::read(words, 1, OPTIONS, Compat::default()).items, Compat::default())
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

/// Reads the jobs of a command line (without the program's name) as a run would. Job files and variables come from `environment`.
///
/// # Errors
/// All mistakes in the arguments and job files, or a request for help.
pub fn read_jobs(words: &[OsString], environment: Environment) -> Result<JobSet, Error> {
    let line = arguments::read(words, 1, OPTIONS, Compat::Ferrio);
    let compat = line.compat;
    let items = line.into_items()?;
    let settings = diagnose::settings(&items, compat)?;
    job_files::read(&items, &settings, environment)
}
