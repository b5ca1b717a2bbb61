//! Where the report goes, in which formats.

use ferrio_job::Compat;
use ferrio_report::{Format, Formats};

use super::SettingsError;
use crate::arguments::{Item, values_of};
use crate::option_values::{WantedFormat, output_format};
use crate::options::ProgramOption;

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportDestination {
    /// Standard output.
    Stdout,
    /// A file of this name.
    File(String),
    /// To the caller of the run, which makes something else of it.
    Caller,
    /// To the coordinator of a run on many hosts. Standard output has the lines before the run, which it shows as they come.
    Coordinator,
}

impl ReportDestination {
    /// The file, as given.
    pub fn file(&self) -> Option<&str> {
        match self {
            ReportDestination::File(name) => Some(name),
            ReportDestination::Stdout | ReportDestination::Caller | ReportDestination::Coordinator => None,
        }
    }

    /// The path that the report is written to.
    pub fn path(&self) -> Option<&str> {
        if *self == ReportDestination::Stdout { Some("/dev/stdout") } else { self.file() }
    }
}

/// Where the report goes, in which formats.
pub(super) struct Outputs {
    /// `--output`, or standard output.
    pub(super) destination: ReportDestination,
    /// The formats there.
    pub(super) formats: Formats,
    /// Formats with files of their own.
    pub(super) files_of_formats: Vec<(Format, String)>,
}

impl Outputs {
    /// `--output-format` and `--minimal` replace earlier formats without a file of their own, `--append-terse` adds to them. Called
    /// `ferrio`, several `--output` are the files of as many formats, in their order, and all `--output-format` add up. Called `fio`, the
    /// last counts. The values are already checked.
    pub(super) fn of(items: &[Item], compat: Compat) -> Result<Self, SettingsError> {
        let mut files: Vec<&str> = values_of(items, ProgramOption::Output).collect();
        if compat == Compat::Fio {
            files.drain(..files.len().saturating_sub(1));
        }
        let adds_up = files.len() > 1;
        let of = |format| WantedFormat { format, file: None };
        let mut wanted = vec![of(Format::Normal)];
        let mut is_default = true;
        for item in items {
            let Item::Program { option, value, .. } = item else { continue };
            let chosen = match option {
                ProgramOption::OutputFormat => {
                    let list = value.as_deref().unwrap_or_default();
                    let with_file = list.split(',').find(|item| item.contains(':'));
                    if let Some(item) = with_file.filter(|_| compat == Compat::Fio) {
                        return Err(SettingsError::FormatOfFerrio(item.to_owned()));
                    }
                    output_format(list).map(|value| value.formats).unwrap_or_default()
                }
                ProgramOption::Minimal => vec![of(Format::Terse)],
                ProgramOption::AppendTerse => {
                    if !wanted.contains(&of(Format::Terse)) {
                        wanted.push(of(Format::Terse));
                    }
                    continue;
                }
                _ => continue,
            };
            // The word for a table of several runs is no format.
            if chosen.is_empty() {
                continue;
            }
            wanted.retain(|other| other.file.is_some() || (adds_up && !is_default));
            wanted.extend(chosen);
            is_default = false;
        }
        let in_report = wanted.iter().filter(|wanted| wanted.file.is_none());
        let formats = in_report.clone().fold(Formats::NONE, |formats, wanted| formats.with(wanted.format));
        if let Some(word) = formats.only_of_ferrio().filter(|_| compat == Compat::Fio) {
            return Err(SettingsError::FormatOfFerrio(word.to_owned()));
        }
        let given = in_report.count();
        let mut files_of_formats: Vec<(Format, String)> = Vec::new();
        let mut left = files.iter();
        for WantedFormat { format, file } in wanted {
            let paired =
                if adds_up && file.is_none() { left.next().map(|file| (*file).to_owned()) } else { file };
            files_of_formats.extend(paired.map(|file| (format, file)));
        }
        match files.as_slice() {
            [] => Ok(Outputs { destination: ReportDestination::Stdout, formats, files_of_formats }),
            [file] if given > 0 => {
                let destination = ReportDestination::File((*file).to_owned());
                Ok(Outputs { destination, formats, files_of_formats })
            }
            [file] => Err(SettingsError::Conflict(ProgramOption::Output.conflict(
                format!(
                    "--output={file} would have nothing: each format of --output-format has a file of its own. Leave out --output, or add a \
                     format without a file"
                ),
            ))),
            several if several.len() == given => {
                Ok(Outputs { destination: ReportDestination::Stdout, formats: Formats::NONE, files_of_formats })
            }
            several => Err(SettingsError::Conflict(ProgramOption::Output.conflict(
                format!(
                    "--output is given {} times, for {given} {}: give one file for each format, as in \
                     --output-format=json:a.json,html:a.html, or one --output",
                    several.len(),
                    if given == 1 { "format" } else { "formats" }
                ),
            ))),
        }
    }
}
