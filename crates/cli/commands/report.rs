//! `ferrio report`: a page of HTML with the reports of one or more runs.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::{Arg, Command, value_parser};
use ferrio_compare::{ReadError, Run, read_side};
use ferrio_job::{Diagnostic, Origin};
use ferrio_jobfile::Sources;
use ferrio_machine::is_same_file;
use ferrio_report::{PageRun, page};

use super::subcommand::Invocation;
use crate::error::Error;
use crate::messages::print;
use crate::output_file::OutputFile;

/// Help below the options.
pub const DETAILS: &str = "\
Each REPORT is a JSON report of ferrio or fio; a DIRECTORY stands for all files
in it that end with .json. Each report is a run of the page, next to the others.

The page is one file that needs no network. Curves of latencies need reports
with histograms, and charts over time reports of ferrio with series: both are
in the format json+ (--output-format=json+).

`ferrio --output-format=html --output=page.html` makes the page of a run at its
end, without a JSON report.";

/// Its command line.
pub fn command() -> Command {
    Command::new("report").args([
        Arg::new("reports")
            .value_name("REPORT|DIRECTORY")
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

/// What to do about a file that is no report.
const NO_REPORT: &str =
    "give JSON reports of ferrio or fio (--output-format=json or json+), or directories of them";

/// Why there is no page, and what to do about it.
type Refusal = (String, Option<&'static str>);

/// Reads the reports and writes the page.
///
/// # Errors
/// The arguments are wrong, or the page cannot be written.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.parsed_arguments()? else { return Ok(0) };
    let messages = *invocation.messages;
    let refuse = |(text, help): Refusal| {
        let error = Diagnostic::error(text, Origin::Builtin).code("report");
        messages.show(&[Diagnostic { help: help.map(str::to_owned), ..error }], &Sources::default());
        Ok(1)
    };
    let Some(output) = arguments.get_one::<PathBuf>("output") else {
        let help = "name a file with -o page.html, or write to standard output with -o -";
        return refuse(("`ferrio report` needs a file for the page".to_owned(), Some(help)));
    };
    let to_stdout = output == Path::new("-");
    let failed = |error| Error::OpenOutput { name: output.display().to_string(), error };
    let file = if to_stdout { None } else { Some(OutputFile::begin(output).map_err(failed)?) };
    let paths = arguments.get_many::<PathBuf>("reports").into_iter().flatten();
    let runs = match read(paths, (!to_stdout).then_some(output)) {
        Ok(runs) => runs,
        Err(refusal) => return refuse(refusal),
    };
    let names: Vec<String> = runs.iter().map(|run| run.path.display().to_string()).collect();
    let named = names.iter().zip(&runs).map(|(name, run)| PageRun { name, report: &run.report });
    let page = page(&named.collect::<Vec<_>>());
    let Some(mut file) = file else {
        return print(|out| out.write_all(page.as_bytes()).map(|()| true));
    };
    let written = file.write_all(page.as_bytes()).and_then(|()| file.keep());
    let failed = |error| Error::WriteOutput { name: output.display().to_string(), error };
    written.map(|_| 0).map_err(failed)
}

/// All runs, in order.
fn read<'a>(paths: impl Iterator<Item = &'a PathBuf>, output: Option<&PathBuf>) -> Result<Vec<Run>, Refusal> {
    let mut runs = Vec::new();
    for path in paths {
        let side = read_side(path).map_err(|error| {
            let help = match error {
                ReadError::NoReport { .. } => Some(NO_REPORT),
                ReadError::Io { ref error, .. } if error.kind() == ErrorKind::InvalidData => Some(NO_REPORT),
                ReadError::Io { .. } | ReadError::Empty { .. } => None,
            };
            (error.to_string(), help)
        })?;
        runs.extend(side.runs);
    }
    match runs.iter().find(|run| output.is_some_and(|output| is_same_file(&run.path, output))) {
        Some(run) => {
            let message = format!("the page would replace the report {}", run.path.display());
            Err((message, Some("write the page to another file")))
        }
        None => Ok(runs),
    }
}
