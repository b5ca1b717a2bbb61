//! `ferrio quick`: a disk in about a minute, as one table.

mod marks;
mod preset;
mod table;
mod target;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgMatches, Command, value_parser};
use ferrio_job::{Compat, reason};
use ferrio_jobfile::Builder;
use ferrio_machine::write_whole;
use ferrio_report::model::{DeviceReport, RunReport};
use ferrio_report::{Format, Formats, TerseVersion};
use ferrio_stats::ClockReading;

use super::subcommand::{Invocation, flag, operand, option};
use crate::error::Error;
use crate::messages::{Messages, print_text};
use crate::option_values::{size, time_of_at_least};
use crate::output_file::OutputFile;
use crate::planned_run::PlannedRun;
use crate::reported_run::run_and_report;
use crate::settings::ReportDestination;
use crate::{diagnose, job_files, outcome};
use preset::{MeasurementTarget, NAMES, Preset};

/// Help below the options.
pub const LONG_HELP: &str = "\
In a directory, a new file of 1 GiB is written, measured and removed. A block
device is only read, unless --destroy allows writes, which destroy what is on
it. I/O bypasses the page cache where the file system can do that; if not, the
answer says so.

The presets are job files: --print shows the one that would run, to be changed
and run with `ferrio FILE`.
  disk      streams, small random I/Os with 1 and 32 in flight, fsync
  database  pages of 8 KiB, a log with a sync after each write, a scan
  cloud     deep queues as in the limits of cloud volumes, latency, fsync
  boot      what starting a system and its programs reads
  diskmark  the table of CrystalDiskMark: the best of five runs, in MB/s

Percentiles are those of the completion latency; `-` where there are too few
I/Os for them.";

/// Shortest time of a job.
const MIN_RUNTIME: Duration = Duration::from_millis(100);

/// The clap definition of the sub-command.
pub fn command() -> Command {
    Command::new("quick").args([
        operand("place", "DIRECTORY|DEVICE", "What to measure")
            .required(true)
            .value_parser(value_parser!(PathBuf)),
        option("profile", "NAME", "The preset")
            .value_parser(clap::builder::PossibleValuesParser::new(NAMES))
            .default_value(NAMES[0]),
        flag("destroy", "Write to the device: what is on it is lost"),
        option("size", "SIZE", "Size of the file, or of the part of a device that is used")
            .value_parser(size),
        option("runtime", "TIME", "Time of each run of a test; the default is 6s, and 5s with diskmark")
            .value_parser(|text: &str| time_of_at_least(text, MIN_RUNTIME)),
        option("format", "FORMAT", "Format of the answer; json is the complete report")
            .value_parser(["text", "markdown", "json"])
            .default_value("text"),
        option("save", "FILE", "Write the complete report to FILE too, for `ferrio compare`")
            .value_parser(value_parser!(PathBuf)),
        flag("print", "Print the job file; run nothing").conflicts_with_all(["save", "format"]),
    ])
}

/// Measures and prints the answer.
///
/// # Errors
/// The arguments are wrong, or standard output cannot be written to.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.parsed_arguments()? else { return Ok(0) };
    quick(&arguments, *invocation.messages)
}

/// Nothing is measured: the reason and the remedy.
fn refusal(message: impl Into<String>, help: impl AsRef<str>) -> Error {
    Error::refusal("quick", message, Some(help.as_ref()))
}

/// Makes the answer of a report, below lines of heading.
type Table = fn(&RunReport, &[String]) -> String;

/// The format of the complete report.
const COMPLETE: Formats = Formats::only(Format::JsonPlus);

/// Runs the jobs. Returns the report and the exit status.
fn measure(preset: &Preset, jobs: &str, messages: Messages) -> Result<(RunReport, u8), Error> {
    // Reading and planning the jobs takes about as long as the calibration.
    let calibration = ClockReading::now();
    let mut settings = diagnose::settings(&[], Compat::Ferrio)?;
    (settings.formats, settings.output) = (COMPLETE, ReportDestination::Caller);
    let mut builder = Builder::new(job_files::environment());
    builder.file(preset.file, jobs.as_bytes());
    let set = builder.finish().map_err(Error::Problems)?;
    let mut plan = ferrio_plan::plan(&set, &settings.plan_options()).map_err(Error::Problems)?;
    plan.diagnostics.splice(..0, set.warnings.iter().cloned());
    let run = PlannedRun::new(plan, set.sources, settings, messages, calibration);
    let plan = run.plan;
    let outcome = run_and_report(run, None)?;
    let status = outcome.as_ref().map_or(0, |outcome| outcome::status(plan, outcome));
    Ok((outcome.map(|outcome| outcome.report).unwrap_or_default(), status))
}

fn quick(arguments: &ArgMatches, messages: Messages) -> Result<u8, Error> {
    let place = arguments.get_one::<PathBuf>("place").map_or(Path::new(""), PathBuf::as_path);
    let name = arguments.get_one::<String>("profile").map_or(NAMES[0], String::as_str);
    let preset = Preset::named(name).unwrap_or(&preset::PRESETS[0]);
    let (measured, own_file) =
        target::measurement_target(place, arguments.get_one("size").copied(), arguments.get_flag("destroy"))?;
    let measured = MeasurementTarget { runtime: arguments.get_one("runtime").copied(), ..measured };
    let jobs = preset.job_file(&measured);
    if arguments.get_flag("print") {
        print_text(&jobs)?;
        return Ok(0);
    }
    // Whether it can be written must be known before a minute of work.
    let save = arguments.get_one::<PathBuf>("save").map(|file| {
        let cannot_write = move |error: io::Error| cannot(&format!("write {}", file.display()), &error);
        OutputFile::begin(file).map(|begun| (begun, cannot_write)).map_err(cannot_write)
    });
    let save = save.transpose()?;
    let (report, status) = measure(preset, &jobs, messages)?;
    drop(own_file);
    let json = report.in_formats(COMPLETE, TerseVersion::default());
    let saved = save.map(|(mut file, cannot_write)| {
        let written = write_whole(&mut file, json.as_bytes()).and_then(|()| file.keep());
        written.map_err(cannot_write)
    });
    let answer = match arguments.get_one::<String>("format").map(String::as_str) {
        Some("json") => json,
        format => {
            let (text, markdown): (Table, Table) = match preset.repetitions {
                1 => (table::text, table::markdown),
                _ => (marks::text, marks::markdown),
            };
            let table = if format == Some("markdown") { markdown } else { text };
            table(&report, &heading(place, &measured, &report))
        }
    };
    print_text(&answer)?;
    // Whatever became of the file, the figures are there.
    saved.transpose()?;
    Ok(status)
}

fn cannot(what: &str, error: &io::Error) -> Error {
    refusal(format!("cannot {what}: {}", reason(error)), "choose another place, or make room")
}

/// The lines above the answer: the place, the kind of I/O, and the host.
fn heading(place: &Path, measured: &MeasurementTarget, report: &RunReport) -> Vec<String> {
    let ferrio = report.ferrio.as_ref();
    let target = ferrio.and_then(|ferrio| ferrio.targets.first());
    let mut what = place.display().to_string();
    if let Some(file_system) = target.and_then(|target| target.file_system.as_ref()) {
        what.push_str(&format!(": {file_system}"));
    }
    if let Some(DeviceReport { device, model, .. }) = target.and_then(|target| target.device.as_ref()) {
        let model = model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
        what.push_str(&format!(" on {device}{model}"));
    }
    let size = match measured.size {
        Some(size) if measured.is_own => format!("a file of {} MiB", size >> 20),
        Some(size) => format!("the first {} MiB", size >> 20),
        None => "the whole device".to_owned(),
    };
    let how = match measured.direct {
        true => "direct I/O",
        false => "through the page cache: direct I/O is not possible here, so memory is measured too",
    };
    let mut lines = vec![what, format!("{size}, {how}")];
    if !measured.writes {
        lines.push("reads only: writes need --destroy, which destroys what is on the device".to_owned());
    }
    if let Some(ferrio) = ferrio {
        let host = &ferrio.host;
        let facts = [host.kernel.as_ref().map(|kernel| format!("Linux {kernel}")), host.cpu_model.clone()];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        lines.push(format!("ferrio {}, {}", ferrio.version, facts.join(", ")));
    }
    lines
}
