//! The front end that takes fio's command line and job files.

use std::ffi::OsString;

use ferrio_job::Compat;
use ferrio_jobfile::{Environment, JobSet};
use ferrio_stats::ClockReading;

use crate::arguments;
use crate::error::Error;
use crate::hosts::limits::Limits;
use crate::hosts::{client, coordinator, ranks, server};
use crate::messages::Messages;
use crate::options::{OPTIONS, ProgramOption};
use crate::planning::{self, Planned};
use crate::reported_run::run_and_report;
use crate::settings::Action;
use crate::{diagnose, job_files, outcome, queries, sweep};

/// Runs what the arguments ask for. Sets `messages` to the format that they ask for.
///
/// # Errors
/// Nothing can be run, or the report cannot be written.
pub fn run(words: &[OsString], compat: Compat, messages: &mut Messages) -> Result<u8, Error> {
    let run = match plan(words, compat, messages) {
        Ok(Planned::Answered(status)) => return Ok(status),
        Ok(Planned::Run(run)) => run,
        Err(error) if !messages.are_of_fio() && ranks::leaves_to_rank_0(words, &error) => return Ok(0),
        Err(error) => return Err(error),
    };
    let plan = run.plan;
    let Some(outcome) = run_and_report(*run, None)? else { return Ok(0) };
    let status = outcome::status(plan, &outcome);
    if outcome.result.abandoned > 0 {
        // Their threads hang in the kernel, and may hold its lock of the address space (`mmap_lock`).
        ferrio_runner::exit_at_once(status);
    }
    Ok(status)
}

/// Plans what the arguments ask for, or does what is no run on this host alone.
fn plan(words: &[OsString], compat: Compat, messages: &mut Messages) -> Result<Planned, Error> {
    // Reading and planning the jobs takes about as long as the calibration.
    let calibration = ClockReading::now();
    let line = arguments::read(words, 1, OPTIONS, compat);
    let compat = line.compat;
    *messages = Messages::of(&line.items, compat);
    let messages = *messages;
    let items = line.into_items()?;
    if items.iter().any(|item| item.is(ProgramOption::Server)) {
        return server::run(&items, compat, messages).map(Planned::Answered);
    } else if items.iter().any(|item| item.is(ProgramOption::Client)) {
        return client::run(&items, compat, messages).map(Planned::Answered);
    }
    let settings = diagnose::settings(&items, compat)?;
    let rank = ranks::of_process(&settings)?;
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
        return ranks::run(&me, &items, &settings, messages).map(Planned::Answered);
    }
    if let Some(hosts) = settings.hosts.as_ref().filter(|_| settings.action == Action::Run) {
        return coordinator::run(&items, &settings, hosts, messages).map(Planned::Answered);
    }
    planning::plan(&items, settings, job_files::environment(), None, &Limits::none(), messages, calibration)
}

/// The format of messages that the arguments ask for, whatever else is wrong.
pub fn messages(words: &[OsString]) -> Messages {
    Messages::of(&arguments::read(words, 1, OPTIONS, Compat::default()).items, Compat::default())
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
