//! Where the report goes, in which formats.

use ferrio_job::Compat;
use ferrio_report::{Format, Formats};

use super::SettingsError;
use crate::arguments::Item;
use crate::option_values::{self, WantedFormat};
use crate::options::OUTPUT;

/// Where the report goes, in which formats.
pub(super) struct Outputs {
    /// `--output`.
    pub(super) file: Option<String>,
    /// The formats there, or on standard output.
    pub(super) formats: Formats,
    /// Formats with files of their own.
    pub(super) files_of_formats: Vec<(Format, String)>,
}

impl Outputs {
    /// `--output-format` and `--minimal` replace earlier formats without a file of their own, `--append-terse` adds to them. Called
    /// `ferrio`, several `--output` are the files of as many formats, in their order, and all `--output-format` add up. Called `fio`, the
    /// last counts. The values are already checked.
    pub(super) fn of(items: &[Item], compat: Compat) -> Result<Self, SettingsError> {
        let values = |wanted: &'static str| {
            items.iter().filter_map(move |item| match item {
                Item::Program { name, value: Some(value), .. } if name == wanted => Some(value),
                _ => None,
            })
        };
        let mut files: Vec<&String> = values(OUTPUT).collect();
        if compat == Compat::Fio {
            files.drain(..files.len().saturating_sub(1));
        }
        let adds_up = files.len() > 1;
        let of = |format| WantedFormat { format, file: None };
        let mut wanted = vec![of(Format::Normal)];
        let mut is_default = true;
        for item in items {
            let chosen = match item {
                Item::Program { name, value: Some(value), .. } if *name == "output-format" => {
                    let with_file = value.split(',').find(|item| item.contains(':'));
                    if let Some(item) = with_file.filter(|_| compat == Compat::Fio) {
                        return Err(SettingsError::FormatOfFerrio(item.to_owned()));
                    }
                    option_values::formats(value).unwrap_or_default()
                }
                _ if item.is_program_option("minimal") => vec![of(Format::Terse)],
                _ if item.is_program_option("append-terse") => {
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
                if adds_up && file.is_none() { left.next().map(|file| (*file).clone()) } else { file };
            files_of_formats.extend(paired.map(|file| (format, file)));
        }
        match files.as_slice() {
            [] => Ok(Outputs { file: None, formats, files_of_formats }),
            [file] if given > 0 => Ok(Outputs { file: Some((*file).clone()), formats, files_of_formats }),
            [file] => Err(SettingsError::Conflict(
                OUTPUT,
                format!(
                    "--output={file} would have nothing: each format of --output-format has a file of its own. Leave out --output, or add a \
                     format without a file"
                )
                .into(),
            )),
            several if several.len() == given => Ok(Outputs { file: None, formats: Formats::NONE, files_of_formats }),
            several => Err(SettingsError::Conflict(
                OUTPUT,
                format!(
                    "--output is given {} times, for {given} {}: give one file for each format, as in \
                     --output-format=json:a.json,html:a.html, or one --output",
                    several.len(),
                    if given == 1 { "format" } else { "formats" }
                )
                .into(),
            )),
        }
    }
}
