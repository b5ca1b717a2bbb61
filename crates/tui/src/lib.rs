//! The live view (`ferrio --tui`): what the jobs of a run do, full-screen on the terminal.
//!
//! [`LiveView`] is all that a front end needs: it takes the events of a run and draws until it is closed.
//!
//! - What is shown, without any terminal: `board` (figures and messages), `view` (what the user has chosen, and keys), `draw` with its parts
//!   `columns` (the table of jobs) and `graphs` (rates and latencies over time), `style` (characters and colours).
//! - The terminal: `screen` takes it and gives it back, `live` has the thread that draws and reads keys, `signals` are those on which it
//!   gives the terminal back for a while or for good.
#![forbid(unsafe_code)]

mod board;
mod columns;
mod draw;
mod graphs;
mod live;
mod screen;
mod signals;
mod style;
mod view;

pub use live::LiveView;
pub use screen::{NoTerminal, Terminal};
