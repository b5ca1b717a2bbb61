//! The command `run`: runs a plan, and writes what sysbench writes while it runs and at its end.

use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use ferrio_job::{Plan, SESSION, SessionSource, Sessions, Severity, greatest_common_divisor};
use ferrio_oltp::Target;
use ferrio_plan::sysbench::{SysbenchFileio, SysbenchRun};
use ferrio_results::{JobError, JobState, RunEvent, RunResult};

use crate::command_line::SysbenchCommandLine;
use crate::failure;
use crate::fileio;
use crate::general::GeneralOptions;
use crate::log::{Level, Log, Refusal};
use crate::options::SysbenchOption;
use crate::report::{
    FORMAT_VERSION, SysbenchDocument, SysbenchDocumentPart, SysbenchFigures, SysbenchReport,
    SysbenchSettings, SysbenchTest,
};
use crate::requests;
use crate::sessions::{FailedBegin, JointSessions};
use crate::work::WorkTest;

/// The exit status after a forced shutdown.
const FORCED_SHUTDOWN_STATUS: u8 = 2;

/// The line before the threads are set up.
const INITIALIZING: &str = "Initializing worker threads...\n\n";

/// Runs a plan with a snapshot of its statistics at each interval, and passes all events to the sink.
pub type PlanRunner = dyn Fn(Plan, Option<Duration>, &mut dyn FnMut(RunEvent<'_>)) -> RunResult;

/// A report that may be written in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportPart {
    /// About an interval.
    Interval,
    /// About the time up to a checkpoint.
    Checkpoint,
    /// About the run, or what follows its last checkpoint.
    Total,
}

/// Writes a report in place of the text of sysbench, or returns false.
pub type ReportHook<'a> = dyn Fn(ReportPart, &SysbenchReport, &SysbenchFigures) -> bool + 'a;

/// A test to run.
pub struct TestInvocation<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its options.
    pub options: &'static [SysbenchOption],
    /// The options of a script that were given.
    pub of_script: &'a [(String, String)],
    /// The command line.
    pub line: &'a SysbenchCommandLine,
    /// The general options.
    pub general: &'a GeneralOptions,
    /// Where output goes.
    pub log: &'a Arc<Log>,
    /// Runs a plan.
    pub execute: &'a PlanRunner,
}

impl TestInvocation<'_> {
    /// Runs the test of files and returns the exit status.
    ///
    /// # Errors
    /// It failed, which has been reported.
    pub fn fileio(&self, options: &SysbenchFileio) -> Result<u8, Refusal> {
        self.log.text(Level::Notice, &self.general.header());
        self.log.text(Level::Notice, &fileio::header(options, self.general));
        for index in 0..options.files {
            let name = SysbenchFileio::file_name(index);
            self.log.line(Level::Debug, &format!("Opening file: {}", name.display()));
        }
        self.run(ferrio_plan::sysbench::plan(options), SysbenchTest::Fileio, None)
    }

    /// Runs a test without I/O and returns the exit status.
    ///
    /// # Errors
    /// It failed, which has been reported.
    pub fn work(&self, work: &WorkTest) -> Result<u8, Refusal> {
        let run = SysbenchRun { events: work.events(self.general, self.log), ..fileio::run_of(self.general) };
        work.warn_of_rest(self.general.threads, self.log);
        self.log.text(Level::Notice, &self.general.header());
        work.header(self.log);
        let event = work.event(self.general.threads);
        self.run(ferrio_plan::sysbench::plan_work(self.name, &run, event), work.reported(), None)
    }

    /// Runs sessions, and returns the exit status. `target` is the database whose statements they count; `hook` may write reports.
    ///
    /// # Errors
    /// It failed, which has been reported.
    pub fn sessions(
        &self,
        source: Arc<dyn SessionSource>,
        target: Option<Arc<Target>>,
        hook: Option<&ReportHook<'_>>,
    ) -> Result<u8, Refusal> {
        let failed = FailedBegin::default();
        let sessions = Sessions(Arc::new(JointSessions { source, failed: failed.clone() }));
        let plan = ferrio_plan::sysbench::plan_sessions(self.name, &fileio::run_of(self.general), sessions);
        // Threads that cannot connect say so after this line.
        self.log.text(Level::Notice, INITIALIZING);
        let test = if target.is_some() { SysbenchTest::Sql } else { SysbenchTest::Plain };
        self.run(plan, test, Some(RunningSessions { failed, target, hook }))
    }

    /// Runs a plan.
    fn run(
        &self,
        plan: Plan,
        test: SysbenchTest,
        sessions: Option<RunningSessions<'_>>,
    ) -> Result<u8, Refusal> {
        let GeneralOptions { percentile, rate, .. } = *self.general;
        requests::show(self.log);
        let report = SysbenchReport { test, percentile, has_rate: rate.is_some() };
        let mut reporter = Reporter::new(self, report, sessions);
        let result = (self.execute)(plan, self.general.interval(), &mut |event| reporter.observe(&event));
        reporter.finish(&result)
    }
}

impl GeneralOptions {
    /// The interval at which a report or a forced shutdown may be due. A forced shutdown is checked every second: its time counts from the
    /// start of the threads, which is later than that of the run.
    fn interval(&self) -> Option<Duration> {
        let second = self.forced_shutdown.map(|_| 1);
        let all = self.report_interval.iter().chain(&self.checkpoints).copied().chain(second);
        all.reduce(greatest_common_divisor).map(Duration::from_secs)
    }
}

/// The sessions of a run.
struct RunningSessions<'a> {
    /// Set if one could not begin.
    failed: FailedBegin,
    /// The database whose statements they count.
    target: Option<Arc<Target>>,
    /// May write reports.
    hook: Option<&'a ReportHook<'a>>,
}

/// Threads that begin within this time after the run count as having begun with it.
const START_TOLERANCE: Duration = Duration::from_millis(100);

/// Writes reports during and after a run.
struct Reporter<'a> {
    call: &'a TestInvocation<'a>,
    report: SysbenchReport,
    /// The sessions of a test whose events they are.
    sessions: Option<RunningSessions<'a>>,
    /// True once the threads were announced.
    is_released: bool,
    /// True once the error of a thread was reported.
    has_failed: bool,
    intervals: ReportedParts,
    checkpoints: ReportedParts,
}

/// The parts of a run that were reported: intervals, or the times between checkpoints.
#[derive(Default)]
struct ReportedParts {
    /// Number of intervals or checkpoints that have passed.
    passed: u64,
    /// The figures at the end of the last part.
    figures: SysbenchFigures,
    /// The parts of the document.
    documents: Vec<SysbenchDocumentPart>,
}

impl ReportedParts {
    /// Ends a part of the run with these figures. Returns those of the part.
    fn end(&mut self, passed: u64, figures: &SysbenchFigures) -> SysbenchFigures {
        self.passed = passed;
        let part = figures.since(&self.figures);
        self.figures = figures.clone();
        part
    }
}

impl<'a> Reporter<'a> {
    fn new(
        call: &'a TestInvocation<'a>,
        report: SysbenchReport,
        sessions: Option<RunningSessions<'a>>,
    ) -> Self {
        let (intervals, checkpoints) = (ReportedParts::default(), ReportedParts::default());
        Reporter { call, report, sessions, is_released: false, has_failed: false, intervals, checkpoints }
    }

    /// The figures from the start of the run.
    fn figures(&self, result: &RunResult) -> SysbenchFigures {
        let target = self.sessions.as_ref().and_then(|sessions| sessions.target.as_ref());
        let sql = target.map(|target| target.counters.total()).unwrap_or_default();
        SysbenchFigures { sql, ..SysbenchFigures::of(result) }
    }

    /// The form of reports. A script that has not connected to a database has no statements.
    fn form(&self) -> SysbenchReport {
        let target = self.sessions.as_ref().and_then(|sessions| sessions.target.as_ref());
        let has_statements = target.is_none_or(|target| target.is_used());
        let test = if has_statements { self.report.test } else { SysbenchTest::Plain };
        SysbenchReport { test, ..self.report }
    }

    /// Writes a report, unless a script does.
    fn write_part(
        &self,
        part: ReportPart,
        figures: &SysbenchFigures,
        text: impl FnOnce(&SysbenchReport) -> String,
    ) {
        let form = self.form();
        let hook = self.sessions.as_ref().and_then(|sessions| sessions.hook);
        // A document has all reports.
        if self.call.general.json || !hook.is_some_and(|hook| hook(part, &form, figures)) {
            self.call.log.text(Level::Notice, &text(&form));
        }
    }

    fn observe(&mut self, event: &RunEvent<'_>) {
        let log = self.call.log;
        match event {
            RunEvent::Released => self.announce_threads(),
            RunEvent::JobFailed { error, .. } if !self.has_failed => {
                self.has_failed = true;
                self.report_error(error);
            }
            // The reason is in the error of the job.
            RunEvent::Diagnostic(diagnostic) if diagnostic.code == "event-queue-full" => {}
            RunEvent::Diagnostic(diagnostic) => match diagnostic.severity {
                Severity::Error | Severity::Warning => log.line(Level::Warning, &diagnostic.message),
                Severity::Note => log.line(Level::Info, &diagnostic.message),
            },
            RunEvent::Interval { result, .. } => self.write_due_reports(result),
            // Requested by SIGUSR1.
            RunEvent::Interim(result) => {
                let figures = self.figures(result).since(&self.checkpoints.figures);
                log.text(Level::Notice, &self.form().text(&figures, None));
            }
            _ => {}
        }
    }

    /// Reports why a thread failed.
    fn report_error(&self, error: &JobError) {
        let log = self.call.log;
        match self.report.test {
            SysbenchTest::Memory { block, .. } => failure::show_memory(error, block, log),
            // The session has told why.
            _ if error.func == SESSION => {}
            _ => failure::show(error, log),
        }
    }

    /// Announces that the threads are about to start; once a run.
    fn announce_threads(&mut self) {
        let log = self.call.log;
        if std::mem::replace(&mut self.is_released, true) {
            return;
        }
        match &self.sessions {
            None => log.text(Level::Notice, INITIALIZING),
            Some(sessions) if sessions.failed.is_set() => return,
            Some(_) => {}
        }
        if log.shows(Level::Debug) {
            if self.report.has_rate {
                log.line(Level::Debug, "Event generating thread started");
            }
            for thread in 0..self.call.general.threads {
                log.line(Level::Debug, &format!("Worker thread (#{thread}) started"));
                log.line(Level::Debug, &format!("Worker thread (#{thread}) initialized"));
            }
        }
        log.text(Level::Notice, "Threads started!\n\n");
    }

    /// Writes the reports that are due now, and forces the shutdown if its time has come.
    fn write_due_reports(&mut self, result: &RunResult) {
        let general = self.call.general;
        let elapsed = result.elapsed.as_secs();
        let seconds = result.elapsed.as_secs_f64().round() as u64;
        let figures = self.figures(result);
        // The time that threads took to set up does not count.
        let ran = figures.total.saturating_add(START_TOLERANCE).as_secs();
        if general.forced_shutdown.is_some_and(|at| ran >= at) {
            self.force_shutdown(result, figures.clone());
        }
        let passed = general.report_interval.map_or(0, |interval| elapsed / interval);
        if passed > self.intervals.passed {
            let part = self.intervals.end(passed, &figures);
            self.write_part(ReportPart::Interval, &part, |form| form.interval(seconds, &part));
            self.intervals.documents.push(self.document_part(&part));
        }
        let reached = general.checkpoints.iter().filter(|&&at| at <= elapsed).count() as u64;
        if reached > self.checkpoints.passed {
            let part = self.checkpoints.end(reached, &figures);
            self.call.log.text(Level::Notice, &format!("[ {seconds}s ] Checkpoint report:\n"));
            self.write_part(ReportPart::Checkpoint, &part, |form| form.text(&part, None));
            self.checkpoints.documents.push(self.document_part(&part));
        }
    }

    fn document_part(&self, figures: &SysbenchFigures) -> SysbenchDocumentPart {
        SysbenchDocumentPart::of(self.form().test, figures, self.report.percentile)
    }

    /// Stops the program: time is up, and threads have not ended.
    fn force_shutdown(&mut self, result: &RunResult, mut figures: SysbenchFigures) {
        let log = self.call.log;
        log.refuse("The --max-time limit has expired, forcing shutdown...");
        let states = result.progress.iter().flat_map(|progress| &progress.jobs);
        let mut unfinished = 0;
        for (thread, job) in figures.threads.iter_mut().zip(states) {
            thread.is_unfinished = matches!(job.state, JobState::Running | JobState::Ramp);
            unfinished += usize::from(thread.is_unfinished);
        }
        self.write(&figures.since(&self.checkpoints.figures), None, Some(unfinished));
        let _ = log.finish();
        // Threads end only after their current event, which may take too long.
        exit(FORCED_SHUTDOWN_STATUS.into());
    }

    /// Writes the report of a run that has ended, and returns the exit status.
    fn finish(self, result: &RunResult) -> Result<u8, Refusal> {
        if self.sessions.as_ref().is_some_and(|sessions| sessions.failed.is_set()) {
            return Err(self.call.log.refuse("Thread initialization failed!"));
        }
        if let Some(error) = result.jobs.iter().find_map(|job| job.error.as_ref()) {
            if !self.has_failed {
                self.report_error(error);
            }
            return Err(Refusal);
        }
        self.call.log.text(Level::Info, "Done.\n\n");
        let figures = self.figures(result).since(&self.checkpoints.figures);
        self.write(&figures, result.signal, None);
        // 128 + signal, as shells report it.
        Ok(result.signal.and_then(|signal| u8::try_from(signal).ok()).map_or(0, |signal| 128 + signal))
    }

    fn write(&self, figures: &SysbenchFigures, signal: Option<i32>, unfinished: Option<usize>) {
        let TestInvocation { log, general, .. } = *self.call;
        if general.json {
            let document = SysbenchDocument {
                version: FORMAT_VERSION,
                ferrio: env!("CARGO_PKG_VERSION").to_owned(),
                test: self.call.name.to_owned(),
                settings: self.settings(),
                signal,
                unfinished,
                intervals: self.intervals.documents.clone(),
                checkpoints: self.checkpoints.documents.clone(),
                report: self.document_part(figures).with_histograms(figures),
                merged: Vec::new(),
            };
            return log.document(&document.to_json());
        }
        if general.histogram {
            let (title, rows) = self.report.histogram(figures);
            log.text(Level::Notice, title);
            log.always(&rows);
            if !rows.is_empty() {
                log.text(Level::Notice, " \n");
            }
        }
        self.write_part(ReportPart::Total, figures, |form| form.text(figures, unfinished));
        if general.debug {
            log.text(Level::Debug, &self.report.threads(figures));
        }
    }

    fn settings(&self) -> SysbenchSettings {
        let TestInvocation { line, options, of_script, general, .. } = *self.call;
        let given =
            |option: &SysbenchOption| Some((option.row().name.to_owned(), line.text(*option)?.to_owned()));
        SysbenchSettings {
            threads: general.threads,
            events: general.events,
            time: general.time,
            rate: general.rate,
            seed: general.seed,
            options: options.iter().filter_map(given).chain(of_script.iter().cloned()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_due_falls_on_an_interval() {
        assert_eq!([30, 60, 12].into_iter().reduce(greatest_common_divisor), Some(6));
    }
}
