//! The settings that the program's own options make. Their table is in `options.rs`; `option_values.rs` reads their values. `outputs` has those
//! of the report, and `conflicts` the options that exclude each other.

mod conflicts;
mod outputs;

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command};
use ferrio_job::{Compat, Diagnostic};
use ferrio_jobfile::Reading;
use ferrio_metrics::MetricsAddress;
use ferrio_plan::PlanOptions;
use ferrio_report::{DebugOptions, Format, Formats, ReportOptions, TerseVersion};
use ferrio_runner::Trigger;
use ferrio_sweep::{Repetitions, TableFormat, Variable};
use ferrio_thresholds::Threshold;

use crate::arguments::Item;
use crate::option_values::{self, Eta, IdleProf, Intervals};
use crate::options::{
    ABORT_IF, FAIL_IF, JUNIT, LABEL, OPTIONS, ProgramOption, REPEAT, REPEAT_PAUSE, RESULTS, SECTION, SET,
    SHUFFLE_JOBS, SWEEP, SWEEP_SEED, Support, TUI, Takes,
};
use crate::profiles::Profile;
use conflicts::check_conflicts_of_tui;
use outputs::Outputs;

/// The version of fio whose behaviour and formats this program has.
pub const FIO_VERSION: &str = "fio-3.42";

/// Options whose repeated values add up; of all others the last value counts.
const REPEATED: [&str; 7] = ["debug", SECTION, FAIL_IF, ABORT_IF, LABEL, SET, SWEEP];

/// Columns of the help text.
const COLUMNS: usize = 80;

/// The settings on a command line: everything but its jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramSettings {
    /// File for the report instead of standard output.
    pub output: Option<String>,
    /// Another process is writing that file. Called `fio`, the program replaces it at the end then, so that it has one whole report.
    pub shares_output: bool,
    /// Formats of the report there; none if each has a file of its own.
    pub formats: Formats,
    /// Formats with a file of their own, and the file.
    pub files_of_formats: Vec<(Format, String)>,
    /// File for jobs and thresholds as test cases.
    pub junit: Option<String>,
    /// Several runs instead of one.
    pub sweep: Option<SweepSettings>,
    /// Compute percentiles from fio's histogram buckets.
    pub fio_bins: bool,
    /// Which fields terse lines have.
    pub terse_version: TerseVersion,
    /// The names of their fields precede terse lines.
    pub terse_header: bool,
    /// When to show the live line.
    pub eta: Eta,
    /// Start a new live line, and keep the old one, after this time.
    pub eta_newline: Option<Duration>,
    /// Time between updates of the live line.
    pub eta_interval: Duration,
    /// Show the live view.
    pub tui: bool,
    /// Measure CPU idleness, and how to report it.
    pub idle_prof: Option<IdleProf>,
    /// Log the bandwidth of all jobs together, in files with this prefix.
    pub bandwidth_log: Option<String>,
    /// Report each job's I/O in intervals.
    pub interval_report: Option<Intervals>,
    /// Serve metrics here.
    pub metrics: Option<MetricsAddress>,
    /// Report the results so far each time this has passed.
    pub status_interval: Option<Duration>,
    /// Limits that the figures must keep.
    pub thresholds: Vec<Threshold>,
    /// Those of them that end the run.
    pub aborting: Vec<Threshold>,
    /// Labels of the run, as names and values.
    pub labels: Vec<(String, String)>,
    /// Refuse jobs that write or trim.
    pub readonly: bool,
    /// Sections to run; all if empty.
    pub sections: Vec<String>,
    /// Treat warnings about jobs as errors.
    pub warnings_fatal: bool,
    /// Whose habits the program has.
    pub compat: Compat,
    /// How to read odd values of job options.
    pub strict: Reading,
    /// Directory of verify states; the current one if empty.
    pub aux_path: PathBuf,
    /// The built-in profile whose jobs run.
    pub profile: Option<Profile>,
    /// What ends the run from outside.
    pub trigger: Option<Trigger>,
    /// Classes of `--debug` to print.
    pub debug: DebugOptions,
    /// Notes about the options themselves.
    pub notes: Vec<Diagnostic>,
    /// What to do with the jobs.
    pub action: Action,
}

/// Several runs (`--repeat`, `--sweep`).
#[derive(Clone, Debug, PartialEq)]
pub struct SweepSettings {
    /// How often each point runs.
    pub repetitions: Repetitions,
    /// Time between two runs.
    pub pause: Duration,
    /// Swept options.
    pub variables: Vec<Variable>,
    /// Each section of the job files is a run of its own.
    pub shuffle_jobs: bool,
    /// The order of the runs.
    pub seed: Option<u64>,
    /// Directory of the reports.
    pub results: Option<PathBuf>,
    /// Format of the table.
    pub table: TableFormat,
}

/// What to do with the jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Run them.
    Run,
    /// Read them and run none.
    Parse,
    /// Print them as command lines.
    ShowCommands,
    /// Plan them, merging traces, and run none.
    MergeTraces,
    /// Print information; there are no jobs.
    Answer(Query),
}

/// Information that is printed without running jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// `--version`
    Version,
    /// `--cmdhelp`: all job options or one.
    Options(Option<String>),
    /// `--enghelp`: all engines, one (`libaio`), or an option of one (`libaio,nowait`).
    Engines(Option<String>),
    /// `--debug=help`
    DebugClasses,
    /// `--inflate-log`: the contents of this file.
    Log(PathBuf),
    /// `--crctest`: all functions or those in a list.
    Checksums(Option<String>),
    /// `--memcpytest`: all methods and lengths or those in a list.
    Copies(Option<String>),
    /// `--cpuclock-test`
    Clocks,
    /// `--idle-prof=calibrate`
    UnitWork,
}

/// Why the program's own options cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// `--help`
    #[error("help is requested")]
    Help,
    /// A value is wrong.
    #[error("{0}")]
    Value(Box<clap::Error>),
    /// An option that is not supported, and why.
    #[error("option --{0} is {1}")]
    Refused(&'static str, &'static str),
    /// `--profile` with a name that fio does not know either.
    #[error("profile '{0}' not found: the profiles are act and tiobench")]
    NoProfile(String),
    /// An option that excludes others, and why.
    #[error("{1}")]
    Conflict(&'static str, Cow<'static, str>),
    /// `--output-format` with a format that fio does not have, in a call as fio.
    #[error("invalid output format {0}: fio has no such format")]
    FormatOfFerrio(String),
    /// `--section=global`.
    #[error("can't use global as only section")]
    GlobalSection,
}

impl ProgramSettings {
    /// Reads the program options among `items`, in order.
    ///
    /// # Errors
    /// A wrong value, an option that is not implemented, options that exclude each other, or a request for help.
    pub fn read(items: &[Item], compat: Compat) -> Result<Self, SettingsError> {
        let program = Self::read_each(items, compat)?;
        if program.tui {
            check_conflicts_of_tui(items)?;
        }
        program.check_conflicts()?;
        program.check_sweep(items)?;
        let note = program.note_of_single_reports();
        Ok(ProgramSettings { notes: program.notes.into_iter().chain(note).collect(), ..program })
    }

    /// Reads the program options among `items` without checking them against each other.
    ///
    /// # Errors
    /// A wrong value, an option that is not implemented, or a request for help.
    pub fn read_each(items: &[Item], compat: Compat) -> Result<Self, SettingsError> {
        let mut notes = Vec::new();
        let typed = items.iter().filter_map(|item| match item {
            Item::Program { name, value: Some(value), .. } if compat == Compat::Fio => {
                let read = option_values::read_by_fio(name, value);
                if read.is_none() {
                    notes.push(ignored(name, value));
                }
                read.map(|value| format!("--{name}={value}"))
            }
            Item::Program { name, value: Some(value), .. } => Some(format!("--{name}={value}")),
            Item::Program { name, value: None, .. } => Some(format!("--{name}")),
            _ => None,
        });
        let arguments = std::iter::once("ferrio".to_owned()).chain(typed);
        let matches = command().try_get_matches_from(arguments).map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp => SettingsError::Help,
            _ => SettingsError::Value(Box::new(error)),
        })?;
        let action = action(&matches);
        if action != Action::Answer(Query::Version) {
            refuse_unsupported(&matches)?;
        }
        let sections = words(&matches, SECTION);
        if sections.iter().any(|name| name == "global") {
            return Err(SettingsError::GlobalSection);
        }
        let debug = DebugOptions::parse(&words(&matches, "debug"), compat);
        let debugging = !debug.notes().is_empty();
        // On a terminal the live line and debug messages would mix.
        let eta = if debugging { Eta::Never } else { Eta::Auto };
        let outputs = Outputs::of(items, compat)?;
        let formats = outputs.formats;
        let no_document = formats.has(Format::Normal) || given(&matches, "output");
        let (trigger, idle_trigger) = trigger(&matches, compat, no_document);
        notes.extend(idle_trigger);
        if debugging {
            notes.extend(without_effect(&matches));
        }
        Ok(ProgramSettings {
            output: outputs.file,
            shares_output: false,
            junit: matches.get_one(JUNIT).cloned(),
            sweep: sweep(&matches, items),
            formats,
            files_of_formats: outputs.files_of_formats,
            fio_bins: matches.get_flag("fio-bins"),
            terse_version: matches.get_one("terse-version").copied().unwrap_or_default(),
            terse_header: matches.get_flag("terse-header"),
            eta: matches.get_one("eta").copied().unwrap_or(eta),
            eta_newline: matches.get_one("eta-newline").copied(),
            status_interval: matches.get_one("status-interval").copied(),
            eta_interval: matches.get_one("eta-interval").copied().unwrap_or(Duration::from_secs(1)),
            tui: matches.get_flag(TUI),
            idle_prof: matches.get_one("idle-prof").copied(),
            bandwidth_log: bandwidth_log(&matches),
            interval_report: matches.get_one("interval-report").cloned(),
            thresholds: [FAIL_IF, ABORT_IF]
                .into_iter()
                .flat_map(|option| matches.get_many(option).unwrap_or_default().cloned())
                .collect(),
            aborting: matches.get_many(ABORT_IF).unwrap_or_default().cloned().collect(),
            labels: matches.get_many(LABEL).unwrap_or_default().cloned().collect(),
            metrics: matches.get_one("metrics").copied(),
            readonly: matches.get_flag("readonly"),
            sections,
            warnings_fatal: matches.get_flag("warnings-fatal"),
            compat,
            strict: matches.get_one("strict").copied().unwrap_or(match compat {
                Compat::Ferrio => Reading::Ferrio,
                Compat::Fio => Reading::Fio,
            }),
            aux_path: matches.get_one::<String>("aux-path").map(PathBuf::from).unwrap_or_default(),
            profile: profile(&matches)?,
            trigger,
            debug,
            notes,
            action,
        })
    }
}

impl ProgramSettings {
    /// How jobs are planned.
    #[must_use]
    pub fn plan_options(&self) -> PlanOptions {
        PlanOptions {
            readonly: self.readonly,
            warnings_fatal: self.warnings_fatal,
            compat: self.compat,
            describes_only: false,
            merges_only: matches!(self.action, Action::MergeTraces),
            server_patience: None,
        }
    }

    /// All formats of the report, wherever they go.
    #[must_use]
    pub fn all_formats(&self) -> Formats {
        self.files_of_formats.iter().fold(self.formats, |formats, (format, _)| formats.with(*format))
    }

    /// True if the document has what jobs and devices did over time.
    #[must_use]
    pub fn has_series(&self) -> bool {
        self.compat == Compat::Ferrio && self.all_formats().have_details()
    }

    /// How reports are made.
    #[must_use]
    pub fn report_options(&self) -> ReportOptions {
        ReportOptions {
            // All outputs have the same percentiles.
            fio_bins: self.fio_bins || self.all_formats().have_details(),
            each_cpu: self.idle_prof == Some(IdleProf::EachCpu),
            compat: self.compat,
            labels: self.labels.clone(),
            terse_header: self.terse_header,
            asked_percentiles: self.thresholds.iter().filter_map(Threshold::percentile).collect(),
            ..ReportOptions::new(self.formats, self.terse_version, FIO_VERSION)
        }
    }
}

/// Several runs, if there are to be several. The values are already checked.
fn sweep(matches: &ArgMatches, items: &[Item]) -> Option<SweepSettings> {
    let variables: Vec<Variable> = matches.get_many(SWEEP).unwrap_or_default().cloned().collect();
    let repetitions = matches.get_one::<Repetitions>(REPEAT).copied();
    if repetitions.is_none() && variables.is_empty() {
        return None;
    }
    let table = items.iter().rev().find_map(|item| match item {
        Item::Program { name, value: Some(value), .. } if *name == "output-format" => {
            Some(option_values::table_format(value))
        }
        _ => None,
    });
    Some(SweepSettings {
        repetitions: repetitions.unwrap_or(Repetitions::Count(1)),
        pause: matches.get_one(REPEAT_PAUSE).copied().unwrap_or_default(),
        variables,
        shuffle_jobs: matches.get_flag(SHUFFLE_JOBS),
        seed: matches.get_one(SWEEP_SEED).copied(),
        results: matches.get_one::<String>(RESULTS).map(PathBuf::from),
        table: table.flatten().unwrap_or_default(),
    })
}

/// The command line for clap: the program's own options without those of jobs.
#[must_use]
pub fn command() -> Command {
    Command::new("ferrio")
        .about("Measures I/O: runs fio's job files and prints fio's reports")
        .override_usage(concat!(
            "ferrio [OPTIONS] [JOB OPTIONS] [JOB FILES]...\n       ",
            "ferrio COMMAND [ARGUMENTS]..."
        ))
        .disable_help_flag(true)
        .term_width(COLUMNS)
        .args_override_self(true)
        .args(OPTIONS.iter().map(argument))
}

/// An option of the program as an argument of clap.
pub fn argument(option: &ProgramOption) -> Arg {
    let argument = Arg::new(option.name).long(option.name).help(option.full_help());
    let argument = argument.help_heading(option.heading);
    let argument = match option.letter {
        Some(letter) => argument.short(letter),
        None => argument,
    };
    match (option.name, option.takes) {
        ("help", _) => argument.action(ArgAction::Help),
        (_, Takes::Nothing) => argument.action(ArgAction::SetTrue),
        (name, takes) => {
            let argument = argument
                .value_name(option.value)
                .value_parser(option_values::parser(name))
                .hide_possible_values(true);
            let argument =
                if REPEATED.contains(&name) { argument.action(ArgAction::Append) } else { argument };
            match takes {
                Takes::Optional => argument.num_args(0..=1).require_equals(true),
                _ => argument.num_args(1),
            }
        }
    }
}

fn given(matches: &ArgMatches, name: &str) -> bool {
    matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine)
}

fn words(matches: &ArgMatches, name: &str) -> Vec<String> {
    matches.get_many(name).unwrap_or_default().cloned().collect()
}

/// Refuses unsupported options. It runs after their values are read, so that a wrong value is reported first.
fn refuse_unsupported(matches: &ArgMatches) -> Result<(), SettingsError> {
    for option in OPTIONS.iter().filter(|option| given(matches, option.name)) {
        if let Support::Refused(why) = option.support {
            return Err(SettingsError::Refused(option.name, why));
        }
    }
    Ok(())
}

fn profile(matches: &ArgMatches) -> Result<Option<Profile>, SettingsError> {
    let Some(name) = matches.get_one::<String>("profile") else { return Ok(None) };
    Profile::named(name).map(Some).ok_or_else(|| SettingsError::NoProfile(name.clone()))
}

/// Notes on options that have no effect.
fn without_effect(matches: &ArgMatches) -> impl Iterator<Item = Diagnostic> {
    OPTIONS.iter().filter(|option| given(matches, option.name)).filter_map(|option| match option.support {
        Support::NoEffect(why) => {
            let message = format!("--{} has no effect: {why}", option.name);
            Some(Diagnostic::note(message).code("no-effect"))
        }
        _ => None,
    })
}

/// The prefix of the logs of all jobs together.
fn bandwidth_log(matches: &ArgMatches) -> Option<String> {
    let prefix: Option<String> = matches.get_one("bandwidth-log").cloned();
    given(matches, "bandwidth-log").then(|| match prefix {
        Some(prefix) if !prefix.is_empty() => prefix,
        _ => "agg".to_owned(),
    })
}

/// The note about a value that fio ignores.
fn ignored(name: &str, value: &str) -> Diagnostic {
    Diagnostic::note(format!("--{name}={value} has no effect: fio ignores this value")).code("no-effect")
}

/// The trigger, and a note if it can never fire. There is `no_document` on standard output if the report is a text or in a file.
fn trigger(matches: &ArgMatches, compat: Compat, no_document: bool) -> (Option<Trigger>, Option<Diagnostic>) {
    let command: Option<String> = matches.get_one("trigger").cloned();
    let file = matches.get_one::<String>("trigger-file").map(PathBuf::from);
    let timeout = matches.get_one("trigger-timeout").copied().filter(|time| *time != Duration::ZERO);
    if file.is_none() && timeout.is_none() {
        let message = "--trigger never runs without --trigger-file or --trigger-timeout";
        return (None, command.map(|_| Diagnostic::note(message).code("no-effect")));
    }
    let saves_all_states = compat == Compat::Fio;
    // As in fio, but never beside a document.
    let writes_to_stdout = compat == Compat::Fio && no_document;
    (Some(Trigger { file, timeout, command, writes_to_stdout, saves_all_states }), None)
}

fn action(matches: &ArgMatches) -> Action {
    if let Some(query) = query(matches) {
        Action::Answer(query)
    } else if matches.get_flag("showcmd") {
        Action::ShowCommands
    } else if matches.get_flag("parse-only") {
        Action::Parse
    } else if matches.get_flag("merge-blktrace-only") {
        Action::MergeTraces
    } else {
        Action::Run
    }
}

fn query(matches: &ArgMatches) -> Option<Query> {
    let text = |name: &str| matches.get_one::<String>(name).filter(|text| !text.is_empty()).cloned();
    if matches.get_flag("version") {
        Some(Query::Version)
    } else if given(matches, "cmdhelp") {
        Some(Query::Options(text("cmdhelp")))
    } else if given(matches, "enghelp") {
        Some(Query::Engines(text("enghelp")))
    } else if words(matches, "debug")
        .iter()
        .flat_map(|list| list.split(','))
        .any(|word| word == "help" || word == "?")
    {
        Some(Query::DebugClasses)
    } else if let Some(file) = matches.get_one::<String>("inflate-log") {
        Some(Query::Log(PathBuf::from(file)))
    } else if given(matches, "crctest") {
        Some(Query::Checksums(text("crctest")))
    } else if given(matches, "memcpytest") {
        Some(Query::Copies(text("memcpytest")))
    } else if matches.get_flag("cpuclock-test") {
        Some(Query::Clocks)
    } else if matches.get_one("idle-prof") == Some(&IdleProf::Calibrate) {
        Some(Query::UnitWork)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
