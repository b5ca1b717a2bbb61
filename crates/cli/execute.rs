//! Runs a plan and reports on it, for every front end.

use ferrio_job::Plan;
use ferrio_jobfile::Sources;
use ferrio_report::{LogWriter, Setting};
use ferrio_runner::{RunOptions, RunResult};

use crate::error::Error;
use crate::messages::Messages;
use crate::output::{self, Output};
use crate::settings::{FIO_VERSION, ProgramSettings};

/// What a run leaves behind.
#[derive(Debug)]
pub struct RunOutcome {
    /// What was measured.
    pub result: RunResult,
    /// The interval report ends early.
    pub intervals_lost: bool,
}

/// Runs the plan and writes the report. Places of the plan's diagnostics are in `sources`.
///
/// # Errors
/// A report has no place to go to: nothing is run. Or it cannot be written.
pub fn execute(
    plan: &Plan,
    sources: &Sources,
    settings: &ProgramSettings,
    messages: Messages,
) -> Result<RunOutcome, Error> {
    let mut output = begin(plan, sources, settings, messages)?;
    output.set_machine(Setting::ask(plan, env!("CARGO_PKG_VERSION")));
    let logs = LogWriter::start(plan, settings.bandwidth_log.as_deref(), &mut |lost| output.message(&lost));
    let options = RunOptions {
        progress: output.is_live(),
        logs: logs.as_ref().map(LogWriter::sender),
        total_bandwidth: settings.bandwidth_log.is_some(),
        trigger: settings.trigger.clone(),
        idleness: settings.idle_prof.is_some(),
        interval: settings.interval_report.as_ref().map(|wanted| wanted.every),
        status_interval: settings.status_interval,
        status_file: Some(output::status_file()),
    };
    let mut result = ferrio_runner::run(plan, &options, &mut |event| output.event(plan, &event));
    // The log writer ends when nobody can send to it any more.
    drop(options);
    output.write_interval(plan, &result);
    if let Some(logs) = logs {
        logs.finish(&mut result).iter().for_each(|lost| output.message(lost));
    }
    output.report(plan, &result);
    let intervals_lost = output.lost_intervals();
    output.close()?;
    Ok(RunOutcome { result, intervals_lost })
}

/// Does what [`execute`] does before the run, and ends there.
///
/// # Errors
/// As [`execute`].
pub fn announce(
    plan: &Plan,
    sources: &Sources,
    settings: &ProgramSettings,
    messages: Messages,
) -> Result<(), Error> {
    begin(plan, sources, settings, messages)?.close()
}

/// Opens the reports, writes what is to be known about the plan and the lines before the run.
fn begin(
    plan: &Plan,
    sources: &Sources,
    settings: &ProgramSettings,
    messages: Messages,
) -> Result<Output, Error> {
    // Before the file of the report is emptied.
    settings.check_interval_path()?;
    let mut output = Output::open(settings, messages)?;
    output.open_intervals(settings)?;
    if messages.shows_warnings() {
        plan.diagnostics.iter().for_each(|diagnostic| output.message_at(diagnostic, sources));
    }
    output.announce(&format!("{}{FIO_VERSION}\n", ferrio_report::start_lines(plan)));
    Ok(output)
}
