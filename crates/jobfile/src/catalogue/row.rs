//! A row of the option table: the grammar and unit of the value, which jobs have the option, and whether ferrio supports it.

use ferrio_job::{Compat, Word};

use super::absent::{absent_engine, absent_word};
use super::opt::Opt;

/// One option of one option table.
#[derive(Debug, Clone, Copy)]
pub struct OptionRow {
    /// The variant of this row.
    pub opt: Opt,
    /// Main name, the one reports and `--showcmd` print.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// The jobs that have the option.
    pub scope: OptionScope,
    /// fio's category: general, io, file, stat, log, profile, engine.
    pub category: &'static str,
    /// fio's group within the category, `none` if it has none.
    pub group: &'static str,
    /// Grammar of the value.
    pub kind: ValueKind,
    /// Whether directions can have values of their own.
    pub multi: Multi,
    /// Declared default as written in a job file, empty if there is none.
    pub default: &'static str,
    /// Smallest number accepted, suffixes applied, in the row's unit.
    pub min: Option<i128>,
    /// Largest number accepted; without one, whole numbers have 63 bits.
    pub max: Option<i128>,
    /// Accepted words, other spellings included.
    pub choices: &'static [Word],
    /// The unit of a number without a suffix.
    pub unit: ValueUnit,
    /// Main name of the option it is listed under in help, empty if none.
    pub parent: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Whether ferrio supports the option.
    pub status: OptionStatus,
}

/// The jobs that have an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionScope {
    /// Every job has it.
    Core,
    /// Jobs using one of these engines have it.
    Engines(&'static [&'static str]),
    /// Jobs with a `workload` have it; as `fio`, the program does not know it.
    Database,
    /// It belongs to a built-in profile; accepted everywhere.
    Profile(&'static str),
}

/// Whether ferrio supports an option. Every option is parsed; the planner refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionStatus {
    /// Implemented.
    Works,
    /// Cannot work here, with the reason: refused when given.
    Unavailable(&'static str),
    /// Accepted without effect, with the reason.
    NoEffect(&'static str),
    /// Only these value texts, which change nothing, are implemented.
    OnlyOff(&'static [&'static str]),
}

/// Grammar of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Bare name for on, or a number: 0 is off, anything else on.
    Flag,
    /// 0 or 1.
    Bool,
    /// Whole number; size suffixes multiply.
    Int,
    /// Whole number of bytes (or bytes per second).
    Size,
    /// Size, `N%` or `Nz`.
    SizeZone,
    /// Size or `low-high`.
    SizeRange,
    /// Time or `low-high`.
    TimeRange,
    /// `low-high` or `low:high`, in bytes.
    Range,
    /// Number with a time suffix.
    Time,
    /// One decimal number.
    Float,
    /// Up to 20 decimal numbers joined by `:`.
    FloatList,
    /// Text as it is.
    Str,
    /// Texts joined by `:`; `\:` is a colon.
    StrList,
    /// One of the choices.
    Enum,
    /// One of the choices, perhaps with `:argument`.
    EnumArg,
    /// Choices joined by `,`, perhaps with `:argument`.
    EnumList,
    /// Bare name or text.
    OptStr,
    /// `size/percent:size/percent...`.
    Bssplit,
    /// `size/percent[/class/level[/hint]]:...`.
    PrioBssplit,
    /// One word, or `word/percent:word/percent...`.
    ModeSplit,
    /// Bytes written as numbers, `"text"` and `'file'`.
    Pattern,
    /// CPU numbers and ranges joined by `,`.
    CpuList,
    /// NUMA node numbers and ranges joined by `,`, or `all`.
    NodeList,
    /// Numbers up to 65535 and ranges joined by `,`.
    IdList,
    /// `mode` or `mode:nodes`.
    NumaPolicy,
    /// Choices joined by `,`.
    WordList,
    /// Error names or numbers joined by `:`, per direction joined by `,`.
    ErrorList,
    /// Withdrawn: any use is an error.
    Deprecated,
    /// Accepted with a notice, does nothing.
    Ignored,
}

/// Whether an option takes a value per direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multi {
    /// One value.
    No,
    /// Up to two: read, write.
    ReadWrite,
    /// Up to three: read, write, trim.
    PerDirection,
}

impl Multi {
    /// Number of directions that can have a value of their own, 1 if none.
    pub fn directions(self) -> usize {
        match self {
            Multi::No => 1,
            Multi::ReadWrite => 2,
            Multi::PerDirection => 3,
        }
    }
}

/// The unit of a number without a suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueUnit {
    /// No unit.
    Plain,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Percent.
    Percent,
    /// A count.
    Count,
    /// A count per second.
    CountPerSecond,
    /// MiB.
    Mebibytes,
}

impl ValueUnit {
    /// The unit in the words of help; `None` for counts and numbers without one.
    pub fn text(self) -> Option<&'static str> {
        match self {
            ValueUnit::Plain | ValueUnit::Count => None,
            ValueUnit::CountPerSecond => Some("per second"),
            ValueUnit::Bytes => Some("bytes"),
            ValueUnit::BytesPerSecond => Some("bytes per second"),
            ValueUnit::Seconds => Some("seconds"),
            ValueUnit::Milliseconds => Some("milliseconds"),
            ValueUnit::Microseconds => Some("microseconds"),
            ValueUnit::Percent => Some("percent"),
            ValueUnit::Mebibytes => Some("MiB"),
        }
    }

    /// Whether it is one of time.
    pub fn is_time(self) -> bool {
        matches!(self, ValueUnit::Seconds | ValueUnit::Milliseconds | ValueUnit::Microseconds)
    }
}

impl OptionRow {
    /// The choice with this spelling.
    pub fn choice(&self, word: &str) -> Option<&'static Word> {
        self.choices.iter().find(|choice| choice.word == word)
    }

    /// The choices that a job can use: without absent engines and refused words. Help and completions list these.
    pub fn usable_choices(&self) -> impl Iterator<Item = &'static Word> {
        let only = match self.status {
            OptionStatus::OnlyOff(texts) => Some(texts),
            _ => None,
        };
        let opt = self.opt;
        self.choices.iter().filter(move |choice| {
            let word = choice.main();
            only.is_none_or(|texts| texts.contains(&word)) && is_usable(opt, word)
        })
    }

    /// All accepted words in all spellings.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.choices.iter().map(|choice| choice.word)
    }

    /// Whether a job using `engine` may have this option. One of a database needs a `workload` too, which may follow it.
    pub fn belongs_to(&self, engine: &str) -> bool {
        match self.scope {
            OptionScope::Core | OptionScope::Database | OptionScope::Profile(_) => true,
            OptionScope::Engines(engines) => engines.contains(&canonical_engine(engine)),
        }
    }

    /// Whether jobs can name the option: as fio, the program does not know the options of databases and those of hosts.
    pub fn is_known_to(&self, compat: Compat) -> bool {
        compat == Compat::Ferrio || (self.scope != OptionScope::Database && self.group != "hosts")
    }

    /// The order of evaluation in a section of a job file: smaller numbers first, equal ones in the order written.
    pub(crate) fn evaluation_order(&self) -> i8 {
        match self.opt {
            Opt::KbBase | Opt::UnitBase | Opt::Lockfile | Opt::CpusAllowedPolicy => -1,
            Opt::Filename | Opt::FilenameFormat => 1,
            _ if matches!(self.scope, OptionScope::Engines(_)) => 2,
            _ => 0,
        }
    }
}

/// The words of an option that are not available, with the reasons; without engines, which [`super::ABSENT_ENGINES`] lists.
#[must_use]
pub fn absent_words(row: &OptionRow) -> Vec<(&'static str, &'static str)> {
    row.choices.iter().filter_map(|choice| Some((choice.word, absent_word(row.opt, choice.word)?))).collect()
}

/// False for engines, and words of other options, that are always refused.
fn is_usable(opt: Opt, word: &str) -> bool {
    absent_word(opt, word).is_none() && (opt != Opt::Ioengine || absent_engine(word).is_none())
}

/// The name of an engine without a colon and the text after it. Names that begin with `aio` or `linuxaio` mean libaio.
pub fn canonical_engine(name: &str) -> &str {
    let word = name.split(':').next().unwrap_or(name);
    if word.starts_with("aio") || word.starts_with("linuxaio") { "libaio" } else { word }
}
