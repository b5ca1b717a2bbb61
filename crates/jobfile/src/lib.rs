//! Job files and job options as written: the ini dialect, values, the option catalogue, inheritance, diagnostics.
//!
//! [`Builder`] turns the job options of the command line and the text of job files into a [`JobSet`], or into [`Problems`] with file, line
//! and column. Nothing here queries the machine or knows the effect of an option.

#![forbid(unsafe_code)]

mod builder;
pub mod catalogue;
mod debug_parse;
mod diagnostic;
mod document;
mod environment;
mod evaluate;
pub mod help;
mod jobs;
mod options;
mod sections;
mod sources;
mod value;

pub use builder::Builder;
pub use catalogue::{
    ABSENT_ENGINES, AbsentEngine, MASK, Multi, Opt, OptionRow, OptionScope, OptionStatus, Reach, ValueKind,
    ValueUnit, absent_engine, absent_word, absent_words, canonical_engine, option_names, preset_options,
    rows,
};
pub use diagnostic::{
    Problems, diagnostics_json, diagnostics_render, diagnostics_render_as_fio, masked, nearest,
};
pub use environment::{Environment, ReadFile, VariableLookup};
pub use evaluate::engines_with_option;
pub use help::{Help, cmdhelp, default_text, enghelp, is_listed, option_help, range_text, type_text};
pub use jobs::{Job, JobSet, showcmd};
pub use options::{Decimals, GivenOption, OptionValue, Options, option_texts};
pub use sources::Sources;
pub use value::{
    Amount, Argument, Dialect, NodeList, NodeNumbers, PrioritySplit, SplitEntry, SteadyLimit, Value,
    escaped_name, size_factor, time_factor,
};
