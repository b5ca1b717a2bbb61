//! `ferrio import`: makes an I/O log, which read_iolog replays, of a trace that another program wrote.
//!
//! The work is in `ferrio_trace::import`. Here are the options, the files, and in [`report`] and [`job`] what is said and written about
//! the log.

mod job;
mod report;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use ferrio_job::{Diagnostic, Origin, reason};
use ferrio_jobfile::Sources;
use ferrio_trace::import::blkparse::{EVENTS, Form};
use ferrio_trace::import::names::{Naming, is_valid};
use ferrio_trace::import::select::{IoKind, Pattern, Selection};
use ferrio_trace::import::{self, Format, ImportError, Settings, Summary};
use ferrio_trace::{IologVersion, Writer};

use super::subcommand::Invocation;
use crate::error::Error;

/// Help below the options.
pub const DETAILS: &str = "\
Formats (found from the first lines unless --format names one):
  blkparse  text of blkparse, as it is or with -f (then --blkparse-form)
  strace    strace -f -tt -T -o TRACE PROGRAM; also -ttt, -t, -r and -y
  msr       CSV of Microsoft Research, Cambridge
  systor    CSV of SYSTOR '17: Timestamp,Response,IOType,LUN,Offset,Size
  alibaba   CSV of Alibaba: device_id,opcode,offset,length,timestamp
  tencent   CSV of Tencent: Timestamp,Offset,Size,IOType,VolumeID
  spc       CSV of the Storage Performance Council (UMass):
            ASU,LBA,Size,Opcode,Timestamp
  table     biosnoop, or CSV or columns with names in the first line, such
            as those of a script of bpftrace

A replay writes to the files that the log names. Unless --keep-paths, --rename
or --target say so, these are files of similar names in the working directory.
A relative name without directories stays as it is: where the application's
own files are, use --directory. docs/import.md says more.

  strace -f -tt -T -o app.trace ./app
  mkdir replay
  ferrio import app.trace -o app.log --job app.fio --directory replay
  ferrio app.fio";

/// Default of `--window`.
const WINDOW: &str = "65536";

/// The options.
pub fn command() -> Command {
    let file = |name: &'static str, help: &'static str| {
        let file = Arg::new(name).long(name).value_name("FILE").value_hint(ValueHint::FilePath);
        file.value_parser(value_parser!(PathBuf)).help(help)
    };
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).value_parser(NonEmptyStringValueParser::new()).help(help)
    };
    let name = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).value_parser(value_parser!(OsString)).help(help)
    };
    let time = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("SECONDS").value_parser(seconds).help(help)
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("import").args([
        Arg::new("trace")
            .value_name("TRACE")
            .default_value("-")
            .hide_default_value(true)
            .value_parser(value_parser!(OsString))
            .value_hint(ValueHint::FilePath)
            .help("The trace, which may be compressed with gzip; - is standard input"),
        file("output", "Write the log to FILE instead of standard output").short('o'),
        file("job", "Also write a job file that replays the log").requires("output"),
        Arg::new("format")
            .long("format")
            .value_name("NAME")
            .value_parser(PossibleValuesParser::new(Format::ALL.map(|(_, word, _)| word)))
            .hide_possible_values(true)
            .help("The format of the trace"),
        text("blkparse-form", "FORM", "The format given to blkparse with -f"),
        Arg::new("event")
            .long("event")
            .value_name("LETTER")
            .value_parser(["Q", "D", "C"])
            .hide_possible_values(true)
            .help("The blkparse event that counts as the I/O: Q queued, D issued, C completed [default: the first of these that occurs]"),
        text("file", "PATTERN", "Only I/Os of these files or devices; * and ? match, may be repeated")
            .visible_alias("device")
            .action(ArgAction::Append),
        text("exclude", "PATTERN", "No I/Os of these files or devices; may be repeated").action(ArgAction::Append),
        Arg::new("pid")
            .long("pid")
            .value_name("NUMBERS")
            .value_delimiter(',')
            .value_parser(value_parser!(u32))
            .help("Only I/Os of these processes, joined by commas"),
        Arg::new("only")
            .long("only")
            .value_name("KINDS")
            .value_delimiter(',')
            .value_parser(PossibleValuesParser::new(IoKind::ALL.map(|(word, _)| word)))
            .hide_possible_values(true)
            .help("Only these kinds of I/O, joined by commas: read, write, trim, sync"),
        time("from", "Begin this long after the first I/O"),
        time("until", "End this long after the first I/O"),
        Arg::new("limit")
            .long("limit")
            .value_name("NUMBER")
            .value_parser(value_parser!(u64).range(1..))
            .help("End after this many I/Os"),
        name("target", "FILE", "Send all I/Os to this file or device").conflicts_with_all(["rename", "keep-paths", "directory"]),
        name("rename", "OLD=NEW", "Send I/Os of the file or device OLD to NEW; may be repeated").action(ArgAction::Append),
        name("directory", "DIR", "Replay to files in this directory").conflicts_with("keep-paths"),
        flag("keep-paths", "Use the files of the trace; the replay overwrites them"),
        flag("keep-times", "Keep the times of the trace, instead of counting from its first I/O"),
        Arg::new("window")
            .long("window")
            .value_name("NUMBER")
            .default_value(WINDOW)
            .value_parser(value_parser!(u32).range(0..=16_777_216))
            .help("Sort I/Os by time within a window of this many I/Os"),
        Arg::new("bad-lines")
            .long("bad-lines")
            .value_name("PERCENT")
            .default_value("10")
            .value_parser(percent)
            .help("Fail if more than this percentage of the lines does not fit the format"),
        flag("quiet", "Do not print the summary").short('q'),
    ])
}

fn seconds(text: &str) -> Result<u64, String> {
    let value: f64 = text.parse().map_err(|_| "a number of seconds is expected")?;
    // A year is longer than any trace.
    let valid = (0.0..=3.2e7).contains(&value);
    if valid {
        Ok((value * 1e9) as u64)
    } else {
        Err("a number of seconds from 0 to 32000000 is expected".to_owned())
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "a percentage is expected")?;
    if (0.0..=100.0).contains(&value) {
        Ok(value)
    } else {
        Err("a percentage from 0 to 100 is expected".to_owned())
    }
}

/// What a failed import says, and what to do.
type Failure = (String, Option<&'static str>);

/// Makes the log.
///
/// # Errors
/// The arguments are invalid.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.helper_arguments()? else { return Ok(0) };
    let messages = *invocation.messages;
    let request = Request { arguments: &arguments };
    match request.import() {
        Ok(Some(done)) => {
            if !arguments.get_flag("quiet") {
                messages.write(&report::text(&done));
            }
            Ok(0)
        }
        // The reader of the log has seen enough.
        Ok(None) => Ok(0),
        Err((message, help)) => {
            let error = Diagnostic::error(message, Origin::Builtin).code("import");
            let error = Diagnostic { help: help.map(str::to_owned), ..error };
            messages.show(&[error], &Sources::default());
            Ok(1)
        }
    }
}

/// A log that was made.
pub struct Done {
    /// The trace, as it was given.
    pub trace: OsString,
    /// Its format.
    pub format: Format,
    /// True if the format was found from the first lines.
    pub guessed: bool,
    /// The log; `None` for standard output.
    pub log: Option<PathBuf>,
    /// The job file.
    pub job: Option<PathBuf>,
    /// What was read and written.
    pub summary: Summary,
}

struct Request<'a> {
    arguments: &'a ArgMatches,
}

impl Request<'_> {
    /// Reads the trace, and writes log and job file. `None` if nobody reads the log.
    fn import(&self) -> Result<Option<Done>, Failure> {
        let settings = self.settings()?;
        let trace = self.arguments.get_one::<OsString>("trace").cloned().unwrap_or_default();
        let cannot_read =
            |error: io::Error| (format!("cannot read {}: {}", shown(&trace), reason(&error)), None);
        let mut source = open(&trace).map_err(cannot_read)?;
        let head = import::head(&mut source).map_err(cannot_read)?;
        if let Some(failure) = other_kind(&head) {
            return Err((format!("{} is {}", shown(&trace), failure.0), Some(failure.1)));
        }
        let form = self.form()?;
        let (format, guessed) = self.format(&head, form.as_ref(), &trace)?;
        let event = self.text("event").and_then(|word| word.bytes().next());
        if format != Format::Blkparse && (form.is_some() || event.is_some()) {
            let message = format!(
                "--blkparse-form and --event apply only to the format blkparse, but the format is {}",
                format.word()
            );
            return Err((message, None));
        }
        debug_assert!(event.is_none_or(|event| EVENTS.contains(&event)));
        let parser = format.parser(&head, event, form);
        let log = self.path("output");
        let writer = self.create_log(log.as_deref(), &trace)?;
        let result = import::import(head.chain(source), format, parser, &settings, writer);
        let summary = match result {
            Ok(summary) => summary,
            Err(ImportError::Write(error))
                if log.is_none() && error.source.kind() == io::ErrorKind::BrokenPipe =>
            {
                return Ok(None);
            }
            Err(error) => {
                // Half a log would look like a whole one.
                if let Some(log) = log.filter(|log| fs::metadata(log).is_ok_and(|file| file.is_file())) {
                    let _ = fs::remove_file(log);
                }
                return Err(failure(&error, guessed, &trace));
            }
        };
        let done = Done { trace, format, guessed, log, job: self.path("job"), summary };
        if let Some(path) = &done.job {
            fs::write(path, job::text(&done)).map_err(|error| {
                (format!("cannot write the job file {}: {}", path.display(), reason(&error)), None)
            })?;
        }
        Ok(Some(done))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get_one::<String>(name).map(String::as_str)
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.arguments.get_one::<PathBuf>(name).cloned()
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let patterns = |name: &str| {
            let patterns = self.arguments.get_many::<String>(name).into_iter().flatten();
            patterns.map(|pattern| Pattern::new(pattern)).collect()
        };
        let kind = |word: &String| IoKind::ALL.iter().find(|(known, _)| known == word).map(|(_, kind)| *kind);
        let selection = Selection {
            files: patterns("file"),
            without: patterns("exclude"),
            pids: self.arguments.get_many("pid").into_iter().flatten().copied().collect(),
            kinds: self.arguments.get_many("only").into_iter().flatten().filter_map(kind).collect(),
            from_ns: self.arguments.get_one("from").copied().unwrap_or(0),
            until_ns: self.arguments.get_one("until").copied(),
            limit: self.arguments.get_one("limit").copied(),
        };
        Ok(Settings {
            selection,
            naming: self.naming()?,
            window: self.arguments.get_one::<u32>("window").map_or(0, |&window| window as usize),
            keeps_times: self.arguments.get_flag("keep-times"),
            most_bad_lines: self.arguments.get_one("bad-lines").copied().unwrap_or(0.0),
        })
    }

    fn naming(&self) -> Result<Naming, Failure> {
        const BLANKS: &str = "an I/O log separates words by blanks: make a link without blanks to the file";
        let valid = |name: &OsStr| match is_valid(name) {
            true => Ok(name.to_owned()),
            false => Err((
                format!("`{}` cannot be the name of a file in an I/O log", name.display()),
                Some(BLANKS),
            )),
        };
        let one = |name: &str| self.arguments.get_one::<OsString>(name).map(|name| valid(name)).transpose();
        let renamed = |pair: &OsString| {
            let bytes = pair.as_bytes();
            let at = bytes.iter().rposition(|&byte| byte == b'=');
            let at = at
                .filter(|&at| at > 0)
                .ok_or_else(|| (format!("--rename={} has no OLD=NEW", pair.display()), None))?;
            Ok((OsStr::from_bytes(&bytes[..at]).to_owned(), valid(OsStr::from_bytes(&bytes[at + 1..]))?))
        };
        let pairs = self.arguments.get_many::<OsString>("rename").into_iter().flatten();
        Ok(Naming {
            target: one("target")?,
            renamed: pairs.map(renamed).collect::<Result<_, Failure>>()?,
            keeps_paths: self.arguments.get_flag("keep-paths"),
            directory: one("directory")?,
        })
    }

    fn form(&self) -> Result<Option<Form>, Failure> {
        let invalid = |error| (format!("invalid value for --blkparse-form: {error}"), None);
        self.text("blkparse-form").map(|text| Form::parse(text).map_err(invalid)).transpose()
    }

    /// The format that is asked for, or that of the first lines, which is `true`.
    fn format(&self, head: &[u8], form: Option<&Form>, trace: &OsStr) -> Result<(Format, bool), Failure> {
        let asked = self.text("format").and_then(Format::from_word);
        if let Some(format) = asked.or(form.map(|_| Format::Blkparse)) {
            return Ok((format, false));
        }
        if let Some(format) = import::guess(head, form) {
            return Ok((format, true));
        }
        if head.iter().all(u8::is_ascii_whitespace) {
            return Err((format!("{} is empty", shown(trace)), None));
        }
        if let Some(why) = import::missing_column(head) {
            let help = "docs/import.md has a bpftrace script whose output can be imported";
            return Err((format!("no log can be made of {}: {why}", shown(trace)), Some(help)));
        }
        let help = "`ferrio import --help` lists the formats; --format names one";
        Err((format!("cannot recognise the format of {} from its first lines", shown(trace)), Some(help)))
    }

    fn create_log(&self, log: Option<&Path>, trace: &OsStr) -> Result<Writer, Failure> {
        let Some(path) = log else {
            let stdout = io::stdout().as_fd().try_clone_to_owned();
            let stdout =
                stdout.map_err(|error| (format!("cannot write the I/O log: {}", reason(&error)), None))?;
            return Ok(Writer::to(File::from(stdout), Path::new("on standard output"), IologVersion::Three));
        };
        let place = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
        if trace != "-" && place(path).is_some_and(|log| Some(log) == place(Path::new(trace))) {
            return Err((
                format!("{} is the trace itself", path.display()),
                Some("write the log to another file"),
            ));
        }
        let file = File::create(path).map_err(|error| {
            (format!("cannot create the I/O log {}: {}", path.display(), reason(&error)), None)
        })?;
        Ok(Writer::to(file, path, IologVersion::Three))
    }
}

/// What to say about an import that failed.
fn failure(error: &ImportError, guessed: bool, trace: &OsStr) -> Failure {
    let help = match error {
        ImportError::WrongFormat { .. } if guessed => {
            Some("--format names the format; --bad-lines allows more such lines")
        }
        ImportError::WrongFormat { .. } => Some("--bad-lines allows more such lines"),
        ImportError::Nothing(_) | ImportError::Read(_) | ImportError::Write(_) => None,
    };
    let message = match error {
        ImportError::Nothing(summary) => {
            let skipped = report::skipped(summary);
            let why = if skipped.is_empty() { String::new() } else { format!(" ({})", skipped.join("; ")) };
            format!("{} contains no I/O that can be replayed{why}", shown(trace))
        }
        other => format!("{}: {other}", shown(trace)),
    };
    (message, help)
}

/// How a trace is called in messages.
fn shown(trace: &OsStr) -> String {
    if trace == "-" { "standard input".to_owned() } else { trace.display().to_string() }
}

/// Opens a trace, and takes off gzip.
fn open(trace: &OsStr) -> io::Result<Box<dyn BufRead>> {
    const SIZE: usize = 256 << 10;
    let mut plain: Box<dyn BufRead> = match trace {
        name if name == "-" => Box::new(BufReader::with_capacity(SIZE, io::stdin())),
        name => Box::new(BufReader::with_capacity(SIZE, File::open(name)?)),
    };
    if plain.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        let unpacked = flate2::bufread::MultiGzDecoder::new(plain);
        plain = Box::new(BufReader::with_capacity(SIZE, unpacked));
    }
    Ok(plain)
}

/// What a file is that begins like this and is no text, and what to do.
fn other_kind(head: &[u8]) -> Option<(&'static str, &'static str)> {
    const UNPACK: &str = "unpack it: `zstd -dc TRACE | ferrio import`, and likewise with xz, bzip2 and unzip";
    const REPLAY: &str = "it can be replayed as it is: read_iolog=TRACE";
    let packed: [&[u8]; 4] = [&[0x28, 0xb5, 0x2f, 0xfd], &[0xfd, b'7', b'z'], b"BZh", b"PK\x03\x04"];
    if packed.iter().any(|start| head.starts_with(start)) {
        return Some(("compressed", UNPACK));
    }
    let magic = |word: u32| word & 0xffff_ff00 == 0x6561_7400;
    if let Some(first) = head.first_chunk()
        && (magic(u32::from_le_bytes(*first)) || magic(u32::from_be_bytes(*first)))
    {
        return Some(("a binary trace of blktrace", REPLAY));
    }
    head.starts_with(b"fio version ").then_some(("an I/O log already", REPLAY))
}
