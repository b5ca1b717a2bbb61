//! `--junit`: the jobs and thresholds of a run as test cases, and the file that contains them.

use std::io::{self, Write as _};
use std::path::Path;

use ferrio_job::Plan;
use ferrio_machine::RetryInterrupted;
use ferrio_report::unique_names;
use ferrio_thresholds::Judgement;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::error::Error;
use crate::outcome::{RunOutcome, failure_of_job, failures_of_run};
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
    if !thresholds.is_empty() {
        let mut suite = TestSuite::new("thresholds");
        suite.add_test_cases(thresholds.iter().map(case_of_threshold));
        report.add_test_suite(suite);
    }
    report.to_string().map_err(io::Error::other)
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
