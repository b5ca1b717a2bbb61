//! `ferrio check --hosts`: the plan of every host, made there, before anything runs.

use ferrio_check::{CheckedHost, HostsReport, Report};
use ferrio_hosts::{CoordinatorAction, CoordinatorSettings, HostId, HostLoss, ToCoordinator, coordinate};
use ferrio_job::{Diagnostic, RunHost};
use serde_json::{Value, json};

use super::coordinator::{GREETING_TIMEOUT, names, plan_of_host, stop_requests};
use super::host_texts::HostTexts;
use super::{host_commands, remote_words};
use crate::arguments::Item;
use crate::error::Error;
use crate::job_files;
use crate::messages::Messages;
use crate::settings::{HostSettings, ProgramSettings};

/// The check of an agent, as it sends it.
///
/// # Errors
/// The report is no document.
pub fn document(report: &Report) -> serde_json::Result<Value> {
    Ok(json!({ "check": serde_json::to_value(report)?, "text": ferrio_check::text(report, false) }))
}

/// Checks the jobs on all hosts.
///
/// # Errors
/// The jobs cannot be read, or are for other hosts.
pub fn report(
    items: &[Item],
    settings: &ProgramSettings,
    wanted: &HostSettings,
    messages: Messages,
) -> Result<HostsReport, Error> {
    let names = names(wanted)?;
    let ranks = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let (plan, set) = remote_words::plan_text(items, settings, RunHost::of_address(&names[0], 0, ranks))?;
    if set.jobs.is_empty() {
        return Err(job_files::no_jobs(items, &settings.sections));
    }
    ferrio_plan::check_hosts(&set, &names).map_err(Error::Problems)?;
    let (_requests, stop) = stop_requests().map_err(Error::Agent)?;
    host_commands::raise_limit(names.len());
    let plans = (0..).zip(&names).map(|host| plan_of_host(&plan, host, ranks));
    let hosts = host_commands::start(&names, wanted, &stop).into_iter().zip(plans).collect();
    let how = CoordinatorSettings {
        require_all: false,
        only_check: true,
        common_phases: true,
        refusal_ends_run: false,
        greeting_timeout: GREETING_TIMEOUT,
    };
    let program = format!("ferrio {}", env!("CARGO_PKG_VERSION"));
    let host = |name: &String| CheckedHost { host: name.clone(), ..CheckedHost::default() };
    let mut checked: Vec<CheckedHost> = names.iter().map(host).collect();
    let mut texts = HostTexts::new(messages, true);
    let mut is_advised = false;
    let mut observe = |action| match action {
        CoordinatorAction::Greeted(HostId(at), hello) => {
            let host = &mut checked[at];
            (host.own_name, host.program, host.arch) =
                (Some(hello.host), Some(hello.program), Some(hello.arch));
        }
        CoordinatorAction::Measured(HostId(at), offset) => {
            checked[at].clock_offset_ns = Some(offset.ahead_ns());
            checked[at].clock_bound_ns = u64::try_from(offset.bound.as_nanos()).ok();
        }
        CoordinatorAction::Deliver(HostId(at), ToCoordinator::Checked { plan, .. }) => {
            take(&mut checked[at], plan);
        }
        CoordinatorAction::Deliver(HostId(at), ToCoordinator::Text { stream, text }) => {
            if let Some(text) = texts.shown(&checked[at].host, stream, &text) {
                messages.write(&text);
            }
        }
        CoordinatorAction::Lost(HostId(at), loss) => {
            checked[at].lost = Some(loss.to_string());
            if let HostLoss::NotStarted(reason) = &loss
                && !std::mem::replace(&mut is_advised, true)
            {
                let advice = host_commands::advice(&checked[at].host, wanted, reason);
                advice.iter().for_each(|advice| messages.note(&Diagnostic::note(advice).code("host-lost")));
            }
        }
        _ => {}
    };
    coordinate(hosts, how, &program, stop, &mut observe).map_err(Error::Agent)?;
    Ok(HostsReport::new(&program, checked))
}

/// Takes the check that a host has sent.
fn take(host: &mut CheckedHost, mut sent: Value) {
    host.text = sent.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    host.check = sent.get_mut("check").map(Value::take).filter(|check| !check.is_null());
    if host.check.is_none() {
        host.lost = Some("it has checked nothing: its version is an older one".to_owned());
    }
}
