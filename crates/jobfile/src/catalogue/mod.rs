//! The option catalogue: every job option as one row of one table.
//!
//! Parsing, `--cmdhelp`, `--showcmd`, suggestions and the command line read these rows; nothing else lists
//! option names. The rows are in the files beside this one, one for each group of fio's options, and in `engine/`;
//! `macros.rs` explains their form, `opt.rs` gives their order.

#[macro_use]
mod macros;

mod absent;
mod buffers;
mod database;
mod engine;
mod file;
mod io;
mod log;
mod names;
mod opt;
mod process;
mod profile;
mod random;
mod rate;
mod reach;
mod row;
mod stat;
mod verify;
mod zone;

use ferrio_job::{Compat, DatabaseModel};
use opt::COUNT;

pub use absent::{ABSENT_ENGINES, AbsentEngine, absent_engine, absent_word};
pub use opt::Opt;
pub use reach::Reach;
pub use row::{
    Multi, OptionRow, OptionScope, OptionStatus, ValueKind, ValueUnit, absent_words, canonical_engine,
};

impl Opt {
    /// The row of this option.
    pub fn row(self) -> &'static OptionRow {
        &ROWS[self as usize]
    }

    /// Whether its values are passwords or keys, which messages and reports do not contain.
    #[must_use]
    pub fn is_secret(self) -> bool {
        matches!(
            self,
            Opt::HttpPass
                | Opt::HttpS3Key
                | Opt::HttpS3SecurityToken
                | Opt::HttpS3SseCustomerKey
                | Opt::HttpSwiftAuthToken
        )
    }

    /// The option with this name in a job that uses `engine`: a core option, one of a database or a profile, or a private one of that
    /// engine.
    pub fn from_name(name: &str, engine: &str, compat: Compat) -> Option<Opt> {
        let is_meant = |opt: &Opt| opt.row().belongs_to(engine) && opt.row().is_known_to(compat);
        Opt::named(name).find(is_meant)
    }

    /// The default in jobs of this database model, as written in a job file, if it differs from the catalogue's.
    pub fn preset(self, model: DatabaseModel) -> Option<&'static str> {
        let (_, values) = database::PRESETS.iter().find(|(opt, _)| *opt == self)?;
        let at = DatabaseModel::ALL.iter().position(|other| *other == model)?;
        values.get(at).copied().filter(|value| *value != "-")
    }
}

/// Replaces a password or key.
pub const MASK: &str = "***";

/// All rows, in table order.
pub fn rows() -> &'static [OptionRow] {
    &ROWS
}

/// The options whose default depends on the model of a database.
pub fn preset_options() -> impl Iterator<Item = Opt> {
    database::PRESETS.iter().map(|(opt, _)| *opt)
}

/// The option names and aliases a job using `engine` has, in table order.
pub fn option_names(engine: &str, compat: Compat) -> impl Iterator<Item = &'static str> {
    ROWS.iter()
        .filter(move |row| row.belongs_to(engine) && row.is_known_to(compat))
        .flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()))
}

/// All rows in table order: `ROWS[opt as usize]` is the row of `opt`. Compilation fails unless each option has one row.
static ROWS: [OptionRow; COUNT] = {
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
        engine::cpuio::ROWS,
        engine::e4defrag::ROWS,
        engine::exec::ROWS,
        engine::http::ROWS,
        engine::io_uring::ROWS,
        engine::external::ROWS,
        engine::libaio::ROWS,
        engine::filestat::ROWS,
        engine::mmap::ROWS,
        engine::mtd::ROWS,
        engine::nbd::ROWS,
        engine::net::ROWS,
        engine::pvsync2::ROWS,
        engine::sg::ROWS,
        engine::absent::ROWS,
        database::ROWS,
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_option_is_there_once_and_at_its_place() {
        let mut seen = HashSet::new();
        for (at, row) in rows().iter().enumerate() {
            assert_eq!(row.opt as usize, at, "{}", row.name);
            assert_eq!(row.opt.row().name, row.name);
            let owners = match row.scope {
                OptionScope::Core => vec!["core"],
                OptionScope::Engines(engines) => engines.to_vec(),
                OptionScope::Database => vec!["core", "database"],
                OptionScope::Profile(profile) => vec![profile],
            };
            for owner in owners {
                for name in std::iter::once(row.name).chain(row.aliases.iter().copied()) {
                    assert!(seen.insert((owner, name)), "{name} twice in {owner}");
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
        for row in rows().iter().filter(|row| row.scope == OptionScope::Core) {
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
        assert_eq!(Opt::from_name("hipri", "io_uring", Compat::Fio), Some(Opt::HipriIoUring));
        assert_eq!(Opt::from_name("hipri", "pvsync2", Compat::Fio), Some(Opt::HipriPvsync2));
        assert_eq!(Opt::from_name("hipri", "psync", Compat::Fio), None);
        assert_eq!(Opt::named("hipri").count(), 5);
        assert_eq!(Opt::from_name("readwrite", "null", Compat::Fio), Some(Opt::Rw));
        assert_eq!(Opt::from_name("userspace_reap", "linuxaio", Compat::Fio), Some(Opt::UserspaceReap));
        assert_eq!(
            Opt::from_name("size", "psync", Compat::Fio),
            Some(Opt::Size),
            "not the profile's option of that name"
        );
        assert_eq!(Opt::from_name("threads", "psync", Compat::Fio), Some(Opt::Threads));
    }

    #[test]
    fn the_pool_of_an_engine_has_its_private_options_only() {
        let libaio: HashSet<_> = option_names("libaio", Compat::Ferrio).collect();
        assert!(
            libaio.contains("libaio_backend") && libaio.contains("blocksize") && !libaio.contains("hipri")
        );
        assert_eq!(option_names("psync", Compat::Ferrio).filter(|name| *name == "hipri").count(), 0);
    }
}
