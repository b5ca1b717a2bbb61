//! A run with reports, as the settings ask for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use ferrio_job::{Compat, Diagnostic, HttpOptions, Origin, Plan};
use ferrio_jobfile::{Problems, Sources};
use ferrio_machine::{FileClaims, Rank};
use ferrio_metrics::MetricsServer;
use ferrio_report::{LogWriter, RunEnvironment, SeriesRecorder};
use ferrio_results::{Event, RunResult};
use ferrio_runner::RunOptions;
use ferrio_stats::CalibrationStart;
use ferrio_thresholds::{Judgement, Unmet, unmet};
use ferrio_tui::LiveView;

use crate::abort::AbortWatch;
use crate::error::Error;
use crate::execute::execute;
use crate::junit::{self, JunitFile};
use crate::live_view;
use crate::messages::Messages;
use crate::option_values::Intervals;
use crate::output::{self, Output};
use crate::settings::{FIO_VERSION, ProgramSettings};

/// What looks at the figures of a run at intervals.
#[derive(Clone, Copy)]
enum Watcher {
    IntervalReport,
    Abort,
    Verdict,
    Series,
    Metrics,
    LiveView,
}

/// How often a request for metrics may be answered: a request waits for half of this on average.
const METRICS_EVERY: Duration = Duration::from_millis(500);

/// The outcome of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// Its figures.
    pub result: RunResult,
    /// A file that it was to write beside its report is missing or incomplete, and the exit status says so.
    pub lost_file: bool,
    /// The profile's verdict is that the devices failed, and the exit status says so, which that of fio does not.
    pub verdict_failed: bool,
    /// What the thresholds found.
    pub thresholds: Vec<Judgement>,
    /// One of them has ended the run.
    pub was_aborted: bool,
}

/// Runs the plan and writes the report. `sources` has the texts that the plan's diagnostics point into; the clock is calibrated over the
/// time since `calibration`.
///
/// # Errors
/// A report cannot be opened, in which case nothing is run, or it cannot be written.
pub fn run_and_report(
    plan: &'static Plan,
    sources: &Sources,
    settings: &ProgramSettings,
    messages: Messages,
    calibration: CalibrationStart,
) -> Result<RunOutcome, Error> {
    check_thresholds(plan, settings)?;
    let terminal = live_view::terminal(plan, settings)?;
    // The address is checked before the file of the report is truncated.
    let metrics = settings.metrics.map(MetricsServer::start).transpose()?;
    let (mut output, claims) = begin(plan, sources, settings, messages, &format!("{FIO_VERSION}\n"))?;
    if let Some(rank) = ferrio_machine::rank().filter(|_| settings.compat == Compat::Ferrio) {
        output.event(plan, &Event::Diagnostic(one_of_many(&rank)));
    }
    let junit = settings.junit.as_deref().map(JunitFile::begin).transpose()?;
    if let Some(metrics) = &metrics {
        let message = format!("metrics are at {} until the run ends", metrics.url());
        output.message(&Diagnostic::note(message).code("metrics-address"));
    }
    ferrio_runner::hold_signals();
    // Before any worker is started, as it blocks signals.
    let mut view = terminal.map(|terminal| live_view::start(terminal, plan, messages)).transpose()?;
    output.hold(view.is_some());
    output.set_machine(RunEnvironment::ask(plan, env!("CARGO_PKG_VERSION"), settings.compat));
    // Opening a log may take for ever.
    let opens_logs = settings.bandwidth_log.is_some() || plan.jobs.iter().any(|job| job.spec.logs.any());
    let watched = settings.compat == Compat::Ferrio;
    if opens_logs && watched {
        output.begin_watch();
    }
    let logs = LogWriter::start(plan, settings.bandwidth_log.as_deref(), &mut |lost| output.message(&lost));
    let mut verdict = settings.profile.and_then(|profile| profile.verdict(plan));
    let mut abort = AbortWatch::new(&settings.aborting, plan);
    let mut series = settings.has_series().then(|| SeriesRecorder::new(plan));
    let watchers = [
        settings.interval_report.as_ref().map(|wanted| (Watcher::IntervalReport, wanted.every)),
        abort.as_ref().map(|_| (Watcher::Abort, AbortWatch::EVERY)),
        verdict.as_ref().map(|verdict| (Watcher::Verdict, verdict.interval())),
        series.as_ref().map(|_| (Watcher::Series, SeriesRecorder::EVERY)),
        metrics.as_ref().map(|_| (Watcher::Metrics, METRICS_EVERY)),
        view.as_ref().map(|_| (Watcher::LiveView, LiveView::every(plan))),
    ];
    let watchers: Vec<(Watcher, Duration)> = watchers.into_iter().flatten().collect();
    let early_end = Arc::new(AtomicBool::new(false));
    let options = RunOptions {
        early_end: Arc::clone(&early_end),
        progress: output.is_live() || view.is_some(),
        has_live_view: view.is_some(),
        logs: logs.as_ref().map(LogWriter::sender),
        total_bandwidth: settings.bandwidth_log.is_some(),
        trigger: settings.trigger.clone(),
        state_dir: settings.aux_path.clone(),
        calibration: Some(calibration),
        idleness: settings.idle_prof.is_some(),
        intervals: watchers.iter().map(|&(_, every)| every).collect(),
        status_interval: settings.status_interval,
        status_file: Some(output::status_file()),
    };
    output.end_watch();
    let mut result = execute(plan, options, &mut |event| {
        let Event::Interval { which, result } = event else {
            view.iter_mut().for_each(|view| view.event(plan, &event));
            output.event(plan, &event);
            return;
        };
        match watchers[which].0 {
            Watcher::IntervalReport => output.write_interval(plan, result),
            Watcher::Abort => {
                let report = || output.figures_so_far(plan, result);
                if let Some(why) = abort.as_mut().and_then(|abort| abort.observe(result, report)) {
                    early_end.store(true, Relaxed);
                    output.event(plan, &Event::Diagnostic(why));
                }
            }
            Watcher::Verdict => verdict.iter_mut().for_each(|verdict| verdict.observe(result)),
            Watcher::Metrics => {
                for server in metrics.iter().filter(|server| server.is_wanted()) {
                    server.publish(output.metrics(plan, result));
                }
            }
            Watcher::Series => {
                if let Some(series) = &mut series {
                    series.observe(result);
                    series.observe_cpus(result.elapsed, &output.cpu_throttling());
                }
            }
            Watcher::LiveView => view.iter_mut().for_each(|view| view.look(result)),
        }
    });
    drop(view);
    output.release();
    if watched && output::may_block(settings) {
        output.begin_watch();
    }
    output.write_interval(plan, &result);
    if let Some(logs) = logs {
        logs.finish(&mut result).iter().for_each(|lost| output.message(lost));
    }
    let judgement = verdict.map(|verdict| verdict.finish(&result));
    let failed = judgement.as_ref().is_some_and(|judgement| !judgement.passed);
    if let Some(judgement) = judgement {
        output.verdict(&judgement.text);
    }
    if failed {
        let message = "the devices failed the test of the profile act: more reads than it allows were slow";
        let note = Diagnostic::note(message).code("profile-failed");
        output.event(plan, &Event::Diagnostic(note));
    }
    if let Some(mut series) = series {
        series.observe(&result);
        series.observe_cpus(result.elapsed, &output.cpu_throttling());
        output.set_series(series.finish());
    }
    let aborted = abort.and_then(AbortWatch::finish);
    let was_aborted = aborted.is_some();
    let thresholds = output.report(plan, &result, aborted);
    let lost_file = output.lost_file();
    let verdict_failed = failed && settings.compat == Compat::Ferrio;
    let outcome = RunOutcome { result, lost_file, verdict_failed, thresholds, was_aborted };
    let written = junit.map_or(Ok(()), |file| file.write(junit::of_run(plan, &outcome)));
    let closed = output.close();
    if let (Err(_), Err(error)) = (&closed, &written) {
        messages.note(&error.diagnostic());
    }
    closed.and(written)?;
    drop(claims);
    Ok(outcome)
}

/// What the user should know when a launcher has started several processes.
fn one_of_many(found: &Rank) -> Diagnostic {
    let Rank { rank, size, variable } = found;
    let message = format!(
        "a launcher has started {size} processes, of which this is number {rank} ({variable}={rank}): each runs \
         all jobs by itself and reports only its own figures; start one process, with numjobs for more load, or give \
         each process files of its own"
    );
    Diagnostic::warning(message, Origin::Builtin).code("several-processes")
}

/// Refuses thresholds that can apply to no job of the plan.
///
/// # Errors
/// All of them.
pub fn check_thresholds(plan: &Plan, settings: &ProgramSettings) -> Result<(), Error> {
    let refusal = |unmet: Unmet| {
        let message =
            format!("the threshold `{}` can never be exceeded: {}", unmet.expression, unmet.message);
        Diagnostic::error(message, Origin::Builtin).code("threshold-without-job").help(unmet.help)
    };
    let diagnostics: Vec<Diagnostic> = unmet(&settings.thresholds, plan).into_iter().map(refusal).collect();
    if diagnostics.is_empty() {
        return Ok(());
    }
    Err(Error::Problems(Problems { diagnostics, sources: Sources::default() }))
}

/// Does only what [`run_and_report`] does before the run.
///
/// # Errors
/// As [`run_and_report`].
pub fn announce(
    plan: &Plan,
    sources: &Sources,
    settings: &ProgramSettings,
    messages: Messages,
) -> Result<(), Error> {
    let (output, _claims) = begin(plan, sources, settings, messages, "")?;
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
) -> Result<(Output, FileClaims), Error> {
    // Checked before the file of the report is truncated.
    settings.interval_report.as_ref().map_or(Ok(()), Intervals::check_path)?;
    settings.check_outputs(sources, Some(plan))?;
    let claims = settings.claim_outputs(plan)?;
    let mut output = Output::open(settings, messages)?;
    output.open_intervals(settings)?;
    output.set_names(plan, settings.compat);
    let shown = plan.diagnostics.iter().filter(|diagnostic| messages.shows(diagnostic));
    shown.for_each(|diagnostic| output.preface(diagnostic, sources));
    let is_verbose = |http: &HttpOptions| http.verbose > 0;
    if plan.jobs.iter().any(|job| job.spec.http.as_deref().is_some_and(is_verbose)) {
        ferrio_report::show_traffic();
    }
    output.announce(&format!("{}{version}", ferrio_report::start_lines(plan)));
    Ok((output, claims))
}
