//! A state of Lua with a script in it.

use std::path::Path;
use std::sync::Arc;

use mlua::{Function, IntoLuaMulti, Lua, LuaOptions, LuaString, StdLib, Table};

use crate::options::OptionValues;
use crate::run::ScriptRun;
use crate::{ScriptFailed, database, random, script};

/// The files of the API in the order of their dependencies. Each is called with the functions that it needs.
const SYSBENCH: &str = include_str!("api/sysbench.lua");
const RANDOM: &str = include_str!("api/random.lua");
const SQL: &str = include_str!("api/sql.lua");
const LEGACY: &str = include_str!("api/legacy.lua");
const REPORT: &str = include_str!("api/report.lua");

/// A state, which stays on its thread.
pub(crate) struct State {
    run: Arc<ScriptRun>,
    /// The functions that call the script.
    program: Table,
    /// `program.event`, which is called most.
    event: Function,
    lua: Lua,
}

impl State {
    /// A state for a thread, in which the file of the script has been run.
    ///
    /// # Errors
    /// The script has failed, which has been reported.
    pub(crate) fn load(run: &Arc<ScriptRun>, thread: u32) -> Result<State, ScriptFailed> {
        let state = State::new(run, thread).map_err(|error| {
            (run.fatal)(&format!("cannot prepare the script: {error}"));
            ScriptFailed
        })?;
        let path = Path::new(&run.script.path).to_string_lossy().into_owned();
        match state.call::<Option<String>>("load", path)? {
            (true, _) => Ok(state),
            (false, message) => {
                (run.fatal)(&message.unwrap_or_default());
                Err(ScriptFailed)
            }
        }
    }

    fn new(run: &Arc<ScriptRun>, thread: u32) -> mlua::Result<State> {
        let lua = new_lua();
        let package: Table = lua.globals().get("package")?;
        package.set("path", script::module_path())?;
        package.set("cpath", script::library_path())?;
        let database = database::functions(&lua, run, thread)?;
        let program: Table = run_file(
            &lua,
            "sysbench",
            SYSBENCH,
            (of_program(&lua, run, thread)?, database.get::<Function>("count")?),
        )?;
        run_file::<()>(&lua, "random", RANDOM, random::begin(&lua, run, thread)?)?;
        run_file::<()>(&lua, "sql", SQL, database)?;
        run_file::<()>(&lua, "legacy", LEGACY, ())?;
        let end_reports: Function = run_file(&lua, "report", REPORT, ())?;
        program.set("end_reports", end_reports)?;
        Ok(State { run: Arc::clone(run), event: program.get("event")?, program, lua })
    }

    /// The table `sysbench.cmdline`.
    pub(crate) fn cmdline(&self) -> mlua::Result<Table> {
        self.lua.globals().get::<Table>("sysbench")?.get("cmdline")
    }

    /// Makes the values of options known to the script.
    pub(crate) fn set_options(&self, options: &OptionValues) -> Result<(), ScriptFailed> {
        let set = || {
            let values =
                self.lua.create_table_from(options.iter().map(|(name, value)| (name.as_str(), value)))?;
            self.program.get::<Function>("set_options")?.call::<()>(values)
        };
        set().map_err(|error: mlua::Error| self.broken(&error))
    }

    /// True if the script defines a function.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.call_plainly("defines", name).unwrap_or(false)
    }

    /// Calls a function that the script may define.
    ///
    /// # Errors
    /// It has failed, which has been reported.
    pub(crate) fn call_if_defined(
        &self,
        name: &str,
        arguments: impl IntoLuaMulti,
    ) -> Result<(), ScriptFailed> {
        if !self.defines(name) {
            return Ok(());
        }
        let mut all = arguments.into_lua_multi(&self.lua).map_err(|error| self.broken(&error))?;
        all.push_front(mlua::Value::String(
            self.lua.create_string(name).map_err(|error| self.broken(&error))?,
        ));
        let (is_done, message) = self.call::<Option<String>>("call", all)?;
        self.check(name, is_done, message)
    }

    /// Performs an event, again and again if it asks for that and the run is not over. Returns whether the thread is to end.
    ///
    /// # Errors
    /// The script has failed, which has been reported.
    pub(crate) fn event(&self, thread: u32, is_over: &dyn Fn() -> bool) -> Result<bool, ScriptFailed> {
        loop {
            let (is_done, what) =
                self.event.call::<(bool, LuaString)>(thread).map_err(|error| self.broken(&error))?;
            if !is_done {
                // sysbench's name of the function that calls `event`.
                self.check("thread_run", false, Some(what.to_string_lossy()))?;
            }
            match &*what.as_bytes() {
                b"again" if !is_over() => {}
                what => return Ok(what == b"over"),
            }
        }
    }

    /// Calls a function of the API that returns whether it has succeeded and one value more.
    pub(crate) fn call<T: mlua::FromLua>(
        &self,
        function: &str,
        arguments: impl IntoLuaMulti,
    ) -> Result<(bool, T), ScriptFailed> {
        self.call_plainly(function, arguments)
    }

    /// Calls a function of the API.
    pub(crate) fn call_plainly<T: mlua::FromLuaMulti>(
        &self,
        function: &str,
        arguments: impl IntoLuaMulti,
    ) -> Result<T, ScriptFailed> {
        let called = self.program.get::<Function>(function).and_then(|function| function.call(arguments));
        called.map_err(|error| self.broken(&error))
    }

    /// Reports the failure of a function of the script.
    pub(crate) fn check(
        &self,
        name: &str,
        is_done: bool,
        message: Option<String>,
    ) -> Result<(), ScriptFailed> {
        if is_done {
            return Ok(());
        }
        (self.run.fatal)(&format!("`{name}' function failed: {}", message.unwrap_or_default()));
        Err(ScriptFailed)
    }

    /// Reports an error outside of the script, such as a lack of memory.
    fn broken(&self, error: &mlua::Error) -> ScriptFailed {
        (self.run.fatal)(&format!("{}: {error}", self.run.script.name));
        ScriptFailed
    }
}

/// A state with all libraries of LuaJIT.
#[allow(unsafe_code)]
fn new_lua() -> Lua {
    // SAFETY: the libraries `ffi` and `debug`, and modules in C, are unsafe if a script uses them wrongly. Scripts are programs that the user
    // chooses to run, with the same rights as any other; sysbench gives them these libraries too. The API of this crate uses `ffi` for
    // functions whose declarations in `api/random.lua` are those of `random.rs`.
    unsafe { Lua::unsafe_new_with(StdLib::ALL, LuaOptions::default()) }
}

/// Runs a file of the API.
fn run_file<T: mlua::FromLuaMulti>(
    lua: &Lua,
    name: &str,
    text: &str,
    arguments: impl IntoLuaMulti,
) -> mlua::Result<T> {
    lua.load(text).set_name(format!("=ferrio/{name}.lua")).call(arguments)
}

/// What the file `sysbench` needs to know.
fn of_program(lua: &Lua, run: &Arc<ScriptRun>, thread: u32) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.set("thread", thread)?;
    table.set("command", run.command.as_deref())?;
    table.set("script", run.script.name.as_str())?;
    table.set("reserves_stdout", run.stdout_is_reserved)?;
    let words = lua.create_table()?;
    for (index, word) in run.words.iter().enumerate() {
        words.raw_set(index, word.as_str())?;
    }
    table.set("argv", words)?;
    table.set("is_of_sysbench", lua.create_function(|_, name: String| Ok(script::is_of_sysbench(&name)))?)?;
    Ok(table)
}
