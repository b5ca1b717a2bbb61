//! The option catalogue: every job option as one row of one table.
//!
//! Parsing, `--cmdhelp`, `--showcmd`, suggestions and the command line read these rows; nothing else lists
//! option names. The rows are in the files beside this one, one for each group of fio's options, and in `engine/`;
//! `macros.rs` explains their form, `opt.rs` gives their order.

mod absent;
mod buffers;
mod engine;
mod file;
mod io;
mod log;
mod macros;
mod opt;
mod process;
mod profile;
mod random;
mod rate;
mod stat;
mod verify;
mod zone;

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::LazyLock;

use ferrio_job::Word;
use opt::COUNT;

use crate::value::{Value, parse};

pub use absent::{AbsentEngine, absent_engine, absent_engines, absent_word};
pub use opt::Opt;

/// One option of one option table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The variant that stands for this row.
    pub opt: Opt,
    /// Main name, the one reports and `--showcmd` print.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// Whose option it is.
    pub scope: Scope,
    /// fio's category: general, io, file, stat, log, profile, engine.
    pub category: &'static str,
    /// fio's group within the category, `none` if it has none.
    pub group: &'static str,
    /// Grammar of the value.
    pub kind: Kind,
    /// Whether directions can have values of their own.
    pub multi: Multi,
    /// Declared default as one would write it, empty if there is none.
    pub default: &'static str,
    /// Smallest number accepted, suffixes applied, in the row's unit.
    pub min: Option<i128>,
    /// Largest number accepted; a whole-number row without one is held in 63 bits.
    pub max: Option<i128>,
    /// Accepted words, other spellings included.
    pub choices: &'static [Word],
    /// What a bare number means.
    pub unit: Unit,
    /// Main name of the option it is listed under in help, empty if none.
    pub parent: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// What this program makes of the option.
    pub status: Status,
}

/// Whose option a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every job has it.
    Core,
    /// Jobs using one of these engines have it.
    Engines(&'static [&'static str]),
    /// It belongs to a built-in profile; accepted everywhere.
    Profile(&'static str),
}

/// What this program makes of an option. Every option is parsed; refusing is the plan's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Implemented.
    Works,
    /// Not implemented; to be refused when given.
    NotYet,
    /// Cannot work here, with the reason; to be refused when given.
    Unavailable(&'static str),
    /// Accepted without effect, with the reason.
    NoEffect(&'static str),
    /// Only these value texts, which change nothing, are implemented.
    OnlyOff(&'static [&'static str]),
}

/// Grammar of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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
    /// Text as it stands.
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
    /// The one written in the row, else [`Multi::No`].
    const fn given(written: &[Multi]) -> Multi {
        if written.is_empty() { Multi::No } else { written[0] }
    }

    /// How many directions can have a value of their own, 1 if none.
    pub fn directions(self) -> usize {
        match self {
            Multi::No => 1,
            Multi::ReadWrite => 2,
            Multi::PerDirection => 3,
        }
    }
}

/// What a bare number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
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

impl Opt {
    /// The row of this option.
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// All rows that bear `name` as main name or alias, core first.
    pub fn named(name: &str) -> &'static [Opt] {
        INDEX.get(name).map_or(&[], Vec::as_slice)
    }

    /// The option a job using `engine` means by `name`: a core option, a profile's, or a private one of that
    /// engine.
    pub fn from_name(name: &str, engine: &str) -> Option<Opt> {
        Opt::named(name).iter().copied().find(|opt| opt.row().belongs_to(engine))
    }
}

impl Row {
    /// The choice that is written `word`, in any spelling.
    pub fn choice(&self, word: &str) -> Option<&'static Word> {
        self.choices.iter().find(|choice| choice.word == word)
    }

    /// All accepted words as they may be written.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.choices.iter().map(|choice| choice.word)
    }

    /// The value that holds when the option is not given, if one is declared.
    pub fn default_value(&self) -> Option<&'static Value> {
        DEFAULTS[self.opt as usize].as_ref()
    }

    /// Whether a job using `engine` has this option.
    pub fn belongs_to(&self, engine: &str) -> bool {
        match self.scope {
            Scope::Core | Scope::Profile(_) => true,
            Scope::Engines(engines) => engines.contains(&canonical_engine(engine)),
        }
    }

    /// Whether an assignment is worked off before all others (-1), after them (1), or in the order written
    /// (0) when a section of a job file is evaluated.
    pub(crate) fn turn(&self) -> i8 {
        match self.opt {
            Opt::KbBase | Opt::UnitBase | Opt::Lockfile | Opt::CpusAllowedPolicy => -1,
            Opt::Filename | Opt::FilenameFormat => 1,
            _ if matches!(self.scope, Scope::Engines(_)) => 2,
            _ => 0,
        }
    }
}

/// All rows, in table order.
pub fn rows() -> &'static [Row] {
    &ROWS
}

/// The name an engine is known by: names beginning with `aio` or `linuxaio` mean libaio, others mean
/// themselves.
pub fn canonical_engine(name: &str) -> &str {
    let word = name.split(':').next().unwrap_or(name);
    if word.starts_with("aio") || word.starts_with("linuxaio") { "libaio" } else { word }
}

/// The option names and aliases a job using `engine` has, in table order.
pub fn pool(engine: &str) -> impl Iterator<Item = &'static str> {
    ROWS.iter()
        .filter(move |row| row.belongs_to(engine))
        .flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()))
}

static INDEX: LazyLock<HashMap<&'static str, Vec<Opt>>> = LazyLock::new(|| {
    let mut index = HashMap::<&'static str, Vec<Opt>>::new();
    for row in rows() {
        for name in std::iter::once(row.name).chain(row.aliases.iter().copied()) {
            index.entry(name).or_default().push(row.opt);
        }
    }
    index
});

/// What the declared defaults mean, in table order. A test makes sure that all of them can be read.
static DEFAULTS: LazyLock<Vec<Option<Value>>> = LazyLock::new(|| {
    let no_file = |_: &Path| Err(ErrorKind::NotFound.into());
    let read = |row| parse(row, Some(row.default), 1024, &no_file).ok();
    ROWS.iter().map(|row| Some(row).filter(|row| !row.default.is_empty()).and_then(read)).collect()
});

/// All rows in table order: `ROWS[opt as usize]` is the row of `opt`. Compilation fails unless each option has one row.
static ROWS: [Row; COUNT] = {
    let parts = [
        file::ROWS,
        io::ROWS,
        random::ROWS,
        verify::ROWS,
        rate::ROWS,
        buffers::ROWS,
        log::ROWS,
        stat::ROWS,
        process::ROWS,
        zone::ROWS,
        engine::ABSENT,
        engine::IO_URING,
        engine::LIBAIO,
        engine::MMAP,
        engine::PVSYNC2,
        profile::ROWS,
    ];
    let mut rows = [file::ROWS[0]; COUNT];
    let mut found = [false; COUNT];
    let (mut part, mut row, mut count) = (0, 0, 0);
    while part < parts.len() {
        if row == parts[part].len() {
            (part, row) = (part + 1, 0);
            continue;
        }
        let at = parts[part][row].opt as usize;
        assert!(!found[at], "an option has two rows");
        (found[at], rows[at]) = (true, parts[part][row]);
        (row, count) = (row + 1, count + 1);
    }
    assert!(count == COUNT, "an option has no row");
    rows
};

const fn first(texts: &[&'static str]) -> &'static str {
    if texts.is_empty() { "" } else { texts[0] }
}

const fn choices(lists: &[&'static [Word]]) -> &'static [Word] {
    if lists.is_empty() { &[] } else { lists[0] }
}

const fn main(spelling: &[&'static str]) -> Option<&'static str> {
    if spelling.is_empty() { None } else { Some(spelling[0]) }
}

const fn limit(written: &[i128]) -> Option<i128> {
    if written.is_empty() { None } else { Some(written[0]) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn read(row: &'static Row, text: &str) -> Result<Value, String> {
        let no_file = |_: &Path| Err(ErrorKind::NotFound.into());
        parse(row, Some(text), 1024, &no_file).map_err(|fault| format!("{}={text}: {fault}", row.name))
    }

    #[test]
    fn every_option_is_there_once_and_at_its_place() {
        assert_eq!(rows().len(), 415);
        let mut seen = HashSet::new();
        for (at, row) in rows().iter().enumerate() {
            assert_eq!(row.opt as usize, at, "{}", row.name);
            assert_eq!(row.opt.row().name, row.name);
            let owners = match row.scope {
                Scope::Core => vec!["core"],
                Scope::Engines(engines) => engines.to_vec(),
                Scope::Profile(profile) => vec![profile],
            };
            for owner in owners {
                for name in std::iter::once(row.name).chain(row.aliases.iter().copied()) {
                    assert!(seen.insert((owner, name)), "{name} twice in {owner}");
                }
            }
        }
    }

    #[test]
    fn the_table_has_as_many_core_engine_and_profile_rows_as_fio() {
        let count = |wanted: fn(&Scope) -> bool| rows().iter().filter(|row| wanted(&row.scope)).count();
        // fio's and write_iolog_version
        assert_eq!(count(|scope| matches!(scope, Scope::Core)), 251 + 1);
        // fio's and libaio_backend
        assert_eq!(count(|scope| matches!(scope, Scope::Engines(_))), 150 + 1);
        assert_eq!(count(|scope| matches!(scope, Scope::Profile(_))), 12);
    }

    #[test]
    fn every_default_is_a_value_of_its_own_option() {
        for row in rows().iter().filter(|row| !row.default.is_empty()) {
            assert!(read(row, row.default).is_ok(), "{:?}", read(row, row.default));
        }
    }

    #[test]
    fn every_choice_is_accepted_or_wants_its_argument() {
        for row in rows() {
            for choice in row.choices {
                match read(row, choice.word) {
                    Ok(Value::Word(main, _)) => {
                        assert_eq!(main, choice.main(), "{}={}", row.name, choice.word);
                    }
                    Ok(_) => {}
                    Err(why) => assert!(why.ends_with("expected") || why.ends_with("needs nodes"), "{why}"),
                }
            }
        }
    }

    #[test]
    fn values_said_to_change_nothing_are_values() {
        for row in rows() {
            if let Status::OnlyOff(texts) = row.status {
                assert!(!texts.is_empty(), "{}", row.name);
                for text in texts {
                    assert!(read(row, text).is_ok(), "{:?}", read(row, text));
                }
            }
        }
    }

    #[test]
    fn words_stand_for_words_of_the_same_row_and_parents_are_options() {
        for row in rows() {
            for choice in row.choices.iter().filter(|choice| choice.same_as.is_some()) {
                let main = row.choice(choice.main());
                assert!(main.is_some_and(|main| main.same_as.is_none()), "{}", row.name);
            }
            let parent = rows().iter().any(|other| other.name == row.parent && other.name != row.name);
            assert!(row.parent.is_empty() || parent, "{}", row.name);
        }
    }

    #[test]
    fn every_word_of_a_core_option_has_a_meaning_or_stands_for_another() {
        for row in rows().iter().filter(|row| row.scope == Scope::Core) {
            for choice in row.choices {
                assert_ne!(choice.help.is_empty(), choice.same_as.is_none(), "{} {}", row.name, choice.word);
                assert!(!choice.help.contains('\n'), "{} {}", row.name, choice.word);
            }
        }
    }

    #[test]
    fn help_is_one_line() {
        for row in rows() {
            assert!(
                !row.help.is_empty() && !row.help.contains('\n') && !row.help.ends_with('.'),
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn a_shared_name_means_the_row_of_the_engine_in_use() {
        assert_eq!(Opt::from_name("hipri", "io_uring"), Some(Opt::HipriIoUring));
        assert_eq!(Opt::from_name("hipri", "pvsync2"), Some(Opt::HipriPvsync2));
        assert_eq!(Opt::from_name("hipri", "psync"), None);
        assert_eq!(Opt::named("hipri").len(), 5);
        assert_eq!(Opt::from_name("readwrite", "null"), Some(Opt::Rw));
        assert_eq!(Opt::from_name("userspace_reap", "linuxaio"), Some(Opt::UserspaceReap));
        assert_eq!(Opt::from_name("size", "psync"), Some(Opt::Size), "not the profile's option of that name");
        assert_eq!(Opt::from_name("threads", "psync"), Some(Opt::Threads));
    }

    #[test]
    fn the_pool_of_an_engine_has_its_private_options_only() {
        let libaio: HashSet<_> = pool("libaio").collect();
        assert!(
            libaio.contains("libaio_backend") && libaio.contains("blocksize") && !libaio.contains("hipri")
        );
        assert_eq!(pool("psync").filter(|name| *name == "hipri").count(), 0);
    }
}
