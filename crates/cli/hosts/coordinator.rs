//! The front end of `--hosts` and `--hosts-file`: starts an agent on each host, and makes one report of what they send.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use ferrio_hosts::{CoordinatorSettings, Ends, PlanText, UserRequest, coordinate, host_names, hosts_of_file};
use ferrio_job::{Plan, RunHost};
use nix::sys::signal::{SigSet, Signal};

use super::host_commands::HOST_PLACE;
use super::run_on_hosts::RunOnHosts;
use super::{host_commands, remote_words};
use crate::arguments::Item;
use crate::error::Error;
use crate::job_files;
use crate::live_view;
use crate::messages::Messages;
use crate::options::ProgramOption;
use crate::settings::{HostSettings, ProgramSettings};

/// How long a host may take to greet. ssh itself gives up earlier on most networks.
pub const GREETING_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs the jobs on all hosts, and returns the exit status.
///
/// # Errors
/// Nothing can be run, or the report cannot be written.
pub fn run(
    items: &[Item],
    settings: &ProgramSettings,
    wanted: &HostSettings,
    messages: Messages,
) -> Result<u8, Error> {
    let names = names(wanted)?;
    let connect = |stop: &Receiver<UserRequest>| host_commands::start(&names, wanted, stop);
    run_on(&names, connect, items, settings, messages)
}

/// Runs the jobs on hosts of these names, which `connect` connects when all is ready here, unless there is a stop, and returns the exit
/// status.
///
/// # Errors
/// Nothing can be run, or the report cannot be written.
pub fn run_on(
    names: &[String],
    connect: impl FnOnce(&Receiver<UserRequest>) -> Vec<io::Result<Ends>>,
    items: &[Item],
    settings: &ProgramSettings,
    messages: Messages,
) -> Result<u8, Error> {
    let ranks = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let first = RunHost::of_address(&names[0], 0, ranks);
    let (plan, set) = remote_words::plan_text(items, settings, first)?;
    if set.jobs.is_empty() {
        return Err(job_files::no_jobs(items, &settings.sections));
    }
    ferrio_plan::check_hosts(&set, names).map_err(Error::Problems)?;
    settings.check_outputs(&set.sources, None)?;
    let terminal = live_view::terminal(&Plan::default(), settings)?;
    let mut run = RunOnHosts::open(names, &plan, settings, messages)?;
    let plan = PlanText { snapshots_ms: run.snapshots_ms(), ..plan };
    let plans = (0..).zip(names).map(|host| plan_of_host(&plan, host, ranks));
    if let Some(terminal) = terminal {
        run.show_view(terminal, names)?;
    }
    let (requests, stop) = stop_requests().map_err(Error::Agent)?;
    run.ends_by(requests);
    host_commands::raise_limit(names.len());
    let hosts = connect(&stop).into_iter().zip(plans).collect();
    let how = CoordinatorSettings {
        require_all: settings.has(ProgramOption::RequireAll),
        only_check: false,
        refusal_ends_run: true,
        common_phases: true,
        greeting_timeout: GREETING_TIMEOUT,
    };
    let program = format!("ferrio {}", env!("CARGO_PKG_VERSION"));
    coordinate(hosts, how, &program, stop, &mut |action| run.observe(action)).map_err(Error::Agent)?;
    run.finish()
}

/// The names of the hosts, in order.
pub fn names(wanted: &HostSettings) -> Result<Vec<String>, Error> {
    let refusal = |message: String, help: &str| Error::refusal("hosts", message, Some(help));
    let names = match &wanted.file {
        None => host_names(&wanted.list)
            .map_err(|error| refusal(format!("--hosts: {error}"), "write node1,node2 or node[1-8]"))?,
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                refusal(
                    format!("cannot read the hosts in {file}: {error}"),
                    "name a file with a host on each line",
                )
            })?;
            hosts_of_file(&text).map_err(|(line, error)| {
                refusal(format!("{file}, line {line}: {error}"), "write node1 or node[1-8] on each line")
            })?
        }
    };
    match names.iter().find(|name| name.starts_with('-')) {
        Some(name) => {
            Err(refusal(format!("`{name}` is no name of a host"), "names do not begin with a dash"))
        }
        None if names.is_empty() => {
            Err(refusal("there is no host in the list".to_owned(), "name at least one"))
        }
        None if names.len() > 1 && wanted.via.as_ref().is_some_and(|via| !via.contains(HOST_PLACE)) => {
            Err(refusal(
                format!("--via has no {HOST_PLACE}: all {} agents would start in one place", names.len()),
                "write {host} where the name of the host belongs, as in 'kubectl exec -i {host} --'",
            ))
        }
        None => Ok(names),
    }
}

/// The plan of one host, with the variables that tell it who it is.
pub fn plan_of_host(plan: &PlanText, (rank, name): (u32, &String), ranks: u32) -> PlanText {
    let mut plan = plan.clone();
    plan.variables.extend(RunHost::of_address(name, rank, ranks).variables());
    plan
}

/// A message for each signal that asks for an end. From now on, signals do nothing else.
pub fn stop_requests() -> io::Result<(Sender<UserRequest>, Receiver<UserRequest>)> {
    ferrio_runner::hold_signals();
    let (sender, requests) = channel();
    let of_signals = sender.clone();
    thread::Builder::new().spawn(move || {
        let ending: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
        while ending.wait().is_ok() && of_signals.send(UserRequest::Stop).is_ok() {}
    })?;
    Ok((sender, requests))
}
