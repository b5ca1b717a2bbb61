//! Commands of a script, in one thread or in all.

use std::sync::Arc;
use std::thread;

use crate::ScriptFailed;
use crate::options::OptionValues;
use crate::run::ScriptRun;
use crate::state::State;

/// sysbench's name of the function that calls commands.
const CALLER: &str = "sysbench.cmdline.call_command";

pub(crate) fn run_command(state: &State, command: &str) -> Result<(), ScriptFailed> {
    let (is_done, message) = state.call::<Option<String>>("run_command", command)?;
    let is_own = !matches!(command, "prepare" | "cleanup" | "help");
    state.check(if is_own { CALLER } else { command }, is_done, message)
}

pub(crate) fn run_in_threads(
    run: &Arc<ScriptRun>,
    options: &OptionValues,
    command: &str,
    threads: u32,
) -> Result<(), ScriptFailed> {
    let in_thread = |number: u32| {
        let state = State::load(run, number)?;
        state.set_options(options)?;
        run_command(&state, command)
    };
    let results: Vec<_> = thread::scope(|scope| {
        let spawn = |number| {
            thread::Builder::new()
                .name(format!("script {number}"))
                .spawn_scoped(scope, move || in_thread(number))
        };
        let running: Vec<_> = (0..threads).map(spawn).collect();
        let join =
            |thread: std::io::Result<thread::ScopedJoinHandle<'_, Result<(), ScriptFailed>>>| match thread {
                Ok(thread) => thread.join().unwrap_or(Err(ScriptFailed)),
                Err(error) => {
                    (run.fatal)(&format!("cannot start a thread: {}", ferrio_job::reason(&error)));
                    Err(ScriptFailed)
                }
            };
        running.into_iter().map(join).collect()
    });
    results.into_iter().collect()
}
