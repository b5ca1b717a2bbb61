//! Job files and job options as written: the ini dialect, values, the option catalogue, inheritance,
//! diagnostics.
//!
//! [`Builder`] takes the command line's job options and the text of job files and makes a [`JobSet`], or
//! [`Problems`] that say file, line and column. Nothing here looks at the machine or knows what an option
//! does.

#![forbid(unsafe_code)]

mod builder;
pub mod catalogue;
mod diagnostic;
mod document;
mod environment;
mod evaluate;
pub mod help;
mod jobs;
mod options;
mod reading;
mod sections;
mod showcmd;
mod sources;
mod suggest;
mod value;

pub use builder::Builder;
pub use catalogue::{
    AbsentEngine, Multi, Opt, OptionRow, OptionScope, OptionStatus, ValueKind, ValueUnit, absent_engine,
    absent_engines, absent_word, canonical_engine, pool, rows,
};
pub use diagnostic::{Problems, diagnostics_json, diagnostics_render};
pub use environment::{Environment, ReadFile, Variable};
pub use help::{Help, cmdhelp, enghelp, is_listed, range_text, type_text, unit_text};
pub use jobs::{Job, JobSet};
pub use options::{Decimals, Given, OptionValue, Options};
pub use reading::{Reading, UnknownReading};
pub use showcmd::showcmd;
pub use sources::Sources;
pub use suggest::nearest;
pub use value::{Amount, Argument, NodeList, NodeNumbers, PrioritySplit, Split, SteadyLimit, Value};
