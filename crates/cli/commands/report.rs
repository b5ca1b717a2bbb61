//! `ferrio report`: a page of HTML with the reports of one or more runs.

mod inputs;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Arg, Command, value_parser};
use ferrio_job::{Diagnostic, Origin};
use ferrio_jobfile::Sources;
use ferrio_report::{PageRun, page};

use super::subcommand::Invocation;
use crate::error::Error;
use crate::messages::print;
use crate::output_file::OutputFile;
use inputs::Refusal;

/// Help below the options.
pub const DETAILS: &str = "\
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
end, without a JSON report.";

/// Its command line.
pub fn command() -> Command {
    Command::new("report").args([
        Arg::new("reports")
            .value_name("REPORT|LOG|DIRECTORY")
            .num_args(1..)
            .required(true)
            .value_parser(value_parser!(PathBuf))
            .help("The runs of the page, in this order"),
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("The page, which replaces an existing file; - is standard output"),
    ])
}

/// Reads the reports and writes the page.
///
/// # Errors
/// The arguments are wrong, or the page cannot be written.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.parsed_arguments()? else { return Ok(0) };
    let messages = *invocation.messages;
    let refuse = |Refusal { message, help }| {
        let error = Diagnostic::error(message, Origin::Builtin).code("report");
        messages.show(&[Diagnostic { help: help.map(str::to_owned), ..error }], &Sources::default());
        Ok(1)
    };
    let Some(output) = arguments.get_one::<PathBuf>("output") else {
        let help = "name a file with -o page.html, or write to standard output with -o -";
        let message = "`ferrio report` needs a file for the page".to_owned();
        return refuse(Refusal { message, help: Some(help) });
    };
    let to_stdout = output == Path::new("-");
    let failed = |error| Error::OpenOutput { name: output.display().to_string(), error };
    let file = if to_stdout { None } else { Some(OutputFile::begin(output).map_err(failed)?) };
    let paths = arguments.get_many::<PathBuf>("reports").into_iter().flatten();
    let runs = match inputs::read(paths, (!to_stdout).then_some(output)) {
        Ok(runs) => runs,
        Err(refusal) => return refuse(refusal),
    };
    let runs =
        runs.iter().map(|run| PageRun { name: &run.name, report: &run.report, logged: run.logged.as_ref() });
    let page = page(&runs.collect::<Vec<_>>());
    let Some(mut file) = file else {
        return print(|out| out.write_all(page.as_bytes()).map(|()| true));
    };
    let written = file.write_all(page.as_bytes()).and_then(|()| file.keep());
    let failed = |error| Error::WriteOutput { name: output.display().to_string(), error };
    written.map(|_| 0).map_err(failed)
}
