//! The command line and what it answers, and the diagnostics of what is wrong in it or in a job file.

mod answers;
mod debug;
mod diagnostics;
mod hostile_names;
mod no_effect;
mod option_rules;
mod options;
mod outputs_over_inputs;
pub mod protection;
mod refusals;
mod shell;
mod status;
