//! Options that exclude each other, or that need another one. The simple cases are in the table; these are the others.

use ferrio_job::Diagnostic;
use ferrio_report::{Format, Formats};
use ferrio_sweep::TableFormat;

use super::{Action, GivenOptions, ProgramSettings, Query, ReportDestination, SettingsError};
use crate::option_values::{self, IntervalsTo, OutputFormat};
use crate::options::{OptionConflict, ProgramOption, ProgramOptionRow, Takes};

impl ProgramSettings {
    /// Refuses options that cannot be used together. What only asks for information gets it.
    pub(super) fn check_conflicts(&self) -> Result<(), SettingsError> {
        if matches!(self.action, Action::Answer(_)) {
            return Ok(());
        }
        let mut given = self.given.rows();
        let conflict =
            given.find_map(|row| of_relations(row, &self.given).or_else(|| self.conflict_of(row.option)));
        conflict.map_or(Ok(()), |conflict| Err(SettingsError::Conflict(conflict)))
    }

    /// A conflict that depends on the values of options.
    fn conflict_of(&self, option: ProgramOption) -> Option<OptionConflict> {
        match option {
            ProgramOption::OutputFormat => of_output_format(self),
            ProgramOption::Minimal | ProgramOption::AppendTerse => of_format_and_series(self),
            ProgramOption::TerseHeader => of_terse_header(self),
            ProgramOption::HostDocuments => of_host_documents(self),
            ProgramOption::StatusInterval => of_status_interval(self),
            ProgramOption::IntervalReport => of_interval_report(self),
            ProgramOption::Label => of_labels(self),
            _ => None,
        }
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
}

/// The conflict of an option with those that its row names.
fn of_relations(row: &ProgramOptionRow, given: &GivenOptions) -> Option<OptionConflict> {
    let excluded = row.excluded_by.iter().find_map(|relation| {
        let other = relation.others.iter().find(|other| given.has(**other))?;
        // A flag has no value to point at.
        let option = if row.takes == Takes::Nothing { *other } else { row.option };
        Some(option.conflict(relation.message))
    });
    let unmet = row.needs.filter(|relation| !relation.others.iter().any(|other| given.has(*other)));
    excluded.or_else(|| unmet.map(|relation| row.option.conflict(relation.message)))
}

fn of_labels(settings: &ProgramSettings) -> Option<OptionConflict> {
    option_values::repeated_label(&settings.labels).map(|message| ProgramOption::Label.conflict(message))
}

fn of_terse_header(settings: &ProgramSettings) -> Option<OptionConflict> {
    let message = "--terse-header is about terse lines: add --minimal or --output-format=terse";
    let has_lines = settings.all_formats().has(Format::Terse);
    (!has_lines).then(|| ProgramOption::TerseHeader.conflict(message))
}

fn of_host_documents(settings: &ProgramSettings) -> Option<OptionConflict> {
    let message = "--host-documents is about JSON documents: add --output-format=json or json+";
    let formats = settings.all_formats();
    let has_document = formats.has(Format::Json) || formats.has(Format::JsonPlus);
    (!has_document).then(|| ProgramOption::HostDocuments.conflict(message))
}

fn of_interval_report(settings: &ProgramSettings) -> Option<OptionConflict> {
    let to = &settings.interval_report.as_ref()?.to;
    let message = if *to == IntervalsTo::StandardOutput && settings.output == ReportDestination::Stdout {
        "--interval-report writes to standard output, as does the report; send the report to a file with --output=FILE, \
         or the intervals with --interval-report=TIME:FILE"
    } else if settings.sweep.is_some() && *to != IntervalsTo::StandardError {
        "each run of --repeat and --sweep would write its intervals to the same place: use --interval-report=TIME, which writes to \
         standard error"
    } else {
        return None;
    };
    Some(ProgramOption::IntervalReport.conflict(message))
}

fn of_status_interval(settings: &ProgramSettings) -> Option<OptionConflict> {
    let (word, why) = settings.all_formats().alone()?;
    let message = || {
        format!(
            "option --status-interval cannot be combined with the format {word}, because {why}: choose another format, \
             add one for the reports in between with --output-format=FORMAT:FILE, or leave out --status-interval"
        )
    };
    let has_interim = settings.outputs().any(|formats| formats.may_repeat());
    (!has_interim).then(|| ProgramOption::StatusInterval.conflict(message()))
}

fn of_output_format(settings: &ProgramSettings) -> Option<OptionConflict> {
    if let Some((word, why)) = settings.formats.alone().filter(|_| !settings.formats.fit_together()) {
        let message = format!(
            "the format {word} cannot be combined with others, because {why}: choose one, or write it to a file of its own with \
             {word}:FILE"
        );
        return Some(ProgramOption::OutputFormat.conflict(message));
    }
    let table = settings.given.value::<OutputFormat>(ProgramOption::OutputFormat)?.table;
    if settings.sweep.is_some() {
        return if table.is_none() { of_format_and_series(settings) } else { None };
    }
    let message =
        "table and markdown are formats of the table that --repeat and --sweep print: add one of them";
    let is_for_series = table.is_some_and(|table| table != TableFormat::Csv);
    is_for_series.then(|| ProgramOption::OutputFormat.conflict(message))
}

/// A format of the report of one run, where there are several runs.
fn of_format_and_series(settings: &ProgramSettings) -> Option<OptionConflict> {
    settings.sweep.as_ref()?;
    Some(ProgramOption::OutputFormat.conflict(
        "with --repeat and --sweep, the output is a table: its formats are table, markdown and csv; the reports of the runs are \
         JSON documents in the directory of --results",
    ))
}
