//! `ferrio compare`: checks whether reports of runs differ by more than noise.

use std::io;
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgMatches, Command, value_parser};
use ferrio_compare::{Comparison, MAX_CONFIDENCE, Side, compare, read_aggregates, read_side};
use ferrio_job::{Diagnostic, Origin, in_one_line};
use ferrio_jobfile::Sources;
use ferrio_machine::is_same_file;

use super::subcommand::{Invocation, flag, operand, option};
use crate::error::Error;
use crate::junit::JunitFile;
use crate::messages::print_text;

/// Help text after the options.
pub const LONG_HELP: &str = "\
Each argument is a JSON report of ferrio or fio, or a directory of reports of
the same jobs, one for each repetition (files that end with .json). Jobs are
matched by name. The first side is what the others are compared with.

A change is more than noise if the noise between the repetitions would cause
it in at most 5 % of comparisons (--confidence=95). Repeat each side at least
five times, in turn. A side of one run is judged by its figures over time, if
the report has them (--output-format=json+); that says nothing about other
runs. Percentiles of several runs are those of all their samples together if
the reports have histograms (--output-format=json+).

Documents of `ferrio sysbench --output-format=json` work like reports. With
--aggregate, those of a directory are of machines that ran a test together:
their rates add up, and percentiles are those of all events. A directory of
such directories has a repetition in each.

Exit status: 0 compared, 1 an error, 3 a figure is worse than
--fail-on-regression allows";

/// Exit status if a figure has become too much worse.
const REGRESSION: u8 = 3;

/// The clap definition of the sub-command.
pub fn command() -> Command {
    Command::new("compare").args([
        operand("sides", "REPORT|DIRECTORY", "What to compare: the first with each of the others")
            .num_args(2..=26)
            .required(true)
            .value_parser(value_parser!(PathBuf)),
        option("format", "FORMAT", "Format of the answer")
            .value_parser(["text", "markdown", "json"])
            .default_value("text"),
        flag("aggregate", "Documents of sysbench in one directory are of machines that ran a test together, and not repetitions"),
        option("confidence", "PERCENT", "Confidence of intervals and verdicts, 50 to 99.9")
            .value_parser(confidence)
            .default_value("95"),
        option("fail-on-regression", "PERCENT", "End with status 3 if a figure is worse by more than this, and by more than noise")
            .value_parser(percent),
        option("junit", "FILE", "Write the figures to FILE as test cases in JUnit XML; those that --fail-on-regression counts have failed")
            .value_parser(NonEmptyStringValueParser::new())
            .requires("fail-on-regression"),
    ])
}

fn confidence(text: &str) -> Result<f64, String> {
    let wrong = || format!("give a percentage from 50 to {MAX_CONFIDENCE}");
    let value = percent(text).map_err(|_| wrong())?;
    if (50.0..=MAX_CONFIDENCE).contains(&value) { Ok(value) } else { Err(wrong()) }
}

/// Parses a percentage such as `5` or `5%`.
fn percent(text: &str) -> Result<f64, String> {
    let value = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    value
        .filter(|value| value.is_finite() && *value >= 0.0)
        .ok_or_else(|| "give a percentage such as 5%".to_owned())
}

/// Compares the sides and prints the result.
///
/// # Errors
/// The arguments are invalid, or standard output cannot be written to.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.parsed_arguments()? else { return Ok(0) };
    let messages = *invocation.messages;
    let paths = arguments.get_many::<PathBuf>("sides").into_iter().flatten();
    let read: fn(&Path) -> _ = if arguments.get_flag("aggregate") { read_aggregates } else { read_side };
    let sides = paths.map(|path| read(path)).collect::<Result<Vec<_>, _>>();
    let sides = sides.map_err(|error| refusal(error.to_string(), None))?;
    let limit = arguments.get_one::<f64>("fail-on-regression").copied();
    if let Some(side) = sides.iter().find(|side| limit.is_some() && side.runs.len() < 2) {
        let message = format!(
            "--fail-on-regression needs at least two runs of {}: one says nothing about noise",
            side.name
        );
        return Err(refusal(message, Some("give directories with five or more reports each")));
    }
    let junit = arguments.get_one::<String>("junit");
    if let Some(input) = junit.and_then(|name| input_at(Path::new(name), &sides)) {
        let message = format!("the JUnit file would replace {}, which is compared", input.display());
        return Err(refusal(message, Some("write it to another file")));
    }
    if junit.is_some_and(|name| is_same_file(Path::new(name), Path::new("/dev/stdout"))) {
        let message = "the answer and the JUnit file would both go to standard output";
        return Err(refusal(message, Some("write the JUnit file to another file")));
    }
    let confidence = arguments.get_one::<f64>("confidence").copied().unwrap_or(95.0);
    let comparison = compare(&sides, confidence);
    if comparison.jobs.is_empty() {
        let message = "the reports have no job in common that did I/O";
        return Err(refusal(message, Some("jobs are matched by their names")));
    }
    let junit = junit.map(|name| JunitFile::begin(name)).transpose()?;
    let answer = answer(&arguments, &comparison);
    print_text(&answer)?;
    let Some(limit) = limit else { return Ok(0) };
    if let Some(junit) = junit {
        junit.write(ferrio_compare::junit(&comparison, limit).map_err(io::Error::other))?;
    }
    let worse = comparison.regressions(limit);
    let show = |text: String| {
        let error = Diagnostic::error(text, Origin::Builtin).code("compare");
        messages.show(&[error], &Sources::default());
    };
    for (job, row) in &worse {
        let changes = row.changes.iter().flatten();
        let by: Vec<String> = changes.map(|change| format!("{:+.1} %", change.percent)).collect();
        let message = format!(
            "{} of job {} ({}) is worse than --fail-on-regression={limit}% allows: {}",
            row.figure.name(),
            in_one_line(&job.jobname),
            job.direction,
            by.join(", ")
        );
        show(message);
    }
    comparison.lost.iter().for_each(|lost| show(comparison.describe_missing(lost)));
    comparison.newly_failed().for_each(|job| show(comparison.describe_failure(job)));
    let is_good =
        worse.is_empty() && comparison.lost.is_empty() && comparison.newly_failed().next().is_none();
    Ok(if is_good { 0 } else { REGRESSION })
}

/// Nothing is compared: the reason, and the remedy if there is one.
fn refusal(message: impl Into<String>, help: Option<&str>) -> Error {
    Error::refusal("compare", message, help)
}

/// The report at this path, if it is on one of the sides.
fn input_at<'a>(path: &Path, sides: &'a [Side]) -> Option<&'a PathBuf> {
    sides.iter().flat_map(|side| &side.runs).map(|run| &run.path).find(|input| is_same_file(path, input))
}

fn answer(arguments: &ArgMatches, comparison: &Comparison) -> String {
    match arguments.get_one::<String>("format").map(String::as_str) {
        Some("markdown") => ferrio_compare::markdown(comparison),
        Some("json") => ferrio_compare::json(comparison),
        _ => ferrio_compare::text(comparison),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_may_have_their_sign() {
        assert_eq!([percent("5"), percent("2.5%")], [Ok(5.0), Ok(2.5)]);
        assert!(percent("-1").is_err() && percent("x").is_err() && percent("inf").is_err());
        assert_eq!(confidence("99%"), Ok(99.0));
        assert!(confidence("100").is_err() && confidence("49").is_err());
    }
}
