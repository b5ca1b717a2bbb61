//! A comparison as a JUnit file: one suite per side after the first, with one case per figure, per missing part, and per job that fails on
//! that side alone.

use ferrio_job::in_one_line;
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::change::{FigureRow, JobRows};
use crate::comparison::Comparison;

/// The comparison as JUnit XML. A figure that became worse by more than `percent` and by more than noise is a failure.
///
/// # Errors
/// The document cannot be written.
pub fn junit(comparison: &Comparison, percent: f64) -> Result<String, SerializeError> {
    let mut report = Report::new("ferrio compare");
    for (at, side) in comparison.sides.iter().enumerate().skip(1) {
        let mut suite = TestSuite::new(format!("{} against {}", side.name, comparison.sides[0].name));
        for job in &comparison.jobs {
            let cases = job.figures.iter().map(|row| case_of_figure(job, row, at, percent));
            suite.add_test_cases(cases);
        }
        for lost in comparison.lost.iter().filter(|lost| lost.side == at) {
            suite.add_test_case(failed("missing", &lost.name, &comparison.describe_missing(lost)));
        }
        for job in comparison.newly_failed().filter(|job| job.side == at) {
            suite.add_test_case(failed("failed jobs", &job.jobname, &comparison.describe_failure(job)));
        }
        report.add_test_suite(suite);
    }
    report.to_string()
}

/// The case of a figure on the side at index `side`, which is not 0.
fn case_of_figure(job: &JobRows, row: &FigureRow, side: usize, percent: f64) -> TestCase {
    let class = format!("{} ({})", job.jobname, job.direction);
    let name = row.figure.name();
    let change = row.changes[side - 1];
    let by = change
        .map_or_else(|| "no change in percent".to_owned(), |change| format!("{:+.1} %", change.percent));
    let interval = change.and_then(|change| change.interval);
    let interval =
        interval.map(|[low, high]| format!(", interval {low:+.1} to {high:+.1} %")).unwrap_or_default();
    let values =
        format!("{} -> {} ({by}{interval})", row.unit.text(row.values[0]), row.unit.text(row.values[side]));
    let mut case = match change.filter(|change| change.is_regression(row.figure, percent)) {
        Some(_) => {
            let job = format!("{} ({})", in_one_line(&job.jobname), job.direction);
            failed(
                &class,
                &name,
                &format!(
                    "{name} of job {job} is worse than --fail-on-regression={percent}% allows: {values}"
                ),
            )
        }
        None => case(&class, &name, TestCaseStatus::success()),
    };
    case.set_system_out(values);
    case
}

fn case(class: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class);
    case
}

fn failed(class: &str, name: &str, message: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type("regression").set_message(message).set_description(message);
    case(class, name, status)
}
