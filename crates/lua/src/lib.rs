//! Scripts in Lua, with the functions that sysbench 1.0 gives them: `sysbench.rand`, `sysbench.sql` and the others.
//!
//! A [`Script`] is a file; a [`ScriptRun`] is one invocation of it, which all threads share. The main thread has a [`MainState`], which knows the
//! script's options and commands, and each thread of a run has a state of its own, in which its session calls `event`.
//!
//! What scripts see is written in Lua, in `api/*.lua`. These files call functions of `random` and `database`, and nothing else of the program.
//! `state` puts a state together. How values of options become values of Lua is in `options`; `session` and `parallel` have the threads.

#![deny(unsafe_code)]

mod database;
mod main_state;
mod options;
mod parallel;
mod random;
mod result_rows;
mod run;
mod script;
mod session;
mod sql_connection;
mod state;
#[cfg(test)]
mod tests;

pub use main_state::{CommandThreads, MainState, Statistics};
pub use options::{DeclaredOption, OptionKind, OptionValue};
pub use run::ScriptRun;
pub use script::Script;

/// A script has failed, and the reason has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptFailed;
