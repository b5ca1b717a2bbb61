//! Options that exclude each other, or that need another one.

use ferrio_job::Diagnostic;
use ferrio_report::{Format, Formats};
use ferrio_sweep::TableFormat;

use super::{Action, ProgramSettings, Query, SettingsError};
use crate::arguments::Item;
use crate::option_values::{self, IntervalsTo};
use crate::options::{JUNIT, LABEL, REPEAT, REPEAT_PAUSE, RESULTS, SHUFFLE_JOBS, SWEEP, SWEEP_SEED};

impl ProgramSettings {
    /// Refuses options that exclude each other.
    pub(super) fn check_conflicts(&self) -> Result<(), SettingsError> {
        if self.action == Action::Answer(Query::Version) {
            return Ok(());
        }
        if let Some(name) = option_values::repeated_label(&self.labels) {
            let message = format!("--label={name}=... is given twice: a label has one value");
            return Err(SettingsError::Conflict(LABEL, message.into()));
        }
        if self.terse_header && !self.all_formats().has(Format::Terse) {
            let message = "--terse-header is about terse lines: add --minimal or --output-format=terse";
            return Err(SettingsError::Conflict("terse-header", message.into()));
        }
        let to = self.interval_report.as_ref().map(|intervals| &intervals.to);
        if to == Some(&IntervalsTo::StandardOutput) && self.output.is_none() {
            return Err(SettingsError::Conflict(
                "interval-report",
                "--interval-report writes to standard output, as does the report; send the report to a file with --output=FILE, \
                 or the intervals with --interval-report=TIME:FILE"
                    .into(),
            ));
        }
        if let Some((word, why)) = self.formats.alone().filter(|_| !self.formats.fit_together()) {
            let message = format!(
                "the format {word} cannot be combined with others, because {why}: choose one, or write it to a file of its own with \
                 {word}:FILE"
            );
            return Err(SettingsError::Conflict("output-format", message.into()));
        }
        let Some((word, why)) = self.all_formats().alone() else { return Ok(()) };
        if self.status_interval.is_some() && !self.outputs().any(|formats| formats.may_repeat()) {
            let message = format!(
                "option --status-interval cannot be combined with the format {word}, because {why}: choose another format, \
                 add one for the reports in between with --output-format=FORMAT:FILE, or leave out --status-interval"
            );
            return Err(SettingsError::Conflict("status-interval", message.into()));
        }
        Ok(())
    }

    /// The formats of each output that gets a report.
    fn outputs(&self) -> impl Iterator<Item = Formats> {
        let main = Some(self.formats).filter(|formats| !formats.are_none());
        main.into_iter().chain(self.files_of_formats.iter().map(|(format, _)| Formats::only(*format)))
    }

    /// The note that some outputs get no report of the run so far, although others do.
    pub(super) fn note_of_single_reports(&self) -> Option<Diagnostic> {
        self.status_interval?;
        let single = self.outputs().filter_map(|formats| formats.alone());
        let words: Vec<&str> = single.map(|(word, _)| word).collect();
        if words.is_empty() || self.action == Action::Answer(Query::Version) {
            return None;
        }
        let message = format!("--status-interval: only the final report is written as {}", words.join(", "));
        Some(Diagnostic::note(message).code("no-interim-report"))
    }

    /// Refuses options that do not go with one run, or with several.
    pub(super) fn check_sweep(&self, items: &[Item]) -> Result<(), SettingsError> {
        let last = |wanted: &str| items.iter().rev().find(|item| item.is_program_option(wanted));
        let conflict = |name, why: &'static str| Err(SettingsError::Conflict(name, why.into()));
        if matches!(self.action, Action::Answer(_)) {
            return Ok(());
        }
        let format = match last("output-format") {
            Some(Item::Program { value: Some(value), .. }) => Some(value.as_str()),
            _ => None,
        };
        let table = format.and_then(option_values::table_format);
        if self.sweep.is_none() {
            if table.is_some_and(|table| table != TableFormat::Csv) {
                return conflict(
                    "output-format",
                    "table and markdown are formats of the table that --repeat and --sweep print: add one of them",
                );
            }
            for (name, why) in [
                (REPEAT_PAUSE, "--repeat-pause is the time between several runs: add --repeat or --sweep"),
                (SHUFFLE_JOBS, "--shuffle-jobs is about the order of several runs: add --repeat or --sweep"),
                (SWEEP_SEED, "--sweep-seed is the order of several runs: add --repeat or --sweep"),
                (
                    RESULTS,
                    "--results is the directory for the reports of several runs: add --repeat or --sweep",
                ),
            ] {
                if last(name).is_some() {
                    return conflict(name, why);
                }
            }
            return Ok(());
        }
        let given = if last(SWEEP).is_some() { SWEEP } else { REPEAT };
        if self.action != Action::Run {
            return conflict(
                given,
                "--repeat and --sweep run jobs: leave out --parse-only, --showcmd and --merge-blktrace-only",
            );
        }
        if (format.is_some() && table.is_none()) || last("minimal").or_else(|| last("append-terse")).is_some()
        {
            return conflict(
                "output-format",
                "with --repeat and --sweep, the output is a table: its formats are table, markdown and csv; the reports of the runs are \
                 JSON documents in the directory of --results",
            );
        }
        if self.interval_report.as_ref().is_some_and(|intervals| intervals.to != IntervalsTo::StandardError) {
            return conflict(
                "interval-report",
                "each run of --repeat and --sweep would write its intervals to the same place: use --interval-report=TIME, which writes to \
                 standard error",
            );
        }
        if self.junit.is_some() {
            return conflict(
                JUNIT,
                "each run of --repeat and --sweep would write the same JUnit file: leave out --junit",
            );
        }
        if self.bandwidth_log.is_some() {
            return conflict(
                "bandwidth-log",
                "each run of --repeat and --sweep would write the same bandwidth log: leave out --bandwidth-log",
            );
        }
        Ok(())
    }
}

/// Refuses options that the live view excludes.
pub(super) fn check_conflicts_of_tui(items: &[Item]) -> Result<(), SettingsError> {
    const LINE: &str =
        "--tui takes the place of the progress line: leave out --eta, --eta-interval and --eta-newline";
    const NO_RUN: &str = "--tui shows a run: it cannot be combined with --parse-only, --showcmd or --merge-blktrace-only, which run nothing";
    const SERIES: &str = "each run of --repeat and --sweep would take the terminal: leave out --tui";
    let conflicts = [
        (REPEAT, SERIES),
        (SWEEP, SERIES),
        ("eta", LINE),
        ("eta-interval", LINE),
        ("eta-newline", LINE),
        ("parse-only", NO_RUN),
        ("showcmd", NO_RUN),
        ("merge-blktrace-only", NO_RUN),
    ];
    match conflicts.into_iter().find(|(name, _)| items.iter().any(|item| item.is_program_option(name))) {
        Some((name, why)) => Err(SettingsError::Conflict(name, why.into())),
        None => Ok(()),
    }
}
