//! The options of `ferrio import`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use clap::{ArgAction, ArgMatches, Command, ValueHint, value_parser};
use ferrio_trace::STDIN;
use ferrio_trace::import::blkparse::BlkparseForm;
use ferrio_trace::import::names::{NameRules, is_valid, is_valid_directory};
use ferrio_trace::import::select::{ImportSelection, Pattern, SelectedIo};
use ferrio_trace::import::{ImportSettings, TraceFormat};

use super::{refusal, status};
use crate::commands::subcommand::{flag, operand, option};
use crate::error::Error;
use crate::output_file::{becomes_file, is_descriptor};

/// Default of `--window`.
const DEFAULT_WINDOW: &str = "65536";

/// The clap definition of the sub-command.
pub fn command() -> Command {
    let file = |name, help| {
        option(name, "FILE", help).value_hint(ValueHint::FilePath).value_parser(value_parser!(PathBuf))
    };
    let text = |name, value, help| option(name, value, help).value_parser(NonEmptyStringValueParser::new());
    let name = |name, value, help| option(name, value, help).value_parser(value_parser!(OsString));
    let time = |name, help| option(name, "SECONDS", help).value_parser(seconds);
    let command = Command::new("import").args([
        operand("trace", "TRACE", "The trace, which may be compressed with gzip; - is standard input")
            .default_value(STDIN)
            .hide_default_value(true)
            .value_parser(value_parser!(OsString))
            .value_hint(ValueHint::FilePath),
        file("output", "Write the log to FILE instead of standard output; files of the replay are then in FILE.files").short('o'),
        file("job", "Also write a job file that replays the log").requires("output"),
        option("format", "NAME", "The format of the trace")
            .value_parser(PossibleValuesParser::new(TraceFormat::ALL.map(|(_, word, _)| word)))
            .hide_possible_values(true),
        text("blkparse-form", "FORM", "The format given to blkparse with -f"),
        option("event", "LETTER", "The blkparse event that counts as an I/O: Q (queued), D (issued) or C (completed) [default: the first of these that occurs]")
            .value_parser(["Q", "D", "C"])
            .hide_possible_values(true),
        text("file", "PATTERN", "Only I/Os of these files or devices; * and ? are wildcards; may be repeated")
            .visible_alias("device")
            .action(ArgAction::Append),
        text("exclude", "PATTERN", "No I/Os of these files or devices; may be repeated").action(ArgAction::Append),
        option("pid", "NUMBERS", "Only I/Os of these process IDs, separated by commas")
            .value_delimiter(',')
            .value_parser(value_parser!(u32)),
        option("only", "KINDS", "Only these kinds of I/O, separated by commas: read, write, trim, sync")
            .value_delimiter(',')
            .value_parser(PossibleValuesParser::new(SelectedIo::ALL.map(|(word, _)| word)))
            .hide_possible_values(true),
        time("from", "Begin this long after the first I/O"),
        time("until", "End this long after the first I/O"),
        option("limit", "NUMBER", "End after this many I/Os").value_parser(value_parser!(u64).range(1..)),
        name("target", "FILE", "Send all I/Os to this file or device").conflicts_with_all(["rename", "keep-paths", "directory"]),
        name("rename", "OLD=NEW", "Send I/Os of the file or device OLD to NEW; may be repeated").action(ArgAction::Append),
        name("directory", "DIR", "Replay to files in this directory [default: FILE.files with -o FILE, otherwise import.files]").conflicts_with("keep-paths"),
        flag("keep-paths", "Use the files of the trace; the replay overwrites them"),
        flag("keep-times", "Keep the times of the trace, instead of counting from its first I/O"),
        option("window", "NUMBER", "Sort I/Os by time within a window of this many I/Os")
            .default_value(DEFAULT_WINDOW)
            .value_parser(value_parser!(u32).range(0..=16_777_216)),
        option("bad-lines", "PERCENT", "Fail if more than this percentage of the lines do not fit the format")
            .default_value("10")
            .value_parser(percent),
        flag("quiet", "Do not print the summary").short('q'),
    ]);
    command
        .subcommands(status::commands())
        .disable_help_subcommand(true)
        .args_conflicts_with_subcommands(true)
}

fn seconds(text: &str) -> Result<u64, String> {
    let value: f64 = text.parse().map_err(|_| "a number of seconds is expected")?;
    // A year is longer than any trace.
    let is_valid = (0.0..=3.2e7).contains(&value);
    is_valid
        .then_some((value * 1e9) as u64)
        .ok_or_else(|| "a number of seconds from 0 to 32000000 is expected".to_owned())
}

fn percent(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "a percentage is expected")?;
    let is_valid = (0.0..=100.0).contains(&value);
    is_valid.then_some(value).ok_or_else(|| "a percentage from 0 to 100 is expected".to_owned())
}

/// The name that stands for standard output.
const STDOUT: &str = "-";

/// Parsed options.
pub struct ImportOptions<'a>(pub &'a ArgMatches);

impl ImportOptions<'_> {
    /// The name of the trace as given.
    pub fn trace(&self) -> OsString {
        self.0.get_one::<OsString>("trace").cloned().unwrap_or_default()
    }

    /// Path of the log; `None` for standard output.
    pub fn log(&self) -> Option<PathBuf> {
        self.0.get_one::<PathBuf>("output").filter(|log| *log != Path::new(STDOUT)).cloned()
    }

    /// Path of the log, if a replay can use it; not `/dev/stdout`.
    pub fn named_log(&self) -> Option<PathBuf> {
        self.log().filter(|log| !is_descriptor(log))
    }

    /// Path of the job file.
    pub fn job(&self) -> Result<Option<PathBuf>, Error> {
        let job = self.0.get_one::<PathBuf>("job").cloned();
        if job.is_some() && self.named_log().is_none() {
            let help = "write the log to a file with --output";
            return Err(refusal("--job needs a log with a name", Some(help)));
        }
        Ok(job)
    }

    /// The requested format.
    pub fn format(&self) -> Option<TraceFormat> {
        self.text("format").and_then(TraceFormat::from_word)
    }

    /// The event of blkparse that represents the I/O.
    pub fn event(&self) -> Option<u8> {
        self.text("event").and_then(|word| word.bytes().next())
    }

    /// True if no summary is printed.
    pub fn is_quiet(&self) -> bool {
        self.0.get_flag("quiet")
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get_one::<String>(name).map(String::as_str)
    }

    /// The settings of the conversion.
    pub fn settings(&self) -> Result<ImportSettings, Error> {
        let patterns = |name: &str| {
            let patterns = self.0.get_many::<String>(name).into_iter().flatten();
            patterns.map(|pattern| Pattern::new(pattern)).collect()
        };
        let kind =
            |word: &String| SelectedIo::ALL.iter().find(|(known, _)| known == word).map(|(_, kind)| *kind);
        let selection = ImportSelection {
            files: patterns("file"),
            without: patterns("exclude"),
            pids: self.0.get_many("pid").into_iter().flatten().copied().collect(),
            kinds: self.0.get_many("only").into_iter().flatten().filter_map(kind).collect(),
            from_ns: self.0.get_one("from").copied().unwrap_or(0),
            until_ns: self.0.get_one("until").copied(),
            limit: self.0.get_one("limit").copied(),
        };
        Ok(ImportSettings {
            selection,
            naming: self.naming()?,
            window: self.0.get_one::<u32>("window").map_or(0, |&window| window as usize),
            keeps_times: self.0.get_flag("keep-times"),
            max_bad_lines_percent: self.0.get_one("bad-lines").copied().unwrap_or(0.0),
        })
    }

    fn naming(&self) -> Result<NameRules, Error> {
        const BLANKS: &str = "an I/O log separates words by blanks: use a symbolic link whose name has none";
        let valid = |name: &OsStr| {
            let refused = || format!("`{}` cannot be the name of a file in an I/O log", name.display());
            is_valid(name).then(|| name.to_owned()).ok_or_else(|| refusal(refused(), Some(BLANKS)))
        };
        let target = |name: &str| self.0.get_one::<OsString>(name).map(|name| valid(name)).transpose();
        let renamed = |pair: &OsString| {
            let bytes = pair.as_bytes();
            let at = bytes.iter().rposition(|&byte| byte == b'=');
            let at = at.filter(|&at| at > 0).ok_or_else(|| {
                refusal(format!("--rename={} is not of the form OLD=NEW", pair.display()), None)
            })?;
            Ok((OsStr::from_bytes(&bytes[..at]).to_owned(), valid(OsStr::from_bytes(&bytes[at + 1..]))?))
        };
        let pairs = self.0.get_many::<OsString>("rename").into_iter().flatten();
        let keeps_paths = self.0.get_flag("keep-paths");
        Ok(NameRules {
            target: target("target")?,
            renamed: pairs.map(renamed).collect::<Result<_, Error>>()?,
            keeps_paths,
            directory: (!keeps_paths).then(|| self.directory()).transpose()?,
        })
    }

    /// The directory for files whose names the user did not choose. Never one that an application may use, as the names may be those of its
    /// files.
    fn directory(&self) -> Result<OsString, Error> {
        let given = self.0.get_one::<OsString>("directory");
        let directory = match (given, self.log().filter(|log| becomes_file(log))) {
            (Some(given), _) => given.clone(),
            (None, Some(log)) => [log.as_os_str(), OsStr::new(".files")].into_iter().collect(),
            (None, None) => OsString::from("import.files"),
        };
        if is_valid_directory(&directory) {
            return Ok(directory);
        }
        let what = match given {
            Some(_) => "",
            None => ", the default for the files of the replay,",
        };
        let message = format!("the directory `{}`{what} cannot be in an I/O log", directory.display());
        let help = "choose one with --directory that has no blanks and at most 200 bytes";
        Err(refusal(message, Some(help)))
    }

    /// The line format of blkparse.
    pub fn form(&self) -> Result<Option<BlkparseForm>, Error> {
        let invalid = |error| refusal(format!("invalid value for --blkparse-form: {error}"), None);
        self.text("blkparse-form").map(|text| BlkparseForm::parse(text).map_err(invalid)).transpose()
    }
}
