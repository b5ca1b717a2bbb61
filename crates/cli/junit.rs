//! `--junit`: the jobs and thresholds of a run, here or on many hosts, as test cases, and the file that contains them.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use ferrio_job::Plan;
use ferrio_machine::RetryInterrupted;
use ferrio_report::{HostEntryOutcome, HostsReport, unique_names};
use ferrio_thresholds::Judgement;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::error::Error;
use crate::outcome::{RunOutcome, SIGNALLED, failure_of_job, failures_of_run};
use crate::output_file::OutputFile;

/// A JUnit file, which is written atomically.
pub struct JunitFile {
    name: String,
    file: OutputFile,
}

impl JunitFile {
    /// Begins the file. An existing file at the path stays as it is until [`write`](JunitFile::write).
    ///
    /// # Errors
    /// The existing file cannot be written, or its directory has no room for it.
    pub fn begin(name: &str) -> Result<Self, Error> {
        let file = OutputFile::begin(Path::new(name))
            .map_err(|error| Error::OpenOutput { name: name.to_owned(), error })?;
        Ok(JunitFile { name: name.to_owned(), file })
    }

    /// Writes the text and moves the file to its path.
    ///
    /// # Errors
    /// `text` is an error, or the file cannot be written.
    pub fn write(mut self, text: io::Result<String>) -> Result<(), Error> {
        let written = text.and_then(|text| RetryInterrupted(&mut self.file).write_all(text.as_bytes()));
        let kept = written.and_then(|()| self.file.keep());
        kept.map(drop).map_err(|error| Error::WriteOutput { name: self.name, error })
    }
}

/// The JUnit XML of a run: one test case per job, per failure of the whole run, and per threshold.
///
/// # Errors
/// The XML cannot be rendered.
pub fn junit_text(plan: &Plan, outcome: &RunOutcome) -> io::Result<String> {
    let RunOutcome { result, thresholds, .. } = outcome;
    let mut report = Report::new("ferrio");
    let mut jobs = TestSuite::new("jobs");
    jobs.set_time(result.elapsed);
    // Clones share a name, which services take for one case.
    let names = unique_names(plan.jobs.iter().map(|job| job.spec.name.as_str()));
    for (at, name) in names.into_iter().enumerate() {
        let status = match failure_of_job(plan, result, at) {
            Some(message) => failed(NonSuccessKind::Error, "job-failed", &message),
            None => TestCaseStatus::success(),
        };
        jobs.add_test_case(case("jobs", name, status));
    }
    if let Some(signal) = result.signal {
        let message = format!("signal {signal} ended the run before its jobs were done");
        jobs.add_test_case(case("run", "whole run", failed(NonSuccessKind::Error, "signal", &message)));
    }
    for (code, message) in failures_of_run(plan, outcome) {
        jobs.add_test_case(case("run", "whole run", failed(NonSuccessKind::Error, code, message)));
    }
    report.add_test_suite(jobs);
    add_thresholds(&mut report, thresholds);
    report.to_string().map_err(io::Error::other)
}

/// What became of a run on many hosts.
#[derive(Debug)]
pub struct HostsOutcome<'a> {
    pub report: &'a HostsReport,
    /// The exit status of the part of each host that has ended.
    pub statuses: &'a [Option<u8>],
    pub elapsed: Duration,
    pub has_lost_file: bool,
    pub thresholds: &'a [Judgement],
}

/// The JUnit XML of a run on many hosts: one test case per entry of each host, per host that has failed as a whole, and per threshold.
///
/// # Errors
/// The XML cannot be rendered.
pub fn junit_text_on_hosts(outcome: &HostsOutcome<'_>) -> io::Result<String> {
    let HostsOutcome { report: run, statuses, elapsed, has_lost_file, thresholds } = *outcome;
    let mut report = Report::new("ferrio");
    let outcomes = run.outcomes();
    for (at, (host, status)) in run.hosts.iter().zip(statuses).enumerate() {
        let name = host.name.as_str();
        let mut suite = TestSuite::new(format!("jobs on {name}"));
        suite.set_time(elapsed);
        let entries: Vec<&HostEntryOutcome> = outcomes.iter().filter(|entry| entry.host == at).collect();
        let names = unique_names(entries.iter().map(|entry| entry.jobname.as_str()));
        let mut has_failed = false;
        for (entry, jobname) in entries.iter().zip(names) {
            let status = match &entry.failure {
                Some(message) => failed(NonSuccessKind::Error, "job-failed", message),
                None => TestCaseStatus::success(),
            };
            has_failed |= entry.failure.is_some();
            suite.add_test_case(case(name, jobname, status));
        }
        let failed_jobs = status.map_or(0, |status| status % SIGNALLED);
        let of_host = match (&host.lost, status) {
            (Some(reason), _) => Some(("host-lost", format!("the host is lost: {reason}"))),
            (None, Some(status)) if *status >= SIGNALLED => {
                Some(("signal", "a signal ended the run before its jobs were done".to_owned()))
            }
            // A job that could not be set up has no figures.
            (None, _) if failed_jobs > 0 && !has_failed => {
                Some(("job-failed", format!("its part ended with status {failed_jobs}: stderr says why")))
            }
            _ => None,
        };
        if let Some((code, message)) = of_host {
            suite.add_test_case(case(name, "whole host", failed(NonSuccessKind::Error, code, &message)));
        }
        report.add_test_suite(suite);
    }
    if has_lost_file {
        let mut suite = TestSuite::new("run");
        let message = "a file of the run is missing or incomplete: stderr names it";
        suite.add_test_case(case("run", "whole run", failed(NonSuccessKind::Error, "lost-file", message)));
        report.add_test_suite(suite);
    }
    add_thresholds(&mut report, thresholds);
    report.to_string().map_err(io::Error::other)
}

fn add_thresholds(report: &mut Report, thresholds: &[Judgement]) {
    if !thresholds.is_empty() {
        let mut suite = TestSuite::new("thresholds");
        suite.add_test_cases(thresholds.iter().map(case_of_threshold));
        report.add_test_suite(suite);
    }
}

fn case_of_threshold(judgement: &Judgement) -> TestCase {
    let status = match &judgement.message {
        None => TestCaseStatus::success(),
        Some(message) if judgement.is_exceeded() => {
            failed(NonSuccessKind::Failure, "threshold-exceeded", message)
        }
        Some(message) => failed(NonSuccessKind::Error, "threshold-not-judged", message),
    };
    let mut case = case("thresholds", judgement.report.expression.as_str(), status);
    if let Some(worst) = &judgement.worst {
        case.set_system_out(worst.as_str());
    }
    case
}

fn case(class: &str, name: impl AsRef<str>, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name.as_ref(), status);
    case.set_classname(class);
    case
}

fn failed(kind: NonSuccessKind, code: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(code).set_message(message).set_description(message);
    status
}
