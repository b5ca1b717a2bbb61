//! The random numbers of scripts.
//!
//! LuaJIT calls functions of C libraries without a detour, and code that it has compiled calls them as compiled C does. So the functions
//! that draw numbers have the form of such functions. They find the numbers of their thread in a thread-local variable: a state of Lua never
//! leaves its thread.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;

use ferrio_oltp::RandomNumbers;
use mlua::{LightUserData, Lua, LuaString, Table};

use crate::ScriptRun;

thread_local! {
    /// The numbers of the state that this thread has made last.
    static STREAM: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

struct Stream {
    run: Arc<ScriptRun>,
    numbers: RandomNumbers,
}

/// Gives the thread its random numbers, and returns the functions that draw them.
pub(crate) fn begin(lua: &Lua, run: &Arc<ScriptRun>, thread: u32) -> mlua::Result<Table> {
    let numbers = RandomNumbers::new(&run.random, thread);
    STREAM.set(Some(Stream { run: Arc::clone(run), numbers }));
    let functions = lua.create_table()?;
    for (name, function) in [
        ("default", default as extern "C" fn(u32, u32) -> u32),
        ("uniform", uniform),
        ("gaussian", gaussian),
        ("special", special),
        ("pareto", pareto),
        ("zipfian", zipfian),
    ] {
        functions.set(name, LightUserData(function as *mut c_void))?;
    }
    functions.set("unique", LightUserData(unique as extern "C" fn() -> u32 as *mut c_void))?;
    functions
        .set("uniform_double", LightUserData(uniform_double as extern "C" fn() -> f64 as *mut c_void))?;
    functions
        .set("uniform_uint64", LightUserData(uniform_uint64 as extern "C" fn() -> u64 as *mut c_void))?;
    functions.set(
        "string",
        lua.create_function(|lua, format: LuaString| {
            let mut text = Vec::new();
            draw(|stream| stream.numbers.string(&format.as_bytes(), &mut text));
            lua.create_string(text)
        })?,
    )?;
    functions.set(
        "varstring",
        lua.create_function(|lua, (shortest, longest): (usize, usize)| {
            let mut text = Vec::new();
            draw(|stream| stream.numbers.varstring(shortest, longest, &mut text));
            lua.create_string(text)
        })?,
    )?;
    Ok(functions)
}

/// Draws a number and discards it.
pub(crate) fn skip() {
    draw(|stream| stream.numbers.skip());
}

/// Zero if the thread has no state, which nothing that a script calls can observe.
fn draw<T: Default>(from: impl FnOnce(&mut Stream) -> T) -> T {
    STREAM.with_borrow_mut(|stream| stream.as_mut().map(from).unwrap_or_default())
}

macro_rules! of_range {
    ($($name:ident)*) => {
        $(extern "C" fn $name(first: u32, last: u32) -> u32 {
            draw(|stream| stream.numbers.$name(first.into(), last.into()) as u32)
        })*
    };
}

of_range! { default uniform gaussian special pareto zipfian }

extern "C" fn unique() -> u32 {
    draw(|stream| stream.run.unique.next())
}

extern "C" fn uniform_double() -> f64 {
    draw(|stream| stream.numbers.uniform_double())
}

extern "C" fn uniform_uint64() -> u64 {
    draw(|stream| stream.numbers.bits())
}
