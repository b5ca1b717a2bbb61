//! `ferrio report`: renders saved reports of one or more runs as an HTML page, or converts one to another format.

mod inputs;
mod sysbench;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::parser::ValueSource;
use clap::{ArgAction, Command, value_parser};
use ferrio_report::{Format, Formats, PageRun, RunReport, TerseVersion, page, rows};

use super::subcommand::{Invocation, operand, option};
use crate::error::Error;
use crate::messages::print_text;
use crate::option_values::{label, repeated_label};
use crate::options::ProgramOption;
use crate::output_file::OutputFile;
use inputs::PageInput;

/// Help text after the options.
pub const LONG_HELP: &str = "\
Each REPORT is a JSON report of ferrio or fio; a DIRECTORY stands for all files
in it that end with .json, or for its directories if it has none. Each report
is a run of the page, next to the others.

The page is one file that needs no network. Curves of latencies are exact with
histograms: in the format json+, of ferrio or fio. Without, they go through the
percentiles that the report lists. Charts over time need a report of ferrio in
the format json+, or logs.

A LOG is one of write_bw_log, write_iops_log, write_lat_log or write_hist_log,
of ferrio or fio (NAME_bw.1.log). Reports without series have charts over time
from their logs. Logs alone make a page as well.

`ferrio --output-format=html --output=page.html` makes the page of a run at its
end, without a JSON report.

Documents of `ferrio sysbench --output-format=json` become one report of several
machines that ran a test together: the text has a row for each of them, the sum
of their rates, and latencies of all events. --output-format=json prints it as a
document, which `ferrio report` and `ferrio compare` read.

--output-format=rows makes a table of comma-separated values of all reports, to
which --label adds columns. The benchmark formats are made from one report.
Without -o, all but the page go to standard output.";

/// The name of the option of a run that does the same.
const LABEL: &str = ProgramOption::Label.row().name;

/// The clap definition of the sub-command.
pub fn command() -> Command {
    Command::new("report").args([
        operand("reports", "REPORT|LOG|DIRECTORY", "The runs of the page, in this order")
            .num_args(1..)
            .required(true)
            .value_parser(value_parser!(PathBuf)),
        option("output", "FILE", "The page, which replaces an existing file; - is standard output")
            .short('o')
            .value_parser(value_parser!(PathBuf)),
        option("output-format", "FORMAT", "What to make of the reports")
            .short('F')
            .default_value(Format::Html.word())
            .value_parser(PossibleValuesParser::new(formats().chain(sysbench::FORMATS).map(Format::word))),
        option(
            LABEL,
            "KEY=VALUE",
            "Label the runs, in place of a label with this name that they have; may be repeated",
        )
        .action(ArgAction::Append)
        .value_parser(ValueParser::new(label)),
    ])
}

/// Reads the reports and writes the page.
///
/// # Errors
/// The arguments are invalid, or the page cannot be written.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.parsed_arguments()? else { return Ok(0) };
    let word = arguments.get_one::<String>("output-format").map(String::as_str);
    let format = word.and_then(Format::of_word).unwrap_or(Format::Html);
    let labels: Vec<(String, String)> = arguments.get_many(LABEL).unwrap_or_default().cloned().collect();
    if let Some(message) = repeated_label(&labels) {
        return Err(refusal(message, None));
    }
    if format != Format::Rows && !labels.is_empty() {
        let message = format!("the format {} has no labels", format.word());
        return Err(refusal(message, Some("--label adds columns to --output-format=rows")));
    }
    let paths: Vec<&PathBuf> = arguments.get_many("reports").into_iter().flatten().collect();
    if let Some(documents) = sysbench::documents(&paths)? {
        let format =
            (arguments.value_source("output-format") == Some(ValueSource::CommandLine)).then_some(format);
        let text = sysbench::aggregate(&documents, format)?;
        return sysbench::write(&text, arguments.get_one("output"), &documents);
    }
    if sysbench::FORMATS.contains(&format) {
        let message = format!("the format {} is for documents of `ferrio sysbench`", format.word());
        return Err(refusal(message, Some("a run writes it itself: `ferrio --output-format=json`")));
    }
    let standard_output = PathBuf::from("-");
    let output = match arguments.get_one::<PathBuf>("output") {
        Some(output) => output,
        None if format != Format::Html => &standard_output,
        None => {
            let help = "name a file with -o page.html, or write to standard output with -o -";
            return Err(refusal("`ferrio report` needs a file for the page", Some(help)));
        }
    };
    let to_stdout = output == Path::new("-");
    let failed = |error| Error::OpenOutput { name: output.display().to_string(), error };
    let file = if to_stdout { None } else { Some(OutputFile::begin(output).map_err(failed)?) };
    let mut runs = inputs::read(paths.into_iter(), (!to_stdout).then_some(output))?;
    runs.iter_mut().for_each(|run| run.report.set_labels(&labels));
    let text = render(&runs, format)?;
    let Some(mut file) = file else {
        return print_text(&text);
    };
    let written = file.write_all(text.as_bytes()).and_then(|()| file.keep());
    let failed = |error| Error::WriteOutput { name: output.display().to_string(), error };
    written.map(|_| 0).map_err(failed)
}

/// Nothing is made of the reports: the reason, and the remedy if there is one.
fn refusal(message: impl Into<String>, help: Option<&str>) -> Error {
    Error::refusal("report", message, help)
}

/// The formats that saved reports can be converted to.
fn formats() -> impl Iterator<Item = Format> {
    Format::WORDS.into_iter().filter_map(Format::of_word).filter(|format| format.is_made_from_documents())
}

/// Formats the runs.
fn render<'a>(runs: &'a [PageInput], format: Format) -> Result<String, Error> {
    if format == Format::Html {
        let run = |run: &'a PageInput| PageRun {
            name: &run.name,
            report: &run.report,
            logged: run.logged.as_ref(),
        };
        return Ok(page(&runs.iter().map(run).collect::<Vec<_>>()));
    }
    let refused =
        |why: &str, help: &str| Err(refusal(format!("the format {} {why}", format.word()), Some(help)));
    if runs.iter().any(|run| run.is_from_logs) {
        let why = "needs reports: logs have no figures of whole jobs";
        return refused(why, "give the JSON report of the run");
    }
    let reports: Vec<&RunReport> = runs.iter().map(|run| &run.report).collect();
    match reports.as_slice() {
        several if format == Format::Rows => Ok(rows(several)),
        [report] => Ok(report.in_formats(Formats::only(format), TerseVersion::default())),
        _ => refused("is made from one report", "give one report for each file of benchmarks"),
    }
}
