//! The run of an agent: from the texts of its plan to its results.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ferrio_hosts::{JobText, PlanText, Stream, ToCoordinator};
use ferrio_job::{Compat, Diagnostic, RunHost};
use ferrio_jobfile::Environment;
use ferrio_stats::ClockReading;

use super::agent_streams::RunStreams;
use super::limits::Limits;
use super::{Voice, check_on_hosts, triggered};
use crate::arguments::{self, Item};
use crate::commands::check;
use crate::error::Error;
use crate::messages::Messages;
use crate::options::{OPTIONS, ProgramOption};
use crate::planning::{self, Planned};
use crate::reported_run::run_and_report;
use crate::settings::{Action, ReportDestination};
use crate::{diagnose, job_files, outcome, queries};

/// Runs the plan, and says everything about it.
pub fn run(plan: &PlanText, limits: &Limits, mut voice: Voice) {
    voice.snapshots = plan.snapshots_ms.map(Duration::from_millis);
    let voice = &voice;
    let words: Vec<OsString> = plan.words.iter().chain(&plan.own_files).map(OsString::from).collect();
    let status = match RunStreams::take(voice, arguments::read(&words, 1, OPTIONS, Compat::Ferrio).compat) {
        Ok(streams) => {
            let mut messages = Messages::default();
            let status = run_jobs(plan, limits, &words, voice, &mut messages).unwrap_or_else(|error| {
                messages.error(&error);
                1
            });
            streams.finish();
            status
        }
        Err(error) => {
            voice.text(Stream::Error, format!("{}\n", Error::Agent(error).diagnostic().message));
            1
        }
    };
    voice.end(status);
}

/// Returns the exit status.
fn run_jobs(
    plan: &PlanText,
    limits: &Limits,
    words: &[OsString],
    voice: &Voice,
    messages: &mut Messages,
) -> Result<u8, Error> {
    if plan.only_check && *limits != Limits::none() {
        let message = "a server runs the jobs of its clients, and only checks none";
        return Err(Error::refusal(
            "not-permitted",
            message,
            Some("check them with --parse-only, or over ssh"),
        ));
    }
    if plan.only_check {
        let check = check::of_host(words, environment(plan, limits));
        let document = check_on_hosts::document(&check).map_err(|error| Error::Agent(error.into()))?;
        voice.say(ToCoordinator::Checked { plan: document, phases: 0 });
        return Ok(0);
    }
    let mut run = match planned(plan, limits, words, messages)? {
        Planned::Answered(status) => return Ok(status),
        Planned::Run(run) => run,
    };
    run.settings.output = ReportDestination::Coordinator;
    // Files of reports are the coordinator's.
    run.settings.formats = run.settings.all_formats();
    run.settings.files_of_formats.clear();
    let jobs = run.plan;
    let state = |(job, data): (&String, &String)| Some((job.clone(), STANDARD.decode(data).ok()?));
    run.given_states = plan.states.iter().filter_map(state).collect();
    let state_dir = run.settings.aux_path.clone();
    let Some(outcome) = run_and_report(*run, Some(voice))? else { return Ok(0) };
    if let Some(command) = voice.fired_trigger() {
        triggered::finish(voice, jobs, &state_dir, command.as_deref(), limits);
    }
    Ok(outcome::status(jobs, &outcome))
}

fn planned(
    plan: &PlanText,
    limits: &Limits,
    words: &[OsString],
    messages: &mut Messages,
) -> Result<Planned, Error> {
    let calibration = ClockReading::now();
    let line = arguments::read(words, 1, OPTIONS, Compat::Ferrio);
    let compat = line.compat;
    *messages = Messages::of(&line.items, compat);
    let items = line.into_items()?;
    refuse_words_of_users(&items)?;
    for (directory, _) in items.iter().filter_map(|item| item.value_of(ProgramOption::AuxPath)) {
        limits.check_file(directory)?;
    }
    let settings = diagnose::settings(&items, compat)?;
    if let Action::Answer(query) = &settings.action {
        return queries::answer(query, compat, *messages).map(Planned::Answered);
    }
    let (environment, address) = (environment(plan, limits), plan.address.as_deref());
    planning::plan(&items, settings, environment, address, limits, *messages, calibration)
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

/// The files and variables that came with the plan; the figures are those of this machine.
fn environment(plan: &PlanText, limits: &Limits) -> Environment {
    let limits = limits.clone();
    let content = |file: &JobText| Some((file.name.clone(), file.content()?));
    let files: BTreeMap<String, Vec<u8>> = plan.files.iter().filter_map(content).collect();
    let variables = plan.variables.clone();
    let reads_own_files = !plan.own_files.is_empty();
    let Environment { read_file, .. } = job_files::environment();
    Environment {
        host: RunHost::of_variables(&plan.variables),
        var: Box::new(move |name| variables.get(name).cloned()),
        read_file: Box::new(move |path| {
            match path.to_str().and_then(|name| files.get(name)) {
                Some(content) => Ok(content.clone()),
                // Its own job files include others of this host.
                None if reads_own_files && limits.permits(path) => read_file(path),
                None if reads_own_files => Err(io::ErrorKind::PermissionDenied.into()),
                None => Err(io::ErrorKind::NotFound.into()),
            }
        }),
        ..job_files::environment()
    }
}
