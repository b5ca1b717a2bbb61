//! The values of the program's options: formats, times, words.

use std::collections::HashSet;
use std::time::Duration;

use ferrio_jobfile::{nearest, size_factor, time_factor};
use ferrio_report::{Format, row_columns};
use ferrio_sweep::{MIN_REPETITIONS, Repetitions, TableFormat};

/// When the live line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eta {
    /// Even if standard output is no terminal.
    Always,
    /// Never.
    Never,
    /// When standard output is a terminal.
    Auto,
}

/// The value of `--ranks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankCount {
    /// As many as the launcher has started.
    Auto,
    /// The launcher is ignored.
    Off,
    /// So many.
    Of(u64),
}

/// `8`, `auto`, `off`
pub fn rank_count(text: &str) -> Result<RankCount, String> {
    match text {
        "auto" => Ok(RankCount::Auto),
        "off" => Ok(RankCount::Off),
        _ => {
            let count = text.parse().ok().filter(|count| (1..=MAX_RANKS).contains(count));
            count
                .map(RankCount::Of)
                .ok_or_else(|| format!("a number of ranks from 1 to {MAX_RANKS} is expected, or auto or off"))
        }
    }
}

/// `0`
pub fn rank(text: &str) -> Result<u64, String> {
    let rank = text.parse().ok().filter(|rank| *rank < MAX_RANKS);
    rank.ok_or_else(|| format!("a number from 0 to {} is expected", MAX_RANKS - 1))
}

/// Ranks at most, as many as hosts.
const MAX_RANKS: u64 = ferrio_hosts::MAX_HOSTS as u64;

/// The value of `--idle-prof`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleProf {
    /// All CPUs together.
    System,
    /// Each CPU as well.
    EachCpu,
    /// Measure only the time of a unit of work, without a run.
    Calibrate,
}

/// The value of `--interval-report`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// Length of an interval.
    pub every: Duration,
    /// Where its lines go.
    pub to: IntervalsTo,
}

impl Intervals {
    /// The file that its lines go to, if they go to one.
    pub fn file(&self) -> Option<&str> {
        match &self.to {
            IntervalsTo::File(name) => Some(name),
            IntervalsTo::StandardOutput | IntervalsTo::StandardError => None,
        }
    }
}

/// Where the lines of the interval report go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntervalsTo {
    /// Standard output; the report goes elsewhere.
    StandardOutput,
    /// Standard error.
    StandardError,
    /// A file of this name.
    File(String),
}

/// Shortest interval of `--interval-report`: in shorter ones, writing the lines would affect the figures.
const MIN_REPORTED_INTERVAL: Duration = Duration::from_millis(10);

/// Most repetitions of a series that ends by itself, unless a limit is given.
const DEFAULT_MAX_REPETITIONS: u32 = 30;
/// Most repetitions of a run.
const MAX_REPETITIONS: u32 = 10_000;

/// `5`, `until:2%`, `until:2%,max=50`
pub fn repetitions(text: &str) -> Result<Repetitions, String> {
    let count_of = |text: &str, least: u32| {
        let count = text.trim().parse::<u32>().ok();
        count.filter(|count| (least..=MAX_REPETITIONS).contains(count))
    };
    let Some(goal) = text.trim().strip_prefix("until:") else {
        return count_of(text, 1).map(Repetitions::Count).ok_or_else(|| {
            format!("a number from 1 to {MAX_REPETITIONS} is expected, or until:PERCENT%[,max=COUNT]")
        });
    };
    let (margin, limit) = goal.split_once(',').map_or((goal, None), |(margin, limit)| (margin, Some(limit)));
    let margin = margin.trim().strip_suffix('%').and_then(|margin| margin.trim().parse::<f64>().ok());
    let margin = margin.filter(|margin| *margin > 0.0 && *margin <= 100.0).ok_or_else(|| {
        "the margin of the mean is a percentage above 0 and up to 100, for example until:2%".to_owned()
    })?;
    let max = match limit {
        None => DEFAULT_MAX_REPETITIONS,
        Some(limit) => {
            let count = limit.trim().strip_prefix("max=").and_then(|count| count_of(count, MIN_REPETITIONS));
            count.ok_or_else(|| {
                format!(
                    "the limit is max=COUNT, with a count from {MIN_REPETITIONS} to {MAX_REPETITIONS}: until:2%,max=50"
                )
            })?
        }
    };
    Ok(Repetitions::Until { margin, max })
}

/// The value of `--output-format`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFormat {
    /// Formats of the report; none if the word is one for a table only.
    pub formats: Vec<WantedFormat>,
    /// The format of the table of a series of runs. `csv` is one, and without a series the terse format.
    pub table: Option<TableFormat>,
}

/// Reads the value of `--output-format`.
pub fn output_format(text: &str) -> Result<OutputFormat, String> {
    let table = TableFormat::of_word(text);
    let formats = match table {
        None | Some(TableFormat::Csv) => formats(text)?,
        Some(_) => Vec::new(),
    };
    Ok(OutputFormat { formats, table })
}

/// A format of the report, and the file that it has for itself (`json:FILE`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedFormat {
    /// The format.
    pub format: Format,
    /// Without one, the format goes where the report goes.
    pub file: Option<String>,
}

/// Splits `json:FILE`. The file `-` is where the report goes, as without one.
pub fn word_and_file(item: &str) -> (&str, Option<&str>) {
    let (word, file) = item.split_once(':').map_or((item, None), |(word, file)| (word, Some(file)));
    (word, file.filter(|file| *file != "-"))
}

/// Reads a list of formats, `normal,json:FILE`, without empty words.
fn formats(text: &str) -> Result<Vec<WantedFormat>, String> {
    let mut formats: Vec<WantedFormat> = Vec::new();
    for item in text.split(',') {
        let (word, file) = word_and_file(item);
        if word.is_empty() {
            return Err(format!("a format is expected: {}", Format::WORDS.join(", ")));
        }
        let Some(format) = Format::of_word(word) else {
            let words = Format::WORDS.join(", ");
            let meant = nearest(word, Format::WORDS.into_iter());
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            // `json:a,b` may be meant as one file.
            let follows_file = formats.last().is_some_and(|before| before.file.is_some());
            let comma = if follows_file { "; a file name here has no comma: see --output" } else { "" };
            return Err(format!("invalid output format {word}: the formats are {words}{meant}{comma}"));
        };
        if file == Some("") {
            return Err(format!("a file name is expected after `{word}:`"));
        }
        formats.push(WantedFormat { format, file: file.map(str::to_owned) });
    }
    Ok(formats)
}

/// Reads a label of a run, `disk=nvme0`: a name that is also a name in OpenMetrics, and any text.
pub fn label(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("a name and a value are expected, as in disk=nvme0".to_owned());
    };
    let is_letter = |sign: char| sign.is_ascii_alphabetic() || sign == '_';
    if !name.starts_with(is_letter) || !name.chars().all(|sign| is_letter(sign) || sign.is_ascii_digit()) {
        return Err(format!(
            "the name of a label has letters, digits and `_`, and no digit in front: `{name}` is none"
        ));
    }
    if row_columns().any(|column| column == name) {
        return Err(format!("`{name}` is a column of the format rows: choose another name"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// The error for labels of which two have the same name.
pub fn repeated_label(labels: &[(String, String)]) -> Option<String> {
    let mut seen = HashSet::new();
    let (name, _) = labels.iter().find(|(name, _)| !seen.insert(name))?;
    Some(format!("--label={name}=... is given twice: a label has one value"))
}

/// Reads the length of intervals and where their lines go: `1s`, `500ms:FILE`, `1s:-`. File names may contain colons.
pub fn intervals(text: &str) -> Result<Intervals, String> {
    let (time, to) = text.split_once(':').map_or((text, None), |(time, to)| (time, Some(to)));
    let every = time_of_at_least(time, MIN_REPORTED_INTERVAL)?;
    let to = match to {
        None => IntervalsTo::StandardError,
        Some("-") => IntervalsTo::StandardOutput,
        Some("") => {
            return Err("a file name is expected after the colon, or - for standard output".to_owned());
        }
        Some(name) => IntervalsTo::File(name.to_owned()),
    };
    Ok(Intervals { every, to })
}

/// A time of at least this much.
///
/// # Errors
/// It is shorter, or no time.
pub fn time_of_at_least(text: &str, least: Duration) -> Result<Duration, String> {
    match time(text) {
        Some(time) if time >= least => Ok(time),
        Some(_) => Err(format!("too short: the minimum is {}ms", least.as_millis())),
        None if too_long(text) => Err("too long: no run lasts that long".to_owned()),
        None => Err("a number is expected, optionally with d, h, m, s, ms or us".to_owned()),
    }
}

/// A number of bytes with or without a suffix, as options of jobs have it.
///
/// # Errors
/// It is none.
pub fn size(text: &str) -> Result<u64, String> {
    let at = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(at);
    let factor = if suffix.is_empty() { Some(1) } else { size_factor(&suffix.to_ascii_lowercase(), 1024) };
    let size = number.parse::<u64>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
    size.ok_or_else(|| "a number is expected, optionally with k, m, g or t".to_owned())
}

/// A whole number with a unit; without one, seconds.
pub fn time(text: &str) -> Option<Duration> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: u64 = text[..text.len() - unit.len()].parse().ok()?;
    let us = if unit.is_empty() { 1_000_000 } else { time_factor(&unit.to_ascii_lowercase())? };
    number.checked_mul(us).map(Duration::from_micros)
}

/// True if `text` is a time except that its number is too large.
fn too_long(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < text.len() && time(&format!("1{unit}")).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formats_are_a_list() {
        let of = |format| WantedFormat { format, file: None };
        assert_eq!(formats("normal,json"), Ok(vec![of(Format::Normal), of(Format::Json)]));
        assert_eq!(formats("json+"), Ok(vec![of(Format::JsonPlus)]));
        for word in ["terse", "minimal", "csv"] {
            assert_eq!(formats(word), Ok(vec![of(Format::Terse)]));
        }
        assert_eq!(formats("openmetrics"), Ok(vec![of(Format::OpenMetrics)]));
        assert!(formats("xml").unwrap_err().contains("invalid output format xml"));
        assert!(formats("jsn").unwrap_err().ends_with("did you mean `json`?"));
        for text in ["", ",", "json,,terse", ",json", "json,"] {
            assert!(formats(text).unwrap_err().starts_with("a format is expected"), "{text}");
        }
    }

    #[test]
    fn a_format_may_have_a_file() {
        let of = |format, file: Option<&str>| WantedFormat { format, file: file.map(str::to_owned) };
        assert_eq!(
            formats("json:C:/a b.json,normal,html:-"),
            Ok(vec![of(Format::Json, Some("C:/a b.json")), of(Format::Normal, None), of(Format::Html, None)])
        );
        assert_eq!(formats("json:a,html:"), Err("a file name is expected after `html:`".to_owned()));
        assert!(formats(":a").unwrap_err().starts_with("a format is expected"));
        assert!(formats("jsn:a").unwrap_err().ends_with("did you mean `json`?"));
        assert!(formats("json:a,b").unwrap_err().ends_with("; a file name here has no comma: see --output"));
    }

    #[test]
    fn an_interval_has_a_time_and_optionally_a_destination() {
        let of = |ms, to| Ok(Intervals { every: Duration::from_millis(ms), to });
        assert_eq!(intervals("1s"), of(1000, IntervalsTo::StandardError));
        assert_eq!(intervals("2"), of(2000, IntervalsTo::StandardError));
        assert_eq!(intervals("10ms:-"), of(10, IntervalsTo::StandardOutput));
        assert_eq!(intervals("1m:C:/a b:-"), of(60_000, IntervalsTo::File("C:/a b:-".to_owned())));
        assert_eq!(intervals("9ms").unwrap_err(), "too short: the minimum is 10ms");
        assert_eq!(intervals("0:f").unwrap_err(), "too short: the minimum is 10ms");
        assert!(intervals("1s:").unwrap_err().starts_with("a file name is expected after the colon"));
        for text in ["", ":f", "f", "-", "1.5s:f"] {
            assert_eq!(
                intervals(text).unwrap_err(),
                "a number is expected, optionally with d, h, m, s, ms or us",
                "{text}"
            );
        }
    }

    #[test]
    fn times_have_units() {
        let us = |text| time(text).map(|time| time.as_micros());
        assert_eq!((us("2"), us("500ms"), us("7us")), (Some(2_000_000), Some(500_000), Some(7)));
        assert_eq!(
            (us("1M"), us("1h"), us("1d")),
            (Some(60_000_000), Some(3_600_000_000), Some(86_400_000_000))
        );
        assert_eq!(
            (us(""), us("soon"), us("1.5s"), us("-1"), us("99999999999999999999")),
            (None, None, None, None, None)
        );
    }

    #[test]
    fn an_error_about_a_time_names_its_form_or_its_size() {
        let error = |text| time_of_at_least(text, Duration::from_millis(1)).unwrap_err();
        assert_eq!(error("99999999999999999999"), "too long: no run lasts that long");
        assert_eq!(error("99999999999999999d"), "too long: no run lasts that long");
        assert_eq!(error("1us"), "too short: the minimum is 1ms");
        for text in ["", "s", "-1", "1y", "1s2", "99999999999999999999y"] {
            assert_eq!(error(text), "a number is expected, optionally with d, h, m, s, ms or us", "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_time_makes_the_parser_panic(text in ".{0,24}") {
            let _ = time(&text);
            let _ = intervals(&text);
        }

        #[test]
        fn seconds_are_the_default(n in 0u64..1_000_000) {
            prop_assert_eq!(time(&n.to_string()), Some(Duration::from_secs(n)));
        }
    }
}
