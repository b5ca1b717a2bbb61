//! A run with reports, as the settings ask for them.

use ferrio_job::{Compat, Diagnostic, HttpOptions, Origin, Plan};
use ferrio_jobfile::Sources;
use ferrio_logs::LogWriter;
use ferrio_machine::{FileClaims, Rank};
use ferrio_metrics::MetricsServer;
use ferrio_report::RunEnvironment;
use ferrio_results::RunEvent;
use ferrio_runner::RunOptions;
use ferrio_thresholds::{InapplicableThreshold, inapplicable};

use crate::error::Error;
use crate::execute::execute;
use crate::hosts::Voice;
use crate::junit::{self, JunitFile};
use crate::live_view;
use crate::messages::Messages;
use crate::option_values::Intervals;
use crate::outcome::RunOutcome;
use crate::output::{self, IntervalStream, Output, Watchers};
use crate::planned_run::PlannedRun;
use crate::settings::{FIO_VERSION, ProgramSettings};

/// Runs the plan and writes the report. As a part of a run on many hosts, it waits for the coordinator and tells it everything in `voice`;
/// `None` if the coordinator wants no run.
///
/// # Errors
/// A report cannot be opened, in which case nothing is run, or it cannot be written.
pub fn run_and_report(run: PlannedRun, voice: Option<&Voice>) -> Result<Option<RunOutcome>, Error> {
    let PlannedRun { plan, sources, settings, messages, claims: file_of_report, given_states, calibration } =
        run;
    let (sources, settings) = (&sources, &settings);
    check_thresholds(plan, settings)?;
    let terminal = live_view::terminal(plan, settings)?;
    // The address is checked before the file of the report is truncated.
    let metrics = settings.metrics.map(MetricsServer::start).transpose()?;
    // The coordinator shows versions itself.
    let version = if voice.is_none() { format!("{FIO_VERSION}\n") } else { String::new() };
    let (mut output, intervals, claims) = begin(plan, sources, settings, messages, &version)?;
    if voice.is_some_and(|voice| !voice.may_prepare(plan)) {
        return output.close().map(|()| None);
    }
    let metrics_url = metrics.as_ref().map(MetricsServer::url);
    output.leave_report_to(voice);
    let watchers = Watchers::new(plan, settings, intervals, metrics, voice);
    let environment = RunEnvironment::ask(plan, env!("CARGO_PKG_VERSION"), settings.compat);
    let mut output = output.begin(environment, watchers);
    let is_ferrio = settings.compat == Compat::Ferrio;
    if let Some(rank) = ferrio_machine::rank().filter(|_| is_ferrio && voice.is_none()) {
        output.event(plan, &RunEvent::Diagnostic(one_of_many(&rank)));
    }
    let junit = settings.junit.as_deref().map(JunitFile::begin).transpose()?;
    if let Some(url) = metrics_url {
        let message = format!("metrics are at {url} until the run ends");
        output.message(&Diagnostic::note(message).code("metrics-address"));
    }
    ferrio_runner::hold_signals();
    // Before any worker is started, as it blocks signals.
    if let Some(terminal) = terminal {
        output.show_view(live_view::start(terminal, plan, messages)?, plan);
    }
    // Opening a log may take for ever.
    let opens_logs = settings.bandwidth_log.is_some() || plan.jobs.iter().any(|job| job.spec.logs.any());
    let logs = output.watched(opens_logs && is_ferrio, |output| {
        let outlet = voice.map(Voice::log_outlet);
        let bandwidth = settings.bandwidth_log.as_deref();
        LogWriter::start(plan, bandwidth, outlet.as_ref(), &mut |lost| output.message(&lost))
    });
    let options = RunOptions {
        logs: logs.as_ref().map(LogWriter::sender),
        total_bandwidth: settings.bandwidth_log.is_some(),
        trigger: voice.map(Voice::trigger).or_else(|| settings.trigger.clone()),
        state_dir: settings.aux_path.clone(),
        given_states,
        calibration: Some(calibration),
        idleness: settings.idle_prof.is_some(),
        status_interval: settings.status_interval,
        status_file: Some(output::status_file()).filter(|_| voice.is_none()),
        start_line: voice.map(Voice::start_line),
        ..output.run_options()
    };
    let options = RunOptions { progress: options.progress || voice.is_some(), ..options };
    let mut result = execute(plan, options, &mut |event| match (voice, &event) {
        (Some(voice), RunEvent::Progress(progress)) => voice.progress(plan, progress, settings.compat),
        _ => output.event(plan, &event),
    });
    let mut output = output.end(plan, &result, is_ferrio && output::may_block(settings));
    if let Some(logs) = logs {
        logs.finish(&mut result).iter().for_each(|lost| output.message(lost));
    }
    let (outcome, closed) = output.report(plan, result, &settings.thresholds);
    let written = junit.map_or(Ok(()), |file| file.write(junit::junit_text(plan, &outcome)));
    if let (Err(_), Err(error)) = (&closed, &written) {
        messages.note(&error.diagnostic());
    }
    closed.and(written)?;
    drop((claims, file_of_report));
    Ok(Some(outcome))
}

/// The warning that a launcher has started several processes.
fn one_of_many(found: &Rank) -> Diagnostic {
    let Rank { rank, size, variable, .. } = found;
    let size = size.map_or("several".to_owned(), |size| size.to_string());
    let message = format!(
        "a launcher has started {size} processes, of which this is number {rank} ({variable}={rank}): each runs \
         all jobs by itself and reports only its own figures; for one run with one report, start `ferrio` with a job file and without \
         --ranks=off, otherwise give each process files of its own"
    );
    Diagnostic::warning(message, Origin::Builtin).code("several-processes")
}

/// Refuses thresholds that can apply to no job of the plan.
///
/// # Errors
/// All of them.
pub fn check_thresholds(plan: &Plan, settings: &ProgramSettings) -> Result<(), Error> {
    let refusal = |unmet: InapplicableThreshold| {
        let message =
            format!("the threshold `{}` can never be exceeded: {}", unmet.expression, unmet.message);
        Diagnostic::error(message, Origin::Builtin).code("threshold-without-job").help(unmet.help)
    };
    let diagnostics: Vec<Diagnostic> =
        inapplicable(&settings.thresholds, plan).into_iter().map(refusal).collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics.into()) }
}

/// Does only what [`run_and_report`] does before the run.
///
/// # Errors
/// Those of [`run_and_report`].
pub fn announce(
    plan: &Plan,
    sources: &Sources,
    settings: &ProgramSettings,
    messages: Messages,
) -> Result<(), Error> {
    let (output, _intervals, _claims) = begin(plan, sources, settings, messages, "")?;
    output.close()
}

/// Opens the reports and writes the plan's diagnostics and the lines before the run, of which the last is that of the `version`. The files
/// belong to this process until the claims are dropped.
fn begin(
    plan: &Plan,
    sources: &Sources,
    settings: &ProgramSettings,
    messages: Messages,
    version: &str,
) -> Result<(Output, Option<IntervalStream>, FileClaims), Error> {
    // Checked before the file of the report is truncated.
    settings.interval_report.as_ref().map_or(Ok(()), Intervals::check_path)?;
    settings.check_outputs(sources, Some(plan))?;
    let claims = settings.claim_outputs(plan)?;
    let mut output = Output::open(settings, messages)?;
    let intervals = settings.interval_report.as_ref().map(IntervalStream::open).transpose()?;
    output.set_names(plan, settings.compat);
    let shown = plan.diagnostics.iter().filter(|diagnostic| messages.shows(diagnostic));
    shown.for_each(|diagnostic| output.preface(diagnostic, sources));
    let is_verbose = |http: &HttpOptions| http.verbose > 0;
    if plan.jobs.iter().any(|job| job.spec.http.as_deref().is_some_and(is_verbose)) {
        ferrio_report::show_traffic();
    }
    output.announce(&format!("{}{version}", ferrio_report::start_lines(plan)));
    Ok((output, intervals, claims))
}
