//! Values that are words of a closed list, some with an argument after a colon.

use super::argument;
use super::error::{TextPiece, ValueError};
use super::model::{Argument, Value};
use crate::catalogue::{Opt, OptionRow, ValueKind, canonical_engine};
use crate::diagnostic::nearest;

/// One of the choices, with `:argument` in rows of kind `EnumArg`.
pub(crate) fn choice(row: &'static OptionRow, kb_base: u64, text: &str) -> Result<Value, ValueError> {
    let whole = TextPiece::whole(text).trim();
    let (word, argument) = if row.kind == ValueKind::EnumArg { whole.cut(':') } else { (whole, None) };
    if row.opt == Opt::Ioengine {
        return engine(word, argument);
    }
    let main = find(row, word)?;
    argument::read(row, kb_base, main, argument, whole).map(|argument| Value::Word(main, argument))
}

/// Choices joined by commas; `sync_file_range` may end in `:N`.
pub(crate) fn choices(row: &'static OptionRow, text: &str) -> Result<Value, ValueError> {
    let (list, argument) = TextPiece::whole(text).trim().cut(':');
    let count = argument.map(|argument| match argument.text.parse::<u32>() {
        _ if row.opt != Opt::SyncFileRange => Err(argument.error("nothing may follow")),
        Ok(count) if count > 0 => Ok(count),
        _ => Err(argument.error("a number of writes is expected")),
    });
    let count = count.transpose()?;
    let mut given = Vec::new();
    for word in list.split(',') {
        given.push(find(row, word.trim())?);
    }
    let words = row.words().filter(|word| given.contains(word)).collect();
    Ok(Value::Words(words, count))
}

/// A word, or several with shares: `word/percent:word/percent`.
pub(crate) fn mode_split(row: &'static OptionRow, text: &str) -> Result<Value, ValueError> {
    let whole = TextPiece::whole(text).trim();
    // Words without a share have the rest in equal parts.
    let (mut sum, mut shares_rest) = (0_u32, false);
    for entry in whole.split(':') {
        let (word, percent) = entry.cut('/');
        find(row, word.trim())?;
        if let Some(percent) = percent {
            match percent.text.trim().parse::<u32>() {
                Ok(number) if number <= 100 => sum += number,
                _ if percent.text.trim().is_empty() => shares_rest = true,
                _ => return Err(percent.error("a whole number from 0 to 100 is expected")),
            }
        } else {
            shares_rest = true;
        }
    }
    if whole.text.contains(':') && (sum > 100 || sum < 100 && !shares_rest) {
        return Err(whole.error(format!("the shares add up to {sum}, not to 100")));
    }
    Ok(Value::Text(whole.text.to_owned()))
}

/// `mode` or `mode:nodes`, with nodes where the mode wants them.
pub(crate) fn numa_policy(row: &'static OptionRow, text: &str) -> Result<Value, ValueError> {
    let whole = TextPiece::whole(text).trim();
    let (mode, nodes) = whole.cut(':');
    let main = find(row, mode)?;
    let argument = match (main, nodes) {
        ("default" | "local", Some(nodes)) => return Err(nodes.error(format!("`{main}` takes no nodes"))),
        ("prefer" | "bind", None) => {
            return Err(whole.error(format!("`{main}` needs nodes")).help(format!("write `{main}:0`")));
        }
        ("prefer", Some(nodes)) if nodes.text.parse::<u32>().is_err() => {
            return Err(nodes.error("`prefer` takes one node"));
        }
        (_, Some(nodes)) => Argument::Nodes(super::lists::nodes(nodes)?),
        (_, None) => Argument::None,
    };
    Ok(Value::Word(main, argument))
}

/// The name of an engine. Any name is accepted; the planner refuses unknown ones.
fn engine(word: TextPiece<'_>, argument: Option<TextPiece<'_>>) -> Result<Value, ValueError> {
    match (word.text, argument) {
        ("", _) => Err(word.error("an engine's name is expected")),
        ("external", None) => {
            Err(word.error("a path is expected").help("write `external:/path/to/engine.so`"))
        }
        _ => {
            let name = canonical_engine(word.text).to_owned();
            Ok(Value::Engine(name, argument.map(|path| path.text.to_owned())))
        }
    }
}

/// All words that a row accepts and that are not refused later.
pub(super) fn listed(row: &OptionRow) -> String {
    row.usable_choices().map(|choice| choice.word).collect::<Vec<_>>().join(", ")
}

/// Names that people have for what a choice is, and that are no spelling of its word.
const OTHER_NAMES: [(Opt, &str, &str); 5] = [
    (Opt::Workload, "mysql", "innodb"),
    (Opt::Workload, "mariadb", "innodb"),
    (Opt::Workload, "percona", "innodb"),
    (Opt::Workload, "postgresql", "postgres"),
    (Opt::Workload, "pg", "postgres"),
];

/// The main spelling of a word.
pub(super) fn find(row: &'static OptionRow, word: TextPiece<'_>) -> Result<&'static str, ValueError> {
    if let Some(choice) = row.choice(word.text) {
        return Ok(choice.main());
    }
    let other =
        OTHER_NAMES.iter().find(|(opt, name, _)| *opt == row.opt && word.text.eq_ignore_ascii_case(name));
    let suggestion = match other {
        Some(&(_, _, choice)) => Some(choice),
        None => nearest(word.text, row.usable_choices().map(|choice| choice.word)),
    };
    let label = match suggestion {
        Some(choice) => format!("did you mean `{choice}`?"),
        None => "not one of the choices".to_owned(),
    };
    let error = word.error(label).help(format!("choices are {}", listed(row)));
    Err(ValueError { suggestion, ..error.code("not-a-choice") })
}
