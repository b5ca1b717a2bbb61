//! Sub-commands.

mod check;
mod check_extremes;
mod check_paths;
mod compare;
mod import;
mod import_outputs;
mod import_status;
mod quick;
mod report;
mod sweep;
