//! The settings that the program's own options make. Their table is in `options`; `option_values.rs` reads their values. `outputs` has those
//! of the report, and `conflicts` the options that exclude each other.

mod action;
mod conflicts;
mod given;
mod hosts;
mod outputs;

use std::path::PathBuf;
use std::time::Duration;

use clap::Command;
use clap::error::ErrorKind;
use ferrio_job::{Compat, Diagnostic};
use ferrio_jobfile::Dialect;
use ferrio_metrics::MetricsAddress;
use ferrio_plan::PlanOptions;
use ferrio_report::{DebugOptions, Format, Formats, ReportOptions, TerseVersion};
use ferrio_runner::{Trigger, TriggerSwitch};
use ferrio_sweep::{Repetitions, SweepVariable, TableFormat};
use ferrio_thresholds::Threshold;

use crate::arguments::Item;
use crate::option_values::{Eta, IdleProf, Intervals, OutputFormat};
use crate::options::{OPTIONS, OptionConflict, ProgramOption, ProgramOptionRow, Support};
use crate::profiles::Profile;
use action::action;
use given::GivenOptions;
use outputs::Outputs;

pub use action::{Action, Query};
pub use hosts::{HostSettings, RankSettings};
pub use outputs::ReportDestination;

/// The version of fio whose behaviour and formats this program has.
pub const FIO_VERSION: &str = "fio-3.42";

/// Columns of the help text.
const COLUMNS: usize = 80;

/// The settings on a command line: everything but its jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramSettings {
    given: GivenOptions,
    /// Where the report goes.
    pub output: ReportDestination,
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
    /// Which fields terse lines have.
    pub terse_version: TerseVersion,
    /// When to show the live line.
    pub eta: Eta,
    /// Start a new live line, and keep the old one, after this time.
    pub eta_newline: Option<Duration>,
    /// Time between updates of the live line.
    pub eta_interval: Duration,
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
    /// The hosts that the jobs run on, if not here.
    pub hosts: Option<HostSettings>,
    /// What the command line says about ranks of a launcher.
    pub ranks: RankSettings,
    /// Labels of the run, as names and values.
    pub labels: Vec<(String, String)>,
    /// Sections to run; all if empty.
    pub sections: Vec<String>,
    /// Whether the program behaves as ferrio or as fio.
    pub compat: Compat,
    /// How to read odd values of job options.
    pub strict: Dialect,
    /// Directory of verify states; the current one if empty.
    pub aux_path: PathBuf,
    /// The built-in profile whose jobs run.
    pub profile: Option<Profile>,
    /// Ends the run when a file appears or after a time.
    pub trigger: Option<Trigger>,
    /// Classes of `--debug` to print.
    pub debug: DebugOptions,
    /// Notes about the options themselves.
    pub notes: Vec<Diagnostic>,
    /// Whether jobs run, are printed or are not needed.
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
    pub variables: Vec<SweepVariable>,
    /// Each section of the job files is a run of its own.
    pub shuffle_jobs: bool,
    /// The order of the runs.
    pub seed: Option<u64>,
    /// Directory of the reports.
    pub results: Option<PathBuf>,
    /// Format of the table.
    pub table: TableFormat,
}

/// A reason why the program's own options cannot be used.
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
    Refused(ProgramOption, &'static str),
    /// `--profile` with a name that fio does not know either.
    #[error("profile '{0}' not found: the profiles are act and tiobench")]
    NoProfile(String),
    /// Options that cannot be used together.
    #[error("{}", .0.message)]
    Conflict(OptionConflict),
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
        let mut settings = Self::read_each(items, compat)?;
        settings.check_conflicts()?;
        settings.notes.extend(settings.note_of_single_reports());
        Ok(settings)
    }

    /// Reads the program options among `items` without checking them against each other.
    ///
    /// # Errors
    /// A wrong value, an option that is not implemented, or a request for help.
    pub fn read_each(items: &[Item], compat: Compat) -> Result<Self, SettingsError> {
        let mut notes = Vec::new();
        let typed = items.iter().filter_map(|item| match item {
            Item::Program { option, value: Some(value), .. } if compat == Compat::Fio => {
                let read = (option.row().value_in_fio)(value);
                if read.is_none() {
                    notes.push(ignored(*option, value));
                }
                read.map(|value| format!("--{option}={value}"))
            }
            Item::Program { option, value: Some(value), .. } => Some(format!("--{option}={value}")),
            Item::Program { option, value: None, .. } => Some(format!("--{option}")),
            _ => None,
        });
        let given = GivenOptions::read(typed).map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp => SettingsError::Help,
            _ => SettingsError::Value(Box::new(error)),
        })?;
        let action = action(&given);
        if action != Action::Answer(Query::Version) {
            refuse_unsupported(&given)?;
        }
        let sections: Vec<String> = given.values(ProgramOption::Section);
        if sections.iter().any(|name| name == "global") {
            return Err(SettingsError::GlobalSection);
        }
        let debug = DebugOptions::parse(&given.values::<String>(ProgramOption::Debug), compat);
        let debugging = !debug.notes().is_empty();
        // On a terminal the live line and debug messages would mix.
        let eta = if debugging { Eta::Never } else { Eta::Auto };
        let outputs = Outputs::of(items, compat)?;
        let formats = outputs.formats;
        let no_document = formats.has(Format::Normal) || given.has(ProgramOption::Output);
        let (trigger, idle_trigger) = trigger(&given, compat, no_document);
        notes.extend(idle_trigger);
        if debugging {
            notes.extend(without_effect(&given));
        }
        Ok(ProgramSettings {
            output: outputs.destination,
            shares_output: false,
            junit: given.value(ProgramOption::Junit),
            sweep: sweep(&given),
            hosts: HostSettings::of(&given),
            ranks: RankSettings::of(&given),
            formats,
            files_of_formats: outputs.files_of_formats,
            terse_version: given.value(ProgramOption::TerseVersion).unwrap_or_default(),
            eta: given.value(ProgramOption::Eta).unwrap_or(eta),
            eta_newline: given.value(ProgramOption::EtaNewline),
            status_interval: given.value(ProgramOption::StatusInterval),
            eta_interval: given.value(ProgramOption::EtaInterval).unwrap_or(Duration::from_secs(1)),
            idle_prof: given.value(ProgramOption::IdleProf),
            bandwidth_log: bandwidth_log(&given),
            interval_report: given.value(ProgramOption::IntervalReport),
            thresholds: [ProgramOption::FailIf, ProgramOption::AbortIf]
                .into_iter()
                .flat_map(|option| given.values(option))
                .collect(),
            aborting: given.values(ProgramOption::AbortIf),
            labels: given.values(ProgramOption::Label),
            metrics: given.value(ProgramOption::Metrics),
            sections,
            compat,
            strict: match given.value(ProgramOption::Strict).unwrap_or(compat) {
                Compat::Ferrio => Dialect::Ferrio,
                Compat::Fio => Dialect::Fio,
            },
            aux_path: given.value::<String>(ProgramOption::AuxPath).map(PathBuf::from).unwrap_or_default(),
            profile: profile(&given)?,
            trigger,
            debug,
            notes,
            action,
            given,
        })
    }

    /// True if the option is given: what a flag asks for is done where this is true.
    #[must_use]
    pub fn has(&self, option: ProgramOption) -> bool {
        self.given.has(option)
    }
}

impl ProgramSettings {
    /// How jobs are planned.
    #[must_use]
    pub fn plan_options(&self) -> PlanOptions {
        PlanOptions {
            readonly: self.has(ProgramOption::Readonly),
            warnings_fatal: self.has(ProgramOption::WarningsFatal),
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
            fio_bins: self.has(ProgramOption::FioBins) || self.all_formats().have_details(),
            per_cpu: self.idle_prof == Some(IdleProf::EachCpu),
            compat: self.compat,
            labels: self.labels.clone(),
            terse_header: self.has(ProgramOption::TerseHeader),
            requested_percentiles: self.thresholds.iter().filter_map(Threshold::percentile).collect(),
            ..ReportOptions::new(self.formats, self.terse_version, FIO_VERSION)
        }
    }
}

/// Several runs, if there are to be several. The values are already checked.
fn sweep(given: &GivenOptions) -> Option<SweepSettings> {
    let variables: Vec<SweepVariable> = given.values(ProgramOption::Sweep);
    let repetitions: Option<Repetitions> = given.value(ProgramOption::Repeat);
    if repetitions.is_none() && variables.is_empty() {
        return None;
    }
    let format: Option<OutputFormat> = given.value(ProgramOption::OutputFormat);
    Some(SweepSettings {
        repetitions: repetitions.unwrap_or(Repetitions::Count(1)),
        pause: given.value(ProgramOption::RepeatPause).unwrap_or_default(),
        variables,
        shuffle_jobs: given.has(ProgramOption::ShuffleJobs),
        seed: given.value(ProgramOption::SweepSeed),
        results: given.value::<String>(ProgramOption::Results).map(PathBuf::from),
        table: format.and_then(|format| format.table).unwrap_or_default(),
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
        .args(OPTIONS.iter().map(ProgramOptionRow::argument))
}

/// Refuses unsupported options. It runs after their values are read, so that a wrong value is reported first.
fn refuse_unsupported(given: &GivenOptions) -> Result<(), SettingsError> {
    let refused = given.rows().find_map(|row| match row.support {
        Support::Refused(why) | Support::OnlyRuns(why) => Some(SettingsError::Refused(row.option, why)),
        _ => None,
    });
    refused.map_or(Ok(()), Err)
}

fn profile(given: &GivenOptions) -> Result<Option<Profile>, SettingsError> {
    let Some(name) = given.value::<String>(ProgramOption::Profile) else { return Ok(None) };
    Profile::named(&name).map(Some).ok_or(SettingsError::NoProfile(name))
}

/// Notes on options that have no effect.
fn without_effect(given: &GivenOptions) -> impl Iterator<Item = Diagnostic> {
    given.rows().filter_map(|row| match row.support {
        Support::NoEffect(why) => {
            let message = format!("--{} has no effect: {why}", row.name);
            Some(Diagnostic::note(message).code("no-effect"))
        }
        _ => None,
    })
}

/// The prefix of the logs of all jobs together.
fn bandwidth_log(given: &GivenOptions) -> Option<String> {
    let prefix = given.text(ProgramOption::BandwidthLog);
    given.has(ProgramOption::BandwidthLog).then(|| prefix.unwrap_or_else(|| "agg".to_owned()))
}

/// The note about a value that fio ignores.
fn ignored(option: ProgramOption, value: &str) -> Diagnostic {
    Diagnostic::note(format!("--{option}={value} has no effect: fio ignores this value")).code("no-effect")
}

/// The trigger, and a note if it can never fire. There is `no_document` on standard output if the report is a text or in a file.
fn trigger(given: &GivenOptions, compat: Compat, no_document: bool) -> (Option<Trigger>, Option<Diagnostic>) {
    let command: Option<String> = given.value(ProgramOption::Trigger);
    let file = given.value::<String>(ProgramOption::TriggerFile).map(PathBuf::from);
    let timeout = given.value(ProgramOption::TriggerTimeout).filter(|time| *time != Duration::ZERO);
    if file.is_none() && timeout.is_none() {
        let message = "--trigger never runs without --trigger-file or --trigger-timeout";
        return (None, command.map(|_| Diagnostic::note(message).code("no-effect")));
    }
    let saves_all_states = compat == Compat::Fio;
    // As in fio, but never beside a document.
    let writes_to_stdout = compat == Compat::Fio && no_document;
    let switch = TriggerSwitch::default();
    (Some(Trigger { file, timeout, switch, command, writes_to_stdout, saves_all_states }), None)
}

#[cfg(test)]
mod tests;
