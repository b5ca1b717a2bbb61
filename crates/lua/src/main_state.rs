//! The state of the main thread: what a script declares, its commands and its reports.

use std::sync::{Arc, OnceLock};

use mlua::{IntoLua, Lua, Value};

use crate::options::{OptionValues, declared};
use crate::run::ScriptRun;
use crate::session::ScriptSessions;
use crate::state::State;
use crate::{DeclaredOption, OptionValue, ScriptFailed, parallel};

/// The script in the main thread.
pub struct MainState {
    run: Arc<ScriptRun>,
    state: State,
    options: Arc<OnceLock<OptionValues>>,
}

/// The threads that run a command of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandThreads {
    /// The main thread.
    Main,
    /// All threads, at the same time.
    All,
}

/// Figures of an interval or of a whole run, for a hook of a script.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Threads that run.
    pub threads_running: u32,
    /// From the start, s.
    pub time_total: f64,
    /// The interval, s.
    pub time_interval: f64,
    /// Events.
    pub events: u64,
    /// Statements that returned rows.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// Other statements.
    pub other: u64,
    /// Errors that began events again.
    pub errors: u64,
    /// Connections that were made again.
    pub reconnects: u64,
    /// The percentile of the latency, s.
    pub latency_pct: f64,
    /// Shortest, mean and longest latency and their sum, s; of a whole run only.
    pub latencies: Option<[f64; 4]>,
    /// Events that wait; in an interval only.
    pub queue_length: u64,
    /// Events under way; in an interval only.
    pub concurrency: u64,
}

impl IntoLua for Statistics {
    fn into_lua(self, lua: &Lua) -> mlua::Result<Value> {
        let table = lua.create_table()?;
        table.set("threads_running", self.threads_running)?;
        for (name, seconds) in [
            ("time_total", self.time_total),
            ("time_interval", self.time_interval),
            ("latency_pct", self.latency_pct),
        ] {
            table.set(name, seconds)?;
        }
        for (name, count) in [
            ("events", self.events),
            ("reads", self.reads),
            ("writes", self.writes),
            ("other", self.other),
            ("errors", self.errors),
            ("reconnects", self.reconnects),
        ] {
            table.set(name, count)?;
        }
        match self.latencies {
            Some(latencies) => {
                let names = ["latency_min", "latency_avg", "latency_max", "latency_sum"];
                names.into_iter().zip(latencies).try_for_each(|(name, seconds)| table.set(name, seconds))?;
            }
            None => {
                table.set("queue_length", self.queue_length)?;
                table.set("concurrency", self.concurrency)?;
            }
        }
        table.into_lua(lua)
    }
}

impl MainState {
    /// Runs the file of the script.
    ///
    /// # Errors
    /// It fails, which has been reported.
    pub fn load(run: ScriptRun) -> Result<MainState, ScriptFailed> {
        let run = Arc::new(run);
        let state = State::load(&run, 0)?;
        Ok(MainState { run, state, options: Arc::default() })
    }

    /// The options that the script declares, sorted by name. `None` if it declares none: such a script takes any option, as those for
    /// versions before 1.0 do.
    ///
    /// # Errors
    /// A declaration makes no sense, which has been reported.
    pub fn declared_options(&self) -> Result<Option<Vec<DeclaredOption>>, ScriptFailed> {
        let cmdline = self.state.cmdline().map_err(|error| error.to_string());
        cmdline.and_then(|cmdline| declared(&cmdline)).map_err(|message| {
            (self.run.fatal)(&format!("{}: {message}", self.run.script.name));
            ScriptFailed
        })
    }

    /// Makes the values of all options known to the script, in all threads. Their names have underscores.
    ///
    /// # Errors
    /// There is no memory for them, which has been reported.
    pub fn set_options(&self, options: Vec<(String, OptionValue)>) -> Result<(), ScriptFailed> {
        self.state.set_options(self.options.get_or_init(|| options))
    }

    /// True if the script defines a function of this name.
    #[must_use]
    pub fn defines(&self, function: &str) -> bool {
        self.state.defines(function)
    }

    /// The threads that run a command; `None` if the script does not have it.
    #[must_use]
    pub fn threads_of_command(&self, command: &str) -> Option<CommandThreads> {
        match self.state.call_plainly::<String>("command_runs", command).as_deref() {
            Ok("one") => Some(CommandThreads::Main),
            Ok("all") => Some(CommandThreads::All),
            _ => None,
        }
    }

    /// Runs a command in the main thread.
    ///
    /// # Errors
    /// It fails, which has been reported.
    pub fn run_command(&self, command: &str) -> Result<(), ScriptFailed> {
        parallel::run_command(&self.state, command)
    }

    /// Runs a command in this many threads at the same time. Each has a state of its own.
    ///
    /// # Errors
    /// It fails in one of them, which has been reported.
    pub fn run_command_in_threads(&self, command: &str, threads: u32) -> Result<(), ScriptFailed> {
        parallel::run_in_threads(&self.run, self.option_values(), command, threads)
    }

    /// Calls a function of the main thread, `init` or `done`, if the script defines it.
    ///
    /// # Errors
    /// It fails, which has been reported.
    pub fn call(&self, function: &str) -> Result<(), ScriptFailed> {
        self.state.call_if_defined(function, ())
    }

    /// The sessions of a run.
    #[must_use]
    pub fn sessions(&self) -> Arc<dyn ferrio_job::SessionSource> {
        Arc::new(ScriptSessions { run: Arc::clone(&self.run), options: Arc::clone(&self.options) })
    }

    /// Gives a hook the figures of an interval, and returns whether the script has it.
    #[must_use]
    pub fn report_interval(&self, statistics: Statistics) -> bool {
        self.hook("report_intermediate", statistics)
    }

    /// Gives a hook the figures of a run, or of a part of it up to a checkpoint, and returns whether the script has it.
    #[must_use]
    pub fn report_total(&self, statistics: Statistics) -> bool {
        self.hook("report_cumulative", statistics)
    }

    /// Ends a document that reports have begun.
    pub fn end_reports(&self) {
        // A failure has been reported.
        let _ = self.state.call_plainly::<()>("end_reports", ());
    }

    fn hook(&self, name: &str, statistics: Statistics) -> bool {
        match self.state.call::<Option<String>>("hook", (name, statistics)) {
            Ok((is_there, failure)) => {
                let is_done = failure.is_none();
                // A hook that fails has been reported; the run goes on, as in sysbench.
                let _ = self.state.check(name, is_done, failure);
                is_there
            }
            Err(ScriptFailed) => true,
        }
    }

    fn option_values(&self) -> &OptionValues {
        self.options.get_or_init(Vec::new)
    }
}
