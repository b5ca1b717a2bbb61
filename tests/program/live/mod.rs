//! The output of a run while it goes on.

mod control_characters;
mod interim_reports;
mod interval_report;
pub mod live_line;
mod metrics;
mod programs_on_terminal;
mod tui;
mod tui_on_hosts;
