//! The form of the option table.
//!
//! Rows stand in blocks, `[Scope; "category" / "group"] { rows }`; a row reads
//!
//! ```text
//! Variant: "name" | "alias", Kind [Multi], Unit [, default ".."] [, min N] [, max N] [, words [..]] [, under "parent"];
//!     Status; "one line of help";
//! ```
//!
//! A word written `"0" = "none"` is another spelling of `none`. The parts of the table are macros that pass
//! their rows on from file to file; [`catalogue`] gets all of them at once and makes the enum
//! [`Opt`](super::Opt) and the rows.

/// Makes `Opt` and `ROWS` out of all rows of the table.
macro_rules! catalogue {
    ($(
        [$scope:expr; $category:literal / $group:literal] {
            $(
                $opt:ident: $name:literal $(| $alias:literal)*, $kind:ident $($multi:ident)?, $unit:ident
                    $(, default $default:literal)? $(, min $min:literal)? $(, max $max:literal)?
                    $(, words [$($word:literal $(= $canonical:literal)?),+])? $(, under $parent:literal)?;
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
                default: concat!("" $(, $default)?),
                min: limit(&[$($min)?]),
                max: limit(&[$($max)?]),
                choices: &[$($($word),+)?],
                same: &[$($($(($word, $canonical),)?)+)?],
                unit: Unit::$unit,
                parent: concat!("" $(, $parent)?),
                help: $help,
                status: $status,
            },)+)+]
        };
    };
}
pub(super) use catalogue;
