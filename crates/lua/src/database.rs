//! The functions that `api/sql.lua` calls. Each that can fail returns true and its results, or false and the reason: a message, and for the
//! error of a statement its number, its state and whether it begins the event again.

use std::sync::Arc;

use ferrio_sql::{Driver, Reply, ReplyKind, Value as SqlValue};
use mlua::{AnyUserData, IntoLuaMulti, Lua, LuaString, MultiValue, Table, UserData, Value, Variadic};

use crate::result_rows::ResultRows;
use crate::run::ScriptRun;
use crate::sql_connection::{SqlConnection, SqlFailure};

impl UserData for SqlConnection {}

/// The number of a statement's error in what a script sees.
const NOT_UTF8: &str = "the text of a statement must be UTF-8";

/// Makes the functions, for a thread.
pub(crate) fn functions(lua: &Lua, run: &Arc<ScriptRun>, thread: u32) -> mlua::Result<Table> {
    let functions = lua.create_table()?;
    connections(lua, &functions, run, thread)?;
    statements(lua, &functions)?;
    let counted = Arc::clone(run);
    let count = lua.create_function(move |_, counter: u32| {
        let counters = counted.target.counters.of(thread);
        // The numbers of `sb_counter_type`.
        match counter {
            0 => counters.answered(ReplyKind::Nothing),
            1 => counters.answered(ReplyKind::Rows(1)),
            2 => counters.answered(ReplyKind::Changed(1)),
            4 => counters.ignored(),
            5 => counters.reconnected(),
            _ => {}
        }
        Ok(())
    })?;
    functions.set("count", count)?;
    Ok(functions)
}

fn connections(lua: &Lua, functions: &Table, run: &Arc<ScriptRun>, thread: u32) -> mlua::Result<()> {
    let of_run = Arc::clone(run);
    let driver = move |_: &Lua, name: String| {
        let known = Driver::ALL.iter().any(|driver| driver.name() == name);
        if !known {
            (of_run.fatal)(&format!("invalid database driver name: '{name}'"));
            return Ok((None, Some("failed to initialize the DB driver".to_owned())));
        }
        let of_options = of_run.target.options.driver.name();
        if name != of_options {
            let message = format!("the options are those of the driver {of_options}: use --db-driver={name}");
            return Ok((None, Some(message)));
        }
        Ok((Some(name), None))
    };
    functions.set("driver", lua.create_function(driver)?)?;
    let of_run = Arc::clone(run);
    let connect = move |lua: &Lua, _driver: String| match of_run.target.connect(thread) {
        Ok(connection) => (true, lua.create_userdata(SqlConnection::new(connection))?).into_lua_multi(lua),
        Err(failure) => {
            failure.lines.iter().for_each(|line| (of_run.fatal)(line));
            (false, "connection creation failed").into_lua_multi(lua)
        }
    };
    functions.set("connect", lua.create_function(connect)?)?;
    let of_run = Arc::clone(run);
    let complain = move |_: &Lua, connection: AnyUserData| {
        let lines = connection.borrow_mut::<SqlConnection>()?.take_lines();
        lines.iter().for_each(|line| (of_run.fatal)(line));
        Ok(())
    };
    functions.set("complain", lua.create_function(complain)?)?;
    let ignore = |_: &Lua, connection: AnyUserData| {
        connection.borrow_mut::<SqlConnection>()?.ignore_error();
        Ok(())
    };
    functions.set("ignore", lua.create_function(ignore)?)?;
    let disconnect = |_: &Lua, connection: AnyUserData| {
        connection.borrow_mut::<SqlConnection>()?.disconnect();
        Ok(())
    };
    functions.set("disconnect", lua.create_function(disconnect)?)?;
    let reconnect = |lua: &Lua, connection: AnyUserData| {
        let result = connection.borrow_mut::<SqlConnection>()?.reconnect();
        answer(lua, result, |_, ()| Ok(()))
    };
    functions.set("reconnect", lua.create_function(reconnect)?)
}

fn statements(lua: &Lua, functions: &Table) -> mlua::Result<()> {
    let query = |lua: &Lua, (connection, text): (AnyUserData, LuaString)| {
        let Ok(text) = text.to_str() else { return (false, NOT_UTF8).into_lua_multi(lua) };
        let reply = connection.borrow_mut::<SqlConnection>()?.query(&text);
        answer(lua, reply, result)
    };
    functions.set("query", lua.create_function(query)?)?;
    let fetch = |lua: &Lua, rows: AnyUserData| rows.borrow_mut::<ResultRows>()?.fetch(lua);
    functions.set("fetch", lua.create_function(fetch)?)?;
    let prepare = |lua: &Lua, (connection, text): (AnyUserData, LuaString)| {
        let Ok(text) = text.to_str() else { return (false, NOT_UTF8).into_lua_multi(lua) };
        let number = connection.borrow_mut::<SqlConnection>()?.prepare(&text);
        answer(lua, number, |_, number| Ok(number))
    };
    functions.set("prepare", lua.create_function(prepare)?)?;
    let execute =
        |lua: &Lua, (connection, number, kinds, values): (AnyUserData, usize, LuaString, Variadic<Value>)| {
            let texts: Vec<_> =
                values.iter().map(|value| value.as_string().map(LuaString::as_bytes)).collect();
            let kinds = kinds.as_bytes();
            let of_value =
                |(index, value): (usize, &Value)| sql_value(value, kinds.get(index), texts[index].as_deref());
            let values: Vec<SqlValue<'_>> = values.iter().enumerate().map(of_value).collect();
            let reply = connection.borrow_mut::<SqlConnection>()?.execute(number, &values);
            answer(lua, reply, result)
        };
    functions.set("execute", lua.create_function(execute)?)?;
    let close = |_: &Lua, (connection, number): (AnyUserData, usize)| {
        connection.borrow_mut::<SqlConnection>()?.close(number);
        Ok(())
    };
    functions.set("close", lua.create_function(close)?)?;
    let bulk_init = |lua: &Lua, (connection, head): (AnyUserData, LuaString)| {
        let Ok(head) = head.to_str() else { return (false, NOT_UTF8).into_lua_multi(lua) };
        connection.borrow_mut::<SqlConnection>()?.bulk_init(&head);
        true.into_lua_multi(lua)
    };
    functions.set("bulk_init", lua.create_function(bulk_init)?)?;
    let bulk_next = |lua: &Lua, (connection, values): (AnyUserData, LuaString)| {
        let Ok(values) = values.to_str() else { return (false, NOT_UTF8).into_lua_multi(lua) };
        let sent = connection.borrow_mut::<SqlConnection>()?.bulk_next(&values);
        answer(lua, sent, |_, ()| Ok(()))
    };
    functions.set("bulk_next", lua.create_function(bulk_next)?)?;
    let bulk_done = |lua: &Lua, connection: AnyUserData| {
        let sent = connection.borrow_mut::<SqlConnection>()?.bulk_done();
        answer(lua, sent, |_, ()| Ok(()))
    };
    functions.set("bulk_done", lua.create_function(bulk_done)?)
}

/// What a script gets for the value or the failure of a call.
fn answer<T, R: IntoLuaMulti>(
    lua: &Lua,
    result: Result<T, SqlFailure>,
    of_value: impl FnOnce(&Lua, T) -> mlua::Result<R>,
) -> mlua::Result<MultiValue> {
    match result {
        Ok(value) => {
            let mut values = of_value(lua, value)?.into_lua_multi(lua)?;
            values.push_front(Value::Boolean(true));
            Ok(values)
        }
        Err(SqlFailure::Misuse(message)) => (false, message).into_lua_multi(lua),
        Err(SqlFailure::Statement { message, number, state, restarts }) => {
            (false, message, number, state, restarts).into_lua_multi(lua)
        }
    }
}

/// The rows of a reply, how many there are, and the number of columns.
fn result(lua: &Lua, reply: Reply) -> mlua::Result<(Value, u64, usize)> {
    let ReplyKind::Rows(count) = reply.kind else { return Ok((Value::Nil, 0, 0)) };
    let rows = lua.create_userdata(ResultRows::new(reply.rows))?;
    Ok((Value::UserData(rows), count, reply.columns.len()))
}

/// A value of a script as a parameter of this kind: `i`, `d` or `s`.
fn sql_value<'a>(value: &Value, kind: Option<&u8>, text: Option<&'a [u8]>) -> SqlValue<'a> {
    let number = match value {
        Value::Nil => return SqlValue::Null,
        Value::Integer(number) => *number as f64,
        Value::Number(number) => *number,
        _ => return text_value(kind, text.unwrap_or_default()),
    };
    // Fractions are cut off, as C does.
    if kind == Some(&b'i') { SqlValue::Int(number as i64) } else { SqlValue::Double(number) }
}

/// The text of a number of 64 bits is exact where a number of Lua is not.
fn text_value<'a>(kind: Option<&u8>, text: &'a [u8]) -> SqlValue<'a> {
    let number =
        (kind == Some(&b'i')).then(|| std::str::from_utf8(text).ok()?.parse::<i128>().ok()).flatten();
    number.map_or(SqlValue::Text(text), |number| SqlValue::Int(number as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_kind_of_the_parameter() {
        let int = |value: Value| sql_value(&value, Some(&b'i'), None);
        assert_eq!(int(Value::Number(1.7)), SqlValue::Int(1));
        assert_eq!(int(Value::Number(-3e12)), SqlValue::Int(-3_000_000_000_000));
        assert_eq!(int(Value::Nil), SqlValue::Null);
        assert_eq!(sql_value(&Value::Integer(3), Some(&b'd'), None), SqlValue::Double(3.0));
        assert_eq!(text_value(Some(&b's'), b"12"), SqlValue::Text(b"12"));
        assert_eq!(text_value(Some(&b'i'), b"9007199254740993"), SqlValue::Int(9_007_199_254_740_993));
    }
}
