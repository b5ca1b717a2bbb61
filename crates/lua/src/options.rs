//! Options that a script declares, and the values of all options as scripts see them.

use mlua::{IntoLua, Lua, Table, Value};

/// Kinds of options, in the order of their numbers in `sysbench.cmdline`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// On or off.
    Flag,
    /// A number.
    Number,
    /// A number that may have a suffix K, M, G or T.
    Size,
    /// A number with decimals.
    Decimal,
    /// A text.
    Text,
    /// Texts separated by commas.
    List,
    /// The name of a file.
    File,
}

/// The kinds, in the order of `ARG_BOOL` (1) and those that follow.
const KINDS: [OptionKind; 7] = [
    OptionKind::Flag,
    OptionKind::Number,
    OptionKind::Size,
    OptionKind::Decimal,
    OptionKind::Text,
    OptionKind::List,
    OptionKind::File,
];

/// An option that a script declares in `sysbench.cmdline.options`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredOption {
    /// As the script writes it.
    pub name: String,
    /// The kind of its values.
    pub kind: OptionKind,
    /// The value if none is given, as it would be written; `None` if there is none.
    pub default: Option<String>,
    /// One line.
    pub help: String,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// On or off.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Texts.
    List(Vec<String>),
}

/// Options by their names with underscores.
pub(crate) type OptionValues = Vec<(String, OptionValue)>;

impl IntoLua for &OptionValue {
    fn into_lua(self, lua: &Lua) -> mlua::Result<Value> {
        match self {
            OptionValue::Flag(flag) => flag.into_lua(lua),
            OptionValue::Number(number) => number.into_lua(lua),
            OptionValue::Text(text) => text.as_str().into_lua(lua),
            OptionValue::List(words) => words.as_slice().into_lua(lua),
        }
    }
}

/// Reads what a script declares, sorted by name. `None` if it declares nothing.
///
/// # Errors
/// A declaration makes no sense.
pub(crate) fn declared(cmdline: &Table) -> Result<Option<Vec<DeclaredOption>>, String> {
    let options = match cmdline.get::<Value>("options") {
        Ok(Value::Table(options)) => options,
        Ok(Value::Nil) | Err(_) => return Ok(None),
        Ok(other) => {
            return Err(format!("sysbench.cmdline.options has to be a table, not a {}", other.type_name()));
        }
    };
    let mut all = Vec::new();
    for pair in options.pairs::<Value, Value>() {
        let (name, declaration) = pair.map_err(|error| error.to_string())?;
        let Some(name) = text_of(&name) else {
            return Err("a name in sysbench.cmdline.options is not a string".to_owned());
        };
        let Value::Table(declaration) = declaration else {
            return Err(format!(
                "option '{name}' has to be a table {{description, default, type}}, not a {}",
                declaration.type_name()
            ));
        };
        all.push(of_declaration(name, &declaration)?);
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Some(all))
}

fn of_declaration(name: String, declaration: &Table) -> Result<DeclaredOption, String> {
    let at = |index: i64| declaration.get::<Value>(index).unwrap_or(Value::Nil);
    let help = text_of(&at(1)).ok_or_else(|| format!("nil description for option {name}"))?;
    let kind = match at(3) {
        Value::Nil => kind_of(&at(2)),
        number => {
            number.as_usize().and_then(|number| KINDS.get(number.wrapping_sub(1)).copied()).ok_or_else(
                || format!("option '{name}' has an unknown type: use sysbench.cmdline.ARG_INT or another"),
            )?
        }
    };
    Ok(DeclaredOption { name, kind, default: written(&at(2)), help })
}

/// The kind of an option by its default.
fn kind_of(default: &Value) -> OptionKind {
    match default {
        Value::Boolean(_) => OptionKind::Flag,
        Value::Integer(_) => OptionKind::Number,
        Value::Number(number) if number.fract() == 0.0 => OptionKind::Number,
        Value::Number(_) => OptionKind::Decimal,
        Value::Table(_) => OptionKind::List,
        _ => OptionKind::Text,
    }
}

/// A default as it would be written on the command line.
fn written(default: &Value) -> Option<String> {
    match default {
        Value::Nil => None,
        Value::Boolean(flag) => Some(if *flag { "on" } else { "off" }.to_owned()),
        Value::Table(words) => Some(
            words
                .sequence_values::<Value>()
                .flatten()
                .filter_map(|word| text_of(&word))
                .collect::<Vec<_>>()
                .join(","),
        ),
        other => text_of(other),
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string_lossy()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Vec<DeclaredOption>>, String> {
        let lua = Lua::new();
        declared(&lua.load(text).eval::<Table>().unwrap())
    }

    #[test]
    fn kinds_follow_from_defaults_unless_they_are_named() {
        let text = r#"{ options = {
            zeta = {"a number", 10}, alpha = {"a text", "x"}, beta = {"a switch", false}, list = {"a list", {"a", "b"}},
            half = {"decimals", 1.5}, none = {"no default", nil, 2}, size = {"bytes", 1024, 3}, only = {"description only"},
        } }"#;
        let all = read(&format!("return {text}")).unwrap().unwrap();
        let seen: Vec<_> =
            all.iter().map(|one| (one.name.as_str(), one.kind, one.default.as_deref())).collect();
        assert_eq!(
            seen,
            [
                ("alpha", OptionKind::Text, Some("x")),
                ("beta", OptionKind::Flag, Some("off")),
                ("half", OptionKind::Decimal, Some("1.5")),
                ("list", OptionKind::List, Some("a,b")),
                ("none", OptionKind::Number, None),
                ("only", OptionKind::Text, None),
                ("size", OptionKind::Size, Some("1024")),
                ("zeta", OptionKind::Number, Some("10")),
            ]
        );
        assert_eq!(all[0].help, "a text");
    }

    #[test]
    fn declarations_without_sense_are_refused() {
        assert_eq!(read("return {}"), Ok(None));
        for (text, message) in [
            ("options = 3", "sysbench.cmdline.options has to be a table, not a integer"),
            (
                "options = { a = 3 }",
                "option 'a' has to be a table {description, default, type}, not a integer",
            ),
            ("options = { a = {nil, 3} }", "nil description for option a"),
            (
                "options = { a = {'x', 3, 99} }",
                "option 'a' has an unknown type: use sysbench.cmdline.ARG_INT or another",
            ),
        ] {
            assert_eq!(read(&format!("return {{ {text} }}")), Err(message.to_owned()), "{text}");
        }
    }
}
