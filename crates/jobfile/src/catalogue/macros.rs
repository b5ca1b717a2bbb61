//! The form of the option table.
//!
//! Rows are in blocks, `[Scope; "category" / "group"] { rows }`; a row reads
//!
//! ```text
//! Variant: "name" | "alias", Kind [Multi], Unit [, of Choice] [, list WORDS] [, default ".."] [, min N] [, max N] [, words [..]] [, under "parent"];
//!     Status; "one line of help";
//! ```
//!
//! `of Fallocate` takes words, help and default from the enum of that name in `ferrio_job`; `list` takes its words from
//! a constant instead. `default ""` says that fio declares none.
//! An option that is refused has no enum: it lists its words as `words ["none": "help", "0" = "none"]`, where `"0" = "none"`
//! is another spelling of `none`.

/// Makes `ROWS`, the part of the table in a file.
macro_rules! rows {
    ($(
        [$scope:expr; $category:literal / $group:literal] {
            $(
                $opt:ident: $name:literal $(| $alias:literal)*, $kind:ident $($multi:ident)?, $unit:ident
                    $(, of $choice:ident)? $(, list $list:path)?
                    $(, default $default:literal)? $(, min $min:literal)? $(, max $max:literal)?
                    $(, words [$($word:literal $(= $main:literal)? $(: $meaning:literal)?),+])? $(, under $parent:literal)?;
                    $status:expr; $help:literal;
            )+
        }
    )+) => {
        pub(in $crate::catalogue) const ROWS: &[$crate::catalogue::OptionRow] = {
            use $crate::catalogue::opt::Opt;
            use $crate::catalogue::row::{
                Multi, OptionRow, OptionScope::*, OptionStatus::*, ValueKind, ValueUnit,
            };
            &[$($(OptionRow {
                opt: Opt::$opt,
                name: $name,
                aliases: &[$($alias),*],
                scope: $scope,
                category: $category,
                group: $group,
                kind: ValueKind::$kind,
                multi: [$(Multi::$multi,)? Multi::No][0],
                default: [$($default,)? $(<ferrio_job::$choice as ferrio_job::Choice>::DEFAULT,)? ""][0],
                min: [$(Some($min),)? None][0],
                max: [$(Some($max),)? None][0],
                choices: [
                    $($list,)?
                    $(<ferrio_job::$choice as ferrio_job::Choice>::WORDS,)?
                    $(&[$(ferrio_job::Word {
                        word: $word,
                        same_as: [$(Some($main),)? None][0],
                        help: concat!("" $(, $meaning)?),
                    }),+] as &[ferrio_job::Word],)?
                    &[],
                ][0],
                unit: ValueUnit::$unit,
                parent: concat!("" $(, $parent)?),
                help: $help,
                status: $status,
            },)+)+]
        };
    };
}
