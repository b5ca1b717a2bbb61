//! The form of the option table.
//!
//! Rows stand in blocks, `[Scope; "category" / "group"] { rows }`; a row reads
//!
//! ```text
//! Variant: "name" | "alias", Kind [Multi], Unit [, of Choice] [, default ".."] [, min N] [, max N] [, words [..]] [, under "parent"];
//!     Status; "one line of help";
//! ```
//!
//! `of Fallocate` takes words, help and default from the enum of that name in `ferrio_job`; `default ""` says that fio declares none.
//! An option that is not implemented has no enum: it lists its words as `words ["none": "help", "0" = "none"]`, where `"0" = "none"`
//! is another spelling of `none`. The parts of the table are macros that pass
//! their rows on from file to file; [`catalogue`] gets all of them at once and makes the enum
//! [`Opt`](super::Opt) and the rows.

/// Makes `Opt` and `ROWS` out of all rows of the table.
macro_rules! catalogue {
    ($(
        [$scope:expr; $category:literal / $group:literal] {
            $(
                $opt:ident: $name:literal $(| $alias:literal)*, $kind:ident $($multi:ident)?, $unit:ident $(, of $choice:ident)?
                    $(, default $default:literal)? $(, min $min:literal)? $(, max $max:literal)?
                    $(, words [$($word:literal $(= $main:literal)? $(: $meaning:literal)?),+])? $(, under $parent:literal)?;
                    $status:expr; $help:literal;
            )+
        }
    )+) => {
        /// One row of the option table. A name that several engines have for themselves is one variant per
        /// engine table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Opt {
            $($(#[doc = concat!("`", $name, "`")] $opt,)+)+
        }

        /// All rows, in table order: `ROWS[opt as usize]` is the row of `opt`.
        static ROWS: &[Row] = {
            use Scope::{Core, Engines, Profile};
            use Status::{NoEffect, NotYet, OnlyOff, Unavailable, Works};
            &[$($(Row {
                opt: Opt::$opt,
                name: $name,
                aliases: &[$($alias),*],
                scope: $scope,
                category: $category,
                group: $group,
                kind: Kind::$kind,
                multi: Multi::given(&[$(Multi::$multi)?]),
                default: first(&[$($default,)? $(<ferrio_job::$choice as ferrio_job::Choice>::DEFAULT)?]),
                min: limit(&[$($min)?]),
                max: limit(&[$($max)?]),
                choices: choices(&[
                    $(<ferrio_job::$choice as ferrio_job::Choice>::WORDS)?
                    $(&[$(Word {
                        word: $word,
                        same_as: main(&[$($main)?]),
                        help: concat!("" $(, $meaning)?),
                    }),+])?
                ]),
                unit: Unit::$unit,
                parent: concat!("" $(, $parent)?),
                help: $help,
                status: $status,
            },)+)+]
        };
    };
}
pub(super) use catalogue;
