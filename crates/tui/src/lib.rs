//! The live view (`ferrio --tui`): shows the jobs of a run full-screen on the terminal.
//!
//! [`LiveView`] is the whole interface for a front end: it takes the events of a run and draws until it is closed. [`HostsView`] is the same
//! for a run on many hosts, whose rows are hosts.
//!
//! - Independent of the terminal: `board` (figures and messages), `view` (selection, sort order and keys), `draw` with its parts `columns`
//!   (the table of jobs) and `graphs` (rates and latencies over time), `style` (characters and colours).
//! - The terminal: `screen` takes it and gives it back, `display` has the thread that draws and reads keys, `signals` handles those on which
//!   the terminal is given back for a while or for good.
#![forbid(unsafe_code)]

mod board;
mod columns;
mod display;
mod draw;
mod graphs;
mod hosts;
mod live;
mod screen;
mod signals;
mod style;
mod view;

pub use hosts::HostsView;
pub use live::LiveView;
pub use screen::{NoTerminal, Terminal};
